package compact

import (
	"context"
	"path"

	"github.com/tributarydb/tributary/storage/index"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/write"
)

// vectorsWithout makes the index part of a change that removes data files of a bucket: the index files
// with vectors of theirs go, and the other vectors in them move into new ones (section 10.3 of the
// format). Vectors of data files that are not live are left out.
func (j *appendJob) vectorsWithout(ctx context.Context, b *bucket, gone []*scan.File) (added, deleted []manifest.IndexEntry, err error) {
	touched := map[string]string{} // path by name
	removed := make(map[string]bool, len(gone))
	for _, f := range gone {
		removed[f.Meta.Name] = true
		if f.Vector != nil {
			touched[path.Base(f.Vector.Path)] = f.Vector.Path
		}
	}
	if len(touched) == 0 {
		return nil, nil, nil
	}
	live := make(map[string]bool, len(b.files))
	for _, f := range b.files {
		live[f.Meta.Name] = !removed[f.Meta.Name]
	}
	var kept []write.NamedVector
	for i := range j.index {
		e := &j.index[i]
		file, ok := touched[e.Name]
		if !ok || e.Type != manifest.IndexDeletionVectors {
			continue
		}
		deleted = append(deleted, *e)
		for _, r := range e.Ranges {
			if !live[r.DataFile] {
				continue
			}
			v, err := index.ReadVector(ctx, j.src.FIO, nil, file, e.Size, r)
			if err != nil {
				return nil, nil, err
			}
			kept = append(kept, write.NamedVector{DataFile: r.DataFile, Vector: v})
		}
	}
	if len(kept) == 0 {
		return nil, deleted, nil
	}
	added, err = j.w.WriteVectors(ctx, write.Place{Partition: b.partition, Bucket: b.id}, j.opts.vectorFile, kept)
	return added, deleted, err
}
