package scan

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/index"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// Request says which rows a scan wants.
type Request struct {
	// Filter is over indexes into Source.Schema.Fields; it only allows leaving files out.
	Filter predicate.Predicate
	// Partitions restricts the scan to partitions exactly; nil = all.
	Partitions func(values []column.Scalar) bool
	// Levels restricts the scan to levels; nil = the rule of batch reads.
	Levels func(level int) bool
	// KeepDeletes asks for retract rows as well: no split is read raw that may hold some.
	KeepDeletes bool
	// Postponed asks for the files of the postpone bucket as well, as they are and in the order of their arrival:
	// streaming reads without a changelog take rows from there, since they pass over the compaction that moves them.
	Postponed bool
	// CreatedAfter leaves out files created before it (wall clock milliseconds).
	CreatedAfter *int64
}

// Counts say what a plan kept and left out.
type Counts struct {
	Manifests, ManifestsPruned                                                      int
	Files, FilesByPartition, FilesByBucket, FilesByStats, FilesByIndex, FilesHidden int
}

// collector gathers entries under a request.
type collector struct {
	src    *Source
	req    Request
	layout *layout
	keep   func([]column.Scalar) bool
	// partFilter is the part of Filter over partition columns, by partition index.
	partFilter predicate.Predicate
	buckets    *bucketPruner
	counts     Counts
	// indexFilters are the filter by the schema of files.
	indexFilters map[int64]indexFilter
}

func (s *Source) newCollector(req Request) *collector {
	c := &collector{src: s, req: req, layout: s.newLayout()}
	c.partFilter = s.PartitionFilter(req.Filter)
	c.keep = func(vals []column.Scalar) bool {
		if c.partFilter != nil && !predicate.Matches(c.partFilter, func(i int) column.Scalar { return vals[i] }) {
			return false
		}
		return req.Partitions == nil || req.Partitions(vals)
	}
	c.buckets = s.newBucketPruner(req.Filter)
	return c
}

// PartitionFilter returns the conjuncts of f that look at partition columns
// only, over indexes into the partition keys; nil for none. Mixed conjuncts
// are no partition predicates.
func (s *Source) PartitionFilter(f predicate.Predicate) predicate.Predicate {
	if f == nil || !s.Schema.Partitioned() {
		return nil
	}
	pos := map[int]int{}
	for i, k := range s.Schema.PartitionKeys {
		pos[s.Schema.Index(k)] = i
	}
	var out []predicate.Predicate
	for _, c := range predicate.Conjuncts(f) {
		only := true
		for col := range predicate.Columns(c) {
			if _, ok := pos[col]; !ok {
				only = false
			}
		}
		if only {
			out = append(out, predicate.RemapColumns(c, func(i int) int { return pos[i] }))
		}
	}
	return predicate.NewAnd(out...)
}

// readManifests reads the manifests of lists, in order, leaving out those that
// hold no wanted partition.
func (c *collector) readManifests(ctx context.Context, lists ...string) ([][]manifest.Entry, error) {
	var kept []manifest.FileInfo
	for _, name := range lists {
		if name == "" {
			continue
		}
		infos, err := c.src.Store.ReadList(ctx, name)
		if err != nil {
			return nil, err
		}
		for i := range infos {
			c.counts.Manifests++
			if c.partFilter != nil && !c.manifestMayMatch(&infos[i]) {
				c.counts.ManifestsPruned++
				continue
			}
			kept = append(kept, infos[i])
		}
	}
	return c.src.Store.ReadManifests(ctx, kept)
}

func (c *collector) manifestMayMatch(info *manifest.FileInfo) bool {
	return predicate.MayMatch(c.partFilter, func(i int) (predicate.Stats, bool) {
		return info.PartitionColumn(c.layout.types, i)
	})
}

// live returns a snapshot's live files. Partition and bucket filters are
// applied; both are the same for an ADD and its DELETE.
func (c *collector) live(ctx context.Context, snap *snapshot.Snapshot) ([]*File, error) {
	if snap == nil {
		return nil, nil
	}
	manifests, err := c.readManifests(ctx, snap.BaseManifestList, snap.DeltaManifestList)
	if err != nil {
		return nil, err
	}
	var failed error
	entries, err := manifest.Merge(manifests, c.layout.types, func(e *manifest.Entry) bool {
		p, err := c.layout.partition(e.Partition, c.keep)
		if err != nil {
			failed = err
			return false
		}
		if !p.keep && e.Kind == manifest.Add {
			c.counts.FilesByPartition++
		}
		return p.keep
	})
	if err = errors.Join(failed, err); err != nil {
		return nil, err
	}
	var files []*File
	for _, e := range entries {
		f, err := c.admit(ctx, e)
		if err != nil {
			return nil, err
		}
		if f != nil {
			files = append(files, f)
		}
	}
	return files, nil
}

// admit resolves an ADD entry, nil where the request excludes its partition or bucket.
func (c *collector) admit(ctx context.Context, e *manifest.Entry) (*File, error) {
	p, err := c.layout.partition(e.Partition, c.keep)
	if err != nil || !p.keep {
		return nil, err
	}
	keeps, err := c.buckets.keeps(ctx, c.src, e)
	if err != nil {
		return nil, err
	}
	if !keeps {
		c.counts.FilesByBucket++
		return nil, nil
	}
	if t := c.req.CreatedAfter; t != nil && e.File.CreationMillis != nil && *e.File.CreationMillis < *t {
		return nil, nil
	}
	return c.layout.file(e, p)
}

// FileOf is the data file of an entry as a reader needs it, with the bounds of its keys.
func (s *Source) FileOf(e *manifest.Entry) (*File, error) {
	c := s.newCollector(Request{})
	p, err := c.layout.partition(e.Partition, nil)
	if err != nil {
		return nil, err
	}
	f, err := c.layout.file(e, p)
	if err != nil {
		return nil, err
	}
	return f, c.decodeKeys(f)
}

// vectors returns a function that finds the deletion vectors of a snapshot's
// files. Index kinds that nobody knows refuse the read: they may say that rows are gone.
func (c *collector) vectors(ctx context.Context, snap *snapshot.Snapshot) (func(*File) error, error) {
	if snap == nil || snap.IndexManifest == "" {
		return func(*File) error { return nil }, nil
	}
	name := c.src.Store.Path(snap.IndexManifest)
	entries, err := c.src.Store.ReadIndexManifest(ctx, snap.IndexManifest)
	if err != nil {
		return nil, err
	}
	if err := index.CheckKinds(name, entries); err != nil {
		return nil, fmt.Errorf("table %s: %w", c.src.Label, err)
	}
	vs, err := index.NewVectors(name, entries, c.layout.types)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", c.src.Label, err)
	}
	inDataDir := schema.OptIndexInDataDir.Value(c.src.Schema.Options)
	return func(f *File) error {
		ref, ok, err := vs.Of(f.framed, f.Bucket, f.Meta.Name)
		if err != nil || !ok {
			return err
		}
		p, err := c.layout.partition(f.framed, c.keep)
		if err != nil {
			return err
		}
		f.Vector = &VectorRef{
			Path: index.Path(c.src.Root, strings.TrimSuffix(c.layout.bucketPath(p, f.Bucket), "/"), ref.Entry, inDataDir),
			Size: ref.Entry.Size, Range: ref.Range,
		}
		return nil
	}, nil
}
