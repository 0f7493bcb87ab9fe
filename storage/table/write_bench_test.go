package table_test

import (
	"context"
	"fmt"
	"math/rand"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/relation"
)

// benchBatches makes batches of a table (k BIGINT, d INT, s STRING, x DOUBLE, t TIMESTAMP(3), n DECIMAL(12,2)).
func benchBatches(n int, next func(i int) int64) []*column.Batch {
	rnd := rand.New(rand.NewSource(7))
	var out []*column.Batch
	for from := 0; from < n; from += column.MaxRows {
		to := min(n, from+column.MaxRows)
		b := []*column.Builder{column.NewBuilder(column.KindInt64), column.NewBuilder(column.KindInt32), column.NewBuilder(column.KindBytes),
			column.NewBuilder(column.KindFloat64), column.NewBuilder(column.KindTimestamp), column.NewBuilder(column.KindInt64)}
		for i := from; i < to; i++ {
			b[0].AppendInt(next(i))
			b[1].AppendInt(int64(rnd.Intn(100)))
			b[2].AppendString(fmt.Sprintf("customer %d", rnd.Intn(100000)))
			b[3].AppendFloat(rnd.Float64() * 1000)
			b[4].AppendTimestamp(1_700_000_000_000_000+int64(i)*1000, 0)
			b[5].AppendInt(int64(rnd.Intn(1_000_000)))
		}
		batch := &column.Batch{N: to - from}
		for _, c := range b {
			batch.Cols = append(batch.Cols, c.Finish())
		}
		out = append(out, batch)
	}
	return out
}

const benchColumns = "k BIGINT NOT NULL; d INT; s STRING; x DOUBLE; t TIMESTAMP(3); n DECIMAL(12, 2)"

func BenchmarkWrite(b *testing.B) {
	const n = 500_000
	ordered := benchBatches(n, func(i int) int64 { return int64(i) })
	rnd := rand.New(rand.NewSource(3))
	random := benchBatches(n, func(int) int64 { return rnd.Int63n(n) })
	for _, c := range []struct {
		name, pk, part string
		batches        []*column.Batch
		opts           []string
	}{
		{"append", "", "", ordered, nil},
		{"append-100-partitions", "", "d", ordered, nil},
		{"append-4-buckets", "", "", ordered, []string{"bucket", "4", "bucket-key", "k"}},
		{"keyed-ordered", "k", "", ordered, []string{"bucket", "1"}},
		{"keyed-random", "k", "", random, []string{"bucket", "4"}},
		{"keyed-spill", "k", "", random, []string{"bucket", "4", "write-buffer-size", "8 mb"}},
		{"keyed-aggregation", "k", "", random, []string{"bucket", "4", "merge-engine", "aggregation", "fields.d.aggregate-function", "sum"}},
		{"keyed-changelog", "k", "", random, []string{"bucket", "4", "changelog-producer", "input"}},
		{"keyed-dynamic", "k", "", random, nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			l := newLake(b)
			i := 0
			for b.Loop() {
				name := fmt.Sprintf("t%d", i)
				i++
				b.StopTimer()
				l.create(name, benchColumns, c.pk, c.part, c.opts...)
				s, err := l.open(name).OpenSink(context.Background(), relation.SinkOptions{})
				if err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				for _, x := range c.batches {
					if err := s.Write(context.Background(), x, nil); err != nil {
						b.Fatal(err)
					}
				}
				if _, err := s.Commit(context.Background()); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				l.mem.DeleteAll(context.Background(), "/lake/default.db/"+name)
				b.StartTimer()
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkSmallInserts commits statements of one row.
func BenchmarkSmallInserts(b *testing.B) {
	l := newLake(b)
	l.create("t", "k INT NOT NULL; v STRING", "k", "", "bucket", "1")
	for b.Loop() {
		l.insert("t", "1|x")
	}
}
