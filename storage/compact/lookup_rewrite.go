package compact

import (
	"context"
	"errors"
	"slices"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/lsm"
	"github.com/tributarydb/tributary/storage/read"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/write"
)

// Compactions of some tables have to know what a key's row was before: for changelogs, for
// deletion vectors, and for engines that must not count a row twice (ChangelogMergeTreeRewriter
// and the wrappers of its merge functions). Three streams in key order are read side by side:
//
//	result  what the merge makes of the records of each key
//	fresh   the keys that have a record among the new ones: those of level 0, or with
//	        changelog-producer full-compaction those below the top level
//	before  the row that each key had before the new records came, from the unit's other files
//	        or, with lookup, from the levels above the unit
//
// Paimon looks up one key after the other in local copies of the files above. Here the files above are read in key
// order, and of them the fresh keys' rows only: where keys may be is told by the files' bounds and the statistics of
// row groups, stripes and pages, so that few keys cost few pages (lookup_read.go). Rows above that have none of the fresh keys take no part in anything.

// traced says whether rewriting or moving up files needs the row before.
func (t *task) traced(files []*scan.File) bool {
	if t.u.level == 0 {
		return false
	}
	if t.opts.producer == "full-compaction" {
		return t.u.level == t.top && slices.ContainsFunc(files, func(f *scan.File) bool { return f.Meta.Level < t.top })
	}
	return t.opts.lookup && slices.ContainsFunc(files, func(f *scan.File) bool { return f.Meta.Level == 0 })
}

// upgradeTraced is upgrade of a file whose rows are to be compared with those before: it
// stays as it is where its rows are right on the new level (the UpgradeStrategy of Paimon's rewriters).
func (t *task) upgradeTraced(ctx context.Context, f *scan.File, deletes bool) error {
	stays := true
	if t.opts.lookup && t.opts.producer != "full-compaction" {
		plain := t.opts.engine == "deduplicate" && !t.opts.sequence
		stays = (t.u.level == t.top || plain) && !(t.opts.vectors && deletes)
	}
	if err := t.trace(ctx, []section{{{f}}}, !stays); err != nil {
		return err
	}
	if stays {
		return t.move(f)
	}
	return nil
}

// before is where the rows before come from, and how rows of it are told apart.
type before struct {
	files []*scan.File
	// inside has the first files of the unit, the others are above it.
	inside int
}

// trace compares the rows of sections with those before, writes changelog files, notes the rows above that are
// gone now, and, with rewrite, writes the result into new files of the unit's level.
func (t *task) trace(ctx context.Context, sections []section, rewrite bool) error {
	var out, changes *write.LevelFiles
	var err error
	if rewrite {
		if out, err = t.w.NewLevelFiles(t.place()); err != nil {
			return err
		}
	}
	var log *changelog
	if p := t.opts.producer; p == "lookup" || p == "full-compaction" {
		if changes, err = t.w.NewChangelogFiles(t.place()); err != nil {
			return err
		}
		log = newChangelog(t, changes)
	}
	err = func() error {
		for _, s := range sections {
			if err := t.traceSection(ctx, s, out, log); err != nil {
				return err
			}
		}
		if log != nil {
			return log.flush(ctx)
		}
		return nil
	}()
	if err != nil {
		if out != nil {
			out.Abort()
		}
		if changes != nil {
			changes.Abort()
		}
		return err
	}
	if changes != nil {
		files, err := changes.Finish(ctx)
		if err != nil {
			return err
		}
		t.out.Changelog = append(t.out.Changelog, files...)
	}
	if out == nil {
		return nil
	}
	files, err := out.Finish(ctx)
	if err != nil {
		return err
	}
	t.record(sections, files)
	return nil
}

// split says which files of a section are new, and which hold the rows before.
func (t *task) split(s section) (fresh []*scan.File, b before) {
	lookup := t.opts.producer != "full-compaction"
	for _, f := range s.files() {
		if lookup && f.Meta.Level == 0 || !lookup && f.Meta.Level < t.top {
			fresh = append(fresh, f)
		} else {
			b.files = append(b.files, f)
		}
	}
	b.inside = len(b.files)
	if lookup {
		b.files = append(b.files, t.above(fresh)...)
	}
	return fresh, b
}

// above lists the files above the unit whose keys may be among those of files.
func (t *task) above(files []*scan.File) []*scan.File {
	if len(files) == 0 {
		return nil
	}
	lo, hi := files[0].MinKey, files[0].MaxKey
	for _, f := range files[1:] {
		if lsm.CompareKeys(f.MinKey, lo) < 0 {
			lo = f.MinKey
		}
		if lsm.CompareKeys(f.MaxKey, hi) > 0 {
			hi = f.MaxKey
		}
	}
	var out []*scan.File
	for _, r := range t.rest {
		for _, f := range r.files {
			if lsm.CompareKeys(f.MaxKey, lo) >= 0 && lsm.CompareKeys(f.MinKey, hi) <= 0 {
				out = append(out, f)
			}
		}
	}
	return out
}

// traceSection is trace of one section.
func (t *task) traceSection(ctx context.Context, s section, out *write.LevelFiles, log *changelog) (err error) {
	fresh, b := t.split(s)
	keys, err := t.freshKeys(ctx, fresh, b)
	if err != nil {
		return err
	}
	b = b.holding(keys)
	merged := s
	o := read.MergeOptions{KeepDeletes: true, FoldLone: t.opts.producer != "full-compaction"}
	if t.mergesAbove() {
		above := b.files[b.inside:]
		merged = section(runsOf(append(s.files(), above...)))
		o.Keys = func(f *scan.File) *read.KeySet {
			if slices.Contains(above, f) {
				return keys.set()
			}
			return nil
		}
	}
	firstRow := t.opts.engine == "first-row"
	var result, news, olds *cursor
	defer func() {
		for _, c := range []*cursor{result, news, olds} {
			if c != nil {
				err = errors.Join(err, c.r.Close())
			}
		}
	}()
	r, err := t.merge(ctx, merged, o)
	if err != nil {
		return err
	}
	result = &cursor{r: r, keys: t.keys}
	if keys != nil {
		news = keys.cursor()
	} else if news, err = t.newest(ctx, fresh, columnsOf{}, nil); err != nil {
		return err
	}
	if olds, err = t.newest(ctx, b.files, columnsOf{places: true, all: log != nil}, keys.set()); err != nil {
		return err
	}
	fields := len(t.src.Schema.Fields)
	var keep []uint16
	for {
		if err := result.load(ctx); err != nil || result.done {
			return err
		}
		kinds := result.b.Cols[fields]
		keep = keep[:0]
		for ; result.at < result.b.Rows(); result.at++ {
			row := result.row()
			isNew, err := news.seek(ctx, result)
			if err != nil {
				return err
			}
			had, err := olds.seek(ctx, result)
			if err != nil {
				return err
			}
			outside := false
			if had {
				outside = olds.file() >= b.inside
				// A row that has expired was not there for who looks the key up, but is: its position is marked, and
				// first-row asks nothing but whether the key is above.
				if e := t.opts.expiry; e != nil && e.Row(olds.b.Cols[olds.expiry], olds.row()) && !(firstRow && outside) {
					if isNew && outside && t.opts.vectors {
						t.mark(b.files[olds.file()], olds.position())
					}
					had, outside = false, false
				}
			}
			switch {
			case !isNew:
				if outside {
					continue // not a key of the unit
				}
			case firstRow:
				if outside {
					continue // the key has its first row already
				}
				if log != nil && !had {
					err = log.add(ctx, nil, result)
				}
			default:
				if outside && t.opts.vectors {
					t.mark(b.files[olds.file()], olds.position())
				}
				if log != nil {
					old := olds
					if !had {
						old = nil
					}
					err = log.add(ctx, old, result)
				}
			}
			if err != nil {
				return err
			}
			if !t.dropDeletes || !lsm.IsRetract(int32(kinds.Int(row))) {
				keep = append(keep, uint16(row))
			}
		}
		if out != nil && len(keep) > 0 {
			batch := column.Batch{N: result.b.N, Cols: result.b.Cols, Sel: keep}
			if len(keep) == batch.N {
				batch.Sel = nil
			}
			if err := out.WriteKeyed(ctx, &batch); err != nil {
				return err
			}
		}
		result.b = nil
	}
}

// mergesAbove reports whether the rows above the unit take part in the merge of new
// ones: not where the newest record always wins, and not for first-row, which only asks whether there is one.
func (t *task) mergesAbove() bool {
	switch {
	case t.opts.producer == "full-compaction", t.opts.engine == "first-row":
		return false
	}
	return t.opts.engine != "deduplicate" || t.opts.sequence
}

// runsOf puts files in sorted runs, the oldest first: the levels from the top, then each file of level 0.
func runsOf(files []*scan.File) []lsm.SortedRun[*scan.File] {
	levels := map[int]lsm.SortedRun[*scan.File]{}
	var order []int
	var zero []*scan.File
	for _, f := range files {
		l := f.Meta.Level
		if l == 0 {
			zero = append(zero, f)
			continue
		}
		if levels[l] == nil {
			order = append(order, l)
		}
		levels[l] = append(levels[l], f)
	}
	slices.Sort(order)
	slices.Reverse(order)
	var out []lsm.SortedRun[*scan.File]
	for _, l := range order {
		slices.SortFunc(levels[l], func(a, b *scan.File) int { return lsm.CompareKeys(a.MinKey, b.MinKey) })
		out = append(out, levels[l])
	}
	slices.SortStableFunc(zero, func(a, b *scan.File) int { return newestFirst(b, a) })
	for _, f := range zero {
		out = append(out, lsm.SortedRun[*scan.File]{f})
	}
	return out
}
