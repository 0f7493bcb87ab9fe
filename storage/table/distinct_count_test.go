package table

import (
	"math"
	"testing"
)

func TestDistinctCounter(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 63, 1000, exactDistinct, exactDistinct + 1, 300_000} {
		var all, left, right distinctCounter
		for i := range n {
			h := mix(uint64(i))
			all.add(h)
			all.add(h)
			if i%3 == 0 {
				left.add(h)
			}
			if i%2 == 0 || i%3 != 0 { // the halves overlap
				right.add(h)
			}
		}
		left.merge(&right)
		for name, got := range map[string]int64{"alone": all.count(), "merged": left.count()} {
			if n <= exactDistinct && got != int64(n) || math.Abs(float64(got)-float64(n)) > 0.02*float64(n) {
				t.Errorf("%d values, %s: %d", n, name, got)
			}
		}
		if all.count() != left.count() {
			t.Errorf("%d values: %d alone, %d merged", n, all.count(), left.count())
		}
	}
}
