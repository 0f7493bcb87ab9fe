package manifest

import (
	"bytes"
	"math"
	"slices"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/cast"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
)

const (
	// gregorianStart is 1582-10-15 in microseconds: bounds of ORC timestamps
	// before it do not fit what is read (section 7.4 of the format).
	gregorianStart = -12219292800 * 1_000_000
	second         = 1_000_000
)

// StatsMapper yields statistics of a table's columns for files of one file schema.
type StatsMapper struct {
	fileFields []schema.Field
	// source is the position in fileFields of each table column, -1 = absent.
	source []int
	// table are the table's column types.
	table []*schema.Type
}

// NewStatsMapper maps the columns of a table, matched by field id, to those
// of a file's schema.
func NewStatsMapper(fileFields, tableFields []schema.Field) *StatsMapper {
	m := &StatsMapper{fileFields: fileFields, source: make([]int, len(tableFields)), table: schema.Types(tableFields)}
	for i, f := range tableFields {
		m.source[i] = slices.IndexFunc(fileFields, func(g schema.Field) bool { return g.ID == f.ID })
	}
	return m
}

// Column returns what is known of table column col over the rows of a file;
// ok is false where nothing is. A column that the file's schema lacks is all null.
func (m *StatsMapper) Column(f *DataFile, col int) (s predicate.Stats, ok bool) {
	src := m.source[col]
	if src < 0 {
		return predicate.Stats{Rows: f.RowCount, Nulls: f.RowCount}, true
	}
	pos, count := m.position(f, src)
	if pos < 0 {
		return s, false
	}
	ft := m.fileFields[src].Type
	s, ok = columnStats(f.ValueStats, pos, count, ft, f.RowCount)
	if !ok {
		return s, false
	}
	s = orcBounds(f.Name, ft, s)
	s = castStats(s, ft, m.table[col])
	return s, s.HasBounds || s.Nulls >= 0
}

// Stored returns the statistics of table column col as the entry has them, for
// showing: nothing is adjusted for pruning, and the bounds are of the file's type, which is returned.
func (m *StatsMapper) Stored(f *DataFile, col int) (s predicate.Stats, t *schema.Type, ok bool) {
	src := m.source[col]
	if src < 0 {
		return predicate.Stats{Rows: f.RowCount, Nulls: f.RowCount}, m.table[col], true
	}
	t = m.fileFields[src].Type
	pos, count := m.position(f, src)
	if pos < 0 {
		if f.WriteColumns != nil && !slices.Contains(f.WriteColumns, m.fileFields[src].Name) {
			return predicate.Stats{Rows: f.RowCount, Nulls: f.RowCount}, t, true
		}
		return s, t, false
	}
	s = predicate.Stats{Rows: f.RowCount, Nulls: -1}
	if len(f.ValueStats.Nulls) == count {
		s.Nulls = f.ValueStats.Nulls[pos]
	}
	lo, ok1 := bound(f.ValueStats.Min, pos, count, t)
	hi, ok2 := bound(f.ValueStats.Max, pos, count, t)
	if ok1 && ok2 && !lo.Null && !hi.Null {
		s.HasBounds, s.Min, s.Max = true, lo, hi
	}
	return s, t, true
}

// position returns where a file column stands in the statistics, -1 nowhere,
// and how many columns the statistics have.
func (m *StatsMapper) position(f *DataFile, src int) (pos, count int) {
	name := m.fileFields[src].Name
	if f.StatsColumns != nil {
		return slices.Index(f.StatsColumns, name), len(f.StatsColumns)
	}
	if f.WriteColumns != nil {
		return slices.Index(f.WriteColumns, name), len(f.WriteColumns)
	}
	return src, len(m.fileFields)
}

// columnStats decodes column pos of count columns; ok is false where the
// statistics are empty or do not fit.
func columnStats(raw SimpleStats, pos, count int, t *schema.Type, rows int64) (predicate.Stats, bool) {
	s := predicate.Stats{Rows: rows, Nulls: -1}
	if len(raw.Nulls) == count {
		if n := raw.Nulls[pos]; n <= rows || rows < 0 {
			s.Nulls = n
		}
	}
	lo, ok1 := bound(raw.Min, pos, count, t)
	hi, ok2 := bound(raw.Max, pos, count, t)
	if ok1 && ok2 && !lo.Null && !hi.Null {
		s.HasBounds, s.Min, s.Max = true, lo, hi
		if lo.Kind == column.KindFloat32 || lo.Kind == column.KindFloat64 {
			// NaN is no bound, and both zeros count as one.
			if lo.F != lo.F || hi.F != hi.F {
				s.HasBounds = false
			}
			if lo.F == 0 {
				s.Min.F = math.Copysign(0, -1)
			}
			if hi.F == 0 {
				s.Max.F = 0
			}
		}
	}
	return s, s.HasBounds || s.Nulls >= 0
}

// bound decodes one column of a statistics row.
func bound(framed []byte, pos, count int, t *schema.Type) (column.Scalar, bool) {
	if t.IsNested() {
		return column.Scalar{}, false
	}
	r, err := binrow.Parse(framed)
	if err != nil || r.Arity() != count {
		return column.Scalar{}, false
	}
	v, err := r.Scalar(pos, t)
	return v, err == nil
}

// orcBounds makes bounds of ORC files fit what is read of them. Timestamps may come back as
// other values than were written: they have none then. CHAR is bounded padded with spaces, and
// read without; a value may end where the least has spaces or characters that sort before them.
func orcBounds(file string, t *schema.Type, s predicate.Stats) predicate.Stats {
	if !s.HasBounds || format.NameOf(file) != "orc" {
		return s
	}
	switch t.Root {
	case schema.Timestamp, schema.TimestampLTZ:
		if s.Min.I < gregorianStart || s.Min.I < 0 && s.Max.I >= -second && s.Max.I < second {
			s.HasBounds = false
		}
	case schema.Char:
		if i := bytes.IndexFunc(s.Min.B, func(r rune) bool { return r < ' ' }); i >= 0 {
			s.Min.B = s.Min.B[:i]
		}
		s.Min.B = bytes.TrimRight(s.Min.B, " ")
	}
	return s
}

// castStats converts statistics of the file's type to the table's type. Bounds
// survive where the cast keeps order: what is bounded stays bounded then, also
// where the cast rounds. The number of nulls survives unless values may become null.
func castStats(s predicate.Stats, from, to *schema.Type) predicate.Stats {
	if from.EqualIgnoreNull(to) {
		return s
	}
	if s.HasBounds && keepsOrder(from, to) {
		lo, err1 := cast.Scalar(from, to, s.Min)
		hi, err2 := cast.Scalar(from, to, s.Max)
		if err1 == nil && err2 == nil && !lo.Null && !hi.Null {
			s.Min, s.Max = lo, hi
			return s
		}
	}
	s.HasBounds = false
	if to.Root == schema.Decimal && s.Nulls != s.Rows {
		s.Nulls = -1 // values that do not fit become null
	}
	return s
}

// keepsOrder reports whether a <= b implies cast(a) <= cast(b).
func keepsOrder(from, to *schema.Type) bool {
	isInt := func(t *schema.Type) bool { return t.Root >= schema.TinyInt && t.Root <= schema.BigInt }
	isFloat := func(t *schema.Type) bool { return t.Root == schema.Float || t.Root == schema.Double }
	isTime := func(t *schema.Type) bool { return t.Root == schema.Timestamp || t.Root == schema.TimestampLTZ }
	switch {
	case isInt(from):
		return isInt(to) && to.Root >= from.Root || isFloat(to) || to.Root == schema.Decimal
	case isFloat(from):
		return isFloat(to)
	case from.Root == schema.Decimal:
		return to.Root == schema.Decimal || isFloat(to)
	case isTime(from):
		return isTime(to) || to.Root == schema.Date
	case from.Root == schema.Date:
		return isTime(to)
	case from.Root == schema.Varchar || from.Root == schema.Varbinary:
		return to.Root == from.Root && to.Length >= from.Length
	}
	return false
}

// KeyColumn returns what is known of column pos of the trimmed primary key,
// whose types are given, over the rows of a file.
func (f *DataFile) KeyColumn(types []*schema.Type, pos int) (predicate.Stats, bool) {
	s, ok := columnStats(f.KeyStats, pos, len(types), types[pos], f.RowCount)
	return orcBounds(f.Name, types[pos], s), ok
}

// PartitionColumn returns what is known of partition column pos, over the
// partitions of a manifest's entries.
func (i *FileInfo) PartitionColumn(types []*schema.Type, pos int) (predicate.Stats, bool) {
	// The number of entries stands for the rows: null counts are over entries.
	return columnStats(i.PartitionStats, pos, len(types), types[pos], i.Added+i.Deleted)
}
