package lsm

import (
	"context"
	"io"
	"math/bits"

	"github.com/tributarydb/tributary/storage/column"
)

// inPlaceReader hands input batches on with a selection, and merged rows in
// batches of their own.
type inPlaceReader struct {
	mergeReader
	emit []*cursor
	sel  [column.MaxRows]uint16
	// taken are merged rows being handed on: rows [from, n).
	taken   []*column.Vector
	from, n int
}

func (r *inPlaceReader) lone(*cursor, int, int) error { return nil }

func (r *inPlaceReader) group(rs []rec) error {
	var winner rec
	if r.folder == nil {
		w, _, err := r.m.pickRow(r.e, rs)
		if err != nil {
			return err
		}
		winner = w
	} else if _, err := r.fold(rs); err != nil {
		return err
	}
	for _, x := range rs {
		if x != winner {
			x.c.lost.set(x.k)
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
		if r.merged != nil && r.from == r.n && (r.merged.n >= column.MaxRows || r.done && r.merged.n > 0) {
			r.taken, r.n = r.merged.take()
			r.from = 0
		}
		if r.from < r.n {
			return r.mergedBatch(), nil
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
		r.emit = append(r.emit[:0], r.m.spent...)
	}
}

// mergedBatch hands on the next merged rows.
func (r *inPlaceReader) mergedBatch() *column.Batch {
	to := min(r.n, r.from+column.MaxRows)
	b := &column.Batch{N: to - r.from}
	for _, v := range r.taken {
		b.Cols = append(b.Cols, column.Slice(v, r.from, to))
	}
	r.from = to
	return b
}

// batchOf returns the cursor's batch without its lost rows, nil where none is left.
func (r *inPlaceReader) batchOf(c *cursor) *column.Batch {
	lost := c.lost.count(c.n)
	if lost == c.n {
		return nil
	}
	out := &column.Batch{N: c.b.N, Cols: r.inputColumns(c), Sel: c.b.Sel, Base: c.b.Base}
	if lost == 0 {
		return out
	}
	out.Sel = c.kept(r.sel[:0])
	return out
}

// kept appends to sel, which has room, the vector indexes of the rows that are not lost.
func (c *cursor) kept(sel []uint16) []uint16 {
	for from := 0; from < c.n; from += 64 {
		w, n := c.lost[from>>6], min(64, c.n-from)
		switch {
		case w == 0 && c.sel == nil:
			at := len(sel)
			sel = sel[:at+n]
			for i := range sel[at:] {
				sel[at+i] = uint16(from + i)
			}
		case w == 0:
			sel = append(sel, c.sel[from:from+n]...)
		default:
			keep := ^w
			if n < 64 {
				keep &= 1<<uint(n) - 1
			}
			for ; keep != 0; keep &= keep - 1 {
				sel = append(sel, uint16(c.at(from+bits.TrailingZeros64(keep))))
			}
		}
	}
	return sel
}
