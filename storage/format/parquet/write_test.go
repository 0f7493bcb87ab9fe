package parquet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"testing"

	pqgo "github.com/parquet-go/parquet-go"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/schema"
)

// appendRandom appends a random value of the type.
func appendRandom(rnd *rand.Rand, b *column.Builder, t *schema.Type) {
	if !t.NotNull && rnd.Intn(5) == 0 {
		b.AppendNull()
		return
	}
	switch t.Root {
	case schema.Boolean:
		b.AppendBool(rnd.Intn(2) == 0)
	case schema.TinyInt:
		b.AppendInt(int64(int8(rnd.Uint32())))
	case schema.SmallInt:
		b.AppendInt(int64(int16(rnd.Uint32())))
	case schema.Int, schema.Date:
		b.AppendInt(int64(int32(rnd.Uint32())))
	case schema.Time:
		b.AppendInt(int64(rnd.Intn(86_400_000)))
	case schema.BigInt:
		b.AppendInt(int64(rnd.Uint64()))
	case schema.Float:
		b.AppendFloat(float64(float32(rnd.NormFloat64())))
	case schema.Double:
		b.AppendFloat(rnd.NormFloat64())
	case schema.Decimal:
		x := column.FromInt64(rnd.Int63n(1_000_000_000))
		if t.Precision > 30 {
			x = column.MulInt64(rnd.Int63(), rnd.Int63()-1<<62)
		}
		b.AppendInt128(x)
	case schema.Timestamp, schema.TimestampLTZ:
		micros := rnd.Int63n(8_000_000_000_000_000) - 4_000_000_000_000_000
		var sub uint16
		switch {
		case t.Precision <= 3:
			micros -= micros % 1000
		case t.Precision > 6:
			sub = uint16(rnd.Intn(1000))
		}
		b.AppendTimestamp(micros, sub)
	case schema.Char, schema.Varchar, schema.Binary, schema.Varbinary:
		b.AppendBytes(bytes.Repeat([]byte{byte('a' + rnd.Intn(26))}, rnd.Intn(20)))
	case schema.Array:
		for range rnd.Intn(4) {
			appendRandom(rnd, b.Child(0), t.Elem)
		}
		b.EndList()
	case schema.Map, schema.Multiset:
		kt, vt := t.Key, t.Elem
		if t.Root == schema.Multiset {
			kt, vt = t.Elem, &schema.Type{Root: schema.Int, NotNull: true}
		}
		for range rnd.Intn(4) {
			appendRandom(rnd, b.Child(0), kt.WithNotNull(true))
			appendRandom(rnd, b.Child(1), vt)
		}
		b.EndList()
	case schema.Row:
		for i, f := range t.Fields {
			appendRandom(rnd, b.Child(i), f.Type)
		}
		b.EndStruct()
	case schema.Variant:
		b.Child(0).AppendBytes([]byte{0x0c, byte(rnd.Intn(256))})
		b.Child(1).AppendBytes([]byte{1, 0, 0})
		b.EndStruct()
	default:
		panic(t.String())
	}
}

func parseType(t testing.TB, text string) *schema.Type {
	t.Helper()
	typ, err := schema.ParseType(text)
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

// writeTypes are columns of every type.
func writeTypes(t testing.TB) []schema.Field {
	var out []schema.Field
	add := func(typ *schema.Type) {
		out = append(out, schema.Field{ID: len(out), Name: fmt.Sprintf("c%d", len(out)), Type: typ})
	}
	for _, s := range []string{
		"BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DATE", "TIME(3)", "DECIMAL(5, 2)", "DECIMAL(18, 4)", "DECIMAL(38, 10)", "DECIMAL(19, 0)",
		"TIMESTAMP(0)", "TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP(9)", "TIMESTAMP(3) WITH LOCAL TIME ZONE", "TIMESTAMP(6) WITH LOCAL TIME ZONE",
		"CHAR(5)", "VARCHAR(20)", "STRING", "BINARY(4)", "BYTES", "VARIANT",
	} {
		add(parseType(t, s))
		if s != "VARIANT" {
			add(parseType(t, s).WithNotNull(true))
		}
	}
	str, num := parseType(t, "STRING"), parseType(t, "INT")
	arr := &schema.Type{Root: schema.Array, Elem: num}
	row := &schema.Type{Root: schema.Row, Fields: []schema.Field{{ID: 101, Name: "x", Type: str}, {ID: 102, Name: "y", Type: arr}}}
	for _, typ := range []*schema.Type{
		arr, arr.WithNotNull(true), {Root: schema.Array, Elem: num.WithNotNull(true)}, {Root: schema.Array, Elem: arr}, {Root: schema.Map, Key: str, Elem: num},
		{Root: schema.Map, Key: num, Elem: row}, {Root: schema.Multiset, Elem: str}, row, row.WithNotNull(true), {Root: schema.Array, Elem: row},
		{Root: schema.Row, Fields: []schema.Field{{ID: 103, Name: "r", Type: row}, {ID: 104, Name: "m", Type: &schema.Type{Root: schema.Map, Key: str, Elem: arr}}}},
	} {
		add(typ)
	}
	return out
}

// writeBatches writes random rows and returns them with the file's bytes.
func writeBatches(t testing.TB, fields []schema.Field, o format.WriteOptions, rnd *rand.Rand, counts ...int) ([]*column.Vector, []byte) {
	t.Helper()
	ctx := context.Background()
	fio := fileio.NewMemory()
	o.Fields = fields
	w, err := format.Create(ctx, fio, "/f.parquet", "parquet", o)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]*column.Builder, len(fields))
	for i, f := range fields {
		all[i] = schema.NewBuilder(f.Type)
	}
	for _, n := range counts {
		b := &column.Batch{N: n}
		if rnd.Intn(2) == 0 {
			b.Sel = []uint16{}
			for i := range n {
				if rnd.Intn(3) > 0 {
					b.Sel = append(b.Sel, uint16(i))
				}
			}
		}
		for i, f := range fields {
			bld := schema.NewBuilder(f.Type)
			for range n {
				appendRandom(rnd, bld, f.Type)
			}
			v := bld.Finish()
			for k := range b.Rows() {
				all[i].Append(v, b.Row(k))
			}
			b.Cols = append(b.Cols, v)
		}
		if err := w.Write(ctx, b); err != nil {
			t.Fatal(err)
		}
	}
	if w.Size() < 4 {
		t.Fatalf("size %d", w.Size())
	}
	size, err := w.Close(ctx)
	if err != nil {
		t.Fatal(err)
	}
	data, err := fio.ReadFile(ctx, "/f.parquet")
	if err != nil || int64(len(data)) != size {
		t.Fatalf("%d bytes, size %d, %v", len(data), size, err)
	}
	want := make([]*column.Vector, len(fields))
	for i := range all {
		want[i] = all[i].Finish()
	}
	return want, data
}

func checkRead(t testing.TB, fields []schema.Field, want []*column.Vector, data []byte) {
	t.Helper()
	f, err := openBytes(data)
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	if len(want) > 0 {
		rows = want[0].N
	}
	if f.Rows() != int64(rows) {
		t.Fatalf("%d rows, want %d", f.Rows(), rows)
	}
	r, err := f.Read(context.Background(), format.ReadOptions{Columns: fields})
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for {
		b, err := r.Next(context.Background())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range fields {
			for k := range b.N {
				if !column.EqualRows(b.Cols[i], k, want[i], at+k) {
					t.Fatalf("column %s (%s), row %d: %+v, want %+v", fields[i].Name, fields[i].Type, at+k, column.ScalarAt(b.Cols[i], k), column.ScalarAt(want[i], at+k))
				}
			}
		}
		at += b.N
	}
	if at != rows {
		t.Fatalf("%d rows were read of %d", at, rows)
	}
}

func TestWriteRoundTrip(t *testing.T) {
	fields := writeTypes(t)
	for seed, o := range []format.WriteOptions{{}, {Compression: "snappy"}, {Compression: "lz4"}, {Compression: "gzip"}, {Compression: "none"}, {BlockSize: 60_000}, {Options: map[string]string{"parquet.enable.dictionary": "false", "parquet.page.size": "2 kb"}}} {
		rnd := rand.New(rand.NewSource(int64(seed)))
		want, data := writeBatches(t, fields, o, rnd, 1, 700, 0, 4000, 13)
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
	want, data := writeBatches(t, fields, format.WriteOptions{}, rand.New(rand.NewSource(1)))
	checkRead(t, fields, want, data)
}

// TestWriteRounds writes enough rows for the encoders to work side by side, over several row groups, and for columns whose
// values do not repeat to give their dictionaries up.
func TestWriteRounds(t *testing.T) {
	var fields []schema.Field
	for i, s := range []string{"BIGINT NOT NULL", "INT", "TINYINT", "STRING", "DECIMAL(38, 10)", "DOUBLE", "BOOLEAN", "TIMESTAMP(3)"} {
		fields = append(fields, schema.Field{ID: i, Name: fmt.Sprintf("c%d", i), Type: parseType(t, s)})
	}
	fields = append(fields, schema.Field{ID: 20, Name: "list", Type: &schema.Type{Root: schema.Array, Elem: parseType(t, "INT")}})
	counts := make([]int, 20)
	for i := range counts {
		counts[i] = column.MaxRows
	}
	want, data := writeBatches(t, fields, format.WriteOptions{BlockSize: 2_500_000}, rand.New(rand.NewSource(9)), counts...)
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

// A file can be given up while its columns are being encoded.
func TestWriteAbortAmid(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	fio := fileio.NewMemory()
	fields := []schema.Field{{ID: 0, Name: "a", Type: parseType(t, "BIGINT")}, {ID: 1, Name: "b", Type: parseType(t, "STRING")}}
	w, err := format.Create(ctx, fio, "/f", "parquet", format.WriteOptions{Fields: fields})
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewSource(2))
	batch := &column.Batch{N: column.MaxRows}
	for _, f := range fields {
		bld := schema.NewBuilder(f.Type)
		for range batch.N {
			appendRandom(rnd, bld, f.Type)
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
	fields := []schema.Field{{ID: 0, Name: "a", Type: parseType(t, "STRING")}, {ID: 1, Name: "b", Type: parseType(t, "INT NOT NULL")}}
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
	w, err := format.Create(ctx, fio, "/f", "parquet", format.WriteOptions{Fields: []schema.Field{{Name: "b", Type: parseType(t, "INT NOT NULL")}}})
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
		fields = append(fields, schema.Field{ID: i, Name: fmt.Sprintf("c%d", i), Type: parseType(b, s)})
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
