package compact

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/lsm"
	"github.com/tributarydb/tributary/storage/read"
	"github.com/tributarydb/tributary/storage/relation"
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
// Paimon looks up one key after the other in local copies of the files above. Reading them in key order,
// restricted to the sections' keys, answers the same.

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
	merged := s
	if t.mergesAbove() {
		merged = section(runsOf(append(s.files(), b.files[b.inside:]...)))
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
	r, err := t.merge(ctx, merged, read.MergeOptions{KeepDeletes: true, FoldLone: t.opts.producer != "full-compaction"})
	if err != nil {
		return err
	}
	result = t.cursor(r)
	if r, err = t.newest(ctx, fresh, true); err != nil {
		return err
	}
	news = &cursor{r: r}
	for i := range t.keys {
		news.keys = append(news.keys, i)
	}
	if r, err = t.newest(ctx, b.files, false); err != nil {
		return err
	}
	olds = t.cursor(r)
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
				if e := t.opts.expiry; e != nil && e.Row(olds.b.Cols[e.Column], olds.row()) && !(firstRow && outside) {
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

// newest reads, in key order, the record of the lowest level, or newest file of level 0, that each key has in
// files: only the key columns, or the table's columns, row kind, sequence number,
// position in the file, and the file's place in files.
func (t *task) newest(ctx context.Context, files []*scan.File, keysOnly bool) (relation.Reader, error) {
	want := t.want()
	want.RowID = true
	if keysOnly {
		want = read.Want{Columns: t.keys}
	}
	expiry, times := t.opts.expiry, -1
	switch {
	case expiry == nil:
	case keysOnly:
		times = len(t.keys)
		want.Columns = append(slices.Clone(t.keys), expiry.Column)
	case t.opts.vectors || t.opts.engine == "first-row":
		expiry = nil // traceSection decides: a key has one row above level 0
	default:
		times = expiry.Column
	}
	number := map[*scan.File]int{}
	for i, f := range files {
		number[f] = i
	}
	var runs []lsm.RunReader
	for _, run := range runsOf(files) {
		var parts []relation.Morsel
		var tags []int
		for _, f := range run {
			// Numbers of rows in the file are row ids from 0 on.
			c, meta, zero := *f, *f.Meta, int64(0)
			meta.FirstRowID = &zero
			c.Meta = &meta
			sp := &scan.Split{Source: t.src, Partition: t.b.partition, Bucket: t.b.id, Mode: scan.Changes, Files: []*scan.File{&c}}
			w := want
			if keysOnly {
				w.Kind = true // keeps retracts
			}
			for _, m := range read.Morsels(t.handles, sp, w) {
				parts, tags = append(parts, m), append(tags, number[f])
			}
		}
		runs = append(runs, expiry.Over(&chain{parts: parts, tags: tags, tagged: !keysOnly}, times))
	}
	layout := lsm.Layout{Seq: -1, Kind: -1}
	var fields = t.keyFields
	width := len(t.keys)
	if keysOnly {
		for i := range t.keys {
			layout.Keys = append(layout.Keys, i)
		}
	} else {
		layout.Keys = t.keys
		fields = t.tracedFields
		width = len(fields)
	}
	for i := range width {
		layout.Values, layout.Fields = append(layout.Values, i), append(layout.Fields, i)
	}
	pick, err := lsm.NewEngine(lsm.TableInfo{Fields: fields})
	if err != nil {
		return nil, err
	}
	return lsm.NewMerge(ctx, pick, layout, runs, lsm.MergeOptions{})
}

// chain reads morsels one after the other, as a sorted run.
type chain struct {
	parts  []relation.Morsel
	tags   []int
	tagged bool
	r      relation.Reader
	tag    int
}

// Next returns the next batch, with the tag of its morsel as last column.
func (c *chain) Next(ctx context.Context) (*column.Batch, error) {
	for {
		if c.r == nil {
			if len(c.parts) == 0 {
				return nil, io.EOF
			}
			r, err := c.parts[0].Open(ctx)
			if err != nil {
				return nil, err
			}
			c.r, c.tag = r, c.tags[0]
			c.parts, c.tags = c.parts[1:], c.tags[1:]
		}
		b, err := c.r.Next(ctx)
		if err == nil && c.tagged {
			out := *b
			out.Cols = append(slices.Clone(b.Cols), column.NewConst(column.FromScalar(column.IntScalar(column.KindInt32, int64(c.tag))), b.N))
			return &out, nil
		}
		if !errors.Is(err, io.EOF) {
			return b, err
		}
		r := c.r
		c.r = nil
		if err := r.Close(); err != nil {
			return nil, err
		}
	}
}

func (c *chain) Close() error {
	c.parts = nil
	if c.r == nil {
		return nil
	}
	r := c.r
	c.r = nil
	return r.Close()
}

// cursor is a place in a stream of rows in key order.
type cursor struct {
	r relation.Reader
	b *column.Batch
	// at is the number of the present row among those of b that count.
	at   int
	done bool
	// keys are the key columns, tags where the position and the number of the file are.
	keys []int
	tags int
}

func (t *task) cursor(r relation.Reader) *cursor {
	return &cursor{r: r, keys: t.keys, tags: len(t.src.Schema.Fields) + 2}
}

func (c *cursor) row() int { return c.b.Row(c.at) }

func (c *cursor) position() int64 { return c.b.Cols[c.tags].Int(c.row()) }

func (c *cursor) file() int { return int(c.b.Cols[c.tags+1].Int(c.row())) }

// load reads the next batch where the present one is used up; done is set at the end.
func (c *cursor) load(ctx context.Context) error {
	for !c.done && (c.b == nil || c.at >= c.b.Rows()) {
		b, err := c.r.Next(ctx)
		if errors.Is(err, io.EOF) {
			c.done = true
			return nil
		}
		if err != nil {
			return err
		}
		c.b, c.at = b, 0
	}
	return nil
}

// seek moves to the key of o's present row, and reports whether there is such a row.
func (c *cursor) seek(ctx context.Context, o *cursor) (bool, error) {
	for {
		if err := c.load(ctx); err != nil || c.done {
			return false, err
		}
		cmp := 0
		for i, k := range c.keys {
			if cmp = column.CompareRows(c.b.Cols[k], c.row(), o.b.Cols[o.keys[i]], o.row()); cmp != 0 {
				break
			}
		}
		if cmp >= 0 {
			return cmp == 0, nil
		}
		c.at++
	}
}
