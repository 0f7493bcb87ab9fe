package index

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tributarydb/tributary/storage/errs"
)

// TestPositions collects positions in any order, some of them twice.
func TestPositions(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var p Positions
	want := map[int64]bool{}
	for range 50_000 {
		pos := r.Int64N(200_000)
		switch r.IntN(10) {
		case 0:
			pos += 1<<32 - 100_000
		case 1:
			pos = maxPosition64 - r.Int64N(10)
		}
		want[pos] = true
		for range 1 + r.IntN(2) {
			if err := p.Add(pos); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, bad := range []int64{-1, maxPosition64 + 1} {
		if err := p.Add(bad); !errs.Is(err, errs.Invalid) {
			t.Errorf("%d: %v", bad, err)
		}
	}
	if n := p.Bytes(); n < int64(len(want))/8 || n > 8*int64(len(want)) {
		t.Errorf("%d bytes for %d positions", n, len(want))
	}
	v := p.Vector()
	var got, all []int64
	v.Each(func(pos int64) bool { got = append(got, pos); return true })
	for pos := range want {
		all = append(all, pos)
	}
	slices.Sort(all)
	if !slices.Equal(got, all) {
		t.Fatalf("%d positions, want %d", len(got), len(all))
	}
	same, err := VectorOf(true, all...)
	if err != nil || !v.Equal(same) || !same.Equal(v) {
		t.Errorf("equal vectors differ (%v)", err)
	}
	fewer, _ := VectorOf(true, all[1:]...)
	other, _ := VectorOf(true, append(slices.Clone(all[1:]), 1<<33+5)...)
	if v.Equal(fewer) || fewer.Equal(v) || v.Equal(other) || other.Equal(v) || v.Equal(nil) {
		t.Error("different vectors are equal")
	}
	var none *Vector
	empty, _ := VectorOf(true)
	if !none.Equal(nil) || !none.Equal(empty) || !empty.Equal(NewVector()) || none.Equal(NewVector(1)) {
		t.Error("empty vectors")
	}
	long, short := NewVector(), NewVector()
	for i := range uint32(20_000) {
		long.parts[0].Add(i)
	}
	short.parts[0].AddRange(0, 20_000)
	short.parts[0].RunOptimize()
	if !long.Equal(short) || !short.Equal(long) {
		t.Error("vectors of other containers differ")
	}
}
