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
	srcs []source
	// inputs caches each cursor's columns for the present batch, by run.
	inputs [][]*column.Vector
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

// source is a segment's vector.
type source struct {
	v       *column.Vector
	from, n int
	sel     []uint16 // rows sel[from:from+n] where not nil
}

func (g *gatherer) gather(r *orderedReader, segs []segment, n int) ([]*column.Vector, error) {
	width := len(r.taken)
	for i := range g.inputs {
		g.inputs[i] = g.inputs[i][:0]
	}
	for _, s := range segs {
		if s.c != nil && len(g.inputs[s.c.run]) == 0 {
			in := r.inputColumns(s.c)
			g.inputs[s.c.run] = append(g.inputs[s.c.run], in...)
			width = len(in)
		}
	}
	if g.cols == nil {
		g.cols = make([]gathered, width)
	}
	out := make([]*column.Vector, width)
	for j := range out {
		g.srcs = g.srcs[:0]
		for _, s := range segs {
			src := source{from: s.from, n: s.n}
			if s.c == nil {
				src.v = r.taken[j]
			} else {
				src.v, src.sel = g.inputs[s.c.run][j], s.c.sel
			}
			g.srcs = append(g.srcs, src)
		}
		v, err := g.cols[j].column(g.srcs, n)
		if err != nil {
			return nil, err
		}
		out[j] = v
	}
	return out, nil
}

// column concatenates the sources.
func (m *gathered) column(srcs []source, n int) (*column.Vector, error) {
	first := srcs[0].v
	out := &column.Vector{Kind: first.Kind, N: n}
	if first.Kind >= column.KindList {
		b := column.NewBuilderLike(first)
		for _, s := range srcs {
			if s.sel != nil {
				for _, i := range s.sel[s.from : s.from+s.n] {
					b.Append(s.v, int(i))
				}
				continue
			}
			b.AppendRange(s.v, s.from, s.from+s.n)
		}
		return b.Finish(), nil
	}
	nulls, oneDict, sub := false, first.Dict, false
	for _, s := range srcs {
		nulls = nulls || s.v.Valid != nil
		if s.v.Dict != oneDict {
			oneDict = nil
		}
		d := s.v
		if d.Dict != nil {
			d = d.Dict
		}
		sub = sub || d.Sub != nil
	}
	if nulls {
		out.Valid = m.validity(srcs, n)
	}
	if oneDict != nil {
		m.codes = concat(m.codes, srcs, n, func(v *column.Vector) []uint32 { return v.Codes })
		out.Codes, out.Dict = m.codes, oneDict
		return out, nil
	}
	switch first.Kind {
	case column.KindInt32:
		m.i32 = concatValues(m.i32, srcs, n, func(v *column.Vector) []int32 { return v.I32 })
		out.I32 = m.i32
	case column.KindInt64, column.KindTimestamp:
		m.i64 = concatValues(m.i64, srcs, n, func(v *column.Vector) []int64 { return v.I64 })
		out.I64 = m.i64
		if sub {
			m.sub = concatValues(m.sub, srcs, n, func(v *column.Vector) []uint16 {
				if v.Sub == nil {
					return noSub[:v.N]
				}
				return v.Sub
			})
			out.Sub = m.sub
		}
	case column.KindInt128:
		m.i128 = concatValues(m.i128, srcs, n, func(v *column.Vector) []column.Int128 { return v.I128 })
		out.I128 = m.i128
	case column.KindFloat32:
		m.f32 = concatValues(m.f32, srcs, n, func(v *column.Vector) []float32 { return v.F32 })
		out.F32 = m.f32
	case column.KindFloat64:
		m.f64 = concatValues(m.f64, srcs, n, func(v *column.Vector) []float64 { return v.F64 })
		out.F64 = m.f64
	case column.KindBytes:
		m.ref = concatValues(m.ref, srcs, n, func(v *column.Vector) []column.Ref { return v.Ref })
		if err := m.copyData(srcs, out.Valid); err != nil {
			return nil, err
		}
		out.Ref, out.Data = m.ref, m.data
	}
	return out, nil
}

var noSub [column.MaxRows]uint16

// resize returns dst with length n, growing it where needed.
func resize[T any](dst []T, n int) []T {
	if cap(dst) < n {
		return make([]T, n, max(n, column.MaxRows))
	}
	return dst[:n]
}

// concat copies the sources' slices that get returns, without regard to dictionaries.
func concat[T any](dst []T, srcs []source, n int, get func(*column.Vector) []T) []T {
	dst = resize(dst, n)
	at := 0
	for _, s := range srcs {
		values := get(s.v)
		if s.sel != nil {
			for k, i := range s.sel[s.from : s.from+s.n] {
				dst[at+k] = values[i]
			}
		} else if s.n == 1 {
			dst[at] = values[s.from]
		} else {
			copy(dst[at:at+s.n], values[s.from:s.from+s.n])
		}
		at += s.n
	}
	return dst
}

// concatValues copies the sources' values, resolving dictionaries.
func concatValues[T any](dst []T, srcs []source, n int, get func(*column.Vector) []T) []T {
	dst = resize(dst, n)
	at := 0
	for _, s := range srcs {
		d := dst[at : at+s.n]
		at += s.n
		if s.v.Dict != nil {
			values := get(s.v.Dict)
			for k := range d {
				i := s.from + k
				if s.sel != nil {
					i = int(s.sel[i])
				}
				d[k] = values[s.v.Codes[i]]
			}
			continue
		}
		values := get(s.v)
		switch {
		case s.sel != nil:
			for k, i := range s.sel[s.from : s.from+s.n] {
				d[k] = values[i]
			}
		case s.n == 1:
			d[0] = values[s.from]
		default:
			copy(d, values[s.from:s.from+s.n])
		}
	}
	return dst
}

// copyData copies the bytes that m.ref points to in the sources into m.data, and moves the refs.
func (m *gathered) copyData(srcs []source, valid []uint64) error {
	data, at, total := m.data[:0], 0, 0
	for _, s := range srcs {
		from := s.v.Data
		if s.v.Dict != nil {
			from = s.v.Dict.Data
		}
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
func (m *gathered) validity(srcs []source, n int) []uint64 {
	words := (n + 63) / 64
	m.valid = resize(m.valid, words)
	clear(m.valid)
	at := 0
	for _, s := range srcs {
		for k := range s.n {
			i := s.from + k
			if s.sel != nil {
				i = int(s.sel[i])
			}
			bit := uint64(1)
			if s.v.Valid != nil {
				bit = s.v.Valid[i>>6] >> (uint(i) & 63) & 1
			}
			m.valid[(at+k)>>6] |= bit << (uint(at+k) & 63)
		}
		at += s.n
	}
	return m.valid
}
