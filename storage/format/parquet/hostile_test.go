package parquet

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
)

type smallRow struct {
	ID    int64                 `parquet:"id,delta"`
	Code  *string               `parquet:"code,optional,dict"`
	Price *int64                `parquet:"price,optional,decimal(2:15)"`
	Day   int32                 `parquet:"day,date,dict"`
	Flag  bool                  `parquet:"flag"`
	F     float64               `parquet:"f,split"`
	Text  string                `parquet:"text,delta"`
	Tags  []string              `parquet:"tags,list"`
	Attrs map[string]int32      `parquet:"attrs"`
	Inner *struct{ X, Y int32 } `parquet:"inner,optional"`
}

// writeSmall makes a little file with one column of each kind.
func writeSmall(t testing.TB, codec compress.Codec, version, rows int) []byte {
	var buf bytes.Buffer
	w := pq.NewGenericWriter[smallRow](&buf, pq.Compression(codec), pq.DataPageVersion(version), pq.MaxRowsPerRowGroup(30), pq.PageBufferSize(200),
		pq.BloomFilters(pq.SplitBlockFilter(10, "id")))
	for i := range rows {
		s := strings.Repeat("x", i%5)
		row := smallRow{ID: int64(i), Day: int32(i % 3), Flag: i%2 == 0, F: float64(i) / 2, Text: "prefix " + s, Attrs: map[string]int32{s: int32(i)}}
		if i%4 > 0 {
			p := int64(i * 100)
			row.Code, row.Price = &s, &p
			row.Inner = &struct{ X, Y int32 }{int32(i), -1}
		}
		for range i % 3 {
			row.Tags = append(row.Tags, s)
		}
		if _, err := w.Write([]smallRow{row}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// maxFuzzRows bounds what is read of a file that claims many rows.
const maxFuzzRows = 100000

// tryRead reads everything of a file that may be damaged; it returns the error.
func tryRead(data []byte) error {
	f, err := open(memFile(data), "hostile.parquet", -1)
	if err != nil {
		return err
	}
	cols := allColumns(f)
	for i := range cols {
		if cols[i].Type == nil {
			return nil
		}
	}
	lit := func(k column.Kind) column.Scalar {
		return column.Scalar{Kind: k, I: 7, B: []byte("xx"), F: 7, D: column.FromInt64(7)}
	}
	var filter predicate.Predicate
	for i, c := range cols {
		if !c.Type.IsNested() && i%2 == 0 {
			filter = predicate.NewAnd(filter, &predicate.Or{Children: []predicate.Predicate{
				&predicate.Leaf{Op: predicate.Eq, Column: i, Literals: []column.Scalar{lit(schema.KindOf(c.Type))}},
				&predicate.Leaf{Op: predicate.IsNull, Column: i},
			}})
		}
	}
	var first error
	for _, p := range []predicate.Predicate{nil, filter} {
		if p != nil && f.Rows() > maxFuzzRows {
			break // rows that do not match are passed over without an end in sight
		}
		r, err := f.Read(context.Background(), format.ReadOptions{Columns: cols, Filter: p})
		if err != nil {
			return err
		}
		rows := 0
		for rows < maxFuzzRows {
			b, err := r.Next(context.Background())
			if err == io.EOF {
				break
			}
			if err != nil {
				first = err
				break
			}
			rows += b.N
			checkBatch(b)
		}
		r.Close()
	}
	return first
}

// checkBatch touches every value of a batch, and panics where one lies outside its memory.
func checkBatch(b *column.Batch) {
	for _, v := range b.Cols {
		if v.N != b.N {
			panic("lengths differ")
		}
		checkVector(v)
	}
}

func checkVector(v *column.Vector) {
	if v.Valid != nil && len(v.Valid) < (v.N+63)/64 {
		panic("short bitmap")
	}
	if v.Dict != nil {
		if len(v.Codes) != v.N {
			panic("codes")
		}
		for _, c := range v.Codes {
			if int(c) >= v.Dict.N {
				panic("code beyond the dictionary")
			}
		}
		checkVector(v.Dict)
		return
	}
	n := v.N
	switch v.Kind {
	case column.KindInt32:
		_ = v.I32[:n:n]
	case column.KindInt64, column.KindTimestamp:
		_ = v.I64[:n:n]
	case column.KindBytes:
		for i := range n {
			v.Bytes(i)
		}
	case column.KindList, column.KindMap:
		for i := range n {
			if v.Offsets[i] > v.Offsets[i+1] || v.Offsets[i] < 0 {
				panic("offsets")
			}
		}
		for _, c := range v.Children {
			if c.N < int(v.Offsets[n]) {
				panic("child too short")
			}
			checkVector(c)
		}
	case column.KindStruct:
		for _, c := range v.Children {
			if c.N != n {
				panic("field lengths")
			}
			checkVector(c)
		}
	}
}

// classified reports whether an error is of a class that damage may have, and names the file.
func classified(err error) bool {
	switch errs.ClassOf(err) {
	case errs.Corrupt, errs.Unsupported, errs.Limit:
		return strings.Contains(err.Error(), "hostile.parquet")
	}
	return false
}

func TestTruncated(t *testing.T) {
	data := writeSmall(t, &pq.Snappy, 1, 80)
	for n := range len(data) {
		if err := tryRead(data[:n]); !errs.Is(err, errs.Corrupt) || !classified(err) {
			t.Fatalf("cut to %d of %d bytes: %v", n, len(data), err)
		}
	}
	if _, err := open(memFile(data), "hostile.parquet", int64(len(data)+1)); !errs.Is(err, errs.Corrupt) {
		t.Errorf("another size than the manifest's: %v", err)
	}
	if err := tryRead(data); err != nil {
		t.Error(err)
	}
}

func TestFlippedBits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, codec := range []compress.Codec{&pq.Uncompressed, &pq.Snappy, &pq.Zstd} {
		for version := 1; version <= 2; version++ {
			data := writeSmall(t, codec, version, 80)
			found := 0
			for range 1500 {
				bad := bytes.Clone(data)
				for range 1 + r.IntN(3) {
					bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
				}
				if err := tryRead(bad); err != nil {
					found++
					if !classified(err) {
						t.Fatalf("%v", err)
					}
				}
			}
			if found < 750 {
				t.Errorf("codec %v, version %d: only %d of 1500 damages were noticed", codec, version, found)
			}
		}
	}
}

func TestOddFiles(t *testing.T) {
	for name, data := range map[string]string{
		"empty": "", "magic only": "PAR1", "twice the magic": "PAR1PAR1", "no footer": "PAR1\x00\x00\x00\x00PAR1",
		"long footer": "PAR1\xff\xff\xff\x7fPAR1", "other magic": "ORC1xxxxxxxxORC1", "text": strings.Repeat("hello ", 100),
	} {
		if err := tryRead([]byte(data)); !errs.Is(err, errs.Corrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := tryRead([]byte("PAR1xxxx\x04\x00\x00\x00PARE")); !errs.Is(err, errs.Unsupported) {
		t.Errorf("encrypted footer: %v", err)
	}
}

// brokenFile fails as storage does.
type brokenFile struct {
	memFile
	after int
}

func (b *brokenFile) ReadAt(p []byte, off int64) (int, error) {
	if b.after--; b.after < 0 {
		return 0, errs.Conflictf("the storage is away")
	}
	return b.memFile.ReadAt(p, off)
}

func TestStorageErrorsAreNotCorruption(t *testing.T) {
	data := writeSmall(t, &pq.Snappy, 1, 80)
	for after := range 3 {
		var src fileio.File = &brokenFile{memFile: data, after: after}
		f, err := open(src, "x.parquet", -1)
		if err == nil {
			_, err = dump(f, format.ReadOptions{Columns: allColumns(f)})
		}
		if !errs.Is(err, errs.Conflict) {
			t.Errorf("after %d reads: %v", after, err)
		}
	}
}

// TestHugeClaims checks that counts in a page header are not believed with memory.
func TestHugeClaims(t *testing.T) {
	for _, c := range []codec{codecNone, codecSnappy, codecGzip, codecBrotli, codecLZ4, codecZstd, codecLZ4Raw, codecLZO} {
		if c != codecBrotli && c != codecZstd {
			if err := c.checkUncompressed(1000, 1<<29); err == nil {
				t.Errorf("%s: 512 MiB of 1000 bytes are believed", c)
			}
		}
		if err := c.checkUncompressed(1<<30, maxPageBytes+1); err == nil {
			t.Errorf("%s: a page above the limit is believed", c)
		}
		dst := make([]byte, 1000, 1000+pagePadding)
		for n := range 40 {
			src := binary.BigEndian.AppendUint32(nil, 0xfffffff0)
			src = append(src, bytes.Repeat([]byte{0xff}, n)...)
			if err := c.decompress(dst, src); err == nil {
				t.Errorf("%s: %d bytes of rubbish are a page", c, n)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, codec := range []compress.Codec{&pq.Uncompressed, &pq.Snappy} {
		for version := 1; version <= 2; version++ {
			f.Add(writeSmall(f, codec, version, 40))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := tryRead(data); err != nil && !classified(err) {
			t.Fatalf("%v", err)
		}
	})
}
