package orc_test

import (
	"context"
	"io"
	"path/filepath"
	"testing"

	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/schema"
)

func benchmarkRead(b *testing.B, name string, columns []schema.Field) {
	ctx := context.Background()
	rows := 0
	b.ReportAllocs()
	for b.Loop() {
		f, err := format.Open(ctx, fileio.NewLocal(), filepath.Join("testdata", name), -1, "orc")
		if err != nil {
			b.Fatal(err)
		}
		r, err := f.Read(ctx, format.ReadOptions{Columns: columns})
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
			rows += batch.N
		}
		r.Close()
		f.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows), "ns/row")
}

// BenchmarkOpen reads 40 rows of 28 columns: the cost of a small file.
func BenchmarkOpen(b *testing.B) { benchmarkRead(b, "seed_v12_zstd.orc", rowsFields(b)) }

// BenchmarkRead reads 2300 rows of each column.
func BenchmarkRead(b *testing.B) {
	for _, f := range rowsFields(b) {
		b.Run(f.Name, func(b *testing.B) { benchmarkRead(b, "rows_v12_none_nodict.orc", []schema.Field{f}) })
	}
}
