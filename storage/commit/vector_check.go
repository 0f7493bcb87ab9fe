package commit

import (
	"fmt"
	"slices"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
)

// fileKey names a data file of a state: partition and bucket are part of it since
// names are unique by chance only.
type fileKey struct {
	partition string
	bucket    int
	name      string
}

func (a *attempt) fileKey(partition []byte, bucket int, name string) (fileKey, error) {
	p, err := a.parts.Canonical(partition)
	return fileKey{p, bucket, name}, err
}

// eachVector calls fn with every deletion vector that entries name.
func (a *attempt) eachVector(entries []manifest.IndexEntry, fn func(k fileKey, e *manifest.IndexEntry, r *manifest.VectorRange) error) error {
	for i := range entries {
		e := &entries[i]
		if e.Type != manifest.IndexDeletionVectors {
			continue
		}
		for j := range e.Ranges {
			k, err := a.fileKey(e.Partition, e.Bucket, e.Ranges[j].DataFile)
			if err != nil {
				return err
			}
			if err := fn(k, e, &e.Ranges[j]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *attempt) unaware() bool { return a.c.t.Schema.BucketMode() == schema.BucketUnaware }

// deletedFiles are the data files that the change deletes for good: a file that only changes its level is none.
func (a *attempt) deletedFiles() (map[fileKey]bool, error) {
	out := map[fileKey]bool{}
	for _, kind := range []manifest.Kind{manifest.Delete, manifest.Add} {
		for i := range a.delta {
			e := &a.delta[i]
			if e.Kind != kind {
				continue
			}
			k, err := a.fileKey(e.Partition, e.Bucket, e.File.Name)
			if err != nil {
				return nil, err
			}
			if kind == manifest.Delete {
				out[k] = true
			} else {
				delete(out, k)
			}
		}
	}
	return out, nil
}

// checkVectors checks deletion vectors against the files that are live after the
// commit (sections 10.2, 10.3 and 12.3 of the format).
//
// Who deletes a data file must remove its vector, by naming the index file, else it does not know the rows
// that another writer deleted meanwhile: they would come back. A new vector needs its file: where another
// writer has rewritten it, the rows that the vector deletes are somewhere else now.
//
// Real buckets have one index file a bucket, which a new one replaces. Where the
// commit does not name the file that it replaces, the new one must have what the old one had.
func (a *attempt) checkVectors(state map[string]*manifest.Entry) error {
	label := a.c.t.Label
	live := make(map[fileKey]bool, len(state))
	for _, e := range state {
		k, err := a.fileKey(e.Partition, e.Bucket, e.File.Name)
		if err != nil {
			return err
		}
		live[k] = true
	}
	added := map[fileKey]*manifest.VectorRange{}
	replaced, err := a.replacedBuckets()
	if err != nil {
		return err
	}
	unaware := a.unaware()
	err = a.eachVector(a.indexAdd, func(k fileKey, e *manifest.IndexEntry, r *manifest.VectorRange) error {
		if !live[k] {
			return errs.Conflictf("table %s: rows of data file %s were to be deleted, but another writer removed the file meanwhile; repeat the statement", label, k.name)
		}
		added[k] = r
		return nil
	})
	if err != nil {
		return err
	}
	gone, err := a.deletedFiles()
	if err != nil {
		return err
	}
	named := func(e *manifest.IndexEntry) bool {
		return slices.ContainsFunc(a.indexDelete, func(d manifest.IndexEntry) bool { return d.Name == e.Name })
	}
	return a.eachVector(a.index, func(k fileKey, e *manifest.IndexEntry, r *manifest.VectorRange) error {
		if named(e) {
			return nil
		}
		if gone[k] && (unaware || !a.r.DropVectors) {
			return errs.Conflictf("table %s: data file %s, which this commit deletes, has a deletion vector in %s, since another writer deleted rows of it meanwhile; repeat the statement", label, k.name, e.Name)
		}
		if unaware || !live[k] || !replaced[fileKey{k.partition, k.bucket, ""}] {
			return nil
		}
		if n := added[k]; n == nil || n.Cardinality != nil && r.Cardinality != nil && *n.Cardinality < *r.Cardinality {
			return errs.Conflictf("table %s: rows of data file %s that another writer deleted meanwhile would come back; repeat the statement", label, k.name)
		}
		return nil
	})
}

// replacedBuckets are the buckets, as keys without a name, that get new deletion vectors.
func (a *attempt) replacedBuckets() (map[fileKey]bool, error) {
	out := map[fileKey]bool{}
	for i := range a.indexAdd {
		e := &a.indexAdd[i]
		if e.Type != manifest.IndexDeletionVectors {
			continue
		}
		k, err := a.fileKey(e.Partition, e.Bucket, "")
		if err != nil {
			return nil, err
		}
		out[k] = true
	}
	return out, nil
}

// dropVectors removes the vectors of the data files that the change deletes. An index
// file that has others as well stays, only its entry names fewer vectors.
func (a *attempt) dropVectors() error {
	gone, err := a.deletedFiles()
	if err != nil || len(gone) == 0 {
		return err
	}
	replaced, err := a.replacedBuckets()
	if err != nil {
		return err
	}
	unaware := a.unaware()
	a.indexAdd, a.indexDelete = slices.Clone(a.indexAdd), slices.Clone(a.indexDelete)
	for i := range a.index {
		e := a.index[i]
		if e.Type != manifest.IndexDeletionVectors || slices.ContainsFunc(a.indexDelete, func(d manifest.IndexEntry) bool { return d.Name == e.Name }) {
			continue
		}
		at, err := a.fileKey(e.Partition, e.Bucket, "")
		if err != nil {
			return err
		}
		if !unaware && replaced[at] {
			continue // the commit brings the bucket's vectors
		}
		var kept []manifest.VectorRange
		for _, r := range e.Ranges {
			if !gone[fileKey{at.partition, at.bucket, r.DataFile}] {
				kept = append(kept, r)
			}
		}
		if len(kept) == len(e.Ranges) {
			continue
		}
		a.indexDelete = append(a.indexDelete, a.index[i])
		if len(kept) > 0 {
			e.Ranges, e.RowCount = kept, int64(len(kept))
			a.indexAdd = append(a.indexAdd, e)
		}
	}
	return nil
}

// nextIndex applies the change to the index state (section 4.4 of the format).
// Entries of kinds that are not touched stay as they are.
func (a *attempt) nextIndex() ([]manifest.IndexEntry, error) {
	unaware := a.unaware()
	key := func(e *manifest.IndexEntry) (string, error) {
		p, err := a.parts.Canonical(e.Partition)
		if err != nil {
			return "", err
		}
		if e.Global == nil && (e.Type == manifest.IndexHash || e.Type == manifest.IndexDeletionVectors && !unaware) {
			return fmt.Sprintf("%s/%d/%s", e.Type, e.Bucket, p), nil
		}
		return "file/" + e.Name, nil
	}
	out := slices.Clone(a.index)
	at := make(map[string]int, len(out)) // by key
	byName := make(map[string]int, len(out))
	for i := range out {
		k, err := key(&out[i])
		if err != nil {
			return nil, err
		}
		at[k], byName[out[i].Name] = i, i
	}
	drop := map[int]bool{}
	for i := range a.indexDelete {
		n, ok := byName[a.indexDelete[i].Name]
		if !ok || drop[n] {
			return nil, errs.Conflictf("table %s: index file %s was replaced by another writer meanwhile; repeat the statement", a.c.t.Label, a.indexDelete[i].Name)
		}
		drop[n] = true
		k, err := key(&out[n])
		if err != nil {
			return nil, err
		}
		if at[k] == n {
			delete(at, k)
		}
	}
	for i := range a.indexAdd {
		e := a.indexAdd[i]
		e.Kind = manifest.Add
		k, err := key(&e)
		if err != nil {
			return nil, err
		}
		if n, ok := at[k]; ok {
			out[n] = e
			continue
		}
		at[k] = len(out)
		out = append(out, e)
	}
	kept := out[:0]
	for i := range out {
		if !drop[i] {
			kept = append(kept, out[i])
		}
	}
	if unaware {
		return kept, oneVectorEach(a.c.t.Label, kept)
	}
	return kept, nil
}

// oneVectorEach refuses a state in which a data file has two deletion vectors.
func oneVectorEach(label string, entries []manifest.IndexEntry) error {
	seen := map[string]string{}
	for i := range entries {
		for _, r := range entries[i].Ranges {
			if other, ok := seen[r.DataFile]; ok {
				return errs.Conflictf("table %s: data file %s has deletion vectors in %s and %s, since another writer deleted rows of it meanwhile; repeat the statement", label, r.DataFile, other, entries[i].Name)
			}
			seen[r.DataFile] = entries[i].Name
		}
	}
	return nil
}
