package table

import (
	"context"
	"fmt"
	"strconv"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/commit"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/read"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/write"
)

// rescaleTries is how often the rows are read anew after another writer has changed them.
const rescaleTries = 3

// RescaleOptions say what Rescale does.
type RescaleOptions struct {
	// Buckets is the number of buckets that the partitions get; 0 = that of option bucket.
	Buckets int
	// Partitions selects partitions by their values; nil = all.
	Partitions func(values []column.Scalar) bool
	// Progress takes a text that says how far it is; nil = nobody listens.
	Progress func(text string)
}

// Rescale writes the rows of partitions anew, over another number of buckets, and publishes them as an OVERWRITE
// (Paimon's RescaleAction). Rows stay as they are, those of a postpone bucket where they are. It returns the new
// snapshot's id. errs.Conflict: other writers changed the partitions again and again.
func (t *Table) Rescale(ctx context.Context, o RescaleOptions) (int64, error) {
	mode := t.stored.BucketMode()
	if mode != schema.HashFixed && mode != schema.Postpone {
		return 0, errs.Invalidf("table %s has 'bucket' = '%d': there is no number of buckets to change; only tables of fixed or postpone buckets are rescaled", t.Label(), t.stored.Bucket())
	}
	if schema.OptChainTable.Value(t.stored.Options) {
		return 0, errs.Unsupportedf("table %s is a chain table: its partitions hold deletes that a rescale would lose; replace its partitions with INSERT OVERWRITE", t.Label())
	}
	if o.Buckets == 0 {
		if mode == schema.Postpone {
			return 0, errs.Invalidf("table %s: When rescaling postpone bucket tables, you must provide the resulting bucket number.", t.Label())
		}
		o.Buckets = t.stored.Bucket()
	}
	if o.Buckets < 1 || o.Buckets > write.MaxRescaleBuckets {
		return 0, errs.Invalidf("table %s: a partition has 1 to %d buckets, not %d", t.Label(), write.MaxRescaleBuckets, o.Buckets)
	}
	for try := 1; ; try++ {
		id, err := t.rescaleOnce(ctx, o)
		if err == nil || !errs.Is(err, errs.Conflict) || try == rescaleTries || ctx.Err() != nil {
			return id, err
		}
	}
}

func (t *Table) rescaleOnce(ctx context.Context, o RescaleOptions) (id int64, err error) {
	defer errs.Recover(&err, "rescaling table "+t.Label())
	snap, err := t.snaps.Latest(ctx)
	if err != nil {
		return 0, err
	}
	if snap == nil {
		return 0, errs.Invalidf("Table %s has no snapshot. No need to rescale.", t.Label())
	}
	defer func() {
		if t.snaps.Expired(ctx, snap, err) {
			err = commit.Overtaken(t.Label(), err) // what was read has been replaced and expired
		}
	}()
	selected := o.Partitions
	if selected == nil {
		selected = func([]column.Scalar) bool { return true }
	}
	// Level 0 counts as well: an OVERWRITE removes what no read has seen yet.
	src := t.Source()
	src.Schema = t.stored
	plan, err := src.Plan(ctx, snap, scan.Request{Partitions: selected, Levels: func(int) bool { return true }})
	if err != nil {
		return 0, err
	}
	if len(plan.Splits) == 0 {
		return 0, errs.Invalidf("table %s: The specified partition does not have any data files. No need to rescale.", t.Label())
	}
	over := map[string]string{schema.OptBucket.Key(): strconv.Itoa(o.Buckets)}
	s := &sink{
		t: t, schema: t.stored.WithOptions(over), over: over, o: relation.SinkOptions{Overwrite: true}, gate: t.env.Writing.gate(t.dir, t.branch),
		replace: &commit.Overwrite{Match: selected}, based: true, base: snap, relevant: t.inPartitions(selected),
	}
	if err := s.open(); err != nil {
		return 0, err
	}
	if err := t.copyRows(ctx, plan, s.w, o.Progress); err != nil {
		s.Abort()
		return 0, err
	}
	unlock, err := s.gate.lock(ctx)
	if err != nil {
		s.Abort()
		return 0, err
	}
	defer unlock()
	return s.publish(ctx, s.w, nil)
}

// copyRows writes the rows of a plan as they are: defaults of columns do not replace their NULLs.
func (t *Table) copyRows(ctx context.Context, plan *scan.Plan, w *write.Writer, progress func(string)) error {
	rctx, cancel := context.WithCancel(ctx) // closes the files
	defer cancel()
	handles := t.env.Readers.NewHandles(rctx)
	want := read.Want{}
	for i := range t.stored.Fields {
		want.Columns = append(want.Columns, i)
	}
	for i, sp := range plan.Splits {
		for _, m := range read.Morsels(handles, sp, want) {
			err := eachBatch(ctx, m, func(b *column.Batch) error {
				return w.Write(ctx, write.Rows{Cols: b.Cols, N: b.N, Sel: b.Sel})
			})
			if err != nil {
				return err
			}
		}
		if progress != nil {
			progress(fmt.Sprintf("rescaling %s: %d rows, %d of %d parts", t.Label(), w.Rows(), i+1, len(plan.Splits)))
		}
	}
	return nil
}

// inPartitions tells which changes concern real buckets of partitions.
func (t *Table) inPartitions(selected func([]column.Scalar) bool) func(commit.RowChange) (bool, error) {
	types := t.stored.PartitionTypes()
	return func(c commit.RowChange) (bool, error) {
		if c.Bucket == schema.PostponeBucket {
			return false, nil
		}
		vals, err := binrow.DecodeRow(types, c.Partition)
		return err == nil && selected(vals), err
	}
}
