package avro

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"testing"

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
		"TIMESTAMP(0)", "TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP(3) WITH LOCAL TIME ZONE", "TIMESTAMP(6) WITH LOCAL TIME ZONE",
		"CHAR(5)", "VARCHAR(20)", "STRING", "BINARY(4)", "BYTES",
	} {
		add(parseType(t, s))
		add(parseType(t, s).WithNotNull(true))
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
	w, err := format.Create(ctx, fio, "/f.avro", "avro", o)
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
	data, err := fio.ReadFile(ctx, "/f.avro")
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
	fio := fileio.NewMemory()
	if err := fio.Overwrite(context.Background(), "/f.avro", data); err != nil {
		t.Fatal(err)
	}
	f, err := Open(context.Background(), fio, "/f.avro", int64(len(data)))
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
	for seed, o := range []format.WriteOptions{{}, {Compression: "snappy"}, {Compression: "none"}, {Compression: "gzip"}} {
		rnd := rand.New(rand.NewSource(int64(seed)))
		want, data := writeBatches(t, fields, o, rnd, 1, 700, 0, 4000, 13)
		checkRead(t, fields, want, data)
	}
	want, data := writeBatches(t, fields, format.WriteOptions{}, rand.New(rand.NewSource(1)))
	checkRead(t, fields, want, data)
}

// Types that Avro cannot store, nulls in NOT NULL columns and unknown codecs are refused.
func TestWriteRefusals(t *testing.T) {
	ctx := context.Background()
	fio := fileio.NewMemory()
	for _, typ := range []string{"TIMESTAMP(9)", "TIME(6)", "VARIANT"} {
		if _, err := format.Create(ctx, fio, "/f", "avro", format.WriteOptions{Fields: []schema.Field{{Name: "x", Type: parseType(t, typ)}}}); !errs.Is(err, errs.Unsupported) {
			t.Errorf("%s: %v", typ, err)
		}
	}
	if _, err := format.Create(ctx, fio, "/f", "avro", format.WriteOptions{Compression: "xz"}); !errs.Is(err, errs.Unsupported) {
		t.Errorf("xz: %v", err)
	}
	w, err := format.Create(ctx, fio, "/f", "avro", format.WriteOptions{Fields: []schema.Field{{Name: "b", Type: parseType(t, "INT NOT NULL")}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(ctx, &column.Batch{N: 1, Cols: []*column.Vector{column.NewNulls(column.KindInt32, 1)}}); !errs.Is(err, errs.Invalid) {
		t.Fatalf("a null was written: %v", err)
	}
	w.Abort()
	if list, _ := fio.List(ctx, "/"); len(list) > 0 {
		t.Fatalf("files are left: %v", list)
	}
}
