package parquet

import (
	"context"
	"fmt"
	"io"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/predicate"
)

// minDirect is the least number of rows for which a batch is cut at a page
// border; smaller remainders of pages are copied together.
const minDirect = 512

// reader yields the batches of some row groups.
type reader struct {
	f     *File
	cols  []*columnReader
	batch column.Batch

	parts    []groupRows // what is left to read, merged where sections of a row group follow each other
	group    int
	opened   bool
	pos, end int64      // rows of the current row group
	ranges   []rowRange // what follows end
	failed   error

	filter predicate.Predicate
	// filterCols has the readers of the columns that the filter looks at, at their index.
	filterCols []*columnReader
	stages     []*stage
	selBuf     []uint16
	// have marks the columns that the current batch has already.
	have []bool
}

// Read starts reading; see format.File.
func (f *File) Read(ctx context.Context, opts format.ReadOptions) (format.Reader, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	to := opts.ToSection
	if to <= 0 || to > len(f.sections) {
		to = len(f.sections)
	}
	r := &reader{f: f, filter: opts.Filter}
	for _, s := range f.sections[min(max(opts.FromSection, 0), to):to] {
		if n := len(r.parts); n > 0 && r.parts[n-1].group == s.group {
			r.parts[n-1].to = s.to
		} else {
			r.parts = append(r.parts, s)
		}
	}
	for i := range opts.Columns {
		c := &opts.Columns[i]
		p, err := planColumn(f.root.child(c.Name), c.Type)
		if err != nil {
			return nil, f.wrap(err)
		}
		r.cols = append(r.cols, newColumnReader(p))
	}
	for _, i := range opts.PageColumns {
		r.cols[i].eachPageReader(func(p *pageReader) { p.kept = opts.Pages })
	}
	r.batch.Cols = make([]*column.Vector, len(r.cols))
	r.have = make([]bool, len(r.cols))
	r.filterCols = make([]*columnReader, len(r.cols))
	if r.filter != nil {
		for _, i := range r.knownColumns(r.filter) {
			r.filterCols[i] = r.cols[i]
		}
		r.selBuf = make([]uint16, 0, column.MaxRows)
	}
	return r, nil
}

// Next returns the next batch; see format.Reader.
func (r *reader) Next(ctx context.Context) (b *column.Batch, err error) {
	if r.failed != nil {
		return nil, r.failed
	}
	defer func() {
		if p := recover(); p != nil {
			err = errs.Corruptf("parquet file %s is corrupt: row group %d: %v", r.f.path, r.group, p)
		}
		if err != nil {
			b, r.failed = nil, err
		}
	}()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if r.opened && r.pos >= r.end {
			if len(r.ranges) > 0 {
				r.pos, r.end = r.ranges[0].from, r.ranges[0].to
				r.ranges = r.ranges[1:]
				for _, c := range r.cols {
					c.limit(r.end)
				}
			} else {
				r.opened = false
			}
		}
		if !r.opened {
			if len(r.parts) == 0 {
				return nil, io.EOF
			}
			part := r.parts[0]
			r.parts = r.parts[1:]
			if err := r.openPart(part); err != nil {
				return nil, r.f.wrap(err)
			}
			continue
		}
		if r.pos >= r.end {
			continue
		}
		b, err := r.nextBatch()
		if b != nil || err != nil {
			return b, err
		}
	}
}

// openPart starts on rows of a row group.
func (r *reader) openPart(part groupRows) error {
	g := &r.f.meta.groups[part.group]
	r.group, r.opened, r.pos, r.end = part.group, true, 0, 0
	for _, c := range r.cols {
		c.open(r.f, part.group)
	}
	all := rowRange{part.from, part.to}
	ranges, err := r.prune(g, all)
	if err != nil {
		return err
	}
	r.ranges = ranges
	r.planStages(g)
	if len(ranges) > 0 && (r.filter != nil || part.from > 0 || part.to < g.rows) {
		// Rows will be left out: pages can be passed over unseen.
		return r.f.loadLocations(r.cols, g)
	}
	return nil
}

// batchRows returns how many rows the next batch has. Batches end at page
// borders, so that values need not be copied; a remainder that is too small is
// joined with what follows, and a page a little longer than a batch is halved.
func (r *reader) batchRows() (int, error) {
	left := int(min(r.end-r.pos, column.MaxRows+minDirect))
	n := left
	for _, c := range r.cols {
		ahead := 0
		if len(r.stages) > 0 && !r.isStaged(c) {
			// It may never be read: do not look for its pages.
			ahead = int(c.pageEnd(r.pos) - r.pos)
		} else {
			var err error
			if ahead, err = c.rowsAhead(r.pos); err != nil {
				return 0, r.wrap(c, err)
			}
		}
		if ahead >= minDirect && ahead < n {
			n = ahead
		}
	}
	if n > column.MaxRows {
		if n < column.MaxRows+minDirect {
			return n / 2, nil
		}
		return column.MaxRows, nil
	}
	return n, nil
}

func (r *reader) isStaged(c *columnReader) bool {
	for _, f := range r.filterCols {
		if f == c {
			return true
		}
	}
	return false
}

// nextBatch reads the rows at pos; nil where none of them matches the filter.
func (r *reader) nextBatch() (*column.Batch, error) {
	n, err := r.batchRows()
	if err != nil {
		return nil, err
	}
	b := &r.batch
	b.N, b.Sel, b.Base = n, nil, r.f.meta.groups[r.group].firstRow+r.pos
	clear(r.have)
	if len(r.stages) > 0 {
		sel, none, err := r.selectRows(b)
		if err != nil {
			return nil, err
		}
		if none {
			r.pos += int64(n)
			return nil, nil
		}
		b.Sel = sel
	}
	end := r.pos + int64(n)
	r.trim(b)
	for i := range r.cols {
		if err := r.readColumn(b, i); err != nil {
			return nil, err
		}
	}
	r.pos = end
	return b, nil
}

// trim cuts the rows before the first and behind the last one selected off, where they are most of the batch: their
// values in the other columns are passed over, not decoded.
func (r *reader) trim(b *column.Batch) {
	if len(b.Sel) == 0 {
		return
	}
	first := int(b.Sel[0])
	n := int(b.Sel[len(b.Sel)-1]) + 1 - first
	if n > b.N/2 {
		return
	}
	for i, v := range b.Cols {
		if r.have[i] {
			b.Cols[i] = column.Slice(v, first, first+n)
		}
	}
	for k := range b.Sel {
		b.Sel[k] -= uint16(first)
	}
	if len(b.Sel) == n {
		b.Sel = nil
	}
	b.N = n
	b.Base += int64(first)
	r.pos += int64(first)
}

// readColumn reads column i of the batch at pos, once.
func (r *reader) readColumn(b *column.Batch, i int) error {
	if r.have[i] {
		return nil
	}
	v, err := r.cols[i].read(r.pos, b.N)
	if err != nil {
		return r.wrap(r.cols[i], err)
	}
	b.Cols[i], r.have[i] = v, true
	return nil
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
