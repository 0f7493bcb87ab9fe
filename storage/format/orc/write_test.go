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
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
)

// maker makes values of a column in a style: what runs and dictionaries look like differs.
type maker struct {
	rnd   *rand.Rand
	style int
	next  int64
}

const styles = 6

// int is an integer of at most the bits.
func (m *maker) int(width int) int64 {
	span := int64(1) << (min(width, 63) - 1)
	switch m.style {
	case 0: // all there are
		return int64(m.rnd.Uint64()) >> (64 - width)
	case 1: // rising
		m.next += int64(m.rnd.Intn(3))
		return m.next % span
	case 2: // mostly repeated
		if m.rnd.Intn(20) == 0 {
			m.next = m.rnd.Int63n(span)
		}
		return m.next
	case 3: // small with outliers
		if m.rnd.Intn(40) == 0 {
			return m.rnd.Int63n(span)
		}
		return m.rnd.Int63n(min(span, 16)) - m.rnd.Int63n(2)
	case 4: // steady steps down
		m.next -= 7
		return m.next % span
	}
	return m.rnd.Int63n(min(span, 3))
}

func (m *maker) text() []byte {
	switch m.style {
	case 0:
		b := make([]byte, m.rnd.Intn(30))
		for i := range b {
			b[i] = byte('a' + m.rnd.Intn(26))
		}
		return b
	case 1:
		m.next++
		return fmt.Appendf(nil, "name %06d", m.next)
	case 3:
		if m.rnd.Intn(500) == 0 {
			return bytes.Repeat([]byte("wörter "), 150+m.rnd.Intn(100))
		}
	}
	return []byte([]string{"", "ü", "two", "three ", "\x7f\U0010ffff", "日本"}[m.rnd.Intn(6)])
}

// row appends a random value of the type.
func (m *maker) row(b *column.Builder, t *schema.Type) {
	if !t.NotNull && (m.style == 2 && m.rnd.Intn(1000) == 0 || m.style != 1 && m.style != 2 && m.rnd.Intn(4) == 0) {
		b.AppendNull()
		return
	}
	switch t.Root {
	case schema.Boolean:
		b.AppendBool(m.int(16)&1 == 0)
	case schema.TinyInt:
		b.AppendInt(m.int(8))
	case schema.SmallInt:
		b.AppendInt(m.int(16))
	case schema.Int, schema.Date:
		b.AppendInt(m.int(32))
	case schema.Time:
		b.AppendInt(m.int(32) & 0x3ffffff)
	case schema.BigInt:
		b.AppendInt(m.int(64))
	case schema.Float:
		b.AppendFloat(float64(math.Float32frombits(uint32(m.int(32)) &^ 0x7f800000)))
	case schema.Double:
		switch x := float64(m.int(50)) / 16; {
		case m.style == 0 && m.rnd.Intn(50) == 0:
			b.AppendFloat(math.NaN())
		case x == 0:
			b.AppendFloat(math.Copysign(0, float64(m.rnd.Intn(2))-1))
		default:
			b.AppendFloat(x)
		}
	case schema.Decimal:
		x := column.FromInt64(m.int(min(64, t.Precision*3)))
		if t.Precision > 30 && m.style != 2 {
			x = column.MulInt64(m.rnd.Int63(), m.int(60))
		}
		b.AppendInt128(x)
	case schema.Timestamp, schema.TimestampLTZ:
		micros := m.int(56)
		var sub uint16
		switch {
		case t.Precision == 0:
			micros -= micros % 1_000_000
		case t.Precision <= 3:
			micros -= micros % 1000
		case t.Precision > 6:
			sub = uint16(m.rnd.Intn(1000))
		}
		if micros < 0 && micros > -1_000_000+999 {
			micros = -1_000_000
		}
		b.AppendTimestamp(micros, sub)
	case schema.Char:
		b.AppendBytes(bytes.TrimRight(cutRunes(m.text(), t.Length), " "))
	case schema.Varchar:
		b.AppendBytes(cutRunes(m.text(), t.Length))
	case schema.Binary, schema.Varbinary:
		b.AppendBytes(m.text())
	case schema.Array:
		for range m.rnd.Intn(4) {
			m.row(b.Child(0), t.Elem)
		}
		b.EndList()
	case schema.Map, schema.Multiset:
		kids := schema.ChildTypes(t)
		for range m.rnd.Intn(4) {
			m.row(b.Child(0), kids[0].WithNotNull(true))
			m.row(b.Child(1), kids[1])
		}
		b.EndList()
	case schema.Row:
		for i, f := range t.Fields {
			m.row(b.Child(i), f.Type)
		}
		b.EndStruct()
	default:
		panic(t.String())
	}
}

func cutRunes(b []byte, n int) []byte {
	r := []rune(string(b))
	return []byte(string(r[:min(n, len(r))]))
}

func mustType(t testing.TB, text string) *schema.Type {
	t.Helper()
	typ, err := schema.ParseType(text)
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

// writtenTypes are columns of every type.
func writtenTypes(t testing.TB) []schema.Field {
	var out []schema.Field
	add := func(typ *schema.Type) {
		out = append(out, schema.Field{ID: len(out), Name: fmt.Sprintf("c%d", len(out)), Type: typ})
	}
	for _, s := range []string{
		"BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DATE", "TIME(3)", "DECIMAL(5, 2)", "DECIMAL(18, 4)", "DECIMAL(38, 10)", "DECIMAL(19, 0)",
		"TIMESTAMP(0)", "TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP(9)", "TIMESTAMP(3) WITH LOCAL TIME ZONE", "TIMESTAMP(9) WITH LOCAL TIME ZONE",
		"CHAR(5)", "VARCHAR(20)", "STRING", "BINARY(4)", "BYTES",
	} {
		add(mustType(t, s))
		add(mustType(t, s).WithNotNull(true))
	}
	str, num := mustType(t, "STRING"), mustType(t, "INT")
	arr := &schema.Type{Root: schema.Array, Elem: num}
	row := &schema.Type{Root: schema.Row, Fields: []schema.Field{{ID: 101, Name: "x", Type: str}, {ID: 102, Name: "y", Type: arr}}}
	for _, typ := range []*schema.Type{
		arr, arr.WithNotNull(true), {Root: schema.Array, Elem: num.WithNotNull(true)}, {Root: schema.Array, Elem: arr}, {Root: schema.Map, Key: str, Elem: num},
		{Root: schema.Map, Key: num, Elem: row}, {Root: schema.Multiset, Elem: str}, row, row.WithNotNull(true), {Root: schema.Array, Elem: row}, {Root: schema.Row},
		{Root: schema.Row, Fields: []schema.Field{{ID: 103, Name: "r", Type: row}, {ID: 104, Name: "m", Type: &schema.Type{Root: schema.Map, Key: str, Elem: arr}}}},
	} {
		add(typ)
	}
	return out
}

// dictionaryOf codes a flat vector with a dictionary, of which not all entries occur.
func dictionaryOf(rnd *rand.Rand, v *column.Vector) *column.Vector {
	out := &column.Vector{Kind: v.Kind, N: v.N, Valid: v.Valid, Codes: make([]uint32, v.N)}
	d := *v
	d.Valid = nil
	perm := rnd.Perm(v.N)
	order := make([]uint16, v.N)
	for i, p := range perm {
		order[p] = uint16(i)
		out.Codes[i] = uint32(p)
	}
	out.Dict = column.Gather(&d, order)
	return out
}

// writeRandom writes random rows and returns them with the file's bytes.
func writeRandom(t testing.TB, fields []schema.Field, o format.WriteOptions, rnd *rand.Rand, counts ...int) ([]*column.Vector, []byte) {
	t.Helper()
	ctx := context.Background()
	fio := fileio.NewMemory()
	o.Fields = fields
	w, err := format.Create(ctx, fio, "/f.orc", "orc", o)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]*column.Builder, len(fields))
	makers := make([]*maker, len(fields))
	for i, f := range fields {
		all[i] = schema.NewBuilder(f.Type)
		makers[i] = &maker{rnd: rnd, style: rnd.Intn(styles)}
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
				makers[i].row(bld, f.Type)
			}
			v := bld.Finish()
			for k := range b.Rows() {
				all[i].Append(v, b.Row(k))
			}
			if !f.Type.IsNested() && n > 0 && rnd.Intn(3) == 0 {
				v = dictionaryOf(rnd, v)
			}
			b.Cols = append(b.Cols, v)
		}
		if err := w.Write(ctx, b); err != nil {
			t.Fatal(err)
		}
	}
	if w.Size() < 3 {
		t.Fatalf("size %d", w.Size())
	}
	size, err := w.Close(ctx)
	if err != nil {
		t.Fatal(err)
	}
	w.Abort() // does nothing now
	data, err := fio.ReadFile(ctx, "/f.orc")
	if err != nil || int64(len(data)) != size {
		t.Fatalf("%d bytes, size %d, %v", len(data), size, err)
	}
	want := make([]*column.Vector, len(fields))
	for i := range all {
		want[i] = all[i].Finish()
	}
	return want, data
}

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

func checkWritten(t testing.TB, fields []schema.Field, want []*column.Vector, data []byte) {
	t.Helper()
	f := openBytes(t, data)
	rows := want[0].N
	if f.Rows() != int64(rows) {
		t.Fatalf("%d rows, want %d", f.Rows(), rows)
	}
	at := 0
	eachBatch(t, f, format.ReadOptions{Columns: fields}, func(b *column.Batch) {
		for i := range fields {
			for k := range b.N {
				if !column.EqualRows(b.Cols[i], k, want[i], at+k) {
					t.Fatalf("column %s (%s), row %d differs", fields[i].Name, fields[i].Type, at+k)
				}
			}
		}
		at += b.N
	})
	if at != rows {
		t.Fatalf("%d rows were read of %d", at, rows)
	}
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
		{Compression: "zstd", Options: map[string]string{optStride: "1000", optBloomColumns: "c1,c4,c6,c10,c24,c38,c42,c48,c52._value", optDirectColumns: "c42", optDictMaxBytes: "100", optProleptic: "true"}},
	} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewSource(int64(seed)))
			want, data := writeRandom(t, fields, o, rnd, 1, 500, 0, 1400, 13, 1500)
			checkWritten(t, fields, want, data)
		})
	}
	want, data := writeRandom(t, fields, format.WriteOptions{}, rand.New(rand.NewSource(1)))
	checkWritten(t, fields, want, data)
}

// Filters leave out stripes and row groups, never rows that match.
func TestWriteFilters(t *testing.T) {
	t.Parallel()
	fields := writtenTypes(t)
	rnd := rand.New(rand.NewSource(7))
	var names []string
	for _, f := range fields {
		names = append(names, f.Name)
	}
	o := format.WriteOptions{Options: map[string]string{optStride: "1000", optStripeRows: "2400", optBloomColumns: strings.Join(names[:48], ",")}}
	want, data := writeRandom(t, fields, o, rnd, 2500, 2500)
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
			m := &maker{rnd: rnd, style: rnd.Intn(styles), next: rnd.Int63n(100)}
			width := 2 + rnd.Intn(63)
			at, positions = append(at, len(vals)), append(positions, w.position(nil))
			if rnd.Intn(4) == 0 {
				x, n := m.int(width), rnd.Intn(1200)
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
				x := m.int(width)
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
	num := mustType(t, "INT")
	for _, typ := range []*schema.Type{mustType(t, "VARIANT"), {Root: schema.Array, Elem: mustType(t, "VARIANT")}, {Root: schema.VectorType, Elem: mustType(t, "FLOAT"), Length: 3}} {
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
		w, err := format.Create(ctx, fio, "/f", "orc", format.WriteOptions{Fields: []schema.Field{{Name: "b", Type: mustType(t, c.typ)}}})
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
	fields := []schema.Field{{ID: 0, Name: "a", Type: mustType(t, "INT")}, {ID: 1, Name: "b", Type: mustType(t, "STRING")}}
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
