package lsm

import (
	"context"
	"io"

	"github.com/tributarydb/tributary/storage/column"
)

// sliceRows is the least length of a range that the ordered merge hands on as
// a slice of its batch and does not copy.
const sliceRows = 512

// segment is a stretch of the ordered output: rows [from, from+n) of the
// batch of run src, or of the merged rows where src is the number of runs.
type segment struct {
	src     int
	from, n int
}

// orderedReader returns rows in key order.
type orderedReader struct {
	mergeReader
	segs []segment
	// inputs are the result's columns by source: those of the runs' batches,
	// and last the merged rows that segs refer to.
	inputs [][]*column.Vector
	g      gatherer
}

func newOrderedReader(base mergeReader) *orderedReader {
	return &orderedReader{mergeReader: base, inputs: make([][]*column.Vector, len(base.m.live)+1)}
}

func (r *orderedReader) push(src, from, n int) {
	if l := len(r.segs); l > 0 {
		if s := &r.segs[l-1]; s.src == src && s.from+s.n == from {
			s.n += n
			return
		}
	}
	r.segs = append(r.segs, segment{src, from, n})
}

func (r *orderedReader) lone(c *cursor, from, to int) error {
	if r.o.FoldLone && r.folder != nil {
		for k := from; k < to; k++ {
			if err := r.group([]rec{{c, k}}); err != nil {
				return err
			}
		}
		return nil
	}
	if c.sel == nil && (c.kind == nil || r.o.KeepDeletes) {
		r.push(c.run, from, to-from)
		return nil
	}
	for k := from; k < to; k++ {
		if i := c.at(k); c.kind == nil || r.o.KeepDeletes || !IsRetract(c.kind[i]) {
			r.push(c.run, i, 1)
		}
	}
	return nil
}

func (r *orderedReader) group(rs []rec) error {
	if r.folder != nil {
		at := r.merged.n
		ok, err := r.fold(rs)
		if err == nil && ok {
			r.push(len(r.inputs)-1, at, 1)
		}
		return err
	}
	w, ok, err := r.m.pickRow(r.e, rs)
	if err != nil || !ok {
		return err
	}
	if r.o.KeepDeletes || !w.retract() {
		r.push(w.c.run, w.row(), 1)
	}
	return nil
}

// Next returns the next batch.
func (r *orderedReader) Next(ctx context.Context) (*column.Batch, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(r.segs) > 0 {
			return r.batch()
		}
		if r.done {
			return nil, io.EOF
		}
		if err := r.m.refill(ctx); err != nil {
			return nil, err
		}
		done, err := r.m.round()
		if err != nil {
			return nil, err
		}
		r.done = done
		for _, p := range r.m.parts {
			r.inputs[p.c.run] = append(r.inputs[p.c.run][:0], r.inputColumns(p.c)...)
		}
		if r.merged != nil && r.merged.n > 0 {
			r.inputs[len(r.inputs)-1], _ = r.merged.take()
		}
	}
}

// batch hands on the first segments: a long one as a slice, else as many as fit, copied.
func (r *orderedReader) batch() (*column.Batch, error) {
	if s := r.segs[0]; s.n >= sliceRows {
		n := min(s.n, column.MaxRows)
		b := &column.Batch{N: n}
		for _, v := range r.inputs[s.src] {
			b.Cols = append(b.Cols, column.Slice(v, s.from, s.from+n))
		}
		if n < s.n {
			r.segs[0] = segment{s.src, s.from + n, s.n - n}
		} else {
			r.drop(1)
		}
		return b, nil
	}
	n, end := 0, 0
	var rest segment
	for end < len(r.segs) && n < column.MaxRows {
		s := &r.segs[end]
		if end > 0 && s.n >= sliceRows {
			break
		}
		if n+s.n > column.MaxRows {
			take := column.MaxRows - n
			rest = segment{s.src, s.from + take, s.n - take}
			s.n = take
		}
		n += s.n
		end++
	}
	cols, err := r.g.gather(r.inputs, r.segs[:end], n)
	if err != nil {
		return nil, err
	}
	if rest.n > 0 {
		end--
		r.segs[end] = rest
	}
	r.drop(end)
	return &column.Batch{N: n, Cols: cols}, nil
}

// drop removes the first n segments.
func (r *orderedReader) drop(n int) { r.segs = r.segs[:copy(r.segs, r.segs[n:])] }
