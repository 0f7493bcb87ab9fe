package write

import (
	"context"
	"errors"
	"io"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/lsm"
	"github.com/tributarydb/tributary/storage/schema"
)

// RowStore keeps checked rows in memory, in the order of their arrival. It is for one goroutine.
type RowStore struct {
	rows  *rowBuffer
	kinds []int32
}

// NewRowStore returns an empty store for rows of the fields.
func NewRowStore(fields []schema.Field) *RowStore { return &RowStore{rows: newRowBuffer(fields)} }

// Add copies rows.
func (s *RowStore) Add(rows Rows) {
	s.rows.add(rows.Cols, rows.Sel, rows.N)
	each(rows.Sel, rows.N, func(i int) {
		kind := lsm.Insert
		if rows.Kinds != nil {
			kind = rows.Kinds[i]
		}
		s.kinds = append(s.kinds, kind)
	})
}

// Rows is the number of rows.
func (s *RowStore) Rows() int { return len(s.kinds) }

// Bytes is about the memory of the rows.
func (s *RowStore) Bytes() int64 { return s.rows.bytes() + 4*int64(len(s.kinds)) }

// Each calls f with the rows, in order. It may be called again.
func (s *RowStore) Each(f func(Rows) error) error {
	cols := s.rows.vectors()
	for from := 0; from < s.rows.n; from += column.MaxRows {
		to := min(s.rows.n, from+column.MaxRows)
		r := Rows{N: to - from, Kinds: s.kinds[from:to]}
		for _, c := range cols {
			r.Cols = append(r.Cols, column.Slice(c, from, to))
		}
		if err := f(r); err != nil {
			return err
		}
	}
	return nil
}

// Release gives the memory back; the store must not be used again.
func (s *RowStore) Release() { s.rows.release() }

// rowLog keeps rows, in the order of their arrival, whose buckets depend on the
// table's state: in memory, and beyond the write buffer in a temporary file.
type rowLog struct {
	w *Writer
	*RowStore
	segs []spillSegment
	file *spillFile
}

func newRowLog(w *Writer) *rowLog { return &rowLog{w: w, RowStore: NewRowStore(w.fields)} }

func (l *rowLog) add(rows Rows) error {
	l.Add(rows)
	if l.Bytes() < l.w.opts.bufferBytes {
		return nil
	}
	if l.file == nil {
		var err error
		if l.file, err = l.w.newSpill(); err != nil {
			return err
		}
	}
	seg := spillSegment{file: l.file, at: l.file.end, shapes: l.shapes()}
	err := l.Each(func(r Rows) error {
		kinds := &column.Vector{Kind: column.KindInt32, N: r.N, I32: r.Kinds}
		return l.file.append(&column.Batch{N: r.N, Cols: append(r.Cols, kinds)})
	})
	if err != nil {
		return err
	}
	seg.end = l.file.end
	l.segs = append(l.segs, seg)
	l.rows.reset()
	l.kinds = l.kinds[:0]
	return nil
}

func (l *rowLog) shapes() []*column.Vector {
	var out []*column.Vector
	for _, f := range l.w.fields {
		out = append(out, schema.NewBuilder(f.Type).Finish())
	}
	return shapesOf(append(out, &column.Vector{Kind: column.KindInt32}))
}

// replay calls f with all rows, in order.
func (l *rowLog) replay(ctx context.Context, f func(Rows) error) error {
	one := func(b *column.Batch) error {
		n := len(b.Cols) - 1
		return f(Rows{Cols: b.Cols[:n:n], N: b.N, Kinds: b.Cols[n].I32})
	}
	for _, seg := range l.segs {
		r := seg.open()
		for {
			b, err := r.Next(ctx)
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil {
				err = one(b)
			}
			if err != nil {
				return err
			}
		}
	}
	return l.Each(f)
}
