package types

import (
	"math"
	"testing"
)

func TestCompareDoubles(t *testing.T) {
	ascending := []float64{math.Inf(-1), -1, 0, 1, math.Inf(1), math.NaN()}
	for i, a := range ascending {
		for j, b := range ascending {
			want := 0
			if i != j {
				want = 1
				if i < j {
					want = -1
				}
			}
			if got := CompareDoubles(a, b); got != want {
				t.Errorf("%v, %v: %d, want %d", a, b, got, want)
			}
		}
	}
	if CompareDoubles(math.Copysign(0, -1), 0) != 0 {
		t.Error("-0 is not 0")
	}
}
