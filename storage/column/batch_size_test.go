package column

import "testing"

func TestSize(t *testing.T) {
	text := &Vector{Kind: KindBytes, N: 2, Ref: []Ref{{0, 600}, {600, 400}}, Data: make([]byte, 1000)}
	coded := &Vector{Kind: KindBytes, N: 4, Codes: make([]uint32, 4), Dict: text}
	list := &Vector{Kind: KindList, N: 1, Offsets: []int32{0, 4}, Children: []*Vector{coded}, Valid: []uint64{1}}
	for _, x := range []struct {
		b    Batch
		want int64
	}{
		{Batch{N: 5}, 0},
		{Batch{N: 2, Cols: []*Vector{text}}, 1016},
		{Batch{N: 4, Cols: []*Vector{coded}, Sel: []uint16{0, 3}}, 1036},
		{Batch{N: 1, Cols: []*Vector{list, {Kind: KindInt128, N: 1, I128: make([]Int128, 1)}}}, 1064},
	} {
		if got := x.b.Size(); got != x.want {
			t.Errorf("%d bytes, want %d", got, x.want)
		}
	}
}
