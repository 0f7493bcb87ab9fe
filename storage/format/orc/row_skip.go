package orc

import (
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/predicate"
)

// skipper decides by statistics, row index and Bloom filters what cannot match
// the filter of a read.
type skipper struct {
	r      *reader
	filter predicate.Predicate
	// columns are those the filter looks at.
	columns map[int]bool
}

func newSkipper(r *reader) *skipper {
	s := &skipper{r: r}
	if r.opts.Filter != nil && r.env.file.trusted {
		s.filter = r.opts.Filter
		s.columns = predicate.Columns(s.filter)
	}
	return s
}

// reads returns the reader of column i of the ones asked for; missing says that the file lacks it.
func (s *skipper) reads(i int) (c columnReader, missing bool) {
	if i < 0 || i >= len(s.r.slots) {
		return nil, false
	}
	slot := s.r.slots[i]
	if slot < 0 {
		return nil, true
	}
	return s.r.root.kids[slot], false
}

// mayMatch evaluates the filter on statistics; stats returns those of a type, unparsed.
func (s *skipper) mayMatch(rows int64, stats func(typeID int) []byte) bool {
	return predicate.MayMatch(s.filter, func(i int) (predicate.Stats, bool) {
		c, missing := s.reads(i)
		if missing {
			return predicate.Stats{Rows: rows, Nulls: rows}, true
		}
		if c == nil {
			return predicate.Stats{}, false
		}
		raw := stats(c.base().typ.id)
		if raw == nil {
			return predicate.Stats{}, false
		}
		// A damaged message says nothing; the rows are read then.
		cs, err := parseColumnStats(raw)
		if err != nil {
			return predicate.Stats{}, false
		}
		return cs.predicateStats(c, rows), true
	})
}

// stripeMayMatch evaluates the filter on a stripe's statistics.
func (s *skipper) stripeMayMatch(n int) (bool, error) {
	if s.filter == nil {
		return true, nil
	}
	f := s.r.env.file
	cols, err := f.stripeStats(s.r.env.ctx, n)
	if err != nil {
		return false, err
	}
	rows := int64(f.footer.stripes[n].rows)
	return s.mayMatch(rows, func(id int) []byte {
		if id < len(cols) {
			return cols[id]
		}
		return nil
	}), nil
}

// groups returns the row groups of the present stripe that may match, joined
// to ranges; nil where all are to be read.
func (s *skipper) groups() ([]rowRange, error) {
	env := &s.r.env
	st := env.stripe
	if s.filter == nil || st.groups == 0 {
		return nil, nil
	}
	blooms := map[int][]bloomFilter{}
	any := false
	for i := range s.columns {
		c, _ := s.reads(i)
		if c == nil {
			continue
		}
		id := c.base().typ.id
		_, ok, err := env.rowIndex(id)
		if err != nil {
			return nil, err
		}
		any = any || ok
		if !s.testsEquality(i) || !bloomKind(c.base().typ.kind) || env.file.footer.writer != writerJava {
			continue
		}
		raw, err := env.indexStream(id, streamBloomFilterUTF8)
		if err != nil {
			return nil, err
		}
		if raw == nil {
			continue
		}
		filters, err := parseBloomFilters(raw, st.groups)
		if err != nil {
			return nil, asCorrupt(err, env.file.path, "Bloom filter of column "+env.file.columnName(id))
		}
		if len(filters) == st.groups {
			blooms[i] = filters
			any = true
		}
	}
	if !any {
		return nil, nil
	}
	stride := int64(env.file.footer.stride)
	out := []rowRange{}
	all := true
	for g := range st.groups {
		from := int64(g) * stride
		rows := min(stride, int64(st.info.rows)-from)
		may := s.mayMatch(rows, func(id int) []byte {
			if e := st.index[id]; len(e) == st.groups {
				return e[g].stats
			}
			return nil
		})
		if may && len(blooms) > 0 {
			may = bloomMayMatch(s.filter, func(i int, x column.Scalar) bool {
				f := blooms[i]
				return f == nil || f[g].mayContain(x)
			})
		}
		if !may {
			all = false
			continue
		}
		if n := len(out); n > 0 && out[n-1].endGroup == g {
			out[n-1].to, out[n-1].endGroup = from+rows, g+1
		} else {
			out = append(out, rowRange{from: from, to: from + rows, firstGroup: g, endGroup: g + 1})
		}
	}
	if all {
		return nil, nil
	}
	return out, nil
}

// testsEquality reports whether the filter compares column i by = or IN.
func (s *skipper) testsEquality(i int) bool {
	for l := range predicate.Leaves(s.filter) {
		if l.Column == i && (l.Op == predicate.Eq || l.Op == predicate.In) {
			return true
		}
	}
	return false
}

// rowsPerBatch returns how many rows a batch is to have so that it is of
// moderate size, going by the lengths of values that the file's statistics tell.
func (f *file) rowsPerBatch(root columnReader) int {
	if f.footer.rows == 0 {
		return column.MaxRows
	}
	total := 0.0
	walkColumns(root, func(c *colBase) {
		if id := c.typ.id; id < len(f.footer.stats) {
			if s, err := parseColumnStats(f.footer.stats[id]); err == nil {
				total += float64(s.bytes) + 8*float64(s.values)
			}
		}
	})
	rows := targetBatchBytes * float64(f.footer.rows) / max(total, 1)
	return int(min(max(rows, 1), column.MaxRows))
}
