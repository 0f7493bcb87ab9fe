package compact

import (
	"context"
	"fmt"
	"slices"

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

// A compaction of a postpone table moves the rows of the postpone bucket into real ones (CompactAction and
// PostponeBucketCompactOperator; section 6.6 of the format): they are written as if they came now, in the order of
// their arrival, after the rows that the buckets have. Then these buckets, and all others with files of level 0, are
// compacted as the strategy has it. Everything becomes visible with one COMPACT snapshot.

// postponeOnce compacts a postpone table.
func postponeOnce(ctx context.Context, t *Target, r *Request, snap *snapshot.Snapshot) (out Result, err error) {
	defer errs.Recover(&err, "compacting table "+t.Source.Label)
	files, _, err := t.Source.LiveFiles(ctx, snap, scan.Request{Partitions: r.Partitions})
	if err != nil {
		return out, err
	}
	w, err := write.New(t.Writing, write.Options{Replay: true})
	if err != nil {
		return out, err
	}
	published := false
	defer func() {
		if published {
			w.Release()
		} else {
			w.Abort(ctx)
		}
	}()
	waiting := slices.DeleteFunc(slices.Clone(files), func(f *scan.File) bool { return f.Bucket != schema.PostponeBucket })
	if err := replay(ctx, t, w, waiting); err != nil {
		return out, err
	}
	if t.Exclude != nil {
		unlock, err := t.Exclude(ctx)
		if err != nil {
			return out, err
		}
		defer unlock()
	}
	// The numbers of the rows follow those that are there now.
	if snap, err = t.Snapshots.Latest(ctx); err != nil || snap == nil {
		return out, err
	}
	messages, err := settle(ctx, t, r, w, snap, waiting)
	if err != nil || len(messages) == 0 {
		return out, err
	}
	follows, err := commit.SameBuckets(t.Source.Schema, snap, messages)
	if err != nil {
		return out, err
	}
	follows.Postponed = true
	out, err = publish(ctx, t, r, messages, follows)
	published = err == nil || errs.Is(err, errs.Uncertain)
	return out, err
}

// replay writes the rows of postponed files in the order of their arrival.
func replay(ctx context.Context, t *Target, w *write.Writer, waiting []*scan.File) error {
	scan.SortArrivals(waiting)
	rctx, cancel := context.WithCancel(ctx) // closes the files
	defer cancel()
	handles := t.Readers.NewHandles(rctx)
	want := read.Want{Kind: true}
	for i := range t.Source.Schema.Fields {
		want.Columns = append(want.Columns, i)
	}
	n := len(want.Columns)
	for i, f := range waiting {
		sp := &scan.Split{Source: t.Source, Partition: f.Partition, Bucket: f.Bucket, Mode: scan.Changes, Files: []*scan.File{f}}
		for _, m := range read.Morsels(handles, sp, want) {
			rd, err := m.Open(ctx)
			if err != nil {
				return err
			}
			err = each(ctx, rd, func(b *column.Batch) error {
				return w.Write(ctx, write.Rows{Cols: b.Cols[:n:n], N: b.N, Sel: b.Sel, Kinds: column.Flatten(b.Cols[n]).I32[:b.N]})
			})
			if err != nil {
				return err
			}
		}
		if t.Progress != nil {
			t.Progress(fmt.Sprintf("compacting %s: %d of %d postponed files", t.Source.Label, i+1, len(waiting)))
		}
	}
	return nil
}

// settle finishes the files of the rows that have left the postpone bucket, on top of a snapshot, and compacts the
// buckets that have files of level 0.
func settle(ctx context.Context, t *Target, r *Request, w *write.Writer, snap *snapshot.Snapshot, waiting []*scan.File) ([]commit.Message, error) {
	src := t.Source
	opts, err := t.options()
	if err != nil {
		return nil, err
	}
	indexes, err := readIndexes(ctx, src, snap)
	if err != nil {
		return nil, err
	}
	files, _, err := src.LiveFiles(ctx, snap, scan.Request{Partitions: r.Partitions})
	if err != nil {
		return nil, err
	}
	written, err := w.Prepare(ctx, write.State{Source: src, Snapshot: snap})
	if err != nil {
		return nil, err
	}
	// fresh are the new files by name.
	fresh := map[string]*scan.File{}
	for i := range written {
		m := &written[i]
		for _, f := range m.NewFiles {
			x, err := src.FileOf(&manifest.Entry{Kind: manifest.Add, Partition: m.Partition, Bucket: m.Bucket, TotalBuckets: m.TotalBuckets, File: f})
			if err != nil {
				return nil, err
			}
			fresh[f.Name] = x
			files = append(files, x)
		}
	}
	all := buckets(files)
	if err := setVectors(all, indexes, src.Schema.PartitionTypes()); err != nil {
		return nil, err
	}
	rctx, cancel := context.WithCancel(ctx) // closes the files
	defer cancel()
	handles := t.Readers.NewHandles(rctx)
	var tasks []*task
	compacted := map[*bucket]*task{}
	for _, b := range all {
		if b.id < 0 || !slices.ContainsFunc(b.files, func(f *scan.File) bool { return f.Meta.Level == 0 }) {
			continue
		}
		runs, err := b.runs(src.Label)
		if err != nil {
			return nil, err
		}
		if u := opts.pick.pick(runs, topLevel(opts.top, runs)); u != nil {
			x := newTask(src, opts, w, handles, b, runs, u)
			compacted[b] = x
			tasks = append(tasks, x)
		}
	}
	if err := runTasks(rctx, t, tasks); err != nil {
		return nil, err
	}
	changelog := map[string][]*manifest.DataFile{}
	for i := range written {
		if m := &written[i]; len(m.NewFiles) > 0 {
			changelog[m.NewFiles[0].Name] = m.ChangelogFiles
		}
	}
	out := leave(waiting)
	for _, b := range all {
		m := commit.Message{Partition: b.framed, Bucket: b.id, TotalBuckets: b.total, Compact: joined(ctx, t, b, fresh, compacted[b])}
		for _, f := range b.files {
			m.Compact.Changelog = append(m.Compact.Changelog, changelog[f.Meta.Name]...)
		}
		if b.id >= 0 && !m.Empty() {
			out = append(out, m)
		}
	}
	return out, nil
}

// leave are messages by which files leave the postpone bucket.
func leave(waiting []*scan.File) []commit.Message {
	var out []commit.Message
	for _, b := range buckets(waiting) {
		m := commit.Message{Partition: b.framed, Bucket: b.id, TotalBuckets: b.total, Compact: &commit.Compaction{}}
		for _, f := range b.files {
			m.Compact.Before = append(m.Compact.Before, f.Meta)
		}
		out = append(out, m)
	}
	return out
}

// joined is what becomes of a bucket that got new files and was compacted, or one of them (BucketFiles): a new file that
// the compaction has rewritten was never there, and is removed.
func joined(ctx context.Context, t *Target, b *bucket, fresh map[string]*scan.File, x *task) *commit.Compaction {
	out := &commit.Compaction{}
	gone := map[string]bool{}
	if x != nil {
		*out = x.out
		out.Before = nil
		for _, f := range x.out.Before {
			if fresh[f.Name] == nil {
				out.Before = append(out.Before, f)
				continue
			}
			gone[f.Name] = true
		}
	}
	moved := map[string]bool{}
	for _, f := range out.After {
		moved[f.Name] = true
	}
	var kept []*manifest.DataFile
	for _, f := range b.files {
		switch name := f.Meta.Name; {
		case fresh[name] == nil:
		case !gone[name]:
			kept = append(kept, f.Meta)
		case !moved[name]:
			dir := f.Path[:len(f.Path)-len(name)]
			for _, n := range append([]string{name}, f.Meta.ExtraFiles...) {
				_ = t.Writing.FIO.Delete(ctx, dir+n) // what stays is left to the cleaning of orphan files
			}
		}
	}
	out.After = append(kept, out.After...)
	return out
}
