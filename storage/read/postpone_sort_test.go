package read

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/lsm"
)

// TestSortedRuns: the n-th row of a key goes to the n-th run, ascending by key.
func TestSortedRuns(t *testing.T) {
	keys := []int64{3, 1, 3, 2, 1, 3}
	col := &column.Vector{Kind: column.KindInt64, N: len(keys), I64: keys}
	seq := &column.Vector{Kind: column.KindInt64, N: len(keys), I64: make([]int64, len(keys))}
	runs, err := sortedRuns(t.Context(), []*column.Vector{col, seq}, lsm.Layout{Keys: []int{0}, Seq: 1}, 100)
	if err != nil {
		t.Fatal(err)
	}
	want := [][][2]int64{{{1, 101}, {2, 103}, {3, 100}}, {{1, 104}, {3, 102}}, {{3, 105}}}
	if len(runs) != len(want) {
		t.Fatalf("%d runs, want %d", len(runs), len(want))
	}
	for i, r := range runs {
		b, err := r.Next(t.Context())
		if err != nil || b.N != len(want[i]) {
			t.Fatalf("run %d: %v, %v", i, b, err)
		}
		for k, w := range want[i] {
			if got := [2]int64{b.Cols[0].Int(k), b.Cols[1].Int(k)}; got != w {
				t.Errorf("run %d, row %d: key and sequence number %v, want %v", i, k, got, w)
			}
		}
		if _, err := r.Next(t.Context()); err != io.EOF {
			t.Errorf("run %d: %v at its end", i, err)
		}
	}
}

// TestSortedRunsStop: a long sort ends with its context.
func TestSortedRunsStop(t *testing.T) {
	const n = 3_000_000
	col := &column.Vector{Kind: column.KindInt64, N: n, I64: make([]int64, n)}
	for i := range col.I64 {
		col.I64[i] = int64(i) * 2654435761 % n
	}
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan time.Time, 1)
	time.AfterFunc(20*time.Millisecond, func() { stopped <- time.Now(); cancel() })
	_, err := sortedRuns(ctx, []*column.Vector{col}, lsm.Layout{Keys: []int{0}, Seq: -1}, 0)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	if took := time.Since(<-stopped); took > time.Second {
		t.Errorf("the sort went on for %v", took)
	} else {
		t.Logf("the sort went on for %v", took)
	}
}

// TestSortRows compares the sort with the one of the library.
func TestSortRows(t *testing.T) {
	for _, n := range []int{0, 1, sortStep, sortStep + 1, 5*sortStep + 123} {
		vals, want := make([]int, n), make([]int, n)
		for i := range vals {
			vals[i], want[i] = rand.IntN(n/3+1), i
		}
		compare := func(a, b int) int { return cmp.Compare(vals[a], vals[b]) }
		slices.SortStableFunc(want, compare)
		got, err := sortRows(t.Context(), n, compare)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%d rows are in the wrong order (%v)", n, err)
		}
	}
}
