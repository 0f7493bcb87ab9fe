package lsm

import (
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
)

// maxGatherBytes bounds the variable-length data of one output column of a batch.
const maxGatherBytes = 1<<32 - 1

// gatherer copies segments into output columns, and keeps the memory of the
// columns from batch to batch.
type gatherer struct {
	cols []gathered
	// srcs are the vectors of one column by source, nil for sources without a segment.
	srcs []*column.Vector
}

// gathered is the memory of an output column.
type gathered struct {
	i32   []int32
	i64   []int64
	i128  []column.Int128
	f32   []float32
	f64   []float64
	sub   []uint16
	ref   []column.Ref
	data  []byte
	codes []uint32
	valid []uint64
}

// gather copies the rows of segs, n in all, from the inputs (columns by source).
func (g *gatherer) gather(inputs [][]*column.Vector, segs []segment, n int) ([]*column.Vector, error) {
	width := len(inputs[segs[0].src])
	if g.cols == nil {
		g.cols = make([]gathered, width)
		g.srcs = make([]*column.Vector, len(inputs))
	}
	used := make([]bool, len(inputs))
	for _, s := range segs {
		used[s.src] = true
	}
	out := make([]*column.Vector, width)
	for j := range out {
		for s := range inputs {
			g.srcs[s] = nil
			if used[s] {
				g.srcs[s] = inputs[s][j]
			}
		}
		v, err := g.cols[j].column(g.srcs, segs, n)
		if err != nil {
			return nil, err
		}
		out[j] = v
	}
	return out, nil
}

// column concatenates the segments of one column. srcs may be changed.
func (m *gathered) column(srcs []*column.Vector, segs []segment, n int) (*column.Vector, error) {
	first := srcs[segs[0].src]
	out := &column.Vector{Kind: first.Kind, N: n}
	if first.Kind >= column.KindList {
		b := column.NewBuilderLike(first)
		for _, s := range segs {
			b.AppendRange(srcs[s.src], s.from, s.from+s.n)
		}
		return b.Finish(), nil
	}
	nulls, dict, sub := false, first.Dict, false
	for _, v := range srcs {
		if v != nil {
			nulls = nulls || v.Valid != nil
			if v.Dict != dict {
				dict = nil
			}
		}
	}
	if nulls {
		m.valid = validity(m.valid, srcs, segs, n)
		out.Valid = m.valid
	}
	if dict != nil {
		m.codes = concat(m.codes, srcs, segs, n, func(v *column.Vector) []uint32 { return v.Codes })
		out.Codes, out.Dict = m.codes, dict
		return out, nil
	}
	for i, v := range srcs {
		if v != nil {
			srcs[i] = column.Flatten(v)
			sub = sub || srcs[i].Sub != nil
		}
	}
	switch first.Kind {
	case column.KindInt32:
		m.i32 = concat(m.i32, srcs, segs, n, func(v *column.Vector) []int32 { return v.I32 })
		out.I32 = m.i32
	case column.KindInt64, column.KindTimestamp:
		m.i64 = concat(m.i64, srcs, segs, n, func(v *column.Vector) []int64 { return v.I64 })
		out.I64 = m.i64
		if sub {
			m.sub = concat(m.sub, srcs, segs, n, func(v *column.Vector) []uint16 {
				if v.Sub == nil {
					return make([]uint16, v.N)
				}
				return v.Sub
			})
			out.Sub = m.sub
		}
	case column.KindInt128:
		m.i128 = concat(m.i128, srcs, segs, n, func(v *column.Vector) []column.Int128 { return v.I128 })
		out.I128 = m.i128
	case column.KindFloat32:
		m.f32 = concat(m.f32, srcs, segs, n, func(v *column.Vector) []float32 { return v.F32 })
		out.F32 = m.f32
	case column.KindFloat64:
		m.f64 = concat(m.f64, srcs, segs, n, func(v *column.Vector) []float64 { return v.F64 })
		out.F64 = m.f64
	case column.KindBytes:
		m.ref = concat(m.ref, srcs, segs, n, func(v *column.Vector) []column.Ref { return v.Ref })
		if err := m.copyData(srcs, segs, out.Valid); err != nil {
			return nil, err
		}
		out.Ref, out.Data = m.ref, m.data
	}
	return out, nil
}

// resize returns dst with length n, growing it where needed.
func resize[T any](dst []T, n int) []T {
	if cap(dst) < n {
		return make([]T, n, max(n, column.MaxRows))
	}
	return dst[:n]
}

// concat copies the segments of the sources' slices.
func concat[T any](dst []T, srcs []*column.Vector, segs []segment, n int, get func(*column.Vector) []T) []T {
	values := make([][]T, len(srcs))
	for i, v := range srcs {
		if v != nil {
			values[i] = get(v)
		}
	}
	dst = resize(dst, n)
	at := 0
	for _, s := range segs {
		if s.n == 1 {
			dst[at] = values[s.src][s.from]
			at++
			continue
		}
		at += copy(dst[at:], values[s.src][s.from:s.from+s.n])
	}
	return dst
}

// copyData copies the bytes that m.ref points to in the sources into m.data, and moves the refs.
func (m *gathered) copyData(srcs []*column.Vector, segs []segment, valid []uint64) error {
	data, at, total := m.data[:0], 0, 0
	for _, s := range segs {
		from := srcs[s.src].Data
		for k := at; k < at+s.n; k++ {
			r := m.ref[k]
			if valid != nil && valid[k>>6]>>(uint(k)&63)&1 == 0 {
				m.ref[k] = column.Ref{}
				continue
			}
			total += int(r.Len)
			if total > maxGatherBytes {
				return errs.Limitf("the values of a column in one batch of %d rows exceed %d bytes", len(m.ref), maxGatherBytes)
			}
			m.ref[k].Off = uint32(len(data))
			data = append(data, from[r.Off:r.Off+r.Len]...)
		}
		at += s.n
	}
	m.data = data
	return nil
}

// validity concatenates the sources' validity bitmaps.
func validity(dst []uint64, srcs []*column.Vector, segs []segment, n int) []uint64 {
	dst = resize(dst, (n+63)/64)
	clear(dst)
	at := 0
	for _, s := range segs {
		valid := srcs[s.src].Valid
		for k := range s.n {
			i := s.from + k
			bit := uint64(1)
			if valid != nil {
				bit = valid[i>>6] >> (uint(i) & 63) & 1
			}
			dst[(at+k)>>6] |= bit << (uint(at+k) & 63)
		}
		at += s.n
	}
	return dst
}
