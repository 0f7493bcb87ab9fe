package predicate

import (
	"bytes"

	"github.com/tributarydb/tributary/storage/column"
)

// The kernels write the matching rows of sel to out, which is as long as sel
// and may be sel itself, and return how many there are. Rows are not null.

// isDense reports whether sel lists the rows 0, 1, 2, … of the Selector's own
// list of all rows, so that values can be gone through in order.
func (s *Selector) isDense(sel []uint16) bool {
	return len(sel) > 0 && &sel[0] == &s.all[0]
}

func denseCodes(mask []uint8, codes []uint32, out []uint16) int {
	k := 0
	out = out[:len(codes)]
	for i, c := range codes {
		out[k] = uint16(i)
		k += int(mask[c])
	}
	return k
}

// denseRange is selectRange for all rows.
func denseRange[T int32 | int64](vals []T, lo, hi int64, out []uint16) int {
	if lo > hi {
		return 0
	}
	k := 0
	span := uint64(hi) - uint64(lo)
	out = out[:len(vals)]
	for i, x := range vals {
		out[k] = uint16(i)
		k += b2i(uint64(int64(x))-uint64(lo) <= span)
	}
	return k
}

func selectCodes(mask []uint8, codes []uint32, sel, out []uint16) int {
	k := 0
	for _, i := range sel {
		out[k] = i
		k += int(mask[codes[i]])
	}
	return k
}

func selectCodesValid(mask []uint8, codes []uint32, valid []uint64, sel, out []uint16) int {
	k := 0
	for _, i := range sel {
		out[k] = i
		k += int(uint64(mask[codes[i]]) & (valid[i>>6] >> (i & 63)))
	}
	return k
}

// selectRange selects lo <= x <= hi.
func selectRange[T int32 | int64](vals []T, lo, hi int64, sel, out []uint16) int {
	if lo > hi {
		return 0
	}
	k := 0
	span := uint64(hi) - uint64(lo)
	for _, i := range sel {
		out[k] = i
		k += b2i(uint64(int64(vals[i]))-uint64(lo) <= span)
	}
	return k
}

func selectSet[T int32 | int64](vals []T, set map[int64]struct{}, want bool, sel, out []uint16) int {
	k := 0
	for _, i := range sel {
		out[k] = i
		_, ok := set[int64(vals[i])]
		k += b2i(ok == want)
	}
	return k
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// flat evaluates the leaf on a vector that is not dictionary-coded.
func (l *leafSelector) flat(v *column.Vector, sel, out []uint16) int {
	switch {
	case l.isRange && v.Kind == column.KindInt32:
		return selectRange(v.I32, l.lo, l.hi, sel, out)
	case l.isRange && v.Kind == column.KindInt64:
		return selectRange(v.I64, l.lo, l.hi, sel, out)
	case l.set != nil && v.Kind == column.KindInt32:
		return selectSet(v.I32, l.set, l.leaf.Op == In, sel, out)
	case l.set != nil && v.Kind == column.KindInt64:
		return selectSet(v.I64, l.set, l.leaf.Op == In, sel, out)
	case v.Kind == column.KindBytes:
		return l.flatBytes(v, sel, out)
	}
	k := 0
	for _, i := range sel {
		out[k] = i
		k += b2i(l.test(v, int(i)))
	}
	return k
}

func (l *leafSelector) flatBytes(v *column.Vector, sel, out []uint16) int {
	k := 0
	lit := l.leaf.Literals[0].B
	switch l.leaf.Op {
	case Eq, Ne:
		want := l.leaf.Op == Eq
		for _, i := range sel {
			out[k] = i
			k += b2i(bytes.Equal(v.Bytes(int(i)), lit) == want)
		}
	case StartsWith:
		for _, i := range sel {
			out[k] = i
			k += b2i(bytes.HasPrefix(v.Bytes(int(i)), lit))
		}
	case EndsWith:
		for _, i := range sel {
			out[k] = i
			k += b2i(bytes.HasSuffix(v.Bytes(int(i)), lit))
		}
	case Contains:
		for _, i := range sel {
			out[k] = i
			k += b2i(bytes.Contains(v.Bytes(int(i)), lit))
		}
	case In, NotIn:
		want := l.leaf.Op == In
		for _, i := range sel {
			out[k] = i
			k += b2i(l.hasText(v.Bytes(int(i))) == want)
		}
	default:
		for _, i := range sel {
			out[k] = i
			k += b2i(l.leaf.Op.Holds(bytes.Compare(v.Bytes(int(i)), lit)))
		}
	}
	return k
}

func (l *leafSelector) hasText(b []byte) bool {
	if l.texts != nil {
		_, ok := l.texts[string(b)]
		return ok
	}
	for i := range l.leaf.Literals {
		if bytes.Equal(b, l.leaf.Literals[i].B) {
			return true
		}
	}
	return false
}

// test evaluates the leaf, and the ranges joined to it, on one value.
func (l *leafSelector) test(v *column.Vector, i int) bool {
	switch l.leaf.Op {
	case In, NotIn:
		found := false
		for j := range l.leaf.Literals {
			if compareLiteral(v, i, &l.leaf.Literals[j], l.leaf.Op == In) == 0 {
				found = true
				break
			}
		}
		return found == (l.leaf.Op == In)
	case Eq, Ne, Lt, Le, Gt, Ge:
		loose := l.leaf.Op == Eq || l.leaf.Op == Le || l.leaf.Op == Ge
		return l.leaf.Op.Holds(compareLiteral(v, i, &l.leaf.Literals[0], loose))
	}
	return true // a text operator on another kind
}

// compareLiteral orders a value and a literal as Scalar.Compare does. With
// loose set, floating point zeros are equal whatever their signs.
func compareLiteral(v *column.Vector, i int, x *column.Scalar, loose bool) int {
	switch v.Kind {
	case column.KindInt32:
		return compareInts(int64(v.I32[i]), x.I)
	case column.KindInt64:
		return compareInts(v.I64[i], x.I)
	case column.KindTimestamp:
		if c := compareInts(v.I64[i], x.I); c != 0 {
			return c
		}
		return compareInts(int64(v.SubNanos(i)), int64(x.Sub))
	case column.KindInt128:
		return v.I128[i].Cmp(x.D)
	case column.KindFloat32, column.KindFloat64:
		f := v.Float(i)
		if loose && f == x.F {
			return 0
		}
		return column.CompareFloat(f, x.F)
	}
	return bytes.Compare(v.Bytes(i), x.B)
}

func compareInts(a, b int64) int {
	if a < b {
		return -1
	}
	return b2i(a > b)
}
