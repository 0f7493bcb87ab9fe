package lsm

import (
	"context"
	"io"

	"github.com/tributarydb/tributary/storage/column"
)

// BufferReader yields sorted rows of a Buffer as a run: batches with the columns of
// Layout.Values, the sequence number and the row kind, in this order. A batch is valid until the next call.
type BufferReader struct {
	b     *Buffer
	rows  []uint32
	merge bool
	// folder and merged are set for engines that make new rows.
	folder folder
	merged *mergedRows
	group  []rec
	row    []value
	picked []uint32
	cols   []*column.Vector
	g      []gathered
	out    column.Batch
}

// Read returns rows, sorted by Sort, as they are, or merged by the engine,
// where each key occurs once. Results of the kinds -U and -D are kept.
func (b *Buffer) Read(rows []uint32, merge bool) (*BufferReader, error) {
	r := &BufferReader{b: b, rows: rows, merge: merge, picked: make([]uint32, 0, min(len(rows), column.MaxRows))}
	r.cols = append(append(r.cols, b.c.vals...), b.b.Cols[b.m.layout.Seq], b.b.Cols[b.m.layout.Kind])
	r.g = make([]gathered, len(r.cols))
	if merge && !b.e.PicksRows() {
		l := b.m.layout
		l.Output = make([]int, len(l.Values))
		for i := range l.Output {
			l.Output[i] = i
		}
		f, err := b.e.newFolder(l)
		if err != nil {
			return nil, err
		}
		r.folder, r.merged = f, newMergedRows(b.e, l, MergeOptions{Seq: true, Kind: true})
	}
	return r, nil
}

// Close does nothing.
func (r *BufferReader) Close() error { return nil }

// Next returns the next batch.
func (r *BufferReader) Next(ctx context.Context) (*column.Batch, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(r.rows) == 0 {
			return nil, io.EOF
		}
		if !r.merge {
			n := min(len(r.rows), column.MaxRows)
			b := r.batch(r.rows[:n])
			r.rows = r.rows[n:]
			return b, nil
		}
		b, err := r.mergeSome()
		if b != nil || err != nil {
			return b, err
		}
	}
}

// mergeSome merges keys until a batch is full; nil where no key left a row.
func (r *BufferReader) mergeSome() (*column.Batch, error) {
	r.picked = r.picked[:0]
	folded := false
	i := 0
	for i < len(r.rows) && len(r.picked)+r.mergedLen() < column.MaxRows {
		j := r.b.keyEnd(r.rows, i)
		switch {
		case j == i+1 && !folded:
			r.picked = append(r.picked, r.rows[i])
		case r.folder == nil:
			row, ok, err := r.pick(r.rows[i:j])
			if err != nil {
				return nil, err
			}
			if ok {
				r.picked = append(r.picked, row)
			}
		default:
			if !folded {
				// From here on rows are copied one by one: those before too.
				for _, row := range r.picked {
					if err := r.copy(row); err != nil {
						return nil, err
					}
				}
				r.picked, folded = r.picked[:0], true
			}
			if err := r.fold(r.rows[i:j]); err != nil {
				return nil, err
			}
		}
		i = j
	}
	r.rows = r.rows[i:]
	if folded {
		cols, n := r.merged.take()
		r.out = column.Batch{N: n, Cols: cols}
		return &r.out, nil
	}
	if len(r.picked) == 0 {
		return nil, nil
	}
	return r.batch(r.picked), nil
}

func (r *BufferReader) mergedLen() int {
	if r.merged == nil {
		return 0
	}
	return r.merged.n
}

// pick chooses among the records of a key.
func (r *BufferReader) pick(rows []uint32) (uint32, bool, error) {
	w, ok, err := r.b.m.pickRow(r.b.e, r.recs(rows))
	return uint32(w.k), ok, err
}

func (r *BufferReader) recs(rows []uint32) []rec {
	r.group = r.group[:0]
	for _, k := range rows {
		r.group = append(r.group, rec{r.b.c, int(k)})
	}
	return r.group
}

// fold adds the merged row of a key's records to merged.
func (r *BufferReader) fold(rows []uint32) error {
	if len(rows) == 1 {
		return r.copy(rows[0])
	}
	f, err := r.folder.fold(r.recs(rows))
	if err != nil {
		return err
	}
	return r.merged.add(f)
}

// copy adds a record to merged as it is.
func (r *BufferReader) copy(row uint32) error {
	x := rec{r.b.c, int(row)}
	r.row = r.row[:0]
	for _, v := range r.b.c.vals {
		r.row = append(r.row, valueAt(v, int(row)))
	}
	return r.merged.add(folded{seq: x.seq(), kind: x.kind(), row: r.row})
}

// batch gathers rows of the buffer.
func (r *BufferReader) batch(rows []uint32) *column.Batch {
	cols := make([]*column.Vector, len(r.cols))
	for j, v := range r.cols {
		cols[j] = r.g[j].rows(v, rows)
	}
	r.out = column.Batch{N: len(rows), Cols: cols}
	return &r.out
}

// rows gathers rows of a flat vector of any length.
func (m *gathered) rows(v *column.Vector, rows []uint32) *column.Vector {
	out := &column.Vector{Kind: v.Kind, N: len(rows)}
	if v.Valid != nil {
		m.valid = resize(m.valid, (len(rows)+63)/64)
		clear(m.valid)
		for k, i := range rows {
			m.valid[k>>6] |= (v.Valid[i>>6] >> (i & 63) & 1) << (uint(k) & 63)
		}
		out.Valid = m.valid
	}
	switch v.Kind {
	case column.KindInt32:
		m.i32 = gatherRows(m.i32, v.I32, rows)
		out.I32 = m.i32
	case column.KindInt64, column.KindTimestamp:
		m.i64 = gatherRows(m.i64, v.I64, rows)
		out.I64 = m.i64
		if v.Sub != nil {
			m.sub = gatherRows(m.sub, v.Sub, rows)
			out.Sub = m.sub
		}
	case column.KindInt128:
		m.i128 = gatherRows(m.i128, v.I128, rows)
		out.I128 = m.i128
	case column.KindFloat32:
		m.f32 = gatherRows(m.f32, v.F32, rows)
		out.F32 = m.f32
	case column.KindFloat64:
		m.f64 = gatherRows(m.f64, v.F64, rows)
		out.F64 = m.f64
	case column.KindBytes:
		m.ref = gatherRows(m.ref, v.Ref, rows)
		out.Ref, out.Data = m.ref, v.Data
	default:
		b := column.NewBuilderLike(v)
		for _, i := range rows {
			b.Append(v, int(i))
		}
		return b.Finish()
	}
	return out
}

func gatherRows[T any](dst []T, src []T, rows []uint32) []T {
	dst = resize(dst, len(rows))
	for k, i := range rows {
		dst[k] = src[i]
	}
	return dst
}

// ReadRows returns the rows of a batch of any length, whose columns are not
// dictionary-coded, as batches with all of its columns.
func ReadRows(b *column.Batch, rows []uint32) *BufferReader {
	return &BufferReader{rows: rows, cols: b.Cols, g: make([]gathered, len(b.Cols))}
}
