package maintain

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// DeleteTag removes a tag, and the files that nothing else needs if its snapshot
// has expired. A missing tag is no error; found tells.
func (t *Table) DeleteTag(ctx context.Context, name string) (found bool, err error) {
	if err := snapshot.CheckTagName(name); err != nil {
		return false, err
	}
	unlock, err := t.lockRefs(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	return t.deleteTag(ctx, name)
}

func (t *Table) deleteTag(ctx context.Context, name string) (found bool, err error) {
	tag, err := t.own.snaps.Tag(ctx, name)
	if errs.Is(err, errs.NotFound) {
		return false, nil
	}
	if errs.Is(err, errs.Corrupt) {
		// What it names is not known: the cleaning of orphan files removes that.
		return true, t.own.snaps.DeleteTag(ctx, name)
	}
	if err != nil {
		return false, err
	}
	if err := t.own.snaps.DeleteTag(ctx, name); err != nil {
		return false, err
	}
	if err := t.t.FIO.Delete(ctx, t.tagSuccessPath(name)); err != nil {
		t.t.Log.Warn("the marker file of a tag could not be deleted", "table", t.t.Label, "tag", name, "error", err)
	}
	return true, t.releaseTagged(context.WithoutCancel(ctx), tag.Snapshot)
}

// releaseTagged deletes the files of a snapshot whose tag is gone, as far as
// neither a snapshot, nor another tag, nor another branch needs them. What cannot be decided stays as
// garbage: the tag is gone all the same.
func (t *Table) releaseTagged(ctx context.Context, s *snapshot.Snapshot) error {
	err := t.release(ctx, s)
	if err != nil && ctx.Err() == nil {
		t.t.Log.Warn("files of a removed tag stay; remove_orphan_files deletes them later", "table", t.t.Label, "snapshot", s.ID, "error", err)
		return nil
	}
	return err
}

func (t *Table) release(ctx context.Context, s *snapshot.Snapshot) error {
	there, err := t.own.snaps.Exists(ctx, s.ID)
	if err != nil || there {
		return err // expiry takes care of its files
	}
	sch, err := t.own.schemas.Latest(ctx)
	if err != nil {
		return err
	}
	holders, err := t.holders(ctx, t.own, 0)
	if err != nil {
		return err
	}
	for _, h := range holders {
		if h.kind == heldByTag && h.snap.ID == s.ID {
			return nil // another tag of the same snapshot
		}
	}
	others, err := t.otherHolders(ctx)
	if err != nil {
		return err
	}
	holders = append(holders, others...)
	// The neighbours of the tag have most of its files: they are looked at first.
	slices.SortStableFunc(holders, func(a, b holder) int {
		return cmp.Compare(distance(a.snap.ID, s.ID), distance(b.snap.ID, s.ID))
	})
	l := newLayout(t.t.Dir, sch)
	want := wanted{}
	var data []fileRef
	var bad error
	err = t.eachLive(ctx, t.own, s, nil, func(x *manifest.Entry) {
		files, err := l.files(x)
		if err != nil {
			bad = err
		}
		for _, f := range files {
			data = append(data, f)
			want[realName(f.name)] = x.File.CreationMillis
		}
	})
	if err == nil {
		err = bad
	}
	if err != nil {
		return err
	}
	held, err := t.heldFiles(ctx, want, holders)
	if err != nil {
		return err
	}
	meta, err := t.metadataOf(ctx, l, s, true)
	if err != nil {
		return err
	}
	heldMeta, err := t.heldMetadata(ctx, holders)
	if err != nil {
		return err
	}
	isHeld := func(in map[string]bool) func(fileRef) bool {
		return func(f fileRef) bool { return in[f.name] }
	}
	data = slices.DeleteFunc(data, isHeld(held))
	// The changelog went with the snapshot.
	rest := slices.DeleteFunc(append(slices.Clone(meta.other), meta.data...), isHeld(heldMeta))
	if err := t.deleteFiles(ctx, data); err != nil {
		return err
	}
	if err := t.deleteFiles(ctx, rest); err != nil {
		return err
	}
	if schema.OptCleanEmptyDirs.Value(sch.Options) {
		t.cleanDirectories(ctx, data)
	}
	return nil
}

func distance(a, b int64) int64 {
	if a < b {
		return b - a
	}
	return a - b
}

// ExpireTags removes the tags whose retention has passed, and those made before
// olderThan where it is not nil. A tag without a time of creation counts as made
// when its file was written. It returns the names, ascending by name.
func (t *Table) ExpireTags(ctx context.Context, olderThan *time.Time) ([]string, error) {
	unlock, err := t.lockRefs(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return t.expireTags(ctx, olderThan)
}

func (t *Table) expireTags(ctx context.Context, olderThan *time.Time) ([]string, error) {
	tags, err := t.own.snaps.Tags(ctx)
	if err != nil && (len(tags) == 0 || !errs.Is(err, errs.Corrupt)) {
		return nil, err
	}
	now := t.localMicros(t.t.Clock())
	var out []string
	for _, x := range tags {
		var created int64
		switch {
		case x.CreateMicros != nil:
			created = *x.CreateMicros
		case olderThan != nil:
			i, err := t.t.FIO.Stat(ctx, t.own.snaps.TagPath(x.Name))
			if errs.Is(err, errs.NotFound) {
				continue
			}
			if err != nil {
				return out, err
			}
			created = t.localMicros(i.ModTime)
		default:
			continue
		}
		passed := x.Retained != nil && now > created+x.Retained.Seconds*1_000_000+int64(x.Retained.Nanos)/1000
		if !passed && (olderThan == nil || t.localMicros(*olderThan) <= created) {
			continue
		}
		found, err := t.deleteTag(ctx, x.Name)
		if err != nil {
			return out, err
		}
		if found {
			out = append(out, x.Name)
		}
	}
	return out, err
}
