package write

import (
	"context"
	"encoding/binary"
	"io"
	"math"
	"os"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
)

// spillFile holds batches that do not fit in memory, in a local file that has
// no name: it vanishes with the process. Blocks are private to one writer.
type spillFile struct {
	f   *os.File
	end int64
	buf []byte
}

func newSpillFile(dir string) (*spillFile, error) {
	f, err := os.CreateTemp(dir, "tributary-spill-")
	if err != nil {
		return nil, errs.New(errs.Unknown, "rows do not fit in memory, and no temporary file can be made: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		_ = f.Close()
		return nil, errs.New(errs.Unknown, "temporary file %s: %w", f.Name(), err)
	}
	return &spillFile{f: f}, nil
}

func (s *spillFile) close() {
	if s.f != nil {
		_ = s.f.Close()
		s.f = nil
	}
}

// append writes a batch without selection.
func (s *spillFile) append(b *column.Batch) error {
	p := binary.LittleEndian.AppendUint32(s.buf[:0], 0)
	p = binary.LittleEndian.AppendUint32(p, uint32(b.N))
	for _, c := range b.Cols {
		p = appendVector(p, c)
	}
	s.buf = p
	if len(p) > math.MaxInt32 {
		return errs.Limitf("%d rows have %d bytes, too much for a spilled block", b.N, len(p))
	}
	binary.LittleEndian.PutUint32(p, uint32(len(p)-4))
	if _, err := s.f.WriteAt(p, s.end); err != nil {
		return errs.New(errs.Unknown, "writing rows that do not fit in memory to a temporary file: %w", err)
	}
	s.end += int64(len(p))
	return nil
}

// spillSegment is a stretch of blocks: a run, or rows in the order of their arrival.
type spillSegment struct {
	file    *spillFile
	at, end int64
	// shapes are empty vectors of the columns' kinds.
	shapes []*column.Vector
}

// spillReader reads the batches of a segment.
type spillReader struct {
	seg spillSegment
	buf []byte
}

func (s spillSegment) open() *spillReader { return &spillReader{seg: s} }

// Close does nothing: the file is the writer's.
func (r *spillReader) Close() error { return nil }

// Next returns the next batch.
func (r *spillReader) Next(ctx context.Context) (*column.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.seg.at >= r.seg.end {
		return nil, io.EOF
	}
	var head [4]byte
	if _, err := r.seg.file.f.ReadAt(head[:], r.seg.at); err != nil {
		return nil, errs.New(errs.Unknown, "reading a temporary file: %w", err)
	}
	n := int64(binary.LittleEndian.Uint32(head[:]))
	if r.seg.at+4+n > r.seg.end {
		return nil, errSpill
	}
	if int64(cap(r.buf)) < n {
		r.buf = make([]byte, n)
	}
	r.buf = r.buf[:n]
	if _, err := r.seg.file.f.ReadAt(r.buf, r.seg.at+4); err != nil {
		return nil, errs.New(errs.Unknown, "reading a temporary file: %w", err)
	}
	r.seg.at += 4 + n
	return decodeBatch(r.buf, r.seg.shapes)
}

var errSpill = errs.Corruptf("a temporary file of spilled rows is damaged")

func decodeBatch(p []byte, shapes []*column.Vector) (*column.Batch, error) {
	d := &spillDecoder{p: p}
	b := &column.Batch{N: int(d.u32())}
	for _, s := range shapes {
		b.Cols = append(b.Cols, d.vector(s, b.N))
	}
	if d.bad || len(d.p) > 0 {
		return nil, errSpill
	}
	return b, nil
}

// shapesOf returns empty vectors of the kinds of cols.
func shapesOf(cols []*column.Vector) []*column.Vector {
	out := make([]*column.Vector, len(cols))
	for i, c := range cols {
		if c.Dict != nil {
			c = c.Dict
		}
		out[i] = &column.Vector{Kind: c.Kind, Children: shapesOf(c.Children)}
	}
	return out
}

const (
	spillValid = 1 << iota
	spillSub
)

// appendVector encodes a vector: flags, validity, then values; of bytes and
// lists the lengths, then what the rows refer to.
func appendVector(p []byte, v *column.Vector) []byte {
	v = column.Flatten(v)
	var flags byte
	if v.Valid != nil {
		flags |= spillValid
	}
	if v.Sub != nil {
		flags |= spillSub
	}
	p = append(p, flags)
	if v.Valid != nil {
		for _, w := range v.Valid[:(v.N+63)/64] {
			p = binary.LittleEndian.AppendUint64(p, w)
		}
	}
	switch v.Kind {
	case column.KindInt32:
		for _, x := range v.I32[:v.N] {
			p = binary.LittleEndian.AppendUint32(p, uint32(x))
		}
	case column.KindInt64, column.KindTimestamp:
		for _, x := range v.I64[:v.N] {
			p = binary.LittleEndian.AppendUint64(p, uint64(x))
		}
		if v.Sub != nil {
			for _, x := range v.Sub[:v.N] {
				p = binary.LittleEndian.AppendUint16(p, x)
			}
		}
	case column.KindInt128:
		for _, x := range v.I128[:v.N] {
			p = binary.LittleEndian.AppendUint64(p, uint64(x.Hi))
			p = binary.LittleEndian.AppendUint64(p, x.Lo)
		}
	case column.KindFloat32:
		for _, x := range v.F32[:v.N] {
			p = binary.LittleEndian.AppendUint32(p, math.Float32bits(x))
		}
	case column.KindFloat64:
		for _, x := range v.F64[:v.N] {
			p = binary.LittleEndian.AppendUint64(p, math.Float64bits(x))
		}
	case column.KindBytes:
		for i, r := range v.Ref[:v.N] {
			if v.IsNull(i) {
				r.Len = 0
			}
			p = binary.LittleEndian.AppendUint32(p, r.Len)
		}
		for i, r := range v.Ref[:v.N] {
			if !v.IsNull(i) {
				p = append(p, v.Data[r.Off:r.Off+r.Len]...)
			}
		}
	case column.KindList, column.KindMap:
		for i := range v.N {
			p = binary.LittleEndian.AppendUint32(p, uint32(v.Offsets[i+1]-v.Offsets[i]))
		}
		for _, c := range v.Children {
			p = appendVector(p, column.Slice(c, int(v.Offsets[0]), int(v.Offsets[v.N])))
		}
	case column.KindStruct:
		for _, c := range v.Children {
			p = appendVector(p, column.Slice(c, 0, v.N))
		}
	}
	return p
}

// spillDecoder reads what appendVector wrote.
type spillDecoder struct {
	p   []byte
	bad bool
}

// take returns the next n bytes.
func (d *spillDecoder) take(n int) []byte {
	if n < 0 || n > len(d.p) {
		d.bad = true
		return make([]byte, 0)
	}
	out := d.p[:n:n]
	d.p = d.p[n:]
	return out
}

func (d *spillDecoder) u32() uint32 {
	if b := d.take(4); len(b) == 4 {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// fixed decodes n values of width bytes.
func fixed[T any](d *spillDecoder, n, width int, get func([]byte) T) []T {
	b := d.take(n * width)
	out := make([]T, len(b)/width)
	for i := range out {
		out[i] = get(b[i*width:])
	}
	return out
}

func (d *spillDecoder) vector(shape *column.Vector, n int) *column.Vector {
	v := &column.Vector{Kind: shape.Kind, N: n}
	head := d.take(1)
	if len(head) == 0 || n < 0 {
		d.bad = true
		return v
	}
	u32, u64 := binary.LittleEndian.Uint32, binary.LittleEndian.Uint64
	if head[0]&spillValid != 0 {
		v.Valid = fixed(d, (n+63)/64, 8, u64)
	}
	switch v.Kind {
	case column.KindInt32:
		v.I32 = fixed(d, n, 4, func(b []byte) int32 { return int32(u32(b)) })
	case column.KindInt64, column.KindTimestamp:
		v.I64 = fixed(d, n, 8, func(b []byte) int64 { return int64(u64(b)) })
		if head[0]&spillSub != 0 {
			v.Sub = fixed(d, n, 2, binary.LittleEndian.Uint16)
		}
	case column.KindInt128:
		v.I128 = fixed(d, n, 16, func(b []byte) column.Int128 { return column.Int128{Hi: int64(u64(b)), Lo: u64(b[8:])} })
	case column.KindFloat32:
		v.F32 = fixed(d, n, 4, func(b []byte) float32 { return math.Float32frombits(u32(b)) })
	case column.KindFloat64:
		v.F64 = fixed(d, n, 8, func(b []byte) float64 { return math.Float64frombits(u64(b)) })
	case column.KindBytes:
		lens := fixed(d, n, 4, u32)
		v.Ref = make([]column.Ref, len(lens))
		total := 0
		for i, l := range lens {
			v.Ref[i] = column.Ref{Off: uint32(total), Len: l}
			total += int(l)
		}
		v.Data = append([]byte(nil), d.take(total)...)
	case column.KindList, column.KindMap:
		lens := fixed(d, n, 4, u32)
		v.Offsets = make([]int32, 1, len(lens)+1)
		total := 0
		for _, l := range lens {
			if total += int(l); total > math.MaxInt32 {
				d.bad = true
				return v
			}
			v.Offsets = append(v.Offsets, int32(total))
		}
		for _, c := range shape.Children {
			v.Children = append(v.Children, d.vector(c, total))
		}
	case column.KindStruct:
		for _, c := range shape.Children {
			v.Children = append(v.Children, d.vector(c, n))
		}
	}
	return v
}
