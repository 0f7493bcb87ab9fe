package table_test

import (
	"context"
	"fmt"
	"math/rand"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tributarydb/tributary/storage/table"
)

// TestCompactExpires lets the clock run on while rows are written and compacted. What a full compaction keeps is known: of the
// records of each key those that were young enough when a compaction last read them, merged.
func TestCompactExpires(t *testing.T) {
	for _, c := range []struct {
		name string
		opts []string
	}{
		{"plain", []string{"write-only", "true"}},
		{"lookup", []string{"changelog-producer", "lookup"}},
		{"full", []string{"changelog-producer", "full-compaction"}},
		{"vectors", []string{"deletion-vectors.enabled", "true"}},
		{"vectors-lookup", []string{"deletion-vectors.enabled", "true", "changelog-producer", "lookup", "num-sorted-run.compaction-trigger", "3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLake(t)
			const start, expire = 1_700_000_000, 100
			now := int64(start)
			l.env.Writing.Clock = func() time.Time { return time.Unix(now, 0).UTC() }
			l.create("t", "k STRING NOT NULL; p INT NOT NULL; v INT; at INT", "k,p", "",
				append([]string{"bucket", "1", "record-level.expire-time", fmt.Sprintf("%d s", expire), "record-level.time-field", "at"}, c.opts...)...)
			rnd := rand.New(rand.NewSource(int64(len(c.name))))
			// last are the newest rows, by key.
			last := map[string]string{}
			young := func(row string) bool {
				at, err := strconv.ParseInt(row[strings.LastIndexByte(row, '|')+1:], 10, 64)
				return err != nil || at+expire >= now
			}
			for step := range 20 {
				now += int64(rnd.Intn(40))
				var rows []string
				for range 1 + rnd.Intn(15) {
					// The times of a key's rows ascend: an older row that is younger would come back.
					n := rnd.Intn(30)
					key, at := fmt.Sprintf("k%02d|1", n), strconv.FormatInt(now-int64(n), 10)
					if n%8 == 0 {
						at = "NULL"
					}
					row := fmt.Sprintf("%s|%d|%s", key, step, at)
					rows, last[key] = append(rows, row), row
				}
				l.insert("t", rows...)
				if step%3 == 2 {
					l.compact("t", table.CompactOptions{Full: true})
					var want []string
					for k, row := range last {
						if young(row) {
							want = append(want, row)
						} else {
							delete(last, k)
						}
					}
					got := l.rows("t")
					if strings.Join(got, "\n") != sorted(want) {
						t.Fatalf("step %d: after a compaction there is\n%s\nwant\n%s", step, strings.Join(got, "\n"), sorted(want))
					}
				} else {
					// Each key has one row, whatever has expired: a new row of a key replaces an old one that nobody may look up any more.
					seen := map[string]bool{}
					for _, row := range l.rows("t") {
						key := strings.Join(strings.SplitN(row, "|", 3)[:2], "|")
						if seen[key] {
							t.Fatalf("step %d: key %s is there twice", step, key)
						}
						seen[key] = true
						if row != last[key] && c.name == "plain" {
							t.Fatalf("step %d: %s, want %s", step, row, last[key])
						}
					}
				}
			}
		})
	}
}

// TestExpireSkipsReads shows expired rows until a compaction has dropped them.
func TestExpireSkipsReads(t *testing.T) {
	l := newLake(t)
	l.create("t", "k INT NOT NULL; at BIGINT", "k", "", "bucket", "1", "write-only", "true", "record-level.expire-time", "1 h", "record-level.time-field", "at")
	l.insert("t", "1|1000", "2|4102444800000", "3|1000000000001")
	l.expect("t", "1|1000", "2|4102444800000", "3|1000000000001")
	l.compact("t", table.CompactOptions{Full: true})
	l.expect("t", "2|4102444800000")
	res, err := l.open("t").Compact(context.Background(), table.CompactOptions{Full: true})
	if err != nil || res.Snapshot != nil {
		t.Fatalf("%+v %v", res, err)
	}
}
