package maintain

import (
	"context"
	"path"
	"slices"
	"time"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// Purge empties the table for good (FileStoreTableUtils.purgeFiles): branches, tags and consumers go, then all
// rows, and all history but the snapshot that says so. Paimon then cleans all files that nothing names, those of commits
// under way included; here the files that something named before go, and those of others wait for RemoveOrphanFiles.
func (t *Table) Purge(ctx context.Context) error {
	if t.own.name != snapshot.MainBranch {
		return errs.Invalidf("table %s: a branch cannot be purged, only the table as a whole", t.t.Label)
	}
	before, err := t.everyName(ctx)
	if err != nil {
		return err
	}
	list, err := snapshot.Branches(ctx, t.t.FIO, t.t.Dir)
	if err != nil {
		return err
	}
	// Those that an option names come first: the purge fails before anything is gone.
	s, err := t.schema(ctx)
	if err != nil {
		return err
	}
	named := map[string]bool{}
	for _, o := range slices.Concat(branchOptions, chainOptions) {
		named[o.Value(s.Options)] = true
	}
	slices.SortStableFunc(list, func(a, b snapshot.Branch) int {
		switch {
		case named[a.Name] == named[b.Name]:
			return 0
		case named[a.Name]:
			return -1
		}
		return 1
	})
	for _, b := range list {
		if err := t.DeleteBranch(ctx, b.Name); err != nil {
			return err
		}
	}
	tags, err := t.own.snaps.TagNames(ctx)
	if err != nil {
		return err
	}
	for i, name := range tags {
		t.progress("deleting tags", i, len(tags))
		if _, err := t.DeleteTag(ctx, name); err != nil {
			return err
		}
	}
	consumers, err := t.own.snaps.ConsumerTimes(ctx)
	if err != nil {
		return err
	}
	for id := range consumers {
		if err := t.own.snaps.DeleteConsumer(ctx, id); err != nil {
			return err
		}
	}
	if _, err := t.committer(t.own, s).Truncate(ctx); err != nil {
		return err
	}
	if _, err := t.ExpireChangelogs(ctx, ExpireOptions{}, true); err != nil {
		return err
	}
	one, all, now := 1, 1<<31-1, t.t.Clock().Add(time.Minute)
	if _, err := t.ExpireSnapshots(ctx, ExpireOptions{RetainMax: &one, RetainMin: &one, MaxDeletes: &all, OlderThan: &now}); err != nil {
		return err
	}
	if _, err := t.ExpireChangelogs(ctx, ExpireOptions{}, true); err != nil { // those that expired snapshots leave
		return err
	}
	return t.deleteNamed(ctx, before)
}

// everyName lists the names of all files that some branch names.
func (t *Table) everyName(ctx context.Context) (map[string]bool, error) {
	branches, err := t.others(ctx)
	if err != nil {
		return nil, err
	}
	return t.usedNames(ctx, append(branches, t.own))
}

// deleteNamed deletes the files of the names that nothing names any more.
func (t *Table) deleteNamed(ctx context.Context, names map[string]bool) error {
	unlock, err := t.lockRefs(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	s, err := t.schema(ctx)
	if err != nil {
		return err
	}
	w := &orphanWalk{t: t, limit: t.t.Clock().Add(24 * time.Hour)}
	if err := w.walk(ctx, []*branch{t.own}, []*schema.TableSchema{s}); err != nil {
		return err
	}
	used, err := t.everyName(ctx)
	if err != nil {
		return err
	}
	var gone []fileRef
	for _, f := range w.found {
		if n := realName(path.Base(f.path)); names[n] && !used[n] && !f.temporary {
			gone = append(gone, fileRef{path.Base(f.path), f.path})
		}
	}
	return t.deleteFiles(ctx, gone)
}
