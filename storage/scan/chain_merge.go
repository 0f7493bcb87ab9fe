package scan

import (
	"context"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/lsm"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// VisibleFiles lists the live files that a batch read of a snapshot sees, with
// keys and deletion vectors.
func (s *Source) VisibleFiles(ctx context.Context, snap *snapshot.Snapshot, req Request) ([]*File, error) {
	c := s.newCollector(req)
	files, err := c.live(ctx, snap)
	if err != nil {
		return nil, err
	}
	setVector, err := c.vectors(ctx, snap)
	if err != nil {
		return nil, err
	}
	visible := c.visible()
	out := files[:0]
	for _, f := range files {
		if !visible(f) {
			continue
		}
		if err := c.decodeKeys(f); err != nil {
			return nil, err
		}
		if err := setVector(f); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// MergeSplits plans the merge of files of several partitions and branches, the
// oldest first, bucket by bucket, shown as one partition (chain tables).
func (s *Source) MergeSplits(files []*File, partitionAs []column.Scalar) []*Split {
	buckets, order := map[int][]*File{}, []int(nil)
	for _, f := range files {
		if buckets[f.Bucket] == nil {
			order = append(order, f.Bucket)
		}
		buckets[f.Bucket] = append(buckets[f.Bucket], f)
	}
	var out []*Split
	for _, b := range order {
		for _, runs := range lsm.Sections(buckets[b], func(f *File) (lo, hi []column.Scalar) { return f.MinKey, f.MaxKey }) {
			sp := &Split{Source: s, Partition: partitionAs, PartitionAs: partitionAs, Bucket: b, Mode: Merge, Runs: runs}
			for _, r := range runs {
				sp.Files = append(sp.Files, r...)
			}
			out = append(out, sp)
		}
	}
	return out
}
