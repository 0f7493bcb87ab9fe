package table_test

import (
	"context"
	"fmt"
	"math/rand"
	"strings"
	"sync"
	"testing"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/table"
)

// TestCompactRaces lets writers, compactions, overwrites and expiry of two processes meet on the buckets of one table. Each writer has keys
// of its own, so that what must be there at the end is known: no row may be lost, none may come back, and no deletion vector
// may be left without its file.
func TestCompactRaces(t *testing.T) {
	for _, c := range []struct {
		name string
		opts []string
		// expire lets both processes remove all snapshots but the newest again and again.
		expire bool
		// dynamic assigns buckets dynamically.
		dynamic bool
	}{
		{"plain", []string{"changelog-producer", "none"}, false, false},
		{"vectors", []string{"deletion-vectors.enabled", "true", "changelog-producer", "lookup"}, false, false},
		{"full", []string{"changelog-producer", "full-compaction"}, false, false},
		{"aggregation", []string{"merge-engine", "aggregation", "fields.v.aggregate-function", "last_value", "deletion-vectors.enabled", "true"}, false, false},
		{"expiring", []string{"changelog-producer", "none"}, true, false},
		{"expiring-vectors", []string{"deletion-vectors.enabled", "true", "changelog-producer", "lookup"}, true, false},
		{"expiring-dynamic", []string{"deletion-vectors.enabled", "true"}, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			one := newLake(t)
			// The other process shares the files and nothing else.
			two := openLake(t, one.mem, one.mem)
			buckets := []string{"bucket", "2"}
			if c.dynamic {
				buckets = nil
			}
			one.create("t", "k STRING NOT NULL; p INT NOT NULL; v STRING", "k,p", "p",
				append(append(buckets, "num-sorted-run.compaction-trigger", "3", "target-file-size", "4 kb", "commit.min-retry-wait", "1 ms", "commit.max-retry-wait", "5 ms"), c.opts...)...)
			const writers, rounds = 4, 6
			want := make([]map[string]string, writers+1)
			var wg sync.WaitGroup
			fail := func(format string, args ...any) { t.Errorf(format, args...) }
			stop := make(chan struct{})
			for n := range writers {
				want[n] = map[string]string{}
				l := []*lake{one, two}[n%2]
				wg.Add(1)
				go func() {
					defer wg.Done()
					rnd := rand.New(rand.NewSource(int64(n)))
					for round := range rounds {
						var rows []string
						next := map[string]string{}
						for range 1 + rnd.Intn(20) {
							key := fmt.Sprintf("w%d-%02d|%d", n, rnd.Intn(30), rnd.Intn(2))
							if c.name != "aggregation" && rnd.Intn(4) == 0 {
								rows, next[key] = append(rows, "-D "+key+"|gone"), ""
								continue
							}
							row := fmt.Sprintf("%s|%d.%d", key, round, rnd.Intn(100))
							rows, next[key] = append(rows, row), row
						}
						if err := retry(func() error {
							_, err := l.tryInsert(context.Background(), "t", relation.SinkOptions{}, rows...)
							return err
						}); err != nil {
							fail("writer %d: %v", n, err)
							return
						}
						for k, v := range next {
							want[n][k] = v
						}
					}
				}()
			}
			// Partition 9 is replaced again and again.
			want[writers] = map[string]string{}
			wg.Add(1)
			go func() {
				defer wg.Done()
				for round := range rounds / 2 {
					row := fmt.Sprintf("over-%d|9|%d", round%3, round)
					if err := retry(func() error {
						_, err := two.tryInsert(context.Background(), "t", relation.SinkOptions{Overwrite: true}, row)
						return err
					}); err != nil {
						fail("overwrite: %v", err)
						return
					}
					clear(want[writers])
					want[writers][row[:strings.LastIndex(row, "|")]] = row
				}
			}()
			var others sync.WaitGroup
			for n, l := range []*lake{one, two} {
				if c.expire {
					others.Add(1)
					go func() {
						defer others.Done()
						for {
							select {
							case <-stop:
								return
							default:
							}
							if err := expireDeed.run(l); err != nil {
								fail("expiry: %v", err)
								return
							}
						}
					}()
				}
				others.Add(1)
				go func() {
					defer others.Done()
					rnd := rand.New(rand.NewSource(int64(100 + n)))
					for {
						select {
						case <-stop:
							return
						default:
						}
						tb, err := table.Open(context.Background(), l.env, "default", "t", table.OpenOptions{})
						if err == nil {
							_, err = tb.Compact(context.Background(), table.CompactOptions{Full: rnd.Intn(2) == 0})
						}
						if err != nil && !errs.Is(err, errs.Conflict) && !(c.expire && errs.Is(err, errs.NotFound)) {
							fail("compaction: %v", err)
							return
						}
					}
				}()
			}
			wg.Wait()
			close(stop)
			others.Wait()
			var rows []string
			for _, m := range want {
				for _, v := range m {
					if v != "" {
						rows = append(rows, v)
					}
				}
			}
			one.expect("t", rows...)
			one.compact("t", table.CompactOptions{Full: true})
			one.expect("t", rows...)
			vectorsHaveFiles(t, one)
			if !c.expire && strings.Contains(strings.Join(c.opts, " "), "lookup") {
				log := &replayed{l: one, name: "t", rows: map[string]string{}, lenient: true}
				log.follow()
				// OVERWRITE is no part of a changelog.
				var told []string
				for _, r := range log.texts() {
					if !strings.HasPrefix(r, "over-") {
						told = append(told, r)
					}
				}
				var written []string
				for _, r := range rows {
					if !strings.HasPrefix(r, "over-") {
						written = append(written, r)
					}
				}
				if a, b := sorted(told), sorted(written); a != b {
					t.Errorf("the changelog tells\n%s\nthe table has\n%s", a, b)
				}
			}
		})
	}
}

// retry repeats a statement that was refused for what others did.
func retry(statement func() error) error {
	var err error
	for range 100 {
		if err = statement(); !errs.Is(err, errs.Conflict) {
			return err
		}
	}
	return err
}

// vectorsHaveFiles fails where a deletion vector's data file is not live.
func vectorsHaveFiles(t *testing.T, l *lake) {
	t.Helper()
	ctx := context.Background()
	tb := l.open("t")
	snap, err := tb.Snapshots().Latest(ctx)
	if err != nil {
		t.Fatal(err)
	}
	files, _, err := tb.Source().LiveFiles(ctx, snap, scan.Request{})
	if err != nil {
		t.Fatal(err)
	}
	live := map[string]bool{}
	for _, f := range files {
		live[f.Meta.Name] = true
	}
	entries, err := tb.Store().ReadIndexManifest(ctx, snap.IndexManifest)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		for _, r := range e.Ranges {
			if !live[r.DataFile] {
				t.Errorf("index file %s has a vector of %s, which is gone", e.Name, r.DataFile)
			}
		}
	}
}
