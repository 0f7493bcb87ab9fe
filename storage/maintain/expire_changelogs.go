package maintain

import (
	"context"
	"slices"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// ExpireChangelogs removes the oldest long-lived changelogs of the branch with the
// files that nothing else needs, and returns how many went. The newest one stays. With all set
// every changelog goes, whatever the options say.
func (t *Table) ExpireChangelogs(ctx context.Context, o ExpireOptions, all bool) (int, error) {
	unlock, err := t.lockRefs(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	return t.expireChangelogs(ctx, o, all)
}

func (t *Table) expireChangelogs(ctx context.Context, o ExpireOptions, all bool) (int, error) {
	ids, err := t.own.snaps.ChangelogIDs(ctx)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	s, err := t.schema(ctx)
	if err != nil {
		return 0, err
	}
	n := len(ids)
	if !all {
		c, err := t.resolve(s, o, true)
		if err != nil {
			return 0, err
		}
		if n, err = t.changelogsToGo(ctx, ids, &c); err != nil || n == 0 {
			return 0, err
		}
	}
	steps, err := t.planChangelogs(ctx, newLayout(t.t.Dir, s), ids, n)
	if err != nil {
		return 0, err
	}
	for i := range steps {
		t.progress("expiring changelogs", i, len(steps))
		err := ctx.Err()
		free := context.WithoutCancel(ctx)
		if err == nil {
			err = t.own.snaps.DeleteChangelog(free, ids[i])
		}
		// As with snapshots, what is still there is there with its files.
		if err == nil {
			err = t.deleteFiles(free, steps[i].data)
		}
		if err == nil {
			err = t.deleteFiles(free, steps[i].metadata)
		}
		if err != nil {
			if i > 0 {
				t.own.snaps.WriteChangelogHints(ctx, ids[i], 0)
			}
			return i, err
		}
	}
	if n < len(ids) {
		t.own.snaps.WriteChangelogHints(ctx, ids[n], 0)
	} else {
		t.own.snaps.DropChangelogHints(ctx)
	}
	return n, nil
}

// changelogsToGo counts the changelogs that expire (ExpireChangelogImpl).
func (t *Table) changelogsToGo(ctx context.Context, ids []int64, c *expireConfig) (int, error) {
	latest, err := t.own.snaps.LatestID(ctx)
	if err != nil || latest == 0 {
		return 0, err
	}
	next, err := t.leastNext(ctx)
	if err != nil {
		return 0, err
	}
	end := min(latest-int64(c.retainMin)+1, ids[len(ids)-1])
	if next > 0 {
		end = min(end, next)
	}
	must := latest - int64(c.retainMax) + 1
	for i, id := range ids {
		if id >= end || i >= c.maxDeletes {
			return i, nil
		}
		if id < must {
			continue
		}
		s, err := t.own.snaps.Changelog(ctx, id)
		if err != nil && !errs.Is(err, errs.NotFound) {
			return 0, err
		}
		if err == nil && c.olderThan <= s.TimeMillis {
			return i, nil
		}
	}
	return len(ids), nil
}

// planChangelogs decides which files go with the first n changelogs.
func (t *Table) planChangelogs(ctx context.Context, l *layout, ids []int64, n int) ([]expireStep, error) {
	holders, err := t.holders(ctx, t.own, 0)
	if err != nil {
		return nil, err
	}
	logs := map[int64]*snapshot.Snapshot{}
	for _, h := range holders {
		if h.kind == heldByChangelog {
			logs[h.snap.ID] = h.snap
		}
	}
	holders = slices.DeleteFunc(holders, func(h holder) bool {
		return h.kind == heldByChangelog && (n == len(ids) || h.snap.ID < ids[n])
	})
	others, err := t.otherHolders(ctx)
	if err != nil {
		return nil, err
	}
	holders = append(holders, others...)
	steps := make([]expireStep, n)
	want := wanted{}
	for i, id := range ids[:n] {
		s := logs[id]
		if s == nil {
			continue
		}
		list := s.ChangelogManifestList
		if list == "" {
			list = s.DeltaManifestList
		}
		var bad error
		err := missingIsEmpty(t.eachEntry(ctx, func(x *manifest.Entry) {
			files, err := l.files(x)
			if err != nil {
				bad = err
			}
			for _, f := range files {
				if realName(f.name) == f.name {
					steps[i].data = append(steps[i].data, f)
					want[f.name] = x.File.CreationMillis
				}
			}
		}, list))
		if err == nil {
			err = bad
		}
		if err != nil {
			return nil, err
		}
		m, err := t.metadataOf(ctx, l, s, true)
		if err != nil {
			return nil, err
		}
		// Index files and statistics went with the snapshot.
		steps[i].metadata = append(m.data, m.log...)
	}
	held, err := t.heldFiles(ctx, want, holders)
	if err != nil {
		return nil, err
	}
	heldMeta, err := t.heldMetadata(ctx, holders)
	if err != nil {
		return nil, err
	}
	// A file goes with the last changelog that names it.
	seen := map[string]bool{}
	for i := n - 1; i >= 0; i-- {
		keep := func(held map[string]bool) func(fileRef) bool {
			return func(f fileRef) bool {
				if held[f.name] || seen[f.name] {
					return true
				}
				seen[f.name] = true
				return false
			}
		}
		steps[i].data = slices.DeleteFunc(steps[i].data, keep(held))
		steps[i].metadata = slices.DeleteFunc(steps[i].metadata, keep(heldMeta))
	}
	return steps, nil
}
