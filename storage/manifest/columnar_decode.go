package manifest

import (
	"context"
	"io"
	"strings"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/schema"
)

// Manifests in ORC or Parquet: option manifest.format, which releases up to
// 2.0 have. Such a file has no extension; its first bytes tell.

// columnarFormat returns the format of a manifest that is no Avro file, "" for Avro.
func columnarFormat(data []byte) string {
	switch head := string(data[:min(4, len(data))]); {
	case head == "PAR1":
		return "parquet"
	case strings.HasPrefix(head, "ORC"):
		return "orc"
	}
	return ""
}

func mustType(text string) *schema.Type {
	t, err := schema.ParseType(text)
	if err != nil {
		panic("type " + text + ": " + err.Error())
	}
	return t
}

const statsType = "ROW<_MIN_VALUES BYTES, _MAX_VALUES BYTES, _NULL_COUNTS ARRAY<BIGINT>>"

// fileFields are the fields of _FILE in order, and where releases ended (section 22.2 of the format).
var fileFields = []string{
	"_FILE_NAME STRING", "_FILE_SIZE BIGINT", "_ROW_COUNT BIGINT", "_MIN_KEY BYTES", "_MAX_KEY BYTES",
	"_KEY_STATS " + statsType, "_VALUE_STATS " + statsType,
	"_MIN_SEQUENCE_NUMBER BIGINT", "_MAX_SEQUENCE_NUMBER BIGINT", "_SCHEMA_ID BIGINT", "_LEVEL INT",
	"_EXTRA_FILES ARRAY<STRING>", "_CREATION_TIME TIMESTAMP(3)",
	"_DELETE_ROW_COUNT BIGINT", "_EMBEDDED_FILE_INDEX BYTES",
	"_FILE_SOURCE TINYINT",
	"_VALUE_STATS_COLS ARRAY<STRING>", "_EXTERNAL_PATH STRING",
	"_FIRST_ROW_ID BIGINT", "_WRITE_COLS ARRAY<STRING>",
	"_WRITE_COLS_SEQUENCES ARRAY<BIGINT>",
}

// fileFieldCounts are the lengths of the releases' lists, the usual one first.
var fileFieldCounts = []int{20, 21, 18, 16, 15, 13}

func fields(list ...string) []schema.Field {
	return mustType("ROW<" + strings.Join(list, ", ") + ">").Fields
}

// entryFields are the columns of a manifest whose _FILE has n fields.
func entryFields(n int) []schema.Field {
	return fields("_VERSION INT", "_KIND TINYINT", "_PARTITION BYTES", "_BUCKET INT", "_TOTAL_BUCKETS INT",
		"_FILE ROW<"+strings.Join(fileFields[:n], ", ")+">")
}

func listFields() []schema.Field {
	return fields("_VERSION INT", "_FILE_NAME STRING", "_FILE_SIZE BIGINT", "_NUM_ADDED_FILES BIGINT", "_NUM_DELETED_FILES BIGINT",
		"_PARTITION_STATS "+statsType, "_SCHEMA_ID BIGINT", "_MIN_BUCKET INT", "_MAX_BUCKET INT", "_MIN_LEVEL INT", "_MAX_LEVEL INT",
		"_MIN_ROW_ID BIGINT", "_MAX_ROW_ID BIGINT")
}

const globalType = "ROW<_ROW_RANGE_START BIGINT, _ROW_RANGE_END BIGINT, _INDEX_FIELD_ID INT, _EXTRA_FIELD_IDS ARRAY<INT>, _INDEX_META BYTES, _SOURCE_META BYTES>"

func indexFields(rangeFields string) []schema.Field {
	return fields("_VERSION INT", "_KIND TINYINT", "_PARTITION BYTES", "_BUCKET INT", "_INDEX_TYPE STRING", "_FILE_NAME STRING",
		"_FILE_SIZE BIGINT", "_ROW_COUNT BIGINT", "_DELETIONS_VECTORS_RANGES ARRAY<ROW<"+rangeFields+">>", "_EXTERNAL_PATH STRING", "_GLOBAL_INDEX "+globalType)
}

// vec is a row of a vector tree; the accessors give zero values for nulls.
type vec struct {
	v *column.Vector
	i int
}

func (x vec) null() bool { return x.v.IsNull(x.i) }

func (x vec) int() int64 {
	if x.null() {
		return 0
	}
	return x.v.Int(x.i)
}

func (x vec) optInt() *int64 {
	if x.null() {
		return nil
	}
	n := x.v.Int(x.i)
	return &n
}

func (x vec) optInt32() *int32 {
	if x.null() {
		return nil
	}
	n := int32(x.v.Int(x.i))
	return &n
}

// bytes copies: batches are only valid until the next one.
func (x vec) bytes() []byte {
	if x.null() {
		return nil
	}
	return append([]byte{}, x.v.Bytes(x.i)...)
}

func (x vec) text() string { return string(x.bytes()) }

func (x vec) optText() *string {
	if x.null() {
		return nil
	}
	s := x.text()
	return &s
}

// field returns field j of a struct; a null struct's fields are null in all readers.
func (x vec) field(j int) vec {
	v, i := x.v.At(x.i)
	return vec{v.Children[j], i}
}

// each calls fn for the elements of a list.
func (x vec) each(fn func(vec)) {
	if x.null() {
		return
	}
	v, i := x.v.At(x.i)
	for j := v.Offsets[i]; j < v.Offsets[i+1]; j++ {
		fn(vec{v.Children[0], int(j)})
	}
}

func (x vec) texts() []string {
	if x.null() {
		return nil
	}
	out := []string{}
	x.each(func(e vec) { out = append(out, e.text()) })
	return out
}

func (x vec) ints() []int64 {
	if x.null() {
		return nil
	}
	out := []int64{}
	x.each(func(e vec) { out = append(out, e.int()) })
	return out
}

func (x vec) stats() SimpleStats {
	if x.null() {
		return SimpleStats{}
	}
	s := SimpleStats{Min: x.field(0).bytes(), Max: x.field(1).bytes()}
	if n := x.field(2); !n.null() {
		s.Nulls = []int64{}
		n.each(func(e vec) {
			if c := e.optInt(); c != nil && *c >= 0 {
				s.Nulls = append(s.Nulls, *c)
			} else {
				s.Nulls = append(s.Nulls, -1)
			}
		})
	}
	return s
}

// readColumnar calls each for every row of a manifest in a columnar format.
func (s *Store) readColumnar(ctx context.Context, name, kind string, size int, cols []schema.Field, each func(row func(col int) vec) error) error {
	f, err := format.Open(ctx, s.fio, s.Path(name), int64(size), kind)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := f.Read(ctx, format.ReadOptions{Columns: cols})
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		b, err := r.Next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for k := range b.Rows() {
			i := b.Row(k)
			if err := each(func(col int) vec { return vec{b.Cols[col], i} }); err != nil {
				return err
			}
		}
	}
}

// firstLayout reads with one layout after another until one fits; where none does it tells why the first did not.
func firstLayout[L, T any](ctx context.Context, layouts []L, read func(L) ([]T, error)) ([]T, error) {
	var first error
	for _, l := range layouts {
		out, err := read(l)
		if err == nil {
			return out, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

func (s *Store) columnarManifest(ctx context.Context, name, kind string, size int) ([]Entry, error) {
	return firstLayout(ctx, fileFieldCounts, func(n int) (out []Entry, err error) {
		err = s.readColumnar(ctx, name, kind, size, entryFields(n), func(row func(int) vec) error {
			e, err := columnarEntry("manifest "+s.Path(name), row, n)
			out = append(out, e)
			return err
		})
		return out, err
	})
}

func columnarEntry(name string, row func(int) vec, n int) (Entry, error) {
	if err := checkVersion(name, "manifest entry", int32(row(0).int()), entryVersion); err != nil {
		return Entry{}, err
	}
	k, err := kindOf(name, int32(row(1).int()))
	if err != nil {
		return Entry{}, err
	}
	x := row(5)
	if x.null() {
		return Entry{}, errs.Corruptf("%s is damaged: an entry describes no file", name)
	}
	f := &DataFile{
		Name: x.field(0).text(), Size: x.field(1).int(), RowCount: x.field(2).int(),
		MinKey: x.field(3).bytes(), MaxKey: x.field(4).bytes(), KeyStats: x.field(5).stats(), ValueStats: x.field(6).stats(),
		MinSequence: x.field(7).int(), MaxSequence: x.field(8).int(), SchemaID: x.field(9).int(), Level: int(x.field(10).int()),
		ExtraFiles: x.field(11).texts(),
	}
	if us := x.field(12).optInt(); us != nil {
		ms := *us / 1000
		f.CreationMillis = &ms
	}
	if n > 13 {
		f.DeleteRows, f.EmbeddedIndex = x.field(13).optInt(), x.field(14).bytes()
	}
	if n > 15 {
		f.Source = x.field(15).optInt32()
	}
	if n > 16 {
		f.StatsColumns, f.ExternalPath = x.field(16).texts(), x.field(17).optText()
	}
	if n > 18 {
		f.FirstRowID, f.WriteColumns = x.field(18).optInt(), x.field(19).texts()
	}
	if n > 20 {
		f.WriteColumnSequences = x.field(20).ints()
	}
	if f.Name == "" || f.RowCount < 0 || f.Size < 0 || f.Level < 0 {
		return Entry{}, errs.Corruptf("%s is damaged: an entry describes no file", name)
	}
	return Entry{Kind: k, Partition: row(2).bytes(), Bucket: int(row(3).int()), TotalBuckets: int(row(4).int()), File: f}, nil
}

func (s *Store) columnarList(ctx context.Context, name, kind string, size int) (out []FileInfo, err error) {
	full := "manifest list " + s.Path(name)
	err = s.readColumnar(ctx, name, kind, size, listFields(), func(row func(int) vec) error {
		if err := checkVersion(full, "manifest list record", int32(row(0).int()), listVersion); err != nil {
			return err
		}
		out = append(out, FileInfo{
			Name: row(1).text(), Size: row(2).int(), Added: row(3).int(), Deleted: row(4).int(), PartitionStats: row(5).stats(), SchemaID: row(6).int(),
			MinBucket: row(7).optInt32(), MaxBucket: row(8).optInt32(), MinLevel: row(9).optInt32(), MaxLevel: row(10).optInt32(),
			MinRowID: row(11).optInt(), MaxRowID: row(12).optInt(),
		})
		return nil
	})
	return out, err
}

func (s *Store) columnarIndex(ctx context.Context, name, kind string, size int) ([]IndexEntry, error) {
	full := "index manifest " + s.Path(name)
	layouts := []string{"f0 STRING, f1 INT, f2 INT, _CARDINALITY BIGINT", "f0 STRING, f1 INT, f2 INT"}
	return firstLayout(ctx, layouts, func(ranges string) (out []IndexEntry, err error) {
		err = s.readColumnar(ctx, name, kind, size, indexFields(ranges), func(row func(int) vec) error {
			if err := checkVersion(full, "index manifest entry", int32(row(0).int()), indexVersion); err != nil {
				return err
			}
			k, err := kindOf(full, int32(row(1).int()))
			if err != nil {
				return err
			}
			e := IndexEntry{
				Kind: k, Partition: row(2).bytes(), Bucket: int(row(3).int()), Type: row(4).text(), Name: row(5).text(),
				Size: row(6).int(), RowCount: row(7).int(), ExternalPath: row(9).optText(),
			}
			row(8).each(func(x vec) {
				if x.null() {
					return
				}
				r := VectorRange{DataFile: x.field(0).text(), Offset: x.field(1).int(), Length: x.field(2).int()}
				if strings.Contains(ranges, "_CARDINALITY") {
					r.Cardinality = x.field(3).optInt()
				}
				e.Ranges = append(e.Ranges, r)
			})
			if g := row(10); !g.null() {
				e.Global = &GlobalIndex{
					RowRangeStart: g.field(0).int(), RowRangeEnd: g.field(1).int(), FieldID: int32(g.field(2).int()),
					Meta: g.field(4).bytes(), SourceMeta: g.field(5).bytes(),
				}
				for _, id := range g.field(3).ints() {
					e.Global.ExtraFieldIDs = append(e.Global.ExtraFieldIDs, int32(id))
				}
			}
			out = append(out, e)
			return nil
		})
		return out, err
	})
}
