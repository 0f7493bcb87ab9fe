package evolution

import (
	"github.com/tributarydb/tributary/storage/cast"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
)

// never is false for every row.
var never = &predicate.Or{}

// Filter rewrites a predicate over table columns to one over Read that is true
// at least where the original is: conditions on columns whose type changed are
// kept only where the literals can be converted without loss (section 2.6).
// Conditions on columns that the file lacks are decided, as those read as null.
func (m *Mapping) Filter(p predicate.Predicate) predicate.Predicate {
	return predicate.Remap(p, func(l *predicate.Leaf) predicate.Predicate {
		src := m.source[l.Column]
		if src < 0 {
			if l.Op == predicate.IsNull {
				return nil
			}
			return never
		}
		have, want := m.read[src].Type, m.table[l.Column].Type
		if cast.Same(have, want) {
			return &predicate.Leaf{Op: l.Op, Column: src, Literals: l.Literals}
		}
		if l.Op == predicate.IsNull || l.Op == predicate.IsNotNull {
			// A cast keeps nulls, and only makes new ones of decimals that do not fit.
			if schema.KindOf(want) != schema.KindOf(have) || want.Root == schema.Decimal || have.IsNested() {
				return nil
			}
			return &predicate.Leaf{Op: l.Op, Column: src}
		}
		lits, ok := narrowLiterals(l.Literals, want, have)
		if !ok {
			return nil
		}
		return &predicate.Leaf{Op: l.Op, Column: src, Literals: lits}
	})
}

// narrowLiterals converts integer literals of a wider type to the file's
// narrower one, if all of them fit.
func narrowLiterals(lits []column.Scalar, want, have *schema.Type) ([]column.Scalar, bool) {
	width := func(t *schema.Type) int {
		switch t.Root {
		case schema.TinyInt:
			return 8
		case schema.SmallInt:
			return 16
		case schema.Int:
			return 32
		case schema.BigInt:
			return 64
		}
		return 0
	}
	w, h := width(want), width(have)
	if w == 0 || h == 0 || w < h {
		return nil, false
	}
	out := make([]column.Scalar, len(lits))
	for i, l := range lits {
		if l.I < -1<<(h-1) || l.I > 1<<(h-1)-1 {
			return nil, false
		}
		out[i] = column.IntScalar(schema.KindOf(have), l.I)
	}
	return out, true
}
