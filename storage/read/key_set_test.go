package read

import (
	"math/rand"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
)

func TestKeySetAnyBetween(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	scalar := func(x int) column.Scalar { return column.IntScalar(column.KindInt32, int64(x)) }
	for range 2000 {
		a, b := column.NewBuilder(column.KindInt32), column.NewBuilder(column.KindInt32)
		listed := map[[2]int]bool{}
		for i := range 10 {
			for j := range 5 {
				if rnd.Intn(12) == 0 {
					a.AppendInt(int64(i))
					b.AppendInt(int64(j))
					listed[[2]int{i, j}] = true
				}
			}
		}
		s := NewKeySet([]*column.Vector{a.Finish(), b.Finish()})
		if s.Len() != len(listed) {
			t.Fatalf("%d of %d keys", s.Len(), len(listed))
		}
		lo, hi := rnd.Intn(50), rnd.Intn(50)
		want := false
		for k := range listed {
			n := 5*k[0] + k[1]
			want = want || lo <= n && n <= hi
		}
		got := s.AnyBetween([]column.Scalar{scalar(lo / 5), scalar(lo % 5)}, []column.Scalar{scalar(hi / 5), scalar(hi % 5)})
		if got != want {
			t.Fatalf("%v between %d and %d: %v", listed, lo, hi, got)
		}
	}
}
