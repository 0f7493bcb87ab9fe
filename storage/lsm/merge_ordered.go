package lsm

import (
	"context"
	"io"

	"github.com/tributarydb/tributary/storage/column"
)

// sliceRows is the least length of a range that the ordered merge hands on as
// a slice of its batch and does not copy.
const sliceRows = 512

// segment is a stretch of the ordered output: rows [from, from+n) of a
// cursor's batch (by k), or of the merged rows where c is nil.
type segment struct {
	c       *cursor
	from, n int
}

// orderedReader returns rows in key order.
type orderedReader struct {
	mergeReader
	segs []segment
	// taken are the merged rows that segs refer to, once taken from merged.
	taken []*column.Vector
	g     gatherer
}

func (r *orderedReader) push(c *cursor, from, n int) {
	if l := len(r.segs); l > 0 {
		if s := &r.segs[l-1]; s.c == c && s.from+s.n == from {
			s.n += n
			return
		}
	}
	r.segs = append(r.segs, segment{c, from, n})
}

func (r *orderedReader) lone(c *cursor, from, to int) error {
	if c.kind == nil || r.o.KeepDeletes {
		r.push(c, from, to-from)
		return nil
	}
	for k := from; k < to; k++ {
		if !IsRetract(c.kind[c.at(k)]) {
			r.push(c, k, 1)
		}
	}
	return nil
}

func (r *orderedReader) group(rs []rec) error {
	if r.folder != nil {
		at := r.merged.n
		ok, err := r.fold(rs)
		if err == nil && ok {
			r.push(nil, at, 1)
		}
		return err
	}
	w, ok, err := r.m.pickRow(r.e, rs)
	if err != nil || !ok {
		return err
	}
	if r.o.KeepDeletes || !w.retract() {
		r.push(w.c, w.k, 1)
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
		r.taken = nil
		if r.merged != nil && r.merged.n > 0 {
			r.taken, _ = r.merged.take()
		}
	}
}

// batch hands on the first segments: a long one as a slice, else as many as fit, copied.
func (r *orderedReader) batch() (*column.Batch, error) {
	first := r.segs[0]
	if first.c != nil && first.c.sel == nil && first.n >= sliceRows {
		r.drop(1)
		b := &column.Batch{N: first.n}
		for _, v := range r.inputColumns(first.c) {
			b.Cols = append(b.Cols, column.Slice(v, first.from, first.from+first.n))
		}
		return b, nil
	}
	n, end := 0, 0
	var cut segment
	for end < len(r.segs) && n < column.MaxRows {
		s := &r.segs[end]
		if end > 0 && s.c != nil && s.c.sel == nil && s.n >= sliceRows {
			break
		}
		if n+s.n > column.MaxRows {
			take := column.MaxRows - n
			cut = segment{s.c, s.from + take, s.n - take}
			s.n = take
		}
		n += s.n
		end++
	}
	cols, err := r.g.gather(r, r.segs[:end], n)
	if err != nil {
		return nil, err
	}
	if cut.n > 0 {
		end--
		r.segs[end] = cut
	}
	r.drop(end)
	return &column.Batch{N: n, Cols: cols}, nil
}

// drop removes the first n segments.
func (r *orderedReader) drop(n int) { r.segs = r.segs[:copy(r.segs, r.segs[n:])] }
