package read

import (
	"context"
	"errors"
	"io"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/relation"
)

// part is one source of columns for a range of row positions. Its reader must
// deliver every position of [first, first+rows) in order, without selections.
type part struct {
	reader relation.Reader
	// cols maps the columns of the reader's batches to columns of the result.
	cols []int
}

// alignReader joins parts side by side: batches of the same rows, a column
// from each part. It cuts the parts' batches at each other's borders.
type alignReader struct {
	parts []part
	width int
	cur   []*column.Batch
	at    []int
	base  int64
	name  string
}

// newAlignReader joins the parts, which cover the same rows; name is for messages.
func newAlignReader(name string, width int, parts []part) *alignReader {
	return &alignReader{parts: parts, width: width, cur: make([]*column.Batch, len(parts)), at: make([]int, len(parts)), name: name}
}

func (r *alignReader) Next(ctx context.Context) (*column.Batch, error) {
	n, ended := column.MaxRows, 0
	for i := range r.parts {
		for r.cur[i] == nil || r.at[i] == r.cur[i].N {
			b, err := r.parts[i].reader.Next(ctx)
			if errors.Is(err, io.EOF) {
				r.cur[i] = nil
				ended++
				break
			}
			if err != nil {
				return nil, err
			}
			r.cur[i], r.at[i] = b, 0
		}
		if r.cur[i] != nil {
			n = min(n, r.cur[i].N-r.at[i])
		}
	}
	if ended > 0 {
		if ended < len(r.parts) {
			return nil, errs.Corruptf("%s: the files that hold the columns of one row range have different numbers of rows", r.name)
		}
		return nil, io.EOF
	}
	out := &column.Batch{N: n, Cols: make([]*column.Vector, r.width), Base: r.base}
	for i, p := range r.parts {
		for k, c := range p.cols {
			out.Cols[c] = column.Slice(r.cur[i].Cols[k], r.at[i], r.at[i]+n)
		}
		r.at[i] += n
	}
	r.base += int64(n)
	return out, nil
}

func (r *alignReader) Close() error {
	var err error
	for _, p := range r.parts {
		err = errors.Join(err, p.reader.Close())
	}
	return err
}

// concatReader reads one source after another, opening each when its turn
// comes. Base of its batches counts rows over all of them when number is set.
type concatReader struct {
	open   []func(ctx context.Context) (relation.Reader, error)
	cur    relation.Reader
	number bool
	// starts are the numbers of the sources' first rows, with number.
	starts []int64
	next   int
}

func (r *concatReader) Next(ctx context.Context) (*column.Batch, error) {
	for {
		if r.cur == nil {
			if r.next == len(r.open) {
				return nil, io.EOF
			}
			cur, err := r.open[r.next](ctx)
			if err != nil {
				return nil, err
			}
			r.cur = cur
			r.next++
		}
		b, err := r.cur.Next(ctx)
		if errors.Is(err, io.EOF) {
			err = r.cur.Close()
			r.cur = nil
			if err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		if r.number {
			c := *b
			c.Base += r.starts[r.next-1]
			b = &c
		}
		return b, nil
	}
}

func (r *concatReader) Close() error {
	r.next = len(r.open)
	if r.cur == nil {
		return nil
	}
	err := r.cur.Close()
	r.cur = nil
	return err
}

// mapReader passes each batch through f; a nil result is left out.
type mapReader struct {
	in relation.Reader
	f  func(ctx context.Context, b *column.Batch) (*column.Batch, error)
}

func (r *mapReader) Next(ctx context.Context) (*column.Batch, error) {
	for {
		b, err := r.in.Next(ctx)
		if err != nil {
			return nil, err
		}
		out, err := r.f(ctx, b)
		if err != nil || out != nil {
			return out, err
		}
	}
}

func (r *mapReader) Close() error { return r.in.Close() }
