package table_test

import (
	"context"
	"fmt"
	"math/rand"
	"strconv"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/relation"
)

// modelRow is a row of the model's table (k, p, a, b, q); "" = NULL.
type modelRow struct {
	kind       string
	k, p, a, b string
	q          int
}

func (r modelRow) text() string {
	null := func(s string) string {
		if s == "" {
			return "NULL"
		}
		return s
	}
	return fmt.Sprintf("%s|%s|%s|%s|%d", r.k, r.p, null(r.a), null(r.b), r.q)
}

// randomRow makes a row of one of 150 keys, named by format, in one of some partitions; with deletes, one in four is a -D.
func randomRow(rnd *rand.Rand, format string, partitions int, deletes bool) modelRow {
	r := modelRow{kind: "+I", k: fmt.Sprintf(format, rnd.Intn(150)), p: strconv.Itoa(rnd.Intn(partitions)), q: rnd.Intn(1000)}
	if rnd.Intn(3) > 0 {
		r.a = strconv.Itoa(rnd.Intn(50))
	}
	if rnd.Intn(3) > 0 {
		r.b = strings.Repeat("b", rnd.Intn(40)+1)
	}
	if deletes && rnd.Intn(4) == 0 {
		r.kind = "-D"
	}
	return r
}

// model is what a table must hold: by key, as its engine merges.
type model struct {
	engine   string
	sequence bool
	cross    bool
	rows     map[string]*modelRow
	// last is the greatest q that a key has seen, deletes included.
	last map[string]int
}

func (m *model) apply(r modelRow) {
	key := r.k + "/" + r.p
	if m.cross {
		key = r.k
	}
	old := m.rows[key]
	if m.sequence {
		if q, seen := m.last[key]; seen && r.q < q {
			return
		}
		m.last[key] = r.q
	}
	retract := r.kind == "-D" || r.kind == "-U"
	switch m.engine {
	case "deduplicate":
		if retract {
			delete(m.rows, key)
			return
		}
		m.rows[key] = &r
	case "partial-update":
		if old == nil {
			m.rows[key] = &r
			return
		}
		merged := r
		if m.cross {
			merged.p = old.p
		}
		if merged.a == "" {
			merged.a = old.a
		}
		if merged.b == "" {
			merged.b = old.b
		}
		m.rows[key] = &merged
	case "first-row":
		if old == nil {
			m.rows[key] = &r
		}
	case "aggregation": // a: sum, b: last_non_null_value
		if old == nil {
			m.rows[key] = &r
			return
		}
		merged := r
		if m.cross {
			merged.p = old.p
		}
		x, _ := strconv.Atoi(old.a)
		y, _ := strconv.Atoi(r.a)
		if old.a == "" && r.a == "" {
			merged.a = ""
		} else {
			merged.a = strconv.Itoa(x + y)
		}
		if merged.b == "" {
			merged.b = old.b
		}
		m.rows[key] = &merged
	}
}

func (m *model) texts() []string {
	var out []string
	for _, r := range m.rows {
		out = append(out, r.text())
	}
	return out
}

// TestWriteModel writes random rows in several statements and compares the table with a map.
func TestWriteModel(t *testing.T) {
	modes := []struct {
		name, pk string
		opts     []string
	}{
		{"one-bucket", "k,p", []string{"bucket", "1"}},
		{"three-buckets", "k,p", []string{"bucket", "3", "data-file.thin-mode", "true"}},
		{"string-bucket", "k,p", []string{"bucket", "4", "changelog-producer", "input"}},
		{"spill", "k,p", []string{"bucket", "2", "write-buffer-size", "64 kb", "changelog-producer", "input"}},
		{"dynamic", "k,p", []string{"dynamic-bucket.target-row-num", "20"}},
		{"dynamic-max", "k,p", []string{"dynamic-bucket.target-row-num", "5", "dynamic-bucket.max-buckets", "3", "write-buffer-size", "64 kb"}},
		{"postpone", "k,p", []string{"bucket", "-2", "postpone.default-bucket-num", "2"}},
		{"rolling", "k,p", []string{"bucket", "2", "target-file-row-num", "7"}},
		{"cross", "k", nil},
		{"cross-spill", "k", []string{"write-buffer-size", "64 kb"}},
	}
	for _, engine := range []string{"deduplicate", "partial-update", "aggregation"} {
		for _, sequence := range []bool{false, true} {
			for _, mode := range modes {
				if sequence && (mode.pk == "k" || engine != "deduplicate") {
					continue // not allowed, or another meaning than this model's
				}
				if underRace && mode.name != "spill" && mode.name != "dynamic" && mode.name != "cross" {
					continue
				}
				t.Run(fmt.Sprintf("%s/%v/%s", engine, sequence, mode.name), func(t *testing.T) {
					t.Parallel()
					l := newLake(t)
					opts := append([]string{"merge-engine", engine}, mode.opts...)
					if sequence {
						// A compaction drops deletes, and with them how new they were.
						opts = append(opts, "sequence.field", "q", "write-only", "true")
					}
					if engine == "aggregation" {
						opts = append(opts, "fields.a.aggregate-function", "sum", "fields.q.aggregate-function", "last_value")
					}
					l.create("t", "k STRING NOT NULL; p INT NOT NULL; a INT; b STRING; q INT", mode.pk, "p", opts...)
					rnd := rand.New(rand.NewSource(int64(len(mode.name))))
					m := &model{engine: engine, sequence: sequence, cross: mode.pk == "k", rows: map[string]*modelRow{}, last: map[string]int{}}
					last := int64(0)
					for commit := range 6 {
						n := []int{1, 30, 3000, 5, 700, 9000}[commit]
						var rows []string
						for range n {
							r := randomRow(rnd, "key-%d", 3, engine == "deduplicate")
							rows = append(rows, r.kind+" "+r.text())
							m.apply(r)
						}
						c, err := l.tryInsert(context.Background(), "t", relation.SinkOptions{}, rows...)
						if err != nil {
							t.Fatal(err)
						}
						// Compactions make snapshots of their own.
						if c.Rows != int64(n) || c.Snapshot <= last || c.Snapshot > last+2 {
							t.Fatalf("%+v after snapshot %d and %d rows", c, last, n)
						}
						last = c.Snapshot
						l.expect("t", m.texts()...)
					}
				})
			}
		}
	}
}
