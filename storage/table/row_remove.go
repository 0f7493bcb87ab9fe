package table

import (
	"context"
	"maps"
	"slices"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/commit"
	"github.com/tributarydb/tributary/storage/compact"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/index"
	"github.com/tributarydb/tributary/storage/lsm"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// maxRemovedBytes bounds the memory of the positions of rows that a statement removes: about a bit a row of
// the files that it touches, at most.
const maxRemovedBytes = 1 << 30

// removals are the rows that a statement removes.
type removals struct {
	// fields are the sink's columns: those of the table and relation.PositionFields.
	fields []schema.Field
	// rows are the positions by the ordinals of files.
	rows map[int32]*index.Positions
	// sizes are the bytes of rows that bytes counts.
	sizes map[int32]int64
	bytes int64
	// fileOf finds the files of the relation that was read; nil until Based.
	fileOf func(ordinal int32) *scan.File
}

func newRemovals(table []schema.Field) *removals {
	return &removals{fields: append(slices.Clone(table), relation.PositionFields(true)...), rows: map[int32]*index.Positions{}, sizes: map[int32]int64{}}
}

// Positioned reports whether the table was opened with positions.
func (t *Table) Positioned() bool { return t.places != nil }

// FileOf is the data file with an ordinal that plans of the table, opened with positions, have given; nil where there is none.
func (t *Table) FileOf(ordinal int32) *scan.File {
	if t.places == nil {
		return nil
	}
	return t.places.file(ordinal)
}

// takePlaced takes new rows and rows to remove.
func (s *sink) takePlaced(ctx context.Context, b *column.Batch, kinds []int32) error {
	n := len(s.schema.Fields)
	if len(b.Cols) != n+2 {
		return errs.Invalidf("table %s has %d columns and 2 for positions, but %d were given", s.t.Label(), n, len(b.Cols))
	}
	if b.N > column.MaxRows {
		return errs.Invalidf("a batch has %d rows, more than %d", b.N, column.MaxRows)
	}
	if kinds != nil && len(kinds) < b.N {
		return errs.Invalidf("%d row kinds were given for %d rows", len(kinds), b.N)
	}
	fresh := &column.Batch{N: b.N, Sel: b.Sel, Cols: b.Cols[:n:n]}
	gone := 0
	if kinds != nil {
		var err error
		if gone, err = s.remove(b, kinds); err != nil {
			return err
		}
	}
	switch {
	case gone == b.Rows():
		return nil
	case gone > 0:
		fresh.Sel = make([]uint16, 0, b.Rows()-gone)
		for k := range b.Rows() {
			if i := b.Row(k); !lsm.IsRetract(kinds[i]) {
				fresh.Sel = append(fresh.Sel, uint16(i))
			}
		}
	}
	rows, err := s.intake.Check(fresh, kinds)
	if err != nil {
		return err
	}
	return s.w.Write(ctx, rows)
}

// remove notes the rows of a batch that are to be removed, and counts them.
func (s *sink) remove(b *column.Batch, kinds []int32) (int, error) {
	n := len(b.Cols) - 2
	var file, position *column.Vector
	gone := 0
	var set *index.Positions
	last := int32(-1)
	touched := map[int32]bool{}
	for k := range b.Rows() {
		i := b.Row(k)
		if !lsm.IsRetract(kinds[i]) {
			continue
		}
		if file == nil {
			file, position = b.Cols[n], b.Cols[n+1]
			if file == nil || position == nil || file.Kind != column.KindInt32 || position.Kind != column.KindInt64 || file.N != b.N || position.N != b.N {
				return 0, errs.Invalidf("table %s: the columns %s and %s must be an INT and a BIGINT", s.t.Label(), relation.FileColumn, relation.PositionColumn)
			}
		}
		if file.IsNull(i) || position.IsNull(i) {
			return 0, errs.Invalidf("table %s: a row to remove has no position", s.t.Label())
		}
		if f := int32(file.Int(i)); set == nil || f != last {
			last = f
			if set = s.gone.rows[f]; set == nil {
				set = &index.Positions{}
				s.gone.rows[f] = set
			}
			touched[f] = true
		}
		if err := set.Add(position.Int(i)); err != nil {
			return 0, errs.New(errs.ClassOf(err), "table %s: %w", s.t.Label(), err)
		}
		gone++
	}
	for f := range touched {
		now := s.gone.rows[f].Bytes()
		s.gone.bytes += now - s.gone.sizes[f]
		s.gone.sizes[f] = now
	}
	if s.gone.bytes > maxRemovedBytes {
		return 0, errs.Limitf("table %s: the positions of the rows to remove take more than %d bytes; remove fewer rows a statement", s.t.Label(), int64(maxRemovedBytes))
	}
	return gone, nil
}

// basedOn notes the relation that the rows to remove were read from.
func (r *removals) basedOn(label string, rel relation.Relation) error {
	t, ok := rel.(interface {
		Positioned() bool
		FileOf(ordinal int32) *scan.File
	})
	if !ok || !t.Positioned() {
		return errs.Invalidf("table %s: the rows to remove were read without their positions", label)
	}
	if r.fileOf == nil {
		r.fileOf = t.FileOf
	}
	return nil
}

// list are the rows to remove, by file.
func (r *removals) list(label string) ([]compact.Removal, error) {
	if r.fileOf == nil {
		return nil, errs.Invalidf("table %s: rows cannot be removed without what the statement has read", label)
	}
	out := make([]compact.Removal, 0, len(r.rows))
	for _, n := range slices.Sorted(maps.Keys(r.rows)) {
		f := r.fileOf(n)
		if f == nil {
			return nil, errs.Invalidf("table %s: a row to remove lies in file %d, which what was read does not have", label, n)
		}
		out = append(out, compact.Removal{File: f, Rows: r.rows[n].Vector()})
	}
	return out, nil
}

// commitRemovals publishes the removal of rows, and the new rows, as one snapshot. It returns the number of rows removed.
func (s *sink) commitRemovals(ctx context.Context) (id, removed int64, err error) {
	defer func() {
		if err == nil || errs.Is(err, errs.Uncertain) {
			s.w.Release()
		} else {
			s.w.Abort(ctx)
		}
	}()
	defer errs.Recover(&err, "removing rows of table "+s.t.Label())
	rows, err := s.gone.list(s.t.Label())
	if err != nil {
		return 0, 0, err
	}
	rctx, cancel := context.WithCancel(ctx) // closes the files
	defer cancel()
	src := s.t.Source()
	src.Schema = s.schema
	r, err := compact.NewRemover(rctx, &compact.Target{Source: src, Readers: s.t.env.Readers, Writing: s.target(s.user)}, s.w, rows)
	if err != nil {
		return 0, 0, err
	}
	// A file that is gone needs not be read.
	snap, err := s.t.snaps.Latest(ctx)
	if err == nil {
		err = r.Check(ctx, snap)
	}
	if err == nil {
		err = r.Rewrite(rctx)
	}
	if err != nil {
		return 0, 0, err
	}
	unlock, err := s.gate.lock(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer unlock()
	id, err = s.publishRemovals(ctx, r)
	return id, r.Removed(), err
}

// publishRemovals publishes what is removed and what is new. The gate is locked. What follows on the newest state only, the deletion
// vectors, is made anew where another process was faster.
func (s *sink) publishRemovals(ctx context.Context, r *compact.Remover) (int64, error) {
	st, err := s.state(ctx)
	if err != nil {
		return 0, err
	}
	fresh, err := s.w.Prepare(ctx, st)
	if err != nil {
		return 0, err
	}
	retries := schema.OptCommitRetries.Value(s.schema.Options)
	for try := 0; ; try++ {
		before := s.w.Created()
		messages, err := r.Messages(ctx, st.Snapshot)
		if err != nil {
			return 0, err
		}
		messages = append(messages, fresh...)
		res, err := s.committer().Commit(ctx, commit.Request{
			User: s.user, Identifier: commit.BatchIdentifier, Messages: messages, Watermark: s.watermark, Operation: s.o.Operation, Check: sameVectors(s.t.Label(), st.Snapshot),
		})
		if err == nil {
			s.touchFiles(messages)
		}
		if n := len(res.Snapshots); n > 0 {
			return res.Snapshots[n-1].ID, err
		}
		if !commit.Stale(err) || try >= retries {
			return 0, err
		}
		s.w.DiscardFrom(ctx, before)
		if st, err = s.state(ctx); err != nil {
			return 0, err
		}
	}
}

// sameVectors demands that nobody has written deletion vectors since a state was read.
func sameVectors(label string, based *snapshot.Snapshot) func(context.Context, *snapshot.Snapshot) error {
	vectors := func(s *snapshot.Snapshot) string {
		if s == nil {
			return ""
		}
		return s.IndexManifest
	}
	return func(_ context.Context, latest *snapshot.Snapshot) error {
		if vectors(based) == vectors(latest) {
			return nil
		}
		return errs.Conflictf("table %s: another writer deleted rows while others were removed; repeat the statement", label)
	}
}

// openPlaced checks that rows can be removed by position.
func (s *sink) openPlaced() error {
	if s.o.Overwrite {
		return errs.Invalidf("table %s: a statement that replaces rows cannot remove some", s.t.Label())
	}
	if err := s.t.checkPlaced(); err != nil {
		return err
	}
	s.gone = newRemovals(s.schema.Fields)
	return nil
}
