package maintain

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// ExpireSnapshots removes the oldest snapshots of the branch, with the files that
// nothing else needs, and returns how many went (section 12.5 of the format). For each
// snapshot, from the oldest on, its own file goes first, then its data files and its metadata: whoever
// still finds a snapshot can read it, and what a crash leaves is garbage for the cleaning of orphan
// files. More careful than Paimon, it keeps what other branches use.
func (t *Table) ExpireSnapshots(ctx context.Context, o ExpireOptions) (int, error) {
	unlock, err := t.lockRefs(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	s, err := t.schema(ctx)
	if err != nil {
		return 0, err
	}
	return t.expireSnapshots(ctx, s, o)
}

func (t *Table) expireSnapshots(ctx context.Context, s *schema.TableSchema, o ExpireOptions) (int, error) {
	c, err := t.resolve(s, o, false)
	if err != nil {
		return 0, err
	}
	if stay, err := t.allStay(ctx, &c); stay || err != nil {
		return 0, err
	}
	ids, err := t.own.snaps.IDs(ctx)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	end, err := t.endOf(ctx, ids, ids[len(ids)-1], &c, t.own.snaps.Get)
	if err != nil {
		return 0, err
	}
	n, _ := slices.BinarySearch(ids, end)
	if n = min(n, len(ids)-1); n <= 0 {
		// The hint spares readers a listing.
		if _, err := t.t.FIO.Stat(ctx, t.own.snaps.Dir()+"/snapshot/EARLIEST"); errs.Is(err, errs.NotFound) {
			t.own.snaps.WriteEarliestHint(ctx, ids[0])
		}
		return 0, nil
	}
	e := &expiry{t: t, c: &c, l: newLayout(t.t.Dir, s), ids: ids, n: n}
	if err := e.plan(ctx); err != nil {
		if errs.Is(err, errs.NotFound) && t.gone(ctx, ids[n-1]) {
			return 0, e.outrun()
		}
		return 0, err
	}
	return e.run(ctx)
}

// allStay decides from the hints and the second oldest snapshot that no snapshot is due. That is so after most commits, of
// which a table with many small ones has thousands whose files a listing would touch.
func (t *Table) allStay(ctx context.Context, c *expireConfig) (bool, error) {
	snaps := t.own.snaps
	// A missing hint is written by who lists.
	if _, err := t.t.FIO.Stat(ctx, snaps.Dir()+"/snapshot/EARLIEST"); err != nil {
		if errs.Is(err, errs.NotFound) {
			err = nil
		}
		return false, err
	}
	latest, err := snaps.LatestID(ctx)
	if err != nil || latest == 0 {
		return false, err
	}
	first, err := snaps.EarliestID(ctx)
	if err != nil || first == 0 {
		return false, err
	}
	if first > latest-int64(c.retainMin) {
		return true, nil
	}
	if first <= latest-int64(c.retainMax) {
		return false, nil
	}
	second, err := snaps.Get(ctx, first+1)
	if err != nil {
		if errs.Is(err, errs.NotFound) {
			err = nil
		}
		return false, err
	}
	return c.olderThan <= second.TimeMillis, nil
}

// expiry removes the first n of the snapshots ids.
type expiry struct {
	t   *Table
	c   *expireConfig
	l   *layout
	ids []int64
	n   int

	snaps []*snapshot.Snapshot // those that go, and the first that stays
	// later are the snapshots after the first that stays, read only where they matter.
	later []*snapshot.Snapshot
	steps []expireStep
}

// expireStep is what goes with one snapshot, in order.
type expireStep struct {
	data, metadata []fileRef
}

// read reads the snapshots that go and the first that stays.
func (e *expiry) read(ctx context.Context) error {
	ids := e.ids[:e.n+1]
	snaps, err := readAll(ctx, ids, e.t.own.snaps.Get)
	if err != nil {
		return err
	}
	if len(snaps) != len(ids) {
		return e.outrun()
	}
	e.snaps = snaps
	return nil
}

// gone reports whether a snapshot of the branch is surely not there.
func (t *Table) gone(ctx context.Context, id int64) bool {
	there, err := t.own.snaps.Exists(ctx, id)
	return err == nil && !there
}

func (e *expiry) outrun() error {
	return errs.Conflictf("table %s: snapshots vanish while they are to be expired: somebody else expires them or rolls back; repeat the statement", e.t.t.Label)
}

// plan decides, without deleting anything, which files go with each snapshot.
func (e *expiry) plan(ctx context.Context) error {
	if err := e.read(ctx); err != nil {
		return err
	}
	e.steps = make([]expireStep, e.n)
	want := wanted{}
	type candidate struct {
		fileRef
		deletedIn int64
	}
	lists := make([][]candidate, e.n)
	logs := make([][]fileRef, e.n)
	for i, s := range e.snaps[:e.n] {
		e.t.progress("reading snapshots", i, e.n)
		next := e.snaps[i+1]
		gone, err := e.unused(ctx, s, next)
		if err != nil {
			return err
		}
		for f, created := range gone {
			lists[i] = append(lists[i], candidate{f, next.ID})
			want[f.name] = created
		}
		if e.c.decoupled || s.ChangelogManifestList == "" {
			continue
		}
		err = missingIsEmpty(e.entries(ctx, s.ChangelogManifestList, func(x *manifest.Entry, files []fileRef) {
			for _, f := range files {
				if realName(f.name) == f.name {
					logs[i] = append(logs[i], f)
					want[f.name] = x.File.CreationMillis
				}
			}
		}))
		if err != nil {
			return err
		}
	}
	indexed := slices.ContainsFunc(e.snaps, func(s *snapshot.Snapshot) bool { return s.IndexManifest != "" })
	if len(want) > 0 || indexed {
		var err error
		if e.later, err = readAll(ctx, e.ids[e.n+1:], e.t.own.snaps.Get); err != nil {
			return err
		}
		if len(e.later) < len(e.ids[e.n+1:]) {
			return e.outrun()
		}
	}
	again, err := e.addedAgain(ctx, want)
	if err != nil {
		return err
	}
	held, rest, err := e.held(ctx, want)
	if err != nil {
		return err
	}
	for i := range lists {
		for _, f := range lists[i] {
			if !held[f.name] && again[f.name] <= f.deletedIn {
				e.steps[i].data = append(e.steps[i].data, f.fileRef)
			}
		}
		for _, f := range logs[i] {
			if !held[f.name] {
				e.steps[i].data = append(e.steps[i].data, f)
			}
		}
	}
	return e.planMetadata(ctx, rest)
}

// unused lists the files of snapshot s that next does not have, with their times of creation.
func (e *expiry) unused(ctx context.Context, s, next *snapshot.Snapshot) (map[fileRef]*int64, error) {
	gone := map[fileRef]*int64{}
	if next.ID != s.ID+1 {
		// What the snapshots between deleted is not known any more.
		err := missingIsEmpty(e.live(ctx, s, func(f fileRef, created *int64) { gone[f] = created }))
		if err != nil || len(gone) == 0 {
			return nil, err
		}
		return gone, e.live(ctx, next, func(f fileRef, _ *int64) { delete(gone, f) })
	}
	var back []fileRef
	err := e.entries(ctx, next.DeltaManifestList, func(x *manifest.Entry, files []fileRef) {
		if x.Kind == manifest.Add {
			back = append(back, files...)
			return
		}
		if e.c.decoupled && !e.c.producesChangelog && (x.File.Source == nil || *x.File.Source == manifest.SourceAppend) {
			return // the changelog of a snapshot is what it appended; its own expiry deletes it
		}
		for _, f := range files {
			gone[f] = x.File.CreationMillis
		}
	})
	// A file that changes its level is deleted and added in one snapshot.
	for _, f := range back {
		delete(gone, f)
	}
	return gone, err
}

// live calls f for the live files of a snapshot.
func (e *expiry) live(ctx context.Context, s *snapshot.Snapshot, f func(fileRef, *int64)) error {
	var bad error
	err := e.t.eachLive(ctx, e.t.own, s, nil, func(x *manifest.Entry) {
		files, err := e.l.files(x)
		if err != nil {
			bad = err
		}
		for _, r := range files {
			f(r, x.File.CreationMillis)
		}
	})
	if err == nil {
		err = bad
	}
	return err
}

// entries calls f for the entries of a list's manifests, with the paths of their files.
func (e *expiry) entries(ctx context.Context, list string, f func(*manifest.Entry, []fileRef)) error {
	var bad error
	err := e.t.eachEntry(ctx, func(x *manifest.Entry) {
		files, err := e.l.files(x)
		if err != nil {
			bad = err
			return
		}
		f(x, files)
	}, list)
	if err == nil {
		err = bad
	}
	return err
}

// addedAgain returns the newest snapshot that adds a wanted file, for those that
// a snapshot after the oldest one adds: a rollback as the latest state brings files back.
func (e *expiry) addedAgain(ctx context.Context, want wanted) (map[string]int64, error) {
	again := map[string]int64{}
	if len(want) == 0 {
		return again, nil
	}
	for _, s := range append(slices.Clone(e.snaps[1:]), e.later...) {
		if !want.mayHold(s, nil) {
			continue
		}
		err := e.t.eachEntry(ctx, func(x *manifest.Entry) {
			if x.Kind != manifest.Add {
				return
			}
			for _, n := range fileNames(x) {
				if _, ok := want[n]; ok {
					again[n] = s.ID
				}
			}
		}, s.DeltaManifestList)
		if err != nil {
			h := holder{b: e.t.own, snap: s}
			if err = h.settle(ctx, err); err != nil {
				return nil, err
			}
		}
	}
	return again, nil
}

// held returns which wanted files are needed beyond the branch's snapshots, and what needs metadata files.
func (e *expiry) held(ctx context.Context, want wanted) (map[string]bool, []holder, error) {
	t := e.t
	refs, err := t.refHolders(ctx, t.own)
	if err != nil {
		return nil, nil, err
	}
	others, err := t.otherHolders(ctx)
	if err != nil {
		return nil, nil, err
	}
	files := slices.Clone(others)
	for _, h := range refs {
		// The history from the first snapshot that stays on was looked at already.
		if i, there := slices.BinarySearch(e.ids, h.snap.ID); h.kind == heldByTag && there && i >= e.n && contiguous(e.ids[e.n:]) {
			continue
		}
		files = append(files, h)
	}
	// The nearest tag before a snapshot has most of what its successor deletes.
	slices.SortStableFunc(files, func(a, b holder) int { return cmp.Compare(b.snap.TimeMillis, a.snap.TimeMillis) })
	held, err := t.heldFiles(ctx, want, files)
	if err != nil {
		return nil, nil, err
	}
	meta := append(refs, others...)
	meta = append(meta, holder{b: t.own, snap: e.snaps[e.n], whole: true})
	for _, s := range e.later {
		// A manifest that its successor does not have never comes back; index files may.
		c := *s
		c.BaseManifestList, c.DeltaManifestList, c.ChangelogManifestList = "", "", ""
		meta = append(meta, holder{b: t.own, snap: &c})
	}
	return held, meta, nil
}

func contiguous(ids []int64) bool {
	return len(ids) == 0 || ids[len(ids)-1]-ids[0] == int64(len(ids)-1)
}

// planMetadata lists the metadata files that go with each snapshot: those that no
// snapshot after it and no holder names.
func (e *expiry) planMetadata(ctx context.Context, holders []holder) error {
	held, err := e.t.heldMetadata(ctx, holders)
	if err != nil {
		return err
	}
	files := make([][]fileRef, e.n)
	last := map[string]int{} // the last of the snapshots that go that names the file
	for i, s := range e.snaps[:e.n] {
		m, err := e.t.metadataOf(ctx, e.l, s, true)
		if err != nil {
			return err
		}
		files[i] = m.other
		if !e.c.decoupled || e.c.producesChangelog {
			files[i] = append(files[i], m.data...)
		}
		if !e.c.decoupled {
			files[i] = append(files[i], m.log...)
		}
		for _, f := range files[i] {
			last[f.name] = i
		}
	}
	for i := range files {
		seen := map[string]bool{}
		for _, f := range files[i] {
			if !held[f.name] && last[f.name] == i && !seen[f.name] {
				seen[f.name] = true
				e.steps[i].metadata = append(e.steps[i].metadata, f)
			}
		}
	}
	return nil
}

// run deletes, and returns how many snapshots went.
func (e *expiry) run(ctx context.Context) (done int, err error) {
	t := e.t
	defer func() {
		if done > 0 {
			t.own.snaps.WriteEarliestHint(ctx, e.ids[done])
			if e.c.decoupled {
				first, _ := t.own.snaps.ChangelogIDs(context.WithoutCancel(ctx))
				if len(first) > 0 {
					t.own.snaps.WriteChangelogHints(ctx, first[0], first[len(first)-1])
				}
			}
		}
	}()
	for i, s := range e.snaps[:e.n] {
		t.progress("expiring snapshots", i, e.n)
		if err := ctx.Err(); err != nil {
			return done, err
		}
		// A snapshot is there with all of its files, or gone. Once it is gone, its files go whatever becomes of the statement.
		free := context.WithoutCancel(ctx)
		if e.c.decoupled {
			// Where somebody else was faster, the changelog may have been expired as well.
			if there, err := t.own.snaps.Exists(free, s.ID); err != nil {
				return done, err
			} else if !there {
				return done, e.outrun()
			}
			if err := t.own.snaps.WriteChangelog(free, s); err != nil {
				return done, err
			}
		}
		if err := t.own.snaps.DeleteSnapshot(free, s.ID); err != nil {
			return done, err
		}
		done++
		if err := t.deleteFiles(free, e.steps[i].data); err != nil {
			return done, err
		}
		if err := t.deleteFiles(free, e.steps[i].metadata); err != nil {
			return done, err
		}
	}
	if e.c.cleanDirectories {
		var gone []fileRef
		for i := range e.steps {
			gone = append(gone, e.steps[i].data...)
		}
		t.cleanDirectories(ctx, gone)
	}
	return done, nil
}

// deleteFiles deletes files that nothing needs. One that cannot be deleted is
// logged and stays as garbage; only the end of ctx is an error.
func (t *Table) deleteFiles(ctx context.Context, files []fileRef) error {
	var g errgroup.Group
	g.SetLimit(maxReaders)
	var mu sync.Mutex
	var failed []error
	var gone []string
	defer func() {
		if len(gone) > 0 {
			t.t.Deleted(gone)
		}
	}()
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			_ = g.Wait()
			return err
		}
		g.Go(func() error {
			err := t.t.FIO.Delete(ctx, f.path)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = append(failed, err)
			} else {
				gone = append(gone, f.path)
			}
			return nil
		})
	}
	_ = g.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(failed) > 0 {
		t.t.Log.Warn("files that nothing needs could not be deleted; remove_orphan_files deletes them later", "table", t.t.Label, "files", len(failed), "error", errors.Join(failed[:1]...))
	}
	return nil
}
