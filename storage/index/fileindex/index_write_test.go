package fileindex

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
)

// numbers is the generator behind the values of testdata.
type numbers uint64

func (n *numbers) next() int64 {
	*n = *n*6364136223846793005 + 1442695040888963407
	return int64(*n >> 33)
}

// sampleValue appends value i of a shape.
func sampleValue(b *column.Builder, t *schema.Type, shape string, i int, rnd *numbers) {
	r := rnd.next()
	if shape == "nulls" || shape == "few" && i%7 == 3 {
		b.AppendNull()
		return
	}
	v := r - 1<<30
	if shape == "few" {
		v = r%23 - 11
	}
	switch t.Root {
	case schema.Boolean:
		b.AppendInt(v & 1)
	case schema.TinyInt:
		b.AppendInt(int64(int8(v)))
	case schema.SmallInt:
		b.AppendInt(int64(int16(v)))
	case schema.Time:
		b.AppendInt(max(v, -v))
	case schema.BigInt:
		if shape != "few" {
			v *= 4294967311
		}
		b.AppendInt(v)
	case schema.Float, schema.Double:
		switch i % 50 {
		case 9:
			b.AppendFloat(math.Float64frombits(0x7ff0000000000123)) // a NaN of its own
		case 10:
			b.AppendFloat(math.Copysign(0, -1))
		default:
			b.AppendFloat(float64(v) / 8)
		}
	case schema.Timestamp, schema.TimestampLTZ:
		micros := v * 1001
		switch {
		case t.Precision <= 3:
			micros = int64(math.Floor(float64(micros)/1000)) * 1000
			b.AppendTimestamp(micros, 0)
		case t.Precision > 6:
			b.AppendTimestamp(micros, uint16(r%1000))
		default:
			b.AppendTimestamp(micros, 0)
		}
	case schema.Char, schema.Varchar:
		b.AppendString(fmt.Sprint("sü", v))
	case schema.Binary, schema.Varbinary:
		b.AppendString(fmt.Sprint("b", v))
	default:
		b.AppendInt(v)
	}
}

// samples are values of a shape, in batches of odd sizes, some with a selection.
func samples(t *schema.Type, shape string, n int) (batches []*column.Batch, all []column.Scalar) {
	rnd := numbers(42)
	for i := 0; i < n; {
		b := schema.NewBuilder(t)
		batch := &column.Batch{}
		selected := len(batches)%2 == 1
		for range min(n-i, 17+i%3000) {
			if selected {
				b.AppendNull() // not selected
				batch.Sel = append(batch.Sel, uint16(b.Len()))
			}
			sampleValue(b, t, shape, i, &rnd)
			i++
		}
		v := b.Finish()
		batch.N, batch.Cols = v.N, []*column.Vector{v}
		batches = append(batches, batch)
		for k := range batch.Rows() {
			all = append(all, column.ScalarAt(v, batch.Row(k)))
		}
	}
	return batches, all
}

func sampleType(t testing.TB, name string) *schema.Type {
	t.Helper()
	switch name {
	case "STRING":
		return &schema.Type{Root: schema.Varchar, Length: schema.MaxLength}
	case "BYTES":
		return &schema.Type{Root: schema.Varbinary, Length: schema.MaxLength}
	}
	typ, err := schema.ParseType(name)
	if err != nil {
		t.Fatal(name, err)
	}
	return typ
}

// build makes the only index of a column.
func build(spec Spec, typ *schema.Type, batches []*column.Batch) ([]byte, error) {
	b, err := NewBuilder([]Spec{spec}, []schema.Field{{Name: spec.Column, Type: typ}})
	if err != nil || b == nil {
		return nil, err
	}
	for _, x := range batches {
		if err := b.Add(x); err != nil {
			return nil, err
		}
	}
	data, err := b.Finish()
	if err != nil || data == nil {
		return nil, err
	}
	c, err := Parse("built", data)
	if err != nil {
		return nil, err
	}
	if len(c.Indexes()) != 1 || c.Indexes()[0].Type != spec.Type {
		return nil, fmt.Errorf("indexes %v", c.Indexes())
	}
	return c.Indexes()[0].Data, nil
}

// bitmapParts takes a bitmap index apart, so that the order of the bitmaps does not count.
func bitmapParts(t *testing.T, data []byte, typ *schema.Type, rows int64) string {
	t.Helper()
	r, err := openBitmap(data, typ, rows)
	if err != nil {
		t.Fatal(err)
	}
	x := r.(*bitmapIndex)
	var sb strings.Builder
	show := func(key string, ref bitmapRef) {
		set, err := x.read(ref)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&sb, "%s: %v %d %v\n", key, ref.offset < 0, ref.length, set.ToArray())
	}
	fmt.Fprintf(&sb, "%d bytes, %d of bitmaps\n", len(data), len(x.body))
	if x.hasNull {
		show("null", x.null)
	}
	var keys []string
	for k := range x.values {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		show(k, x.values[k])
	}
	for i, b := range x.blocks {
		fmt.Fprintf(&sb, "block %s at %d\n", mapKey(b.first), b.offset)
		r := buffer{b: x.index[b.offset:]}
		for range r.i32() {
			show(mapKey(r.key(x.k)), bitmapRef{r.i32(), r.i32()})
		}
		end := len(x.index)
		if i+1 < len(x.blocks) {
			end = x.blocks[i+1].offset
		}
		if len(x.index)-len(r.b) != end {
			t.Fatalf("block %d ends at %d, the next begins at %d", i, len(x.index)-len(r.b), end)
		}
	}
	return sb.String()
}

// What is built are the bytes that Paimon makes, but for the order of the bitmaps of a bitmap index.
func TestIndexBytes(t *testing.T) {
	text, err := os.ReadFile("testdata/indexes-2.0.0.txt")
	if err != nil {
		t.Fatal(err)
	}
	compared := map[string]int{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		shape, typ := f[0], sampleType(t, f[1])
		spec := Spec{Column: "c", Type: f[2], Options: map[string]string{}}
		rest := f[3:]
		for ; rest[0] != "=" && rest[0] != "!"; rest = rest[1:] {
			k, v, _ := strings.Cut(rest[0], "=")
			spec.Options[k] = v
		}
		name := strings.Join(f[:len(f)-len(rest)], " ")
		const n = 60
		batches, _ := samples(typ, shape, n)
		got, err := build(spec, typ, batches)
		if rest[0] == "!" {
			if !errs.Is(err, errs.Unsupported) || !strings.Contains(err.Error(), "'c'") {
				t.Errorf("%s: Paimon cannot, here it is %v", name, err)
			}
			compared["refused"]++
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := rest[1]
		if f[2] == Bitmap {
			b, err := hex.DecodeString(want)
			if err != nil {
				t.Fatal(err)
			}
			if g, w := bitmapParts(t, got, typ, n), bitmapParts(t, b, typ, n); g != w {
				t.Errorf("%s is\n%s\nPaimon's is\n%s", name, g, w)
			}
		} else if h := hex.EncodeToString(got); h != want {
			if sum := sha256.Sum256(got); "sha256:"+hex.EncodeToString(sum[:]) != want {
				t.Errorf("%s is %.400s", name, h)
			}
		}
		compared[f[2]]++
	}
	t.Log(compared)
	if len(compared) != 5 {
		t.Error("kinds are missing")
	}
}

// Rows that match are kept, others are not where the index can tell.
func TestBuiltIndexesAnswer(t *testing.T) {
	for _, name := range []string{"BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DATE", "TIME(3)", "TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP(9)", "DECIMAL(10, 2)", "CHAR(12)", "STRING", "BYTES"} {
		typ := sampleType(t, name)
		for _, spec := range []Spec{
			{Type: BloomFilter, Options: map[string]string{"items": "700"}}, {Type: Bitmap}, {Type: Bitmap, Options: map[string]string{"version": "1"}},
			{Type: Bitmap, Options: map[string]string{"index-block-size": "100b"}}, {Type: BSI}, {Type: RangeBitmap}, {Type: RangeBitmap, Options: map[string]string{"chunk-size": "64b"}},
		} {
			spec.Column = "c"
			for _, shape := range []string{"few", "distinct", "nulls"} {
				batches, all := samples(typ, shape, 700)
				data, err := build(spec, typ, batches)
				if errs.Is(err, errs.Unsupported) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				c := &Container{indexes: []Index{{Column: "c", Type: spec.Type, Data: data}}}
				for op := predicate.Eq; op <= predicate.IsNotNull; op++ {
					for k := 0; k < len(all); k += 61 {
						l := &predicate.Leaf{Op: op}
						switch op {
						case predicate.IsNull, predicate.IsNotNull:
						case predicate.In, predicate.NotIn:
							l.Literals = []column.Scalar{all[k], all[(k+100)%len(all)]}
						default:
							l.Literals = []column.Scalar{all[k]}
						}
						if slices.ContainsFunc(l.Literals, func(s column.Scalar) bool {
							return (typ.Root == schema.Float || typ.Root == schema.Double) && !s.Null && s.F == 0
						}) {
							continue // SQL has one zero, predicate.Matches two
						}
						rows, err := c.Evaluate(l, []schema.Field{{Name: "c", Type: typ}}, int64(len(all)))
						if err != nil {
							t.Fatalf("%s %s %s: %v", name, spec.Type, shape, err)
						}
						for i, v := range all {
							if predicate.Matches(l, func(int) column.Scalar { return v }) && !rows.Contains(int64(i)) {
								t.Fatalf("%s %s %s: %v %v leaves out row %d: %v", name, spec.Type, shape, op, l.Literals, i, v)
							}
						}
					}
				}
			}
		}
	}
}

func TestContainerBytes(t *testing.T) {
	// Made by Paimon's FileIndexFormat.
	const want = "00054e4ed01a35ae000000010000006800000002000b61c3bceda0bdedb880c0800000000200066269746d617000000068000000030003627369ffffffff0000000000066d5b6b65795d00000001000c626c6f6f6d2d66696c7465720000006b000000010000000001020309"
	list := []Index{{Column: "aü😀\x00", Type: Bitmap, Data: []byte{1, 2, 3}}, {Column: "aü😀\x00", Type: BSI, Empty: true}, {Column: "m[key]", Type: BloomFilter, Data: []byte{9}}}
	got, err := AppendContainer(nil, list)
	if err != nil || hex.EncodeToString(got) != want {
		t.Errorf("%x, %v", got, err)
	}
	c, err := Parse("x", got)
	if err != nil || fmt.Sprint(c.Indexes()) != fmt.Sprint(list) {
		t.Error(c, err)
	}
	if _, err := AppendContainer(nil, []Index{{Column: strings.Repeat("x", 1<<16)}}); !errs.Is(err, errs.Unsupported) {
		t.Error(err)
	}
}

func TestSpecs(t *testing.T) {
	specs, err := Specs(map[string]string{
		"file-index.bloom-filter.columns": "b, a,b,m[x],m[y.z]", "file-index.bloom-filter.a.items": "200", "file-index.bloom-filter.m.items": "300",
		"file-index.bloom-filter.m.fpp": "0.2", "file-index.bloom-filter.m[x].items": "400", "file-index.read.enabled": "true", "file-index.bsi.columns": "a", "bucket": "1",
		"file-index.bloom-filter.a.b.items": "5",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := "[{b false  bloom-filter map[]} {a false  bloom-filter map[items:200]} {m true x bloom-filter map[fpp:0.2 items:400]} {m true y.z bloom-filter map[fpp:0.2 items:300]} {a false  bsi map[]}]"
	if got := fmt.Sprint(specs); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if _, err := Specs(map[string]string{"file-index.bsi.columns": "a,,b"}); !errs.Is(err, errs.Invalid) {
		t.Error(err)
	}
	num := []schema.Field{{Name: "a", Type: &schema.Type{Root: schema.Int}}, {Name: "m", Type: &schema.Type{Root: schema.Map, Key: &schema.Type{Root: schema.Int}, Elem: &schema.Type{Root: schema.Int}}}}
	for _, s := range []Spec{
		{Column: "a", Type: BloomFilter, Options: map[string]string{"items": "0"}}, {Column: "a", Type: BloomFilter, Options: map[string]string{"fpp": "1"}},
		{Column: "a", Type: BloomFilter, Options: map[string]string{"fpp": "NaN"}}, {Column: "a", Type: BloomFilter, Options: map[string]string{"items": "2000000000"}},
		{Column: "a", Type: Bitmap, Options: map[string]string{"version": "3"}}, {Column: "a", Type: Bitmap, Options: map[string]string{"index-block-size": "big"}},
		{Column: "a", Type: RangeBitmap, Options: map[string]string{"chunk-size": "8gb"}},
	} {
		if _, err := NewBuilder([]Spec{s}, num); !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), "file-index."+s.Type+".a.") {
			t.Errorf("%v: %v", s, err)
		}
	}
	if _, err := NewBuilder([]Spec{{Column: "m", Nested: true, Key: "x", Type: BSI}}, num); !errs.Is(err, errs.Unsupported) {
		t.Error(err)
	}
	if b, err := NewBuilder([]Spec{{Column: "gone", Type: BSI}, {Column: "a", Type: "token-bitmap"}}, num); err != nil || b != nil {
		t.Error("nothing is to be built:", b, err)
	}
}

// Values under keys of a map, several indexes of a column, values that no index holds.
func TestNestedAndLeftOut(t *testing.T) {
	str := &schema.Type{Root: schema.Varchar, Length: schema.MaxLength}
	long := &schema.Type{Root: schema.BigInt}
	mt := &schema.Type{Root: schema.Map, Key: str, Elem: long}
	fs := []schema.Field{{Name: "m", Type: mt}, {Name: "n", Type: long}}
	specs := []Spec{{Column: "m", Nested: true, Key: "x", Type: BSI}, {Column: "n", Type: BSI}, {Column: "m", Nested: true, Key: "y", Type: Bitmap}, {Column: "m", Nested: true, Key: "x", Type: RangeBitmap}}
	b, err := NewBuilder(specs, fs)
	if err != nil {
		t.Fatal(err)
	}
	m, n := schema.NewBuilder(mt), schema.NewBuilder(long)
	for i := range int64(20) {
		switch i % 4 {
		case 0:
			m.AppendNull()
		case 1:
			m.EndList()
		default:
			m.Child(0).AppendString("y")
			m.Child(1).AppendInt(-i)
			m.Child(0).AppendString("x")
			m.Child(1).AppendInt(i)
			m.EndList()
		}
		n.AppendInt(math.MinInt64 + i)
	}
	if err := b.Add(&column.Batch{N: 20, Cols: []*column.Vector{m.Finish(), n.Finish()}}); err != nil {
		t.Fatal(err)
	}
	data, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse("x", data)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, ix := range c.Indexes() {
		names = append(names, ix.Column+" "+ix.Type)
	}
	// The least BIGINT cannot be in a bit-sliced index: n has none.
	if want := "m[x] bsi,m[x] range-bitmap,m[y] bitmap"; strings.Join(names, ",") != want {
		t.Errorf("%v, want %s", names, want)
	}
	for name, at := range map[string]int64{"m[x]": 6, "m[y]": -6} {
		r, err := c.Evaluate(eq(0, column.IntScalar(column.KindInt64, at)), []schema.Field{{Name: name, Type: long}}, 20)
		if err != nil || r.Count(20) != 1 || !r.Contains(6) {
			t.Errorf("%s: %d rows, %v", name, r.Count(20), err)
		}
	}
}

// FuzzBuild builds indexes of any values and finds every row by its value.
func FuzzBuild(f *testing.F) {
	f.Add([]byte("some values\x00\x00\xff\xff and more"), uint8(3))
	f.Add([]byte{0x80, 0, 0, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, uint8(4))
	f.Add([]byte("\xff\xc0\x00\x01\x80\x00\x00\x00\x00\x00\x00\x00"), uint8(5))
	var types []*schema.Type
	for _, n := range []string{"BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "TIMESTAMP(3)", "TIMESTAMP(6)", "DECIMAL(18, 2)", "STRING", "BYTES"} {
		types = append(types, sampleType(f, n))
	}
	f.Fuzz(func(t *testing.T, data []byte, which uint8) {
		typ := types[int(which)%len(types)]
		b := schema.NewBuilder(typ)
		for len(data) > 1 && b.Len() < column.MaxRows {
			n := min(1+int(data[0]%8), len(data)-1)
			var x uint64
			for _, c := range data[1 : 1+n] {
				x = x<<8 | uint64(c)
			}
			switch {
			case data[0] == 0:
				b.AppendNull()
			case b.Kind() == column.KindBytes:
				b.AppendBytes(data[1 : 1+n])
			case typ.Root == schema.Float:
				b.AppendFloat(float64(math.Float32frombits(uint32(x))))
			case typ.Root == schema.Double:
				b.AppendFloat(math.Float64frombits(x))
			case typ.Root == schema.Boolean:
				b.AppendInt(int64(x & 1))
			case typ.Root == schema.TinyInt:
				b.AppendInt(int64(int8(x)))
			case typ.Root == schema.SmallInt:
				b.AppendInt(int64(int16(x)))
			case typ.Root == schema.Timestamp && typ.Precision == 3:
				b.AppendTimestamp(int64(x)/1000*1000, 0)
			default:
				b.AppendInt(int64(x))
			}
			data = data[1+n:]
		}
		v := b.Finish()
		for _, kind := range []string{BloomFilter, Bitmap, BSI, RangeBitmap} {
			s := Spec{Column: "c", Type: kind, Options: map[string]string{}}
			if kind == BloomFilter {
				s.Options["items"] = "50"
			}
			got, err := build(s, typ, []*column.Batch{{N: v.N, Cols: []*column.Vector{v}}})
			if err != nil && !errs.Is(err, errs.Unsupported) {
				t.Fatal(err)
			}
			if got == nil {
				continue
			}
			c := &Container{indexes: []Index{{Column: "c", Type: kind, Data: got}}}
			for i := range min(v.N, 40) {
				l := &predicate.Leaf{Op: predicate.IsNull}
				if !v.IsNull(i) {
					l = eq(0, column.ScalarAt(v, i))
				}
				rows, err := c.Evaluate(l, []schema.Field{{Name: "c", Type: typ}}, int64(v.N))
				if err != nil || !rows.Contains(int64(i)) {
					t.Fatalf("%s %s: row %d is not found by its value, %v", kind, typ, i, err)
				}
			}
		}
	})
}

func BenchmarkBuild(b *testing.B) {
	for _, name := range []string{"BIGINT", "STRING"} {
		typ := sampleType(b, name)
		for _, kind := range []string{BloomFilter, Bitmap, BSI, RangeBitmap} {
			for _, shape := range []string{"few", "distinct"} {
				batches, _ := samples(typ, shape, 100_000)
				s := Spec{Column: "c", Type: kind}
				if _, err := NewBuilder([]Spec{s}, []schema.Field{{Name: "c", Type: typ}}); err != nil {
					continue
				}
				b.Run(name+"/"+kind+"/"+shape, func(b *testing.B) {
					for b.Loop() {
						if _, err := build(s, typ, batches); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(100_000*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
				})
			}
		}
	}
}
