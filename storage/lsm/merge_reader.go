package lsm

import (
	"context"

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
	m, err := newMerger(e, l, runs, o)
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
	r := newOrderedReader(base)
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
func (r *mergeReader) fold(rs []rec) (ok bool, err error) {
	r.m.sortByAge(rs)
	f, err := r.folder.fold(rs)
	if err != nil {
		return false, err
	}
	if IsRetract(f.kind) && !r.o.KeepDeletes {
		return false, nil
	}
	return true, r.merged.add(f)
}

// mergedRows collects merged rows.
type mergedRows struct {
	output    []int
	builders  []*column.Builder
	seq, kind *column.Builder
	n         int
	// size is the length of the KindBytes values collected for each column.
	size []int
}

func newMergedRows(e *Engine, l Layout, o MergeOptions) *mergedRows {
	w := &mergedRows{output: l.Output, size: make([]int, len(l.Output))}
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

func (w *mergedRows) add(f folded) error {
	for i, v := range w.output {
		x := f.row[v]
		if x.v != nil && x.v.Kind == column.KindBytes {
			if w.size[i] += int(x.v.Ref[x.i].Len); w.size[i] > maxGatherBytes {
				return errs.Limitf("the merged values of a column exceed %d bytes within one step of a merge", maxGatherBytes)
			}
		}
		x.appendTo(w.builders[i])
	}
	if w.seq != nil {
		w.seq.AppendInt(f.seq)
	}
	if w.kind != nil {
		w.kind.AppendInt(int64(f.kind))
	}
	w.n++
	return nil
}

// take returns the columns collected, and starts anew.
func (w *mergedRows) take() (cols []*column.Vector, n int) {
	all := append([]*column.Builder(nil), w.builders...)
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
	clear(w.size)
	n, w.n = w.n, 0
	return cols, n
}
