package index

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/index/bitmapio"
	"github.com/tributarydb/tributary/storage/manifest"
)

const (
	// maxPosition32 is the greatest position of a vector of 32-bit positions.
	maxPosition32 = math.MaxInt32
	// maxPosition64 is the greatest position of a vector that is made here: a vector has
	// a part for every 2^32 rows up to its greatest position, empty ones too.
	maxPosition64 = 1<<40 - 1
)

// VectorOf returns a vector of the positions, in any order. wide is whether it is stored
// with 64-bit positions (option deletion-vectors.bitmap64); without, positions end at 2^31-1.
func VectorOf(wide bool, positions ...int64) (*Vector, error) {
	return (&Vector{wide: wide}).With(wide, positions...)
}

// With returns a vector of v's positions and more ones. wide is the kind of the
// result, whatever v's kind is. v may be nil.
func (v *Vector) With(wide bool, positions ...int64) (*Vector, error) {
	out := &Vector{wide: wide}
	if v != nil {
		for i, k := range v.keys {
			if !v.parts[i].IsEmpty() {
				out.keys, out.parts = append(out.keys, k), append(out.parts, v.parts[i].Clone())
			}
		}
	}
	limit := int64(maxPosition32)
	if wide {
		limit = maxPosition64
	}
	if m := out.Max(); m > limit {
		return nil, tooFar(wide, m)
	}
	var last *roaring.Bitmap
	lastKey := int64(-1)
	for _, p := range positions {
		if p < 0 || p > limit {
			return nil, tooFar(wide, p)
		}
		if key := p >> 32; key != lastKey {
			last, lastKey = out.grow(uint32(key)), key
		}
		last.Add(uint32(p))
	}
	for _, p := range out.parts {
		out.bytes += int64(p.GetSizeInBytes())
	}
	return out, nil
}

// Union returns the positions of both vectors; either may be nil.
func (v *Vector) Union(o *Vector, wide bool) (*Vector, error) {
	out, err := v.With(wide)
	if err != nil || o == nil {
		return out, err
	}
	if o, err = o.With(wide); err != nil {
		return nil, err
	}
	out.bytes = 0
	for i, k := range o.keys {
		out.grow(k).Or(o.parts[i])
	}
	for _, p := range out.parts {
		out.bytes += int64(p.GetSizeInBytes())
	}
	return out, nil
}

// grow returns the part for positions with the given upper 32 bits, making it.
func (v *Vector) grow(key uint32) *roaring.Bitmap {
	if p := v.part(key); p != nil {
		return p
	}
	i := len(v.keys)
	for i > 0 && v.keys[i-1] > key {
		i--
	}
	p := roaring.New()
	v.keys = append(v.keys, 0)
	v.parts = append(v.parts, nil)
	copy(v.keys[i+1:], v.keys[i:])
	copy(v.parts[i+1:], v.parts[i:])
	v.keys[i], v.parts[i] = key, p
	return p
}

func tooFar(wide bool, p int64) error {
	if !wide && p > maxPosition32 {
		return errs.Unsupportedf("row %d of a data file cannot be deleted by a deletion vector of 32-bit positions; set the table option 'deletion-vectors.bitmap64' = 'true'", p)
	}
	return errs.Invalidf("row %d of a data file cannot be deleted by a deletion vector", p)
}

// appendBody appends magic and bitmap as Paimon writes them.
func (v *Vector) appendBody(dst []byte) []byte {
	if !v.wide {
		dst = binary.BigEndian.AppendUint32(dst, magic32)
		return v.appendPart(dst, 0)
	}
	dst = binary.LittleEndian.AppendUint32(dst, magic64)
	n := uint32(0) // parts without positions are stored as well
	if m := v.Max(); m >= 0 {
		n = uint32(m>>32) + 1
	}
	dst = binary.LittleEndian.AppendUint64(dst, uint64(n))
	for key := range n {
		dst = binary.LittleEndian.AppendUint32(dst, key)
		dst = v.appendPart(dst, key)
	}
	return dst
}

func (v *Vector) appendPart(dst []byte, key uint32) []byte {
	p := v.part(key)
	if p == nil {
		return bitmapio.AppendSorted(dst, nil)
	}
	return bitmapio.Append(dst, p.Clone()) // v is immutable
}

// VectorWriter writes one deletion vector index file (section 10.1). It is for one goroutine.
type VectorWriter struct {
	name   string
	out    fileio.Writer
	size   int64
	ranges []manifest.VectorRange
	seen   map[string]bool
	closed bool
}

// CreateVectors begins a deletion vector index file.
func CreateVectors(ctx context.Context, fio fileio.FileIO, file string) (*VectorWriter, error) {
	out, err := fio.Create(ctx, file)
	if err != nil {
		return nil, fmt.Errorf("writing deletion vector file %s: %w", file, err)
	}
	w := &VectorWriter{name: file, out: out, seen: map[string]bool{}}
	if err := w.write([]byte{fileVersion}); err != nil {
		w.Abort()
		return nil, err
	}
	return w, nil
}

func (w *VectorWriter) write(b []byte) error {
	n, err := w.out.Write(b)
	w.size += int64(n)
	if err != nil {
		return fmt.Errorf("writing deletion vector file %s: %w", w.name, err)
	}
	return nil
}

// Add writes the vector of a data file. A second one for the same file is errs.Invalid.
func (w *VectorWriter) Add(dataFile string, v *Vector) error {
	if w.seen[dataFile] {
		return errs.Invalidf("deletion vector file %s would have two vectors of data file %s", w.name, dataFile)
	}
	w.seen[dataFile] = true
	if m := v.Max(); m > maxPosition64 || !v.wide && m > maxPosition32 {
		return tooFar(v.wide, m)
	}
	b := v.appendBody(make([]byte, 4, 64))
	size := len(b) - 4
	if size > MaxVectorBytes || w.size+int64(size) > math.MaxInt32-frameBytes {
		return errs.Unsupportedf("deletion vector file %s would be too big: its offsets are 32-bit numbers", w.name)
	}
	binary.BigEndian.PutUint32(b, uint32(size))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
	n := v.Cardinality()
	r := manifest.VectorRange{DataFile: dataFile, Offset: w.size, Length: int64(size), Cardinality: &n}
	if v.wide {
		r.Length += frameBytes
	}
	if err := w.write(b); err != nil {
		return err
	}
	w.ranges = append(w.ranges, r)
	return nil
}

// Size is the length of the file so far: a new file is begun when it is above option
// deletion-vector.index-file.target-size.
func (w *VectorWriter) Size() int64 { return w.size }

// Close finishes the file and returns what its index manifest entry says of it:
// the ranges in the order of the file, not nil, and the file's length. Its row count is the number of ranges.
func (w *VectorWriter) Close() (ranges []manifest.VectorRange, size int64, err error) {
	if err := w.out.Close(); err != nil {
		w.Abort()
		return nil, 0, fmt.Errorf("writing deletion vector file %s: %w", w.name, err)
	}
	w.closed = true
	if w.ranges == nil {
		w.ranges = []manifest.VectorRange{}
	}
	return w.ranges, w.size, nil
}

// Abort gives the file up; after Close it does nothing.
func (w *VectorWriter) Abort() {
	if !w.closed {
		w.closed = true
		_ = w.out.Abort()
	}
}
