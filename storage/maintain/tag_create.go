package maintain

import (
	"context"
	"time"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// TagOptions say what a new tag is.
type TagOptions struct {
	// Snapshot is the snapshot's id; nil = the newest one. One that has expired
	// may still be known by another tag.
	Snapshot *int64
	// Retained is how long the tag is kept; nil = by option tag.default-time-retained, which may be for ever.
	Retained *time.Duration
	// IgnoreIfExists makes an existing tag of the name no error.
	IgnoreIfExists bool
}

// CreateTag makes a tag; errs.Exists where there is one of its name.
func (t *Table) CreateTag(ctx context.Context, name string, o TagOptions) (*snapshot.Tag, error) {
	if err := snapshot.CheckTagName(name); err != nil {
		return nil, err
	}
	unlock, err := t.lockRefs(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return t.createTag(ctx, name, o)
}

func (t *Table) createTag(ctx context.Context, name string, o TagOptions) (*snapshot.Tag, error) {
	has, err := t.own.snaps.HasTag(ctx, name)
	if err != nil {
		return nil, err
	}
	if has {
		if o.IgnoreIfExists {
			return t.own.snaps.Tag(ctx, name)
		}
		return nil, snapshot.TagExists(name)
	}
	s, err := t.tagged(ctx, o.Snapshot)
	if err != nil {
		return nil, err
	}
	return t.putTag(ctx, name, s, o)
}

// putTag writes a new tag of a snapshot.
func (t *Table) putTag(ctx context.Context, name string, s *snapshot.Snapshot, o TagOptions) (*snapshot.Tag, error) {
	sch, err := t.schema(ctx)
	if err != nil {
		return nil, err
	}
	tag, err := t.newTag(sch, name, s, o.Retained)
	if err != nil {
		return nil, err
	}
	if err := t.own.snaps.CreateTag(ctx, tag); err != nil {
		if errs.Is(err, errs.Exists) && o.IgnoreIfExists {
			return t.own.snaps.Tag(ctx, name)
		}
		return nil, err
	}
	if schema.OptTagSuccessFile.Value(sch.Options) {
		if err := t.writeSuccess(ctx, t.tagSuccessPath(name)); err != nil {
			t.t.Log.Warn("the marker file of a tag could not be written", "table", t.t.Label, "tag", name, "error", err)
		}
	}
	return tag, nil
}

// newTag fills a tag in.
func (t *Table) newTag(sch *schema.TableSchema, name string, s *snapshot.Snapshot, retained *time.Duration) (*snapshot.Tag, error) {
	tag := &snapshot.Tag{Name: name, Snapshot: s}
	if retained == nil {
		d, set, err := schema.OptTagRetainTime.Lookup(sch.Options)
		if err != nil {
			return nil, err
		}
		if set {
			retained = &d
		}
	}
	if retained != nil {
		now, span := t.localMicros(t.t.Clock()), snapshot.SpanOf(*retained)
		tag.CreateMicros, tag.Retained = &now, &span
	}
	return tag, nil
}

// tagged finds the snapshot of a new tag.
func (t *Table) tagged(ctx context.Context, id *int64) (*snapshot.Snapshot, error) {
	if id == nil {
		s, err := t.own.snaps.Latest(ctx)
		if err == nil && s == nil {
			err = errs.NotFoundf("Cannot create tag because latest snapshot doesn't exist.")
		}
		return s, err
	}
	s, err := t.snapshotOrTagged(ctx, *id)
	if err == nil && s == nil {
		err = errs.NotFoundf("Cannot create tag because given snapshot #%d doesn't exist.", *id)
	}
	return s, err
}

// snapshotOrTagged reads a snapshot, from a tag if it has expired; nil where there is neither.
func (t *Table) snapshotOrTagged(ctx context.Context, id int64) (*snapshot.Snapshot, error) {
	s, err := t.own.snaps.Get(ctx, id)
	if !errs.Is(err, errs.NotFound) {
		return s, err
	}
	tags, err := t.own.snaps.Tags(ctx)
	for _, x := range tags {
		if x.ID == id {
			return x.Snapshot, nil
		}
	}
	return nil, err
}

// ReplaceTag moves an existing tag to another snapshot, with a new retention. Files
// that only the old one needed are deleted.
func (t *Table) ReplaceTag(ctx context.Context, name string, o TagOptions) (*snapshot.Tag, error) {
	if err := snapshot.CheckTagName(name); err != nil {
		return nil, err
	}
	unlock, err := t.lockRefs(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	old, err := t.own.snaps.Tag(ctx, name)
	if err != nil {
		return nil, err
	}
	s, err := t.tagged(ctx, o.Snapshot)
	if err != nil {
		return nil, err
	}
	sch, err := t.schema(ctx)
	if err != nil {
		return nil, err
	}
	tag, err := t.newTag(sch, name, s, o.Retained)
	if err != nil {
		return nil, err
	}
	if err := t.own.snaps.ReplaceTag(ctx, tag); err != nil {
		return nil, err
	}
	return tag, t.releaseTagged(context.WithoutCancel(ctx), old.Snapshot)
}

// RenameTag renames a tag.
func (t *Table) RenameTag(ctx context.Context, from, to string) error {
	unlock, err := t.lockRefs(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return t.own.snaps.RenameTag(ctx, from, to)
}

// CreateTagFromTimestamp tags the first snapshot, or tagged snapshot, committed at or after the time.
func (t *Table) CreateTagFromTimestamp(ctx context.Context, name string, millis int64, o TagOptions) (*snapshot.Tag, error) {
	return t.createTagAt(ctx, name, o, func(s *snapshot.Snapshot) bool { return s.TimeMillis >= millis },
		errs.NotFoundf("Could not find any snapshot whose commit-time later than %d.", millis))
}

// CreateTagFromWatermark tags the first snapshot, or tagged snapshot, whose watermark is at least w.
func (t *Table) CreateTagFromWatermark(ctx context.Context, name string, w int64, o TagOptions) (*snapshot.Tag, error) {
	return t.createTagAt(ctx, name, o, func(s *snapshot.Snapshot) bool {
		x, ok := s.HasWatermark()
		return ok && x >= w
	}, errs.NotFoundf("Could not find any snapshot whose watermark later than %d.", w))
}

// createTagAt tags the first state that matches; none if there is none.
func (t *Table) createTagAt(ctx context.Context, name string, o TagOptions, match func(*snapshot.Snapshot) bool, none error) (*snapshot.Tag, error) {
	if err := snapshot.CheckTagName(name); err != nil {
		return nil, err
	}
	unlock, err := t.lockRefs(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	has, err := t.own.snaps.HasTag(ctx, name)
	if err != nil {
		return nil, err
	}
	if has {
		if o.IgnoreIfExists {
			return t.own.snaps.Tag(ctx, name)
		}
		return nil, snapshot.TagExists(name)
	}
	var best *snapshot.Snapshot
	ids, err := t.own.snaps.IDs(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		s, err := t.own.snaps.Get(ctx, id)
		if errs.Is(err, errs.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if match(s) {
			best = s
			break
		}
	}
	tags, err := t.own.snaps.Tags(ctx)
	if err != nil {
		return nil, err
	}
	for _, x := range tags {
		if match(x.Snapshot) && (best == nil || x.ID < best.ID) {
			best = x.Snapshot
		}
	}
	if best == nil {
		return nil, none
	}
	return t.putTag(ctx, name, best, o)
}
