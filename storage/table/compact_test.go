package table_test

import (
	"context"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/table"
)

func (l *lake) compact(name string, o table.CompactOptions) {
	l.t.Helper()
	if _, err := l.open(name).Compact(context.Background(), o); err != nil {
		l.t.Fatal(err)
	}
}

// levels prints the levels of the live files and how many there are, e.g. `0:2 5:1`.
func (l *lake) levels(name string) string {
	l.t.Helper()
	tb := l.open(name)
	snap, err := tb.Snapshots().Latest(context.Background())
	if err != nil {
		l.t.Fatal(err)
	}
	files, _, err := tb.Source().LiveFiles(context.Background(), snap, scan.Request{})
	if err != nil {
		l.t.Fatal(err)
	}
	n := map[int]int{}
	for _, f := range files {
		n[f.Meta.Level]++
	}
	var out []string
	for level := range 10 {
		if n[level] > 0 {
			out = append(out, fmt.Sprintf("%d:%d", level, n[level]))
		}
	}
	return strings.Join(out, " ")
}

// TestCompactKeepsRows writes and compacts in random order, and compares the table with a map.
func TestCompactKeepsRows(t *testing.T) {
	modes := []struct {
		name string
		opts []string
	}{
		{"plain", []string{"bucket", "1"}},
		{"rolling", []string{"bucket", "2", "target-file-row-num", "17", "target-file-size", "4 kb"}},
		{"thin-avro", []string{"bucket", "2", "data-file.thin-mode", "true", "file.format.per.level", "0:avro"}},
		{"dynamic", []string{"dynamic-bucket.target-row-num", "20"}},
		{"trigger", []string{"bucket", "1", "num-sorted-run.compaction-trigger", "2"}},
	}
	for _, engine := range []string{"deduplicate", "partial-update", "aggregation"} {
		for _, sequence := range []bool{false, true} {
			for _, mode := range modes {
				if sequence && engine != "deduplicate" {
					continue // another meaning than this model's
				}
				if underRace && mode.name != "rolling" {
					continue
				}
				t.Run(fmt.Sprintf("%s/%v/%s", engine, sequence, mode.name), func(t *testing.T) {
					t.Parallel()
					l := newLake(t)
					opts := append([]string{"merge-engine", engine, "write-only", "true"}, mode.opts...)
					if sequence {
						opts = append(opts, "sequence.field", "q")
					}
					if engine == "aggregation" {
						opts = append(opts, "fields.a.aggregate-function", "sum", "fields.q.aggregate-function", "last_value")
					}
					l.create("t", "k STRING NOT NULL; p INT NOT NULL; a INT; b STRING; q INT", "k,p", "p", opts...)
					rnd := rand.New(rand.NewSource(int64(len(mode.name))))
					m := &model{engine: engine, sequence: sequence, rows: map[string]*modelRow{}, last: map[string]int{}}
					for range 14 {
						switch rnd.Intn(4) {
						case 0:
							l.compact("t", table.CompactOptions{Full: true})
						case 1:
							l.compact("t", table.CompactOptions{})
						default:
							var rows []string
							for range []int{1, 40, 300}[rnd.Intn(3)] {
								r := randomRow(rnd, "key-%d", 2, engine == "deduplicate" && !sequence)
								rows = append(rows, r.kind+" "+r.text())
								m.apply(r)
							}
							if _, err := l.tryInsert(context.Background(), "t", relation.SinkOptions{}, rows...); err != nil {
								t.Fatal(err)
							}
						}
						l.expect("t", m.texts()...)
					}
					l.compact("t", table.CompactOptions{Full: true})
					l.expect("t", m.texts()...)
					if got := l.levels("t"); strings.Contains(got, " ") || !strings.HasPrefix(got, "5:") && !strings.HasPrefix(got, "2:") {
						t.Errorf("levels after a full compaction: %s", got)
					}
				})
			}
		}
	}
}

// TestCompactSelects compacts one partition, then one bucket.
func TestCompactSelects(t *testing.T) {
	l := newLake(t)
	l.create("t", "k INT NOT NULL; p STRING NOT NULL; v STRING", "k,p", "p", "bucket", "1", "write-only", "true")
	for i := range 3 {
		l.insert("t", fmt.Sprintf("1|a|x%d", i), fmt.Sprintf("2|b|y%d", i))
	}
	tb := l.open("t")
	before, err := tb.Snapshots().Latest(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	res, err := tb.Compact(context.Background(), table.CompactOptions{Full: true, Partitions: nil})
	if err != nil || res.Before != 6 || res.After != 2 || res.Snapshot.ID != before.ID+1 || res.Snapshot.CommitKind != "COMPACT" {
		t.Fatalf("%+v, %v", res, err)
	}
	if *res.Snapshot.DeltaRecordCount != -4 || *res.Snapshot.TotalRecordCount != 2 {
		t.Errorf("records: delta %d, total %d", *res.Snapshot.DeltaRecordCount, *res.Snapshot.TotalRecordCount)
	}
	if res, err = l.open("t").Compact(context.Background(), table.CompactOptions{Full: true}); err != nil || res.Snapshot != nil {
		t.Fatalf("compacted twice: %+v, %v", res, err)
	}
	l.expect("t", "1|a|x2", "2|b|y2")
}
