package binrow

import (
	"testing"

	"github.com/tributarydb/tributary/storage/cast"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

func TestPartitionPaths(t *testing.T) {
	for _, c := range []struct{ typ, val, legacy, modern string }{
		{"STRING", "a b,c", "a b,c", "a b,c"},
		{"STRING", "zwei/drei", "zwei%2Fdrei", "zwei%2Fdrei"},
		{"STRING", "日本", "日本", "日本"},
		{"STRING", "\x01\x7f\"#%'*:=?\\{}[]^", "%01%7F%22%23%25%27%2A%3A%3D%3F%5C%7B%7D%5B%5D%5E", "%01%7F%22%23%25%27%2A%3A%3D%3F%5C%7B%7D%5B%5D%5E"},
		{"STRING", "", "D", "D"},
		{"STRING", " \t\u3000", "D", "D"},
		{"STRING", "\u00a0", "\u00a0", "\u00a0"},
		{"BOOLEAN", "true", "true", "true"},
		{"TINYINT", "-5", "-5", "-5"},
		{"DATE", "2024-01-01", "19723", "2024-01-01"},
		{"TIME(3)", "12:34:56.789", "45296789", "12%3A34%3A56.789"},
		{"TIMESTAMP(3)", "2023-01-01", "2023-01-01T00%3A00", "2023-01-01 00%3A00%3A00.000"},
		{"TIMESTAMP(6)", "2023-01-01 01:02:03.5", "2023-01-01T01%3A02%3A03.500", "2023-01-01 01%3A02%3A03.500000"},
		{"DECIMAL(10,2)", "1.5", "1.50", "1.50"},
		{"DECIMAL(30,2)", "-1.5", "-1.50", "-1.50"},
		{"DOUBLE", "1e10", "1.0E10", "1.0E10"},
		{"FLOAT", "1", "1.0", "1.0"},
		{"BYTES", "ab", "!", "ab"},
	} {
		ty := typ(t, c.typ)
		v := str(c.val)
		if ty.Root != schema.Varchar && ty.Root != schema.Varbinary {
			var err error
			if v, err = cast.Scalar(typ(t, "STRING"), ty, v); err != nil {
				t.Fatal(err)
			}
		}
		f := []schema.Field{{Name: "p=1", Type: ty}}
		for legacy, want := range map[bool]string{true: c.legacy, false: c.modern} {
			got, err := PartitionPath(f, []column.Scalar{v}, "D", legacy)
			if want == "!" {
				if !errs.Is(err, errs.Unsupported) {
					t.Error(got, err)
				}
				continue
			}
			if err != nil || got != "p%3D1="+want+"/" {
				t.Errorf("%s %q, legacy %v: %q %v, want %q", c.typ, c.val, legacy, got, err, want)
			}
			if UnescapePath(EscapePath(c.val)) != c.val {
				t.Errorf("%q does not survive escaping", c.val)
			}
		}
		if got, err := PartitionPath(f, []column.Scalar{column.NullScalar(schema.KindOf(ty))}, "D", true); err != nil || got != "p%3D1=D/" {
			t.Errorf("null: %q %v", got, err)
		}
	}
	if got, err := PartitionPath(nil, nil, "D", true); got != "" || err != nil {
		t.Error(got, err)
	}
	if _, err := PartitionPath(nil, []column.Scalar{i32(1)}, "D", true); !errs.Is(err, errs.Corrupt) {
		t.Error(err)
	}
	for in, want := range map[string]string{"a%": "a%", "%zz": "%zz", "%41%4": "A%4", "x%2Fy": "x/y"} {
		if got := UnescapePath(in); got != want {
			t.Errorf("%s unescapes to %s", in, got)
		}
	}
}

func TestOtherBucketFunctions(t *testing.T) {
	for _, c := range []struct {
		fn, types string
		vals      []column.Scalar
		n, want   int
	}{
		{"mod", "INT", []column.Scalar{i32(-7)}, 5, 3},
		{"mod", "BIGINT", []column.Scalar{i64(1 << 40)}, 7, (1 << 40) % 7},
		// h = 31*(31*0+1)+5
		{"hive", "INT;BIGINT", []column.Scalar{i32(1), i64(5)}, 1000, 36},
		{"hive", "BIGINT", []column.Scalar{i64(1<<32 + 1)}, 1000, 0},
		{"hive", "BOOLEAN;INT", []column.Scalar{i32(1), column.NullScalar(column.KindInt32)}, 1000, 31},
		{"hive", "STRING", []column.Scalar{str("ab")}, 100000, 97*31 + 98},
		{"hive", "FLOAT", []column.Scalar{flt(column.KindFloat32, 1.5)}, 1 << 30, 0x3fc00000},
		{"hive", "DOUBLE", []column.Scalar{flt(column.KindFloat64, 1.5)}, 1 << 30, 0x3ff80000},
		// 1.50 is 15 at scale 1: 31*15+1; 1200 is 12 at scale -2: 31*12-2
		{"hive", "DECIMAL(10,2)", []column.Scalar{i64(150)}, 1000, 466},
		{"hive", "DECIMAL(10,0)", []column.Scalar{i64(1200)}, 1000, 370},
		{"hive", "DECIMAL(10,2)", []column.Scalar{i64(0)}, 1000, 0},
		{"default", "INT", []column.Scalar{i32(1)}, 1, 0},
	} {
		got, err := Bucket(c.fn, typeList(t, c.types), c.vals, c.n)
		if err != nil || got != c.want {
			t.Errorf("%s %s of %d: %d %v, want %d", c.fn, c.types, c.n, got, err, c.want)
		}
	}
	for _, c := range []struct {
		fn, types string
		vals      []column.Scalar
		n         int
	}{
		{"mod", "STRING", []column.Scalar{str("a")}, 3}, {"mod", "INT;INT", []column.Scalar{i32(1), i32(2)}, 3}, {"hive", "TIMESTAMP(3)", []column.Scalar{tsm(1)}, 3},
		{"new", "INT", []column.Scalar{i32(1)}, 3}, {"default", "INT", []column.Scalar{i32(1)}, 0}, {"default", "INT", []column.Scalar{i32(1)}, -1},
	} {
		if _, err := Bucket(c.fn, typeList(t, c.types), c.vals, c.n); err == nil {
			t.Errorf("%s %s of %d gives a bucket", c.fn, c.types, c.n)
		}
	}
}

// TestForeignNulls reads nulls as pypaimon writes them: without reserved bytes.
func TestForeignNulls(t *testing.T) {
	types := typeList(t, "DECIMAL(20,2);TIMESTAMP(6)")
	java := EncodeRow(types, []column.Scalar{column.NullScalar(column.KindInt128), column.NullScalar(column.KindTimestamp)})
	python := append(Empty[:0:0], java[:4+8+16]...)
	for i := 12; i < len(python); i++ {
		python[i] = 0
	}
	a, err1 := DecodeRow(types, java)
	b, err2 := DecodeRow(types, python)
	if err1 != nil || err2 != nil || Compare(a, b) != 0 {
		t.Error(a, b, err1, err2)
	}
}

func TestHostileRows(t *testing.T) {
	types := typeList(t, "STRING")
	good := EncodeRow(types, []column.Scalar{str("hello world")})
	for name, b := range map[string][]byte{
		"nothing":      {},
		"arity only":   good[:4],
		"cut slot":     good[:12],
		"cut text":     good[:25],
		"arity lies":   append([]byte{0, 0, 1, 0}, good[4:]...),
		"huge arity":   append([]byte{0x7f, 0xff, 0xff, 0xff}, good[4:]...),
		"minus arity":  append([]byte{0xff, 0xff, 0xff, 0xff}, good[4:]...),
		"far offset":   append(append([]byte{}, good[:12]...), 1, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f),
		"long inline":  append(append([]byte{}, good[:12]...), 1, 0, 0, 0, 0, 0, 0, 0x88),
		"other schema": EncodeRow(typeList(t, "INT;INT"), []column.Scalar{i32(1), i32(2)}),
	} {
		if v, err := DecodeRow(types, b); !errs.Is(err, errs.Corrupt) {
			t.Errorf("%s: %v %v", name, v, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	var types []*schema.Type
	for _, s := range []string{"INT", "STRING", "DECIMAL(30,3)", "TIMESTAMP(9)", "ARRAY<STRING>", "MAP<INT, ROW<a INT, b ARRAY<BIGINT>>>", "VARIANT", "VECTOR<FLOAT, 2>", "MULTISET<STRING>"} {
		t, err := schema.ParseType(s)
		if err != nil {
			f.Fatal(err)
		}
		types = append(types, t)
	}
	build := func() []*column.Builder {
		var out []*column.Builder
		for _, t := range types {
			out = append(out, schema.NewBuilder(t))
		}
		return out
	}
	finish := func(b []*column.Builder) []*column.Vector {
		var out []*column.Vector
		for _, x := range b {
			out = append(out, x.Finish())
		}
		return out
	}
	b := build()
	b[0].AppendInt(7)
	b[1].AppendString("hello world")
	b[2].AppendInt128(column.FromInt64(-5))
	b[3].AppendTimestamp(1700000000123456, 789)
	b[4].Child(0).AppendString("a")
	b[4].Child(0).AppendNull()
	b[4].EndList()
	b[5].Child(0).AppendInt(1)
	b[5].Child(1).Child(0).AppendInt(2)
	b[5].Child(1).Child(1).Child(0).AppendInt(3)
	b[5].Child(1).Child(1).EndList()
	b[5].Child(1).EndStruct()
	b[5].EndList()
	b[6].Child(0).AppendString("v")
	b[6].Child(1).AppendString("m")
	b[6].EndStruct()
	b[7].Child(0).AppendFloat(1)
	b[7].Child(0).AppendFloat(2)
	b[7].EndList()
	b[8].Child(0).AppendString("k")
	b[8].Child(1).AppendInt(4)
	b[8].EndList()
	f.Add(AppendRowOf(nil, types, finish(b), 0))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := NewRow(data, len(types))
		if err != nil {
			return
		}
		b := build()
		if err := r.Append(types, b); err != nil {
			if !errs.Is(err, errs.Corrupt) {
				t.Fatal(err)
			}
			return
		}
		// What was decoded encodes, and decodes to the same.
		enc := AppendRowOf(nil, types, finish(b), 0)
		r2, err := NewRow(enc, len(types))
		if err != nil {
			t.Fatal(err)
		}
		b2 := build()
		if err := r2.Append(types, b2); err != nil {
			t.Fatal(err)
		}
		if enc2 := AppendRowOf(nil, types, finish(b2), 0); string(enc2) != string(enc) {
			t.Fatalf("%x\n%x", enc, enc2)
		}
	})
}
