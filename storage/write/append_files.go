package write

import (
	"context"
	"slices"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/index"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
)

// AppendFiles say what files of an append table are like that hold rows of other files.
type AppendFiles struct {
	// Source is recorded as _FILE_SOURCE: manifest.SourceAppend or SourceCompact.
	Source int32
	// Sequence is the number of the first row.
	Sequence int64
	// Tracked files of a row-tracking table keep the row id and sequence number of each row in
	// columns after the table's (section 16 of the format).
	Tracked bool
}

// NewAppendFiles starts data files of a bucket of an append table. Batches for Write have the
// table's columns; of tracked files then row id and sequence number, without nulls.
func (w *Writer) NewAppendFiles(p Place, o AppendFiles) (*LevelFiles, error) {
	spec := w.dataSpec(0)
	spec.source = o.Source
	if o.Tracked {
		spec.tracked = true
		id := schema.RowIDField()
		id.Type = id.Type.WithNotNull(true)
		spec.fields = append(slices.Clip(spec.fields), id, schema.SequenceField())
	}
	f, err := w.levelFiles(p, spec)
	if err == nil {
		f.roll.sequence = o.Sequence
	}
	return f, err
}

// NamedVector is a deletion vector of a data file.
type NamedVector struct {
	DataFile string
	Vector   *index.Vector
}

// WriteVectors writes deletion vectors of a place into new index files, beginning another one
// when one is larger than size, and returns their entries. Abort removes the files.
func (w *Writer) WriteVectors(ctx context.Context, p Place, size int64, vectors []NamedVector) ([]manifest.IndexEntry, error) {
	var out []manifest.IndexEntry
	for len(vectors) > 0 {
		f, e, err := w.NewVectorFile(ctx, p)
		if err != nil {
			return nil, err
		}
		for len(vectors) > 0 && (f.Size() <= size || e.RowCount == 0) {
			if err := f.Add(vectors[0].DataFile, vectors[0].Vector); err != nil {
				f.Abort()
				return nil, err
			}
			vectors = vectors[1:]
			e.RowCount++
		}
		if e.Ranges, e.Size, err = f.Close(); err != nil {
			f.Abort()
			return nil, err
		}
		out = append(out, *e)
	}
	return out, nil
}

// trackedColumns are the columns of a batch as a tracked file stores them: row ids and numbers flat.
func trackedColumns(b *column.Batch, n int) []*column.Vector {
	out := slices.Clone(b.Cols)
	out[n], out[n+1] = column.Flatten(out[n]), column.Flatten(out[n+1])
	return out
}
