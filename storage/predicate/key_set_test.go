package predicate

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
)

// randomKeys makes a list of keys of one to three of randomBatch's columns.
func randomKeys(r *rand.Rand) *Keys {
	p := &Keys{}
	for range 1 + r.IntN(3) {
		p.Columns = append(p.Columns, r.IntN(len(selectKinds)))
	}
	p.Values = make([][]column.Scalar, len(p.Columns))
	keys := make([][]column.Scalar, r.IntN(40))
	for i := range keys {
		for _, c := range p.Columns {
			keys[i] = append(keys[i], randomScalar(r, selectKinds[c]))
		}
	}
	slices.SortFunc(keys, func(a, b []column.Scalar) int {
		return slices.CompareFunc(a, b, column.Scalar.Compare)
	})
	for _, k := range keys {
		for i := range k {
			p.Values[i] = append(p.Values[i], k[i])
		}
	}
	return p
}

// listed reports whether one of the keys has the property for all columns.
func (p *Keys) listed(holds func(i int, x column.Scalar) bool) bool {
	for k := range p.Len() {
		all := true
		for i := range p.Columns {
			all = all && holds(i, p.Values[i][k])
		}
		if all {
			return true
		}
	}
	return false
}

func TestKeysSelect(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	hits := 0
	for range 3000 {
		p := randomKeys(r)
		s := NewSelector(p)
		for range 3 { // the selector goes on where it was
			b := randomBatch(r, 1+r.IntN(200))
			if r.IntN(2) == 0 {
				for i := 0; i < b.N; i += 1 + r.IntN(3) {
					b.Sel = append(b.Sel, uint16(i))
				}
			}
			var want []uint16
			for k := range b.Rows() {
				row := b.Row(k)
				value := func(c int) column.Scalar { return column.ScalarAt(b.Cols[c], row) }
				in := p.listed(func(i int, x column.Scalar) bool {
					return !value(p.Columns[i]).Null && x.Compare(value(p.Columns[i])) == 0
				})
				if in != Matches(p, value) {
					t.Fatalf("%+v: Matches differs at row %d", p, row)
				}
				if in {
					want = append(want, uint16(row))
				}
			}
			hits += len(want)
			if got := s.Select(b, nil, nil); !slices.Equal(got, want) {
				t.Fatalf("%+v: %v, want %v", p, got, want)
			}
			// In place.
			if got := s.Select(b, b.Sel, b.Sel); !slices.Equal(got, want) {
				t.Fatalf("%+v: in place %v, want %v", p, got, want)
			}
		}
	}
	if hits == 0 {
		t.Fatal("no row ever matched")
	}
}

// TestKeysSelectAscending selects from long ascending columns, where the next key is searched by leaps.
func TestKeysSelectAscending(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, kind := range []column.Kind{column.KindInt32, column.KindInt64, column.KindTimestamp} {
		for range 50 {
			p := &Keys{Columns: []int{0}, Values: make([][]column.Scalar, 1)}
			for x := int64(0); x < 20_000; x += 1 + r.Int64N(int64(1+r.IntN(2000))) {
				p.Values[0] = append(p.Values[0], column.IntScalar(kind, x))
			}
			s := NewSelector(p)
			for from := int64(0); from < 20_000; from += 4096 {
				bld := column.NewBuilder(kind)
				var want []uint16
				for i := range int64(column.MaxRows) {
					bld.AppendInt(from + i)
					if p.listed(func(_ int, x column.Scalar) bool { return x.I == from+i }) {
						want = append(want, uint16(i))
					}
				}
				b := &column.Batch{N: column.MaxRows, Cols: []*column.Vector{bld.Finish()}}
				if got := s.Select(b, nil, nil); !slices.Equal(got, want) {
					t.Fatalf("kind %d from %d: %v, want %v", kind, from, got, want)
				}
			}
		}
	}
}

func TestKeysMayMatch(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var answers [2]int
	for range 20_000 {
		p := randomKeys(r)
		known := map[int]Stats{}
		for _, c := range p.Columns {
			if r.IntN(4) == 0 {
				continue
			}
			lo, hi := randomScalar(r, selectKinds[c]), randomScalar(r, selectKinds[c])
			switch {
			case r.IntN(2) == 0: // sorted files have one value in columns that are not the last
				hi = lo
			case lo.Compare(hi) > 0:
				lo, hi = hi, lo
			}
			known[c] = Stats{Rows: 10, Nulls: -1, HasBounds: r.IntN(8) > 0, Min: lo, Max: hi}
		}
		want := p.listed(func(i int, x column.Scalar) bool {
			s := known[p.Columns[i]]
			return !s.HasBounds || x.Compare(s.Min) >= 0 && x.Compare(s.Max) <= 0
		})
		if got := MayMatch(p, func(c int) (Stats, bool) { s, ok := known[c]; return s, ok }); got != want {
			t.Fatalf("%+v with %+v: %v, want %v", p, known, got, want)
		}
		if want {
			answers[1]++
		} else {
			answers[0]++
		}
	}
	if answers[0] == 0 || answers[1] == 0 {
		t.Errorf("one answer only: %v", answers)
	}
	one := &Keys{Columns: []int{0}, Values: [][]column.Scalar{{column.IntScalar(column.KindInt32, 1)}}}
	for _, c := range []struct {
		s    Stats
		want bool
	}{
		{Stats{Rows: 0}, false},
		{Stats{Rows: 5, Nulls: 5}, false},
		{Stats{Rows: 5, Nulls: 1}, true},
		// Bounds of another kind say nothing.
		{Stats{Rows: 5, Nulls: 0, HasBounds: true, Min: column.BytesScalar([]byte("x")), Max: column.BytesScalar([]byte("y"))}, true},
	} {
		if got := MayMatch(one, func(int) (Stats, bool) { return c.s, true }); got != c.want {
			t.Errorf("%+v: %v", c.s, got)
		}
	}
}

// TestKeysRemap leaves columns out: what is left is true wherever the whole was, and still in order.
func TestKeysRemap(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 2000 {
		p := randomKeys(r)
		drop := r.IntN(len(selectKinds))
		out := RemapColumns(p, func(c int) int {
			if c == drop {
				return -1
			}
			return c + 1
		})
		if p.Columns[0] == drop {
			if out != nil {
				t.Fatalf("%+v without column %d is %+v", p, drop, out)
			}
			continue
		}
		for range 5 {
			b := randomBatch(r, 100)
			for _, i := range Select(p, b, nil) {
				if !Matches(out, func(c int) column.Scalar { return column.ScalarAt(b.Cols[c-1], int(i)) }) {
					t.Fatalf("%+v without column %d leaves out row %d", p, drop, i)
				}
			}
		}
	}
	p := &Keys{Columns: []int{3}, Values: [][]column.Scalar{{column.IntScalar(column.KindInt32, 1)}}}
	if got, ok := Remap(p, func(*Leaf) Predicate { return &Or{} }).(*Or); !ok || len(got.Children) > 0 {
		t.Error("a column that decides the condition does not")
	}
	if !Columns(&And{Children: []Predicate{p}})[3] {
		t.Error("the column is not among those looked at")
	}
}
