package table_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/relation"
)

// intruding is a file system on which another process commits right before a snapshot is published.
type intruding struct {
	fileio.FileIO
	before func()
}

func (i *intruding) PutIfAbsent(ctx context.Context, p string, data []byte) (bool, error) {
	if f := i.before; f != nil && strings.Contains(p, "/snapshot/snapshot-") {
		i.before = nil
		f()
	}
	return i.FileIO.PutIfAbsent(ctx, p, data)
}

// TestLastCommitWins lets another process commit rows of the same keys between the writing of a
// statement's files and its commit: whoever commits last wins, in small statements and in large ones.
func TestLastCommitWins(t *testing.T) {
	ctx := context.Background()
	large := []string{"1|mine|1"}
	for k := range 5000 {
		large = append(large, fmt.Sprintf("%d|many|1", k+10))
	}
	for _, c := range []struct {
		name, pk string
		opts     []string
		rows     []string
	}{
		{"fixed", "k,p", []string{"bucket", "2"}, []string{"1|mine|1"}},
		{"changelog", "k,p", []string{"bucket", "1", "changelog-producer", "input"}, []string{"1|mine|1"}},
		{"dynamic", "k,p", nil, []string{"1|mine|1"}},
		{"cross", "k", nil, []string{"1|mine|1"}},
		{"aggregation", "k,p", []string{"bucket", "1", "merge-engine", "aggregation", "fields.v.aggregate-function", "last_value"}, []string{"1|mine|1"}},
		{"large", "k,p", []string{"bucket", "2"}, large},
		{"spilled", "k,p", []string{"bucket", "1", "write-buffer-size", "64 kb", "changelog-producer", "input"}, large},
		{"postpone", "k,p", []string{"bucket", "-2"}, []string{"1|mine|1"}},
		{"sequence field", "k,p", []string{"bucket", "1", "sequence.field", "p"}, []string{"1|mine|1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			mem := fileio.NewMemory()
			x := &intruding{FileIO: mem}
			l, other := openLake(t, mem, x), openLake(t, mem, fileio.NewFaulty(mem))
			l.create("t", "k INT NOT NULL; v STRING; p INT NOT NULL", c.pk, "p", append([]string{"commit.min-retry-wait", "1 ms", "commit.max-retry-wait", "1 ms"}, c.opts...)...)
			l.insert("t", "1|old|1", "2|old|1", "3|old|2")
			intrusions := 0
			x.before = func() {
				// More than one row of a key: their numbers go beyond those of the statement.
				for range 3 {
					intrusions++
					other.insert("t", fmt.Sprintf("1|theirs%d|1", intrusions), fmt.Sprintf("2|theirs%d|1", intrusions))
				}
			}
			got, err := l.tryInsert(ctx, "t", relation.SinkOptions{}, c.rows...)
			if err != nil || intrusions == 0 || got.Snapshot != int64(intrusions)+2 {
				t.Fatalf("%+v after %d intrusions, %v", got, intrusions, err)
			}
			var one []string
			for _, r := range other.rows("t") {
				if strings.HasPrefix(r, "1|") || strings.HasPrefix(r, "2|") || strings.HasPrefix(r, "3|") {
					one = append(one, r)
				}
			}
			if c.name == "postpone" {
				return // the order of postponed rows is that of their files' times
			}
			if want := "1|mine|1 2|theirs3|1 3|old|2"; strings.Join(one, " ") != want {
				t.Errorf("%v, want %s", one, want)
			}
			if n := len(other.rows("t")); n != len(c.rows)+2 {
				t.Errorf("%d rows, want %d", n, len(c.rows)+2)
			}
		})
	}
}
