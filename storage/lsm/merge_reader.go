package lsm

import (
	"context"
	"io"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
)

// NewMerge merges sorted runs, given oldest first, with a table's engine. The
// result's batches have the columns that Layout.Output and MergeOptions name,
// and hold at most column.MaxRows rows; each is valid until the next call. The
// reader owns the runs: they are closed with it, and here on failure.
func NewMerge(ctx context.Context, e *Engine, l Layout, runs []RunReader, o MergeOptions) (relation.Reader, error) {
	m, err := newMerger(e, l, runs)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil && o.Seq && l.Seq < 0 {
		err = errs.Invalidf("a merge cannot return sequence numbers that its runs do not hold")
	}
	if err == nil {
		var r relation.Reader
		if r, err = newReader(m, e, o); err == nil {
			return r, nil
		}
	}
	for _, rd := range runs {
		rd.Close()
	}
	return nil, err
}

func newReader(m *merger, e *Engine, o MergeOptions) (relation.Reader, error) {
	base := mergeReader{m: m, e: e, o: o}
	if !e.PicksRows() {
		f, err := e.newFolder(m.layout)
		if err != nil {
			return nil, err
		}
		base.folder = f
		base.merged = newMergedRows(e, m.layout, o)
	}
	if o.Unordered {
		r := &inPlaceReader{mergeReader: base}
		m.out = r
		return r, nil
	}
	r := &orderedReader{mergeReader: base}
	m.out = r
	return r, nil
}

// mergeReader is what both readers share.
type mergeReader struct {
	m      *merger
	e      *Engine
	o      MergeOptions
	folder folder
	merged *mergedRows
	done   bool
	cols   []*column.Vector
}

// Close closes the runs.
func (r *mergeReader) Close() error { return r.m.close() }

// inputColumns lists the vectors of a run's batch that the result has.
func (r *mergeReader) inputColumns(c *cursor) []*column.Vector {
	r.cols = r.cols[:0]
	for _, o := range r.m.layout.Output {
		r.cols = append(r.cols, c.vals[o])
	}
	if r.o.Seq {
		r.cols = append(r.cols, c.b.Cols[r.m.layout.Seq])
	}
	if r.o.Kind {
		if r.m.layout.Kind >= 0 {
			r.cols = append(r.cols, c.b.Cols[r.m.layout.Kind])
		} else {
			r.cols = append(r.cols, column.NewConst(insertKind, c.b.N))
		}
	}
	return r.cols
}

var insertKind = column.FromScalar(column.IntScalar(column.KindInt32, int64(Insert)))

// fold merges the records of a key into merged; ok is false where the result
// is a retract that is not wanted.
func (r *mergeReader) fold(cs []*cursor) (ok bool, err error) {
	r.m.sortByAge(cs)
	f, err := r.folder.fold(cs)
	if err != nil {
		return false, err
	}
	if IsRetract(f.kind) && !r.o.KeepDeletes {
		return false, nil
	}
	r.merged.add(f)
	return true, nil
}

// mergedRows collects merged rows.
type mergedRows struct {
	output    []int
	builders  []*column.Builder
	seq, kind *column.Builder
	n         int
}

func newMergedRows(e *Engine, l Layout, o MergeOptions) *mergedRows {
	w := &mergedRows{output: l.Output}
	for _, v := range l.Output {
		w.builders = append(w.builders, schema.NewBuilder(e.table.Fields[l.Fields[v]].Type))
	}
	if o.Seq {
		w.seq = column.NewBuilder(column.KindInt64)
	}
	if o.Kind {
		w.kind = column.NewBuilder(column.KindInt32)
	}
	return w
}

func (w *mergedRows) add(f folded) {
	for i, v := range w.output {
		f.row[v].appendTo(w.builders[i])
	}
	if w.seq != nil {
		w.seq.AppendInt(f.seq)
	}
	if w.kind != nil {
		w.kind.AppendInt(int64(f.kind))
	}
	w.n++
}

// take returns the columns collected, and starts anew.
func (w *mergedRows) take() (cols []*column.Vector, n int) {
	all := w.builders
	if w.seq != nil {
		all = append(all, w.seq)
	}
	if w.kind != nil {
		all = append(all, w.kind)
	}
	for _, b := range all {
		cols = append(cols, b.Finish())
		b.Reset()
	}
	n, w.n = w.n, 0
	return cols, n
}

// inPlaceReader hands input batches on with a selection, and merged rows in
// batches of their own.
type inPlaceReader struct {
	mergeReader
	emit []*cursor
	sel  [column.MaxRows]uint16
}

func (r *inPlaceReader) full() bool { return r.merged != nil && r.merged.n >= column.MaxRows }

func (r *inPlaceReader) lone(c *cursor, from, to int) error {
	if c.kind == nil || r.o.KeepDeletes {
		return nil
	}
	for k := from; k < to; k++ {
		if IsRetract(c.kind[c.at(k)]) {
			c.lost = append(c.lost, uint16(k))
		}
	}
	return nil
}

func (r *inPlaceReader) group(cs []*cursor) error {
	var winner *cursor
	if r.folder == nil {
		w, err := r.m.pickRow(r.e, cs)
		if err != nil {
			return err
		}
		if w != nil && (w.kind == nil || r.o.KeepDeletes || !IsRetract(w.kindAt(w.pos))) {
			winner = w
		}
	} else if _, err := r.fold(cs); err != nil {
		return err
	}
	for _, c := range cs {
		if c != winner {
			c.lost = append(c.lost, uint16(c.pos))
		}
	}
	return nil
}

// Next returns the next batch.
func (r *inPlaceReader) Next(ctx context.Context) (*column.Batch, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for len(r.emit) > 0 {
			c := r.emit[len(r.emit)-1]
			r.emit = r.emit[:len(r.emit)-1]
			if b := r.batchOf(c); b != nil {
				return b, nil
			}
		}
		if r.full() || r.done && r.merged != nil && r.merged.n > 0 {
			cols, n := r.merged.take()
			return &column.Batch{N: n, Cols: cols}, nil
		}
		if r.done {
			return nil, io.EOF
		}
		if err := r.m.refill(ctx); err != nil {
			return nil, err
		}
		done, err := r.m.run()
		if err != nil {
			return nil, err
		}
		r.done = done
		r.emit = append(r.emit[:0], r.m.spent...)
	}
}

// batchOf returns the cursor's batch without its lost rows, nil where none is left.
func (r *inPlaceReader) batchOf(c *cursor) *column.Batch {
	if len(c.lost) == c.n {
		return nil
	}
	out := &column.Batch{N: c.b.N, Cols: r.inputColumns(c), Sel: c.b.Sel, Base: c.b.Base}
	if len(c.lost) == 0 {
		return out
	}
	sel, k := r.sel[:0], 0
	for _, l := range c.lost {
		sel = appendRows(sel, c, k, int(l))
		k = int(l) + 1
	}
	out.Sel = appendRows(sel, c, k, c.n)
	return out
}

// appendRows appends the vector indexes of rows [from, to).
func appendRows(sel []uint16, c *cursor, from, to int) []uint16 {
	if c.sel != nil {
		return append(sel, c.sel[from:to]...)
	}
	n := len(sel)
	sel = sel[:n+to-from]
	dst := sel[n:]
	for i := range dst {
		dst[i] = uint16(from + i)
	}
	return sel
}
