package maintain

import (
	"context"
	"slices"
	"strings"

	"github.com/tributarydb/tributary/storage/commit"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// MergeBranch adds the data files of one branch that another one lacks to that
// one, by an APPEND, and returns the new snapshot, nil where there was nothing to
// add. target "" is main. Both are append-only tables of the same schemas whose whole history,
// from snapshot 1 on, only ever added rows.
func (t *Table) MergeBranch(ctx context.Context, source, target string) (*snapshot.Snapshot, error) {
	if strings.TrimSpace(target) == "" {
		target = snapshot.MainBranch
	}
	if source == target {
		return nil, errs.Invalidf("Cannot merge branch '%s' into itself.", source)
	}
	unlock, err := t.lockRefs(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	for _, name := range []string{source, target} {
		if name == snapshot.MainBranch {
			continue
		}
		if err := t.mustExist(ctx, name); err != nil {
			return nil, err
		}
	}
	from, to := t.branch(source), t.branch(target)
	fromSchema, err := from.schemas.Latest(ctx)
	if err != nil {
		return nil, err
	}
	toSchema, err := to.schemas.Latest(ctx)
	if err != nil {
		return nil, err
	}
	if err := mergeable(source, target, fromSchema, toSchema); err != nil {
		return nil, err
	}
	if err := t.sameFields(ctx, from, to, min(fromSchema.ID, toSchema.ID)); err != nil {
		return nil, err
	}
	theirs, err := t.appendOnly(ctx, from)
	if err != nil {
		return nil, err
	}
	if theirs == nil {
		return nil, errs.Invalidf("Cannot merge branch %s, because it does not have snapshot.", source)
	}
	ours, err := t.appendOnly(ctx, to)
	if err != nil {
		return nil, err
	}
	have := map[string]bool{}
	if ours != nil {
		live, _, err := t.liveFiles(ctx, to, toSchema, ours)
		if err != nil {
			return nil, err
		}
		for _, e := range live {
			have[e.File.Name] = true
		}
	}
	live, order, err := t.liveFiles(ctx, from, fromSchema, theirs)
	if err != nil {
		return nil, err
	}
	tracked := schema.OptRowTracking.Value(toSchema.Options)
	known, err := to.schemas.IDs(ctx)
	if err != nil {
		return nil, err
	}
	m := newMessages(toSchema)
	for _, id := range order {
		e := live[id]
		if have[e.File.Name] {
			continue
		}
		if !slices.Contains(known, e.File.SchemaID) {
			return nil, errs.Invalidf("Cannot merge branch '%s' into '%s': data files of schema %d are to be added, which '%s' does not have.", source, target, e.File.SchemaID, target)
		}
		x, err := m.of(e.Partition, e.Bucket, e.TotalBuckets)
		if err != nil {
			return nil, err
		}
		f := *e.File
		if tracked {
			// The rows get ids of the target's.
			f.FirstRowID, f.MinSequence, f.MaxSequence = nil, 0, 0
		}
		x.NewFiles = append(x.NewFiles, &f)
	}
	if len(m.list) == 0 {
		return nil, nil
	}
	res, err := t.committer(to, toSchema).Commit(ctx, commit.Request{Identifier: commit.BatchIdentifier, Messages: m.list, Check: t.unchanged(ours)})
	if err != nil || len(res.Snapshots) == 0 {
		return nil, err
	}
	return res.Snapshots[len(res.Snapshots)-1], nil
}

// mergeable refuses tables that merge_branch does not take.
func mergeable(source, target string, from, to *schema.TableSchema) error {
	refuse := func(why string) error {
		return errs.Invalidf("Cannot merge branch '%s' into '%s': %s", source, target, why)
	}
	switch {
	case from.HasPrimaryKey() || to.HasPrimaryKey():
		return refuse("only append-only tables can be merged, and there is a primary key.")
	case schema.OptDataEvolution.Value(from.Options) || schema.OptDataEvolution.Value(to.Options):
		return refuse("tables with data evolution cannot be merged.")
	case schema.OptRowTracking.Value(from.Options) != schema.OptRowTracking.Value(to.Options):
		return refuse("'row-tracking.enabled' differs between the branches.")
	case !sameColumns(from, to) || !slices.Equal(from.PartitionKeys, to.PartitionKeys):
		return refuse("the schema of the branches differs: they must have the same fields and partition keys.")
	case from.Bucket() != to.Bucket() || !slices.Equal(from.BucketKeys(), to.BucketKeys()):
		return refuse("'bucket' or 'bucket-key' differs between the branches.")
	}
	// Where data files are must be the same for both.
	for _, key := range []string{schema.OptPartitionDefault.Key(), schema.OptPartitionLegacy.Key(), schema.OptDataFileDirectory.Key()} {
		if from.Options[key] != to.Options[key] {
			return refuse("'" + key + "' differs between the branches.")
		}
	}
	return nil
}

func sameColumns(a, b *schema.TableSchema) bool {
	return slices.EqualFunc(a.Fields, b.Fields, func(x, y schema.Field) bool {
		return x.ID == y.ID && x.Name == y.Name && x.Type.String() == y.Type.String()
	})
}

// sameFields demands that the schemas with one id have the same fields in both branches: data
// files name the id only.
func (t *Table) sameFields(ctx context.Context, a, b *branch, upTo int64) error {
	for id := int64(0); id <= upTo; id++ {
		x, err := a.schemas.Get(ctx, id)
		if errs.Is(err, errs.NotFound) {
			continue
		}
		if err != nil {
			return err
		}
		y, err := b.schemas.Get(ctx, id)
		if errs.Is(err, errs.NotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if !sameColumns(x, y) {
			return errs.Invalidf("Cannot merge branch '%s' into '%s': schema %d of the branches has other fields.", a.name, b.name, id)
		}
	}
	return nil
}

// appendOnly returns the newest snapshot of a branch whose whole history only added
// rows; nil where it has none.
func (t *Table) appendOnly(ctx context.Context, b *branch) (*snapshot.Snapshot, error) {
	ids, err := b.snaps.IDs(ctx)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	if ids[0] != snapshot.FirstID || !contiguous(ids) {
		return nil, errs.Invalidf("Cannot merge: the history of branch '%s' does not start at snapshot %d or is not complete, its oldest snapshot is %d.", b.name, snapshot.FirstID, ids[0])
	}
	all, err := readAll(ctx, ids, b.snaps.Get)
	if err != nil {
		return nil, err
	}
	if len(all) != len(ids) {
		return nil, errs.Conflictf("table %s: snapshots of branch '%s' vanish meanwhile; repeat the statement", t.t.Label, b.name)
	}
	for _, s := range all {
		if s.CommitKind != snapshot.Append && s.CommitKind != snapshot.Analyze {
			return nil, errs.Invalidf("Cannot merge: snapshot %d of branch '%s' is of kind %s; only histories of APPEND and ANALYZE can be merged.", s.ID, b.name, s.CommitKind)
		}
	}
	return all[len(all)-1], nil
}
