package types

import (
	"math"
	"testing"
	"time"

	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

func parse(t *testing.T, text string) *schema.Type {
	t.Helper()
	typ, err := schema.ParseType(text)
	if err != nil {
		t.Fatalf("type %s: %v", text, err)
	}
	return typ
}

// cell makes a vector of a null and of the value that fill appends.
func cell(typ *schema.Type, fill func(*column.Builder)) *column.Vector {
	b := schema.NewBuilder(typ)
	b.AppendNull()
	fill(b)
	return b.Finish()
}

func integer(x int64) func(*column.Builder)  { return func(b *column.Builder) { b.AppendInt(x) } }
func double(x float64) func(*column.Builder) { return func(b *column.Builder) { b.AppendFloat(x) } }
func text(x string) func(*column.Builder)    { return func(b *column.Builder) { b.AppendString(x) } }

func micros(s string) int64 {
	m, err := time.Parse("2006-01-02 15:04:05.999999", s)
	if err != nil {
		panic(err)
	}
	return m.UnixMicro()
}

func moment(s string) func(*column.Builder) {
	return func(b *column.Builder) { b.AppendTimestamp(micros(s), 999) }
}

func TestCellText(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	big := column.Int128{Hi: math.MaxInt64, Lo: math.MaxUint64}
	for _, x := range []struct {
		typ  string
		fill func(*column.Builder)
		text string
		box  any
	}{
		{"BOOLEAN", integer(1), "1", int8(1)},
		{"TINYINT", integer(-128), "-128", int8(-128)},
		{"SMALLINT", integer(-32768), "-32768", int16(-32768)},
		{"INT", integer(math.MinInt32), "-2147483648", int32(math.MinInt32)},
		{"BIGINT", integer(math.MinInt64), "-9223372036854775808", int64(math.MinInt64)},
		{"DECIMAL(10, 2)", integer(-5), "-0.05", decimal.New(-5, -2)},
		{"DECIMAL(10, 2)", integer(150), "1.50", decimal.New(150, -2)},
		{"DECIMAL(38, 38)", func(b *column.Builder) { b.AppendInt128(column.FromInt64(1)) }, "0.00000000000000000000000000000000000001", decimal.New(1, -38)},
		{"DECIMAL(38, 0)", func(b *column.Builder) { b.AppendInt128(big) }, "170141183460469231731687303715884105727", decimal.NewFromBigInt(big.Big(), 0)},
		{"FLOAT", double(float64(float32(0.1))), "0.1", float32(0.1)},
		{"FLOAT", double(16777216), "16777216", float32(16777216)},
		{"DOUBLE", double(0.1), "0.1", 0.1},
		{"DOUBLE", double(1e15), "1e15", 1e15},
		{"DOUBLE", double(999999999999999), "999999999999999", 999999999999999.0},
		{"DOUBLE", double(1e-15), "0.000000000000001", 1e-15},
		{"DOUBLE", double(1.5e-16), "1.5e-16", 1.5e-16},
		{"DOUBLE", double(-1.7976931348623157e308), "-1.7976931348623157e308", -1.7976931348623157e308},
		{"DOUBLE", double(math.Inf(-1)), "-Infinity", math.Inf(-1)},
		{"DOUBLE", double(math.Copysign(0, -1)), "-0", math.Copysign(0, -1)},
		{"CHAR(3)", text("ab "), "ab ", "ab "},
		{"STRING", text("a\x00中"), "a\x00中", "a\x00中"},
		{"BYTES", text("\xff"), "\xff", []byte("\xff")},
		{"DATE", integer(-719162), "0001-01-01", time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)},
		{"DATE", integer(19782), "2024-02-29", time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)},
		{"TIME(0)", integer(45296000), "12:34:56", gms.Timespan(45296000000)},
		{"TIME(0)", integer(45296789), "12:34:56.789", gms.Timespan(45296789000)},
		{"TIME(3)", integer(0), "00:00:00.000", gms.Timespan(0)},
		{"TIMESTAMP(0)", moment("1969-12-31 23:59:59.9"), "1969-12-31 23:59:59", time.UnixMicro(-100000).UTC()},
		{"TIMESTAMP(3)", moment("2024-02-29 12:34:56.7"), "2024-02-29 12:34:56.700", time.UnixMicro(micros("2024-02-29 12:34:56.7")).UTC()},
		{"TIMESTAMP(9)", moment("2024-02-29 12:34:56.789012"), "2024-02-29 12:34:56.789012", time.UnixMicro(micros("2024-02-29 12:34:56.789012")).UTC()},
		{"TIMESTAMP(3) WITH LOCAL TIME ZONE", moment("2024-07-01 10:00:00"), "2024-07-01 12:00:00.000", time.UnixMicro(micros("2024-07-01 12:00:00")).UTC()},
		{"TIMESTAMP(0) WITH LOCAL TIME ZONE", moment("2024-01-01 10:00:00"), "2024-01-01 11:00:00", time.UnixMicro(micros("2024-01-01 11:00:00")).UTC()},
	} {
		typ := parse(t, x.typ)
		v := cell(typ, x.fill)
		if got := string(AppendCellText([]byte("x"), v, 1, typ, berlin)); got != "x"+x.text {
			t.Errorf("%s: text %q, want %q", x.typ, got[1:], x.text)
		}
		box := Value(v, 1, typ, berlin)
		if !sameBox(box, x.box) {
			t.Errorf("%s: value %#v, want %#v", x.typ, box, x.box)
		}
		if got := Value(v, 0, typ, berlin); got != nil {
			t.Errorf("%s: NULL is %#v", x.typ, got)
		}
		if got := AppendCellText(nil, v, 0, typ, berlin); len(got) != 0 {
			t.Errorf("%s: NULL is %q", x.typ, got)
		}
	}
}

func sameBox(a, b any) bool {
	switch a := a.(type) {
	case decimal.Decimal:
		d, ok := b.(decimal.Decimal)
		return ok && a.Equal(d) && a.Exponent() == d.Exponent()
	case []byte:
		p, ok := b.([]byte)
		return ok && string(a) == string(p)
	case float64:
		f, ok := b.(float64)
		return ok && math.Float64bits(a) == math.Float64bits(f)
	}
	return a == b
}

// TestValueIsCopied: a value outlives its batch.
func TestValueIsCopied(t *testing.T) {
	typ := parse(t, "BYTES")
	v := cell(typ, text("abc"))
	b := Value(v, 1, typ, nil).([]byte)
	for i := range v.Data {
		v.Data[i] = 'z'
	}
	if string(b) != "abc" {
		t.Errorf("a value changed with its vector: %q", b)
	}
}

func TestColumnTypes(t *testing.T) {
	for text, want := range map[string]string{
		"BOOLEAN": "tinyint(1)", "TINYINT": "tinyint", "SMALLINT": "smallint", "INT NOT NULL": "int", "BIGINT": "bigint",
		"FLOAT": "float", "DOUBLE": "double", "DECIMAL(38, 10)": "decimal(38,10)",
		"CHAR(255)": "char(255)", "CHAR(256)": "varchar(256)", "VARCHAR(16383)": "varchar(16383)", "VARCHAR(16384)": "longtext", "STRING": "longtext",
		"BINARY(255)": "binary(255)", "BINARY(256)": "varbinary(256)", "VARBINARY(65535)": "varbinary(65535)", "BYTES": "longblob",
		"DATE": "date", "TIME(0)": "time", "TIME(3)": "time(3)",
		"TIMESTAMP(0)": "datetime", "TIMESTAMP(3)": "datetime(3)", "TIMESTAMP(9)": "datetime(6)", "TIMESTAMP(9) WITH LOCAL TIME ZONE": "timestamp(6)",
		"ARRAY<INT>": "json", "MAP<INT, STRING>": "json", "MULTISET<STRING>": "json", "ROW<a INT>": "json", "VARIANT": "json",
	} {
		typ := parse(t, text)
		if got := ColumnType(typ); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if SQLType(typ) == nil {
			t.Errorf("%s has no type", text)
		}
	}
}
