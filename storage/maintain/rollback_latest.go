package maintain

import (
	"context"
	"math"
	"strconv"

	"github.com/google/uuid"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// RollbackAsLatest is what RollbackToAsLatest did.
type RollbackAsLatest struct {
	// Previous was the newest snapshot, Source is the one whose content is the newest now, Current the new snapshot.
	Previous, Source, Current int64
	// Tag protects the source.
	Tag string
}

// rollbackTagPrefix begins the name of the tag that protects the source of a
// rollback as the latest state, and the name of its commit user.
const rollbackTagPrefix = "rollback-to-as-latest-"

// RollbackToAsLatest commits a new snapshot with the content of an older one, given
// by id or, where tag is not "", by a tag. Nothing of the history is removed; a tag
// protects the source, since its files could be taken for deleted ones by an expiry that knows only of the history in order.
func (t *Table) RollbackToAsLatest(ctx context.Context, id int64, tag string) (RollbackAsLatest, error) {
	unlock, err := t.lockBoth(ctx, t.own.name)
	if err != nil {
		return RollbackAsLatest{}, err
	}
	defer unlock()
	var source *snapshot.Snapshot
	if tag != "" {
		x, err := t.own.snaps.Tag(ctx, tag)
		if err != nil {
			return RollbackAsLatest{}, err
		}
		source = x.Snapshot
	} else if source, err = t.snapshotOrTagged(ctx, id); err != nil {
		return RollbackAsLatest{}, err
	}
	if source == nil {
		return RollbackAsLatest{}, errs.NotFoundf("Rollback snapshot '%d' doesn't exist.", id)
	}
	sch, err := t.schema(ctx)
	if err != nil {
		return RollbackAsLatest{}, err
	}
	latest, err := t.own.snaps.Latest(ctx)
	if err != nil {
		return RollbackAsLatest{}, err
	}
	if latest == nil {
		return RollbackAsLatest{}, errs.NotFoundf("table %s has no snapshot: there is nothing to roll back; roll back to the tag instead", t.t.Label)
	}
	unique, err := uuid.NewRandomFromReader(t.t.Random)
	if err != nil {
		return RollbackAsLatest{}, err
	}
	out := RollbackAsLatest{Previous: latest.ID, Source: source.ID, Current: latest.ID + 1}
	out.Tag = rollbackTagPrefix + strconv.FormatInt(source.ID, 10) + "-" + unique.String()
	if _, err := t.putTag(ctx, out.Tag, source, TagOptions{}); err != nil {
		return RollbackAsLatest{}, err
	}
	if err := t.publishContent(ctx, sch, latest, source); err != nil {
		if !errs.Is(err, errs.Uncertain) {
			_ = t.own.snaps.DeleteTag(context.WithoutCancel(ctx), out.Tag)
		}
		return RollbackAsLatest{}, err
	}
	return out, nil
}

// publishContent publishes a snapshot after latest that has the content of source. Its base is
// written anew, as additions only: a deletion that the old manifests hold of a file that
// comes back would cancel its addition, too, for readers that look at no order.
func (t *Table) publishContent(ctx context.Context, sch *schema.TableSchema, latest, source *snapshot.Snapshot) (err error) {
	names, err := manifest.NewNames(t.t.Random)
	if err != nil {
		return err
	}
	o := sch.Options
	wo := manifest.WriteOptions{
		Names: names, PartitionTypes: sch.PartitionTypes(), SchemaID: sch.ID,
		Compression: schema.OptManifestCodec.Value(o), ZstdLevel: schema.OptZstdLevel.Value(o),
		TargetSize: schema.OptManifestTarget.Value(o), DropDeleteStats: schema.OptManifestDropStats.Value(o),
	}
	var written []string
	defer func() {
		if err != nil && !errs.Is(err, errs.Uncertain) {
			t.store.Delete(ctx, written...)
		}
	}()
	base, delta, total, err := t.difference(ctx, sch, latest, source)
	if err != nil {
		return err
	}
	list := func(entries []manifest.Entry) (string, *int64, error) {
		infos, err := t.store.WriteManifests(ctx, entries, wo)
		if err != nil {
			return "", nil, err
		}
		written = append(written, manifest.NamesOf(infos)...)
		name, size, err := t.store.WriteList(ctx, infos, wo)
		written = append(written, name)
		return name, &size, err
	}
	id, err := uuid.NewRandomFromReader(t.t.Random)
	if err != nil {
		return err
	}
	user, err := uuid.NewRandomFromReader(t.t.Random)
	if err != nil {
		return err
	}
	before := int64(0)
	for i := range base {
		before += base[i].File.RowCount
	}
	change := total - before
	s := &snapshot.Snapshot{
		Version: snapshot.CurrentVersion, UUID: id.String(), ID: latest.ID + 1, SchemaID: sch.ID,
		CommitUser: rollbackTagPrefix + user.String(), CommitIdentifier: math.MaxInt64, CommitKind: snapshot.Overwrite,
		TimeMillis: t.t.Clock().UnixMilli(), TotalRecordCount: &total, DeltaRecordCount: &change,
		Watermark: latest.Watermark, NextRowID: latest.NextRowID,
	}
	if s.BaseManifestList, s.BaseManifestListSize, err = list(base); err != nil {
		return err
	}
	if s.DeltaManifestList, s.DeltaManifestListSize, err = list(delta); err != nil {
		return err
	}
	if source.IndexManifest != "" {
		entries, err := t.store.ReadIndexManifest(ctx, source.IndexManifest)
		if err != nil {
			return err
		}
		s.IndexManifest, err = t.store.WriteIndexManifest(ctx, entries, wo)
		written = append(written, s.IndexManifest)
		if err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	created, err := t.own.snaps.Publish(ctx, s)
	if err != nil {
		return err
	}
	if !created {
		return errs.Conflictf("table %s: another writer committed meanwhile; repeat the statement", t.t.Label)
	}
	t.own.snaps.WriteLatestHint(ctx, s.ID)
	return nil
}

// difference lists the live files of a state, and the changes that turn them into those of another one, with its rows.
func (t *Table) difference(ctx context.Context, sch *schema.TableSchema, from, to *snapshot.Snapshot) (live, changes []manifest.Entry, rows int64, err error) {
	now, nowOrder, err := t.liveFiles(ctx, t.own, sch, from)
	if err != nil {
		return nil, nil, 0, err
	}
	then, thenOrder, err := t.liveFiles(ctx, t.own, sch, to)
	if err != nil {
		return nil, nil, 0, err
	}
	for _, id := range nowOrder {
		e := *now[id]
		live = append(live, e)
		if then[id] == nil {
			e.Kind = manifest.Delete
			changes = append(changes, e)
		}
	}
	for _, id := range thenOrder {
		e := then[id]
		rows += e.File.RowCount
		if now[id] == nil {
			changes = append(changes, *e)
		}
	}
	return live, changes, rows, nil
}
