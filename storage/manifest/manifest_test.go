package manifest

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
)

func sample(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func typ(t testing.TB, s string) *schema.Type {
	t.Helper()
	ty, err := schema.ParseType(s)
	if err != nil {
		t.Fatal(err)
	}
	return ty
}

// TestReleases reads what each release wrote: what it lacks is absent, not zero.
func TestReleases(t *testing.T) {
	for _, c := range []struct {
		file                       string
		rows                       int64
		minSeq, maxSeq             int64
		total                      int
		deletes, source, statsCols bool
	}{
		{"manifest-0.4.0", 8, 36, 43, 2, false, false, false},
		{"manifest-0.8.2", 11, 25, 35, 2, true, false, false},
		{"manifest-1.3.1", 8, 17, 24, 2, true, true, false},
		{"manifest-2.0.0", 83, 250, 332, 1, true, true, false},
		{"manifest-python", 12, 12, 23, 1, true, true, true},
	} {
		list, err := DecodeManifest(context.Background(), c.file, sample(t, c.file))
		if err != nil || len(list) == 0 {
			t.Fatal(c.file, err)
		}
		e, f := list[0], list[0].File
		if e.Kind != Add || e.Bucket != 0 || e.TotalBuckets != c.total || f.RowCount != c.rows || f.MinSequence != c.minSeq || f.MaxSequence != c.maxSeq || f.CreationMillis == nil {
			t.Errorf("%s: %+v %+v", c.file, e, f)
		}
		if (f.DeleteRows != nil) != c.deletes || (f.Source != nil) != c.source || (f.StatsColumns != nil) != c.statsCols {
			t.Errorf("%s: %v %v %v", c.file, f.DeleteRows, f.Source, f.StatsColumns)
		}
		if f.EmbeddedIndex != nil || f.ExternalPath != nil || f.FirstRowID != nil || f.WriteColumns != nil {
			t.Errorf("%s: %+v", c.file, f)
		}
		if f.ExtraFiles == nil || len(f.ExtraFiles) != 0 {
			t.Errorf("%s: extra files %v", c.file, f.ExtraFiles)
		}
	}
	for _, c := range []struct {
		file        string
		min, max, n int64
	}{{"list-0.4.0", -1, -1, 1}, {"list-1.3.1", 0, 1, 1}, {"list-2.0.0", 0, 0, 1}, {"list-python", 0, 0, 1}} {
		list, err := DecodeList(context.Background(), c.file, sample(t, c.file))
		if err != nil || int64(len(list)) != c.n {
			t.Fatal(c.file, err)
		}
		i := list[0]
		if c.min < 0 && (i.MinBucket != nil || i.MaxLevel != nil) || c.min >= 0 && (i.MinBucket == nil || int64(*i.MinBucket) != c.min || int64(*i.MaxBucket) != c.max) {
			t.Errorf("%s: %+v", c.file, i)
		}
	}
	for _, c := range []struct {
		file, typ string
		ranges    int
		counted   bool
	}{{"index-0.8.2", IndexHash, 0, false}, {"index-2.0.0", IndexDeletionVectors, 3, true}, {"index-python", IndexDeletionVectors, 1, true}} {
		list, err := DecodeIndex(context.Background(), c.file, sample(t, c.file))
		if err != nil || len(list) == 0 {
			t.Fatal(c.file, err)
		}
		e := list[0]
		if e.Type != c.typ || len(e.Ranges) < c.ranges || c.counted && e.Ranges[0].Cardinality == nil || e.Global != nil {
			t.Errorf("%s: %+v", c.file, e)
		}
	}
}

func TestDamaged(t *testing.T) {
	good := sample(t, "manifest-2.0.0")
	decode := func(b []byte) error { _, err := DecodeManifest(context.Background(), "the file", b); return err }
	for name, b := range map[string][]byte{
		"empty": {}, "text": []byte("not a manifest"), "half": good[:len(good)/2], "header only": good[:20], "cut sync": good[:len(good)-3],
		"trailing": append(slices.Clone(good), 1, 2, 3),
	} {
		if err := decode(b); !errs.Is(err, errs.Corrupt) || !strings.Contains(err.Error(), "the file") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Any changed byte of the blocks is noticed or harmless, never a panic.
	for i := range good {
		b := slices.Clone(good)
		b[i] ^= 0x55
		if err := decode(b); err != nil && !errs.Is(err, errs.Corrupt) && !errs.Is(err, errs.Unsupported) {
			t.Errorf("byte %d: %v", i, err)
		}
	}
}

// write makes an Avro file of one record.
func write(t testing.TB, schemaText string, codec ocf.Codec, records ...any) []byte {
	t.Helper()
	s, err := avro.Parse(schemaText)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	var opts []ocf.WriterOpt
	if codec != nil {
		opts = append(opts, ocf.WithCodec(codec))
	}
	w, err := ocf.NewWriter(&out, s, opts...)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := w.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

const listSchema = `{"type":"record","name":"r","fields":[{"name":"_VERSION","type":"int"},{"name":"_FILE_NAME","type":"string"},{"name":"_FUTURE","type":{"type":"array","items":"double"}},{"name":"_FILE_SIZE","type":"long"}]}`

func TestUnknownFieldsAndVersions(t *testing.T) {
	rec := func(version int32, name string) map[string]any {
		return map[string]any{"_VERSION": version, "_FILE_NAME": name, "_FUTURE": []float64{1}, "_FILE_SIZE": int64(7)}
	}
	for _, codec := range []ocf.Codec{nil, ocf.SnappyCodec(), ocf.DeflateCodec(6), ocf.MustZstdCodec(nil, nil)} {
		list, err := DecodeList(context.Background(), "x", write(t, listSchema, codec, rec(2, "a"), rec(2, "b")))
		if err != nil || len(list) != 2 || list[1].Name != "b" || list[1].Size != 7 {
			t.Error(list, err)
		}
	}
	if _, err := DecodeList(context.Background(), "x", write(t, listSchema, nil, rec(1, "a"))); !errs.Is(err, errs.Unsupported) || !strings.Contains(err.Error(), "version 1") {
		t.Error(err)
	}
	if _, err := DecodeList(context.Background(), "x", write(t, listSchema, nil, rec(2, ""))); !errs.Is(err, errs.Corrupt) {
		t.Error(err)
	}
	many := make([]any, 3*checkEvery)
	for i := range many {
		many[i] = rec(2, "a")
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	if _, err := DecodeList(stopped, "x", write(t, listSchema, nil, many...)); !errors.Is(err, context.Canceled) {
		t.Errorf("a stopped decoding ends with %v", err)
	}
	if list, err := DecodeList(context.Background(), "x", write(t, listSchema, nil)); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
	b := bytes.Replace(write(t, listSchema, ocf.SnappyCodec(), rec(2, "a")), []byte("snappy"), []byte("lzxxxx"), 1)
	if _, err := DecodeList(context.Background(), "x", b); !errs.Is(err, errs.Unsupported) || !strings.Contains(err.Error(), "lzxxxx") {
		t.Error(err)
	}
	// The root of old releases is a union with null.
	union := `["null",` + listSchema + `]`
	list, err := DecodeList(context.Background(), "x", write(t, union, nil, rec(2, "a")))
	if err != nil || len(list) != 1 || list[0].Name != "a" {
		t.Error(list, err)
	}
}

func file(name string) *DataFile { return &DataFile{Name: name, RowCount: 1, ExtraFiles: []string{}} }

func TestMerge(t *testing.T) {
	types := []*schema.Type{typ(t, "DECIMAL(20,2)")}
	null := []column.Scalar{column.NullScalar(column.KindInt128)}
	java := binrow.EncodeRow(types, null)
	python := slices.Concat(java[:4+8+8], []byte{})
	copy(python[12:], make([]byte, 8))
	up := file("up")
	up.Level = 5
	idx := file("indexed")
	idx.EmbeddedIndex = []byte{}
	path := "/x"
	ext := file("external")
	ext.ExternalPath = &path
	manifests := [][]Entry{
		{{Kind: Delete, Partition: python, File: file("gone")}}, // the order does not matter
		{
			{Kind: Add, Partition: java, File: file("gone")},
			{Kind: Add, Partition: java, File: file("stays")},
			{Kind: Add, Partition: java, File: file("up")},
			{Kind: Add, Partition: java, File: file("indexed")},
			{Kind: Add, Partition: java, File: file("external")},
			{Kind: Add, Partition: java, Bucket: 1, File: file("stays")},
		},
		{
			{Kind: Delete, Partition: java, File: file("up")},
			{Kind: Add, Partition: java, File: up},
			{Kind: Delete, Partition: java, File: idx}, // another identity
			{Kind: Delete, Partition: java, File: ext}, // another identity
			{Kind: Delete, Partition: java, Bucket: 1, File: file("stays")},
			{Kind: Delete, Partition: java, File: file("never there")},
		},
	}
	names := func(keep func(*Entry) bool) string {
		live, err := Merge(manifests, types, keep)
		if err != nil {
			t.Fatal(err)
		}
		out := ""
		for _, e := range live {
			out += e.File.Name + " "
		}
		return out
	}
	if got := names(nil); got != "stays indexed external up " {
		t.Error(got)
	}
	if got := names(func(e *Entry) bool { return e.Bucket == 1 }); got != "" {
		t.Error(got)
	}
	if _, err := Merge([][]Entry{{{Kind: Delete, Partition: []byte{1}, File: file("x")}}}, types, nil); !errs.Is(err, errs.Corrupt) {
		t.Error(err)
	}
}

func stats(types []*schema.Type, lo, hi []column.Scalar, nulls ...int64) SimpleStats {
	return SimpleStats{Min: binrow.EncodeRow(types, lo), Max: binrow.EncodeRow(types, hi), Nulls: nulls}
}

func TestStats(t *testing.T) {
	fs, err := schema.ParseFieldsJSON([]byte(`[{"id":0,"name":"a","type":"INT"},{"id":1,"name":"s","type":"STRING"},{"id":2,"name":"l","type":{"type":"ARRAY","element":"INT"}},{"id":3,"name":"d","type":"DOUBLE"},{"id":4,"name":"t","type":"TIMESTAMP(3)"}]`))
	if err != nil {
		t.Fatal(err)
	}
	ts, err := schema.ParseFieldsJSON([]byte(`[{"id":9,"name":"new","type":"INT"},{"id":4,"name":"t","type":"TIMESTAMP(3)"},{"id":0,"name":"a2","type":"BIGINT"},{"id":1,"name":"s","type":"INT"},{"id":3,"name":"d","type":"DOUBLE"},{"id":2,"name":"l","type":{"type":"ARRAY","element":"INT"}}]`))
	if err != nil {
		t.Fatal(err)
	}
	m := NewStatsMapper(fs, ts)
	i32 := func(x int64) column.Scalar { return column.IntScalar(column.KindInt32, x) }
	str := func(s string) column.Scalar { return column.BytesScalar([]byte(s)) }
	dbl := func(f float64) column.Scalar { return column.Scalar{Kind: column.KindFloat64, F: f} }
	ms := func(x int64) column.Scalar { return column.IntScalar(column.KindTimestamp, x*1000) }
	null := column.NullScalar(column.KindList)
	f := &DataFile{Name: "data-1.parquet", RowCount: 10}
	f.ValueStats = stats(schema.Types(fs), []column.Scalar{i32(1), str("a"), null, dbl(0), ms(-20)}, []column.Scalar{i32(9), str("b"), null, dbl(0), ms(500)}, 2, 0, -1, 10, 0)

	if s, ok := m.Column(f, 0); !ok || s.Nulls != 10 || s.HasBounds {
		t.Errorf("a column that the file lacks: %+v %v", s, ok)
	}
	if s, ok := m.Column(f, 2); !ok || s.Nulls != 2 || !s.HasBounds || s.Min.Kind != column.KindInt64 || s.Min.I != 1 || s.Max.I != 9 {
		t.Errorf("a widened column: %+v %v", s, ok)
	}
	if s, ok := m.Column(f, 3); !ok || s.HasBounds || s.Nulls != 0 {
		t.Errorf("a column of another type: %+v %v", s, ok)
	}
	if s, ok := m.Column(f, 4); !ok || s.Nulls != 10 || column.CompareFloat(s.Min.F, s.Max.F) >= 0 {
		t.Errorf("both zeros count as one: %+v %v", s, ok)
	}
	if _, ok := m.Column(f, 5); ok {
		t.Error("something is known of a list")
	}
	if s, ok := m.Column(f, 1); !ok || !s.HasBounds {
		t.Errorf("%+v %v", s, ok)
	}
	// Bounds of ORC timestamps around the epoch and before 1582 do not hold.
	orc := *f
	orc.Name = "data-1.orc"
	if s, ok := m.Column(&orc, 1); !ok || s.HasBounds {
		t.Errorf("%+v %v", s, ok)
	}
	// Dense statistics: unlisted columns are unknown.
	dense := &DataFile{Name: "x.parquet", RowCount: 10, StatsColumns: []string{"s", "a"}}
	dense.ValueStats = stats([]*schema.Type{fs[1].Type, fs[0].Type}, []column.Scalar{str("a"), i32(3)}, []column.Scalar{str("b"), i32(4)}, 0, 1)
	if s, ok := m.Column(dense, 2); !ok || s.Min.I != 3 || s.Nulls != 1 {
		t.Errorf("%+v %v", s, ok)
	}
	if s, ok := m.Column(dense, 4); ok {
		t.Errorf("an unlisted column is known: %+v", s)
	}
	none := &DataFile{Name: "x.parquet", RowCount: 10, StatsColumns: []string{}, ValueStats: SimpleStats{Min: binrow.Empty, Max: binrow.Empty, Nulls: []int64{}}}
	if s, ok := m.Column(none, 2); ok {
		t.Errorf("%+v", s)
	}
	// For showing, statistics are as stored.
	if s, ty, ok := m.Stored(f, 4); !ok || ty.Root != schema.Double || math.Signbit(s.Min.F) {
		t.Errorf("%+v %v %v", s, ty, ok)
	}
	if s, ty, ok := m.Stored(&orc, 1); !ok || ty.Root != schema.Timestamp || !s.HasBounds {
		t.Errorf("%+v %v %v", s, ty, ok)
	}
	if s, ty, ok := m.Stored(f, 2); !ok || ty.Root != schema.Int || s.Min.I != 1 || s.Nulls != 2 {
		t.Errorf("%+v %v %v", s, ty, ok)
	}
	if s, ty, ok := m.Stored(f, 0); !ok || ty.Root != schema.Int || s.Nulls != 10 {
		t.Errorf("%+v %v %v", s, ty, ok)
	}
	// Statistics of a wrong shape say nothing.
	bad := &DataFile{Name: "x.parquet", RowCount: 10, ValueStats: SimpleStats{Min: []byte{1, 2}, Max: binrow.Empty, Nulls: []int64{7}}}
	if s, ok := m.Column(bad, 2); ok {
		t.Errorf("%+v", s)
	}
	if s, ok := f.KeyColumn([]*schema.Type{fs[0].Type}, 0); ok {
		t.Errorf("%+v", s)
	}
}

// Bounds of CHAR in ORC files are padded; what is read is not.
func TestOrcCharBounds(t *testing.T) {
	char := &schema.Type{Root: schema.Char, Length: 4}
	for _, c := range []struct{ file, min, want string }{
		{"data-1-0.orc", "b   ", "b"},
		{"data-1-0.orc", "b\x01  ", "b"},
		{"data-1-0.orc", "    ", ""},
		{"data-1-0.orc", "bcde", "bcde"},
		{"data-1-0.parquet", "b   ", "b   "},
	} {
		got := orcBounds(c.file, char, predicate.Stats{HasBounds: true, Min: column.BytesScalar([]byte(c.min)), Max: column.BytesScalar([]byte("zz  "))})
		if string(got.Min.B) != c.want || string(got.Max.B) != "zz  " || !got.HasBounds {
			t.Errorf("%s %q: %q to %q", c.file, c.min, got.Min.B, got.Max.B)
		}
	}
}

func TestCastStats(t *testing.T) {
	i32 := func(x int64) column.Scalar { return column.IntScalar(column.KindInt32, x) }
	i64 := func(x int64) column.Scalar { return column.IntScalar(column.KindInt64, x) }
	for _, c := range []struct {
		from, to string
		lo, hi   column.Scalar
		bounds   bool
		nulls    int64
	}{
		{"INT", "BIGINT", i32(1), i32(5), true, 2},
		{"INT", "DOUBLE", i32(1), i32(5), true, 2},
		{"INT", "TINYINT", i32(1), i32(300), false, 2}, // wraps
		{"INT", "STRING", i32(1), i32(300), false, 2},  // another order
		{"INT", "DECIMAL(3,1)", i32(1), i32(99), true, 2},
		{"INT", "DECIMAL(3,1)", i32(1), i32(100), false, -1}, // 100.0 becomes null
		{"DECIMAL(9,2)", "DECIMAL(9,1)", i64(-5), i64(15), true, 2},
		{"DECIMAL(9,2)", "DECIMAL(3,0)", i64(-5), i64(999999), false, -1},
	} {
		from, to := typ(t, c.from), typ(t, c.to)
		s := castStats(predicate.Stats{Rows: 10, Nulls: 2, HasBounds: true, Min: c.lo, Max: c.hi}, from, to)
		if s.HasBounds != c.bounds || s.Nulls != c.nulls || s.HasBounds && (s.Min.Kind != schema.KindOf(to) || s.Min.Compare(s.Max) > 0) {
			t.Errorf("%s to %s: %+v", c.from, c.to, s)
		}
	}
	if s := castStats(predicate.Stats{Rows: 10, Nulls: 0}, typ(t, "STRING"), typ(t, "DECIMAL(3,1)")); s.Nulls != -1 {
		t.Error("texts may become null decimals")
	}
	if s := castStats(predicate.Stats{Rows: 10, Nulls: 10}, typ(t, "STRING"), typ(t, "DECIMAL(3,1)")); s.Nulls != 10 {
		t.Error("nulls stay null")
	}
}

func TestStore(t *testing.T) {
	ctx := context.Background()
	mem := fileio.NewMemory()
	good := sample(t, "manifest-2.0.0")
	for name, b := range map[string][]byte{"m1": good, "m2": sample(t, "manifest-1.3.1"), "cut": good[:len(good)/2], "l1": sample(t, "list-2.0.0"), "i1": sample(t, "index-2.0.0")} {
		if err := mem.Overwrite(ctx, "/t/manifest/"+name, b); err != nil {
			t.Fatal(err)
		}
	}
	fio := fileio.NewFaulty(mem)
	c := NewCache(1 << 20)
	s := NewStore(fio, "/t", c)
	infos := []FileInfo{{Name: "m1", Size: int64(len(good))}, {Name: "m2", Size: -1}, {Name: "m1", Size: int64(len(good))}}
	all, err := s.ReadManifests(ctx, infos)
	if err != nil || len(all) != 3 || len(all[0]) == 0 || len(all[1]) == 0 {
		t.Fatal(all, err)
	}
	if n := fio.Count(fileio.OpReadFile); n != 2 {
		t.Errorf("%d files were read", n)
	}
	if st := c.Stats(); st.Hits != 1 || st.Misses != 2 || st.Bytes == 0 {
		t.Errorf("%+v", st)
	}
	if x, err := s.ReadList(ctx, "l1"); err != nil || len(x) != 1 {
		t.Error(x, err)
	}
	if x, err := s.ReadIndexManifest(ctx, "i1"); err != nil || len(x) != 2 {
		t.Error(x, err)
	}
	if x, err := s.ReadIndexManifest(ctx, ""); err != nil || len(x) != 0 {
		t.Error(x, err)
	}
	if _, err := s.ReadManifest(ctx, "none", -1); !errs.Is(err, errs.NotFound) || !strings.Contains(err.Error(), "/t/manifest/none") {
		t.Error(err)
	}
	for _, n := range []string{"cut", ""} {
		if _, err := s.ReadManifest(ctx, n, -1); !errs.Is(err, errs.Corrupt) {
			t.Error(n, err)
		}
	}
	if _, err := s.ReadManifest(ctx, "../manifest/m1", -1); !errs.Is(err, errs.Corrupt) {
		t.Error("a name leads out of the directory:", err)
	}
	if _, err := NewStore(fio, "/t", nil).ReadManifest(ctx, "m1", 5); !errs.Is(err, errs.Corrupt) {
		t.Error("a wrong length is taken:", err)
	}
	if _, err := s.ReadManifests(ctx, []FileInfo{{Name: "m1", Size: -1}, {Name: "none", Size: -1}}); !errs.Is(err, errs.NotFound) {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	names, err := os.ReadDir("testdata")
	if err != nil {
		f.Fatal(err)
	}
	for _, n := range names {
		if strings.HasSuffix(n.Name(), ".md") {
			continue
		}
		f.Add(sample(f, n.Name()))
	}
	f.Add(write(f, listSchema, nil, map[string]any{"_VERSION": int32(2), "_FILE_NAME": "x", "_FUTURE": []float64{1}, "_FILE_SIZE": int64(7)}))
	f.Fuzz(func(t *testing.T, b []byte) {
		check := func(err error) {
			if err != nil && !errs.Is(err, errs.Corrupt) && !errs.Is(err, errs.Unsupported) {
				t.Fatal(err)
			}
		}
		entries, err := DecodeManifest(context.Background(), "x", b)
		check(err)
		for i := range entries {
			entries[i].Identity(string(entries[i].Partition))
		}
		_, err = DecodeList(context.Background(), "x", b)
		check(err)
		_, err = DecodeIndex(context.Background(), "x", b)
		check(err)
	})
}
