package scan

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/lsm"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// Plan is the splits of a scan, in the order of partitions' and files' appearance.
type Plan struct {
	Splits []*Split
	Counts Counts
}

// SkipsLevel0 reports whether batch reads of the table do not see level 0
// until a compaction has moved its rows up (format section 8.2).
func SkipsLevel0(s *schema.TableSchema) bool {
	if !s.HasPrimaryKey() {
		return false
	}
	if schema.OptDeletionVectors.Value(s.Options) && !schema.OptDVMergeOnRead.Value(s.Options) {
		return true
	}
	return schema.OptMergeEngine.Value(s.Options) == "first-row"
}

// TopLevel is the highest level of the table's buckets by its options.
func TopLevel(s *schema.TableSchema) int {
	if n, set, err := schema.OptNumLevels.Lookup(s.Options); err == nil && set {
		return n - 1
	}
	return schema.OptCompactionTrigger.Value(s.Options)
}

// visible is the level rule of the request.
func (c *collector) visible() func(f *File) bool {
	levels := c.req.Levels
	if levels == nil {
		skip0 := SkipsLevel0(c.src.Schema)
		levels = func(l int) bool { return l > 0 || !skip0 }
	}
	return func(f *File) bool { return f.Bucket >= 0 && levels(f.Meta.Level) }
}

// LiveFiles lists a snapshot's live files of all levels, with their deletion
// vectors; hidden buckets and levels included.
func (s *Source) LiveFiles(ctx context.Context, snap *snapshot.Snapshot, req Request) ([]*File, Counts, error) {
	c := s.newCollector(req)
	files, err := c.live(ctx, snap)
	if err != nil {
		return nil, c.counts, err
	}
	setVector, err := c.vectors(ctx, snap)
	if errs.Is(err, errs.Unsupported) { // of use for counts only here
		setVector, err = func(*File) error { return nil }, nil
	}
	if err != nil {
		return nil, c.counts, err
	}
	for _, f := range files {
		if err := errors.Join(c.decodeKeys(f), setVector(f)); err != nil {
			return nil, c.counts, err
		}
	}
	return files, c.counts, nil
}

// EachEntry calls fn for every entry of a snapshot's manifests, those that
// cancel each other included.
func (s *Source) EachEntry(ctx context.Context, snap *snapshot.Snapshot, fn func(partitionID string, e *manifest.Entry)) error {
	if snap == nil {
		return nil
	}
	c := s.newCollector(Request{})
	manifests, err := c.readManifests(ctx, snap.BaseManifestList, snap.DeltaManifestList)
	if err != nil {
		return err
	}
	for _, m := range manifests {
		for i := range m {
			p, err := c.layout.partition(m[i].Partition, c.keep)
			if err != nil {
				return err
			}
			fn(p.id, &m[i])
		}
	}
	return nil
}

// Partitions lists the partitions that have at least one visible live file, in
// order of appearance. Filter counts by its partition conjuncts only.
func (s *Source) Partitions(ctx context.Context, snap *snapshot.Snapshot, req Request) ([][]column.Scalar, map[string]bool, error) {
	req.CreatedAfter = nil
	c := s.newCollector(req)
	c.buckets = &bucketPruner{}
	files, err := c.live(ctx, snap)
	if err != nil {
		return nil, nil, err
	}
	visible := c.visible()
	ids := map[string]bool{}
	var out [][]column.Scalar
	for _, f := range files {
		if visible(f) && !ids[f.PartitionID] {
			ids[f.PartitionID] = true
			out = append(out, f.Partition)
		}
	}
	return out, ids, nil
}

// Plan plans the full state of a snapshot; nil = no row.
func (s *Source) Plan(ctx context.Context, snap *snapshot.Snapshot, req Request) (*Plan, error) {
	c := s.newCollector(req)
	files, err := c.live(ctx, snap)
	if err != nil {
		return nil, err
	}
	setVector, err := c.vectors(ctx, snap)
	if err != nil {
		return nil, err
	}
	if s.Schema.BucketMode() == schema.Postpone && schema.OptPostponeMOR.Value(s.Schema.Options) && req.Levels == nil {
		return c.postponePlan(files)
	}
	visible := c.visible()
	groups, order := map[bucketID][]*File{}, []bucketID(nil)
	var postponed []*File
	for _, f := range files {
		if req.Postponed && f.Bucket == schema.PostponeBucket {
			postponed = append(postponed, f)
			continue
		}
		if !visible(f) {
			c.counts.FilesHidden++
			continue
		}
		if err := setVector(f); err != nil {
			return nil, err
		}
		id := bucketID{f.PartitionID, f.Bucket}
		if groups[id] == nil {
			order = append(order, id)
		}
		groups[id] = append(groups[id], f)
	}
	p := &Plan{}
	for _, id := range order {
		var splits []*Split
		switch {
		case !s.Schema.HasPrimaryKey() && schema.OptDataEvolution.Value(s.Schema.Options):
			splits, err = c.joinSplits(groups[id])
		case !s.Schema.HasPrimaryKey():
			splits, err = c.appendSplit(ctx, groups[id])
		default:
			splits, err = c.keyedSplits(ctx, groups[id])
		}
		if err != nil {
			return nil, err
		}
		p.Splits = append(p.Splits, splits...)
	}
	SortArrivals(postponed)
	for _, f := range postponed {
		p.Splits = append(p.Splits, &Split{Source: s, Partition: f.Partition, Bucket: f.Bucket, Mode: Changes, Files: []*File{f}})
	}
	for _, sp := range p.Splits {
		c.counts.Files += len(sp.Files)
	}
	p.Counts = c.counts
	return p, nil
}

type bucketID struct {
	partition string
	bucket    int
}

// Changes plans the rows that snapshots added (their delta lists' ADD files)
// or, with changelog, their changelog files, as they are.
func (s *Source) Changes(ctx context.Context, snaps []*snapshot.Snapshot, changelog bool, req Request) (*Plan, error) {
	c := s.newCollector(req)
	p := &Plan{}
	for _, snap := range snaps {
		list := snap.DeltaManifestList
		if changelog {
			list = snap.ChangelogManifestList
		}
		manifests, err := c.readManifests(ctx, list)
		if err != nil {
			return nil, err
		}
		for _, m := range manifests {
			for i := range m {
				if m[i].Kind != manifest.Add {
					continue
				}
				f, err := c.admit(ctx, &m[i])
				if err != nil {
					return nil, err
				}
				if f == nil || f.Bucket < 0 && !req.Postponed {
					continue
				}
				f.Changelog, f.SnapshotID = changelog, snap.ID
				p.Splits = append(p.Splits, &Split{Source: s, Partition: f.Partition, Bucket: f.Bucket, Mode: Changes, Files: []*File{f}})
			}
		}
	}
	c.counts.Files = len(p.Splits)
	p.Counts = c.counts
	return p, nil
}

// appendSplit plans a bucket of an append table.
func (c *collector) appendSplit(ctx context.Context, files []*File) ([]*Split, error) {
	kept := make([]*File, 0, len(files))
	for _, f := range files {
		ok, err := c.mayMatchValue(ctx, f)
		if err != nil {
			return nil, err
		}
		if !ok {
			c.counts.FilesByStats++
			continue
		}
		if !c.mayMatchIndex(ctx, f) {
			c.counts.FilesByIndex++
			continue
		}
		kept = append(kept, f)
	}
	if len(kept) == 0 {
		return nil, nil
	}
	if kept[0].TotalBuckets > 0 && !c.src.Schema.HasPrimaryKey() {
		// The rows of a bucket are in the order in which they were written.
		slices.SortStableFunc(kept, func(a, b *File) int { return cmp.Compare(a.Meta.MinSequence, b.Meta.MinSequence) })
	}
	return []*Split{{Source: c.src, Partition: kept[0].Partition, Bucket: kept[0].Bucket, Mode: Raw, Files: kept}}, nil
}

// decodeKeys sets MinKey and MaxKey of a key-value file.
func (c *collector) decodeKeys(f *File) error {
	if !c.src.Schema.HasPrimaryKey() || c.clustered() {
		return nil
	}
	types := c.src.Schema.KeyTypes()
	var err error
	if f.MinKey, err = binrow.DecodeRow(types, f.Meta.MinKey); err != nil {
		return errs.Corruptf("table %s: least key of file %s: %w", c.src.Label, f.Meta.Name, err)
	}
	if f.MaxKey, err = binrow.DecodeRow(types, f.Meta.MaxKey); err != nil {
		return errs.Corruptf("table %s: greatest key of file %s: %w", c.src.Label, f.Meta.Name, err)
	}
	return nil
}

func (c *collector) clustered() bool {
	return schema.OptClusteringOverride.Value(c.src.Schema.Options)
}

// keyedSplits plans a bucket of a primary-key table.
func (c *collector) keyedSplits(ctx context.Context, files []*File) ([]*Split, error) {
	raw := c.rawConvertible(files)
	if !raw && c.clustered() {
		return nil, errs.Unsupportedf("table %s has pk-clustering-override and files that need merging by key, which is not supported; compact the table first", c.src.Label)
	}
	keyFilter, types := c.src.keyFilter(c.req.Filter), c.src.Schema.KeyTypes()
	kept := make([]*File, 0, len(files))
	for _, f := range files {
		if err := c.decodeKeys(f); err != nil {
			return nil, err
		}
		if !c.clustered() && !mayMatchKey(keyFilter, f, types) {
			c.counts.FilesByStats++
			continue
		}
		kept = append(kept, f)
	}
	if raw {
		return c.appendSplit(ctx, kept)
	}
	// Oldest first: high levels, then level 0 by sequence.
	slices.SortStableFunc(kept, func(a, b *File) int {
		return cmp.Or(cmp.Compare(b.Meta.Level, a.Meta.Level), cmp.Compare(a.Meta.MaxSequence, b.Meta.MaxSequence), cmp.Compare(b.Meta.MinSequence, a.Meta.MinSequence))
	})
	var out []*Split
	for _, runs := range lsm.Sections(kept, func(f *File) (lo, hi []column.Scalar) { return f.MinKey, f.MaxKey }) {
		sp, err := c.sectionSplit(ctx, runs)
		if err != nil {
			return nil, err
		}
		if sp != nil {
			out = append(out, sp)
		}
	}
	return out, nil
}

// sectionSplit plans one section. It may be left out as a whole when no file
// of it can hold a wanted row, and the engine returns rows of its files unchanged.
func (c *collector) sectionSplit(ctx context.Context, runs []lsm.SortedRun[*File]) (*Split, error) {
	var files []*File
	for _, r := range runs {
		files = append(files, r...)
	}
	sp := &Split{Source: c.src, Partition: files[0].Partition, Bucket: files[0].Bucket, Mode: Merge, Files: files, Runs: runs}
	if len(files) == 1 && files[0].Deletes() == 0 && !c.req.KeepDeletes {
		sp.Mode, sp.Runs = Raw, nil
	}
	engine := schema.OptMergeEngine.Value(c.src.Schema.Options)
	if c.req.Filter != nil && (engine == "deduplicate" || engine == "first-row" || sp.Mode == Raw) {
		byStats, any := false, false
		for _, f := range files {
			ok, err := c.mayMatchValue(ctx, f)
			if err != nil {
				return nil, err
			}
			byStats = byStats || ok
			any = any || ok && c.mayMatchIndex(ctx, f)
		}
		switch {
		case !byStats:
			c.counts.FilesByStats += len(files)
			return nil, nil
		case !any:
			c.counts.FilesByIndex += len(files)
			return nil, nil
		}
	}
	return sp, nil
}

// rawConvertible is the rule of section 8.2: no merge is needed.
func (c *collector) rawConvertible(files []*File) bool {
	o := c.src.Schema.Options
	if c.clustered() && schema.OptDeletionVectors.Value(o) {
		// Above level 0 the vectors mask every older row of a key; deletes that
		// are still there are seen by their kind.
		return !slices.ContainsFunc(files, func(f *File) bool { return f.Meta.Level == 0 })
	}
	if c.req.KeepDeletes {
		return false
	}
	oneLevel := true
	for _, f := range files {
		if f.Meta.Level == 0 || f.Deletes() != 0 {
			return false
		}
		oneLevel = oneLevel && f.Meta.Level == files[0].Meta.Level
	}
	return oneLevel || schema.OptDeletionVectors.Value(o) || schema.OptMergeEngine.Value(o) == "first-row"
}

// joinSplits plans a bucket of a data-evolution table: files are grouped by
// overlapping row-id ranges. Statistics of single files say nothing of a group.
func (c *collector) joinSplits(files []*File) ([]*Split, error) {
	for _, f := range files {
		if f.Meta.FirstRowID == nil {
			return nil, errs.Corruptf("table %s: file %s of a data-evolution table has no first row id", c.src.Label, f.Meta.Name)
		}
	}
	sorted := slices.Clone(files)
	slices.SortStableFunc(sorted, func(a, b *File) int {
		return cmp.Or(cmp.Compare(*a.Meta.FirstRowID, *b.Meta.FirstRowID), cmp.Compare(b.Meta.RowCount, a.Meta.RowCount), cmp.Compare(a.Meta.MaxSequence, b.Meta.MaxSequence))
	})
	var out []*Split
	var end int64
	for _, f := range sorted {
		first := *f.Meta.FirstRowID
		if len(out) == 0 || first >= end {
			out = append(out, &Split{Source: c.src, Partition: f.Partition, Bucket: f.Bucket, Mode: Join})
			end = first
		}
		sp := out[len(out)-1]
		sp.Files = append(sp.Files, f)
		end = max(end, first+f.Meta.RowCount)
	}
	return out, nil
}

// ExactPartitions reports whether the filter is decided by partitions alone,
// so that counts of planned files are counts of matching rows.
func (s *Source) ExactPartitions(f predicate.Predicate) bool {
	if f == nil {
		return true
	}
	if !s.Schema.Partitioned() {
		return false
	}
	for col := range predicate.Columns(f) {
		if !slices.Contains(s.Schema.PartitionKeys, s.Schema.Fields[col].Name) {
			return false
		}
	}
	return true
}
