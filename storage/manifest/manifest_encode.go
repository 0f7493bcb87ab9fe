package manifest

import (
	"io"

	"github.com/tributarydb/tributary/storage/avrofile"
)

// The schemas of the files as Paimon 2.0 writes them: names and order of the
// fields are part of the format (section 4.3).
const (
	statsFields = `"fields":[{"name":"_MIN_VALUES","type":"bytes"},{"name":"_MAX_VALUES","type":"bytes"},` +
		`{"name":"_NULL_COUNTS","type":["null",{"type":"array","items":["null","long"]}],"default":null}]`

	recordHead = `{"type":"record","name":"record","namespace":"org.apache.paimon.avro.generated","fields":[`

	entryRecord = recordHead + `{"name":"_VERSION","type":"int"},{"name":"_KIND","type":"int"},{"name":"_PARTITION","type":"bytes"},` +
		`{"name":"_BUCKET","type":"int"},{"name":"_TOTAL_BUCKETS","type":"int"},{"name":"_FILE","type":{"type":"record","name":"record__FILE","fields":[` +
		`{"name":"_FILE_NAME","type":"string"},{"name":"_FILE_SIZE","type":"long"},{"name":"_ROW_COUNT","type":"long"},` +
		`{"name":"_MIN_KEY","type":"bytes"},{"name":"_MAX_KEY","type":"bytes"},` +
		`{"name":"_KEY_STATS","type":{"type":"record","name":"record__FILE__KEY_STATS",` + statsFields + `}},` +
		`{"name":"_VALUE_STATS","type":{"type":"record","name":"record__FILE__VALUE_STATS",` + statsFields + `}},` +
		`{"name":"_MIN_SEQUENCE_NUMBER","type":"long"},{"name":"_MAX_SEQUENCE_NUMBER","type":"long"},{"name":"_SCHEMA_ID","type":"long"},` +
		`{"name":"_LEVEL","type":"int"},{"name":"_EXTRA_FILES","type":{"type":"array","items":"string"}},` +
		`{"name":"_CREATION_TIME","type":["null",{"type":"long","logicalType":"timestamp-millis"}],"default":null},` +
		`{"name":"_DELETE_ROW_COUNT","type":["null","long"],"default":null},{"name":"_EMBEDDED_FILE_INDEX","type":["null","bytes"],"default":null},` +
		`{"name":"_FILE_SOURCE","type":["null","int"],"default":null},` +
		`{"name":"_VALUE_STATS_COLS","type":["null",{"type":"array","items":"string"}],"default":null},` +
		`{"name":"_EXTERNAL_PATH","type":["null","string"],"default":null},{"name":"_FIRST_ROW_ID","type":["null","long"],"default":null},` +
		`{"name":"_WRITE_COLS","type":["null",{"type":"array","items":"string"}],"default":null}]}}]}`

	listRecord = recordHead + `{"name":"_VERSION","type":"int"},{"name":"_FILE_NAME","type":"string"},{"name":"_FILE_SIZE","type":"long"},` +
		`{"name":"_NUM_ADDED_FILES","type":"long"},{"name":"_NUM_DELETED_FILES","type":"long"},` +
		`{"name":"_PARTITION_STATS","type":{"type":"record","name":"record__PARTITION_STATS",` + statsFields + `}},` +
		`{"name":"_SCHEMA_ID","type":"long"},{"name":"_MIN_BUCKET","type":["null","int"],"default":null},` +
		`{"name":"_MAX_BUCKET","type":["null","int"],"default":null},{"name":"_MIN_LEVEL","type":["null","int"],"default":null},` +
		`{"name":"_MAX_LEVEL","type":["null","int"],"default":null},{"name":"_MIN_ROW_ID","type":["null","long"],"default":null},` +
		`{"name":"_MAX_ROW_ID","type":["null","long"],"default":null}]}`

	indexRecord = recordHead + `{"name":"_VERSION","type":"int"},{"name":"_KIND","type":"int"},{"name":"_PARTITION","type":"bytes"},` +
		`{"name":"_BUCKET","type":"int"},{"name":"_INDEX_TYPE","type":"string"},{"name":"_FILE_NAME","type":"string"},` +
		`{"name":"_FILE_SIZE","type":"long"},{"name":"_ROW_COUNT","type":"long"},` +
		`{"name":"_DELETIONS_VECTORS_RANGES","type":["null",{"type":"array","items":["null",{"type":"record","name":"record__DELETIONS_VECTORS_RANGES",` +
		`"fields":[{"name":"f0","type":"string"},{"name":"f1","type":"int"},{"name":"f2","type":"int"},{"name":"_CARDINALITY","type":["null","long"],"default":null}]}]}],"default":null},` +
		`{"name":"_EXTERNAL_PATH","type":["null","string"],"default":null},` +
		`{"name":"_GLOBAL_INDEX","type":["null",{"type":"record","name":"record__GLOBAL_INDEX","fields":[{"name":"_ROW_RANGE_START","type":"long"},` +
		`{"name":"_ROW_RANGE_END","type":"long"},{"name":"_INDEX_FIELD_ID","type":"int"},` +
		`{"name":"_EXTRA_FIELD_IDS","type":["null",{"type":"array","items":"int"}],"default":null},` +
		`{"name":"_INDEX_META","type":["null","bytes"],"default":null},{"name":"_SOURCE_META","type":["null","bytes"],"default":null}]}],"default":null}]}`
)

// Versions of the records.
const (
	recordVersion      = 2
	indexRecordVersion = 1
)

// The branches of a nullable field.
const (
	isNull  = 0
	notNull = 1
)

func nullableLong(dst []byte, x *int64) []byte {
	if x == nil {
		return avrofile.AppendLong(dst, isNull)
	}
	return avrofile.AppendLong(avrofile.AppendLong(dst, notNull), *x)
}

func nullableInt(dst []byte, x *int32) []byte {
	if x == nil {
		return avrofile.AppendLong(dst, isNull)
	}
	return avrofile.AppendLong(avrofile.AppendLong(dst, notNull), int64(*x))
}

func nullableBytes(dst, b []byte) []byte {
	if b == nil {
		return avrofile.AppendLong(dst, isNull)
	}
	return avrofile.AppendBytes(avrofile.AppendLong(dst, notNull), b)
}

func nullableString(dst []byte, s *string) []byte {
	if s == nil {
		return avrofile.AppendLong(dst, isNull)
	}
	return avrofile.AppendString(avrofile.AppendLong(dst, notNull), *s)
}

// array appends an array: one block and the end.
func array[T any](dst []byte, items []T, item func([]byte, T) []byte) []byte {
	if len(items) > 0 {
		dst = avrofile.AppendLong(dst, int64(len(items)))
		for _, x := range items {
			dst = item(dst, x)
		}
	}
	return avrofile.AppendLong(dst, 0)
}

func nullableStrings(dst []byte, list []string) []byte {
	if list == nil {
		return avrofile.AppendLong(dst, isNull)
	}
	return array(avrofile.AppendLong(dst, notNull), list, avrofile.AppendString)
}

func appendStats(dst []byte, s *SimpleStats) []byte {
	dst = avrofile.AppendBytes(dst, s.Min)
	dst = avrofile.AppendBytes(dst, s.Max)
	if s.Nulls == nil {
		return avrofile.AppendLong(dst, isNull)
	}
	return array(avrofile.AppendLong(dst, notNull), s.Nulls, func(dst []byte, n int64) []byte {
		if n < 0 {
			return avrofile.AppendLong(dst, isNull)
		}
		return avrofile.AppendLong(avrofile.AppendLong(dst, notNull), n)
	})
}

func appendEntry(dst []byte, e *Entry) []byte {
	f := e.File
	dst = avrofile.AppendLong(dst, recordVersion)
	dst = avrofile.AppendLong(dst, int64(e.Kind))
	dst = avrofile.AppendBytes(dst, e.Partition)
	dst = avrofile.AppendLong(dst, int64(e.Bucket))
	dst = avrofile.AppendLong(dst, int64(e.TotalBuckets))
	dst = avrofile.AppendString(dst, f.Name)
	dst = avrofile.AppendLong(dst, f.Size)
	dst = avrofile.AppendLong(dst, f.RowCount)
	dst = avrofile.AppendBytes(dst, f.MinKey)
	dst = avrofile.AppendBytes(dst, f.MaxKey)
	dst = appendStats(dst, &f.KeyStats)
	dst = appendStats(dst, &f.ValueStats)
	dst = avrofile.AppendLong(dst, f.MinSequence)
	dst = avrofile.AppendLong(dst, f.MaxSequence)
	dst = avrofile.AppendLong(dst, f.SchemaID)
	dst = avrofile.AppendLong(dst, int64(f.Level))
	dst = array(dst, f.ExtraFiles, avrofile.AppendString)
	dst = nullableLong(dst, f.CreationMillis)
	dst = nullableLong(dst, f.DeleteRows)
	dst = nullableBytes(dst, f.EmbeddedIndex)
	dst = nullableInt(dst, f.Source)
	dst = nullableStrings(dst, f.StatsColumns)
	dst = nullableString(dst, f.ExternalPath)
	dst = nullableLong(dst, f.FirstRowID)
	return nullableStrings(dst, f.WriteColumns)
}

func appendFileInfo(dst []byte, i *FileInfo) []byte {
	dst = avrofile.AppendLong(dst, recordVersion)
	dst = avrofile.AppendString(dst, i.Name)
	dst = avrofile.AppendLong(dst, i.Size)
	dst = avrofile.AppendLong(dst, i.Added)
	dst = avrofile.AppendLong(dst, i.Deleted)
	dst = appendStats(dst, &i.PartitionStats)
	dst = avrofile.AppendLong(dst, i.SchemaID)
	dst = nullableInt(dst, i.MinBucket)
	dst = nullableInt(dst, i.MaxBucket)
	dst = nullableInt(dst, i.MinLevel)
	dst = nullableInt(dst, i.MaxLevel)
	dst = nullableLong(dst, i.MinRowID)
	return nullableLong(dst, i.MaxRowID)
}

func appendIndexEntry(dst []byte, e *IndexEntry) []byte {
	dst = avrofile.AppendLong(dst, indexRecordVersion)
	dst = avrofile.AppendLong(dst, int64(e.Kind))
	dst = avrofile.AppendBytes(dst, e.Partition)
	dst = avrofile.AppendLong(dst, int64(e.Bucket))
	dst = avrofile.AppendString(dst, e.Type)
	dst = avrofile.AppendString(dst, e.Name)
	dst = avrofile.AppendLong(dst, e.Size)
	dst = avrofile.AppendLong(dst, e.RowCount)
	if e.Ranges == nil {
		dst = avrofile.AppendLong(dst, isNull)
	} else {
		dst = array(avrofile.AppendLong(dst, notNull), e.Ranges, func(dst []byte, r VectorRange) []byte {
			dst = avrofile.AppendLong(dst, notNull)
			dst = avrofile.AppendString(dst, r.DataFile)
			dst = avrofile.AppendLong(dst, r.Offset)
			dst = avrofile.AppendLong(dst, r.Length)
			return nullableLong(dst, r.Cardinality)
		})
	}
	dst = nullableString(dst, e.ExternalPath)
	g := e.Global
	if g == nil {
		return avrofile.AppendLong(dst, isNull)
	}
	dst = avrofile.AppendLong(dst, notNull)
	dst = avrofile.AppendLong(dst, g.RowRangeStart)
	dst = avrofile.AppendLong(dst, g.RowRangeEnd)
	dst = avrofile.AppendLong(dst, int64(g.FieldID))
	if g.ExtraFieldIDs == nil {
		dst = avrofile.AppendLong(dst, isNull)
	} else {
		dst = array(avrofile.AppendLong(dst, notNull), g.ExtraFieldIDs, func(dst []byte, x int32) []byte { return avrofile.AppendLong(dst, int64(x)) })
	}
	dst = nullableBytes(dst, g.Meta)
	return nullableBytes(dst, g.SourceMeta)
}

// avroCodec maps Paimon's name of a compression to Avro's.
func avroCodec(name string) string {
	switch name {
	case "", "zstd":
		return "zstandard"
	case "none", "uncompressed":
		return "null"
	case "gzip", "zlib":
		return "deflate"
	}
	return name
}

func newAvro(out io.Writer, schemaText string, o *WriteOptions) (*avrofile.Writer, error) {
	return avrofile.NewWriter(out, schemaText, avroCodec(o.Compression), o.ZstdLevel, o.Names.random)
}
