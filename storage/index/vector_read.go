package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/tributarydb/tributary/storage/cache"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
)

// Path returns the path of an index file: its own external path, the table's
// index/ directory, or, under index-file-in-data-file-dir, bucketDir.
func Path(tableDir, bucketDir string, e *manifest.IndexEntry, inDataDir bool) string {
	switch {
	case e.ExternalPath != nil && *e.ExternalPath != "":
		return *e.ExternalPath
	case inDataDir:
		return path.Join(bucketDir, e.Name)
	}
	return path.Join(tableDir, "index", e.Name)
}

// harmless are index kinds that never change which rows a table has: without
// them only time is lost.
func harmless(e *manifest.IndexEntry) bool {
	return e.Type == manifest.IndexHash || e.Global != nil || strings.HasPrefix(e.Type, "pk-")
}

// CheckKinds refuses index entries of an unknown kind, which may say that rows
// are deleted. name is the index manifest's path.
func CheckKinds(name string, entries []manifest.IndexEntry) error {
	for i := range entries {
		e := &entries[i]
		if e.Type != manifest.IndexDeletionVectors && !harmless(e) {
			return errs.Unsupportedf("index manifest %s has an index of kind '%s' (file %s), which is not known here: rows that it deletes would come back", name, e.Type, e.Name)
		}
	}
	return nil
}

// VectorRef says where the deletion vector of a data file is.
type VectorRef struct {
	Entry *manifest.IndexEntry
	Range manifest.VectorRange
}

// Vectors finds deletion vectors by data file.
type Vectors struct {
	parts *manifest.Partitions
	refs  map[vectorKey]VectorRef
}

type vectorKey struct {
	partition string
	bucket    int
	file      string
}

// NewVectors collects the deletion vectors of a table state. name is the index
// manifest's path. Two vectors of one data file are errs.Corrupt.
func NewVectors(name string, entries []manifest.IndexEntry, partitionTypes []*schema.Type) (*Vectors, error) {
	v := &Vectors{parts: manifest.NewPartitions(partitionTypes), refs: map[vectorKey]VectorRef{}}
	for i := range entries {
		e := &entries[i]
		if e.Type != manifest.IndexDeletionVectors || e.Kind == manifest.Delete {
			continue
		}
		p, err := v.parts.Canonical(e.Partition)
		if err != nil {
			return nil, errs.Corruptf("index manifest %s is damaged: %w", name, err)
		}
		for _, r := range e.Ranges {
			k := vectorKey{p, e.Bucket, r.DataFile}
			if _, dup := v.refs[k]; dup {
				return nil, errs.Corruptf("index manifest %s is damaged: data file %s has two deletion vectors", name, r.DataFile)
			}
			v.refs[k] = VectorRef{e, r}
		}
	}
	return v, nil
}

// Len is the number of data files with a vector.
func (v *Vectors) Len() int { return len(v.refs) }

// Of returns the vector of a data file, ok = false where it has none. Not safe for concurrent use.
func (v *Vectors) Of(partition []byte, bucket int, file string) (VectorRef, bool, error) {
	if len(v.refs) == 0 {
		return VectorRef{}, false, nil
	}
	p, err := v.parts.Canonical(partition)
	if err != nil {
		return VectorRef{}, false, err
	}
	r, ok := v.refs[vectorKey{p, bucket, file}]
	return r, ok, nil
}

// Cache keeps decoded vectors.
type Cache struct {
	lru *cache.LRU[cacheKey, *Vector]
}

type cacheKey struct {
	path   string
	offset int64
}

// NewCache returns a cache of about maxBytes.
func NewCache(maxBytes int64) *Cache {
	return &Cache{lru: cache.New[cacheKey, *Vector](maxBytes)}
}

// Forget drops the vectors of the files that match.
func (c *Cache) Forget(match func(path string) bool) {
	c.lru.RemoveFunc(func(k cacheKey) bool { return match(k.path) })
}

// Stats returns the counters.
func (c *Cache) Stats() cache.Stats { return c.lru.Stats() }

// ReadVector reads one deletion vector of an index file; size is the file's
// length as its entry records it, -1 unknown. c may be nil. Damage, a wrong checksum
// included, is errs.Corrupt; a missing file errs.NotFound.
func ReadVector(ctx context.Context, fio fileio.FileIO, c *Cache, file string, size int64, r manifest.VectorRange) (*Vector, error) {
	load := func(ctx context.Context) (*Vector, int64, error) {
		v, err := readVector(ctx, fio, file, size, r)
		if err != nil {
			return nil, 0, err
		}
		return v, v.Bytes(), nil
	}
	if c == nil {
		v, _, err := load(ctx)
		return v, err
	}
	return c.lru.Load(ctx, cacheKey{file, r.Offset}, load)
}

func readVector(ctx context.Context, fio fileio.FileIO, file string, size int64, r manifest.VectorRange) (*Vector, error) {
	f, err := fio.Open(ctx, file)
	if err != nil {
		if errs.Is(err, errs.NotFound) {
			return nil, errs.NotFoundf("deletion vector file %s is missing: which rows of %s are deleted is not known", file, r.DataFile)
		}
		return nil, err
	}
	defer f.Close()
	if size >= 0 && f.Size() != size {
		return nil, corrupt(file, fmt.Errorf("it has %d bytes instead of %d", f.Size(), size))
	}
	var first [1]byte
	if _, err := f.ReadAt(first[:], 0); err != nil {
		return nil, unread(file, err)
	}
	if first[0] != fileVersion {
		return nil, errs.Unsupportedf("deletion vector file %s has version %d, only %d can be read", file, first[0], fileVersion)
	}
	n := f.Size() - r.Offset
	if r.Offset < 1 || r.Length < 4 || r.Length > MaxVectorBytes || n < frameBytes {
		return nil, corrupt(file, fmt.Errorf("its manifest says %d bytes at %d, it has %d", r.Length, r.Offset, f.Size()))
	}
	// The length excludes the frame for 32-bit vectors: read enough for both.
	buf := make([]byte, min(n, r.Length+frameBytes))
	if _, err := f.ReadAt(buf, r.Offset); err != nil {
		return nil, unread(file, err)
	}
	stored := int64(binary.BigEndian.Uint32(buf))
	if stored != r.Length && stored+frameBytes != r.Length {
		return nil, corrupt(file, fmt.Errorf("the deletion vector at %d has %d bytes, its manifest says %d", r.Offset, stored, r.Length))
	}
	v, err := decodeVector(buf[4:], int(stored))
	if err != nil {
		return nil, corrupt(file, err)
	}
	if want := r.Length; v.wide && want != stored+frameBytes || !v.wide && want != stored {
		return nil, corrupt(file, fmt.Errorf("the deletion vector at %d has %d bytes, its manifest says %d", r.Offset, stored, want))
	}
	if r.Cardinality != nil && *r.Cardinality != v.Cardinality() {
		return nil, corrupt(file, fmt.Errorf("the deletion vector of %s deletes %d rows, its manifest says %d", r.DataFile, v.Cardinality(), *r.Cardinality))
	}
	return v, nil
}

// unread tells a file that is too short, which is damaged, from one that could not be read.
func unread(file string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return corrupt(file, err)
	}
	return fmt.Errorf("deletion vector file %s: %w", file, err)
}
