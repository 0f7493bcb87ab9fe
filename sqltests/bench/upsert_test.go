package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestUpsertRows compares what the maker counts with what it writes, row by row, and makes sure that a round has no key twice.
func TestUpsertRows(t *testing.T) {
	m := newUpsertMaker(5, 300, 1000)
	var out bytes.Buffer
	if err := m.write(context.Background(), &out); err != nil {
		t.Fatal(err)
	}
	last, seen := map[int64][3]string{}, map[string]bool{}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for _, line := range lines {
		f := strings.Split(line, ",")
		if len(f) != 6 || seen[f[0]+"/"+f[1]] {
			t.Fatalf("%q", line)
		}
		seen[f[0]+"/"+f[1]] = true
		var id int64
		fmt.Sscan(f[1], &id)
		last[id] = [3]string{f[2], f[3], f[4] + "/" + f[5]}
	}
	if len(lines) != 5*300 || len(last) == len(lines) || len(last) < 300 {
		t.Errorf("%d lines, %d keys", len(lines), len(last))
	}
	var ids, quantity, cents, city, note int64
	for id, r := range last {
		var q, whole, part int64
		fmt.Sscan(r[0], &q)
		fmt.Sscanf(r[1], "%d.%d", &whole, &part)
		c, n, _ := strings.Cut(r[2], "/")
		ids, quantity, cents, city, note = ids+id, quantity+q, cents+100*whole+part, city+int64(len(c)), note+int64(len(n))
	}
	want := []string{fmt.Sprint(len(last)), fmt.Sprint(ids), fmt.Sprint(quantity), fmt.Sprintf("%d.%02d", cents/100, cents%100), fmt.Sprint(city), fmt.Sprint(note)}
	if got := m.totals(); !slices.Equal(got, want) {
		t.Errorf("totals %v, want %v", got, want)
	}
}

func TestAverage(t *testing.T) {
	points := []soakPoint{{0, 10}, {time.Second, 20}, {2 * time.Second, 60}}
	if a, b := average(points, 0, 2*time.Second), average(points, 2*time.Second, time.Minute); a != 15 || b != 60 {
		t.Error(a, b)
	}
	q := quantilesOf([]time.Duration{4, 1, 3, 2})
	if q.middle != 3 || q.high != 4 {
		t.Error(q)
	}
}
