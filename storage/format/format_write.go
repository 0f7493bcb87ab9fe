package format

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/schema"
)

// WriteOptions say what a data file is to look like.
type WriteOptions struct {
	// Fields are the file's columns in order, system columns included, with ids
	// and nullability as the file is to declare them.
	Fields []schema.Field
	// Compression is Paimon's name of the codec (option file.compression), e.g.
	// zstd, lz4, snappy, gzip, none; "" = zstd.
	Compression string
	// ZstdLevel is option file.compression.zstd-level; 0 = 1.
	ZstdLevel int
	// BlockSize is the size in bytes of a row group or stripe (file.block-size); 0 = the format's default.
	BlockSize int64
	// PageRows is the most rows of a page, the unit that a reader passes over unread; 0 = as the format has it. A format may ignore it.
	PageRows int
	// Options are the table's options; a format looks at those with its own
	// name as prefix ("parquet.", "orc.", "avro.") only.
	Options map[string]string
}

// Writer writes one data file. It is for one goroutine.
type Writer interface {
	// Write appends the rows of the batch that count (Batch.Sel). Cols match
	// WriteOptions.Fields. The batch may be changed afterwards. A null in a column
	// that is NOT NULL is errs.Invalid.
	Write(ctx context.Context, b *column.Batch) error
	// Size estimates the length of the file so far, what is still buffered included.
	Size() int64
	// Close finishes the file and returns its exact length. The file exists under its
	// name only after Close has succeeded.
	Close(ctx context.Context) (size int64, err error)
	// Abort gives the file up and removes what was written of it. It may be called
	// at any time, after Close and more than once too; then it does nothing.
	Abort()
}

// Creator starts a data file of one format.
type Creator func(ctx context.Context, fio fileio.FileIO, path string, opts WriteOptions) (Writer, error)

var creators = map[string]Creator{}

// RegisterWriter makes a format writable under its identifier, e.g. "parquet".
func RegisterWriter(name string, create Creator) {
	mu.Lock()
	defer mu.Unlock()
	creators[name] = create
}

// WriterNames lists the formats that can be written.
func WriterNames() []string {
	mu.RLock()
	defer mu.RUnlock()
	return slices.Sorted(maps.Keys(creators))
}

// Create starts a data file of the named format (option file.format). A type or an option that
// the format cannot store is errs.Unsupported and names the column or option.
func Create(ctx context.Context, fio fileio.FileIO, path, name string, opts WriteOptions) (Writer, error) {
	mu.RLock()
	create := creators[strings.ToLower(name)]
	mu.RUnlock()
	if create == nil {
		return nil, errs.Unsupportedf("the format '%s' cannot be written here; set the table option 'file.format' to one of these: %s", name, strings.Join(WriterNames(), ", "))
	}
	return create(ctx, fio, path, opts)
}
