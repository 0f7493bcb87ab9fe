package read

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/lsm"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/schema"
)

// sectionBytes is the size from which a raw file is cut at its sections.
const sectionBytes = 4 << 20

// Morsels returns the morsels of a split.
func Morsels(h *Handles, s *scan.Split, w Want) []relation.Morsel {
	switch s.Mode {
	case scan.Raw, scan.Changes:
		out := make([]relation.Morsel, len(s.Files))
		for i, f := range s.Files {
			m := &fileMorsel{h: h, split: s, file: f, want: w}
			if w.Ordinal != nil {
				m.ordinal = w.Ordinal(f)
			}
			out[i] = m
		}
		return out
	}
	return []relation.Morsel{&splitMorsel{h: h, split: s, want: w}}
}

// fileMorsel reads a file, or sections of it, by itself.
type fileMorsel struct {
	h        *Handles
	split    *scan.Split
	file     *scan.File
	want     Want
	from, to int
	rows     int64
	// ordinal is the file's number, with want.Ordinal.
	ordinal int32
}

// Weight is the number of physical rows.
func (m *fileMorsel) Weight() int64 {
	if m.to > 0 {
		return m.rows
	}
	return m.file.Meta.RowCount
}

// Split cuts a big file at its sections.
func (m *fileMorsel) Split(ctx context.Context) ([]relation.Morsel, error) {
	if m.to > 0 || m.file.Meta.Size < sectionBytes {
		return []relation.Morsel{m}, nil
	}
	src := m.split.Source
	f, release, err := m.h.acquire(ctx, src.FIO, m.file.Path, m.file.Meta.Size, m.file.Format)
	if err != nil {
		return nil, err
	}
	defer release()
	secs := f.Sections()
	if len(secs) < 2 {
		return []relation.Morsel{m}, nil
	}
	m.h.hold(m.file.Path, len(secs))
	out := make([]relation.Morsel, len(secs))
	for i, s := range secs {
		c := *m
		c.from, c.to, c.rows = i, i+1, s.Rows
		out[i] = &c
	}
	return out, nil
}

// Open starts reading.
func (m *fileMorsel) Open(ctx context.Context) (relation.Reader, error) {
	src := m.split.Source
	fields := make([]schema.Field, 0, len(m.want.Columns)+3)
	for _, c := range m.want.Columns {
		fields = append(fields, src.Schema.Fields[c])
	}
	keyed := src.Schema.HasPrimaryKey()
	// Retract rows of a key-value file are found by their kind; its delete
	// count is not to be trusted (format section 22.4).
	dropRetracts := keyed && !m.want.Kind
	if m.want.Kind || dropRetracts {
		fields = append(fields, schema.KindField())
	}
	if m.want.Sequence {
		fields = append(fields, schema.SequenceField())
	}
	if m.want.RowID {
		fields = append(fields, schema.RowIDField())
	}
	filter, fields := filterOver(m.want.Filter, src.Schema.Fields, fields)
	width := len(m.want.Columns) + b2i(m.want.Kind) + b2i(m.want.Sequence) + b2i(m.want.RowID)
	r, err := m.h.openFile(ctx, src, m.file, fileRequest{fields: fields, filter: filter, from: m.from, to: m.to, partition: partitionOf(m.split)})
	if m.to > 0 {
		m.h.drop(m.file.Path)
	}
	if err != nil {
		return nil, err
	}
	kind := len(m.want.Columns)
	var sel []uint16
	ordinal := column.FromScalar(column.IntScalar(column.KindInt32, int64(m.ordinal)))
	return &mapReader{in: r, f: func(_ context.Context, b *column.Batch) (*column.Batch, error) {
		out := *b
		if dropRetracts {
			if out.Sel = dropKinds(b, b.Cols[kind], &sel); out.Rows() == 0 {
				return nil, nil
			}
			out.Cols = slices.Delete(slices.Clone(b.Cols), kind, kind+1)
		}
		out.Cols = out.Cols[:width]
		if m.want.Ordinal != nil {
			out.Cols = append(out.Cols[:width:width], column.NewConst(ordinal, b.N), numbersFrom(b.Base, b.N))
		}
		return &out, nil
	}}, nil
}

// numbersFrom is a column of n numbers in a row.
func numbersFrom(first int64, n int) *column.Vector {
	out := &column.Vector{Kind: column.KindInt64, N: n, I64: make([]int64, n)}
	for i := range out.I64 {
		out.I64[i] = first + int64(i)
	}
	return out
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// partitionOf are the values that the split's partition columns show.
func partitionOf(s *scan.Split) []column.Scalar {
	if s.PartitionAs != nil {
		return s.PartitionAs
	}
	return s.Partition
}

// filterOver rewrites a filter over table columns to one over fields. Columns
// that only the filter needs are not added: their conditions are dropped.
func filterOver(f predicate.Predicate, table, fields []schema.Field) (predicate.Predicate, []schema.Field) {
	if f == nil {
		return nil, fields
	}
	return predicate.RemapColumns(f, func(c int) int {
		return slices.IndexFunc(fields, func(x schema.Field) bool { return x.ID == table[c].ID })
	}), fields
}

// dropKinds selects the rows of b that are no retracts; nil = all, as in Batch.Sel.
func dropKinds(b *column.Batch, kinds *column.Vector, buf *[]uint16) []uint16 {
	if kinds.Dict != nil {
		clean := true
		for i := range kinds.Dict.N {
			clean = clean && !lsm.IsRetract(int32(kinds.Dict.Int(i)))
		}
		if clean {
			return b.Sel
		}
	}
	if *buf == nil {
		*buf = make([]uint16, 0, column.MaxRows)
	}
	out := (*buf)[:0]
	for k := range b.Rows() {
		i := b.Row(k)
		if !lsm.IsRetract(int32(kinds.Int(i))) {
			out = append(out, uint16(i))
		}
	}
	*buf = out
	if len(out) == b.N {
		return nil
	}
	return out
}

// splitMorsel reads a split that needs several files at once.
type splitMorsel struct {
	h     *Handles
	split *scan.Split
	want  Want
	// part is set where the morsel covers a key range of the split only.
	part *keyPart
}

// Weight is the number of physical rows.
func (m *splitMorsel) Weight() int64 {
	if m.part != nil {
		return m.part.rows
	}
	return m.split.Rows()
}

// Open starts reading.
func (m *splitMorsel) Open(ctx context.Context) (relation.Reader, error) {
	if m.split.Mode == scan.Join {
		return m.h.openJoin(ctx, m.split, m.want)
	}
	return m.h.openMerge(ctx, m.split, m.want, MergeOptions{KeepDeletes: m.want.Kind, Unordered: true}, m.part)
}

// MergeOptions say how OpenMerge delivers.
type MergeOptions struct {
	// KeepDeletes keeps keys whose last row is a retract.
	KeepDeletes bool
	// Unordered allows any order of rows; else they come in key order.
	Unordered bool
	// FoldLone gives the single record of a key to the engine, too; not with Unordered.
	FoldLone bool
	// Expiry leaves expired rows out before the merge; nil = none are. Its column is one of those wanted.
	Expiry *Expiry
	// Keys are the keys of a file whose rows take part in the merge; it, or what it returns, may be nil for all of them.
	Keys func(*scan.File) *KeySet
}

// OpenMerge merges the runs of a split by key: the columns of w, then row kind
// and sequence number as far as wanted.
func (h *Handles) OpenMerge(ctx context.Context, s *scan.Split, w Want, o MergeOptions) (relation.Reader, error) {
	return h.openMerge(ctx, s, w, o, nil)
}

// openMerge is OpenMerge of a key range; part nil = all keys.
func (h *Handles) openMerge(ctx context.Context, s *scan.Split, w Want, o MergeOptions, part *keyPart) (relation.Reader, error) {
	sch := s.Source.Schema
	engine, err := newEngine(sch)
	if err != nil {
		return nil, err
	}
	needed := engine.NeededColumns(w.Columns)
	var layout lsm.Layout
	fields := make([]schema.Field, 0, len(needed)+4)
	at := map[int]int{}
	for i, c := range needed {
		layout.Values = append(layout.Values, len(fields))
		layout.Fields = append(layout.Fields, c)
		at[c] = len(fields)
		fields = append(fields, sch.Fields[c])
		if i < len(w.Columns) {
			layout.Output = append(layout.Output, i)
		}
	}
	if len(w.Columns) == 0 {
		layout.Output = []int{}
	}
	// Keys are read from the value columns: thin files have no others.
	for _, k := range sch.TrimmedKeyFields() {
		c := sch.Index(k.Name)
		if _, ok := at[c]; !ok {
			at[c] = len(fields)
			fields = append(fields, sch.Fields[c])
		}
		layout.Keys = append(layout.Keys, at[c])
	}
	layout.Seq, layout.Kind = len(fields), len(fields)+1
	fields = append(fields, schema.SequenceField(), schema.KindField())
	// Where no run's sequence numbers reach into another's, any number of a
	// file tells which row is newer, and those of the rows need not be read.
	ordered := runsInOrder(s)

	keys := sch.TrimmedPrimaryKeys()
	filter := predicate.RemapColumns(w.Filter, func(c int) int {
		if !slices.Contains(keys, sch.Fields[c].Name) {
			return -1 // a condition on a value must not hide a newer row of its key
		}
		return at[c]
	})
	// A row of the oldest run that the filter leaves out hides no other row, if
	// the newest row of a key is always the one that counts.
	oldest := filter
	if ordered && engine.Kind() == lsm.Deduplicate && len(engine.SequenceColumns()) == 0 {
		oldest = predicate.RemapColumns(w.Filter, func(c int) int {
			if i, ok := at[c]; ok {
				return i
			}
			return -1
		})
	}
	var keep []int
	for _, k := range layout.Keys {
		keep = append(keep, fields[k].ID)
	}
	openPiece := func(p piece, filter predicate.Predicate) func(context.Context) (relation.Reader, error) {
		return func(ctx context.Context) (relation.Reader, error) {
			if p.to > 0 {
				defer h.drop(p.file.Path)
			}
			var keys *KeySet
			if o.Keys != nil {
				keys = o.Keys(p.file)
			}
			if keys != nil {
				filter = predicate.NewAnd(filter, keys.predicate(layout.Keys))
			}
			file, err := h.openFile(ctx, p.file.SourceOr(s.Source), p.file, fileRequest{fields: fields, filter: filter, from: p.from, to: p.to, partition: partitionOf(s), fileSequence: ordered && !w.Sequence, keep: keep})
			if err != nil {
				return nil, err
			}
			r := file
			if keys != nil {
				r = keys.over(r, layout.Keys)
			}
			if o.Expiry != nil {
				r = o.Expiry.Over(r, at[o.Expiry.Column])
			}
			return r, nil
		}
	}
	open := func(i int, run lsm.SortedRun[*scan.File]) lsm.RunReader {
		c := &concatReader{}
		f := filter
		if i == 0 {
			f = oldest
		}
		if part != nil && i == part.run {
			for _, p := range part.pieces {
				c.open = append(c.open, openPiece(p, f))
			}
			return c
		}
		if part != nil {
			f = predicate.NewAnd(f, part.rangeFilter(layout.Keys[0]))
		}
		for _, file := range run {
			c.open = append(c.open, openPiece(piece{file: file}, f))
		}
		if part != nil {
			return newCutReader(c, layout.Keys, part)
		}
		return c
	}
	runs, err := mergeRuns(ctx, s, engine, layout, fields, open)
	if err != nil {
		return nil, err
	}
	postponed, err := h.postponedRuns(ctx, s, fields, layout)
	if err != nil {
		return nil, err
	}
	runs = append(runs, postponed...)
	r, err := lsm.NewMerge(ctx, engine, layout, runs, lsm.MergeOptions{KeepDeletes: o.KeepDeletes, Kind: w.Kind, Seq: w.Sequence, Unordered: o.Unordered, FoldLone: o.FoldLone})
	if err != nil || !w.Kind || !w.Sequence {
		return r, err
	}
	// The merge puts the sequence number before the kind.
	seq := len(w.Columns)
	return &mapReader{in: r, f: func(_ context.Context, b *column.Batch) (*column.Batch, error) {
		c := *b
		c.Cols = slices.Clone(b.Cols)
		c.Cols[seq], c.Cols[seq+1] = b.Cols[seq+1], b.Cols[seq]
		return &c, nil
	}}, nil
}

// runsInOrder reports whether the runs, the oldest first, hold ascending
// sequence numbers that do not overlap from run to run.
func runsInOrder(s *scan.Split) bool {
	if len(s.Postponed) > 0 || s.PartitionAs != nil || schema.OptSeqSnapshotOrder.Value(s.Source.Schema.Options) {
		return false
	}
	last := int64(math.MinInt64)
	for _, run := range s.Runs {
		top := last
		for _, f := range run {
			if f.Meta.MinSequence <= last || f.Meta.MaxSequence < f.Meta.MinSequence {
				return false
			}
			top = max(top, f.Meta.MaxSequence)
		}
		last = top
	}
	return true
}

// mergeRuns opens the runs of a split, the oldest first. Where compactions
// look older rows up and the engine adds rows up, only the newest row of a key above level
// 0 counts (org.apache.paimon.mergetree.compact.LookupMergeFunction): those levels are
// merged first, the lowest level winning.
func mergeRuns(ctx context.Context, s *scan.Split, engine *lsm.Engine, layout lsm.Layout, fields []schema.Field, open func(int, lsm.SortedRun[*scan.File]) lsm.RunReader) ([]lsm.RunReader, error) {
	if !mergesTwice(s, engine) {
		runs := make([]lsm.RunReader, len(s.Runs))
		for i, run := range s.Runs {
			runs[i] = open(i, run)
		}
		return runs, nil
	}
	levels := map[int]lsm.SortedRun[*scan.File]{}
	var order []int
	var fresh []*scan.File
	for _, run := range s.Runs {
		for _, f := range run {
			l := f.Meta.Level
			if l == 0 {
				fresh = append(fresh, f)
				continue
			}
			if levels[l] == nil {
				order = append(order, l)
			}
			levels[l] = append(levels[l], f)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return b - a })
	var old []lsm.RunReader
	for _, l := range order {
		slices.SortFunc(levels[l], func(a, b *scan.File) int { return lsm.CompareKeys(a.MinKey, b.MinKey) })
		old = append(old, open(-1, levels[l]))
	}
	pick, err := lsm.NewEngine(lsm.TableInfo{Fields: fields})
	if err != nil {
		return nil, err
	}
	all := lsm.Layout{Keys: layout.Keys, Seq: -1, Kind: -1}
	for i := range fields {
		all.Values = append(all.Values, i)
		all.Fields = append(all.Fields, i)
	}
	above, err := lsm.NewMerge(ctx, pick, all, old, lsm.MergeOptions{})
	if err != nil {
		return nil, err
	}
	runs := []lsm.RunReader{above}
	slices.SortStableFunc(fresh, func(a, b *scan.File) int { return cmp.Compare(a.Meta.MaxSequence, b.Meta.MaxSequence) })
	for _, f := range fresh {
		runs = append(runs, open(-1, lsm.SortedRun[*scan.File]{f}))
	}
	return runs, nil
}
