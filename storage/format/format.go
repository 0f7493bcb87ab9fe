package format

import (
	"context"
	"sort"
	"strings"
	"sync"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
)

// Section is an independently readable part of a file: a Parquet row group,
// an ORC stripe, a whole Avro file. Sections are the units of parallel reading.
type Section struct {
	FirstRow int64
	Rows     int64
	// Bytes is the stored size, for balancing; an estimate is fine.
	Bytes int64
}

// ReadOptions say what to read of a file.
type ReadOptions struct {
	// Columns are the columns to read, in the order of the result's Cols: name
	// and type as the file's own Paimon schema has them. A ROW type may hold a
	// subset of the file's fields in any order (matched by name). A top-level
	// column that the file lacks reads as nulls. Empty = rows are only counted
	// (batches with N and no Cols).
	Columns []schema.Field
	// Filter may be used to skip rows that cannot match; columns are indexes
	// into Columns. Rows that do not match may be returned all the same.
	Filter predicate.Predicate
	// FromSection and ToSection select sections [from, to); ToSection 0 = to the end.
	FromSection, ToSection int
	// LegacyTimestampLTZ says that ORC's TIMESTAMP_LTZ values are to be read by
	// the rule of option orc.timestamp-ltz.legacy.type (format section 7.4).
	LegacyTimestampLTZ bool
	// Pages, where not nil, keeps pages of the columns PageColumns (indexes into
	// Columns) that are costly to decompress. A format may ignore it.
	Pages       *PageCache
	PageColumns []int
}

// Reader yields the rows of a file in ascending position. Skipped rows leave
// gaps between batches, never inside one: Batch.Base is the position of its first row.
type Reader interface {
	// Next returns the next batch, valid until the next call; io.EOF at the end.
	Next(ctx context.Context) (*column.Batch, error)
	Close() error
}

// File is an open data file whose footer has been read. It is safe for
// concurrent Read calls; Close ends all of its readers.
type File interface {
	// Rows is the number of rows in the file.
	Rows() int64
	// Sections lists the parts, in file order; empty for a file without rows.
	Sections() []Section
	// HasColumn reports whether the file holds a top-level column.
	HasColumn(name string) bool
	// Read starts reading.
	Read(ctx context.Context, opts ReadOptions) (Reader, error)
	Close() error
}

// Opener opens a file of one format. Failures of the content are errs.Corrupt or
// errs.Unsupported and name the path. size is the length that the manifest records, -1 unknown;
// a file of another length is corrupt.
type Opener func(ctx context.Context, fio fileio.FileIO, path string, size int64) (File, error)

var (
	mu      sync.RWMutex
	openers = map[string]Opener{}
)

// Register makes a format known under its identifier, e.g. "parquet".
func Register(name string, open Opener) {
	mu.Lock()
	defer mu.Unlock()
	openers[name] = open
}

// Open opens a data file of the named format.
func Open(ctx context.Context, fio fileio.FileIO, path string, size int64, name string) (File, error) {
	mu.RLock()
	open := openers[name]
	mu.RUnlock()
	if open == nil {
		return nil, errs.Unsupportedf("file %s has the format '%s', which cannot be read here (known: %s)", path, name, strings.Join(Names(), ", "))
	}
	return open(ctx, fio, path, size)
}

// Names lists the registered formats.
func Names() []string {
	mu.RLock()
	defer mu.RUnlock()
	out := make([]string, 0, len(openers))
	for n := range openers {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}

var compressionExtensions = map[string]bool{
	"gz": true, "gzip": true, "bz2": true, "bzip2": true, "deflate": true, "snappy": true, "lz4": true, "zst": true, "zstd": true, "lzo": true, "br": true, "brotli": true, "none": true,
}

// NameOf returns the format that a data file's name tells: the last
// dot-suffix, or the one before where the last is a compression (format section 1.4).
func NameOf(fileName string) string {
	base := fileName[strings.LastIndexByte(fileName, '/')+1:]
	parts := strings.Split(base, ".")
	if len(parts) < 2 {
		return ""
	}
	last := parts[len(parts)-1]
	if compressionExtensions[strings.ToLower(last)] && len(parts) > 2 {
		return parts[len(parts)-2]
	}
	return last
}
