package avro

import (
	"context"
	"math/rand"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/format/roundtrip"
	"github.com/tributarydb/tributary/storage/schema"
)

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
	roundtrip.Check(t, f, format.ReadOptions{Columns: fields}, want)
}

func TestWriteRoundTrip(t *testing.T) {
	fields := roundtrip.AllTypes(t)
	for seed, o := range []format.WriteOptions{{}, {Compression: "snappy"}, {Compression: "none"}, {Compression: "gzip"}} {
		rnd := rand.New(rand.NewSource(int64(seed)))
		want, data := roundtrip.Write(t, "avro", fields, o, rnd, 1, 700, 0, 4000, 13)
		checkRead(t, fields, want, data)
	}
	want, data := roundtrip.Write(t, "avro", fields, format.WriteOptions{}, rand.New(rand.NewSource(1)))
	checkRead(t, fields, want, data)
}

// Types that Avro cannot store, nulls in NOT NULL columns and unknown codecs are refused.
func TestWriteRefusals(t *testing.T) {
	ctx := context.Background()
	fio := fileio.NewMemory()
	for _, typ := range []string{"TIMESTAMP(9)", "TIME(6)", "VARIANT"} {
		if _, err := format.Create(ctx, fio, "/f", "avro", format.WriteOptions{Fields: []schema.Field{{Name: "x", Type: roundtrip.Type(t, typ)}}}); !errs.Is(err, errs.Unsupported) {
			t.Errorf("%s: %v", typ, err)
		}
	}
	if _, err := format.Create(ctx, fio, "/f", "avro", format.WriteOptions{Compression: "xz"}); !errs.Is(err, errs.Unsupported) {
		t.Errorf("xz: %v", err)
	}
	w, err := format.Create(ctx, fio, "/f", "avro", format.WriteOptions{Fields: []schema.Field{{Name: "b", Type: roundtrip.Type(t, "INT NOT NULL")}}})
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
