package write

import (
	"context"
	"errors"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/commit"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/lsm"
	"github.com/tributarydb/tributary/storage/schema"
)

// Exclusive reports whether the commit must follow on the state's very
// snapshot: buckets of keys were assigned, and nobody else may have done so meanwhile (section 6.4).
func (w *Writer) Exclusive() bool {
	return !w.overwrite && (w.opts.mode == schema.HashDynamic || w.opts.mode == schema.KeyDynamic)
}

// Numbered reports whether the rows of a key are ordered by numbers that continue those of the state: nobody else may
// have added rows to the same buckets meanwhile.
func (w *Writer) Numbered() bool {
	return !w.overwrite && w.schema.HasPrimaryKey() && !w.opts.postponed
}

// Repeatable reports whether Prepare can be called again on another state, after Discard.
func (w *Writer) Repeatable() bool {
	return w.schema.HasPrimaryKey() && !w.opts.postponed && w.opts.mode == schema.HashFixed
}

// Prepare finishes all files on top of a state and returns the messages to
// commit, in the order in which buckets first got rows. The files stay until Abort or Discard; once they are published, Release the writer.
func (w *Writer) Prepare(ctx context.Context, st State) ([]commit.Message, error) {
	state, err := w.readState(ctx, st)
	if err != nil {
		return nil, err
	}
	if w.log != nil {
		if err := w.assign(ctx, st, state); err != nil {
			return nil, err
		}
	}
	if err := w.checkBuckets(state); err != nil {
		return nil, err
	}
	for _, s := range w.slots {
		s.base, s.there = 0, fill{}
		if p := state[s.part]; p != nil && s.bucket != schema.PostponeBucket {
			b := p.bucket(s.bucket)
			s.base, s.there = b.maxSequence+1, b.fill
		}
	}
	if err := w.finishSlots(ctx); err != nil {
		return nil, err
	}
	var out []commit.Message
	for _, s := range w.slots {
		m := commit.Message{Partition: s.part.framed, Bucket: s.bucket, TotalBuckets: s.buckets, NewFiles: s.files, ChangelogFiles: s.changelog, NewIndexFiles: s.index}
		if !m.Empty() {
			out = append(out, m)
		}
	}
	if !w.Repeatable() {
		w.free()
	}
	return out, nil
}

// checkBuckets refuses rows for partitions with another number of buckets.
func (w *Writer) checkBuckets(state map[*partition]*partitionState) error {
	if w.opts.mode != schema.HashFixed {
		return nil
	}
	for _, s := range w.slots {
		p := state[s.part]
		if p == nil || p.buckets == 0 || p.buckets == s.buckets {
			continue
		}
		text, err := binrow.PartitionPath(w.layout.fields, s.part.values, w.layout.def, false)
		if err != nil || text == "" {
			text = "the table"
		}
		return commit.BucketMismatch(w.t.Label, text, s.buckets, p.buckets)
	}
	return nil
}

// writesChangelog reports whether changelog files are written: an OVERWRITE has none.
func (w *Writer) writesChangelog() bool { return w.opts.changelogInput && !w.overwrite }

// finishSlots writes what is still in memory or spilled.
func (w *Writer) finishSlots(ctx context.Context) error {
	var v *view
	empty, err := w.spilled()
	if err != nil {
		return err
	}
	if empty != nil {
		empty.rows.release()
	}
	if w.buf != nil {
		if v, err = w.buf.view(); err != nil {
			return err
		}
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(w.t.Parallelism)
	spaces := sync.Pool{New: func() any { return &lsm.SortSpace{} }}
	for _, s := range w.slots {
		g.Go(func() (err error) {
			defer errs.Recover(&err, "writing files of "+w.t.Label)
			space := spaces.Get().(*lsm.SortSpace)
			defer spaces.Put(space)
			if w.schema.HasPrimaryKey() && !w.opts.postponed {
				return w.finishKeyed(gctx, s, v, space)
			}
			return w.finishAppend(gctx, s, v)
		})
	}
	if err := g.Wait(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	return nil
}

// copyRun writes a run's batches.
func copyRun(ctx context.Context, r lsm.RunReader, put func(*column.Batch) error) error {
	for {
		b, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return r.Close()
		}
		if err == nil {
			err = put(b)
		}
		if err != nil {
			return errors.Join(err, r.Close())
		}
	}
}

// finishAppend completes the files of a slot of an append table, or of the postpone bucket.
func (w *Writer) finishAppend(ctx context.Context, s *slot, v *view) error {
	put := func(b *column.Batch) error {
		n := len(w.fields)
		rows := Rows{Cols: b.Cols[:n:n], N: b.N}
		if len(b.Cols) > n {
			rows.Kinds = b.Cols[n+1].I32
		}
		return w.writeDirect(ctx, s, rows, nil)
	}
	for _, seg := range s.runs {
		if err := copyRun(ctx, seg.open(), put); err != nil {
			return err
		}
	}
	if v != nil {
		if rows := v.slotRows(s); len(rows) > 0 {
			if err := copyRun(ctx, lsm.ReadRows(v.batch, rows), put); err != nil {
				return err
			}
		}
	}
	if s.roll == nil {
		return nil
	}
	files, err := s.roll.finish(ctx)
	if err != nil {
		return err
	}
	if w.opts.mode == schema.HashFixed { // a bucket's rows keep the order of their files
		for _, f := range files {
			f.MinSequence += s.base
			f.MaxSequence += s.base
		}
	}
	s.files = files
	return nil
}

// finishKeyed sorts, merges and writes the rows of a slot of a primary-key table.
func (w *Writer) finishKeyed(ctx context.Context, s *slot, v *view, space *lsm.SortSpace) error {
	var rows []uint32
	if v != nil {
		rows = v.slotRows(s)
		v.keyed.Sort(rows, space)
	}
	if w.writesChangelog() {
		if err := w.writeChangelog(ctx, s, v, rows); err != nil {
			return err
		}
	}
	var runs []lsm.RunReader
	for _, seg := range s.runs {
		runs = append(runs, seg.open())
	}
	if len(rows) > 0 {
		r, err := v.keyed.Read(rows, true)
		if err != nil {
			return err
		}
		runs = append(runs, r)
	}
	if len(runs) == 0 {
		return nil
	}
	run := runs[0]
	if len(runs) > 1 {
		merged, err := lsm.NewMerge(ctx, w.engine, w.runLayout(), runs, lsm.MergeOptions{KeepDeletes: true, Seq: true, Kind: true})
		if err != nil {
			return err
		}
		run = merged
	}
	level := 0
	if w.overwrite && w.opts.upgrade {
		level = w.opts.topLevel
	}
	roll := w.newRoller(s, w.dataSpec(level))
	// A chain table's partitions continue others: their deletes are needed.
	dropDeletes := level > 0 && !schema.OptChainTable.Value(w.schema.Options)
	if err := w.rollRun(ctx, roll, run, s, dropDeletes); err != nil {
		return err
	}
	s.files = roll.done
	return nil
}

// writeChangelog writes every row of the slot, not merged (section 11).
func (w *Writer) writeChangelog(ctx context.Context, s *slot, v *view, rows []uint32) error {
	roll := w.newRoller(s, w.changelogSpec())
	for _, seg := range s.changes {
		if err := w.rollRun(ctx, roll, seg.open(), s, false); err != nil {
			return err
		}
	}
	if len(rows) > 0 {
		r, err := v.keyed.Read(rows, false)
		if err != nil {
			return err
		}
		if err := w.rollRun(ctx, roll, r, s, false); err != nil {
			return err
		}
	}
	s.changelog = roll.done
	return nil
}

// rollRun writes a run into files of its own. dropDeletes leaves retracts out,
// which delete nothing where nothing is below.
func (w *Writer) rollRun(ctx context.Context, roll *roller, run lsm.RunReader, s *slot, dropDeletes bool) error {
	n := len(w.fields)
	var seq []int64
	var sel []uint16
	err := copyRun(ctx, run, func(b *column.Batch) error {
		kind := column.Flatten(b.Cols[n+1]).I32
		seq = append(seq[:0], column.Flatten(b.Cols[n]).I64[:b.N]...)
		for i := range seq {
			seq[i] += s.base
		}
		keep := b.Sel
		if dropDeletes {
			sel = sel[:0]
			each(b.Sel, b.N, func(i int) {
				if !lsm.IsRetract(kind[i]) {
					sel = append(sel, uint16(i))
				}
			})
			if keep = sel; len(sel) == 0 {
				return nil
			}
			if len(sel) == b.N {
				keep = nil
			}
		}
		return roll.write(ctx, w.fileColumns(b.Cols[:n], seq, kind), keep, b.N)
	})
	if err == nil {
		_, err = roll.finish(ctx)
	}
	if err != nil {
		roll.abort()
	}
	return err
}
