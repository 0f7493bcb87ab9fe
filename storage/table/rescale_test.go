package table_test

import (
	"context"
	"fmt"
	"math/rand"
	"sync"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/table"
)

func partitionIs(text string) func([]column.Scalar) bool {
	return func(v []column.Scalar) bool { return string(v[0].B) == text }
}

func allBuckets([]column.Scalar, int) bool { return true }

// bucketCounts are the recorded numbers of buckets by partition, of real buckets.
func bucketCounts(t *testing.T, l *lake, name string) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, f := range liveFiles(t, l.open(name)) {
		if f.Bucket == schema.PostponeBucket {
			continue
		}
		p := ""
		if len(f.Partition) > 0 {
			p = string(f.Partition[0].B)
		}
		if n, ok := out[p]; ok && n != f.TotalBuckets {
			t.Errorf("partition %s has files of %d and of %d buckets", p, n, f.TotalBuckets)
		}
		out[p] = f.TotalBuckets
	}
	return out
}

// TestRescaleKeepsRows gives partitions other numbers of buckets; rows of any level stay, also those that no read has seen yet.
func TestRescaleKeepsRows(t *testing.T) {
	for _, engine := range []string{"deduplicate", "partial-update", "aggregation", "first-row"} {
		for _, vectors := range []string{"false", "true"} {
			if engine == "first-row" && vectors == "true" {
				continue // not allowed
			}
			t.Run(engine+"/"+vectors, func(t *testing.T) {
				t.Parallel()
				l := newLake(t)
				opts := []string{"bucket", "2", "merge-engine", engine, "deletion-vectors.enabled", vectors, "write-only", "true", "target-file-row-num", "50"}
				if engine == "aggregation" {
					opts = append(opts, "fields.a.aggregate-function", "sum", "fields.q.aggregate-function", "last_value")
				}
				l.create("t", "k STRING NOT NULL; p INT NOT NULL; a INT; b STRING; q INT", "k,p", "p", opts...)
				rnd := rand.New(rand.NewSource(7))
				m := &model{engine: engine, rows: map[string]*modelRow{}, last: map[string]int{}}
				for round := range 5 {
					var rows []string
					for range 120 {
						r := randomRow(rnd, "key-%d", 2, engine == "deduplicate")
						rows = append(rows, r.kind+" "+r.text())
						m.apply(r)
					}
					if _, err := l.tryInsert(context.Background(), "t", relation.SinkOptions{Options: map[string]string{"bucket": fmt.Sprint(round + 2)}}, rows...); err != nil {
						t.Fatal(err)
					}
					if round == 2 {
						l.compact("t", table.CompactOptions{Full: true})
					}
					if _, err := l.open("t").Rescale(context.Background(), table.RescaleOptions{Buckets: round + 3}); err != nil {
						t.Fatal(err)
					}
					l.expect("t", m.texts()...)
				}
			})
		}
	}
}

// TestRescaleSelects gives one partition another number of buckets: the others keep theirs, what waits in the postpone bucket stays.
func TestRescaleSelects(t *testing.T) {
	l := newLake(t)
	ctx := context.Background()
	for _, bucket := range []string{"2", "-2"} {
		name := "t" + bucket[:1]
		l.create(name, "k INT NOT NULL; p STRING NOT NULL; v STRING", "k,p", "p", "bucket", bucket, "postpone.default-bucket-num", "2", "write-only", "true")
		if _, err := l.open(name).Rescale(ctx, table.RescaleOptions{Buckets: 3}); !errs.Is(err, errs.Invalid) {
			t.Errorf("%s: an empty table was rescaled: %v", name, err)
		}
		var rows []string
		for i := range 40 {
			rows = append(rows, fmt.Sprintf("%d|%s|x", i, []string{"a", "b"}[i%2]))
		}
		l.insert(name, rows...)
		if bucket == "-2" {
			o := relation.SinkOptions{Options: map[string]string{"postpone.batch-write-fixed-bucket": "false"}}
			if _, err := l.tryInsert(ctx, name, o, "0|a|waits"); err != nil {
				t.Fatal(err)
			}
			if _, err := l.open(name).Rescale(ctx, table.RescaleOptions{}); !errs.Is(err, errs.Invalid) {
				t.Errorf("no number of buckets: %v", err)
			}
		}
		if _, err := l.open(name).Rescale(ctx, table.RescaleOptions{Buckets: 5, Partitions: partitionIs("a")}); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(bucketCounts(t, l, name)); got != "map[a:5 b:2]" {
			t.Error(name, got)
		}
		l.expect(name, rows...)
		if bucket == "-2" {
			l.compact(name, table.CompactOptions{})
			rows[0] = "0|a|waits"
			l.expect(name, rows...)
			if got := fmt.Sprint(bucketCounts(t, l, name)); got != "map[a:5 b:2]" {
				t.Error(name, got)
			}
		}
		if _, err := l.open(name).Rescale(ctx, table.RescaleOptions{Buckets: 3, Partitions: partitionIs("z")}); !errs.Is(err, errs.Invalid) {
			t.Errorf("%s: a partition that is not there: %v", name, err)
		}
	}
	l.create("dynamic", "k INT NOT NULL; v STRING", "k", "")
	l.insert("dynamic", "1|x")
	if _, err := l.open("dynamic").Rescale(ctx, table.RescaleOptions{Buckets: 3}); !errs.Is(err, errs.Invalid) {
		t.Errorf("a table of dynamic buckets was rescaled: %v", err)
	}
}

// TestRescaleRaces rescales a postpone table while another process writes and compacts: no row is lost, and none comes back.
func TestRescaleRaces(t *testing.T) {
	one := newLake(t)
	two := openLake(t, one.mem, one.mem)
	one.create("t", "k STRING NOT NULL; v STRING", "k", "", "bucket", "-2", "postpone.batch-write-fixed-bucket", "false", "commit.min-retry-wait", "1 ms", "commit.max-retry-wait", "5 ms")
	one.insert("t", "first|0")
	one.compact("t", table.CompactOptions{})
	want := map[string]string{"first": "first|0"}
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Add(1)
	go func() {
		defer wg.Done()
		defer close(stop)
		for i := range 25 {
			key := fmt.Sprintf("k%d", i%7)
			row := fmt.Sprintf("%s|%d", key, i)
			o := relation.SinkOptions{}
			if i%3 == 0 {
				// Rows that wait come after those that are written past them: only a compaction puts them in order.
				if err := retry(func() error {
					_, err := two.open("t").Compact(context.Background(), table.CompactOptions{})
					return err
				}); err != nil {
					t.Error(err)
				}
				o = atOnce
			}
			if err := retry(func() error { _, err := two.tryInsert(context.Background(), "t", o, row); return err }); err != nil {
				t.Error(err)
			}
			want[key] = row
		}
	}()
	for n, done := 0, false; !done; n++ {
		select {
		case <-stop:
			done = true
		default:
		}
		if _, err := one.open("t").Rescale(context.Background(), table.RescaleOptions{Buckets: 1 + n%4}); err != nil && !errs.Is(err, errs.Conflict) {
			t.Fatal(err)
		}
	}
	wg.Wait()
	one.compact("t", table.CompactOptions{})
	var rows []string
	for _, r := range want {
		rows = append(rows, r)
	}
	one.expect("t", rows...)
}

// TestRescaleBesideExpiry lets another process compact, and expire what the rescale reads, before each of its file operations: it reads
// the rows anew.
func TestRescaleBesideExpiry(t *testing.T) {
	start := fileio.NewMemory()
	l := openLake(t, start, start)
	l.create("t", "k INT NOT NULL; v STRING", "k", "", "bucket", "1", "write-only", "true", "commit.min-retry-wait", "1 ms", "commit.max-retry-wait", "1 ms")
	l.insert("t", "1|a", "2|b")
	l.insert("t", "2|c", "3|d")
	for nth, done := 1, false; !done; nth++ {
		mem := start.Clone()
		faulty := fileio.NewFaulty(mem)
		done = true
		faulty.Inject(fileio.Fault{Nth: nth, Do: func(_ context.Context, path string) {
			done = false
			other := openLake(t, mem, mem)
			if err := inTurn(compactDeed("full", true), expireDeed).run(other); err != nil {
				t.Errorf("before operation %d (%s): %v", nth, path, err)
			}
		}})
		if _, err := openLake(t, mem, faulty).open("t").Rescale(context.Background(), table.RescaleOptions{Buckets: 2}); err != nil {
			t.Fatalf("operation %d: %v", nth, err)
		}
		openLake(t, mem, mem).expect("t", "1|a", "2|c", "3|d")
	}
}
