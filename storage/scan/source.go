package scan

import (
	"strconv"
	"strings"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
)

// Source is one branch of a table, with the columns and options it is read with.
type Source struct {
	FIO fileio.FileIO
	// Root is the table's directory, which all branches share.
	Root string
	// Branch is the branch's name.
	Branch string
	// Label names the table in messages, e.g. default.T$branch_b.
	Label string
	// Schema has the columns to read, and the options in force.
	Schema *schema.TableSchema
	// Schemas are the branch's schema files: those that data files were written with.
	Schemas *schema.Manager
	Store   *manifest.Store
}

// File is a data or changelog file with what a reader needs to know of it.
type File struct {
	Meta      *manifest.DataFile
	Partition []column.Scalar
	// PartitionID identifies the partition: equal for equal values.
	PartitionID  string
	Bucket       int
	TotalBuckets int
	// Path is the full path.
	Path string
	// Format is the format's identifier, e.g. parquet.
	Format string
	// Vector locates the file's deletion vector; nil = none.
	Vector *VectorRef
	// MinKey and MaxKey bound the trimmed primary key; nil for append files.
	MinKey, MaxKey []column.Scalar
	// Changelog is set for changelog files.
	Changelog bool
	framed    []byte
	// source is the branch the file belongs to.
	source *Source
	// SnapshotID is the snapshot that added the file, where an incremental read knows it.
	SnapshotID int64
}

// VectorRef locates a deletion vector in an index file.
type VectorRef struct {
	Path string
	// Size is the index file's length.
	Size  int64
	Range manifest.VectorRange
}

// SourceOr is the branch that the file belongs to, s where it is not known.
func (f *File) SourceOr(s *Source) *Source {
	if f.source == nil {
		return s
	}
	return f.source
}

// PartitionRow is the partition's BinaryRow, as manifest entries have it.
func (f *File) PartitionRow() []byte { return f.framed }

// Deletes is the number of retract rows, -1 unknown.
func (f *File) Deletes() int64 {
	if f.Meta.DeleteRows == nil {
		return -1
	}
	return *f.Meta.DeleteRows
}

// bucketDir names a bucket's directory (format section 1.4).
func bucketDir(bucket int) string {
	if bucket == schema.PostponeBucket {
		return "bucket-postpone"
	}
	return "bucket-" + strconv.Itoa(bucket)
}

// layout computes the paths of a branch's files.
type layout struct {
	src     *Source
	fields  []schema.Field
	types   []*schema.Type
	def     string
	legacy  bool
	dataDir string
	// parts caches the partition directories by framed bytes.
	parts map[string]*partition
}

// partition is a decoded partition.
type partition struct {
	id     string
	values []column.Scalar
	dir    string
	dirErr error
	// keep is the answer of the request's partition filter.
	keep bool
}

func (s *Source) newLayout() *layout {
	o := s.Schema.Options
	l := &layout{
		src: s, fields: s.Schema.PartitionFields(), types: s.Schema.PartitionTypes(),
		def: schema.OptPartitionDefault.Value(o), legacy: schema.OptPartitionLegacy.Value(o),
		dataDir: s.Root, parts: map[string]*partition{},
	}
	if d := strings.Trim(schema.OptDataFileDirectory.Value(o), "/"); d != "" {
		l.dataDir += "/" + d
	}
	return l
}

// partition decodes a partition row, once.
func (l *layout) partition(framed []byte, keep func([]column.Scalar) bool) (*partition, error) {
	if p, ok := l.parts[string(framed)]; ok {
		return p, nil
	}
	vals, err := binrow.DecodeRow(l.types, framed)
	if err != nil {
		return nil, errs.Corruptf("table %s: a manifest entry's partition: %w", l.src.Label, err)
	}
	p := &partition{values: vals, id: string(binrow.EncodeRow(l.types, vals)), keep: keep == nil || keep(vals)}
	p.dir, p.dirErr = binrow.PartitionPath(l.fields, vals, l.def, l.legacy)
	l.parts[string(framed)] = p
	return p, nil
}

// file resolves an entry.
func (l *layout) file(e *manifest.Entry, p *partition) (*File, error) {
	f := &File{Meta: e.File, Partition: p.values, PartitionID: p.id, Bucket: e.Bucket, TotalBuckets: e.TotalBuckets, framed: e.Partition, source: l.src, Format: format.NameOf(e.File.Name)}
	if e.File.ExternalPath != nil && *e.File.ExternalPath != "" {
		f.Path = *e.File.ExternalPath
	} else {
		if p.dirErr != nil {
			return nil, p.dirErr
		}
		f.Path = l.bucketPath(p, e.Bucket) + e.File.Name
	}
	return f, nil
}

func (l *layout) bucketPath(p *partition, bucket int) string {
	return l.dataDir + "/" + p.dir + bucketDir(bucket) + "/"
}

// PartitionPath returns a partition's path below the table, e.g. dt=1/hh=2, as users see it.
func (s *Source) PartitionPath(values []column.Scalar) (string, error) {
	o := s.Schema.Options
	dir, err := binrow.PartitionPath(s.Schema.PartitionFields(), values, schema.OptPartitionDefault.Value(o), schema.OptPartitionLegacy.Value(o))
	return strings.TrimSuffix(dir, "/"), err
}
