package write

import (
	"context"
	"strings"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/index"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// State is the state of the table that rows are written on top of.
type State struct {
	Source *scan.Source
	// Snapshot is the newest one; nil = an empty table.
	Snapshot *snapshot.Snapshot
	// Keys calls fn with the primary key columns, in the key's order, of all rows of the table,
	// bucket by bucket. Only tables whose rows move between partitions ask for it.
	Keys func(ctx context.Context, fn func(partition []column.Scalar, bucket int, keys *column.Batch) error) error
}

// bucketState is what is there of a bucket.
type bucketState struct {
	maxSequence int64
	hash        *manifest.IndexEntry
	fill        fill
}

// partitionState is what is there of a partition.
type partitionState struct {
	// buckets is the recorded number of buckets, 0 where there is none.
	buckets int
	// waiting is the number of rows in the postpone bucket.
	waiting int64
	byID    map[int]*bucketState
}

func (p *partitionState) bucket(id int) *bucketState {
	b := p.byID[id]
	if b == nil {
		b = &bucketState{maxSequence: -1}
		p.byID[id] = b
	}
	return b
}

// readState reads what is there of the partitions that get rows, by partition number of the router.
func (w *Writer) readState(ctx context.Context, st State) (map[*partition]*partitionState, error) {
	out := map[*partition]*partitionState{}
	for _, p := range w.router.all {
		out[p] = &partitionState{byID: map[int]*bucketState{}}
	}
	if st.Snapshot == nil {
		return out, nil
	}
	if err := w.checkIndexes(ctx, st); err != nil || w.overwrite {
		return out, err
	}
	of := func(framed []byte) (*partitionState, error) {
		vals, err := decodePartition(w.router.types, framed)
		if err != nil {
			return nil, errs.Corruptf("table %s: a manifest entry's partition: %w", w.t.Label, err)
		}
		p := w.router.find(vals)
		return out[p], nil
	}
	var infos []manifest.FileInfo
	for _, list := range []string{st.Snapshot.BaseManifestList, st.Snapshot.DeltaManifestList} {
		if list == "" {
			continue
		}
		l, err := st.Source.Store.ReadList(ctx, list)
		if err != nil {
			return nil, err
		}
		infos = append(infos, l...)
	}
	known := map[string]*partitionState{}
	find := func(framed []byte) *partitionState {
		p, ok := known[string(framed)]
		if !ok {
			// A partition that cannot be decoded fails in Live, too.
			p, _ = of(framed)
			known[string(framed)] = p
		}
		return p
	}
	live, err := st.Source.Store.Live(ctx, infos, w.router.types, func(e *manifest.Entry) bool { return find(e.Partition) != nil })
	if err != nil {
		return nil, err
	}
	for _, e := range live {
		p := find(e.Partition)
		if e.TotalBuckets > 0 {
			p.buckets = e.TotalBuckets
		}
		if e.Bucket == schema.PostponeBucket {
			p.waiting += e.File.RowCount
		}
		b := p.bucket(e.Bucket)
		b.maxSequence = max(b.maxSequence, e.File.MaxSequence)
		b.fill.add(e.File, w.opts.smallSize)
	}
	return out, w.readHashes(ctx, st, find)
}

// readHashes finds the hash index files.
func (w *Writer) readHashes(ctx context.Context, st State, find func([]byte) *partitionState) error {
	entries, err := st.Source.Store.ReadIndexManifest(ctx, st.Snapshot.IndexManifest)
	if err != nil {
		return err
	}
	for i := range entries {
		if e := &entries[i]; e.Type == manifest.IndexHash {
			if p := find(e.Partition); p != nil {
				p.bucket(e.Bucket).hash = e
			}
		}
	}
	return nil
}

// checkIndexes refuses tables with indexes that a writer would have to keep up to date.
func (w *Writer) checkIndexes(ctx context.Context, st State) error {
	entries, err := st.Source.Store.ReadIndexManifest(ctx, st.Snapshot.IndexManifest)
	if err != nil {
		return err
	}
	for i := range entries {
		e := &entries[i]
		if e.Type != manifest.IndexHash && e.Type != manifest.IndexDeletionVectors || e.Global != nil {
			return errs.Unsupportedf("table %s has an index of kind '%s' (file %s), which is not kept up to date here; drop the index, or write the table with Paimon", w.t.Label, e.Type, e.Name)
		}
	}
	return nil
}

// hashPath is the path of a hash index file.
func (w *Writer) hashPath(s *slot, e *manifest.IndexEntry) string {
	return index.Path(w.t.Dir, strings.TrimSuffix(s.dir, "/"), e, w.opts.indexInDataDir)
}
