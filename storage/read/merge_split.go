package read

import (
	"context"
	"errors"
	"runtime"
	"sort"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/lsm"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/schema"
)

// mergeSplitRows is the number of rows from which a merge is divided by key ranges.
const mergeSplitRows = 250_000

// partsPerCPU is the number of key ranges for each processor.
const partsPerCPU = 2

// keyPart is the part of a merge that covers a key range: pieces of the
// greatest run, which the range was made from, and of the other runs what lies in it.
type keyPart struct {
	// run is the number of the divided run.
	run    int
	pieces []piece
	rows   int64
	// lo and hi bound the keys: lo <= key < hi; nil = open.
	lo, hi []column.Scalar
}

// piece is sections [from, to) of a file; to 0 = all.
type piece struct {
	file     *scan.File
	from, to int
	rows     int64
}

// Split divides a big merge by key ranges, at the sections of its greatest
// run, so that several workers can merge at once.
func (m *splitMorsel) Split(ctx context.Context) ([]relation.Morsel, error) {
	if m.split.Rows() < mergeSplitRows {
		return []relation.Morsel{m}, nil
	}
	return m.divide(ctx)
}

// divide is Split without regard to size.
func (m *splitMorsel) divide(ctx context.Context) ([]relation.Morsel, error) {
	whole := []relation.Morsel{m}
	s := m.split
	if s.Mode != scan.Merge || m.part != nil || len(s.Postponed) > 0 {
		return whole, nil
	}
	sch := s.Source.Schema
	if engine, err := newEngine(sch); err != nil || mergesTwice(s, engine) {
		return whole, err
	}
	run, most := 0, int64(-1)
	for i, r := range s.Runs {
		var n int64
		for _, f := range r {
			n += f.Meta.RowCount
		}
		if n > most {
			run, most = i, n
		}
	}
	pieces, err := m.pieces(ctx, s.Runs[run])
	if err != nil || len(pieces) < 2 {
		return whole, err
	}
	parts := groupPieces(pieces, run, partsPerCPU*runtime.GOMAXPROCS(0))
	for i, p := range parts[1:] {
		if p.lo, err = m.firstKey(ctx, p.pieces[0]); err != nil {
			return nil, err
		}
		parts[i].hi = p.lo
	}
	out := make([]relation.Morsel, len(parts))
	for i, p := range parts {
		c := *m
		c.part = p
		out[i] = &c
	}
	return out, nil
}

// groupPieces makes at most n parts of about equal size of neighbouring pieces.
func groupPieces(pieces []piece, run, n int) []*keyPart {
	var total int64
	for _, p := range pieces {
		total += p.rows
	}
	var parts []*keyPart
	for _, p := range pieces {
		if k := len(parts); k == 0 || parts[k-1].rows >= total/int64(n) {
			parts = append(parts, &keyPart{run: run})
		}
		last := parts[len(parts)-1]
		last.pieces = append(last.pieces, p)
		last.rows += p.rows
	}
	return parts
}

// pieces cuts the files of a run at their sections.
func (m *splitMorsel) pieces(ctx context.Context, run lsm.SortedRun[*scan.File]) ([]piece, error) {
	var out []piece
	for _, f := range run {
		if f.Meta.Size < sectionBytes {
			out = append(out, piece{file: f, rows: f.Meta.RowCount})
			continue
		}
		file, release, err := m.h.acquire(ctx, m.split.Source.FIO, f.Path, f.Meta.Size, f.Format)
		if err != nil {
			return nil, err
		}
		secs := file.Sections()
		// What a file's sections share, such as dictionaries, is kept until the last of them is opened.
		m.h.hold(f.Path, len(secs))
		release()
		for i, s := range secs {
			out = append(out, piece{file: f, from: i, to: i + 1, rows: s.Rows})
		}
	}
	return out, nil
}

// firstKey reads the least key of a piece, whose rows are in key order.
func (m *splitMorsel) firstKey(ctx context.Context, p piece) ([]column.Scalar, error) {
	if p.from == 0 {
		return p.file.MinKey, nil
	}
	s := m.split
	r, err := m.h.openFile(ctx, p.file.SourceOr(s.Source), p.file, fileRequest{
		fields: s.Source.Schema.TrimmedKeyFields(), positions: true, from: p.from, to: p.to, partition: partitionOf(s),
	})
	if err != nil {
		return nil, err
	}
	b, err := r.Next(ctx)
	if err != nil {
		return nil, errors.Join(errs.Corruptf("data file %s: section %d has no first row: %w", p.file.Path, p.from, err), r.Close())
	}
	key := make([]column.Scalar, len(b.Cols))
	for i, c := range b.Cols {
		key[i] = column.ScalarAt(c, 0)
	}
	return key, r.Close()
}

// rangeFilter is the condition of a key range on the first key column.
func (p *keyPart) rangeFilter(keyColumn int) predicate.Predicate {
	var out []predicate.Predicate
	if p.lo != nil {
		out = append(out, &predicate.Leaf{Op: predicate.Ge, Column: keyColumn, Literals: p.lo[:1]})
	}
	if p.hi != nil {
		out = append(out, &predicate.Leaf{Op: predicate.Le, Column: keyColumn, Literals: p.hi[:1]})
	}
	return predicate.NewAnd(out...)
}

// cutReader passes the rows of a run, which is in key order, whose keys lie in a range.
type cutReader struct {
	lsm.RunReader
	keys   []int
	lo, hi []*column.Vector
}

func newCutReader(r lsm.RunReader, keys []int, p *keyPart) *cutReader {
	c := &cutReader{RunReader: r, keys: keys}
	for _, s := range p.lo {
		c.lo = append(c.lo, column.FromScalar(s))
	}
	for _, s := range p.hi {
		c.hi = append(c.hi, column.FromScalar(s))
	}
	return c
}

func (c *cutReader) Next(ctx context.Context) (*column.Batch, error) {
	for {
		b, err := c.RunReader.Next(ctx)
		if err != nil {
			return nil, err
		}
		n := b.Rows()
		from, to := 0, n
		if c.lo != nil {
			from = sort.Search(n, func(k int) bool { return c.compare(b, b.Row(k), c.lo) >= 0 })
		}
		if c.hi != nil {
			to = sort.Search(n, func(k int) bool { return c.compare(b, b.Row(k), c.hi) >= 0 })
		}
		switch {
		case from >= to:
			continue
		case from == 0 && to == n:
			return b, nil
		}
		out := *b
		if b.Sel != nil {
			out.Sel = b.Sel[from:to]
			return &out, nil
		}
		out.Sel = make([]uint16, 0, to-from)
		for i := from; i < to; i++ {
			out.Sel = append(out.Sel, uint16(i))
		}
		return &out, nil
	}
}

func (c *cutReader) compare(b *column.Batch, row int, bound []*column.Vector) int {
	for i, k := range c.keys {
		if x := column.CompareRows(b.Cols[k], row, bound[i], 0); x != 0 {
			return x
		}
	}
	return 0
}

func newEngine(s *schema.TableSchema) (*lsm.Engine, error) {
	return lsm.NewEngine(lsm.TableInfo{Fields: s.Fields, PrimaryKeys: s.PrimaryKeys, Options: s.Options})
}

// mergesTwice reports whether a split's levels above 0 are merged first (see mergeRuns).
func mergesTwice(s *scan.Split, engine *lsm.Engine) bool {
	if engine.PicksRows() || !schema.NeedsLookup(s.Source.Schema.Options) {
		return false
	}
	levels := map[int]bool{}
	for _, f := range s.Files {
		if f.Meta.Level > 0 {
			levels[f.Meta.Level] = true
		}
	}
	return len(levels) > 1
}
