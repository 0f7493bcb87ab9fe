package table_test

import (
	"context"
	"fmt"
	"math/rand"
	"strings"
	"sync"
	"testing"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/lsm"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/table"
)

// atOnce writes past the postpone bucket.
var atOnce = relation.SinkOptions{Options: map[string]string{"postpone.batch-write-fixed-bucket": "true"}}

// unnamedFiles lists the data files in buckets that no snapshot names.
func (l *lake) unnamedFiles(name string) []string {
	l.t.Helper()
	ctx := context.Background()
	tb := l.open(name)
	named := map[string]bool{}
	latest, err := tb.Snapshots().Latest(ctx)
	if err != nil {
		l.t.Fatal(err)
	}
	for id := int64(1); id <= latest.ID; id++ {
		s, err := tb.Snapshots().Get(ctx, id)
		if err != nil {
			l.t.Fatal(err)
		}
		if err := tb.Source().EachEntry(ctx, s, func(_ string, e *manifest.Entry) { named[e.File.Name] = true }); err != nil {
			l.t.Fatal(err)
		}
	}
	var out []string
	for _, f := range l.files("/lake/default.db/" + name) {
		at := strings.LastIndexByte(f, '/')
		if strings.Contains(f, "/bucket-") && strings.HasPrefix(f[at+1:], "data-") && !named[f[at+1:]] {
			out = append(out, f)
		}
	}
	return out
}

// TestCompactPostponed writes random rows into the postpone bucket and past it, and compacts: the rows that waited come after
// those that were there, each key is merged as its engine has it, and the changelog tells so.
func TestCompactPostponed(t *testing.T) {
	for _, engine := range []string{"deduplicate", "partial-update", "aggregation", "first-row"} {
		for _, mode := range []struct {
			name string
			opts []string
			// hides says that level 0 is not seen.
			hides, logs bool
		}{
			{"plain", []string{"postpone.default-bucket-num", "2", "num-sorted-run.compaction-trigger", "3"}, false, false},
			{"counted", []string{"postpone.target-row-num-per-bucket", "40", "write-buffer-size", "64 kb", "target-file-row-num", "31"}, false, false},
			{"lookup", []string{"changelog-producer", "lookup"}, false, true},
			{"vectors", []string{"deletion-vectors.enabled", "true", "postpone.default-bucket-num", "3"}, true, false},
			{"vectors-lookup", []string{"deletion-vectors.enabled", "true", "changelog-producer", "lookup", "file.format.per.level", "0:avro"}, true, true},
		} {
			if engine == "first-row" && mode.hides {
				continue // not allowed
			}
			if underRace && mode.name != "vectors-lookup" {
				continue
			}
			t.Run(engine+"/"+mode.name, func(t *testing.T) {
				t.Parallel()
				l := newLake(t)
				opts := append([]string{"bucket", "-2", "postpone.batch-write-fixed-bucket", "false", "merge-engine", engine}, mode.opts...)
				if engine == "aggregation" {
					opts = append(opts, "fields.a.aggregate-function", "sum", "fields.q.aggregate-function", "last_value")
				}
				l.create("t", "k STRING NOT NULL; p INT NOT NULL; a INT; b STRING; q INT", "k,p", "p", opts...)
				rnd := rand.New(rand.NewSource(int64(len(engine) + len(mode.name))))
				m := &model{engine: engine, rows: map[string]*modelRow{}, last: map[string]int{}}
				log := &replayed{l: l, name: "t", rows: map[string]string{}}
				var waiting []modelRow
				hides := mode.hides || engine == "first-row"
				for step := range 24 {
					var rows []string
					o := relation.SinkOptions{}
					var write []modelRow
					for range []int{1, 25, 200}[rnd.Intn(3)] {
						r := randomRow(rnd, "key-%03d", 2, engine == "deduplicate")
						rows, write = append(rows, r.kind+" "+r.text()), append(write, r)
					}
					switch rnd.Intn(4) {
					case 0:
						l.compact("t", table.CompactOptions{Full: rnd.Intn(2) == 0})
						for _, r := range waiting {
							m.apply(r)
						}
						waiting, rows = nil, nil
						for _, f := range liveFiles(t, l.open("t")) {
							if f.Bucket == schema.PostponeBucket || f.TotalBuckets < 1 || hides && f.Meta.Level == 0 {
								t.Fatalf("step %d: after a compaction there is %s, level %d, of %d buckets", step, f.Path, f.Meta.Level, f.TotalBuckets)
							}
						}
						l.expect("t", m.texts()...)
						if mode.logs {
							log.follow()
							l.expect("t", log.texts()...)
						}
						continue
					case 1:
						o = atOnce
						for _, r := range write {
							m.apply(r)
						}
					default:
						waiting = append(waiting, write...)
					}
					if _, err := l.tryInsert(context.Background(), "t", o, rows...); err != nil {
						t.Fatal(err)
					}
					if !hides {
						l.expect("t", m.texts()...)
					}
				}
				l.compact("t", table.CompactOptions{})
				for _, r := range waiting {
					m.apply(r)
				}
				l.expect("t", m.texts()...)
				if mode.logs && (log.kinds[lsm.Insert] == 0 || engine == "deduplicate" && log.kinds[lsm.UpdateAfter] == 0) {
					t.Errorf("changes by kind: %v", log.kinds)
				}
				if left := l.unnamedFiles("t"); len(left) > 0 {
					t.Errorf("files that no snapshot names: %v", left)
				}
			})
		}
	}
}

// TestCompactPostponedRaces lets writers of the postpone bucket, writers past it and compactions of two processes meet. Each writer has
// keys of its own, so that what must be there at the end is known.
func TestCompactPostponedRaces(t *testing.T) {
	for _, opts := range [][]string{
		{"num-sorted-run.compaction-trigger", "3"},
		{"deletion-vectors.enabled", "true", "changelog-producer", "lookup"},
	} {
		t.Run(opts[0], func(t *testing.T) {
			t.Parallel()
			one := newLake(t)
			two := openLake(t, one.mem, one.mem)
			one.create("t", "k STRING NOT NULL; p INT NOT NULL; v STRING", "k,p", "p",
				append([]string{"bucket", "-2", "postpone.batch-write-fixed-bucket", "false", "commit.min-retry-wait", "1 ms", "commit.max-retry-wait", "5 ms"}, opts...)...)
			const writers, rounds = 4, 6
			want := make([]map[string]string, writers)
			var wg, others sync.WaitGroup
			stop := make(chan struct{})
			for n := range writers {
				want[n] = map[string]string{}
				l, o := []*lake{one, two}[n%2], []relation.SinkOptions{{}, atOnce}[n/2]
				wg.Add(1)
				go func() {
					defer wg.Done()
					rnd := rand.New(rand.NewSource(int64(n)))
					for round := range rounds {
						var rows []string
						for range 1 + rnd.Intn(20) {
							key := fmt.Sprintf("w%d-%02d|%d", n, rnd.Intn(30), rnd.Intn(2))
							if rnd.Intn(4) == 0 {
								rows, want[n][key] = append(rows, "-D "+key+"|gone"), ""
								continue
							}
							row := fmt.Sprintf("%s|%d.%d", key, round, rnd.Intn(100))
							rows, want[n][key] = append(rows, row), row
						}
						if err := retry(func() error {
							_, err := l.tryInsert(context.Background(), "t", o, rows...)
							return err
						}); err != nil {
							t.Errorf("writer %d: %v", n, err)
							return
						}
					}
				}()
			}
			for _, l := range []*lake{one, two} {
				others.Add(1)
				go func() {
					defer others.Done()
					for {
						select {
						case <-stop:
							return
						default:
						}
						tb, err := table.Open(context.Background(), l.env, "default", "t", table.OpenOptions{})
						if err == nil {
							_, err = tb.Compact(context.Background(), table.CompactOptions{Full: true})
						}
						if err != nil && !errs.Is(err, errs.Conflict) {
							t.Errorf("compaction: %v", err)
							return
						}
					}
				}()
			}
			wg.Wait()
			close(stop)
			others.Wait()
			if t.Failed() {
				return
			}
			one.compact("t", table.CompactOptions{})
			var rows []string
			for _, m := range want {
				for _, v := range m {
					if v != "" {
						rows = append(rows, v)
					}
				}
			}
			one.expect("t", rows...)
			vectorsHaveFiles(t, one)
			if opts[0] == "deletion-vectors.enabled" {
				log := &replayed{l: one, name: "t", rows: map[string]string{}}
				log.follow()
				one.expect("t", log.texts()...)
			}
		})
	}
}

// TestStreamPostponed reads a stream of a postpone table: rows come when they are written, not when they are moved.
func TestStreamPostponed(t *testing.T) {
	l := newLake(t)
	l.create("t", "k INT NOT NULL; v INT", "k", "", "bucket", "-2", "postpone.batch-write-fixed-bucket", "false")
	l.insert("t", "1|10", "2|20")
	l.compact("t", table.CompactOptions{})
	l.insert("t", "2|21")
	f := l.stream("t")
	f.expect("+I 1|10", "+I 2|20", "+I 2|21")
	l.insert("t", "+U 1|11", "-D 2|21")
	f.expect("+U 1|11", "-D 2|21")
	l.compact("t", table.CompactOptions{})
	if _, err := l.tryInsert(context.Background(), "t", atOnce, "3|30"); err != nil {
		t.Fatal(err)
	}
	f.expect("+I 3|30")
	l.expect("t", "1|11", "3|30")
}

// TestCompactPostponedSelects compacts one partition of two; buckets cannot be chosen.
func TestCompactPostponedSelects(t *testing.T) {
	l := newLake(t)
	l.create("t", "k INT NOT NULL; p STRING NOT NULL; v STRING", "k,p", "p", "bucket", "-2", "postpone.batch-write-fixed-bucket", "false")
	l.insert("t", "1|a|x", "2|b|y", "1|a|z")
	res, err := l.open("t").Compact(context.Background(), table.CompactOptions{Partitions: partitionIs("a")})
	if err != nil || res.Before != 1 || res.After != 1 || res.Snapshot.CommitKind != "COMPACT" {
		t.Fatalf("%+v %v", res, err)
	}
	l.expect("t", "1|a|z")
	_, err = l.open("t").Compact(context.Background(), table.CompactOptions{Buckets: allBuckets})
	if !errs.Is(err, errs.Invalid) {
		t.Fatal(err)
	}
	l.compact("t", table.CompactOptions{})
	l.expect("t", "1|a|z", "2|b|y")
}
