package predicate

import (
	"slices"
	"sort"

	"github.com/tributarydb/tributary/storage/column"
)

// Keys is true for the rows whose values of Columns are one of a list of keys: a condition for lists that are too long to
// be gone through for each page, and for keys of several columns.
type Keys struct {
	// Columns are the key's columns, the most significant first.
	Columns []int
	// Values has a list for each of Columns: Values[c][k] is the value of column c in key k. The keys ascend, as
	// Scalar.Compare orders them, column by column; keys may repeat. No value is null.
	Values [][]column.Scalar
}

func (*Keys) isPredicate() {}

// Len is the number of keys.
func (p *Keys) Len() int { return len(p.Values[0]) }

// remap rewrites each column as Remap does an IN of its values. What is behind a column that f leaves out is left out as well,
// since the keys are in the order of those before only.
func (p *Keys) remap(f func(*Leaf) Predicate) Predicate {
	out := &Keys{}
	for i, c := range p.Columns {
		r := f(&Leaf{Op: In, Column: c, Literals: p.Values[i]})
		l, ok := r.(*Leaf)
		if !ok && r != nil && i == 0 {
			return r // decided, or said otherwise
		}
		if !ok || l.Op != In || len(l.Literals) != p.Len() {
			break
		}
		out.Columns, out.Values = append(out.Columns, l.Column), append(out.Values, l.Literals)
	}
	if len(out.Columns) == 0 {
		return nil
	}
	return out
}

// mayMatch reports whether a key may lie within the bounds of the columns.
func (p *Keys) mayMatch(stats func(col int) (Stats, bool)) bool {
	bounds := make([]Stats, len(p.Columns))
	known := make([]bool, len(p.Columns))
	for i, c := range p.Columns {
		s, ok := stats(c)
		if !ok {
			continue
		}
		if s.Rows == 0 || s.Nulls >= 0 && s.Rows >= 0 && s.Nulls == s.Rows {
			return false
		}
		bounds[i] = s
		known[i] = s.HasBounds && !s.Min.Null && !s.Max.Null && p.Len() > 0 && s.Min.Kind == p.Values[i][0].Kind
	}
	from, to := 0, p.Len()
	// While the columns before have one value, the keys left ascend in the next one.
	for i := range p.Columns {
		if !known[i] {
			return from < to && p.anyWithin(from, to, i+1, bounds, known)
		}
		v, s := p.Values[i], bounds[i]
		from += sort.Search(to-from, func(k int) bool { return v[from+k].Compare(s.Min) >= 0 })
		to = from + sort.Search(to-from, func(k int) bool { return v[from+k].Compare(s.Max) > 0 })
		if from == to {
			return false
		}
		if s.Min.Compare(s.Max) != 0 {
			return p.anyWithin(from, to, i+1, bounds, known)
		}
	}
	return true
}

// anyWithin reports whether one of the keys [from, to) lies within the bounds of the columns from first on.
func (p *Keys) anyWithin(from, to, first int, bounds []Stats, known []bool) bool {
	if !slices.Contains(known[first:], true) {
		return true
	}
	for k := from; k < to; k++ {
		in := true
		for i := first; in && i < len(p.Columns); i++ {
			in = !known[i] || p.Values[i][k].Compare(bounds[i].Min) >= 0 && p.Values[i][k].Compare(bounds[i].Max) <= 0
		}
		if in {
			return true
		}
	}
	return false
}

// matches evaluates p on one row.
func (p *Keys) matches(value func(col int) column.Scalar) bool {
	row := make([]column.Scalar, len(p.Columns))
	for i, c := range p.Columns {
		if row[i] = value(c); row[i].Null {
			return false
		}
	}
	k := sort.Search(p.Len(), func(k int) bool { return p.compare(k, row) >= 0 })
	return k < p.Len() && p.compare(k, row) == 0
}

func (p *Keys) compare(k int, row []column.Scalar) int {
	for i := range row {
		if c := p.Values[i][k].Compare(row[i]); c != 0 {
			return c
		}
	}
	return 0
}

// keySelector evaluates Keys on batches. Rows of one batch after the other mostly ascend: it looks on from the last key.
type keySelector struct {
	keys *Keys
	// lists are the keys as vectors.
	lists []*column.Vector
	n, at int
}

func compileKeys(p *Keys) selector {
	s := &keySelector{keys: p, n: p.Len()}
	for _, v := range p.Values {
		if len(v) == 0 {
			return &orSelector{}
		}
		b := column.NewBuilder(v[0].Kind)
		for _, x := range v {
			b.AppendScalar(x)
		}
		s.lists = append(s.lists, b.Finish())
	}
	return s
}

func (s *keySelector) run(_ *Selector, b *column.Batch, sel, out []uint16) []uint16 {
	cols := make([]*column.Vector, len(s.lists))
	for i, c := range s.keys.Columns {
		if c < 0 || c >= len(b.Cols) || b.Cols[c].Kind != s.lists[i].Kind || b.Cols[c].Kind >= column.KindList {
			return append(out, sel...) // not comparable here
		}
		cols[i] = b.Cols[c]
	}
	if len(cols) == 1 && cols[0].Dict == nil && cols[0].Valid == nil {
		switch cols[0].Kind {
		case column.KindInt32:
			return selectListed(cols[0].I32, s.lists[0].I32, &s.at, sel, out)
		case column.KindInt64:
			return selectListed(cols[0].I64, s.lists[0].I64, &s.at, sel, out)
		}
	}
	for _, i := range sel {
		if s.find(cols, int(i)) {
			out = append(out, i)
		}
	}
	return out
}

// find reports whether a row is listed, and leaves at at the first key that is not less.
func (s *keySelector) find(cols []*column.Vector, row int) bool {
	compare := func(k int) int {
		for i, v := range cols {
			if c := column.CompareRows(s.lists[i], k, v, row); c != 0 {
				return c
			}
		}
		return 0
	}
	if s.at > 0 && compare(s.at-1) >= 0 {
		s.at = sort.Search(s.at, func(k int) bool { return compare(k) >= 0 })
	} else {
		for step := 1; s.at < s.n && compare(s.at) < 0; step *= 2 {
			if to := min(s.at+step, s.n); to == s.n || compare(to) >= 0 {
				from := s.at + 1
				s.at = from + sort.Search(to-from, func(k int) bool { return compare(from+k) >= 0 })
				break
			}
			s.at += step
		}
	}
	return s.at < s.n && compare(s.at) == 0
}

// selectListed is keySelector.run of one plain column: list ascends, at is the place to look from.
func selectListed[T int32 | int64](vals, list []T, at *int, sel, out []uint16) []uint16 {
	k := *at
	for _, i := range sel {
		x := vals[i]
		if k > 0 && list[k-1] >= x {
			k = sort.Search(k, func(j int) bool { return list[j] >= x })
		}
		if k < len(list) && list[k] < x {
			k++
			if k < len(list) && list[k] < x {
				k += sort.Search(len(list)-k, func(j int) bool { return list[k+j] >= x })
			}
		}
		if k < len(list) && list[k] == x {
			out = append(out, i)
		}
	}
	*at = k
	return out
}
