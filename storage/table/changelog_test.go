package table_test

import (
	"context"
	"fmt"
	"math/rand"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/lsm"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/table"
)

// replayed is a table's state as its changelog tells it.
type replayed struct {
	l    *lake
	name string
	last int64
	rows map[string]string
	// kinds counts the changes by row kind.
	kinds [4]int
	// lenient takes changes of rows that an OVERWRITE has put there or removed.
	lenient bool
}

// follow applies the changes since the last call. A change that does not fit the state fails the test: a +I of
// a key that is there, a -U or -D of a row that is not.
func (r *replayed) follow() {
	r.l.t.Helper()
	ctx := context.Background()
	snap, err := r.l.open(r.name).Snapshots().Latest(ctx)
	if err != nil {
		r.l.t.Fatal(err)
	}
	if snap == nil || snap.ID == r.last {
		return
	}
	tb, err := table.Open(ctx, r.l.env, "default", r.name, table.OpenOptions{Dynamic: map[string]string{
		"incremental-between": fmt.Sprintf("%d,%d", r.last, snap.ID), "incremental-between-scan-mode": "changelog",
	}})
	if err != nil {
		r.l.t.Fatal(err)
	}
	r.last = snap.ID
	req := relation.Request{}
	for i := range tb.Fields() {
		req.Columns = append(req.Columns, i)
	}
	plan, err := tb.PlanView(ctx, req, table.View{Kind: true})
	if err != nil {
		r.l.t.Fatal(err)
	}
	for _, m := range plan.Morsels {
		err := eachBatch(ctx, m, func(b *column.Batch) error {
			n := len(tb.Fields())
			rows, err := printRows(tb.Fields(), &column.Batch{N: b.N, Sel: b.Sel, Cols: b.Cols[:n]})
			if err != nil {
				return err
			}
			for k, row := range rows {
				if err := r.apply(int32(b.Cols[n].Int(b.Row(k))), row); err != nil {
					return fmt.Errorf("snapshot %d: %w", snap.ID, err)
				}
			}
			return nil
		})
		if err != nil {
			r.l.t.Fatal(err)
		}
	}
}

func (r *replayed) apply(kind int32, row string) error {
	r.kinds[kind]++
	cells := strings.SplitN(row, "|", 3)
	key := cells[0] + "|" + cells[1]
	old, had := r.rows[key]
	switch kind {
	case lsm.Insert:
		if had && !(r.lenient && strings.HasPrefix(row, "over-")) {
			return fmt.Errorf("+I %s over %s", row, old)
		}
		r.rows[key] = row
	case lsm.UpdateAfter:
		if had {
			return fmt.Errorf("+U %s over %s without -U", row, old)
		}
		r.rows[key] = row
	default:
		if old != row && !(r.lenient && strings.HasPrefix(row, "over-")) {
			return fmt.Errorf("a retract of %s, but the row is %q", row, old)
		}
		delete(r.rows, key)
	}
	return nil
}

func (r *replayed) texts() []string {
	out := []string{}
	for _, row := range r.rows {
		out = append(out, row)
	}
	return out
}

func sorted(rows []string) string {
	sort.Strings(rows)
	return strings.Join(rows, "\n")
}

// raceThin is the share of combinations that run under the race detector.
const raceThin = 5

// TestChangelogReplay writes random rows to tables of all kinds that make changelogs: after every
// statement the table is what the model says, and what its changelog tells.
func TestChangelogReplay(t *testing.T) {
	modes := []struct {
		name string
		opts []string
	}{
		{"one", []string{"bucket", "1"}},
		{"small-files", []string{"bucket", "2", "target-file-row-num", "17", "target-file-size", "4 kb"}},
		{"avro-zero", []string{"bucket", "1", "file.format.per.level", "0:avro", "num-sorted-run.compaction-trigger", "3"}},
		{"dynamic", []string{"dynamic-bucket.target-row-num", "40"}},
		{"big-runs", []string{"bucket", "1", "compaction.size-ratio", "0", "compaction.max-size-amplification-percent", "100000", "target-file-size", "1 kb"}},
	}
	combination := 0
	for _, engine := range []string{"deduplicate", "sequence", "partial-update", "aggregation", "first-row"} {
		for _, producer := range []string{"none", "lookup", "full-compaction"} {
			for _, vectors := range []string{"false", "true"} {
				if vectors == "true" && (producer == "full-compaction" || engine == "first-row") || producer == "full-compaction" && engine == "first-row" {
					continue // not allowed
				}
				combination++
				if underRace && combination%raceThin != 0 {
					continue
				}
				for i, mode := range modes {
					if (combination+i)%2 == 0 && mode.name != "big-runs" {
						continue // every other one, to save time: each mode meets all the rest in some combination
					}
					t.Run(strings.Join([]string{engine, producer, vectors, mode.name}, "/"), func(t *testing.T) {
						t.Parallel()
						l := newLake(t)
						merge := engine
						if engine == "sequence" {
							merge = "deduplicate"
						}
						opts := append([]string{"merge-engine", merge, "changelog-producer", producer, "deletion-vectors.enabled", vectors}, mode.opts...)
						if engine == "sequence" {
							opts = append(opts, "sequence.field", "q")
						}
						if engine == "aggregation" {
							opts = append(opts, "fields.a.aggregate-function", "sum", "fields.q.aggregate-function", "last_value")
						}
						l.create("t", "k STRING NOT NULL; p INT NOT NULL; a INT; b STRING; q INT", "k,p", "p", opts...)
						rnd := rand.New(rand.NewSource(int64(len(mode.name) + len(engine))))
						m := &model{engine: merge, sequence: engine == "sequence", rows: map[string]*modelRow{}, last: map[string]int{}}
						log := &replayed{l: l, name: "t", rows: map[string]string{}}
						vectorsSeen, levelsSeen := false, map[string]bool{}
						for step := range 12 {
							if step > 0 && rnd.Intn(6) == 0 {
								l.compact("t", table.CompactOptions{Full: rnd.Intn(2) == 0})
							} else {
								var rows []string
								for range []int{1, 25, 200}[rnd.Intn(3)] {
									r := randomRow(rnd, "key-%03d", 2, engine == "deduplicate")
									rows = append(rows, r.kind+" "+r.text())
									m.apply(r)
								}
								if _, err := l.tryInsert(context.Background(), "t", relation.SinkOptions{}, rows...); err != nil {
									t.Fatal(err)
								}
							}
							l.expect("t", m.texts()...)
							if producer != "none" {
								log.follow()
								l.expect("t", log.texts()...)
							}
							for _, f := range liveFiles(t, l.open("t")) {
								vectorsSeen = vectorsSeen || f.Vector != nil
								levelsSeen[strconv.Itoa(f.Meta.Level)] = true
							}
						}
						// The test is worth something only if it has seen what it is about.
						if producer != "none" && (log.kinds[lsm.Insert] == 0 || engine != "first-row" && (log.kinds[lsm.UpdateBefore] == 0 || log.kinds[lsm.UpdateAfter] == 0) || engine == "deduplicate" && log.kinds[lsm.Delete] == 0) {
							t.Errorf("changes by kind: %v", log.kinds)
						}
						if vectors == "true" && mode.name == "big-runs" && !vectorsSeen {
							t.Error("there never was a deletion vector")
						}
						if len(levelsSeen) == 1 && mode.name == "big-runs" && producer != "full-compaction" {
							t.Errorf("all files ever were of one level: %v", levelsSeen)
						}
					})
				}
			}
		}
	}
}
