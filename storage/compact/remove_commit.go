package compact

import (
	"context"
	"math"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/commit"
	"github.com/tributarydb/tributary/storage/index"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/snapshot"
	"github.com/tributarydb/tributary/storage/write"
)

// Check is errs.Conflict where a file that loses rows is not live in a snapshot, or other rows of it have been
// deleted since the statement read it.
func (r *Remover) Check(ctx context.Context, snap *snapshot.Snapshot) error {
	_, err := r.find(ctx, snap)
	return err
}

// find returns the live files of the buckets that lose rows, having checked them.
func (r *Remover) find(ctx context.Context, snap *snapshot.Snapshot) (map[bucketName][]*scan.File, error) {
	if len(r.files) == 0 {
		return nil, nil
	}
	if snap == nil {
		return nil, r.changed(r.files[0])
	}
	order, _ := r.buckets()
	partitions, wanted := map[string]bool{}, map[bucketName]bool{}
	for _, k := range order {
		partitions[k.partition], wanted[k] = true, true
	}
	types := r.j.src.Schema.PartitionTypes()
	files, _, err := r.j.src.LiveFiles(ctx, snap, scan.Request{
		Partitions: func(vals []column.Scalar) bool { return partitions[string(binrow.EncodeRow(types, vals))] },
	})
	if err != nil {
		return nil, err
	}
	live := map[bucketName][]*scan.File{}
	at := map[bucketName]map[string]*scan.File{}
	for _, f := range files {
		k := nameOf(f)
		if !wanted[k] {
			continue
		}
		if at[k] == nil {
			at[k] = map[string]*scan.File{}
		}
		live[k] = append(live[k], f)
		at[k][f.Meta.Name] = f
	}
	for _, f := range r.files {
		now := at[nameOf(f.File)][f.Meta.Name]
		if now == nil {
			return nil, r.changed(f)
		}
		same, err := r.sameVector(ctx, f, now)
		if err != nil {
			return nil, err
		}
		if !same {
			return nil, r.changed(f)
		}
	}
	return live, nil
}

// sameVector reports whether the same rows of a file are deleted as the statement has read. Its vector may
// have moved to another index file, when rows of other files were deleted.
func (r *Remover) sameVector(ctx context.Context, f *removal, now *scan.File) (bool, error) {
	was, is := f.Vector, now.Vector
	switch {
	case was == nil || is == nil:
		return was == is, nil
	case was.Path == is.Path && was.Range.Offset == is.Range.Offset && was.Range.Length == is.Range.Length:
		return true, nil
	}
	v, err := r.readVector(ctx, now)
	if err != nil {
		return false, err
	}
	return v.Equal(f.base), nil
}

// Messages makes the messages that remove the rows from the state of a snapshot, which it checks as Check does. The vectors
// that it writes belong to that state.
func (r *Remover) Messages(ctx context.Context, snap *snapshot.Snapshot) ([]commit.Message, error) {
	live, err := r.find(ctx, snap)
	if err != nil || live == nil {
		return nil, err
	}
	indexes, err := readIndexes(ctx, r.j.src, snap)
	if err != nil {
		return nil, err
	}
	order, files := r.buckets()
	after := map[bucketName][]*manifest.DataFile{}
	for _, u := range r.units {
		k := nameOf(u.files[0].File)
		after[k] = append(after[k], u.after...)
	}
	all := make([]*bucket, 0, len(order))
	for _, k := range order {
		all = append(all, buckets(live[k])...)
	}
	if err := setVectors(all, indexes, r.j.src.Schema.PartitionTypes()); err != nil {
		return nil, err
	}
	out := make([]commit.Message, 0, len(order))
	for i, k := range order {
		b := all[i]
		m := commit.Message{Partition: b.framed, Bucket: b.id, TotalBuckets: files[k][0].TotalBuckets, NewFiles: after[k]}
		touched := map[string]*removal{}
		for _, f := range files[k] {
			touched[f.Meta.Name] = f
		}
		for _, f := range b.files {
			if x := touched[f.Meta.Name]; x != nil && r.goes(x) {
				m.DeletedFiles = append(m.DeletedFiles, f.Meta)
			}
		}
		if m.NewIndexFiles, m.DeletedIndexFiles, err = r.vectors(ctx, b, touched); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// vectors makes the index part of a bucket's message: new vectors of the files that keep rows, none of those that go. The
// other vectors of the index files that are replaced move along (sections 10.2 and 10.3 of the format).
func (r *Remover) vectors(ctx context.Context, b *bucket, touched map[string]*removal) (added, deleted []manifest.IndexEntry, err error) {
	var out []write.NamedVector
	replaced := false // some vector is new or goes
	paths := map[string]*scan.File{}
	for _, f := range b.files {
		paths[f.Meta.Name] = f
		x := touched[f.Meta.Name]
		if x == nil {
			continue
		}
		replaced = replaced || !r.goes(x) || f.Vector != nil
		if !r.goes(x) {
			out = append(out, write.NamedVector{DataFile: f.Meta.Name, Vector: x.gone})
		}
	}
	if !replaced {
		return nil, nil, nil
	}
	for i := range b.vectors {
		e := &b.vectors[i]
		if r.j.opts.unaware && !namesAny(e, touched) {
			continue
		}
		deleted = append(deleted, *e)
		for _, v := range e.Ranges {
			f := paths[v.DataFile]
			if f == nil || f.Vector == nil || touched[v.DataFile] != nil {
				continue // its file is gone, or it is replaced
			}
			kept, err := index.ReadVector(ctx, r.j.src.FIO, nil, f.Vector.Path, e.Size, v)
			if err != nil {
				return nil, nil, err
			}
			out = append(out, write.NamedVector{DataFile: v.DataFile, Vector: kept})
		}
	}
	if len(out) == 0 {
		return nil, deleted, nil
	}
	size := r.j.opts.vectorFile
	if !r.j.opts.unaware {
		size = math.MaxInt64 // one index file a bucket
	}
	added, err = r.j.w.WriteVectors(ctx, write.Place{Partition: b.partition, Bucket: b.id}, size, out)
	return added, deleted, err
}

// namesAny reports whether an index file has a vector of one of the files.
func namesAny(e *manifest.IndexEntry, files map[string]*removal) bool {
	for _, r := range e.Ranges {
		if files[r.DataFile] != nil {
			return true
		}
	}
	return false
}
