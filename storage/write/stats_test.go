package write

import (
	"bytes"
	"math"
	"math/rand"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
)

func TestTruncate(t *testing.T) {
	for _, c := range []struct {
		in       string
		n        int
		text     bool
		min, max string
		ok       bool
	}{
		{"abc", 3, true, "abc", "abc", true},
		{"abcd", 3, true, "abc", "abd", true},
		{"", 3, true, "", "", true},
		{"äöüß", 2, true, "äö", "ä÷", true},
		{"a\U0010ffff\U0010ffffb", 3, true, "a\U0010ffff\U0010ffff", "b", true},
		{"\U0010ffff\U0010ffff", 1, true, "\U0010ffff", "", false},
		{"x\ud7ffy", 2, true, "x\ud7ff", "x\ue000", true},
		{"\xff\xfe", 1, true, "", "", false},
		{"ab\xff", 2, true, "ab", "ac", true},
		{"a\xffb", 2, false, "a\xff", "b", true},
		{"\xff\xff", 1, false, "\xff", "", false},
	} {
		lo, ok1 := truncateMin([]byte(c.in), c.n, c.text)
		hi, ok2 := truncateMax([]byte(c.in), c.n, c.text)
		if (ok1 && ok2) != c.ok || c.ok && (string(lo) != c.min || string(hi) != c.max) {
			t.Errorf("%q to %d: %q %v, %q %v", c.in, c.n, lo, ok1, hi, ok2)
		}
	}
}

func FuzzTruncate(f *testing.F) {
	f.Add("abcd", 2, true)
	f.Add("\xff\xff\x00", 1, false)
	f.Add("é\U0010ffff", 2, true)
	f.Fuzz(func(t *testing.T, s string, n int, text bool) {
		if n <= 0 || n > 100 {
			return
		}
		b := []byte(s)
		if lo, ok := truncateMin(b, n, text); ok && bytes.Compare(lo, b) > 0 {
			t.Errorf("the least value %q became %q", s, lo)
		}
		hi, ok := truncateMax(b, n, text)
		if ok && bytes.Compare(hi, b) < 0 {
			t.Errorf("the greatest value %q became %q", s, hi)
		}
		if ok && text && utf8.ValidString(s) && (!utf8.Valid(hi) || utf8.RuneCount(hi) > n) {
			t.Errorf("%q became %q", s, hi)
		}
	})
}

// TestStatsBounds compares the statistics of random vectors, coded and selected
// ones too, with their values: what the read side makes of them never excludes a value.
func TestStatsBounds(t *testing.T) {
	rnd := rand.New(rand.NewSource(5))
	types := []*schema.Type{{Root: schema.Int}, {Root: schema.BigInt}, {Root: schema.Double}, {Root: schema.Float}, {Root: schema.Varchar, Length: schema.MaxLength},
		{Root: schema.Varbinary, Length: schema.MaxLength}, {Root: schema.Decimal, Precision: 30, Scale: 3}, {Root: schema.Timestamp, Precision: 6}, {Root: schema.Boolean}}
	for round := range 400 {
		typ := types[round%len(types)]
		mode := []statsMode{{statsFull, 0}, {statsTruncate, 3}, {statsCounts, 0}, {statsNone, 0}}[rnd.Intn(4)]
		f := schema.Field{Name: "c", Type: typ}
		stats := newFileStats([]schema.Field{f}, []statsMode{mode}, "parquet")
		var rows, nulls int64
		var vals []column.Scalar
		for range 1 + rnd.Intn(3) {
			b := schema.NewBuilder(typ)
			for range rnd.Intn(20) {
				switch x := rnd.Intn(1000) - 500; {
				case rnd.Intn(4) == 0:
					b.AppendNull()
				case typ.Root == schema.Varchar:
					b.AppendString(strings.Repeat("é", rnd.Intn(5)) + string(rune('a'+rnd.Intn(26))))
				case typ.Root == schema.Varbinary:
					b.AppendBytes(bytes.Repeat([]byte{byte(rnd.Intn(256))}, rnd.Intn(6)))
				case typ.Root == schema.Double, typ.Root == schema.Float:
					if rnd.Intn(100) == 0 {
						b.AppendFloat(math.NaN())
					} else {
						b.AppendFloat(float64(x) / 8)
					}
				case typ.Root == schema.Boolean:
					b.AppendBool(x > 0)
				default:
					b.AppendInt(int64(x))
				}
			}
			v := b.Finish()
			if v.N == 0 {
				continue
			}
			var sel []uint16
			if rnd.Intn(2) == 0 {
				sel = []uint16{}
				for i := range v.N {
					if rnd.Intn(2) == 0 {
						sel = append(sel, uint16(i))
					}
				}
			}
			if rnd.Intn(3) == 0 && v.NullCount() == 0 { // as a dictionary
				codes := make([]uint32, 10)
				for i := range codes {
					codes[i] = uint32(rnd.Intn(v.N))
				}
				v = &column.Vector{Kind: v.Kind, N: 10, Dict: v, Codes: codes}
				sel = nil
			}
			stats.add([]*column.Vector{v}, sel)
			each(sel, v.N, func(i int) {
				rows++
				if v.IsNull(i) {
					nulls++
				} else {
					vals = append(vals, column.ScalarAt(v, i))
				}
			})
		}
		s, names := stats.simple([]schema.Field{f}, true)
		file := &manifest.DataFile{Name: "x.parquet", RowCount: rows, ValueStats: s, StatsColumns: names}
		got, ok := manifest.NewStatsMapper([]schema.Field{f}, []schema.Field{f}).Column(file, 0)
		if mode.kind == statsNone {
			if ok || len(names) != 0 || names == nil {
				t.Fatalf("mode none: %+v %v", got, names)
			}
			continue
		}
		if !ok || got.Nulls != nulls || got.HasBounds && mode.kind == statsCounts {
			t.Fatalf("%s %v: %+v, %d of %d rows are null", typ, mode, got, nulls, rows)
		}
		nan := false
		for _, x := range vals {
			nan = nan || x.F != x.F
			if got.HasBounds && (x.Compare(got.Min) < 0 || x.Compare(got.Max) > 0) {
				t.Fatalf("%s %v: %+v excludes %+v", typ, mode, got, x)
			}
		}
		if mode.kind == statsFull && !nan && len(vals) > 0 {
			if !got.HasBounds {
				t.Fatalf("%s: no bounds of %d values", typ, len(vals))
			}
			exact := false
			for _, x := range vals {
				exact = exact || x.Compare(got.Min) == 0
			}
			if !exact && typ.Root != schema.Double && typ.Root != schema.Float {
				t.Fatalf("%s: %+v is no value", typ, got.Min)
			}
		}
	}
}

// TestOrcStatsBounds checks what the statistics of ORC files do not hold: binaries, texts of more
// than 1024 bytes, the spaces at the end of CHAR.
func TestOrcStatsBounds(t *testing.T) {
	long := strings.Repeat("m", longestOrcText+1)
	for _, c := range []struct {
		typ      *schema.Type
		mode     statsMode
		vals     []string
		min, max string // "" = none
	}{
		{&schema.Type{Root: schema.Varbinary, Length: schema.MaxLength}, statsMode{statsFull, 0}, []string{"a", "b"}, "", ""},
		{&schema.Type{Root: schema.Varchar, Length: schema.MaxLength}, statsMode{statsFull, 0}, []string{"a", "z"}, "a", "z"},
		{&schema.Type{Root: schema.Varchar, Length: schema.MaxLength}, statsMode{statsFull, 0}, []string{"a", long}, "a", ""},
		{&schema.Type{Root: schema.Varchar, Length: schema.MaxLength}, statsMode{statsFull, 0}, []string{"z", long}, "", "z"},
		{&schema.Type{Root: schema.Varchar, Length: schema.MaxLength}, statsMode{statsFull, 0}, []string{long}, "", ""},
		{&schema.Type{Root: schema.Varchar, Length: schema.MaxLength}, statsMode{statsTruncate, 2}, []string{"a", long}, "", ""},
		{&schema.Type{Root: schema.Varchar, Length: schema.MaxLength}, statsMode{statsTruncate, 2}, []string{"z", long}, "", "z"},
		{&schema.Type{Root: schema.Char, Length: 4}, statsMode{statsTruncate, 16}, []string{"b  ", "b\x01", "c "}, "b", "c"},
	} {
		b := schema.NewBuilder(c.typ)
		for _, x := range c.vals {
			b.AppendString(x)
		}
		s := newColumnStats(c.typ, c.mode, "orc")
		s.add(b.Finish(), nil)
		lo, hi, nulls := s.result()
		if nulls != 0 || lo.Null != (c.min == "") || hi.Null != (c.max == "") || string(lo.B) != c.min || string(hi.B) != c.max {
			t.Errorf("%s %v %.8q: %.8q (null %v), %.8q (null %v), want %.8q, %.8q", c.typ, c.mode, c.vals, lo.B, lo.Null, hi.B, hi.Null, c.min, c.max)
		}
	}
}
