package compact

import (
	"cmp"
	"slices"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/lsm"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/schema"
)

// bucket is a bucket of a partition with its live files.
type bucket struct {
	partition []column.Scalar
	// framed is the BinaryRow of the partition, as entries have it.
	framed []byte
	id     int
	// total is recorded as _TOTAL_BUCKETS.
	total int
	files []*scan.File
	// vectors are the index entries of the bucket's deletion vectors.
	vectors []manifest.IndexEntry
}

// run is a sorted run: a file of level 0, or all files of a higher level in key order.
type run struct {
	level int
	files []*scan.File
}

func (r run) size() int64 {
	var n int64
	for _, f := range r.files {
		n += f.Meta.Size
	}
	return n
}

// buckets groups files, in the order of appearance.
func buckets(files []*scan.File) []*bucket {
	type id struct {
		partition string
		bucket    int
	}
	at := map[id]*bucket{}
	var out []*bucket
	for _, f := range files {
		k := id{f.PartitionID, f.Bucket}
		b := at[k]
		if b == nil {
			b = &bucket{partition: f.Partition, framed: f.PartitionRow(), id: f.Bucket, total: f.TotalBuckets}
			at[k] = b
			out = append(out, b)
		}
		b.files = append(b.files, f)
	}
	return out
}

// setVectors gives the buckets their deletion vectors' entries.
func setVectors(all []*bucket, entries []manifest.IndexEntry, types []*schema.Type) error {
	parts := manifest.NewPartitions(types)
	type id struct {
		partition string
		bucket    int
	}
	at := map[id][]manifest.IndexEntry{}
	for _, e := range entries {
		if e.Type != manifest.IndexDeletionVectors {
			continue
		}
		p, err := parts.Canonical(e.Partition)
		if err != nil {
			return err
		}
		at[id{p, e.Bucket}] = append(at[id{p, e.Bucket}], e)
	}
	for _, b := range all {
		p, err := parts.Canonical(b.framed)
		if err != nil {
			return err
		}
		b.vectors = at[id{p, b.id}]
	}
	return nil
}

// runs lists the sorted runs, the newest first (Levels.levelSortedRuns): the files of level 0
// by descending sequence numbers, then the levels. Files of a level whose keys overlap are errs.Corrupt.
func (b *bucket) runs(label string) ([]run, error) {
	var out []run
	levels := map[int][]*scan.File{}
	top := 0
	for _, f := range b.files {
		if f.Meta.Level == 0 {
			out = append(out, run{0, []*scan.File{f}})
			continue
		}
		levels[f.Meta.Level] = append(levels[f.Meta.Level], f)
		top = max(top, f.Meta.Level)
	}
	slices.SortStableFunc(out, func(a, b run) int { return newestFirst(a.files[0], b.files[0]) })
	for l := 1; l <= top; l++ {
		files := levels[l]
		if len(files) == 0 {
			continue
		}
		slices.SortStableFunc(files, func(a, b *scan.File) int { return lsm.CompareKeys(a.MinKey, b.MinKey) })
		for i := 1; i < len(files); i++ {
			if lsm.CompareKeys(files[i-1].MaxKey, files[i].MinKey) >= 0 {
				return nil, errs.Corruptf("table %s, bucket %d: the keys of the files %s and %s of level %d overlap; it cannot be compacted",
					label, b.id, files[i-1].Meta.Name, files[i].Meta.Name, l)
			}
		}
		out = append(out, run{l, files})
	}
	return out, nil
}

// newestFirst orders files of level 0 (section 8.1 of the format).
func newestFirst(a, b *scan.File) int {
	created := func(f *scan.File) int64 {
		if f.Meta.CreationMillis == nil {
			return 0
		}
		return *f.Meta.CreationMillis
	}
	return cmp.Or(cmp.Compare(b.Meta.MaxSequence, a.Meta.MaxSequence), cmp.Compare(a.Meta.MinSequence, b.Meta.MinSequence),
		cmp.Compare(created(a), created(b)), cmp.Compare(a.Meta.Name, b.Meta.Name))
}

// topLevel is the highest level of the bucket: that of the options, or of its files
// where the option was lowered.
func topLevel(option int, runs []run) int {
	for _, r := range runs {
		option = max(option, r.level)
	}
	return option
}
