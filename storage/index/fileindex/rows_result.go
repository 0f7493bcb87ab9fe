package fileindex

import "github.com/RoaringBitmap/roaring/v2"

// Rows is a set of row positions of a file that can match a predicate: all
// others cannot. It is immutable.
type Rows struct{ set *roaring.Bitmap }

// All reports whether nothing was ruled out.
func (r Rows) All() bool { return r.set == nil }

// None reports whether no row can match: the file need not be read.
func (r Rows) None() bool { return r.set != nil && r.set.IsEmpty() }

// Count is the number of rows that can match; total where All.
func (r Rows) Count(total int64) int64 {
	if r.set == nil {
		return total
	}
	return int64(r.set.GetCardinality())
}

// Contains reports whether the row at a position can match.
func (r Rows) Contains(pos int64) bool {
	return r.set == nil || pos>>32 == 0 && r.set.Contains(uint32(pos))
}

// AnyIn reports whether a row in [from, to) can match.
func (r Rows) AnyIn(from, to int64) bool {
	if r.set == nil {
		return true
	}
	if from >= 1<<32 || to <= from {
		return false
	}
	it := r.set.Iterator()
	it.AdvanceIfNeeded(uint32(from))
	return it.HasNext() && int64(it.PeekNext()) < to
}

// Filter returns those of the rows of a batch that can match: base is the
// position of row 0, n the number of rows, sel the selection so far (nil = all). The
// result is sel itself where All; otherwise dst is filled and returned, not nil.
func (r Rows) Filter(base int64, n int, sel, dst []uint16) []uint16 {
	if r.set == nil {
		return sel
	}
	dst = dst[:0]
	if sel == nil {
		it := r.set.Iterator()
		if base < 1<<32 {
			it.AdvanceIfNeeded(uint32(base))
			for it.HasNext() {
				p := int64(it.Next()) - base
				if p >= int64(n) {
					break
				}
				dst = append(dst, uint16(p))
			}
		}
	} else {
		for _, i := range sel {
			if r.Contains(base + int64(i)) {
				dst = append(dst, i)
			}
		}
	}
	if dst == nil {
		dst = []uint16{}
	}
	return dst
}
