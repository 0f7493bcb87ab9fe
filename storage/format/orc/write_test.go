package orc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/format/roundtrip"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
)

func openBytes(t testing.TB, data []byte) *file {
	t.Helper()
	f, err := open(context.Background(), bytesFile{bytes.NewReader(data)}, "/f.orc", int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// eachBatch reads columns of a file.
func eachBatch(t testing.TB, f *file, o format.ReadOptions, do func(*column.Batch)) {
	t.Helper()
	o.LegacyTimestampLTZ = true
	r, err := f.Read(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		b, err := r.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		do(b)
	}
}

// writtenTypes are columns of every type.
func writtenTypes(t testing.TB) []schema.Field {
	return roundtrip.AllTypes(t, "TIMESTAMP(9)", "TIMESTAMP(9) NOT NULL", "TIMESTAMP(9) WITH LOCAL TIME ZONE", "TIMESTAMP(9) WITH LOCAL TIME ZONE NOT NULL", "ROW<>")
}

func checkWritten(t testing.TB, fields []schema.Field, want []*column.Vector, data []byte) {
	t.Helper()
	roundtrip.Check(t, openBytes(t, data), format.ReadOptions{Columns: fields, LegacyTimestampLTZ: true}, want)
}

// Files of every type, in every codec, with many stripes and row groups, are read as they were written.
func TestWriteRoundTrip(t *testing.T) {
	t.Parallel()
	fields := writtenTypes(t)
	for seed, o := range []format.WriteOptions{
		{},
		{Compression: "snappy", Options: map[string]string{optStride: "1000", optStripeSize: "300000"}},
		{Compression: "NONE", Options: map[string]string{optStride: "1000", optStripeRows: "1800"}},
		{Compression: "zlib", Options: map[string]string{optDictThreshold: "0", optCompression: "COMPRESSION", optEncoding: "COMPRESSION"}},
		{Compression: "lz4", Options: map[string]string{optStride: "1500", optStripeRows: "1600", optDictThreshold: "1", optBlockSize: "300", optEnforceBlock: "true"}},
		{Compression: "zstd", ZstdLevel: 9, BlockSize: 100_000, Options: map[string]string{optCreateIndex: "false", optDictEarlyCheck: "false"}},
		{Compression: "zstd", Options: map[string]string{optStride: "1000", optBloomColumns: "c1,c4,c6,c10,c24,c36,c40,c46,c50._value", optDirectColumns: "c40", optDictMaxBytes: "100", optProleptic: "true"}},
	} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewSource(int64(seed)))
			want, data := roundtrip.Write(t, "orc", fields, o, rnd, 1, 500, 0, 1400, 13, 1500)
			checkWritten(t, fields, want, data)
		})
	}
	want, data := roundtrip.Write(t, "orc", fields, format.WriteOptions{}, rand.New(rand.NewSource(1)))
	checkWritten(t, fields, want, data)
}

// Filters leave out stripes and row groups, never rows that match.
func TestWriteFilters(t *testing.T) {
	t.Parallel()
	fields := writtenTypes(t)
	rnd := rand.New(rand.NewSource(7))
	var names []string
	for _, f := range fields {
		if !f.Type.IsNested() {
			names = append(names, f.Name)
		}
	}
	o := format.WriteOptions{Options: map[string]string{optStride: "1000", optStripeRows: "2400", optBloomColumns: strings.Join(names, ",")}}
	want, data := roundtrip.Write(t, "orc", fields, o, rnd, 2500, 2500)
	f := openBytes(t, data)
	rows := want[0].N
	skipped := 0
	for i, c := range fields {
		if c.Type.IsNested() {
			continue
		}
		for _, op := range []predicate.Op{predicate.Eq, predicate.Lt, predicate.Ge, predicate.IsNull, predicate.IsNotNull} {
			for range 1 + rnd.Intn(2) {
				leaf := &predicate.Leaf{Op: op}
				if op != predicate.IsNull && op != predicate.IsNotNull {
					x := column.ScalarAt(want[i], rnd.Intn(rows))
					if x.Null {
						continue
					}
					leaf.Literals = []column.Scalar{x}
				}
				matches := func(v *column.Vector, k int) bool {
					return predicate.Matches(leaf, func(int) column.Scalar { return column.ScalarAt(v, k) })
				}
				n, read, got := 0, 0, 0
				for k := range rows {
					if matches(want[i], k) {
						n++
					}
				}
				eachBatch(t, f, format.ReadOptions{Columns: []schema.Field{c}, Filter: leaf}, func(b *column.Batch) {
					read += b.N
					for k := range b.N {
						if matches(b.Cols[0], k) {
							got++
						}
					}
				})
				if got != n {
					t.Fatalf("%s (%s) %v %v: %d rows of %d", c.Name, c.Type, op, leaf.Literals, got, n)
				}
				skipped += rows - read
			}
		}
	}
	if skipped == 0 {
		t.Fatal("nothing was left out")
	}
}

// Runs of all shapes are read back, and positions lead to the values they stand for.
func TestWriteRuns(t *testing.T) {
	t.Parallel()
	for seed := range int64(80) {
		rnd := rand.New(rand.NewSource(seed))
		o := &writeOptions{codec: codecSnappy, blockSize: 64}
		if seed%3 == 0 {
			o.codec = codecNone
		}
		pack, err := newCompressor(o)
		if err != nil {
			t.Fatal(err)
		}
		s := pack.stream(streamData)
		w := &intWriter{s: &s, signed: seed%2 == 0, aligned: seed%5 < 3}
		var vals []int64
		var at []int
		var positions [][]uint64
		for range 1 + rnd.Intn(12) {
			m := roundtrip.NewMaker(rnd)
			width := 2 + rnd.Intn(63)
			at, positions = append(at, len(vals)), append(positions, w.position(nil))
			if rnd.Intn(4) == 0 {
				x, n := m.Int(width), rnd.Intn(1200)
				if !w.signed {
					x &= math.MaxInt64
				}
				w.repeat(x, n)
				for range n {
					vals = append(vals, x)
				}
				continue
			}
			from := len(vals)
			for range rnd.Intn(1200) {
				x := m.Int(width)
				if !w.signed {
					x &= math.MaxInt64
				}
				vals = append(vals, x)
			}
			w.write(vals[from:])
		}
		w.flush()
		raw := bytes.Clone(s.finish())
		env := &readEnv{file: &file{f: bytesFile{bytes.NewReader(raw)}, codec: o.codec, blockSize: o.blockSize}, ctx: context.Background(), pieceBytes: minPieceBytes, workspace: new(workspace)}
		r := &intReader{s: &stream{env: env, length: int64(len(raw))}, v2: true, signed: w.signed}
		check := func(from int) {
			got := make([]int64, len(vals)-from)
			if err := r.read(got); err != nil {
				t.Fatalf("seed %d from %d: %v", seed, from, err)
			}
			for i := range got {
				if got[i] != vals[from+i] {
					t.Fatalf("seed %d: value %d is %d, want %d", seed, from+i, got[i], vals[from+i])
				}
			}
		}
		check(0)
		for i, p := range positions {
			if err := r.seek(p); err != nil {
				t.Fatalf("seed %d: seek(%v): %v", seed, p, err)
			}
			check(at[i])
		}
	}
}

// Types, codecs and options that ORC files cannot have are refused, and nothing is left behind.
func TestWriteRefusals(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	fio := fileio.NewMemory()
	num := roundtrip.Type(t, "INT")
	for _, typ := range []*schema.Type{roundtrip.Type(t, "VARIANT"), {Root: schema.Array, Elem: roundtrip.Type(t, "VARIANT")}, {Root: schema.VectorType, Elem: roundtrip.Type(t, "FLOAT"), Length: 3}} {
		if _, err := format.Create(ctx, fio, "/f", "orc", format.WriteOptions{Fields: []schema.Field{{Name: "x", Type: typ}}}); !errs.Is(err, errs.Unsupported) || !strings.Contains(err.Error(), "'x") {
			t.Errorf("%s: %v", typ, err)
		}
	}
	for _, c := range []struct {
		class       errs.Class
		codec       string
		option, val string
	}{
		{errs.Unsupported, "lzo", "", ""},
		{errs.Unsupported, "gzip", "", ""},
		{errs.Unsupported, "zstd", optCompress, "brotli"},
		{errs.Unsupported, "", optWriteFormat, "0.11"},
		{errs.Unsupported, "", optEncoding, "fast"},
		{errs.Unsupported, "", optBloomVersion, "original"},
		{errs.Unsupported, "", "orc.encrypt", "pii:a"},
		{errs.Invalid, "", optStripeSize, "64 mb"},
		{errs.Invalid, "", optStride, "999"},
		{errs.Invalid, "", optBlockSize, "8388608"},
		{errs.Invalid, "", optBloomFPP, "1"},
		{errs.Invalid, "", optDictThreshold, "often"},
		{errs.Invalid, "", optCreateIndex, "maybe"},
		{errs.Invalid, "", optBloomColumns, "nothing"},
		{errs.Invalid, "", optDirectColumns, "x.y"},
		{errs.Invalid, "", optZstdLevel, "23"},
	} {
		_, err := format.Create(ctx, fio, "/f", "orc", format.WriteOptions{Fields: []schema.Field{{Name: "x", Type: num}}, Compression: c.codec, Options: map[string]string{c.option: c.val}})
		if !errs.Is(err, c.class) || c.option != "" && !strings.Contains(err.Error(), c.option) {
			t.Errorf("%s %s=%s: %v", c.codec, c.option, c.val, err)
		}
	}
	second := func(micros int64) *column.Vector {
		b := column.NewBuilder(column.KindTimestamp)
		b.AppendTimestamp(micros, 0)
		return b.Finish()
	}
	text := column.NewBuilder(column.KindBytes)
	text.AppendString("four")
	for _, c := range []struct {
		typ   string
		v     *column.Vector
		class errs.Class
	}{
		{"INT NOT NULL", column.NewNulls(column.KindInt32, 1), errs.Invalid},
		{"TIMESTAMP(3)", second(-999_000), errs.Unsupported},
		{"TIMESTAMP(3) WITH LOCAL TIME ZONE", second(-1_000), errs.Unsupported},
		{"VARCHAR(3)", text.Finish(), errs.Invalid},
	} {
		w, err := format.Create(ctx, fio, "/f", "orc", format.WriteOptions{Fields: []schema.Field{{Name: "b", Type: roundtrip.Type(t, c.typ)}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(ctx, &column.Batch{N: 1, Cols: []*column.Vector{c.v}}); !errs.Is(err, c.class) {
			t.Errorf("%s: %v", c.typ, err)
		}
		w.Abort()
		w.Abort()
	}
	if list, _ := fio.List(ctx, "/"); len(list) > 0 {
		t.Fatalf("files are left: %v", list)
	}
}

// Each file operation fails once, before and after it took effect: there is an error, and no file, or a whole one.
func TestWriteFaults(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	disk := errors.New("input/output error")
	fields := []schema.Field{{ID: 0, Name: "a", Type: roundtrip.Type(t, "INT")}, {ID: 1, Name: "b", Type: roundtrip.Type(t, "STRING")}}
	ints, texts := column.NewBuilder(column.KindInt32), column.NewBuilder(column.KindBytes)
	for i := range 4000 {
		ints.AppendInt(int64(i * i % 977))
		texts.AppendString(fmt.Sprint(i))
	}
	b := &column.Batch{N: 4000, Cols: []*column.Vector{ints.Finish(), texts.Finish()}}
	for _, after := range []bool{false, true} {
		for nth := 1; ; nth++ {
			mem := fileio.NewMemory()
			fio := fileio.NewFaulty(mem)
			fio.Inject(fileio.Fault{Nth: nth, After: after, Err: disk})
			err := func() error {
				w, err := format.Create(ctx, fio, "/f.orc", "orc", format.WriteOptions{Fields: fields, Options: map[string]string{optStripeRows: "3000"}})
				if err != nil {
					return err
				}
				defer w.Abort()
				for range 3 {
					if err := w.Write(ctx, b); err != nil {
						return err
					}
				}
				_, err = w.Close(ctx)
				return err
			}()
			count := fio.Count(fileio.AnyOp)
			if nth > count {
				if err != nil {
					t.Fatal(err)
				}
				break
			}
			if !errors.Is(err, disk) {
				t.Fatalf("operation %d of %d (after=%v): %v", nth, count, after, err)
			}
			data, readErr := mem.ReadFile(ctx, "/f.orc")
			if readErr == nil && openBytes(t, data).Rows() != 12000 {
				t.Fatalf("operation %d (after=%v): a file that is not whole", nth, after)
			}
			if readErr == nil && !after {
				t.Fatalf("operation %d: a file in spite of %v", nth, err)
			}
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	mem := fileio.NewMemory()
	w, err := format.Create(ctx, mem, "/f.orc", "orc", format.WriteOptions{Fields: fields})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(cancelled, b); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, err := w.Close(cancelled); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if list, _ := mem.List(ctx, "/"); len(list) > 0 {
		t.Fatalf("files are left: %v", list)
	}
}
