package parquet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	pqgo "github.com/parquet-go/parquet-go"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/format/roundtrip"
	"github.com/tributarydb/tributary/storage/schema"
)

func checkRead(t testing.TB, fields []schema.Field, want []*column.Vector, data []byte) {
	t.Helper()
	f, err := openBytes(data)
	if err != nil {
		t.Fatal(err)
	}
	roundtrip.Check(t, f, format.ReadOptions{Columns: fields}, want)
}

func TestWriteRoundTrip(t *testing.T) {
	fields := roundtrip.AllTypes(t, "TIMESTAMP(9)", "TIMESTAMP(9) NOT NULL", "VARIANT")
	for seed, o := range []format.WriteOptions{{}, {Compression: "snappy"}, {Compression: "lz4"}, {Compression: "gzip"}, {Compression: "none"}, {BlockSize: 60_000}, {Options: map[string]string{"parquet.enable.dictionary": "false", "parquet.page.size": "2 kb"}}, {PageRows: 7, BlockSize: 60_000, Options: map[string]string{"parquet.enable.dictionary": "false"}}} {
		rnd := rand.New(rand.NewSource(int64(seed)))
		want, data := roundtrip.Write(t, "parquet", fields, o, rnd, 1, 700, 0, 4000, 13)
		checkRead(t, fields, want, data)
		// Another library has to accept the file.
		pf, err := pqgo.OpenFile(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		if pf.NumRows() != int64(want[0].N) || pf.Root().Name() != "paimon_schema" {
			t.Fatalf("parquet-go sees %d rows below %q", pf.NumRows(), pf.Root().Name())
		}
	}
	want, data := roundtrip.Write(t, "parquet", fields, format.WriteOptions{}, rand.New(rand.NewSource(1)))
	checkRead(t, fields, want, data)
}

// TestWriteRounds writes enough rows for the encoders to work side by side, over several row groups, and for columns whose
// values do not repeat to give their dictionaries up.
func TestWriteRounds(t *testing.T) {
	var fields []schema.Field
	for i, s := range []string{"BIGINT NOT NULL", "INT", "TINYINT", "STRING", "DECIMAL(38, 10)", "DOUBLE", "BOOLEAN", "TIMESTAMP(3)"} {
		fields = append(fields, schema.Field{ID: i, Name: fmt.Sprintf("c%d", i), Type: roundtrip.Type(t, s)})
	}
	fields = append(fields, schema.Field{ID: 20, Name: "list", Type: &schema.Type{Root: schema.Array, Elem: roundtrip.Type(t, "INT")}})
	counts := make([]int, 20)
	for i := range counts {
		counts[i] = column.MaxRows
	}
	want, data := roundtrip.WriteEven(t, "parquet", fields, format.WriteOptions{BlockSize: 2_500_000}, rand.New(rand.NewSource(9)), counts...)
	checkRead(t, fields, want, data)
	pf, err := pqgo.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	groups := pf.Metadata().RowGroups
	if len(groups) < 2 {
		t.Fatalf("%d row groups", len(groups))
	}
	for i, g := range groups {
		if g.Columns[0].MetaData.DictionaryPageOffset != 0 || g.Columns[2].MetaData.DictionaryPageOffset == 0 {
			t.Errorf("row group %d: dictionaries at %d and %d; want none of values that do not repeat, and one of those that do", i,
				g.Columns[0].MetaData.DictionaryPageOffset, g.Columns[2].MetaData.DictionaryPageOffset)
		}
	}
}

// TestWritePageRows bounds the rows of pages: of columns with and without a dictionary, nested ones and ones with nulls.
func TestWritePageRows(t *testing.T) {
	var fields []schema.Field
	for i, s := range []string{"BIGINT NOT NULL", "INT", "TINYINT", "STRING", "BOOLEAN"} {
		fields = append(fields, schema.Field{ID: i, Name: fmt.Sprintf("c%d", i), Type: roundtrip.Type(t, s)})
	}
	fields = append(fields, schema.Field{ID: 20, Name: "list", Type: &schema.Type{Root: schema.Array, Elem: roundtrip.Type(t, "INT")}})
	const limit = 1000
	for _, o := range []format.WriteOptions{{PageRows: limit}, {PageRows: 1 << 20, Options: map[string]string{optPageRows: " 1000 "}}} {
		want, data := roundtrip.WriteEven(t, "parquet", fields, o, rand.New(rand.NewSource(3)), 4096, 4096, 4096, 3000, 4096, 4096, 4096, 4096, 50)
		checkRead(t, fields, want, data)
		f, err := openBytes(data)
		if err != nil {
			t.Fatal(err)
		}
		g := &f.meta.groups[0]
		for i, n := range f.leaves {
			c := &columnReader{flat: new(flatColumn)}
			c.flat.open(f, 0, n, convNone, nil)
			if err := f.loadLocations([]*columnReader{c}, g); err != nil || c.flat.locs == nil {
				t.Fatalf("column %d has no page index (%v)", i, err)
			}
			late := 0
			for p, first := range c.flat.locs.firstRow {
				rows := c.flat.locs.end(p, g.rows) - first
				if first > dictionaryTrial && rows > limit {
					t.Errorf("column %d: page %d has %d rows", i, p, rows)
				}
				if rows == limit {
					late++
				}
			}
			if late == 0 {
				t.Errorf("column %d: no page has %d rows: they begin at %v", i, limit, c.flat.locs.firstRow)
			}
		}
		if skipped := checkFilters(t, "page rows", f, 6); skipped == 0 {
			t.Error("no row was ever skipped")
		}
	}
	for _, bad := range []string{"0", "-1", "many"} {
		_, err := format.Create(context.Background(), fileio.NewMemory(), "/f", "parquet", format.WriteOptions{Fields: fields, Options: map[string]string{optPageRows: bad}})
		if !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), optPageRows) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// A file can be given up while its columns are being encoded.
func TestWriteAbortAmid(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	fio := fileio.NewMemory()
	fields := []schema.Field{{ID: 0, Name: "a", Type: roundtrip.Type(t, "BIGINT")}, {ID: 1, Name: "b", Type: roundtrip.Type(t, "STRING")}}
	w, err := format.Create(ctx, fio, "/f", "parquet", format.WriteOptions{Fields: fields})
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewSource(2))
	batch := &column.Batch{N: column.MaxRows}
	for _, f := range fields {
		bld, maker := schema.NewBuilder(f.Type), roundtrip.NewMaker(rnd)
		for range batch.N {
			maker.Append(bld, f.Type)
		}
		batch.Cols = append(batch.Cols, bld.Finish())
	}
	for range 40 {
		if err := w.Write(ctx, batch); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if err := w.Write(ctx, batch); !errors.Is(err, context.Canceled) {
		t.Fatalf("written after the end of the statement: %v", err)
	}
	w.Abort()
	if list, _ := fio.List(context.Background(), "/"); len(list) > 0 {
		t.Fatalf("files are left: %v", list)
	}
}

// Dictionary-coded and constant vectors are written as their values.
func TestWriteCodedVectors(t *testing.T) {
	ctx := context.Background()
	fields := []schema.Field{{ID: 0, Name: "a", Type: roundtrip.Type(t, "STRING")}, {ID: 1, Name: "b", Type: roundtrip.Type(t, "INT NOT NULL")}}
	d := column.NewBuilder(column.KindBytes)
	d.AppendString("x")
	d.AppendString("y")
	coded := &column.Vector{Kind: column.KindBytes, N: 3, Dict: d.Finish(), Codes: []uint32{1, 0, 1}, Valid: []uint64{0b101}}
	konst := column.NewConst(column.FromScalar(column.IntScalar(column.KindInt32, 7)), 3)
	fio := fileio.NewMemory()
	w, err := format.Create(ctx, fio, "/f", "parquet", format.WriteOptions{Fields: fields})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(ctx, &column.Batch{N: 3, Cols: []*column.Vector{coded, konst}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(ctx); err != nil {
		t.Fatal(err)
	}
	data, _ := fio.ReadFile(ctx, "/f")
	checkRead(t, fields, []*column.Vector{column.Flatten(coded), column.Flatten(konst)}, data)
}

func TestWriteNullInNotNull(t *testing.T) {
	ctx := context.Background()
	fio := fileio.NewMemory()
	w, err := format.Create(ctx, fio, "/f", "parquet", format.WriteOptions{Fields: []schema.Field{{Name: "b", Type: roundtrip.Type(t, "INT NOT NULL")}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(ctx, &column.Batch{N: 1, Cols: []*column.Vector{column.NewNulls(column.KindInt32, 1)}}); !errs.Is(err, errs.Invalid) {
		t.Fatalf("a null was written: %v", err)
	}
	w.Abort()
	w.Abort()
	if list, _ := fio.List(ctx, "/"); len(list) > 0 {
		t.Fatalf("files are left: %v", list)
	}
	if _, err := format.Create(ctx, fio, "/f", "parquet", format.WriteOptions{Compression: "lzo"}); !errs.Is(err, errs.Unsupported) {
		t.Fatalf("lzo: %v", err)
	}
}

// BenchmarkWrite writes ten mixed columns.
func BenchmarkWrite(b *testing.B) {
	ctx := context.Background()
	var fields []schema.Field
	for i, s := range []string{"BIGINT", "INT", "INT", "DOUBLE", "DATE", "DECIMAL(15, 2)", "DECIMAL(15, 2)", "STRING", "STRING", "STRING"} {
		fields = append(fields, schema.Field{ID: i, Name: fmt.Sprintf("c%d", i), Type: roundtrip.Type(b, s)})
	}
	rnd := rand.New(rand.NewSource(1))
	batch := &column.Batch{N: column.MaxRows}
	for i, f := range fields {
		bld := schema.NewBuilder(f.Type)
		for r := range batch.N {
			switch i {
			case 0:
				bld.AppendInt(int64(r) * 7)
			case 4:
				bld.AppendInt(int64(8000 + rnd.Intn(2500)))
			case 7:
				bld.AppendString([]string{"AIR", "RAIL", "SHIP", "TRUCK"}[rnd.Intn(4)])
			case 8:
				bld.AppendString(fmt.Sprintf("Customer#%09d", rnd.Intn(100000)))
			case 9:
				bld.AppendString(fmt.Sprintf("comment %d of %d", rnd.Intn(1000), r))
			default:
				if f.Type.Root == schema.Double {
					bld.AppendFloat(float64(rnd.Intn(100000)) / 100)
				} else {
					bld.AppendInt(int64(rnd.Intn(100000)))
				}
			}
		}
		batch.Cols = append(batch.Cols, bld.Finish())
	}
	b.ResetTimer()
	rows := 0
	for b.Loop() {
		w, err := format.Create(ctx, fileio.NewMemory(), "/f", "parquet", format.WriteOptions{Fields: fields})
		if err != nil {
			b.Fatal(err)
		}
		for range 50 {
			if err := w.Write(ctx, batch); err != nil {
				b.Fatal(err)
			}
			rows += batch.N
		}
		if _, err := w.Close(ctx); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}
