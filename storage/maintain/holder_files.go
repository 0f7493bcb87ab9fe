package maintain

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// clockSlack is by how much the creation time of a data file (a wall clock of an
// unknown zone) may be later than the commit that names it.
const clockSlack = 36 * time.Hour

// maxReaders bounds how many snapshots, tags or manifests are read at a time.
const maxReaders = 16

// holder is a state that keeps files: a snapshot, a tag or a long-lived changelog that stays.
type holder struct {
	b    *branch
	snap *snapshot.Snapshot
	kind holderKind
	// whole says that all files of the state count, not only those that its delta adds.
	whole bool
	// name is the tag's name.
	name string
}

type holderKind uint8

const (
	heldBySnapshot holderKind = iota
	heldByTag
	heldByChangelog
)

// text names the holder in messages.
func (h *holder) text() string {
	switch h.kind {
	case heldByTag:
		return fmt.Sprintf("tag '%s' of branch '%s'", h.name, h.b.name)
	case heldByChangelog:
		return fmt.Sprintf("changelog %d of branch '%s'", h.snap.ID, h.b.name)
	}
	return fmt.Sprintf("snapshot %d of branch '%s'", h.snap.ID, h.b.name)
}

// there reports whether the holder's file still exists: somebody else may have expired it meanwhile.
func (h *holder) there(ctx context.Context) (bool, error) {
	switch h.kind {
	case heldByTag:
		return h.b.snaps.HasTag(ctx, h.name)
	case heldByChangelog:
		_, err := h.b.snaps.Changelog(ctx, h.snap.ID)
		if errs.Is(err, errs.NotFound) {
			return false, nil
		}
		return err == nil, err
	}
	return h.b.snaps.Exists(ctx, h.snap.ID)
}

// holders lists what a branch keeps: its snapshots from id `from` on (the first
// with all of its files, each later one with what it adds), its tags and its changelogs.
func (t *Table) holders(ctx context.Context, b *branch, from int64) ([]holder, error) {
	ids, err := b.snaps.IDs(ctx)
	if err != nil {
		return nil, err
	}
	var keep []int64
	for _, id := range ids {
		if id >= from {
			keep = append(keep, id)
		}
	}
	snaps, err := readAll(ctx, keep, b.snaps.Get)
	if err != nil {
		return nil, err
	}
	if len(snaps) < len(keep) {
		// What follows on those that are gone is not known.
		return nil, errs.Conflictf("snapshots of branch '%s' have vanished while they were read: somebody else expires snapshots or rolls back; nothing is deleted; repeat the statement", b.name)
	}
	var out []holder
	for i, s := range snaps {
		whole := i == 0 || s.ID != snaps[i-1].ID+1
		out = append(out, holder{b: b, snap: s, whole: whole})
	}
	rest, err := t.refHolders(ctx, b)
	return append(out, rest...), err
}

// refHolders lists the tags and the changelogs of a branch.
func (t *Table) refHolders(ctx context.Context, b *branch) ([]holder, error) {
	var out []holder
	names, err := b.snaps.TagNames(ctx)
	if err != nil {
		return nil, err
	}
	tags, err := readAll(ctx, names, b.snaps.Tag)
	if err != nil {
		return nil, err
	}
	for _, x := range tags {
		out = append(out, holder{b: b, snap: x.Snapshot, kind: heldByTag, whole: true, name: x.Name})
	}
	ids, err := b.snaps.ChangelogIDs(ctx)
	if err != nil {
		return nil, err
	}
	logs, err := readAll(ctx, ids, b.snaps.Changelog)
	if err != nil {
		return nil, err
	}
	for _, s := range logs {
		out = append(out, holder{b: b, snap: s, kind: heldByChangelog})
	}
	return out, nil
}

// otherHolders lists what all other branches keep.
func (t *Table) otherHolders(ctx context.Context) ([]holder, error) {
	others, err := t.others(ctx)
	if err != nil {
		return nil, err
	}
	var out []holder
	for _, b := range others {
		hs, err := t.holders(ctx, b, 0)
		if err != nil {
			return nil, err
		}
		out = append(out, hs...)
	}
	return out, nil
}

// readAll reads many files at a time, in order; what vanished meanwhile is left out.
// A file that cannot be read fails the whole: what it keeps is not known.
func readAll[K, V any](ctx context.Context, keys []K, get func(context.Context, K) (*V, error)) ([]*V, error) {
	all := make([]*V, len(keys))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(maxReaders)
	for i, k := range keys {
		g.Go(func() error {
			v, err := get(gctx, k)
			if errs.Is(err, errs.NotFound) {
				return nil
			}
			all[i] = v
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out := all[:0]
	for _, v := range all {
		if v != nil {
			out = append(out, v)
		}
	}
	return out, nil
}

// wanted are names of files that are asked about: data, changelog and index
// files, manifests, lists, statistics. The value is the file's creation time
// (wall clock milliseconds), nil unknown.
type wanted map[string]*int64

// mayHold reports whether a state committed at the time can name one of the files.
func (w wanted) mayHold(s *snapshot.Snapshot, held map[string]bool) bool {
	limit := s.TimeMillis + clockSlack.Milliseconds()
	for n, created := range w {
		if !held[n] && (created == nil || *created <= limit) {
			return true
		}
	}
	return false
}

// heldFiles returns which data and changelog files the holders name. Tags do
// not keep changelog files.
func (t *Table) heldFiles(ctx context.Context, want wanted, holders []holder) (map[string]bool, error) {
	held := map[string]bool{}
	for i := range holders {
		h := &holders[i]
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !want.mayHold(h.snap, held) {
			continue
		}
		if err := t.holdFiles(ctx, h, want, held); err != nil {
			if err = h.settle(ctx, err); err != nil {
				return nil, err
			}
		}
	}
	return held, nil
}

// settle turns an error of reading a holder's files into nil where the holder
// has vanished meanwhile, as have the files. errs.Conflict: it was a snapshot. Those that follow it, which need not be known here, may
// have its files.
func (h *holder) settle(ctx context.Context, err error) error {
	if errs.Is(err, errs.NotFound) {
		if there, e := h.there(ctx); e == nil && !there {
			if h.kind == heldBySnapshot {
				return h.vanished()
			}
			return nil
		}
	}
	return errs.New(errs.ClassOf(err), "%s cannot be read, so what it needs is not known and nothing is deleted: %w", h.text(), err)
}

func (h *holder) vanished() error {
	return errs.Conflictf("%s has vanished while it was to be found out which files are needed: somebody else expires snapshots or rolls back; nothing is deleted; repeat the statement", h.text())
}

func (t *Table) holdFiles(ctx context.Context, h *holder, want wanted, held map[string]bool) error {
	s := h.snap
	add := func(e *manifest.Entry) {
		for _, n := range fileNames(e) {
			if n = realName(n); e.Kind == manifest.Add {
				if _, ok := want[n]; ok {
					held[n] = true
				}
			}
		}
	}
	switch {
	case h.kind == heldByChangelog && s.ChangelogManifestList != "":
		return missingIsEmpty(t.eachEntry(ctx, add, s.ChangelogManifestList))
	case h.kind == heldByChangelog:
		return missingIsEmpty(t.eachEntry(ctx, add, s.DeltaManifestList))
	case h.whole:
		if err := t.eachLive(ctx, h.b, s, want.names, add); err != nil {
			return err
		}
	default:
		if err := t.eachEntry(ctx, add, s.DeltaManifestList); err != nil {
			return err
		}
	}
	if h.kind == heldBySnapshot && s.ChangelogManifestList != "" {
		// The changelog of a snapshot that a tag or an expired tag brought back may be gone.
		return missingIsEmpty(t.eachEntry(ctx, add, s.ChangelogManifestList))
	}
	return nil
}

// unreadableIsEmpty lets a state go whose metadata is missing or damaged: the files that only it
// names stay until the cleaning of orphan files.
func unreadableIsEmpty(err error) error {
	if errs.Is(err, errs.Corrupt) {
		return nil
	}
	return missingIsEmpty(err)
}

func missingIsEmpty(err error) error {
	if errs.Is(err, errs.NotFound) {
		return nil
	}
	return err
}

// names reports whether an entry is about a wanted file.
func (w wanted) names(e *manifest.Entry) bool {
	for _, n := range fileNames(e) {
		if _, ok := w[realName(n)]; ok {
			return true
		}
	}
	return false
}

// eachEntry calls f for the entries of the manifests of some lists.
func (t *Table) eachEntry(ctx context.Context, f func(*manifest.Entry), lists ...string) error {
	for _, l := range lists {
		infos, err := t.store.ReadList(ctx, l)
		if err != nil {
			return err
		}
		if err := t.eachOf(ctx, infos, f); err != nil {
			return err
		}
	}
	return nil
}

// eachOf calls f for the entries of manifests, of which a few are in memory at a time.
func (t *Table) eachOf(ctx context.Context, infos []manifest.FileInfo, f func(*manifest.Entry)) error {
	for len(infos) > 0 {
		n := min(len(infos), maxReaders)
		all, err := t.store.ReadManifests(ctx, infos[:n])
		if err != nil {
			return err
		}
		for _, m := range all {
			for i := range m {
				f(&m[i])
			}
		}
		infos = infos[n:]
	}
	return nil
}

// eachLive calls f for the live entries of a state among those that keep
// selects, by the name of the file or its partition; nil = all.
func (t *Table) eachLive(ctx context.Context, b *branch, s *snapshot.Snapshot, keep func(*manifest.Entry) bool, f func(*manifest.Entry)) error {
	sch, err := b.schemas.Latest(ctx)
	if err != nil {
		return err
	}
	parts := manifest.NewPartitions(sch.PartitionTypes())
	var adds []*manifest.Entry
	gone := map[string]bool{}
	var bad error
	err = t.eachEntry(ctx, func(e *manifest.Entry) {
		if keep != nil && !keep(e) {
			return
		}
		if e.Kind == manifest.Add {
			adds = append(adds, e)
			return
		}
		p, err := parts.Canonical(e.Partition)
		if err != nil {
			bad = err
			return
		}
		gone[e.Identity(p)] = true
	}, s.BaseManifestList, s.DeltaManifestList)
	if err == nil {
		err = bad
	}
	if err != nil {
		return err
	}
	for _, e := range adds {
		if len(gone) > 0 {
			p, err := parts.Canonical(e.Partition)
			if err != nil {
				return err
			}
			if gone[e.Identity(p)] {
				continue
			}
		}
		f(e)
	}
	return nil
}
