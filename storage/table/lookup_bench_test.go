package table_test

import (
	"context"
	"fmt"
	"math/rand"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/table"
)

// measured counts the bytes that are read of files whose paths contain part.
type measured struct {
	fileio.FileIO
	part string
	read atomic.Int64
}

func (c *measured) Open(ctx context.Context, path string) (fileio.File, error) {
	f, err := c.FileIO.Open(ctx, path)
	if err != nil || !strings.Contains(path, c.part) {
		return f, err
	}
	return measuredFile{f, &c.read}, nil
}

type measuredFile struct {
	fileio.File
	read *atomic.Int64
}

func (f measuredFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	f.read.Add(int64(n))
	return n, err
}

// lookupRows is the size of the bucket in which keys are looked up.
const lookupRows = 2_000_000

// BenchmarkLookupCommit commits random keys to a compacted bucket whose compactions look rows up.
func BenchmarkLookupCommit(b *testing.B) {
	ctx := context.Background()
	write := func(l *lake, batches []*column.Batch) {
		s, err := l.open("t").OpenSink(ctx, relation.SinkOptions{})
		if err != nil {
			b.Fatal(err)
		}
		for _, x := range batches {
			if err := s.Write(ctx, x, nil); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := s.Commit(ctx); err != nil {
			b.Fatal(err)
		}
	}
	for _, mode := range []struct {
		name string
		opts []string
	}{
		{"changelog", []string{"changelog-producer", "lookup"}},
		{"vectors", []string{"deletion-vectors.enabled", "true"}},
		{"both", []string{"changelog-producer", "lookup", "deletion-vectors.enabled", "true"}},
		{"partial-update", []string{"changelog-producer", "lookup", "merge-engine", "partial-update"}},
		{"first-row", []string{"merge-engine", "first-row"}},
	} {
		var mem *fileio.Memory
		for _, n := range []int{1, 200, 20_000} {
			b.Run(fmt.Sprintf("%s/%d", mode.name, n), func(b *testing.B) {
				if mem == nil {
					l := newLake(b)
					l.create("t", benchColumns, "k", "", append([]string{"bucket", "1"}, mode.opts...)...)
					write(l, benchBatches(lookupRows, func(i int) int64 { return int64(i) }))
					l.compact("t", table.CompactOptions{Full: true})
					mem = l.mem
				}
				rnd := rand.New(rand.NewSource(int64(n)))
				var bytes int64
				for b.Loop() {
					b.StopTimer()
					own := mem.Clone()
					files := &measured{FileIO: own, part: "/data-"}
					l := openLake(b, own, files)
					batches := benchBatches(n, func(int) int64 { return rnd.Int63n(lookupRows) })
					b.StartTimer()
					write(l, batches)
					bytes += files.read.Load()
				}
				b.ReportMetric(float64(bytes)/float64(b.N)/(1<<20), "MiB-read/op")
			})
		}
	}
}
