package compact

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/commit"
	"github.com/tributarydb/tributary/storage/lsm"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/read"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/write"
)

// section is a stretch of keys in sorted runs, the oldest first.
type section []lsm.SortedRun[*scan.File]

func (s section) files() []*scan.File {
	var out []*scan.File
	for _, r := range s {
		out = append(out, r...)
	}
	return out
}

// task rewrites one unit of a bucket of a primary-key table (MergeTreeCompactTask).
type task struct {
	src     *scan.Source
	opts    *tableOptions
	w       *write.Writer
	handles *read.Handles
	b       *bucket
	u       *unit
	top     int
	// rest are the runs above the unit.
	rest []run
	// dropDeletes leaves retracts out of the result: nothing older is below it.
	dropDeletes bool
	// keys are the columns of the trimmed primary key.
	keys  []int
	marks map[*scan.File][]int64
	out   commit.Compaction
}

// newTask prepares the rewriting of a unit of the bucket's runs.
func newTask(src *scan.Source, o *tableOptions, w *write.Writer, h *read.Handles, b *bucket, runs []run, u *unit) *task {
	highest := 0
	for _, r := range runs {
		highest = max(highest, r.level)
	}
	t := &task{src: src, opts: o, w: w, handles: h, b: b, u: u, top: topLevel(o.top, runs),
		dropDeletes: !o.keepDeletes && u.level != 0 && (u.level >= highest || o.vectors)}
	if !u.each {
		t.rest = runs[len(u.runs):]
	}
	for _, f := range src.Schema.TrimmedKeyFields() {
		t.keys = append(t.keys, src.Schema.Index(f.Name))
	}
	return t
}

// run writes the new files. What it has written is the Writer's to remove.
func (t *task) run(ctx context.Context) error {
	if err := t.rewriteUnit(ctx); err != nil {
		return err
	}
	return t.finishVectors(ctx)
}

func (t *task) rewriteUnit(ctx context.Context) error {
	if t.u.each {
		for _, f := range t.u.files() {
			if err := t.rewrite(ctx, []section{{{f}}}); err != nil {
				return err
			}
		}
		return nil
	}
	// Oldest first, as merges take them.
	files := t.u.files()
	slices.Reverse(files)
	slices.SortStableFunc(files, func(a, b *scan.File) int { return b.Meta.Level - a.Meta.Level })
	var small []section
	for _, s := range lsm.Sections(files, func(f *scan.File) (lo, hi []column.Scalar) { return f.MinKey, f.MaxKey }) {
		if len(s) > 1 {
			small = append(small, s)
			continue
		}
		// Nothing overlaps: big files only change their level, small ones join their neighbours.
		for _, f := range s[0] {
			if f.Meta.Size < t.opts.small {
				small = append(small, section{{f}})
				continue
			}
			if err := t.flush(ctx, small); err != nil {
				return err
			}
			small = nil
			if err := t.upgrade(ctx, f); err != nil {
				return err
			}
		}
	}
	return t.flush(ctx, small)
}

// flush rewrites neighbouring sections; a single file is moved up where that can be.
func (t *task) flush(ctx context.Context, sections []section) error {
	if len(sections) == 0 {
		return nil
	}
	if len(sections) == 1 && len(sections[0]) == 1 {
		for _, f := range sections[0][0] {
			if err := t.upgrade(ctx, f); err != nil {
				return err
			}
		}
		return nil
	}
	return t.rewrite(ctx, sections)
}

// upgrade changes a file's level, or rewrites it where its rows would not be right there.
func (t *task) upgrade(ctx context.Context, f *scan.File) error {
	alone := []section{{{f}}}
	expires, err := t.opts.expires(ctx, t.src, f)
	if err != nil {
		return err
	}
	if f.Meta.Level == t.u.level {
		if t.opts.rewriteAll || f.Vector != nil || expires {
			return t.rewrite(ctx, alone)
		}
		return nil
	}
	// Only compactions that look rows up mind that the level has files of another format.
	formats := t.opts.lookup && t.opts.producer != "full-compaction" && f.Meta.Level == 0 && f.Format != t.w.LevelFormat(t.u.level)
	if t.opts.rewriteAll || f.Vector != nil || expires || formats {
		return t.rewrite(ctx, alone)
	}
	// Deletes do not belong to the top level, nor where vectors say what is deleted. Their recorded number is not to
	// be trusted (section 22.4).
	deletes := false
	if t.u.level == t.top || t.opts.vectors && f.Meta.Level == 0 {
		if deletes = f.Deletes() != 0; !deletes {
			if deletes, err = t.hasRetracts(ctx, f); err != nil {
				return err
			}
		}
	}
	switch {
	case deletes && t.u.level == t.top:
		return t.rewrite(ctx, alone)
	case t.traced([]*scan.File{f}):
		return t.upgradeTraced(ctx, f, deletes)
	}
	return t.move(f)
}

// move records that a file changes its level.
func (t *task) move(f *scan.File) error {
	m := *f.Meta
	m.Level = t.u.level
	t.out.Before, t.out.After = append(t.out.Before, f.Meta), append(t.out.After, &m)
	return nil
}

// hasRetracts looks at the row kinds of a file.
func (t *task) hasRetracts(ctx context.Context, f *scan.File) (bool, error) {
	sp := &scan.Split{Source: t.src, Partition: t.b.partition, Bucket: t.b.id, Mode: scan.Changes, Files: []*scan.File{f}}
	found := false
	for _, m := range read.Morsels(t.handles, sp, read.Want{Kind: true}) {
		r, err := m.Open(ctx)
		if err != nil {
			return false, err
		}
		err = each(ctx, r, func(b *column.Batch) error {
			kinds := b.Cols[0]
			for k := range b.Rows() {
				if lsm.IsRetract(int32(kinds.Int(b.Row(k)))) {
					found = true
					return io.EOF
				}
			}
			return nil
		})
		if err != nil {
			return false, err
		}
	}
	return found, nil
}

// rewrite merges sections into new files of the unit's level.
func (t *task) rewrite(ctx context.Context, sections []section) error {
	var all []*scan.File
	for _, s := range sections {
		all = append(all, s.files()...)
	}
	if t.traced(all) {
		return t.trace(ctx, sections, true)
	}
	files, err := t.w.NewLevelFiles(t.place())
	if err != nil {
		return err
	}
	for _, s := range sections {
		r, err := t.merge(ctx, s, read.MergeOptions{KeepDeletes: !t.dropDeletes})
		if err == nil {
			err = each(ctx, r, func(b *column.Batch) error { return files.WriteKeyed(ctx, b) })
		}
		if err != nil {
			files.Abort()
			return err
		}
	}
	after, err := files.Finish(ctx)
	if err != nil {
		return err
	}
	t.record(sections, after)
	return nil
}

// record takes the files of sections as replaced by others.
func (t *task) record(sections []section, after []*manifest.DataFile) {
	for _, s := range sections {
		for _, f := range s.files() {
			t.out.Before = append(t.out.Before, f.Meta)
		}
	}
	t.out.After = append(t.out.After, after...)
}

func (t *task) place() write.Place {
	return write.Place{Partition: t.b.partition, Bucket: t.b.id, Level: t.u.level}
}

// merge reads the rows of a section in key order: all columns, row kind and sequence number.
func (t *task) merge(ctx context.Context, s section, o read.MergeOptions) (relation.Reader, error) {
	sp := &scan.Split{Source: t.src, Partition: t.b.partition, Bucket: t.b.id, Mode: scan.Merge, Files: s.files(), Runs: s}
	o.Expiry = t.opts.expiry
	return t.handles.OpenMerge(ctx, sp, t.want(), o)
}

func (t *task) want() read.Want {
	w := read.Want{Kind: true, Sequence: true}
	for i := range t.src.Schema.Fields {
		w.Columns = append(w.Columns, i)
	}
	return w
}

// each reads to the end and closes the reader. io.EOF from fn ends the reading.
func each(ctx context.Context, r relation.Reader, fn func(*column.Batch) error) error {
	for {
		b, err := r.Next(ctx)
		if err == nil {
			err = fn(b)
		}
		if errors.Is(err, io.EOF) {
			return r.Close()
		}
		if err != nil {
			return errors.Join(err, r.Close())
		}
	}
}
