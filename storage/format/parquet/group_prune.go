package parquet

import (
	"slices"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/predicate"
)

// rowRange is a range of rows of a row group.
type rowRange struct{ from, to int64 }

// prune returns the rows among part of a row group that may match the filter, by the
// statistics of the row group, its bloom filters and its page index.
func (r *reader) prune(g *rowGroup, part rowRange) ([]rowRange, error) {
	if r.filter == nil {
		return []rowRange{part}, nil
	}
	stats := func(col int) (predicate.Stats, bool) { return r.columnStats(col, g) }
	if !predicate.MayMatch(r.filter, stats) {
		return nil, nil
	}
	may, err := r.bloomMayMatch(r.filter, g)
	if err != nil || !may {
		return nil, err
	}
	return r.prunePages(g, part)
}

// columnStats returns what is known of a filter column in a row group.
func (r *reader) columnStats(col int, g *rowGroup) (predicate.Stats, bool) {
	if col < 0 || col >= len(r.cols) {
		return predicate.Stats{}, false
	}
	c := r.cols[col]
	switch {
	case c.p.kind == planMissing:
		return predicate.Stats{Rows: g.rows, Nulls: g.rows}, true
	case c.flat == nil:
		return predicate.Stats{}, false
	}
	return r.f.groupStats(c, g), true
}

// prunePages narrows the rows by page statistics.
func (r *reader) prunePages(g *rowGroup, part rowRange) ([]rowRange, error) {
	all := []rowRange{part}
	if !slices.ContainsFunc(r.filterCols, func(c *columnReader) bool {
		return c != nil && c.flat != nil && g.chunks[c.p.node.leaf].columnIdxLength > 0
	}) {
		return all, nil
	}
	var used []*columnReader
	for _, c := range r.filterCols {
		if c != nil {
			used = append(used, c)
		}
	}
	if err := r.f.loadLocations(used, g); err != nil {
		return nil, err
	}
	bounds, err := r.f.loadBounds(r.filterCols, g)
	if err != nil {
		return nil, err
	}
	// The rows between two page borders of any of the columns have one set of statistics.
	var borders []int64
	for i, b := range bounds {
		if b != nil {
			borders = append(borders, r.filterCols[i].flat.locs.firstRow...)
		}
	}
	if borders == nil {
		return all, nil
	}
	slices.Sort(borders)
	borders = append(slices.Compact(borders), g.rows)
	var out []rowRange
	for i := range len(borders) - 1 {
		from, to := max(borders[i], part.from), min(borders[i+1], part.to)
		if from >= to || !predicate.MayMatch(r.filter, func(col int) (predicate.Stats, bool) {
			if col >= 0 && col < len(bounds) && bounds[col] != nil {
				return r.pageStats(r.filterCols[col], bounds[col], from, g), true
			}
			return r.columnStats(col, g)
		}) {
			continue
		}
		if n := len(out); n > 0 && out[n-1].to == from {
			out[n-1].to = to
		} else {
			out = append(out, rowRange{from, to})
		}
	}
	return out, nil
}

// pageStats returns the statistics of the page of c that holds a row.
func (r *reader) pageStats(c *columnReader, b *pageBounds, row int64, g *rowGroup) predicate.Stats {
	locs := c.flat.locs
	i := locs.pageOf(row)
	rows := locs.end(i, g.rows) - locs.firstRow[i]
	if b.nullPage[i] {
		return predicate.Stats{Rows: rows, Nulls: rows}
	}
	nulls := int64(-1)
	if b.nullCounts != nil {
		nulls = b.nullCounts[i]
	}
	n := c.p.node
	order := n.leaf < len(r.f.meta.typeOrder) && r.f.meta.typeOrder[n.leaf]
	return boundStats(n, c.p.conv, c.kind, rows, nulls, b.min[i], b.max[i], boundsUsable(n, c.p.conv, false, order))
}

// stage is a part of the filter that is evaluated together.
type stage struct {
	cols []int
	sel  *predicate.Selector
	cost int64
}

// planStages splits the filter into conjuncts by the columns they need, the
// cheapest first, so that dear columns are read only where the others leave rows.
func (r *reader) planStages(g *rowGroup) {
	if r.filter == nil {
		return
	}
	if r.stages == nil {
		groups := map[int][]predicate.Predicate{}
		for _, p := range predicate.Conjuncts(r.filter) {
			cols := r.knownColumns(p)
			switch len(cols) {
			case 0: // nothing to evaluate
			case 1:
				groups[cols[0]] = append(groups[cols[0]], p)
			default:
				r.stages = append(r.stages, &stage{cols: cols, sel: predicate.NewSelector(p)})
			}
		}
		for col, ps := range groups {
			r.stages = append(r.stages, &stage{cols: []int{col}, sel: predicate.NewSelector(predicate.NewAnd(ps...))})
		}
	}
	for _, s := range r.stages {
		s.cost = 0
		for _, col := range s.cols {
			s.cost += r.cols[col].bytes(g)
		}
	}
	slices.SortFunc(r.stages, func(a, b *stage) int {
		if d := len(a.cols) - len(b.cols); d != 0 && (len(a.cols) == 1 || len(b.cols) == 1) {
			return d
		}
		return int(max(min(a.cost-b.cost, 1), -1))
	})
}

// knownColumns lists the requested columns that p looks at, in order.
func (r *reader) knownColumns(p predicate.Predicate) []int {
	var out []int
	for col := range predicate.Columns(p) {
		if col >= 0 && col < len(r.cols) {
			out = append(out, col)
		}
	}
	slices.Sort(out)
	return out
}

// selectRows evaluates the filter on the n rows at pos, reading the columns it
// needs. It returns nil where all rows match.
func (r *reader) selectRows(b *column.Batch) (sel []uint16, none bool, err error) {
	for _, s := range r.stages {
		for _, col := range s.cols {
			if err := r.readColumn(b, col); err != nil {
				return nil, false, err
			}
		}
		out := s.sel.Select(b, sel, r.selBuf)
		r.selBuf = out[:0]
		if len(out) == 0 {
			return nil, true, nil
		}
		sel = out
	}
	if len(sel) == b.N {
		sel = nil
	}
	return sel, false, nil
}
