package fileindex

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
)

func sample(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// fields are the columns of the samples.
func fields(t testing.TB) []schema.Field {
	t.Helper()
	ty, err := schema.ParseType("ROW<id INT, big BIGINT, s STRING, grp STRING, flag BOOLEAN, dt DATE, ts TIMESTAMP(3), d DOUBLE, amount DECIMAL(12,2), f FLOAT, tiny TINYINT>")
	if err != nil {
		t.Fatal(err)
	}
	return ty.Fields
}

const sampleRows = 250

func eq(col int, l column.Scalar) *predicate.Leaf {
	return &predicate.Leaf{Op: predicate.Eq, Column: col, Literals: []column.Scalar{l}}
}

func TestSamples(t *testing.T) {
	fs := fields(t)
	for _, name := range []string{"bitmap.index", "bsi.index", "range.index"} {
		c, err := Parse(name, sample(t, name))
		if err != nil {
			t.Fatal(err)
		}
		// id has 250 distinct multiples of 3, 30 and 33 among them.
		id := func(x int64) predicate.Predicate { return eq(0, column.IntScalar(column.KindInt32, x)) }
		r, err := c.Evaluate(id(30), fs, sampleRows)
		if err != nil {
			t.Fatal(err)
		}
		if r.All() || r.Count(sampleRows) != 1 {
			t.Errorf("%s: id = 30 is in %d rows", name, r.Count(sampleRows))
		}
		r, err = c.Evaluate(&predicate.And{Children: []predicate.Predicate{id(30), id(33)}}, fs, sampleRows)
		if err != nil || !r.None() {
			t.Errorf("%s: id is 30 and 33 at once: %v", name, err)
		}
		r, err = c.Evaluate(&predicate.Or{Children: []predicate.Predicate{id(30), id(33), id(34)}}, fs, sampleRows)
		if err != nil || r.Count(sampleRows) != 2 {
			t.Errorf("%s: %d rows, %v", name, r.Count(sampleRows), err)
		}
		// An OR with a branch that no index answers keeps everything.
		r, err = c.Evaluate(&predicate.Or{Children: []predicate.Predicate{id(30), eq(7, column.Scalar{Kind: column.KindFloat64, F: 1})}}, fs, sampleRows)
		if name != "range.index" && (err != nil || !r.All()) {
			t.Errorf("%s: %d rows, %v", name, r.Count(sampleRows), err)
		}
		// A literal of another kind says nothing.
		if r, err = c.Evaluate(eq(0, column.IntScalar(column.KindInt64, 31)), fs, sampleRows); err != nil || !r.All() {
			t.Errorf("%s: %v", name, err)
		}
		// An index of another number of rows is not this file's.
		if _, err = c.Evaluate(id(30), fs, sampleRows+1); !errs.Is(err, errs.Corrupt) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "'id'") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if r, err := (&Container{}).Evaluate(nil, fs, sampleRows); err != nil || !r.All() {
		t.Error(err)
	}
}

func TestRows(t *testing.T) {
	r := Rows{roaring.BitmapOf(3, 10, 11)}
	if r.All() || r.None() || !r.AnyIn(0, 4) || r.AnyIn(4, 10) || !r.AnyIn(10, 11) || r.AnyIn(12, 100) || r.AnyIn(1<<33, 1<<34) || r.Contains(1<<32+3) {
		t.Error("rows")
	}
	if got := r.Filter(9, 3, nil, nil); !slices.Equal(got, []uint16{1, 2}) {
		t.Error(got)
	}
	if got := r.Filter(4, 3, nil, nil); got == nil || len(got) != 0 {
		t.Error(got)
	}
	if got := r.Filter(9, 3, []uint16{0, 2}, nil); !slices.Equal(got, []uint16{2}) {
		t.Error(got)
	}
	if got := (Rows{}).Filter(9, 3, nil, nil); got != nil {
		t.Error(got)
	}
	if r := (Rows{roaring.New()}); !r.None() || r.All() {
		t.Error("none")
	}
}

func TestDamagedContainers(t *testing.T) {
	good := sample(t, "bloom.index")
	for name, b := range map[string][]byte{"empty": nil, "text": []byte("no container at all"), "head": good[:25], "cut": good[:len(good)-200]} {
		if _, err := Parse("x.index", b); !errs.Is(err, errs.Corrupt) || !strings.Contains(err.Error(), "x.index") {
			t.Errorf("%s: %v", name, err)
		}
	}
	b := slices.Clone(good)
	b[11] = 9
	if _, err := Parse("x.index", b); !errs.Is(err, errs.Unsupported) {
		t.Error(err)
	}
}

func TestModifiedUTF8(t *testing.T) {
	for in, want := range map[string]string{"abc": "abc", "s-\xc3\xbc": "s-ü", "\xc0\x80": "\x00", "\xed\xa0\xbd\xed\xb8\x80": "😀"} {
		if got := modifiedUTF8([]byte(in)); got != want {
			t.Errorf("%x is %q, want %q", in, got, want)
		}
	}
}

func FuzzEvaluate(f *testing.F) {
	for _, n := range []string{"bloom.index", "bsi.index", "bitmap.index", "range.index", "legacy.index"} {
		f.Add(sample(f, n), int64(sampleRows))
	}
	fs := fields(f)
	lits := map[column.Kind]column.Scalar{
		column.KindInt32: column.IntScalar(column.KindInt32, 30), column.KindInt64: column.IntScalar(column.KindInt64, -9000027),
		column.KindBytes: column.BytesScalar([]byte("s-ü-31")), column.KindTimestamp: column.IntScalar(column.KindTimestamp, 1700000000123000),
		column.KindFloat32: {Kind: column.KindFloat32, F: 0}, column.KindFloat64: {Kind: column.KindFloat64, F: 1.5},
	}
	f.Fuzz(func(t *testing.T, b []byte, rows int64) {
		c, err := Parse("x", b)
		if err != nil {
			if !errs.Is(err, errs.Corrupt) && !errs.Is(err, errs.Unsupported) {
				t.Fatal(err)
			}
			return
		}
		rows &= 1<<20 - 1
		for i, field := range fs {
			for op := predicate.Eq; op <= predicate.Contains; op++ {
				l := &predicate.Leaf{Op: op, Column: i}
				if op != predicate.IsNull && op != predicate.IsNotNull {
					l.Literals = []column.Scalar{lits[schema.KindOf(field.Type)]}
				}
				r, err := c.Evaluate(l, fs, rows)
				if err != nil {
					if !errs.Is(err, errs.Corrupt) {
						t.Fatal(err)
					}
					continue
				}
				if n := r.Count(rows); n > rows {
					t.Fatalf("%d of %d rows", n, rows)
				}
			}
		}
	})
}
