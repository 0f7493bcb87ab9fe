package predicate

import (
	"bytes"
	"iter"

	"github.com/tributarydb/tributary/storage/column"
)

// Op is a comparison.
type Op uint8

// The comparisons. All but IsNull are false for a null value.
const (
	Eq Op = iota
	Ne
	Lt
	Le
	Gt
	Ge
	IsNull
	IsNotNull
	In
	NotIn
	StartsWith
	EndsWith
	Contains
)

// Predicate is *Leaf, *Keys, *And or *Or. nil is "always true".
type Predicate interface{ isPredicate() }

// Leaf compares a column with literals: none for IsNull and IsNotNull, one or
// more not-null ones for In and NotIn, else one not-null.
type Leaf struct {
	Op Op
	// Column is an index into the columns that the predicate's user declares.
	Column   int
	Literals []column.Scalar
}

// And is true where all children are; an empty And is true.
type And struct{ Children []Predicate }

// Or is true where any child is; an empty Or is false.
type Or struct{ Children []Predicate }

func (*Leaf) isPredicate() {}
func (*And) isPredicate()  {}
func (*Or) isPredicate()   {}

// NewAnd joins predicates, flattening; nil children are left out; nil for none.
func NewAnd(ps ...Predicate) Predicate {
	var out []Predicate
	for _, p := range ps {
		switch p := p.(type) {
		case nil:
		case *And:
			out = append(out, p.Children...)
		default:
			out = append(out, p)
		}
	}
	switch len(out) {
	case 0:
		return nil
	case 1:
		return out[0]
	}
	return &And{Children: out}
}

// Conjuncts splits p at its top-level ANDs.
func Conjuncts(p Predicate) []Predicate {
	switch p := p.(type) {
	case nil:
		return nil
	case *And:
		var out []Predicate
		for _, c := range p.Children {
			out = append(out, Conjuncts(c)...)
		}
		return out
	}
	return []Predicate{p}
}

// Columns returns the set of columns p looks at.
func Columns(p Predicate) map[int]bool {
	set := map[int]bool{}
	var walk func(Predicate)
	walk = func(p Predicate) {
		switch p := p.(type) {
		case *Leaf:
			set[p.Column] = true
		case *Keys:
			for _, c := range p.Columns {
				set[c] = true
			}
		case *And:
			for _, c := range p.Children {
				walk(c)
			}
		case *Or:
			for _, c := range p.Children {
				walk(c)
			}
		}
	}
	walk(p)
	return set
}

// Leaves goes through the leaves of p.
func Leaves(p Predicate) iter.Seq[*Leaf] {
	return func(yield func(*Leaf) bool) { eachLeaf(p, yield) }
}

func eachLeaf(p Predicate, yield func(*Leaf) bool) bool {
	var children []Predicate
	switch p := p.(type) {
	case *Leaf:
		return yield(p)
	case *And:
		children = p.Children
	case *Or:
		children = p.Children
	}
	for _, c := range children {
		if !eachLeaf(c, yield) {
			return false
		}
	}
	return true
}

// Remap rewrites p's leaves by f, weakening: a leaf for which f returns nil
// becomes "always true" (an OR with such a child does as well). Keys are seen by f as an IN of the values of each column, which it
// answers with an IN of as many values in the same order, if not with nil; the first one may become any other predicate.
func Remap(p Predicate, f func(*Leaf) Predicate) Predicate {
	switch p := p.(type) {
	case *Leaf:
		return f(p)
	case *And:
		var out []Predicate
		for _, c := range p.Children {
			out = append(out, Remap(c, f))
		}
		return NewAnd(out...)
	case *Or:
		out := make([]Predicate, 0, len(p.Children))
		for _, c := range p.Children {
			r := Remap(c, f)
			if r == nil {
				return nil
			}
			out = append(out, r)
		}
		return &Or{Children: out}
	case *Keys:
		return p.remap(f)
	}
	return nil
}

// RemapColumns renumbers p's columns; a column for which f gives -1 is dropped as by Remap.
func RemapColumns(p Predicate, f func(int) int) Predicate {
	return Remap(p, func(l *Leaf) Predicate {
		i := f(l.Column)
		if i < 0 {
			return nil
		}
		return &Leaf{Op: l.Op, Column: i, Literals: l.Literals}
	})
}

// Stats are what is known of a column over a number of rows.
type Stats struct {
	// Rows is the number of rows, -1 unknown.
	Rows int64
	// Nulls is the number of null rows, -1 unknown.
	Nulls int64
	// Min and Max bound the not-null values where HasBounds is set; they need
	// not occur.
	HasBounds bool
	Min, Max  column.Scalar
}

// MayMatch reports whether p can be true for any row of data with the
// statistics; stats returns ok=false where nothing is known of a column.
func MayMatch(p Predicate, stats func(col int) (s Stats, ok bool)) bool {
	switch p := p.(type) {
	case *And:
		for _, c := range p.Children {
			if !MayMatch(c, stats) {
				return false
			}
		}
	case *Or:
		for _, c := range p.Children {
			if MayMatch(c, stats) {
				return true
			}
		}
		return false
	case *Leaf:
		s, ok := stats(p.Column)
		return !ok || leafMayMatch(p, s)
	case *Keys:
		return p.mayMatch(stats)
	}
	return true
}

func leafMayMatch(l *Leaf, s Stats) bool {
	if s.Rows == 0 {
		return false
	}
	if l.Op == IsNull {
		return s.Nulls != 0
	}
	if s.Nulls >= 0 && s.Rows >= 0 && s.Nulls == s.Rows {
		return false // all null, and no other comparison is true for a null
	}
	if !s.HasBounds || s.Min.Null || s.Max.Null {
		return true
	}
	in := func(x column.Scalar) bool {
		return x.Kind != s.Min.Kind || x.Compare(s.Min) >= 0 && x.Compare(s.Max) <= 0
	}
	switch l.Op {
	case Eq:
		return in(l.Literals[0])
	case In:
		for _, x := range l.Literals {
			if in(x) {
				return true
			}
		}
		return false
	}
	if len(l.Literals) == 0 || l.Literals[0].Kind != s.Min.Kind {
		return true
	}
	x := l.Literals[0]
	switch l.Op {
	case Ne:
		return x.Compare(s.Min) != 0 || x.Compare(s.Max) != 0
	case NotIn:
		if s.Min.Compare(s.Max) != 0 {
			return true
		}
		for _, x := range l.Literals {
			if x.Compare(s.Min) == 0 {
				return false
			}
		}
	case Lt:
		return s.Min.Compare(x) < 0
	case Le:
		return s.Min.Compare(x) <= 0
	case Gt:
		return s.Max.Compare(x) > 0
	case Ge:
		return s.Max.Compare(x) >= 0
	case StartsWith:
		return bytes.Compare(s.Max.B, x.B) >= 0 &&
			(bytes.Compare(s.Min.B, x.B) <= 0 || bytes.HasPrefix(s.Min.B, x.B))
	}
	return true
}

// Matches evaluates p on one row exactly; value returns the row's value of a column.
func Matches(p Predicate, value func(col int) column.Scalar) bool {
	switch p := p.(type) {
	case *And:
		for _, c := range p.Children {
			if !Matches(c, value) {
				return false
			}
		}
	case *Or:
		for _, c := range p.Children {
			if Matches(c, value) {
				return true
			}
		}
		return false
	case *Leaf:
		return leafMatches(p, value(p.Column))
	case *Keys:
		return p.matches(value)
	}
	return true
}

func leafMatches(l *Leaf, v column.Scalar) bool {
	if v.Null || l.Op == IsNull {
		return v.Null && l.Op == IsNull
	}
	switch l.Op {
	case IsNotNull:
		return true
	case In, NotIn:
		for _, x := range l.Literals {
			if v.Compare(x) == 0 {
				return l.Op == In
			}
		}
		return l.Op == NotIn
	case StartsWith:
		return bytes.HasPrefix(v.B, l.Literals[0].B)
	case EndsWith:
		return bytes.HasSuffix(v.B, l.Literals[0].B)
	case Contains:
		return bytes.Contains(v.B, l.Literals[0].B)
	}
	return l.Op.Holds(v.Compare(l.Literals[0]))
}

// Holds reports whether a comparison's result c (negative, 0, positive) satisfies op, which is one of Eq to Ge.
func (op Op) Holds(c int) bool {
	switch op {
	case Eq:
		return c == 0
	case Ne:
		return c != 0
	case Lt:
		return c < 0
	case Le:
		return c <= 0
	case Gt:
		return c > 0
	}
	return c >= 0
}
