package fileindex

import (
	"fmt"
	"math/bits"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
)

// maxSlices is the number of bits of a value.
const maxSlices = 64

// sliceSet is a bit-sliced set of unsigned values: slice j holds the rows whose
// value, less min, has bit j set.
type sliceSet struct {
	min, max int64
	exists   *roaring.Bitmap
	bits     []*roaring.Bitmap
}

// eq returns the rows with value v.
func (s *sliceSet) eq(v int64) *roaring.Bitmap {
	if s == nil || v < s.min || v > s.max {
		return roaring.New()
	}
	u := uint64(v - s.min)
	if bits.Len64(u) > len(s.bits) {
		return roaring.New()
	}
	out := s.exists.Clone()
	for j, b := range s.bits {
		if u>>j&1 == 1 {
			out.And(b)
		} else {
			out.AndNot(b)
		}
	}
	return out
}

// less returns the rows with a value below v, or at most v.
func (s *sliceSet) less(v int64, orEqual bool) *roaring.Bitmap {
	switch {
	case s == nil || v < s.min:
		return roaring.New()
	case v > s.max:
		return s.exists.Clone()
	}
	u := uint64(v - s.min)
	if bits.Len64(u) > len(s.bits) {
		return s.exists.Clone()
	}
	lt, eq := roaring.New(), s.exists.Clone()
	for j := len(s.bits) - 1; j >= 0; j-- {
		if u>>j&1 == 1 {
			lt.Or(roaring.AndNot(eq, s.bits[j]))
			eq.And(s.bits[j])
		} else {
			eq.AndNot(s.bits[j])
		}
	}
	if orEqual {
		lt.Or(eq)
	}
	return lt
}

// bsi is the bit-sliced index: the values >= 0, and the magnitudes of the others.
type bsi struct {
	t        *schema.Type
	rows     int64
	pos, neg *sliceSet
}

func openBSI(data []byte, t *schema.Type, rows int64) (reader, error) {
	r := buffer{b: data}
	if v := r.u8(); v != 1 && !r.bad {
		return nil, fmt.Errorf("version %d is unknown", v)
	}
	if err := checkRows(r.i32(), rows); err != nil {
		return nil, err
	}
	x := &bsi{t: t, rows: rows}
	for _, dst := range []**sliceSet{&x.pos, &x.neg} {
		if r.u8() == 0 {
			continue
		}
		s, err := readSlices(&r, rows)
		if err != nil {
			return nil, err
		}
		*dst = s
	}
	if r.bad {
		return nil, errShort
	}
	return x, nil
}

func readSlices(r *buffer, rows int64) (*sliceSet, error) {
	if v := r.u8(); v != 1 && !r.bad {
		return nil, fmt.Errorf("version %d is unknown", v)
	}
	s := &sliceSet{min: r.i64(), max: r.i64()}
	if r.bad {
		return nil, errShort
	}
	if s.min < 0 || s.max < s.min {
		return nil, fmt.Errorf("its range is %d to %d", s.min, s.max)
	}
	var err error
	if s.exists, r.b, err = readRoaring(r.b, rows); err != nil {
		return nil, err
	}
	n := r.i32()
	if r.bad || n < 0 || n > maxSlices || n < bits.Len64(uint64(s.max-s.min)) {
		return nil, fmt.Errorf("it has %d slices", n)
	}
	s.bits = make([]*roaring.Bitmap, n)
	for j := range s.bits {
		if s.bits[j], r.b, err = readRoaring(r.b, rows); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (x *bsi) rowCount() int64 { return x.rows }

func (x *bsi) eq(k column.Scalar) (*roaring.Bitmap, error) {
	if k.I >= 0 {
		return x.pos.eq(k.I), nil
	}
	if k.I == -k.I {
		return nil, nil // the least value has no magnitude
	}
	return x.neg.eq(-k.I), nil
}

func (x *bsi) less(k column.Scalar, orEqual bool) (*roaring.Bitmap, error) {
	neg := roaring.New()
	if x.neg != nil {
		neg = x.neg.exists.Clone()
	}
	if k.I >= 0 {
		neg.Or(x.pos.less(k.I, orEqual))
		return neg, nil
	}
	if k.I == -k.I {
		return nil, nil
	}
	// v < k is |v| > |k|: not |v| <= |k|.
	neg.AndNot(x.neg.less(-k.I, !orEqual))
	return neg, nil
}

func (x *bsi) notNull() (*roaring.Bitmap, error) {
	out := roaring.New()
	for _, s := range []*sliceSet{x.pos, x.neg} {
		if s != nil {
			out.Or(s.exists)
		}
	}
	return out, nil
}

func (x *bsi) leaf(l *predicate.Leaf) (*roaring.Bitmap, error) { return answer(x, l, x.t) }
