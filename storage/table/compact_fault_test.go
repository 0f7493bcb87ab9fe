package table_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tributarydb/tributary/storage/compact"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/maintain"
	"github.com/tributarydb/tributary/storage/table"
)

const (
	// faultTail is the number of the last file operations, the commit among them, of which each one fails; of those
	// before one in faultThin does.
	faultTail, faultThin = 60, 4
	// faultRaceThin is of how many of these faults the race detector sees one.
	faultRaceThin = 7
)

// TestCompactFaults lets the file operations of compacting an append table with deleted rows fail, before or after it took
// effect, or ends the process there: the rows stay, no vector loses its file, the compaction can be repeated, and the
// cleaning of orphan files leaves what is used and nothing else.
func TestCompactFaults(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name string
		opts []string
		o    table.CompactOptions
	}{
		{"full", nil, table.CompactOptions{Full: true}},
		{"minor", nil, table.CompactOptions{}},
		{"bucket", []string{"bucket", "1", "bucket-key", "k"}, table.CompactOptions{Full: true}},
		{"index files", []string{"deletion-vector.index-file.target-size", "60 b"}, table.CompactOptions{Full: true}},
		{"tracked", []string{"row-tracking.enabled", "true"}, table.CompactOptions{Full: true}},
		{"order", nil, table.CompactOptions{Sort: &compact.Sort{Strategy: compact.SortOrder, Columns: []string{"v"}}}},
		{"zorder", nil, table.CompactOptions{Sort: &compact.Sort{Strategy: compact.SortZOrder, Columns: []string{"v", "k"}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			start := fileio.NewMemory()
			l := openLake(t, start, start)
			l.create("t", "k INT; v STRING; p INT", "", "p", append([]string{"deletion-vectors.enabled", "true", "write-only", "true",
				"compaction.min.file-num", "2", "commit.min-retry-wait", "1 ms", "commit.max-retry-wait", "1 ms"}, c.opts...)...)
			for i := range 5 {
				var rows []string
				for k := range 12 {
					rows = append(rows, fmt.Sprintf("%d|v%d|%d", 12*i+k, (7*k)%12, k%2))
				}
				l.insert("t", rows...)
			}
			gone := map[string][]int64{}
			for i, f := range l.live("t") {
				if i%3 != 0 {
					gone[f.Meta.Name] = []int64{0, 2, 4}
				}
			}
			if err := l.erase("t", false, gone); err != nil {
				t.Fatal(err)
			}
			want := l.rows("t")
			mem := start.Clone()
			faulty := fileio.NewFaulty(mem)
			clean := openLake(t, mem, faulty)
			before := faulty.Count(fileio.AnyOp)
			if err := compactWith(ctx, clean, c.o); err != nil {
				t.Fatal(err)
			}
			count, runs, failed := faulty.Count(fileio.AnyOp)-before, 0, 0
			for i, mode := range []string{"before", "after", "crash"} {
				for nth := 1; nth <= count; nth++ {
					if nth <= count-faultTail && nth%faultThin != i || underRace && (nth+i)%faultRaceThin != 0 {
						continue
					}
					mem := start.Clone()
					faulty := fileio.NewFaulty(mem)
					f := openLake(t, mem, faulty)
					faulty.Inject(fileio.Fault{Nth: nth, After: mode == "after", Crash: mode == "crash"})
					err := compactWith(ctx, f, c.o)
					if runs++; err != nil {
						failed++
					}
					what := fmt.Sprintf("%s operation %d of %d: %v", mode, nth, count, err)
					if mode == "crash" {
						mem.Crash()
					}
					look := openLake(t, mem, mem)
					if got := look.rows("t"); !slices.Equal(got, want) {
						t.Fatalf("%s: %v, want %v", what, got, want)
					}
					vectorsHaveFiles(t, look)
					if err := compactWith(ctx, look, c.o); err != nil {
						t.Fatalf("%s; repeated: %v", what, err)
					}
					later := time.Now().Add(2 * time.Hour)
					limit := later.Add(-time.Hour)
					m := maintain.New(maintain.Target{FIO: mem, Dir: "/lake/default.db/t", Label: "default.t", Clock: func() time.Time { return later }})
					strays, cleanErr := m.RemoveOrphanFiles(ctx, maintain.OrphanOptions{OlderThan: &limit})
					if cleanErr != nil || mode != "crash" && !errs.Is(err, errs.Uncertain) && len(strays.Paths) > 0 {
						t.Fatalf("%s: %v were left, %v", what, strays.Paths, cleanErr)
					}
					look.expect("t", slices.Clone(want)...)
					vectorsHaveFiles(t, look)
				}
			}
			if failed < runs/3 {
				t.Errorf("%d of %d runs failed", failed, runs)
			}
			t.Logf("%d runs, %d failed", runs, failed)
		})
	}
}

func compactWith(ctx context.Context, l *lake, o table.CompactOptions) error {
	tb, err := table.Open(ctx, l.env, "default", "t", table.OpenOptions{})
	if err != nil {
		return err
	}
	_, err = tb.Compact(ctx, o)
	return err
}
