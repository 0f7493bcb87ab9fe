package write

import (
	"context"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/index"
	"github.com/tributarydb/tributary/storage/manifest"
)

// Place is a bucket of a partition whose files are rewritten.
type Place struct {
	// Partition are the values of the partition columns.
	Partition []column.Scalar
	Bucket    int
	// Level is where the files go.
	Level int
}

// LevelFiles writes rows that come in their final order into data files of a bucket, as
// compactions do. It is for one goroutine; a Writer may have several.
type LevelFiles struct {
	w    *Writer
	roll *roller
}

// NewLevelFiles starts data files of a place. Rows of a primary-key table come in key order.
func (w *Writer) NewLevelFiles(p Place) (*LevelFiles, error) {
	spec := w.dataSpec(p.Level)
	spec.source = manifest.SourceCompact
	return w.levelFiles(p, spec)
}

// NewChangelogFiles starts changelog files of a place.
func (w *Writer) NewChangelogFiles(p Place) (*LevelFiles, error) {
	spec := w.changelogSpec()
	spec.level = p.Level
	return w.levelFiles(p, spec)
}

func (w *Writer) levelFiles(p Place, spec *fileSpec) (*LevelFiles, error) {
	dir, err := w.layout.partitionDir(p.Partition)
	if err != nil {
		return nil, err
	}
	uuid, err := NewUUID(w.t.Rand)
	if err != nil {
		return nil, err
	}
	s := &slot{part: &partition{framed: binrow.EncodeRow(w.router.types, p.Partition), values: p.Partition, dir: dir},
		bucket: p.Bucket, dir: dir + bucketDir(p.Bucket) + "/", names: nameSource{uuid: uuid}}
	return &LevelFiles{w: w, roll: w.newRoller(s, spec)}, nil
}

// WriteKeyed appends the rows of a batch that count: the table's columns, row kind and
// sequence number, as read.Want orders them.
func (f *LevelFiles) WriteKeyed(ctx context.Context, b *column.Batch) error {
	n := len(f.w.fields)
	if b.Rows() == 0 {
		return nil
	}
	kind, seq := column.Flatten(b.Cols[n]), column.Flatten(b.Cols[n+1])
	return f.roll.write(ctx, f.w.fileColumns(b.Cols[:n:n], seq.I64[:b.N], kind.I32[:b.N]), b.Sel, b.N)
}

// Write appends the rows of a batch that count: the table's columns, and what NewAppendFiles says.
func (f *LevelFiles) Write(ctx context.Context, b *column.Batch) error {
	if b.Rows() == 0 {
		return nil
	}
	cols := b.Cols
	if f.roll.spec.tracked {
		cols = trackedColumns(b, len(f.w.fields))
	}
	return f.roll.write(ctx, cols, b.Sel, b.N)
}

// Finish completes the files and returns them.
func (f *LevelFiles) Finish(ctx context.Context) ([]*manifest.DataFile, error) {
	files, err := f.roll.finish(ctx)
	if err != nil {
		f.roll.abort()
	}
	return files, err
}

// Abort gives up the file being written. Finished ones are removed with the Writer's Abort.
func (f *LevelFiles) Abort() { f.roll.abort() }

// LevelFormat is the format of data files of a level.
func (w *Writer) LevelFormat(level int) string { return w.opts.look(level).format }

// NewVectorFile begins a deletion vector index file of a place, and returns the entry that
// will name it; the caller fills in what the file's Close tells.
func (w *Writer) NewVectorFile(ctx context.Context, p Place) (*index.VectorWriter, *manifest.IndexEntry, error) {
	dir, err := w.layout.partitionDir(p.Partition)
	if err != nil {
		return nil, nil, err
	}
	uuid, err := NewUUID(w.t.Rand)
	if err != nil {
		return nil, nil, err
	}
	e := &manifest.IndexEntry{Kind: manifest.Add, Partition: binrow.EncodeRow(w.router.types, p.Partition), Bucket: p.Bucket,
		Type: manifest.IndexDeletionVectors, Name: "index-" + uuid + "-0"}
	path := index.Path(w.t.Dir, dir+bucketDir(p.Bucket), e, w.opts.indexInDataDir)
	w.created(path)
	out, err := index.CreateVectors(ctx, w.t.FIO, path)
	return out, e, err
}
