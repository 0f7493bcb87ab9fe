package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/pierrec/lz4/v4"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
)

// listNode annotates a group as a LIST, whatever is in it.
type listNode struct{ pq.Group }

func (listNode) Type() pq.Type { return pq.List(pq.Int(32)).Type() }

// TestOldListForms reads lists of two levels, lists with other inner names,
// and repeated fields without a list around them.
func TestOldListForms(t *testing.T) {
	leaf := pq.Leaf(pq.Int32Type)
	for name, c := range map[string]struct {
		node pq.Node
		elem *schema.Type
		def  int // definition level of an element that is there
		want []string
	}{
		"bare":    {pq.Repeated(leaf), &schema.Type{Root: schema.Int}, 1, []string{"[0,1]", "[]", "[7]"}},
		"2-level": {pq.Required(listNode{pq.Group{"array": pq.Repeated(leaf)}}), &schema.Type{Root: schema.Int}, 1, []string{"[0,1]", "[]", "[7]"}},
		"2-level group": {pq.Required(listNode{pq.Group{"array": pq.Repeated(pq.Group{"x": leaf})}}),
			&schema.Type{Root: schema.Row, Fields: []schema.Field{{Name: "x", Type: &schema.Type{Root: schema.Int}}}}, 1, []string{"[(0),(1)]", "[]", "[(7)]"}},
		"tuple": {pq.Required(listNode{pq.Group{"l_tuple": pq.Repeated(pq.Group{"x": leaf})}}),
			&schema.Type{Root: schema.Row, Fields: []schema.Field{{Name: "x", Type: &schema.Type{Root: schema.Int}}}}, 1, []string{"[(0),(1)]", "[]", "[(7)]"}},
		"bag": {pq.Required(listNode{pq.Group{"bag": pq.Repeated(pq.Group{"array_element": pq.Optional(leaf)})}}), &schema.Type{Root: schema.Int}, 2, []string{"[0,1]", "[]", "[7]"}},
	} {
		t.Run(name, func(t *testing.T) {
			var buf bytes.Buffer
			w := pq.NewWriter(&buf, pq.NewSchema("s", pq.Group{"l": c.node}))
			v := func(x int32, rep int) pq.Value { return pq.Int32Value(x).Level(rep, c.def, 0) }
			if _, err := w.WriteRows([]pq.Row{{v(0, 0), v(1, 1)}, {pq.NullValue().Level(0, 0, 0)}, {v(7, 0)}}); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			f, err := openBytes(buf.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			got := mustDump(t, f, format.ReadOptions{Columns: []schema.Field{{Name: "l", Type: &schema.Type{Root: schema.Array, Elem: c.elem}}}})
			compareLines(t, name, got, c.want)
		})
	}
}

type widthRow struct {
	I32   int32    `parquet:"i32"`
	I64   int64    `parquet:"i64"`
	D32   int32    `parquet:"d32,decimal(2:9)"`
	D64   int64    `parquet:"d64,decimal(2:18)"`
	Fixed [12]byte `parquet:"fixed,decimal(2:28)"`
	Bytes []byte   `parquet:"bytes"`
	Text  string   `parquet:"text"`
}

// TestOtherWidths reads decimals and timestamps stored otherwise than Paimon does.
func TestOtherWidths(t *testing.T) {
	var buf bytes.Buffer
	w := pq.NewGenericWriter[widthRow](&buf)
	big := func(hi int32, lo int64) (b [12]byte) {
		binary.BigEndian.PutUint32(b[:], uint32(hi))
		binary.BigEndian.PutUint64(b[4:], uint64(lo))
		return b
	}
	if _, err := w.Write([]widthRow{
		{I32: -1, I64: -1999, D32: -12345, D64: 1 << 40, Fixed: big(-1, -5), Bytes: []byte{0xff, 0x7f}, Text: "x"},
		{I32: math.MaxInt32, I64: 1999, D32: 5, D64: -7, Fixed: big(0, 250), Bytes: []byte{1, 0, 0}, Text: ""},
	}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := openBytes(buf.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	dec := func(p, s int) *schema.Type { return &schema.Type{Root: schema.Decimal, Precision: p, Scale: s} }
	ts := func(p int) *schema.Type { return &schema.Type{Root: schema.Timestamp, Precision: p} }
	for _, c := range []struct {
		name string
		typ  *schema.Type
		want string
	}{
		{"d32", dec(9, 2), "-12345 5"}, {"d32", dec(20, 2), "-12345 5"}, {"d64", dec(18, 2), "1099511627776 -7"}, {"d64", dec(38, 2), "1099511627776 -7"},
		{"fixed", dec(28, 2), "-5 250"}, {"fixed", dec(10, 2), "-5 250"}, {"bytes", dec(10, 2), "-129 65536"}, {"bytes", dec(30, 2), "-129 65536"},
		{"i32", &schema.Type{Root: schema.BigInt}, "-1 2147483647"}, {"i32", dec(12, 0), "-1 2147483647"},
		{"text", &schema.Type{Root: schema.Varbinary}, "'78 '"}, {"fixed", &schema.Type{Root: schema.Binary}, "'fffffffffffffffffffffffb '0000000000000000000000fa"},
	} {
		got := mustDump(t, f, format.ReadOptions{Columns: []schema.Field{{Name: c.name, Type: c.typ}}})
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s as %s: %s, want %s", c.name, c.typ.Brief(), s, c.want)
		}
	}

	// INT64 without annotation, as releases up to 0.6 wrote timestamps.
	buf.Reset()
	plain := pq.NewWriter(&buf, pq.NewSchema("s", pq.Group{"i64": pq.Leaf(pq.Int64Type)}))
	if _, err := plain.WriteRows([]pq.Row{{pq.Int64Value(-1999)}, {pq.Int64Value(1999)}}); err != nil {
		t.Fatal(err)
	}
	if err := plain.Close(); err != nil {
		t.Fatal(err)
	}
	if f, err = openBytes(buf.Bytes()); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[int]string{3: "t-1999000.0 t1999000.0", 6: "t-1999.0 t1999.0", 9: "t-2.1 t1.999"} {
		got := mustDump(t, f, format.ReadOptions{Columns: []schema.Field{{Name: "i64", Type: ts(p)}}})
		if s := strings.Join(got, " "); s != want {
			t.Errorf("TIMESTAMP(%d): %s, want %s", p, s, want)
		}
	}

	// A value that needs more than 64 bits does not become another one.
	buf.Reset()
	w = pq.NewGenericWriter[widthRow](&buf)
	if _, err := w.Write([]widthRow{{Fixed: big(1, 0)}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if f, err = openBytes(buf.Bytes()); err != nil {
		t.Fatal(err)
	}
	if got, err := dump(f, format.ReadOptions{Columns: []schema.Field{{Name: "fixed", Type: dec(18, 2)}}}); err == nil {
		t.Errorf("a decimal beyond the precision is read as %v", got)
	}
}

// TestHadoopFraming undoes the framing of Hadoop's LZ4 and LZO codecs.
func TestHadoopFraming(t *testing.T) {
	texts := []string{strings.Repeat("hello hadoop ", 50), strings.Repeat("second block ", 90)}
	plain := strings.Join(texts, "")
	var framed []byte
	for _, s := range texts {
		dst := make([]byte, lz4.CompressBlockBound(len(s)))
		n, err := lz4.CompressBlock([]byte(s), dst, nil)
		if err != nil || n == 0 {
			t.Fatal(err)
		}
		framed = binary.BigEndian.AppendUint32(framed, uint32(len(s)))
		framed = append(binary.BigEndian.AppendUint32(framed, uint32(n)), dst[:n]...)
	}
	var frame bytes.Buffer
	fw := lz4.NewWriter(&frame)
	fmt.Fprint(fw, plain)
	fw.Close()
	whole := make([]byte, lz4.CompressBlockBound(len(plain)))
	n, err := lz4.CompressBlock([]byte(plain), whole, nil)
	if err != nil {
		t.Fatal(err)
	}
	// LZO: a run of literals and the end marker.
	lzo := func(s string) []byte { return append(append([]byte{byte(17 + len(s))}, s...), 0x11, 0, 0) }
	short := "twenty literal bytes"
	lzoFramed := binary.BigEndian.AppendUint32(nil, uint32(2*len(short))) // one block of two chunks
	for range 2 {
		lzoFramed = append(binary.BigEndian.AppendUint32(lzoFramed, uint32(len(lzo(short)))), lzo(short)...)
	}
	for name, c := range map[string]struct {
		codec codec
		src   []byte
		want  string
	}{
		"lz4 hadoop": {codecLZ4, framed, plain}, "lz4 frame": {codecLZ4, frame.Bytes(), plain}, "lz4 block": {codecLZ4, whole[:n], plain}, "lz4 raw": {codecLZ4Raw, whole[:n], plain},
		"lzo hadoop": {codecLZO, lzoFramed, short + short}, "lzo block": {codecLZO, lzo(short), short},
	} {
		dst := make([]byte, len(c.want), len(c.want)+pagePadding)
		if err := c.codec.decompress(dst, c.src); err != nil || string(dst) != c.want {
			t.Errorf("%s: %q %v", name, dst, err)
		}
		for cut := range c.src {
			_ = c.codec.decompress(make([]byte, len(c.want), len(c.want)+pagePadding), c.src[:cut])
		}
	}
}

// TestNaNIsNotPruned keeps NaN, which orders above all numbers and which
// statistics leave out.
func TestNaNIsNotPruned(t *testing.T) {
	type floatRow struct {
		X float64 `parquet:"x"`
	}
	var buf bytes.Buffer
	w := pq.NewGenericWriter[floatRow](&buf)
	if _, err := w.Write([]floatRow{{1}, {math.NaN()}, {math.Copysign(0, -1)}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := openBytes(buf.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	cols := []schema.Field{{Name: "x", Type: &schema.Type{Root: schema.Double}}}
	for _, c := range []struct {
		op  predicate.Op
		lit float64
		pos int64
	}{{predicate.Gt, 5, 1}, {predicate.Ne, 1, 1}, {predicate.Eq, 0, 2}, {predicate.Le, 0, 2}} {
		rows, err := readRows(f, format.ReadOptions{Columns: cols, Filter: &predicate.Leaf{Op: c.op, Literals: []column.Scalar{{Kind: column.KindFloat64, F: c.lit}}}})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, r := range rows {
			found = found || r.pos == c.pos
		}
		if !found {
			t.Errorf("op %d %v: row %d was left out", c.op, c.lit, c.pos)
		}
	}
}
