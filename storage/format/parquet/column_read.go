package parquet

import (
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// columnReader reads one requested column by rows of a row group.
type columnReader struct {
	p    *plan
	kind column.Kind
	// row is the next row of the row group.
	row    int64
	flat   *flatColumn
	leaves []*nestedLeaf
	nulls  *column.Vector // of a missing column, MaxRows long
	join   joiner
}

func newColumnReader(p *plan) *columnReader {
	c := &columnReader{p: p, kind: schema.KindOf(p.typ)}
	switch {
	case p.kind == planMissing:
	case p.flat():
		c.flat = new(flatColumn)
	default:
		c.leaves = p.bindLeaves(nil)
	}
	return c
}

func (c *columnReader) path() string {
	if c.p.node != nil {
		return c.p.node.path
	}
	if c.p.inner != nil {
		return c.p.inner.path
	}
	return "?"
}

func (c *columnReader) open(f *File, group int) {
	c.row = 0
	if c.flat != nil {
		c.flat.open(f, group, c.p.node, c.p.conv, c.p.typ)
	}
	for _, l := range c.leaves {
		l.open(f, group)
	}
}

// limit says that no row from end on will be asked for before another limit,
// so that no more is read from storage than the pages up to there.
func (c *columnReader) limit(end int64) {
	c.eachPageReader(func(p *pageReader) {
		p.src.want = p.src.end
		if p.locs == nil || end <= 0 {
			return
		}
		if i := p.locs.pageOf(end-1) + 1; i < len(p.locs.offset) {
			p.src.want = p.locs.offset[i]
		}
	})
}

// eachPageReader calls f for the readers of the column's chunks.
func (c *columnReader) eachPageReader(f func(*pageReader)) {
	if c.flat != nil {
		f(&c.flat.pageReader)
	}
	for _, l := range c.leaves {
		f(&l.pageReader)
	}
}

// bytes returns the stored size of the column in a row group.
func (c *columnReader) bytes(g *rowGroup) (n int64) {
	c.eachPageReader(func(p *pageReader) { n += g.chunks[p.n.leaf].compressed })
	return n
}

// pageEnd returns the row behind the current page, where it is known without
// looking at the file, else row.
func (c *columnReader) pageEnd(row int64) int64 {
	if c.flat == nil || !c.flat.hasPage {
		return row
	}
	return max(row, c.flat.seen+int64(c.flat.hdr.values))
}

func (c *columnReader) release() {
	if c.flat != nil {
		c.flat.release()
	}
	for _, l := range c.leaves {
		l.release()
	}
}

// moveTo passes over the rows before row.
func (c *columnReader) moveTo(row int64) error {
	n := row - c.row
	if n <= 0 {
		return nil
	}
	c.row = row
	if c.flat != nil {
		return c.flat.skip(n)
	}
	for _, l := range c.leaves {
		if err := l.skipTo(row, n); err != nil {
			return err
		}
	}
	return nil
}

// rowsAhead returns how many rows from row on can be read without a copy.
func (c *columnReader) rowsAhead(row int64) (int, error) {
	if c.flat == nil {
		return column.MaxRows, nil
	}
	if err := c.moveTo(row); err != nil {
		return 0, err
	}
	return c.flat.pageRows()
}

// read returns rows [row, row+n).
func (c *columnReader) read(row int64, n int) (*column.Vector, error) {
	if c.p.kind == planMissing {
		if c.nulls == nil {
			c.nulls = c.p.missing(column.MaxRows)
		}
		return column.Slice(c.nulls, 0, n), nil
	}
	if err := c.moveTo(row); err != nil {
		return nil, err
	}
	c.row += int64(n)
	if c.flat == nil {
		for _, l := range c.leaves {
			if err := l.read(n, true); err != nil {
				return nil, err
			}
		}
		return c.p.assemble(0, 0, n)
	}
	left, err := c.flat.pageRows()
	if err != nil {
		return nil, err
	}
	if left >= n {
		return c.flat.read(n)
	}
	return c.join.read(c.flat, n)
}
