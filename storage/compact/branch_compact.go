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
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
	"github.com/tributarydb/tributary/storage/write"
)

// maxTries is how often a compaction is made anew after another writer has rewritten the same files, or expired what it reads.
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
	// Exclude keeps the other writers of this process out of the branch until unlock: rows that leave the postpone
	// bucket get numbers, as those that are written. nil = there are no others.
	Exclude func(ctx context.Context) (unlock func(), err error)
	// LookupKeys bounds the new keys of a section that are kept in memory to be looked up in other files, whose other rows are not
	// read then; 0 = DefaultLookupKeys, negative = none are.
	LookupKeys int64
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
// the same files again and again, or expired them (errs.NotFound, errs.Corrupt). errs.Uncertain: the snapshot may have been published.
func Run(ctx context.Context, t Target, r Request) (Result, error) {
	if r.Sort != nil {
		if err := r.Sort.Check(t.Source.Label, t.Source.Schema); err != nil {
			return Result{}, err
		}
	}
	once := runOnce
	if t.Source.Schema.BucketMode() == schema.Postpone && r.Sort == nil {
		if once = postponeOnce; r.Buckets != nil {
			return Result{}, errs.Invalidf("table %s has 'bucket' = '%d': its compaction takes whole partitions, no buckets", t.Source.Label, schema.PostponeBucket)
		}
	}
	for try := 1; ; try++ {
		snap, err := t.Snapshots.Latest(ctx)
		if err != nil || snap == nil {
			return Result{}, err
		}
		res, err := once(ctx, &t, &r, snap)
		again := errs.Is(err, errs.Conflict) || t.Snapshots.Expired(ctx, snap, err)
		if err == nil || !again || try == maxTries || ctx.Err() != nil {
			return res, err
		}
	}
}

// runOnce compacts the state of a snapshot.
func runOnce(ctx context.Context, t *Target, r *Request, snap *snapshot.Snapshot) (out Result, err error) {
	defer errs.Recover(&err, "compacting table "+t.Source.Label)
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
	out, err = publish(ctx, t, r, messages, nil)
	published = err == nil || errs.Is(err, errs.Uncertain)
	return out, err
}

// publish commits the messages of a compaction that depends on what it has read, if read is not nil.
func publish(ctx context.Context, t *Target, r *Request, messages []commit.Message, read *commit.Read) (out Result, err error) {
	for _, m := range messages {
		out.Before, out.After = out.Before+len(m.DeletedFiles), out.After+len(m.NewFiles)
		if m.Compact != nil {
			out.Before, out.After = out.Before+len(m.Compact.Before), out.After+len(m.Compact.After)
		}
	}
	if err := ctx.Err(); err != nil {
		return out, err
	}
	res, err := t.Committer.Commit(ctx, commit.Request{User: r.User, Identifier: r.Identifier, Messages: messages, Read: read})
	if n := len(res.Snapshots); n > 0 {
		out.Snapshot = res.Snapshots[n-1]
	}
	return out, err
}

// compactKeyed rewrites the buckets of a primary-key table.
func compactKeyed(ctx context.Context, t *Target, r *Request, w *write.Writer, snap *snapshot.Snapshot, indexes []manifest.IndexEntry) ([]commit.Message, error) {
	src := t.Source
	opts, err := t.options()
	if err != nil {
		return nil, err
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
			expired, err := opts.expired(ctx, src, runs)
			if err != nil {
				return nil, err
			}
			u = pickFull(runs, top, func(f *scan.File) bool { return opts.rewriteAll || f.Vector != nil || expired[f] })
		} else {
			u = opts.pick.pick(runs, top)
		}
		if u != nil {
			if err := checkSchemas(src, u.files()); err != nil {
				return nil, err
			}
			tasks = append(tasks, newTask(src, opts, w, handles, b, runs, u))
		}
	}
	if err := runTasks(rctx, t, tasks); err != nil {
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

// options reads the table's options for a compaction that begins now.
func (t *Target) options() (*tableOptions, error) {
	now := time.Now
	if t.Writing.Clock != nil {
		now = t.Writing.Clock
	}
	o, err := readOptions(t.Source.Schema, now())
	if err != nil {
		return nil, errs.New(errs.ClassOf(err), "table %s: %w", t.Source.Label, err)
	}
	if o.lookupKeys = t.LookupKeys; o.lookupKeys == 0 {
		o.lookupKeys = DefaultLookupKeys
	}
	return o, nil
}

// runTasks rewrites buckets, several at a time. ctx outlives the files that the tasks read.
func runTasks(ctx context.Context, t *Target, tasks []*task) error {
	label := t.Source.Label
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(max(t.Writing.Parallelism, 1))
	var done atomic.Int64
	var mu sync.Mutex
	for _, x := range tasks {
		g.Go(func() (err error) {
			defer errs.Recover(&err, "compacting table "+label)
			if err := x.run(gctx); err != nil {
				return err
			}
			if n := done.Add(1); t.Progress != nil {
				mu.Lock()
				defer mu.Unlock()
				t.Progress(fmt.Sprintf("compacting %s: %d of %d buckets", label, n, len(tasks)))
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

// checkSchemas refuses files whose columns may be others than those of the compaction, which was opened before the table
// was altered: what it does not know would be lost.
func checkSchemas(src *scan.Source, files []*scan.File) error {
	for _, f := range files {
		if f.Meta.SchemaID > src.Schema.ID {
			return errs.Conflictf("table %s was altered since its compaction began; repeat the statement", src.Label)
		}
	}
	return nil
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
