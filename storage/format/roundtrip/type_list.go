package roundtrip

import (
	"fmt"
	"testing"

	"github.com/tributarydb/tributary/storage/schema"
)

// Type parses a type.
func Type(t testing.TB, text string) *schema.Type {
	t.Helper()
	typ, err := schema.ParseType(text)
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

// Columns makes columns c0, c1, ... of types.
func Columns(t testing.TB, texts ...string) []schema.Field {
	t.Helper()
	var out []schema.Field
	for i, s := range texts {
		out = append(out, schema.Field{ID: i, Name: fmt.Sprintf("c%d", i), Type: Type(t, s)})
	}
	return out
}

// AllTypes are columns of the types that every format stores, flat and nested, NULL allowed and not, and then of the types more.
func AllTypes(t testing.TB, more ...string) []schema.Field {
	t.Helper()
	var out []schema.Field
	add := func(typ *schema.Type) {
		out = append(out, schema.Field{ID: len(out), Name: fmt.Sprintf("c%d", len(out)), Type: typ})
	}
	for _, s := range []string{
		"BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DATE", "TIME(3)", "DECIMAL(5, 2)", "DECIMAL(18, 4)", "DECIMAL(38, 10)", "DECIMAL(19, 0)",
		"TIMESTAMP(0)", "TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP(3) WITH LOCAL TIME ZONE", "TIMESTAMP(6) WITH LOCAL TIME ZONE",
		"CHAR(5)", "VARCHAR(20)", "STRING", "BINARY(4)", "BYTES",
	} {
		add(Type(t, s))
		add(Type(t, s).WithNotNull(true))
	}
	str, num := Type(t, "STRING"), Type(t, "INT")
	arr := &schema.Type{Root: schema.Array, Elem: num}
	row := &schema.Type{Root: schema.Row, Fields: []schema.Field{{ID: 101, Name: "x", Type: str}, {ID: 102, Name: "y", Type: arr}}}
	for _, typ := range []*schema.Type{
		arr, arr.WithNotNull(true), {Root: schema.Array, Elem: num.WithNotNull(true)}, {Root: schema.Array, Elem: arr}, {Root: schema.Map, Key: str, Elem: num},
		{Root: schema.Map, Key: num, Elem: row}, {Root: schema.Multiset, Elem: str}, row, row.WithNotNull(true), {Root: schema.Array, Elem: row},
		{Root: schema.Row, Fields: []schema.Field{{ID: 103, Name: "r", Type: row}, {ID: 104, Name: "m", Type: &schema.Type{Root: schema.Map, Key: str, Elem: arr}}}},
	} {
		add(typ)
	}
	for _, s := range more {
		add(Type(t, s))
	}
	return out
}
