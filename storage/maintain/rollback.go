package maintain

import (
	"context"
	"errors"
	"slices"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// Rollback is what a rollback did.
type Rollback struct {
	// Previous is the newest snapshot before, Current after.
	Previous, Current int64
}

// RollbackToSnapshot makes a snapshot the newest one: later snapshots, changelogs
// and tags go (section 12.9 of the format). A snapshot that has expired comes back
// from a tag that has its id.
func (t *Table) RollbackToSnapshot(ctx context.Context, id int64) (Rollback, error) {
	return t.rollback(ctx, func() (*snapshot.Snapshot, error) {
		s, err := t.snapshotOrTagged(ctx, id)
		if err == nil && s == nil {
			err = errs.NotFoundf("Rollback snapshot '%d' doesn't exist.", id)
		}
		return s, err
	})
}

// RollbackToTag makes a tag's snapshot the newest one. Where it has expired, its file is written anew.
func (t *Table) RollbackToTag(ctx context.Context, name string) (Rollback, error) {
	return t.rollback(ctx, func() (*snapshot.Snapshot, error) {
		tag, err := t.own.snaps.Tag(ctx, name)
		if errs.Is(err, errs.NotFound) {
			return nil, errs.NotFoundf("Rollback tag '%s' doesn't exist.", name)
		}
		if err != nil {
			return nil, err
		}
		return tag.Snapshot, nil
	})
}

// RollbackToTimestamp makes the newest snapshot committed at or before the time (epoch milliseconds) the newest one.
func (t *Table) RollbackToTimestamp(ctx context.Context, millis int64) (Rollback, error) {
	return t.rollback(ctx, func() (*snapshot.Snapshot, error) {
		return t.lastMatch(ctx, func(s *snapshot.Snapshot) bool { return s.TimeMillis <= millis },
			errs.NotFoundf("Could not find any snapshot committed at or before %d; there is no snapshot earlier than that.", millis))
	})
}

// RollbackToWatermark makes the newest snapshot whose watermark is at most w the newest one.
func (t *Table) RollbackToWatermark(ctx context.Context, w int64) (Rollback, error) {
	return t.rollback(ctx, func() (*snapshot.Snapshot, error) {
		return t.lastMatch(ctx, func(s *snapshot.Snapshot) bool {
			x, ok := s.HasWatermark()
			return ok && x <= w
		}, errs.NotFoundf("Could not find any snapshot whose watermark is at most %d.", w))
	})
}

// lastMatch returns the newest snapshot that matches.
func (t *Table) lastMatch(ctx context.Context, match func(*snapshot.Snapshot) bool, none error) (*snapshot.Snapshot, error) {
	ids, err := t.own.snaps.IDs(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Backward(ids) {
		s, err := t.own.snaps.Get(ctx, id)
		if errs.Is(err, errs.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if match(s) {
			return s, nil
		}
	}
	return nil, none
}

// rollback cuts the branch's history off behind a target.
func (t *Table) rollback(ctx context.Context, find func() (*snapshot.Snapshot, error)) (Rollback, error) {
	unlock, err := t.lockBoth(ctx, t.own.name)
	if err != nil {
		return Rollback{}, err
	}
	defer unlock()
	for try := 1; ; try++ {
		target, err := find()
		if err != nil {
			return Rollback{}, err
		}
		ids, err := t.own.snaps.IDs(ctx)
		if err != nil {
			return Rollback{}, err
		}
		out := Rollback{Previous: target.ID, Current: target.ID}
		if len(ids) > 0 {
			out.Previous = ids[len(ids)-1]
		}
		c, err := t.planCut(ctx, ids, target)
		if err == nil {
			err = c.run(ctx)
		}
		if err == nil {
			return out, nil
		}
		if !errors.Is(err, errFollowed) || try == maxCutTries {
			return Rollback{}, err
		}
	}
}

// maxCutTries is how often a rollback begins, where another process always commits in the midst of it.
const maxCutTries = 10

// errFollowed says that somebody has committed to what a rollback was cutting off, which is undone.
var errFollowed = errors.New("another process commits to the table while it is rolled back")

// cut removes what comes after a snapshot of a branch.
type cut struct {
	t      *Table
	target *snapshot.Snapshot
	// restore says that the target's file has to be written.
	restore bool
	// snaps, tags and logs go.
	snaps []*snapshot.Snapshot
	tags  []*snapshot.Tag
	logs  []*snapshot.Snapshot
	files []fileRef
	// want are the data files of what goes.
	want wanted
	// first is the oldest snapshot that stays.
	first int64
	clean bool
}

// planCut reads what goes and decides which files nothing else needs.
func (t *Table) planCut(ctx context.Context, ids []int64, target *snapshot.Snapshot) (*cut, error) {
	c := &cut{t: t, target: target, first: target.ID}
	_, there := slices.BinarySearch(ids, target.ID)
	c.restore = !there
	if there {
		// The tag may be of a line of history that a rollback cut off.
		s, err := t.own.snaps.Get(ctx, target.ID)
		if err != nil {
			return nil, err
		}
		if s.UUID != target.UUID || s.BaseManifestList != target.BaseManifestList || s.DeltaManifestList != target.DeltaManifestList {
			return nil, errs.Conflictf("table %s: snapshot %d is not the one that the tag was made of", t.t.Label, target.ID)
		}
	}
	var later []int64
	for _, id := range ids {
		if id > target.ID {
			later = append(later, id)
		} else {
			c.first = min(c.first, id)
		}
	}
	var err error
	if c.snaps, err = readAll(ctx, later, t.own.snaps.Get); err != nil {
		return nil, err
	}
	tags, err := t.own.snaps.Tags(ctx)
	if err != nil {
		return nil, err
	}
	for _, x := range tags {
		if x.ID > target.ID {
			c.tags = append(c.tags, x)
		}
	}
	logs, err := t.own.snaps.ChangelogIDs(ctx)
	if err != nil {
		return nil, err
	}
	logs = slices.DeleteFunc(logs, func(id int64) bool { return id <= target.ID })
	if c.logs, err = readAll(ctx, logs, t.own.snaps.Changelog); err != nil {
		return nil, err
	}
	return c, c.planFiles(ctx)
}

// planFiles lists the files of what goes that nothing that stays needs.
func (c *cut) planFiles(ctx context.Context) error {
	t := c.t
	sch, err := t.own.schemas.Latest(ctx)
	if err != nil {
		return err
	}
	c.clean = schema.OptCleanEmptyDirs.Value(sch.Options)
	l := newLayout(t.t.Dir, sch)
	want := wanted{}
	var data, meta []fileRef
	add := func(files []fileRef, created *int64) {
		for _, f := range files {
			if realName(f.name) == f.name {
				data = append(data, f)
				want[f.name] = created
			}
		}
	}
	var bad error
	each := func(x *manifest.Entry) {
		files, err := l.files(x)
		if err != nil {
			bad = errors.Join(bad, err)
		}
		add(files, x.File.CreationMillis)
	}
	gone := slices.Clone(c.snaps)
	for _, x := range c.tags {
		gone = append(gone, x.Snapshot)
	}
	gone = append(gone, c.logs...)
	for i, s := range gone {
		tagged := i >= len(c.snaps) && i < len(c.snaps)+len(c.tags)
		after := c.target.ID
		if i > 0 && i < len(c.snaps) {
			after = c.snaps[i-1].ID
		}
		if tagged || i < len(c.snaps) && s.ID != after+1 {
			// What came before it, and is not there any more, may have added files that only it has.
			err = unreadableIsEmpty(t.eachLive(ctx, t.own, s, nil, each))
		} else {
			err = unreadableIsEmpty(t.eachEntry(ctx, each, s.DeltaManifestList))
		}
		if err == nil && !tagged && s.ChangelogManifestList != "" {
			err = unreadableIsEmpty(t.eachEntry(ctx, each, s.ChangelogManifestList))
		}
		if err == nil {
			err = bad
		}
		if err != nil {
			return err
		}
		m, err := t.metadataOf(ctx, l, s, true)
		if err != nil {
			return err
		}
		meta = append(meta, m.all()...)
	}
	holders, err := t.staying(ctx, c)
	if err != nil {
		return err
	}
	c.want = want
	held, err := t.heldFiles(ctx, want, holders)
	if err != nil {
		return err
	}
	heldMeta, err := t.heldMetadata(ctx, holders)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, x := range []struct {
		files []fileRef
		held  map[string]bool
	}{{data, held}, {meta, heldMeta}} {
		for _, f := range x.files {
			if !x.held[f.name] && !seen[f.path] {
				seen[f.path] = true
				c.files = append(c.files, f)
			}
		}
	}
	return nil
}

// staying lists what stays after a cut: of the own branch up to the target, and all of the others.
func (t *Table) staying(ctx context.Context, c *cut) ([]holder, error) {
	own, err := t.holders(ctx, t.own, 0)
	if err != nil {
		return nil, err
	}
	own = slices.DeleteFunc(own, func(h holder) bool { return h.snap.ID > c.target.ID })
	others, err := t.otherHolders(ctx)
	if err != nil {
		return nil, err
	}
	return append(append(own, others...), holder{b: t.own, snap: c.target, whole: true}), nil
}

// run makes the cut: first what makes the later states visible, then their files. Readers see the old state until the
// last snapshot goes, which is the newest one, and the target from then on. Where
// storage fails before that, the snapshots that went are written again; and so they are, with errFollowed, where another process has
// committed to them meanwhile, since what it made needs their files.
func (c *cut) run(ctx context.Context) (err error) {
	t := c.t
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.restore {
		if err := t.own.snaps.RestoreSnapshot(ctx, c.target); err != nil {
			if ok, e := t.own.snaps.Exists(context.WithoutCancel(ctx), c.target.ID); e != nil || !ok {
				return err
			}
		}
	}
	if len(c.snaps) > 0 {
		// Java trusts the hint unless the snapshot after it exists; without it, listings decide.
		if err := t.own.snaps.DropLatestHint(ctx); err != nil {
			return err
		}
	}
	// From here on the cut is finished or undone, whatever becomes of the statement.
	ctx = context.WithoutCancel(ctx)
	for i, s := range c.snaps {
		if err := t.own.snaps.DeleteSnapshot(ctx, s.ID); err != nil {
			if ok, e := t.own.snaps.Exists(ctx, s.ID); e == nil && !ok {
				continue
			}
			for _, back := range c.snaps[:i] {
				if e := t.own.snaps.RestoreSnapshot(ctx, back); e != nil {
					return errs.Uncertainf("table %s: the rollback to snapshot %d stopped half-way; repeat it: %w", t.t.Label, c.target.ID, errors.Join(err, e))
				}
			}
			t.own.snaps.WriteLatestHint(ctx, c.snaps[len(c.snaps)-1].ID)
			return err
		}
	}
	newest, followed, err := c.followed(ctx)
	switch {
	case followed:
		return errors.Join(errs.Conflictf("table %s: the rollback to snapshot %d is undone: %w; repeat it", t.t.Label, c.target.ID, errFollowed), c.undo(ctx))
	case err != nil:
		t.t.Log.Warn("a rollback leaves the files of what it cut off: whether others need them is not known; remove_orphan_files deletes them later",
			"table", t.t.Label, "snapshot", c.target.ID, "error", err)
		c.files = nil
	}
	t.own.snaps.WriteLatestHint(ctx, newest)
	t.own.snaps.WriteEarliestHint(ctx, c.first)
	return c.finish(ctx)
}

// followed reports whether somebody has committed to what was cut off: then a snapshot that is newer than the target names files
// of it. newest is the newest one there is, in any case.
func (c *cut) followed(ctx context.Context) (newest int64, followed bool, err error) {
	t := c.t
	newest = c.target.ID
	holders, err := t.holders(ctx, t.own, c.target.ID+1)
	if err != nil {
		return newest, false, err
	}
	holders = slices.DeleteFunc(holders, func(h holder) bool { return h.kind != heldBySnapshot })
	if len(holders) == 0 {
		return newest, false, nil
	}
	newest = holders[len(holders)-1].snap.ID
	data, err := t.heldFiles(ctx, c.want, holders)
	if err != nil {
		return newest, false, err
	}
	metadata, err := t.heldMetadata(ctx, holders)
	if err != nil {
		return newest, false, err
	}
	return newest, slices.ContainsFunc(c.files, func(f fileRef) bool { return data[f.name] || metadata[f.name] }), nil
}

// undo writes the snapshots that went again, unless they have expired meanwhile, as the target has then.
func (c *cut) undo(ctx context.Context) error {
	snaps := c.t.own.snaps
	there, err := snaps.Exists(ctx, c.target.ID)
	if err == nil && there {
		for _, s := range slices.Backward(c.snaps) {
			err = errors.Join(err, twice(func() error { return snaps.RestoreSnapshot(ctx, s) }))
		}
	}
	return err
}

// finish removes the tags, the changelogs and the files. The cut has taken place
// already: what fails is logged, and stays as garbage or as a tag of a lost state that can still be read.
func (c *cut) finish(ctx context.Context) error {
	t := c.t
	var failed error
	for _, x := range c.tags {
		failed = errors.Join(failed, twice(func() error { return t.own.snaps.DeleteTag(ctx, x.Name) }))
		_ = t.t.FIO.Delete(ctx, t.tagSuccessPath(x.Name))
	}
	for _, s := range c.logs {
		failed = errors.Join(failed, twice(func() error { return t.own.snaps.DeleteChangelog(ctx, s.ID) }))
	}
	if len(c.logs) > 0 {
		if ids, err := t.own.snaps.ChangelogIDs(ctx); err == nil && len(ids) > 0 {
			t.own.snaps.WriteChangelogHints(ctx, ids[0], ids[len(ids)-1])
		} else if err == nil {
			t.own.snaps.DropChangelogHints(ctx)
		}
	}
	if failed != nil {
		t.t.Log.Warn("a rollback left tags or changelogs of later snapshots; repeat it to remove them", "table", t.t.Label, "snapshot", c.target.ID, "error", failed)
		return nil // their files must stay
	}
	if err := t.deleteFiles(ctx, c.files); err != nil {
		return nil
	}
	if c.clean {
		t.cleanDirectories(ctx, c.files)
	}
	return nil
}

// twice tries again what failed once.
func twice(f func() error) error {
	if f() == nil {
		return nil
	}
	return f()
}
