package types

import (
	"encoding/json"
	"math"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tributarydb/tributary/storage/column"
)

func TestJSONText(t *testing.T) {
	shanghai, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		typ  string
		fill func(*column.Builder)
		want string
	}{
		{"ARRAY<INT>", func(b *column.Builder) {
			b.Child(0).AppendInt(1)
			b.Child(0).AppendNull()
			b.Child(0).AppendInt(-3)
			b.EndList()
		}, "[1, null, -3]"},
		{"ARRAY<INT>", func(b *column.Builder) { b.EndList() }, "[]"},
		{"ARRAY<DOUBLE>", func(b *column.Builder) {
			for _, f := range []float64{1, 0.5, 1e20, math.NaN(), math.Inf(1)} {
				b.Child(0).AppendFloat(f)
			}
			b.EndList()
		}, `[1.0, 0.5, 1e20, "NaN", "Infinity"]`},
		{"ARRAY<BOOLEAN>", func(b *column.Builder) {
			b.Child(0).AppendInt(1)
			b.Child(0).AppendInt(0)
			b.EndList()
		}, "[true, false]"},
		{"ARRAY<BYTES>", func(b *column.Builder) {
			b.Child(0).AppendString("\xff\x00a")
			b.EndList()
		}, `["/wBh"]`},
		{"ARRAY<STRING>", func(b *column.Builder) {
			b.Child(0).AppendString("a\"b\\\n\x01中\xff")
			b.EndList()
		}, `["a\"b\\\n\u0001中` + "\ufffd" + `"]`},
		{"MAP<INT, STRING>", func(b *column.Builder) {
			b.Child(0).AppendInt(7)
			b.Child(1).AppendString("x")
			b.Child(0).AppendInt(8)
			b.Child(1).AppendNull()
			b.EndList()
		}, `{"7": "x", "8": null}`},
		{"MAP<BYTES, INT>", func(b *column.Builder) {
			b.Child(0).AppendString("a")
			b.Child(1).AppendInt(1)
			b.EndList()
		}, `{"YQ==": 1}`},
		{"MAP<BOOLEAN, INT>", func(b *column.Builder) {
			b.Child(0).AppendInt(1)
			b.Child(1).AppendInt(1)
			b.EndList()
		}, `{"true": 1}`},
		{"MULTISET<STRING>", func(b *column.Builder) {
			b.Child(0).AppendString("k")
			b.Child(1).AppendInt(2)
			b.EndList()
		}, `{"k": 2}`},
		{"ROW<a INT, b STRING, c ROW<d DATE, e DECIMAL(5, 2)>>", func(b *column.Builder) {
			b.Child(0).AppendInt(1)
			b.Child(1).AppendNull()
			b.Child(2).Child(0).AppendInt(19782)
			b.Child(2).Child(1).AppendInt(150)
			b.Child(2).EndStruct()
			b.EndStruct()
		}, `{"a": 1, "b": null, "c": {"d": "2024-02-29", "e": 1.50}}`},
		{"ROW<t TIMESTAMP(9), l TIMESTAMP(3) WITH LOCAL TIME ZONE, m TIME(3)>", func(b *column.Builder) {
			b.Child(0).AppendTimestamp(micros("2024-02-29 12:00:00.5"), 1)
			b.Child(1).AppendTimestamp(micros("2024-02-29 12:00:00"), 0)
			b.Child(2).AppendInt(45296700)
			b.EndStruct()
		}, `{"t": "2024-02-29 12:00:00.5", "l": "2024-02-29 20:00:00", "m": "12:34:56.7"}`},
		{"VARIANT", func(b *column.Builder) {
			b.Child(0).AppendString("\x0c\x05")
			b.Child(1).AppendString("\x01\x00\x00")
			b.EndStruct()
		}, "5"},
	} {
		typ := parse(t, x.typ)
		v := cell(typ, x.fill)
		got := string(AppendCellText(nil, v, 1, typ, shanghai))
		if got != x.want {
			t.Errorf("%s: %s, want %s", x.typ, got, x.want)
		}
		if !json.Valid([]byte(got)) {
			t.Errorf("%s: not JSON: %s", x.typ, got)
		}
		if box, ok := Value(v, 1, typ, shanghai).(*JSON); !ok || box.String() != x.want {
			t.Errorf("%s: value %v", x.typ, box)
		}
		if Value(v, 0, typ, shanghai) != nil {
			t.Errorf("%s: NULL has a value", x.typ)
		}
	}
}

func TestDamagedVariant(t *testing.T) {
	typ := parse(t, "VARIANT")
	v := cell(typ, func(b *column.Builder) {
		b.Child(0).AppendString("\xfe")
		b.Child(1).AppendString("")
		b.EndStruct()
	})
	got := AppendCellText(nil, v, 1, typ, nil)
	var s string
	if err := json.Unmarshal(got, &s); err != nil || s == "" {
		t.Errorf("a damaged VARIANT is %s", got)
	}
}

// FuzzAppendJSONString: every string becomes valid JSON, one of valid UTF-8 reads back.
func FuzzAppendJSONString(f *testing.F) {
	for _, s := range []string{"", "a", "\"\\\b\f\n\r\t", "\x00\x1f\x7f", "中", "\xff", "a\xe4\xb8", "\u2028"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := AppendJSONString(nil, []byte(s))
		var back string
		if err := json.Unmarshal(out, &back); err != nil {
			t.Fatalf("%q: %s: %v", s, out, err)
		}
		if utf8.ValidString(s) && back != s {
			t.Errorf("%q reads back as %q", s, back)
		}
	})
}
