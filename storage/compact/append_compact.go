package compact

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/commit"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/read"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/snapshot"
	"github.com/tributarydb/tributary/storage/write"
)

// appendJob is a compaction of an append table.
type appendJob struct {
	t       *Target
	src     *scan.Source
	opts    *appendOptions
	w       *write.Writer
	handles *read.Handles
	// index is the index state that the compaction starts from.
	index []manifest.IndexEntry
}

// appendUnit are files of a bucket that are rewritten together.
type appendUnit struct {
	b     *bucket
	files []*scan.File
	after []*manifest.DataFile
}

// newAppendJob prepares a compaction; the files that it opens are closed with ctx.
func newAppendJob(ctx context.Context, t *Target, w *write.Writer, indexes []manifest.IndexEntry) (*appendJob, error) {
	opts, err := readAppendOptions(t.Source.Schema)
	if err != nil {
		return nil, errs.New(errs.ClassOf(err), "table %s: %w", t.Source.Label, err)
	}
	return &appendJob{t: t, src: t.Source, opts: opts, w: w, handles: t.Readers.NewHandles(ctx), index: indexes}, nil
}

// compactAppend rewrites small files of an append table into bigger ones, and files with many
// deleted rows into ones without them.
func compactAppend(ctx context.Context, t *Target, r *Request, w *write.Writer, snap *snapshot.Snapshot, indexes []manifest.IndexEntry) ([]commit.Message, error) {
	rctx, cancel := context.WithCancel(ctx)
	defer cancel()
	j, err := newAppendJob(rctx, t, w, indexes)
	if err != nil {
		return nil, err
	}
	files, _, err := j.src.LiveFiles(ctx, snap, scan.Request{Partitions: r.Partitions})
	if err != nil {
		return nil, err
	}
	var units []*appendUnit
	for _, b := range buckets(files) {
		if r.Buckets != nil && !r.Buckets(b.partition, b.id) {
			continue
		}
		for _, files := range j.opts.pick(b.files, r.Full) {
			if err := checkSchemas(j.src, files); err != nil {
				return nil, err
			}
			units = append(units, &appendUnit{b: b, files: files})
		}
	}
	if err := j.run(ctx, units); err != nil {
		return nil, err
	}
	return j.messages(ctx, units)
}

// run rewrites units, several at a time.
func (j *appendJob) run(ctx context.Context, units []*appendUnit) error {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(max(j.t.Writing.Parallelism, 1))
	var done atomic.Int64
	var mu sync.Mutex
	for _, u := range units {
		g.Go(func() (err error) {
			defer errs.Recover(&err, "compacting table "+j.src.Label)
			if err := j.rewrite(gctx, u); err != nil {
				return err
			}
			if n := done.Add(1); j.t.Progress != nil {
				mu.Lock()
				defer mu.Unlock()
				j.t.Progress(fmt.Sprintf("compacting %s: %d of %d groups of files", j.src.Label, n, len(units)))
			}
			return nil
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

// messages makes one message a bucket of the units, which are in the order of buckets.
func (j *appendJob) messages(ctx context.Context, units []*appendUnit) ([]commit.Message, error) {
	var out []commit.Message
	for i := 0; i < len(units); {
		b := units[i].b
		x := &commit.Compaction{}
		var gone []*scan.File
		for ; i < len(units) && units[i].b == b; i++ {
			gone = append(gone, units[i].files...)
			x.After = append(x.After, units[i].after...)
		}
		for _, f := range gone {
			x.Before = append(x.Before, f.Meta)
		}
		var err error
		if x.NewIndexFiles, x.DeletedIndexFiles, err = j.vectorsWithout(ctx, b, gone); err != nil {
			return nil, err
		}
		out = append(out, commit.Message{Partition: b.framed, Bucket: b.id, TotalBuckets: b.total, Compact: x})
	}
	return out, nil
}

// rewrite copies the rows of a unit that are not deleted.
func (j *appendJob) rewrite(ctx context.Context, u *appendUnit) error {
	out, err := j.w.NewAppendFiles(write.Place{Partition: u.b.partition, Bucket: u.b.id}, write.AppendFiles{
		Source: manifest.SourceCompact, Sequence: u.files[0].Meta.MinSequence, Tracked: j.opts.tracked,
	})
	if err != nil {
		return err
	}
	for _, f := range u.files {
		err := j.eachRow(ctx, u.b, f, j.opts.tracked, func(b *column.Batch) error { return out.Write(ctx, b) })
		if err != nil {
			out.Abort()
			return err
		}
	}
	u.after, err = out.Finish(ctx)
	return err
}

// eachRow calls fn with batches of the rows of a file that are not deleted: the table's columns, and
// with tracked row id and sequence number. The number of rows is checked.
func (j *appendJob) eachRow(ctx context.Context, b *bucket, f *scan.File, tracked bool, fn func(*column.Batch) error) error {
	r, err := j.open(ctx, b, f, tracked)
	if err != nil {
		return err
	}
	var rows int64
	err = each(ctx, r, func(in *column.Batch) error {
		rows += int64(in.Rows())
		if tracked {
			var err error
			if in, err = j.withIDs(f, in); err != nil {
				return err
			}
		}
		return fn(in)
	})
	if err != nil {
		return err
	}
	want := f.Meta.RowCount
	if f.Vector != nil {
		n := f.Vector.Range.Cardinality
		if n == nil {
			return nil
		}
		want -= *n
	}
	if rows != want {
		return errs.Corruptf("table %s: data file %s gave %d rows, %d were expected; it is not compacted", j.src.Label, f.Path, rows, want)
	}
	return nil
}

func (j *appendJob) open(ctx context.Context, b *bucket, f *scan.File, tracked bool) (relation.Reader, error) {
	want := read.Want{Sequence: tracked, RowID: tracked}
	for i := range j.src.Schema.Fields {
		want.Columns = append(want.Columns, i)
	}
	sp := &scan.Split{Source: j.src, Partition: b.partition, Bucket: b.id, Mode: scan.Raw, Files: []*scan.File{f}}
	return read.Morsels(j.handles, sp, want)[0].Open(ctx)
}

// withIDs puts the row id before the sequence number, as files have them.
func (j *appendJob) withIDs(f *scan.File, b *column.Batch) (*column.Batch, error) {
	out := *b
	n := len(b.Cols) - 2
	out.Cols = append(b.Cols[:n:n], b.Cols[n+1], b.Cols[n])
	for _, c := range out.Cols[n:] {
		for k := range b.Rows() {
			if c.IsNull(b.Row(k)) {
				return nil, errs.Unsupportedf("table %s: rows of data file %s have no id, although the table has option 'row-tracking.enabled' = 'true'; compact it with Paimon", j.src.Label, f.Path)
			}
		}
	}
	return &out, nil
}
