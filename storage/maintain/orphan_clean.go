package maintain

import (
	"context"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// DefaultOrphanAge is how old a file must be before it counts as an orphan: younger
// ones may belong to a commit under way.
const DefaultOrphanAge = 24 * time.Hour

// OrphanOptions say which files are cleaned away.
type OrphanOptions struct {
	// OlderThan spares files changed at or after it; nil = DefaultOrphanAge ago. It must lie in the past.
	OlderThan *time.Time
	// DryRun only lists.
	DryRun bool
}

// Orphans are files that nothing refers to.
type Orphans struct {
	// Paths are the files, ascending.
	Paths []string
	// Bytes is their length together.
	Bytes int64
}

// RemoveOrphanFiles deletes files of the table that no snapshot, tag or
// changelog of any branch names (section 12.6 of the format): below manifest/, index/, statistics/ and the
// bucket directories, and temporary files elsewhere. Names count, not paths, and a file counts as
// used as long as any manifest that is used adds it. It refuses to delete anything where
// the metadata of a branch cannot be read.
func (t *Table) RemoveOrphanFiles(ctx context.Context, o OrphanOptions) (Orphans, error) {
	now := t.t.Clock()
	limit := now.Add(-DefaultOrphanAge)
	if o.OlderThan != nil {
		limit = *o.OlderThan
	}
	if !limit.Before(now) {
		return Orphans{}, errs.Invalidf("The arg olderThan must be less than now, because dataFiles that are currently being written and not referenced by snapshots will be mistakenly cleaned up.")
	}
	unlock, err := t.lockRefs(ctx)
	if err != nil {
		return Orphans{}, err
	}
	defer unlock()
	branches, err := t.others(ctx)
	if err != nil {
		return Orphans{}, err
	}
	branches = append(branches, t.own)
	schemas := make([]*schema.TableSchema, len(branches))
	for i, b := range branches {
		if schemas[i], err = b.schemas.Latest(ctx); err != nil {
			return Orphans{}, errs.New(errs.ClassOf(err), "table %s: orphan files are not cleaned, because branch '%s' has no schema that can be read; repair or delete the branch: %w", t.t.Label, b.name, err)
		}
	}
	// Files first, then what is used: what a commit publishes meanwhile is seen as used.
	w := &orphanWalk{t: t, limit: limit}
	if err := w.walk(ctx, branches, schemas); err != nil {
		return Orphans{}, err
	}
	var out Orphans
	if len(w.found) == 0 && len(w.trees) == 0 {
		return out, nil
	}
	used, err := t.usedNames(ctx, branches)
	if err != nil {
		return Orphans{}, err
	}
	w.found = slices.DeleteFunc(w.found, func(f orphan) bool { return !f.temporary && used[realName(path.Base(f.path))] })
	if !o.DryRun {
		if err := w.delete(ctx); err != nil {
			return Orphans{}, err
		}
	}
	for _, f := range append(w.found, w.trees...) {
		out.Paths = append(out.Paths, f.path)
		out.Bytes += f.size
	}
	slices.Sort(out.Paths)
	return out, nil
}

// orphan is a file that may be one.
type orphan struct {
	path string
	size int64
	// temporary files are never used, whatever their name.
	temporary bool
}

// orphanWalk collects the files that are old enough.
type orphanWalk struct {
	t     *Table
	limit time.Time
	found []orphan
	// trees are directories of branches that were not finished, or not quite deleted, with their files.
	trees []orphan
	roots []string
}

// isTemporary reports whether a name is that of a file which its writer has not published.
func isTemporary(name string) bool {
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".tmp")
}

func (w *orphanWalk) list(ctx context.Context, dir string) ([]fileio.Info, error) {
	infos, err := w.t.t.FIO.List(ctx, dir)
	if errs.Is(err, errs.NotFound) {
		return nil, nil
	}
	return infos, err
}

// files takes the old files of a directory that keep does not spare.
func (w *orphanWalk) files(ctx context.Context, dir string, keep func(name string) bool) error {
	infos, err := w.list(ctx, dir)
	if err != nil {
		return err
	}
	w.take(dir, infos, keep)
	return nil
}

func (w *orphanWalk) take(dir string, infos []fileio.Info, keep func(name string) bool) {
	for _, i := range infos {
		temporary := isTemporary(i.Name)
		if !i.IsDir && i.ModTime.Before(w.limit) && (temporary || !keep(i.Name)) {
			w.found = append(w.found, orphan{path: dir + "/" + i.Name, size: i.Size, temporary: temporary})
		}
	}
}

func (w *orphanWalk) walk(ctx context.Context, branches []*branch, schemas []*schema.TableSchema) error {
	dir := w.t.t.Dir
	none := func(string) bool { return false }
	all := func(string) bool { return true }
	for _, sub := range []string{"manifest", "index", "statistics"} {
		if err := w.files(ctx, dir+"/"+sub, none); err != nil {
			return err
		}
	}
	for _, b := range branches {
		d := b.snaps.Dir()
		for sub, prefix := range map[string]string{"snapshot": "snapshot-", "changelog": "changelog-"} {
			keep := func(n string) bool { return strings.HasPrefix(n, prefix) || n == "EARLIEST" || n == "LATEST" }
			if err := w.files(ctx, d+"/"+sub, keep); err != nil {
				return err
			}
		}
		for _, sub := range []string{"", "/schema", "/tag", "/consumer"} {
			if err := w.files(ctx, d+sub, all); err != nil {
				return err
			}
		}
	}
	seen := map[string]bool{}
	for _, s := range schemas {
		l := newLayout(dir, s)
		if !seen[l.dataDir] {
			seen[l.dataDir] = true
			if err := w.data(ctx, l.dataDir, maxPartitionDepth); err != nil {
				return err
			}
		}
	}
	return w.hiddenBranches(ctx)
}

// maxPartitionDepth bounds how deep partition directories are followed.
const maxPartitionDepth = 64

// data takes the files of bucket directories, and temporary ones of the directories above them.
func (w *orphanWalk) data(ctx context.Context, dir string, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	infos, err := w.list(ctx, dir)
	if err != nil {
		return err
	}
	if dir != w.t.t.Dir {
		w.take(dir, infos, func(string) bool { return true })
	}
	for _, i := range infos {
		switch {
		case !i.IsDir:
		case strings.HasPrefix(i.Name, "bucket-"):
			if err := w.files(ctx, dir+"/"+i.Name, func(string) bool { return false }); err != nil {
				return err
			}
		case strings.Contains(i.Name, "=") && depth > 0:
			if err := w.data(ctx, dir+"/"+i.Name, depth-1); err != nil {
				return err
			}
		}
	}
	return nil
}

// hiddenBranches takes branch directories that were never finished, or not removed to the end.
func (w *orphanWalk) hiddenBranches(ctx context.Context) error {
	dir := w.t.t.Dir + "/branch"
	infos, err := w.list(ctx, dir)
	if err != nil {
		return err
	}
	for _, i := range infos {
		if !i.IsDir || !isTemporary(i.Name) || !i.ModTime.Before(w.limit) {
			continue
		}
		files, newest, err := w.tree(ctx, dir+"/"+i.Name)
		if err != nil {
			return err
		}
		if newest.Before(w.limit) {
			w.trees = append(w.trees, files...)
			w.roots = append(w.roots, dir+"/"+i.Name)
		}
	}
	return nil
}

// tree lists the files below a directory, and the time of the newest one.
func (w *orphanWalk) tree(ctx context.Context, dir string) (files []orphan, newest time.Time, err error) {
	infos, err := w.list(ctx, dir)
	if err != nil {
		return nil, newest, err
	}
	for _, i := range infos {
		at := i.ModTime
		if i.IsDir {
			sub, subTime, err := w.tree(ctx, dir+"/"+i.Name)
			if err != nil {
				return nil, newest, err
			}
			files = append(files, sub...)
			if subTime.After(at) {
				at = subTime
			}
		} else {
			files = append(files, orphan{path: dir + "/" + i.Name, size: i.Size})
		}
		if at.After(newest) {
			newest = at
		}
	}
	return files, newest, nil
}

// delete deletes what was found, and leaves in found what could be deleted.
func (w *orphanWalk) delete(ctx context.Context) error {
	var mu sync.Mutex
	var gone []orphan
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(maxReaders)
	for i, f := range w.found {
		w.t.progress("deleting orphan files", i, len(w.found))
		g.Go(func() error {
			if err := w.t.t.FIO.Delete(gctx, f.path); err != nil {
				w.t.t.Log.Warn("an orphan file could not be deleted", "table", w.t.t.Label, "file", f.path, "error", err)
				return gctx.Err()
			}
			mu.Lock()
			defer mu.Unlock()
			gone = append(gone, f)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	w.found = gone
	for _, r := range w.roots {
		if err := w.t.t.FIO.DeleteAll(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// usedNames lists the names of all files that a snapshot, tag or changelog of some branch names.
func (t *Table) usedNames(ctx context.Context, branches []*branch) (map[string]bool, error) {
	used := map[string]bool{}
	read := map[string]bool{} // manifests
	for i, b := range branches {
		t.progress("reading branches", i, len(branches))
		for try := 1; ; try++ {
			err := t.useBranch(ctx, b, used, read)
			if err == nil {
				break
			}
			if !errs.Is(err, errs.Conflict) || try == maxHolderTries {
				return nil, errs.New(errs.ClassOf(err), "table %s: orphan files are not cleaned, because branch '%s' cannot be read: %w", t.t.Label, b.name, err)
			}
		}
	}
	return used, nil
}

// maxHolderTries is how often the states of a branch are listed where others expire snapshots meanwhile.
const maxHolderTries = 10

// useBranch notes what a branch names. errs.Conflict: snapshots have vanished meanwhile.
func (t *Table) useBranch(ctx context.Context, b *branch, used, read map[string]bool) error {
	holders, err := t.holders(ctx, b, 0)
	if err != nil {
		return err
	}
	sch, err := b.schemas.Latest(ctx)
	if err != nil {
		return err
	}
	l := newLayout(t.t.Dir, sch)
	for i := range holders {
		h := &holders[i]
		if err := t.use(ctx, l, h, used, read); err != nil {
			if err = h.settle(ctx, err); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *Table) use(ctx context.Context, l *layout, h *holder, used, read map[string]bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	lenient := h.kind == heldByChangelog
	m, err := t.metadataOf(ctx, l, h.snap, lenient)
	if err != nil {
		return err
	}
	for _, f := range m.all() {
		used[f.name] = true
	}
	for _, list := range stateLists(h.snap) {
		infos, err := t.store.ReadList(ctx, list)
		lost := lenient || list == h.snap.ChangelogManifestList
		if lost {
			err = missingIsEmpty(err)
		}
		if err != nil {
			return err
		}
		infos = slices.DeleteFunc(slices.Clone(infos), func(i manifest.FileInfo) bool { return read[i.Name] })
		for _, i := range infos {
			err := t.eachOf(ctx, []manifest.FileInfo{i}, func(e *manifest.Entry) {
				if e.Kind == manifest.Add {
					for _, n := range fileNames(e) {
						used[realName(n)] = true
					}
				}
			})
			if lost {
				err = missingIsEmpty(err)
			}
			if err != nil {
				return err
			}
			read[i.Name] = true
		}
	}
	return nil
}

// stateLists names the manifest lists of a state.
func stateLists(s *snapshot.Snapshot) []string {
	out := []string{s.BaseManifestList, s.DeltaManifestList}
	if s.ChangelogManifestList != "" {
		out = append(out, s.ChangelogManifestList)
	}
	return out
}
