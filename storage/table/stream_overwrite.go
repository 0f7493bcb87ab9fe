package table

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/lsm"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/read"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// takeOverwrite makes morsels of the changes of an OVERWRITE snapshot of a primary-key table: the rows that it replaced as retracts,
// then its own rows (SnapshotReader.readChanges), which may be in other buckets than those of their keys were. Rows that were hidden by
// newer ones of their keys before are no rows that it replaced.
func (s *streamReader) takeOverwrite(ctx context.Context, snap *snapshot.Snapshot, req scan.Request) error {
	src := s.t.Source()
	added, gone := map[string]bool{}, map[string]bool{}
	delta := *snap
	delta.BaseManifestList = ""
	err := src.EachEntry(ctx, &delta, func(partition string, e *manifest.Entry) {
		at := added
		if e.Kind == manifest.Delete {
			at = gone
		}
		at[fileKey(partition, e.Bucket, e.File.Name)] = true
	})
	if err != nil {
		return err
	}
	plan, err := src.Changes(ctx, []*snapshot.Snapshot{snap}, false, req)
	if err != nil {
		return err
	}
	var parts []overwritePart
	for _, sp := range plan.Splits {
		f := sp.Files[0]
		if gone[fileKey(f.PartitionID, f.Bucket, f.Meta.Name)] {
			continue // it only changed its level
		}
		for _, m := range read.Morsels(s.m.p.handles, sp, s.m.p.want) {
			parts = append(parts, overwritePart{f, true, m})
		}
	}
	if s.m.p.want.Kind && snap.ID > snapshot.FirstID && len(gone) > 0 {
		before, err := s.t.snaps.Get(ctx, snap.ID-1)
		if errs.Is(err, errs.NotFound) {
			return errs.NotFoundf("table %s: The snapshot with id %d has expired: without it, a streaming read cannot tell which rows snapshot %d has replaced. Keep snapshots for longer ('snapshot.time-retained'), "+
				"or leave OVERWRITE snapshots out ('%s' = 'false').", s.t.Label(), snap.ID-1, snap.ID, optStreamOverwrite)
		}
		if err != nil {
			return err
		}
		files, err := src.VisibleFiles(ctx, before, req)
		if err != nil {
			return err
		}
		buckets := map[string][]*scan.File{}
		for _, f := range files {
			if k := fileKey(f.PartitionID, f.Bucket, f.Meta.Name); gone[k] && !added[k] {
				buckets[bucketKey(f)] = append(buckets[bucketKey(f)], f)
			}
		}
		for _, files := range buckets {
			parts = append(parts, overwritePart{files[0], false, &replacedMorsel{p: s.m.p, src: src, files: files}})
		}
	}
	slices.SortStableFunc(parts, func(a, b overwritePart) int {
		return cmp.Or(cmp.Compare(b2i(a.added), b2i(b.added)), cmp.Compare(a.file.PartitionID, b.file.PartitionID), cmp.Compare(a.file.Bucket, b.file.Bucket),
			cmp.Compare(a.file.Meta.MinSequence, b.file.Meta.MinSequence))
	})
	for _, x := range parts {
		s.morsels = append(s.morsels, x.morsel)
	}
	return nil
}

// overwritePart is a part of the changes of an OVERWRITE snapshot, in the bucket of file.
type overwritePart struct {
	file   *scan.File
	added  bool
	morsel relation.Morsel
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// fileKey names a data file.
func fileKey(partition string, bucket int, name string) string {
	return bucketKey(&scan.File{PartitionID: partition, Bucket: bucket}) + "/" + name
}

// replacedMorsel reads the rows of files that are no longer the table's, as retracts.
type replacedMorsel struct {
	p     *planner
	src   *scan.Source
	files []*scan.File
}

// Weight is not known.
func (m *replacedMorsel) Weight() int64 { return 0 }

// Open starts reading.
func (m *replacedMorsel) Open(context.Context) (relation.Reader, error) {
	return &replacedReader{m: m, splits: m.src.MergeSplits(m.files, partitionOfFiles(m.files))}, nil
}

type replacedReader struct {
	m      *replacedMorsel
	splits []*scan.Split
	r      relation.Reader
}

// Next returns the next batch.
func (r *replacedReader) Next(ctx context.Context) (*column.Batch, error) {
	w := r.m.p.want
	for {
		if r.r == nil {
			if len(r.splits) == 0 {
				return nil, io.EOF
			}
			in, err := r.m.p.handles.OpenMerge(ctx, r.splits[0], w, read.MergeOptions{})
			if err != nil {
				return nil, err
			}
			r.r, r.splits = in, r.splits[1:]
		}
		b, err := r.r.Next(ctx)
		if errors.Is(err, io.EOF) {
			in := r.r
			r.r = nil
			if err := in.Close(); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		at := len(w.Columns)
		out := *b
		out.Cols = slices.Clone(b.Cols)
		kinds := &column.Vector{Kind: column.KindInt32, N: b.N, I32: make([]int32, b.N)}
		for k := range b.Rows() {
			i := b.Row(k)
			kinds.I32[i] = lsm.Delete
			if int32(b.Cols[at].Int(i)) == lsm.UpdateAfter {
				kinds.I32[i] = lsm.UpdateBefore
			}
		}
		out.Cols[at] = kinds
		return &out, nil
	}
}

// Close ends the reading.
func (r *replacedReader) Close() error {
	r.splits = nil
	if r.r == nil {
		return nil
	}
	in := r.r
	r.r = nil
	return in.Close()
}
