package manifest

import (
	"strconv"
	"strings"
	"unsafe"
)

// Kind says whether an entry adds or deletes a file.
type Kind uint8

// The kinds.
const (
	Add Kind = iota
	Delete
)

// File sources.
const (
	SourceAppend  = 0
	SourceCompact = 1
)

// SimpleStats are statistics as stored: framed BinaryRows of the least and
// greatest values, and null counts (section 4.5).
type SimpleStats struct {
	Min, Max []byte
	// Nulls are the null counts by statistics column, -1 unknown; nil where
	// the file has none.
	Nulls []int64
}

// DataFile describes a data or changelog file (DataFileMeta).
type DataFile struct {
	Name     string
	Size     int64
	RowCount int64
	// MinKey and MaxKey are framed BinaryRows of the trimmed primary key.
	MinKey, MaxKey []byte
	KeyStats       SimpleStats
	ValueStats     SimpleStats
	MinSequence    int64
	MaxSequence    int64
	SchemaID       int64
	Level          int
	ExtraFiles     []string
	// CreationMillis is the writer's local date-time read as UTC; nil unknown.
	CreationMillis *int64
	// DeleteRows is the number of retract rows; nil unknown. 0 is no proof
	// where pypaimon wrote the file (section 22.4).
	DeleteRows *int64
	// EmbeddedIndex is the file index container kept in the entry; nil = none.
	EmbeddedIndex []byte
	// Source is SourceAppend or SourceCompact; nil unknown.
	Source *int32
	// StatsColumns names the columns of ValueStats in order; nil = all
	// columns, empty = none.
	StatsColumns []string
	// ExternalPath replaces the computed path where it is not nil.
	ExternalPath *string
	FirstRowID   *int64
	// WriteColumns names the columns in the file; nil = all.
	WriteColumns []string
	// WriteColumnSequences belong to WriteColumns (2.1); nil = none.
	WriteColumnSequences []int64
}

// Entry is one change of the set of data files.
type Entry struct {
	Kind Kind
	// Partition is a framed BinaryRow of the partition columns.
	Partition    []byte
	Bucket       int
	TotalBuckets int
	File         *DataFile
}

// text shares b's memory, which nobody changes, as a string.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Identity is the identity of the entry's file (section 4.6): a DELETE cancels
// the ADD of the same identity. partition is the partition in canonical bytes, see
// CanonicalPartition.
func (e *Entry) Identity(partition string) string {
	var sb strings.Builder
	f := e.File
	sb.Grow(len(partition) + len(f.Name) + len(f.EmbeddedIndex) + 48)
	part := func(s string) {
		sb.WriteString(strconv.Itoa(len(s)))
		sb.WriteByte(':')
		sb.WriteString(s)
	}
	part(partition)
	sb.WriteString(strconv.Itoa(e.Bucket))
	sb.WriteByte('/')
	sb.WriteString(strconv.Itoa(f.Level))
	part(f.Name)
	for _, x := range f.ExtraFiles {
		part(x)
	}
	if f.EmbeddedIndex != nil {
		sb.WriteByte('i')
		part(text(f.EmbeddedIndex))
	}
	if f.ExternalPath != nil {
		sb.WriteByte('x')
		part(*f.ExternalPath)
	}
	return sb.String()
}

// FileInfo describes a manifest (ManifestFileMeta): a record of a manifest list.
type FileInfo struct {
	Name           string
	Size           int64
	Added, Deleted int64
	// PartitionStats cover the _PARTITION rows of the entries.
	PartitionStats SimpleStats
	SchemaID       int64
	// The ranges are nil where the writer did not record them.
	MinBucket, MaxBucket, MinLevel, MaxLevel *int32
	MinRowID, MaxRowID                       *int64
	// TotalBuckets is recorded by pypaimon only.
	TotalBuckets *int32
	ExtraFiles   []string
}

// Index kinds.
const (
	IndexHash            = "HASH"
	IndexDeletionVectors = "DELETION_VECTORS"
)

// VectorRange says where in an index file the deletion vector of a data file is.
type VectorRange struct {
	DataFile string
	// Offset is that of the size field. Length excludes size field and
	// checksum for 32-bit vectors and includes them for 64-bit ones.
	Offset, Length int64
	// Cardinality is the number of deleted rows; nil unknown.
	Cardinality *int64
}

// GlobalIndex are the fields of a global index entry.
type GlobalIndex struct {
	RowRangeStart, RowRangeEnd int64
	FieldID                    int32
	ExtraFieldIDs              []int32
	Meta, SourceMeta           []byte
}

// IndexEntry is an index file of a table state (IndexManifestEntry).
type IndexEntry struct {
	Kind         Kind
	Partition    []byte
	Bucket       int
	Type         string
	Name         string
	Size         int64
	RowCount     int64
	Ranges       []VectorRange
	ExternalPath *string
	// Global is set for global indexes.
	Global *GlobalIndex
}
