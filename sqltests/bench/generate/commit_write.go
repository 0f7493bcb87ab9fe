package generate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"

	"github.com/tributarydb/tributary/storage/binrow"
)

const (
	metaVersion      = 2
	indexMetaVersion = 1
	snapshotVersion  = 3
	batchIdentifier  = 1<<63 - 1
	database         = "bench"
	commitUser       = "benchmark"
)

// made is the time of every file and snapshot: output depends on the seed only.
var made = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// entry adds a data file to a bucket.
type entry struct {
	bucket int
	file   fileMeta
}

// vectorFile is a deletion vector index file of a bucket.
type vectorFile struct {
	bucket int
	name   string
	size   int64
	ranges []vectorRange
}

type vectorRange struct {
	file           string
	offset, length int
	cardinality    int64
}

// table writes the metadata of one table.
type table struct {
	dir      string
	keyed    bool
	buckets  int // -1 without
	seed     uint64
	files    int
	snapshot int64
	rows     int64
	manifest []map[string]any // records of the manifest list of all entries so far
	vectors  string           // index manifest
}

// createTable writes the schema of a table.
func createTable(dir string, keyed bool, buckets int, seed uint64, options map[string]string) (*table, error) {
	for _, d := range []string{"schema", "snapshot", "manifest", "index"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o777); err != nil {
			return nil, err
		}
	}
	type field struct {
		ID   int    `json:"id"`
		Name string `json:"name"`
		Type string `json:"type"`
	}
	fields := make([]field, columnCount)
	for i, c := range tableColumns {
		fields[i] = field{i, c[0], c[1]}
		if keyed && (i == 0 || i == 3) {
			fields[i].Type += " NOT NULL"
		}
	}
	keys := []string{}
	if keyed {
		keys = []string{tableColumns[0][0], tableColumns[3][0]}
	}
	t := &table{dir: dir, keyed: keyed, buckets: buckets, seed: seed}
	return t, t.writeJSON("schema/schema-0", map[string]any{
		"version": 3, "id": 0, "fields": fields, "highestFieldId": columnCount - 1,
		"partitionKeys": []string{}, "primaryKeys": keys, "options": options, "timeMillis": made.UnixMilli(),
	})
}

func (t *table) writeJSON(name string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(t.dir, name), b, 0o666)
}

// uuid returns a name that follows from the seed.
func uuid(seed uint64, numbers ...uint64) string {
	a, b := mix(append([]uint64{seed, 6}, numbers...)...), mix(append([]uint64{seed, 7}, numbers...)...)
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>48&0xfff, b&0xffffffffffff)
}

// writeAvro writes records into a new file below manifest/ and returns its name and size.
func (t *table) writeAvro(prefix, schema string, records []map[string]any) (string, int64, error) {
	s, err := avro.Parse(schema)
	if err != nil {
		return "", 0, err
	}
	codec, err := ocf.ZstdCodec([]zstd.EOption{zstd.WithEncoderLevel(zstd.SpeedFastest)}, nil)
	if err != nil {
		return "", 0, err
	}
	var out bytes.Buffer
	w, err := ocf.NewWriter(&out, s, ocf.WithCodec(codec))
	if err != nil {
		return "", 0, err
	}
	for _, r := range records {
		if err := w.Encode(r); err != nil {
			return "", 0, err
		}
	}
	if err := w.Close(); err != nil {
		return "", 0, err
	}
	name := prefix + "-" + uuid(t.seed, 1) + "-" + strconv.Itoa(t.files)
	t.files++
	return name, int64(out.Len()), os.WriteFile(filepath.Join(t.dir, "manifest", name), out.Bytes(), 0o666)
}

// commit writes a snapshot that adds files and, where vectors is not nil, replaces all deletion vectors.
func (t *table) commit(kind string, entries []entry, vectors []vectorFile) error {
	base, baseSize, err := t.writeAvro("manifest-list", listSchema, t.manifest)
	if err != nil {
		return err
	}
	records := make([]map[string]any, len(entries))
	var rows int64
	for i, e := range entries {
		records[i] = t.entryRecord(e)
		rows += e.file.rows
	}
	name, size, err := t.writeAvro("manifest", manifestSchema, records)
	if err != nil {
		return err
	}
	added := listRecord(name, size, entries)
	delta, deltaSize, err := t.writeAvro("manifest-list", listSchema, []map[string]any{added})
	if err != nil {
		return err
	}
	t.manifest = append(t.manifest, added)
	if vectors != nil {
		if t.vectors, _, err = t.writeAvro("index-manifest", indexSchema, indexRecords(vectors)); err != nil {
			return err
		}
	}
	t.snapshot++
	t.rows += rows
	id := strconv.FormatInt(t.snapshot, 10)
	snapshot := map[string]any{
		"version": snapshotVersion, "uuid": uuid(t.seed, 2, uint64(t.snapshot)), "id": t.snapshot, "schemaId": 0,
		"baseManifestList": base, "baseManifestListSize": baseSize, "deltaManifestList": delta, "deltaManifestListSize": deltaSize,
		"commitUser": commitUser, "commitIdentifier": int64(batchIdentifier), "commitKind": kind,
		"timeMillis": made.UnixMilli() + t.snapshot, "totalRecordCount": t.rows, "deltaRecordCount": rows, "nextRowId": 0,
	}
	if t.vectors != "" {
		snapshot["indexManifest"] = t.vectors
	}
	if err := t.writeJSON("snapshot/snapshot-"+id, snapshot); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(t.dir, "snapshot", "LATEST"), []byte(id), 0o666)
}

func simpleStats(least, greatest []byte, columns int) map[string]any {
	nulls := make([]any, columns)
	for i := range nulls {
		nulls[i] = int64(0)
	}
	return map[string]any{"_MIN_VALUES": least, "_MAX_VALUES": greatest, "_NULL_COUNTS": nulls}
}

func emptyStats() map[string]any {
	return simpleStats(binrow.Empty, binrow.Empty, 0)
}

func (t *table) entryRecord(e entry) map[string]any {
	f := &e.file
	minKey, maxKey, keyStats := binrow.Empty, binrow.Empty, emptyStats()
	if t.keyed {
		minKey, maxKey = key(&f.first), key(&f.last)
		least, greatest := f.bounds(0, 3)
		keyStats = simpleStats(least, greatest, len(keyTypes))
	}
	all := make([]int, columnCount)
	for i := range all {
		all[i] = i
	}
	least, greatest := f.bounds(all...)
	origin := int32(0)
	if f.compacted {
		origin = 1
	}
	return map[string]any{
		"_VERSION": int32(metaVersion), "_KIND": int32(0), "_PARTITION": binrow.Empty, "_BUCKET": int32(e.bucket), "_TOTAL_BUCKETS": int32(t.buckets),
		"_FILE": map[string]any{
			"_FILE_NAME": f.name, "_FILE_SIZE": f.size, "_ROW_COUNT": f.rows, "_MIN_KEY": minKey, "_MAX_KEY": maxKey,
			"_KEY_STATS": keyStats, "_VALUE_STATS": simpleStats(least, greatest, columnCount),
			"_MIN_SEQUENCE_NUMBER": f.minSeq, "_MAX_SEQUENCE_NUMBER": f.maxSeq, "_SCHEMA_ID": int64(0), "_LEVEL": int32(f.level),
			"_EXTRA_FILES": []any{}, "_CREATION_TIME": made, "_DELETE_ROW_COUNT": int64(0), "_EMBEDDED_FILE_INDEX": nil,
			"_FILE_SOURCE": origin, "_VALUE_STATS_COLS": nil, "_EXTERNAL_PATH": nil, "_FIRST_ROW_ID": nil, "_WRITE_COLS": nil,
		},
	}
}

func listRecord(name string, size int64, entries []entry) map[string]any {
	minBucket, maxBucket := int32(entries[0].bucket), int32(entries[0].bucket)
	minLevel, maxLevel := int32(entries[0].file.level), int32(entries[0].file.level)
	for _, e := range entries {
		minBucket, maxBucket = min(minBucket, int32(e.bucket)), max(maxBucket, int32(e.bucket))
		minLevel, maxLevel = min(minLevel, int32(e.file.level)), max(maxLevel, int32(e.file.level))
	}
	return map[string]any{
		"_VERSION": int32(metaVersion), "_FILE_NAME": name, "_FILE_SIZE": size, "_NUM_ADDED_FILES": int64(len(entries)), "_NUM_DELETED_FILES": int64(0),
		"_PARTITION_STATS": emptyStats(), "_SCHEMA_ID": int64(0), "_MIN_BUCKET": minBucket, "_MAX_BUCKET": maxBucket,
		"_MIN_LEVEL": minLevel, "_MAX_LEVEL": maxLevel, "_MIN_ROW_ID": nil, "_MAX_ROW_ID": nil,
	}
}

func indexRecords(files []vectorFile) []map[string]any {
	records := make([]map[string]any, len(files))
	for i, f := range files {
		ranges := make([]any, len(f.ranges))
		for j, r := range f.ranges {
			ranges[j] = map[string]any{"f0": r.file, "f1": int32(r.offset), "f2": int32(r.length), "_CARDINALITY": r.cardinality}
		}
		records[i] = map[string]any{
			"_VERSION": int32(indexMetaVersion), "_KIND": int32(0), "_PARTITION": binrow.Empty, "_BUCKET": int32(f.bucket),
			"_INDEX_TYPE": "DELETION_VECTORS", "_FILE_NAME": f.name, "_FILE_SIZE": f.size, "_ROW_COUNT": int64(len(f.ranges)),
			"_DELETIONS_VECTORS_RANGES": ranges, "_EXTERNAL_PATH": nil, "_GLOBAL_INDEX": nil,
		}
	}
	return records
}
