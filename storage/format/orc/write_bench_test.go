package orc

import (
	"context"
	"fmt"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/format/roundtrip"
	"github.com/tributarydb/tributary/storage/schema"
)

// BenchmarkWrite writes 10 mixed columns.
func BenchmarkWrite(b *testing.B) {
	var fields []schema.Field
	for i, s := range []string{"BIGINT NOT NULL", "INT", "STRING", "STRING", "DOUBLE", "DECIMAL(15, 2)", "DATE", "TIMESTAMP(6)", "BOOLEAN", "SMALLINT"} {
		fields = append(fields, schema.Field{ID: i, Name: fmt.Sprintf("c%d", i), Type: roundtrip.Type(b, s)})
	}
	batch := &column.Batch{N: column.MaxRows}
	builders := make([]*column.Builder, len(fields))
	for i, f := range fields {
		builders[i] = schema.NewBuilder(f.Type)
	}
	for i := range batch.N {
		builders[0].AppendInt(int64(i) * 3)
		builders[1].AppendInt(int64(i*7919) % 100_000)
		builders[2].AppendString([]string{"open", "closed", "pending", "lost"}[i*31%4])
		builders[3].AppendString(fmt.Sprintf("customer %d", i*7919%100_000))
		builders[4].AppendFloat(float64(i%1000) / 7)
		builders[5].AppendInt(int64(i*104729) % 10_000_000)
		builders[6].AppendInt(int64(19000 + i%365))
		if i%10 == 0 {
			builders[7].AppendNull()
		} else {
			builders[7].AppendTimestamp(1_700_000_000_000_000+int64(i)*1_234_567, 0)
		}
		builders[8].AppendBool(i%3 == 0)
		builders[9].AppendInt(int64(i % 50))
	}
	for _, x := range builders {
		batch.Cols = append(batch.Cols, x.Finish())
	}
	for _, codec := range []string{"zstd", "none"} {
		b.Run(codec, func(b *testing.B) {
			ctx := context.Background()
			rows := 0
			b.ReportAllocs()
			for b.Loop() {
				fio := fileio.NewMemory()
				w, err := format.Create(ctx, fio, "/f.orc", "orc", format.WriteOptions{Fields: fields, Compression: codec})
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
		})
	}
}
