package index

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"
	"sort"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
)

const (
	// fileVersion is the first byte of a deletion vector index file.
	fileVersion = 1
	// magic32 begins a vector of 32-bit positions, big-endian.
	magic32 = 1581511376
	// magic64 begins a vector of 64-bit positions, little-endian.
	magic64 = 1681511377
	// frameBytes is the size field before and the checksum after a vector.
	frameBytes = 8
	// MaxVectorBytes bounds one stored vector.
	MaxVectorBytes = 1 << 30
)

// Vector is the set of deleted row positions of one data file. It is immutable.
type Vector struct {
	// parts are 32-bit bitmaps by the upper 32 bits of the position, ascending.
	keys  []uint32
	parts []*roaring.Bitmap
	wide  bool
	bytes int64
}

// NewVector returns a vector of 32-bit positions.
func NewVector(positions ...uint32) *Vector {
	b := roaring.BitmapOf(positions...)
	return &Vector{keys: []uint32{0}, parts: []*roaring.Bitmap{b}, bytes: int64(b.GetSizeInBytes())}
}

// Wide reports whether the vector is stored with 64-bit positions.
func (v *Vector) Wide() bool { return v.wide }

// Bytes estimates the memory that the vector takes.
func (v *Vector) Bytes() int64 { return v.bytes + 128 }

// Cardinality is the number of deleted rows.
func (v *Vector) Cardinality() int64 {
	var n int64
	for _, p := range v.parts {
		n += int64(p.GetCardinality())
	}
	return n
}

// part returns the bitmap for positions with the given upper 32 bits.
func (v *Vector) part(key uint32) *roaring.Bitmap {
	i := sort.Search(len(v.keys), func(i int) bool { return v.keys[i] >= key })
	if i < len(v.keys) && v.keys[i] == key {
		return v.parts[i]
	}
	return nil
}

// mark sets the bits of the deleted rows among base..base+n.
func (v *Vector) mark(base int64, n int, gone []uint64) {
	for at, end := base, base+int64(n); at < end; {
		upper := at >> 32
		stop := min(end, (upper+1)<<32)
		if p := v.part(uint32(upper)); p != nil {
			it := p.Iterator()
			it.AdvanceIfNeeded(uint32(at))
			for it.HasNext() {
				pos := upper<<32 | int64(it.Next())
				if pos >= stop {
					break
				}
				i := pos - base
				gone[i>>6] |= 1 << (uint(i) & 63)
			}
		}
		at = stop
	}
}

// filterSlow is Filter of batches of any length.
func (v *Vector) filterSlow(base int64, n int, sel, dst []uint16) []uint16 {
	dst = dst[:0]
	keep := func(i uint16) {
		if !v.Contains(base + int64(i)) {
			dst = append(dst, i)
		}
	}
	if sel == nil {
		for i := range n {
			keep(uint16(i))
		}
	} else {
		for _, i := range sel {
			keep(i)
		}
	}
	if dst == nil {
		dst = []uint16{}
	}
	return dst
}

// Contains reports whether the row at a position is deleted.
func (v *Vector) Contains(pos int64) bool {
	p := v.part(uint32(pos >> 32))
	return p != nil && p.Contains(uint32(pos))
}

// Max returns the greatest deleted position, -1 for none.
func (v *Vector) Max() int64 {
	for i := len(v.parts) - 1; i >= 0; i-- {
		if !v.parts[i].IsEmpty() {
			return int64(v.keys[i])<<32 | int64(v.parts[i].Maximum())
		}
	}
	return -1
}

// Filter returns those of the rows of a batch that are not deleted. base is
// the position of row 0, n the number of rows, sel the selection so far (nil = all). The
// result is sel itself (also nil) where nothing is deleted; otherwise dst is filled and returned.
func (v *Vector) Filter(base int64, n int, sel, dst []uint16) []uint16 {
	if !v.anyIn(base, base+int64(n)) {
		return sel
	}
	// One bit a row of the batch; most batches are longer than their deletes are many.
	var gone [column.MaxRows / 64]uint64
	if n > column.MaxRows {
		return v.filterSlow(base, n, sel, dst)
	}
	v.mark(base, n, gone[:])
	dst = dst[:0]
	if sel == nil {
		for w := 0; w*64 < n; w++ {
			kept := ^gone[w]
			if left := n - w*64; left < 64 {
				kept &= 1<<uint(left) - 1
			}
			for ; kept != 0; kept &= kept - 1 {
				dst = append(dst, uint16(w*64+bits.TrailingZeros64(kept)))
			}
		}
	} else {
		for _, i := range sel {
			if gone[i>>6]>>(i&63)&1 == 0 {
				dst = append(dst, i)
			}
		}
	}
	if dst == nil {
		dst = []uint16{} // nil would mean all rows
	}
	return dst
}

// anyIn reports whether a position in [from, to) is deleted.
func (v *Vector) anyIn(from, to int64) bool {
	for key := from >> 32; key <= (to-1)>>32; key++ {
		p := v.part(uint32(key))
		if p == nil {
			continue
		}
		lo, hi := max(from, key<<32), min(to, (key+1)<<32)
		it := p.Iterator()
		it.AdvanceIfNeeded(uint32(lo))
		if it.HasNext() && key<<32|int64(it.PeekNext()) < hi {
			return true
		}
	}
	return false
}

// Each calls fn for every deleted position, ascending, until it returns false.
func (v *Vector) Each(fn func(pos int64) bool) {
	for i, p := range v.parts {
		it := p.Iterator()
		for it.HasNext() {
			if !fn(int64(v.keys[i])<<32 | int64(it.Next())) {
				return
			}
		}
	}
}

// DecodeVector decodes magic, bitmap and checksum of one vector: data begins
// after the size field, size is that field. Errors are not classified; the caller names the file.
func decodeVector(data []byte, size int) (*Vector, error) {
	if size < 4 || len(data) < size+4 {
		return nil, fmt.Errorf("a deletion vector of %d bytes is cut off", size)
	}
	body := data[:size]
	if got, want := crc32.ChecksumIEEE(body), binary.BigEndian.Uint32(data[size:]); got != want {
		return nil, fmt.Errorf("the checksum of a deletion vector is %08x, recorded is %08x", got, want)
	}
	return decodeBody(body)
}

// decodeBody decodes magic and bitmap.
func decodeBody(body []byte) (v *Vector, err error) {
	// The bitmap library checks most of what it reads; a panic on the rest
	// must not end the server.
	defer func() {
		if r := recover(); r != nil {
			v, err = nil, fmt.Errorf("the bitmap of a deletion vector is wrong: %v", r)
		}
	}()
	switch {
	case binary.BigEndian.Uint32(body) == magic32:
		b, rest, err := readBitmap(body[4:])
		if err != nil {
			return nil, err
		}
		if len(rest) != 0 {
			return nil, fmt.Errorf("a deletion vector has %d bytes too many", len(rest))
		}
		return &Vector{keys: []uint32{0}, parts: []*roaring.Bitmap{b}, bytes: int64(len(body))}, nil
	case binary.LittleEndian.Uint32(body) == magic64:
		return decode64(body[4:])
	}
	return nil, fmt.Errorf("a deletion vector begins with %x, which is no known kind", body[:4])
}

func decode64(b []byte) (*Vector, error) {
	if len(b) < 8 {
		return nil, fmt.Errorf("a 64-bit deletion vector is cut off")
	}
	n := binary.LittleEndian.Uint64(b)
	v := &Vector{wide: true, bytes: int64(len(b))}
	b = b[8:]
	if n > uint64(len(b)/4) {
		return nil, fmt.Errorf("a 64-bit deletion vector says it has %d parts in %d bytes", n, len(b))
	}
	for range n {
		if len(b) < 4 {
			return nil, fmt.Errorf("a 64-bit deletion vector is cut off")
		}
		key := binary.LittleEndian.Uint32(b)
		if key > 1<<31-1 || len(v.keys) > 0 && key <= v.keys[len(v.keys)-1] {
			return nil, fmt.Errorf("the parts of a 64-bit deletion vector are out of order")
		}
		part, rest, err := readBitmap(b[4:])
		if err != nil {
			return nil, err
		}
		v.keys, v.parts, b = append(v.keys, key), append(v.parts, part), rest
	}
	if len(b) != 0 {
		return nil, fmt.Errorf("a 64-bit deletion vector has %d bytes too many", len(b))
	}
	return v, nil
}

// readBitmap reads a portable Roaring bitmap and returns what follows it.
func readBitmap(b []byte) (*roaring.Bitmap, []byte, error) {
	out := roaring.New()
	r := bytes.NewReader(b)
	n, err := out.ReadFrom(r)
	if err != nil {
		return nil, nil, fmt.Errorf("the bitmap of a deletion vector is wrong: %w", err)
	}
	if n < 0 || n > int64(len(b)) {
		return nil, nil, fmt.Errorf("the bitmap of a deletion vector is cut off")
	}
	if err := out.Validate(); err != nil && !out.IsEmpty() {
		return nil, nil, fmt.Errorf("the bitmap of a deletion vector is wrong: %w", err)
	}
	return out, b[n:], nil
}

// corrupt names the file.
func corrupt(path string, err error) error {
	return errs.Corruptf("deletion vector file %s is damaged: %w", path, err)
}
