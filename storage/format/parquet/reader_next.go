package parquet

import (
	"context"
	"fmt"
	"io"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/format"
)

// minDirect is the least number of rows for which a batch is cut at a page
// border; smaller remainders of pages are copied together.
const minDirect = 512

// reader yields the batches of some row groups.
type reader struct {
	f     *File
	cols  []*columnReader
	batch column.Batch

	group, toGroup int
	opened         bool
	pos, end       int64 // rows of the current row group
	failed         error
}

// Read starts reading; see format.File.
func (f *File) Read(ctx context.Context, opts format.ReadOptions) (format.Reader, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	to := opts.ToSection
	if to <= 0 || to > len(f.meta.groups) {
		to = len(f.meta.groups)
	}
	r := &reader{f: f, group: max(opts.FromSection, 0), toGroup: to}
	for i := range opts.Columns {
		c := &opts.Columns[i]
		p, err := planColumn(f.root.child(c.Name), c.Type)
		if err != nil {
			return nil, f.wrap(err)
		}
		r.cols = append(r.cols, newColumnReader(p))
	}
	r.batch.Cols = make([]*column.Vector, len(r.cols))
	return r, nil
}

// Next returns the next batch; see format.Reader.
func (r *reader) Next(ctx context.Context) (b *column.Batch, err error) {
	if r.failed != nil {
		return nil, r.failed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			err = errs.Corruptf("parquet file %s is corrupt: row group %d: %v", r.f.path, r.group, p)
		}
		if err != nil {
			b, r.failed = nil, err
		}
	}()
	for !r.opened || r.pos >= r.end {
		if r.opened {
			r.group++
			r.opened = false
		}
		if r.group >= r.toGroup {
			return nil, io.EOF
		}
		r.openGroup()
	}
	return r.nextBatch()
}

func (r *reader) openGroup() {
	g := &r.f.meta.groups[r.group]
	r.opened, r.pos, r.end = true, 0, g.rows
	for _, c := range r.cols {
		c.open(r.f.src, g)
	}
}

// nextBatch reads the rows at pos.
func (r *reader) nextBatch() (*column.Batch, error) {
	n := int(min(r.end-r.pos, column.MaxRows))
	for _, c := range r.cols {
		left, err := c.rowsAhead(r.pos)
		if err != nil {
			return nil, r.wrap(c, err)
		}
		if left >= minDirect && left < n {
			n = left
		}
	}
	b := &r.batch
	b.N, b.Sel, b.Base = n, nil, r.f.meta.groups[r.group].firstRow+r.pos
	for i, c := range r.cols {
		v, err := c.read(r.pos, n)
		if err != nil {
			return nil, r.wrap(c, err)
		}
		b.Cols[i] = v
	}
	r.pos += int64(n)
	return b, nil
}

func (r *reader) wrap(c *columnReader, err error) error {
	return r.f.wrap(fmt.Errorf("column %s, row group %d: %w", c.path(), r.group, err))
}

// Close ends reading.
func (r *reader) Close() error {
	for _, c := range r.cols {
		c.release()
	}
	r.cols = nil
	r.failed = io.EOF
	return nil
}
