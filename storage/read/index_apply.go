package read

import (
	"context"
	"strings"

	"github.com/tributarydb/tributary/storage/index/fileindex"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/schema"
)

// MaxIndexBytes bounds a file index that is read to skip rows; a bigger one is left unused.
const MaxIndexBytes = 64 << 20

// indexSuffix ends the names of separate file indexes (format section 14.1).
const indexSuffix = ".index"

// indexedRows returns the rows of a file that can match the plan's filter by
// the file's indexes; ok is false where they say nothing.
func indexedRows(ctx context.Context, src *scan.Source, f *scan.File, p *filePlan) (rows fileindex.Rows, ok bool, err error) {
	if !hasLeaf(p.filter) || !schema.OptFileIndexRead.Value(src.Schema.Options) {
		return rows, false, nil
	}
	name, data, err := IndexContainer(ctx, src, f)
	if err != nil {
		return rows, false, err
	}
	if data == nil {
		return rows, false, nil
	}
	c, err := fileindex.Parse(name, data)
	if err != nil {
		return rows, false, err
	}
	rows, err = c.Evaluate(p.filter, p.read, f.Meta.RowCount)
	return rows, err == nil && !rows.All(), err
}

// hasLeaf reports whether a filter has a condition that file indexes know: they are not read for lists of keys.
func hasLeaf(p predicate.Predicate) bool {
	for range predicate.Leaves(p) {
		return true
	}
	return false
}

// IndexContainer returns a file's indexes (section 14.1): the bytes of the container, nil where there is none, and the
// file that they are in: f's path says that they are in the manifest entry. A container of more than MaxIndexBytes counts as none.
func IndexContainer(ctx context.Context, src *scan.Source, f *scan.File) (name string, data []byte, err error) {
	if f.Meta.EmbeddedIndex != nil {
		return f.Path, f.Meta.EmbeddedIndex, nil
	}
	for _, x := range f.Meta.ExtraFiles {
		if !strings.HasSuffix(x, indexSuffix) {
			continue
		}
		name = f.Path[:strings.LastIndexByte(f.Path, '/')+1] + x
		info, err := src.FIO.Stat(ctx, name)
		if err != nil {
			return "", nil, err
		}
		if info.Size > MaxIndexBytes {
			return "", nil, nil
		}
		data, err := src.FIO.ReadFile(ctx, name)
		return name, data, err
	}
	return "", nil, nil
}
