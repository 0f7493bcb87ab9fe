package index

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/tributarydb/tributary/storage/column"
)

// TestFilterBits compares Filter with a look at every row.
func TestFilterBits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	low, high := roaring.New(), roaring.New()
	for range 20_000 {
		low.Add(r.Uint32N(200_000))
		low.Add(^uint32(0) - r.Uint32N(10_000))
		high.Add(r.Uint32N(10_000))
	}
	low.AddRange(50_000, 60_000)
	v := &Vector{keys: []uint32{0, 1}, parts: []*roaring.Bitmap{low, high}}
	for _, base := range []int64{0, 1, 49_000, 58_001, 190_000, 500_000, 1<<32 - 9_000, 1<<32 - 100, 1 << 32, 1<<32 + 9_990, 5 << 32} {
		for _, n := range []int{1, 63, 64, 65, 1000, column.MaxRows} {
			var sel []uint16
			for i := range n {
				if r.IntN(3) == 0 {
					sel = append(sel, uint16(i))
				}
			}
			for _, s := range [][]uint16{nil, sel, {}} {
				got, want := v.Filter(base, n, s, nil), v.filterSlow(base, n, s, nil)
				if got == nil { // all rows
					got = []uint16{}
					for i := range n {
						got = append(got, uint16(i))
					}
				}
				if !slices.Equal(got, want) {
					t.Fatalf("base %d, %d rows: %d left, want %d", base, n, len(got), len(want))
				}
			}
		}
	}
}
