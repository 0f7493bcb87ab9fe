package parquet

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
)

// benchRows is the number of rows of the benchmark's file.
const benchRows = 1 << 20

// lineItem has the columns and distributions of TPC-H's lineitem that the
// benchmarks read, stored as Paimon stores them.
type lineItem struct {
	OrderKey   *int64  `parquet:"l_orderkey,optional,plain"`
	Quantity   *int64  `parquet:"l_quantity,optional,decimal(2:15),dict"`
	Price      *int64  `parquet:"l_extendedprice,optional,plain,decimal(2:15)"`
	Discount   *int64  `parquet:"l_discount,optional,decimal(2:15),dict"`
	Tax        *int64  `parquet:"l_tax,optional,decimal(2:15),dict"`
	ReturnFlag *string `parquet:"l_returnflag,optional,dict"`
	LineStatus *string `parquet:"l_linestatus,optional,dict"`
	ShipDate   *int32  `parquet:"l_shipdate,optional,date,dict"`
	Comment    *string `parquet:"l_comment,optional,plain"`
}

var decimal152 = &schema.Type{Root: schema.Decimal, Precision: 15, Scale: 2}

var benchTypes = map[string]*schema.Type{
	"l_orderkey": {Root: schema.BigInt}, "l_quantity": decimal152, "l_extendedprice": decimal152, "l_discount": decimal152, "l_tax": decimal152,
	"l_returnflag": {Root: schema.Varchar, Length: schema.MaxLength}, "l_linestatus": {Root: schema.Varchar, Length: schema.MaxLength},
	"l_shipdate": {Root: schema.Date}, "l_comment": {Root: schema.Varchar, Length: schema.MaxLength},
}

const firstShipDate = 8036 // 1992-01-02

func benchColumns(names ...string) []schema.Field {
	var out []schema.Field
	for _, n := range names {
		out = append(out, schema.Field{Name: n, Type: benchTypes[n]})
	}
	return out
}

var writeBench = sync.OnceValues(func() (string, error) {
	path := filepath.Join(os.TempDir(), fmt.Sprintf("tributary-bench-lineitem2-%d.parquet", benchRows))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	tmp, err := os.CreateTemp(os.TempDir(), "tributary-bench")
	if err != nil {
		return "", err
	}
	defer os.Remove(tmp.Name())
	w := pq.NewGenericWriter[lineItem](tmp, pq.Compression(&zstd.Codec{Level: zstd.SpeedFastest}), pq.DataPageVersion(1), pq.PageBufferSize(160000), pq.DataPageStatistics(false))
	rng := rand.New(rand.NewPCG(1, 2))
	words := []string{"furiously", "special", "requests", "deposits", "sleep", "carefully", "ironic", "packages", "final", "among", "the", "quickly", "regular", "accounts"}
	p := func(x int64) *int64 { return &x }
	s := func(x string) *string { return &x }
	rows := make([]lineItem, 0, 4096)
	key := int64(1)
	for i := range benchRows {
		if rng.IntN(4) == 0 {
			key++
		}
		qty := int64(1 + rng.IntN(50))
		date := int32(firstShipDate + rng.IntN(2526))
		flag, status := "N", "O"
		if date < 9298 {
			flag, status = []string{"R", "A"}[rng.IntN(2)], "F"
		}
		comment := ""
		for n := 2 + rng.IntN(4); n > 0; n-- {
			comment += words[rng.IntN(len(words))] + " "
		}
		rows = append(rows, lineItem{
			OrderKey: p(key), Quantity: p(qty * 100), Price: p(qty * int64(90000+rng.IntN(110000))), Discount: p(int64(rng.IntN(11))), Tax: p(int64(rng.IntN(9))),
			ReturnFlag: s(flag), LineStatus: s(status), ShipDate: &date, Comment: s(comment),
		})
		if len(rows) == cap(rows) || i == benchRows-1 {
			if _, err := w.Write(rows); err != nil {
				return "", err
			}
			rows = rows[:0]
		}
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	if err := tmp.Close(); err != nil {
		return "", err
	}
	return path, os.Rename(tmp.Name(), path)
})

var q6Columns = []string{"l_shipdate", "l_discount", "l_quantity", "l_extendedprice"}
var q1Columns = []string{"l_quantity", "l_extendedprice", "l_discount", "l_tax", "l_returnflag", "l_linestatus", "l_shipdate"}

// q6Filter is Q6's condition on q6Columns.
func q6Filter() predicate.Predicate {
	day := func(d int64) []column.Scalar { return []column.Scalar{column.IntScalar(column.KindInt32, d)} }
	num := func(d int64) []column.Scalar { return []column.Scalar{column.IntScalar(column.KindInt64, d)} }
	return predicate.NewAnd(
		&predicate.Leaf{Op: predicate.Ge, Column: 0, Literals: day(8766)},
		&predicate.Leaf{Op: predicate.Lt, Column: 0, Literals: day(9131)},
		&predicate.Leaf{Op: predicate.Ge, Column: 1, Literals: num(5)},
		&predicate.Leaf{Op: predicate.Le, Column: 1, Literals: num(7)},
		&predicate.Leaf{Op: predicate.Lt, Column: 2, Literals: num(2400)},
	)
}

func benchScan(b *testing.B, filter predicate.Predicate, names ...string) {
	path, err := writeBench()
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	file, err := Open(ctx, diskFiles{}, path, -1)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	cols := benchColumns(names...)
	b.ReportAllocs()
	b.ResetTimer()
	rows := 0
	for range b.N {
		r, err := file.Read(ctx, format.ReadOptions{Columns: cols, Filter: filter})
		if err != nil {
			b.Fatal(err)
		}
		for {
			batch, err := r.Next(ctx)
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			rows += batch.Rows()
		}
		r.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
	b.ReportMetric(float64(rows)/float64(b.N), "rows")
}

func BenchmarkScanQ6(b *testing.B)         { benchScan(b, nil, q6Columns...) }
func BenchmarkScanQ6Filtered(b *testing.B) { benchScan(b, q6Filter(), q6Columns...) }
func BenchmarkScanQ1(b *testing.B)         { benchScan(b, nil, q1Columns...) }
func BenchmarkScanOrderKey(b *testing.B)   { benchScan(b, nil, "l_orderkey") }
func BenchmarkScanPrice(b *testing.B)      { benchScan(b, nil, "l_extendedprice") }
func BenchmarkScanComment(b *testing.B)    { benchScan(b, nil, "l_comment") }
func BenchmarkScanFlags(b *testing.B)      { benchScan(b, nil, "l_returnflag", "l_linestatus") }
func BenchmarkScanDate(b *testing.B)       { benchScan(b, nil, "l_shipdate") }
