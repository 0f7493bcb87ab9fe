package binrow

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

func typ(t testing.TB, s string) *schema.Type {
	t.Helper()
	ty, err := schema.ParseType(s)
	if err != nil {
		t.Fatal(err)
	}
	return ty
}

func i32(x int64) column.Scalar  { return column.IntScalar(column.KindInt32, x) }
func i64(x int64) column.Scalar  { return column.IntScalar(column.KindInt64, x) }
func str(s string) column.Scalar { return column.BytesScalar([]byte(s)) }
func flt(k column.Kind, f float64) column.Scalar {
	return column.Scalar{Kind: k, F: f}
}
func tsm(micros int64) column.Scalar { return column.IntScalar(column.KindTimestamp, micros) }

// flatVectors are the vectors of section 18 of the format, computed by
// Paimon's Java classes: types, values, bytes without arity prefix, hash,
// buckets of 5 and of 16.
var flatVectors = []struct {
	types string
	vals  []column.Scalar
	bytes string
	hash  int32
	b5    int
	b16   int
}{
	{"", nil, "0000000000000000", -1670924195, 0, 3},
	{"INT", []column.Scalar{i32(1)}, "0000000000000000 0100000000000000", 1465514398, 3, 14},
	{"BIGINT", []column.Scalar{i64(1)}, "0000000000000000 0100000000000000", 1465514398, 3, 14},
	{"BOOLEAN", []column.Scalar{i32(1)}, "0000000000000000 0100000000000000", 1465514398, 3, 14},
	{"INT", []column.Scalar{i32(-7)}, "0000000000000000 f9ffffff00000000", 1485184587, 2, 11},
	{"INT", []column.Scalar{column.NullScalar(column.KindInt32)}, "0001000000000000 0000000000000000", -1748325344, 4, 0},
	{"TINYINT", []column.Scalar{i32(-1)}, "0000000000000000 ff00000000000000", 2004758659, 4, 3},
	{"SMALLINT", []column.Scalar{i32(-2)}, "0000000000000000 feff000000000000", 557672611, 1, 3},
	{"FLOAT", []column.Scalar{flt(column.KindFloat32, 1.5)}, "0000000000000000 0000c03f00000000", -173842779, 4, 11},
	{"DOUBLE", []column.Scalar{flt(column.KindFloat64, 1.5)}, "0000000000000000 000000000000f83f", 1860889473, 3, 1},
	{"STRING", []column.Scalar{str("")}, "0000000000000000 0000000000000080", 302122119, 4, 7},
	{"STRING", []column.Scalar{str("abc")}, "0000000000000000 6162630000000083", -101922419, 4, 3},
	{"STRING", []column.Scalar{str("1234567")}, "0000000000000000 3132333435363787", 199144172, 2, 12},
	{"STRING", []column.Scalar{str("12345678")}, "0000000000000000 0800000010000000 3132333435363738", -391021801, 1, 9},
	{"STRING", []column.Scalar{str("hello world")}, "0000000000000000 0b00000010000000 68656c6c6f20776f 726c640000000000", 161593394, 4, 2},
	{"BYTES", []column.Scalar{str("\x01\x02")}, "0000000000000000 0102000000000082", -308248439, 4, 7},
	{"DECIMAL(10,2)", []column.Scalar{i64(1234)}, "0000000000000000 d204000000000000", -1096042293, 3, 5},
	{"DECIMAL(20,2)", []column.Scalar{{Kind: column.KindInt128, D: column.FromInt64(-1234)}}, "0000000000000000 0200000010000000 fb2e000000000000 0000000000000000", 809605724, 4, 12},
	{"DECIMAL(20,2)", []column.Scalar{column.NullScalar(column.KindInt128)}, "0001000000000000 0000000010000000 0000000000000000 0000000000000000", -1380280760, 0, 8},
	{"TIMESTAMP(3)", []column.Scalar{tsm(1700000000123000)}, "0000000000000000 7b68e5cf8b010000", -1285420957, 2, 13},
	{"TIMESTAMP(6)", []column.Scalar{tsm(1700000000123456)}, "0000000000000000 40f5060010000000 7b68e5cf8b010000", 1196670069, 4, 5},
	{"TIMESTAMP(6)", []column.Scalar{column.NullScalar(column.KindTimestamp)}, "0001000000000000 0000000010000000 0000000000000000", -340882661, 1, 5},
	{"STRING;INT", []column.Scalar{str("20240101"), i32(7)}, "0000000000000000 0800000018000000 0700000000000000 3230323430313031", -1295892241, 1, 1},
	{"INT;STRING;BIGINT", []column.Scalar{i32(1), str("hello world"), i64(5)}, "0000000000000000 0100000000000000 0b00000020000000 0500000000000000 68656c6c6f20776f 726c640000000000", 1517281457, 2, 1},
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func typeList(t testing.TB, s string) []*schema.Type {
	var out []*schema.Type
	if s == "" {
		return out
	}
	for _, x := range strings.Split(s, ";") {
		out = append(out, typ(t, x))
	}
	return out
}

func TestFlatVectors(t *testing.T) {
	for _, v := range flatVectors {
		types := typeList(t, v.types)
		want := unhex(t, v.bytes)
		got := AppendRow(nil, types, v.vals)
		if !bytes.Equal(got, want) {
			t.Errorf("%s %v: bytes %x, want %x", v.types, v.vals, got, want)
		}
		if h := Murmur(want); h != v.hash {
			t.Errorf("%s: hash %d, want %d", v.types, h, v.hash)
		}
		for n, b := range map[int]int{5: v.b5, 16: v.b16} {
			if got, err := Bucket("default", types, v.vals, n); err != nil || got != b {
				t.Errorf("%s: bucket of %d is %d (%v), want %d", v.types, n, got, err, b)
			}
		}
		back, err := DecodeRow(types, EncodeRow(types, v.vals))
		if err != nil {
			t.Fatal(err)
		}
		if Compare(back, v.vals) != 0 {
			t.Errorf("%s: decoded %v, want %v", v.types, back, v.vals)
		}
	}
}

// nestedVectors are the nested rows of section 18.
func TestNestedVectors(t *testing.T) {
	ints := schema.NewBuilder(typ(t, "ARRAY<INT>"))
	ints.Child(0).AppendInt(1)
	ints.Child(0).AppendNull()
	ints.Child(0).AppendInt(3)
	ints.EndList()
	strs := schema.NewBuilder(typ(t, "ARRAY<STRING>"))
	strs.Child(0).AppendString("ab")
	strs.Child(0).AppendString("hello world")
	strs.EndList()
	m := schema.NewBuilder(typ(t, "MAP<STRING, INT>"))
	m.Child(0).AppendString("k")
	m.Child(1).AppendInt(1)
	m.EndList()
	row := schema.NewBuilder(typ(t, "ROW<a INT, b STRING>"))
	row.Child(0).AppendInt(1)
	row.Child(1).AppendString("x")
	row.EndStruct()
	for _, v := range []struct {
		typ   string
		b     *column.Builder
		bytes string
		hash  int32
	}{
		{"ARRAY<INT>", ints, "0000000000000000 1800000010000000 0300000002000000 0100000000000000 0300000000000000", 1830759751},
		{"ARRAY<STRING>", strs, "0000000000000000 2800000010000000 0200000000000000 6162000000000082 0b00000018000000 68656c6c6f20776f 726c640000000000", -1447188441},
		{"MAP<STRING, INT>", m, "0000000000000000 2400000010000000 1000000001000000 000000006b000000 0000008101000000 0000000001000000 0000000000000000", 1505123240},
		{"ROW<a INT, b STRING>", row, "0000000000000000 1800000010000000 0000000000000000 0100000000000000 7800000000000081", 751727593},
	} {
		types := []*schema.Type{typ(t, v.typ)}
		vec := v.b.Finish()
		want := unhex(t, v.bytes)
		got := AppendRowOf(nil, types, []*column.Vector{vec}, 0)
		if !bytes.Equal(got, want) {
			t.Errorf("%s: bytes %x, want %x", v.typ, got, want)
		}
		if h := Murmur(want); h != v.hash {
			t.Errorf("%s: hash %d, want %d", v.typ, h, v.hash)
		}
		r, err := NewRow(want, 1)
		if err != nil {
			t.Fatal(err)
		}
		b := schema.NewBuilder(types[0])
		if err := r.Append(types, []*column.Builder{b}); err != nil {
			t.Fatal(err)
		}
		if again := AppendRowOf(nil, types, []*column.Vector{b.Finish()}, 0); !bytes.Equal(again, want) {
			t.Errorf("%s: decoded and encoded again: %x, want %x", v.typ, again, want)
		}
	}
}

func TestEmptyRow(t *testing.T) {
	if got := EncodeRow(nil, nil); !bytes.Equal(got, Empty) {
		t.Fatalf("%x", got)
	}
	if got := EncodeRow(typeList(t, "INT"), []column.Scalar{i32(1)}); hex.EncodeToString(got) != "0000000100000000000000000100000000000000" {
		t.Fatalf("%x", got)
	}
}
