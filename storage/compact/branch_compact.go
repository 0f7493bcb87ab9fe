package compact

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/commit"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/read"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/snapshot"
	"github.com/tributarydb/tributary/storage/write"
)

// maxTries is how often a compaction is made anew after another writer has rewritten the same files.
const maxTries = 5

// Target is the branch that is compacted.
type Target struct {
	// Source has the branch's newest schema with the options in force.
	Source    *scan.Source
	Snapshots *snapshot.Manager
	Committer *commit.Committer
	Readers   *read.Env
	// Writing is the branch as writers see it.
	Writing write.Target
	// Progress takes a text that says how far a compaction is; nil = nobody listens.
	Progress func(text string)
}

// Request says what to compact.
type Request struct {
	// Full rewrites all runs of a bucket into its top level; else the strategy decides.
	Full bool
	// Partitions selects partitions by their values; nil = all.
	Partitions func(values []column.Scalar) bool
	// Buckets selects buckets; nil = all.
	Buckets func(partition []column.Scalar, bucket int) bool
	// Sort sorts all rows of the selected partitions of an append table, whatever Full says; nil = no sorting.
	Sort *Sort
	// User and Identifier mark the commit; "" = a new user.
	User       string
	Identifier int64
}

// Result is what a compaction did.
type Result struct {
	// Snapshot is the new snapshot; nil where there was nothing to do.
	Snapshot *snapshot.Snapshot
	// Before and After are the numbers of files that were replaced, and of those that replace them.
	Before, After int
}

// Run compacts a branch and commits the result as one snapshot. errs.Conflict: other writers rewrote
// the same files again and again. errs.Uncertain: the snapshot may have been published.
func Run(ctx context.Context, t Target, r Request) (Result, error) {
	if r.Sort != nil {
		if err := r.Sort.Check(t.Source.Label, t.Source.Schema); err != nil {
			return Result{}, err
		}
	}
	for try := 1; ; try++ {
		res, err := runOnce(ctx, &t, &r)
		if err == nil || !errs.Is(err, errs.Conflict) || try == maxTries || ctx.Err() != nil {
			return res, err
		}
	}
}

func runOnce(ctx context.Context, t *Target, r *Request) (out Result, err error) {
	defer errs.Recover(&err, "compacting table "+t.Source.Label)
	snap, err := t.Snapshots.Latest(ctx)
	if err != nil || snap == nil {
		return out, err
	}
	indexes, err := readIndexes(ctx, t.Source, snap)
	if err != nil {
		return out, err
	}
	w, err := write.New(t.Writing, write.Options{Rewrite: true})
	if err != nil {
		return out, err
	}
	published := false
	defer func() {
		if !published {
			w.Abort(ctx)
		}
	}()
	rewrite := compactKeyed
	switch {
	case r.Sort != nil:
		rewrite = sortAppend
	case !t.Source.Schema.HasPrimaryKey():
		rewrite = compactAppend
	}
	messages, err := rewrite(ctx, t, r, w, snap, indexes)
	if err != nil || len(messages) == 0 {
		return out, err
	}
	for _, m := range messages {
		out.Before, out.After = out.Before+len(m.DeletedFiles), out.After+len(m.NewFiles)
		if m.Compact != nil {
			out.Before, out.After = out.Before+len(m.Compact.Before), out.After+len(m.Compact.After)
		}
	}
	res, err := t.Committer.Commit(ctx, commit.Request{User: r.User, Identifier: r.Identifier, Messages: messages})
	published = err == nil || errs.Is(err, errs.Uncertain)
	if n := len(res.Snapshots); n > 0 {
		out.Snapshot = res.Snapshots[n-1]
	}
	return out, err
}

// compactKeyed rewrites the buckets of a primary-key table.
func compactKeyed(ctx context.Context, t *Target, r *Request, w *write.Writer, snap *snapshot.Snapshot, indexes []manifest.IndexEntry) ([]commit.Message, error) {
	src := t.Source
	now := time.Now
	if t.Writing.Clock != nil {
		now = t.Writing.Clock
	}
	opts, err := readOptions(src.Schema, now())
	if err != nil {
		return nil, errs.New(errs.ClassOf(err), "table %s: %w", src.Label, err)
	}
	files, _, err := src.LiveFiles(ctx, snap, scan.Request{Partitions: r.Partitions})
	if err != nil {
		return nil, err
	}
	var tasks []*task
	rctx, cancel := context.WithCancel(ctx) // closes the files
	defer cancel()
	handles := t.Readers.NewHandles(rctx)
	all := buckets(files)
	if err := setVectors(all, indexes, src.Schema.PartitionTypes()); err != nil {
		return nil, err
	}
	for _, b := range all {
		if b.id < 0 || r.Buckets != nil && !r.Buckets(b.partition, b.id) {
			continue
		}
		runs, err := b.runs(src.Label)
		if err != nil {
			return nil, err
		}
		top := topLevel(opts.top, runs)
		var u *unit
		if r.Full {
			u = pickFull(runs, top, func(f *scan.File) bool { return opts.rewriteAll || f.Vector != nil })
		} else {
			u = opts.pick.pick(runs, top)
		}
		if u != nil {
			tasks = append(tasks, newTask(src, opts, w, handles, b, runs, u))
		}
	}
	if len(tasks) == 0 {
		return nil, nil
	}
	g, gctx := errgroup.WithContext(rctx)
	g.SetLimit(max(t.Writing.Parallelism, 1))
	var done atomic.Int64
	var mu sync.Mutex
	for _, x := range tasks {
		g.Go(func() (err error) {
			defer errs.Recover(&err, "compacting table "+src.Label)
			if err := x.run(gctx); err != nil {
				return err
			}
			if n := done.Add(1); t.Progress != nil {
				mu.Lock()
				defer mu.Unlock()
				t.Progress(fmt.Sprintf("compacting %s: %d of %d buckets", src.Label, n, len(tasks)))
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
	var out []commit.Message
	for _, x := range tasks {
		m := commit.Message{Partition: x.b.framed, Bucket: x.b.id, TotalBuckets: x.b.total, Compact: &x.out}
		if !m.Empty() {
			out = append(out, m)
		}
	}
	return out, nil
}

// readIndexes reads the index entries of a snapshot. Indexes that a compaction would have to keep up to date are errs.Unsupported.
func readIndexes(ctx context.Context, src *scan.Source, snap *snapshot.Snapshot) ([]manifest.IndexEntry, error) {
	entries, err := src.Store.ReadIndexManifest(ctx, snap.IndexManifest)
	if err != nil {
		return nil, err
	}
	for i := range entries {
		e := &entries[i]
		if e.Type != manifest.IndexHash && e.Type != manifest.IndexDeletionVectors || e.Global != nil {
			return nil, errs.Unsupportedf("table %s has an index of kind '%s' (file %s), which is not kept up to date here; drop the index, or compact the table with Paimon", src.Label, e.Type, e.Name)
		}
	}
	return entries, nil
}
