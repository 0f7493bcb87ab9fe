package column

import (
	"bytes"
	"cmp"
	"math"
)

// Scalar is one value of a non-nested kind, or a null: a partition value, a
// statistics bound, a literal of a predicate. The zero Scalar with a Kind is not null and 0.
type Scalar struct {
	Kind Kind
	Null bool
	// I holds KindInt32, KindInt64 and KindTimestamp (microseconds) values.
	I int64
	// D holds KindInt128.
	D Int128
	// F holds KindFloat32 (widened) and KindFloat64.
	F float64
	// Sub holds the nanoseconds of the microsecond of KindTimestamp.
	Sub uint16
	// B holds KindBytes.
	B []byte
}

// NullScalar returns a null of the kind.
func NullScalar(k Kind) Scalar { return Scalar{Kind: k, Null: true} }

// IntScalar returns an integer-like scalar.
func IntScalar(k Kind, i int64) Scalar { return Scalar{Kind: k, I: i} }

// BytesScalar returns a KindBytes scalar that shares b.
func BytesScalar(b []byte) Scalar { return Scalar{Kind: KindBytes, B: b} }

// CompareFloat orders floats as Java does: -0 < +0, NaN greatest and equal to itself.
func CompareFloat(a, b float64) int {
	if a < b {
		return -1
	}
	if a > b {
		return 1
	}
	if a == b {
		if a != 0 {
			return 0
		}
		return cmp.Compare(b2i(!math.Signbit(a)), b2i(!math.Signbit(b)))
	}
	return cmp.Compare(b2i(a != a), b2i(b != b))
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Compare orders two scalars of one kind: nulls first, then as section 5.5
// of the format (numbers, unsigned bytes, Java float order).
func (s Scalar) Compare(o Scalar) int {
	if s.Null || o.Null {
		return cmp.Compare(b2i(!s.Null), b2i(!o.Null))
	}
	switch s.Kind {
	case KindInt128:
		return s.D.Cmp(o.D)
	case KindFloat32, KindFloat64:
		return CompareFloat(s.F, o.F)
	case KindBytes:
		return bytes.Compare(s.B, o.B)
	case KindTimestamp:
		if c := cmp.Compare(s.I, o.I); c != 0 {
			return c
		}
		return cmp.Compare(s.Sub, o.Sub)
	}
	return cmp.Compare(s.I, o.I)
}

// ScalarAt copies the value of row i of a non-nested vector.
func ScalarAt(v *Vector, i int) Scalar {
	if v.IsNull(i) {
		return NullScalar(v.Kind)
	}
	v, i = v.At(i)
	s := Scalar{Kind: v.Kind}
	switch v.Kind {
	case KindInt32:
		s.I = int64(v.I32[i])
	case KindInt64:
		s.I = v.I64[i]
	case KindTimestamp:
		s.I, s.Sub = v.I64[i], v.SubNanos(i)
	case KindInt128:
		s.D = v.I128[i]
	case KindFloat32:
		s.F = float64(v.F32[i])
	case KindFloat64:
		s.F = v.F64[i]
	case KindBytes:
		s.B = append([]byte(nil), v.Bytes(i)...)
	}
	return s
}

// CompareRows orders row i of a and row j of b, vectors of one non-nested
// kind, as Scalar.Compare does.
func CompareRows(a *Vector, i int, b *Vector, j int) int {
	an, bn := a.IsNull(i), b.IsNull(j)
	if an || bn {
		return cmp.Compare(b2i(!an), b2i(!bn))
	}
	a, i = a.At(i)
	b, j = b.At(j)
	switch a.Kind {
	case KindInt32:
		return cmp.Compare(a.I32[i], b.I32[j])
	case KindInt64:
		return cmp.Compare(a.I64[i], b.I64[j])
	case KindTimestamp:
		if c := cmp.Compare(a.I64[i], b.I64[j]); c != 0 {
			return c
		}
		return cmp.Compare(a.SubNanos(i), b.SubNanos(j))
	case KindInt128:
		return a.I128[i].Cmp(b.I128[j])
	case KindFloat32:
		return CompareFloat(float64(a.F32[i]), float64(b.F32[j]))
	case KindFloat64:
		return CompareFloat(a.F64[i], b.F64[j])
	}
	return bytes.Compare(a.Bytes(i), b.Bytes(j))
}

// FromScalar returns a vector of one row.
func FromScalar(s Scalar) *Vector {
	b := NewBuilder(s.Kind)
	b.AppendScalar(s)
	return b.Finish()
}

// EqualRows reports whether row i of a equals row j of b, vectors of one
// shape, nested ones too: two nulls are equal; floats by CompareFloat; the order
// of map entries counts.
func EqualRows(a *Vector, i int, b *Vector, j int) bool {
	if a.IsNull(i) || b.IsNull(j) {
		return a.IsNull(i) == b.IsNull(j)
	}
	a, i = a.At(i)
	b, j = b.At(j)
	switch a.Kind {
	case KindStruct:
		for c := range a.Children {
			if !EqualRows(a.Children[c], i, b.Children[c], j) {
				return false
			}
		}
		return true
	case KindList, KindMap:
		n := int(a.Offsets[i+1] - a.Offsets[i])
		if int(b.Offsets[j+1]-b.Offsets[j]) != n {
			return false
		}
		for c := range a.Children {
			for k := range n {
				if !EqualRows(a.Children[c], int(a.Offsets[i])+k, b.Children[c], int(b.Offsets[j])+k) {
					return false
				}
			}
		}
		return true
	}
	return CompareRows(a, i, b, j) == 0
}
