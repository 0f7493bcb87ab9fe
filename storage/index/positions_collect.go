package index

import (
	"github.com/RoaringBitmap/roaring/v2"

	"github.com/tributarydb/tributary/storage/errs"
)

// Positions collects row positions of one data file. The zero value is empty. It is for one goroutine.
type Positions struct {
	v Vector
	// last is the part of the position added last.
	last    *roaring.Bitmap
	lastKey uint32
}

// Add adds a position; once is enough. One that no deletion vector can hold is errs.Invalid.
func (p *Positions) Add(pos int64) error {
	if pos < 0 || pos > maxPosition64 {
		return errs.Invalidf("row %d of a data file cannot be named", pos)
	}
	if key := uint32(pos >> 32); p.last == nil || key != p.lastKey {
		p.last, p.lastKey = p.v.grow(key), key
	}
	p.last.Add(uint32(pos))
	return nil
}

// Bytes is about the memory that the positions take.
func (p *Positions) Bytes() int64 {
	var n int64
	for _, b := range p.v.parts {
		n += int64(b.GetSizeInBytes())
	}
	return n + positionsBytes
}

// positionsBytes is about the memory of Positions without any.
const positionsBytes = 256

// Vector returns the positions as a deletion vector. Nothing may be added afterwards.
func (p *Positions) Vector() *Vector {
	for _, b := range p.v.parts {
		b.RunOptimize()
	}
	return &Vector{keys: p.v.keys, parts: p.v.parts, wide: true, bytes: p.Bytes()}
}

// Equal reports whether two vectors have the same positions, however they are stored; nil has none.
func (v *Vector) Equal(o *Vector) bool {
	a, b := v.filled(), o.filled()
	if len(a) != len(b) {
		return false
	}
	for k, x := range a {
		if y := b[k]; y == nil || !x.Equals(y) {
			return false
		}
	}
	return true
}

// filled are the parts that have positions, by their upper 32 bits.
func (v *Vector) filled() map[uint32]*roaring.Bitmap {
	out := map[uint32]*roaring.Bitmap{}
	if v == nil {
		return out
	}
	for i, p := range v.parts {
		if !p.IsEmpty() {
			out[v.keys[i]] = p
		}
	}
	return out
}
