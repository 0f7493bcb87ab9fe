package manifest

import (
	"context"

	"github.com/tributarydb/tributary/storage/avrofile"
	"github.com/tributarydb/tributary/storage/errs"
)

// Versions of the records that are read.
const (
	entryVersion = 2
	listVersion  = 2
	indexVersion = 1
)

// The Avro records. Fields that a release lacks stay zero: pointers and
// slices nil. Pointers to records serve both the nullable form of 0.4 to 0.8
// and the plain one.
type avroStats struct {
	Min   []byte   `avro:"_MIN_VALUES"`
	Max   []byte   `avro:"_MAX_VALUES"`
	Nulls []*int64 `avro:"_NULL_COUNTS"`
}

func (s *avroStats) stats() SimpleStats {
	if s == nil {
		return SimpleStats{}
	}
	out := SimpleStats{Min: s.Min, Max: s.Max}
	if s.Nulls != nil {
		out.Nulls = make([]int64, len(s.Nulls))
		for i, n := range s.Nulls {
			out.Nulls[i] = -1
			if n != nil && *n >= 0 {
				out.Nulls[i] = *n
			}
		}
	}
	return out
}

type avroFile struct {
	Name          string     `avro:"_FILE_NAME"`
	Size          int64      `avro:"_FILE_SIZE"`
	RowCount      int64      `avro:"_ROW_COUNT"`
	MinKey        []byte     `avro:"_MIN_KEY"`
	MaxKey        []byte     `avro:"_MAX_KEY"`
	KeyStats      *avroStats `avro:"_KEY_STATS"`
	ValueStats    *avroStats `avro:"_VALUE_STATS"`
	MinSequence   int64      `avro:"_MIN_SEQUENCE_NUMBER"`
	MaxSequence   int64      `avro:"_MAX_SEQUENCE_NUMBER"`
	SchemaID      int64      `avro:"_SCHEMA_ID"`
	Level         int32      `avro:"_LEVEL"`
	ExtraFiles    []string   `avro:"_EXTRA_FILES"`
	Creation      *int64     `avro:"_CREATION_TIME"`
	DeleteRows    *int64     `avro:"_DELETE_ROW_COUNT"`
	EmbeddedIndex *[]byte    `avro:"_EMBEDDED_FILE_INDEX"`
	Source        *int32     `avro:"_FILE_SOURCE"`
	StatsColumns  *[]string  `avro:"_VALUE_STATS_COLS"`
	ExternalPath  *string    `avro:"_EXTERNAL_PATH"`
	FirstRowID    *int64     `avro:"_FIRST_ROW_ID"`
	WriteColumns  *[]string  `avro:"_WRITE_COLS"`
	WriteSeqs     *[]int64   `avro:"_WRITE_COLS_SEQUENCES"`
}

type avroEntry struct {
	Version      int32     `avro:"_VERSION"`
	Kind         int32     `avro:"_KIND"`
	Partition    []byte    `avro:"_PARTITION"`
	Bucket       int32     `avro:"_BUCKET"`
	TotalBuckets int32     `avro:"_TOTAL_BUCKETS"`
	File         *avroFile `avro:"_FILE"`
}

type avroInfo struct {
	Version        int32      `avro:"_VERSION"`
	Name           string     `avro:"_FILE_NAME"`
	Size           int64      `avro:"_FILE_SIZE"`
	Added          int64      `avro:"_NUM_ADDED_FILES"`
	Deleted        int64      `avro:"_NUM_DELETED_FILES"`
	PartitionStats *avroStats `avro:"_PARTITION_STATS"`
	SchemaID       int64      `avro:"_SCHEMA_ID"`
	MinBucket      *int32     `avro:"_MIN_BUCKET"`
	MaxBucket      *int32     `avro:"_MAX_BUCKET"`
	MinLevel       *int32     `avro:"_MIN_LEVEL"`
	MaxLevel       *int32     `avro:"_MAX_LEVEL"`
	MinRowID       *int64     `avro:"_MIN_ROW_ID"`
	MaxRowID       *int64     `avro:"_MAX_ROW_ID"`
	TotalBuckets   *int32     `avro:"_TOTAL_BUCKETS"`
	ExtraFiles     *[]string  `avro:"_EXTRA_FILES"`
}

type avroRange struct {
	File        string `avro:"f0"`
	Offset      int32  `avro:"f1"`
	Length      int32  `avro:"f2"`
	Cardinality *int64 `avro:"_CARDINALITY"`
}

type avroGlobal struct {
	Start      int64    `avro:"_ROW_RANGE_START"`
	End        int64    `avro:"_ROW_RANGE_END"`
	Field      int32    `avro:"_INDEX_FIELD_ID"`
	Extra      *[]int32 `avro:"_EXTRA_FIELD_IDS"`
	Meta       *[]byte  `avro:"_INDEX_META"`
	SourceMeta *[]byte  `avro:"_SOURCE_META"`
}

type avroIndex struct {
	Version      int32         `avro:"_VERSION"`
	Kind         int32         `avro:"_KIND"`
	Partition    []byte        `avro:"_PARTITION"`
	Bucket       int32         `avro:"_BUCKET"`
	Type         string        `avro:"_INDEX_TYPE"`
	Name         string        `avro:"_FILE_NAME"`
	Size         int64         `avro:"_FILE_SIZE"`
	RowCount     int64         `avro:"_ROW_COUNT"`
	Ranges       *[]*avroRange `avro:"_DELETIONS_VECTORS_RANGES"`
	ExternalPath *string       `avro:"_EXTERNAL_PATH"`
	Global       *avroGlobal   `avro:"_GLOBAL_INDEX"`
}

// checkEvery is the number of records after which decoding looks for the end of its context.
const checkEvery = 1024

// records decodes a container file's records; each is called for every one
// that is not null.
func records[T any](ctx context.Context, name string, data []byte, each func(*T) error) error {
	f, err := avrofile.Open(name, data)
	if err != nil {
		return err
	}
	n := 0
	return avrofile.Decode(f, func(r *T) error {
		if n++; n%checkEvery == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		return each(r)
	})
}

func checkVersion(name, what string, got, want int32) error {
	if got != want {
		return errs.Unsupportedf("%s: a %s has version %d, only %d can be read", name, what, got, want)
	}
	return nil
}

// kindOf checks _KIND.
func kindOf(name string, k int32) (Kind, error) {
	if k != 0 && k != 1 {
		return 0, errs.Corruptf("%s is damaged: an entry has kind %d", name, k)
	}
	return Kind(k), nil
}

// DecodeManifest decodes a manifest's entries, in file order; name is the
// file's path, for messages. The entries share data's memory.
func DecodeManifest(ctx context.Context, name string, data []byte) ([]Entry, error) {
	var out []Entry
	err := records(ctx, name, data, func(r *avroEntry) error {
		if err := checkVersion(name, "manifest entry", r.Version, entryVersion); err != nil {
			return err
		}
		k, err := kindOf(name, r.Kind)
		if err != nil {
			return err
		}
		f := r.File
		if f == nil || f.Name == "" || f.RowCount < 0 || f.Size < 0 || f.Level < 0 {
			return errs.Corruptf("%s is damaged: an entry describes no file", name)
		}
		out = append(out, Entry{
			Kind: k, Partition: r.Partition, Bucket: int(r.Bucket), TotalBuckets: int(r.TotalBuckets),
			File: &DataFile{
				Name: f.Name, Size: f.Size, RowCount: f.RowCount, MinKey: f.MinKey, MaxKey: f.MaxKey,
				KeyStats: f.KeyStats.stats(), ValueStats: f.ValueStats.stats(),
				MinSequence: f.MinSequence, MaxSequence: f.MaxSequence, SchemaID: f.SchemaID, Level: int(f.Level),
				ExtraFiles: f.ExtraFiles, CreationMillis: f.Creation, DeleteRows: f.DeleteRows,
				EmbeddedIndex: deref(f.EmbeddedIndex), Source: f.Source, StatsColumns: deref(f.StatsColumns),
				ExternalPath: f.ExternalPath, FirstRowID: f.FirstRowID,
				WriteColumns: deref(f.WriteColumns), WriteColumnSequences: deref(f.WriteSeqs),
			},
		})
		return nil
	})
	return out, err
}

// deref returns the slice that p points to, not nil unless p is.
func deref[T any](p *[]T) []T {
	if p == nil {
		return nil
	}
	if *p == nil {
		return []T{}
	}
	return *p
}

// DecodeList decodes a manifest list.
func DecodeList(ctx context.Context, name string, data []byte) ([]FileInfo, error) {
	var out []FileInfo
	err := records(ctx, name, data, func(r *avroInfo) error {
		if err := checkVersion(name, "manifest list record", r.Version, listVersion); err != nil {
			return err
		}
		if r.Name == "" {
			return errs.Corruptf("%s is damaged: it names no manifest", name)
		}
		out = append(out, FileInfo{
			Name: r.Name, Size: r.Size, Added: r.Added, Deleted: r.Deleted,
			PartitionStats: r.PartitionStats.stats(), SchemaID: r.SchemaID,
			MinBucket: r.MinBucket, MaxBucket: r.MaxBucket, MinLevel: r.MinLevel, MaxLevel: r.MaxLevel,
			MinRowID: r.MinRowID, MaxRowID: r.MaxRowID, TotalBuckets: r.TotalBuckets, ExtraFiles: deref(r.ExtraFiles),
		})
		return nil
	})
	return out, err
}

// DecodeIndex decodes an index manifest.
func DecodeIndex(ctx context.Context, name string, data []byte) ([]IndexEntry, error) {
	var out []IndexEntry
	err := records(ctx, name, data, func(r *avroIndex) error {
		if err := checkVersion(name, "index manifest entry", r.Version, indexVersion); err != nil {
			return err
		}
		k, err := kindOf(name, r.Kind)
		if err != nil {
			return err
		}
		if r.Name == "" || r.Type == "" {
			return errs.Corruptf("%s is damaged: an entry describes no index file", name)
		}
		e := IndexEntry{
			Kind: k, Partition: r.Partition, Bucket: int(r.Bucket), Type: r.Type, Name: r.Name,
			Size: r.Size, RowCount: r.RowCount, ExternalPath: r.ExternalPath,
		}
		if g := r.Global; g != nil {
			e.Global = &GlobalIndex{
				RowRangeStart: g.Start, RowRangeEnd: g.End, FieldID: g.Field,
				ExtraFieldIDs: deref(g.Extra), Meta: deref(g.Meta), SourceMeta: deref(g.SourceMeta),
			}
		}
		for _, x := range deref(r.Ranges) {
			if x == nil {
				continue
			}
			e.Ranges = append(e.Ranges, VectorRange{DataFile: x.File, Offset: int64(x.Offset), Length: int64(x.Length), Cardinality: x.Cardinality})
		}
		out = append(out, e)
		return nil
	})
	return out, err
}
