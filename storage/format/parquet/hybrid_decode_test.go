package parquet

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
)

// encodeHybrid writes values of width bits in random runs.
func encodeHybrid(r *rand.Rand, vals []uint32, width uint) []byte {
	var out []byte
	for len(vals) > 0 {
		if r.IntN(2) == 0 {
			n := 1
			for n < len(vals) && vals[n] == vals[0] {
				n++
			}
			out = binary.AppendUvarint(out, uint64(n)<<1)
			for i := uint(0); i < width; i += 8 {
				out = append(out, byte(vals[0]>>i))
			}
			vals = vals[n:]
			continue
		}
		groups := 1 + r.IntN(60)
		if groups*8 > len(vals) {
			groups = (len(vals) + 7) / 8
		}
		out = binary.AppendUvarint(out, uint64(groups)<<1|1)
		packed := make([]byte, groups*int(width))
		for i := range min(groups*8, len(vals)) {
			for b := range width {
				if vals[i]>>b&1 != 0 {
					at := i*int(width) + int(b)
					packed[at/8] |= 1 << (at % 8)
				}
			}
		}
		out = append(out, packed...)
		vals = vals[min(groups*8, len(vals)):]
	}
	return out
}

func TestHybridInPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for round := range 3000 {
		width := uint(r.IntN(33))
		n := 1 + r.IntN(3000)
		vals := make([]uint32, n)
		for i := range vals {
			if i > 0 && r.IntN(3) > 0 {
				vals[i] = vals[i-1]
			} else {
				vals[i] = uint32(r.Uint64() & (1<<width - 1))
			}
		}
		src := encodeHybrid(r, vals, width)
		if round%2 == 0 {
			src = append(make([]byte, 0, len(src)+pagePadding), src...)
		} else {
			src = slices.Clip(src)
		}
		var h hybrid
		h.reset(src, width)
		for at := 0; at < n; {
			k := min(1+r.IntN(500), n-at)
			switch {
			case r.IntN(4) == 0:
				if err := h.skip(k); err != nil {
					t.Fatal(err)
				}
			case width == 1 && r.IntN(2) == 0:
				bits := make([]uint64, (k+63)/64)
				ones, err := h.decodeBits(bits, k)
				if err != nil {
					t.Fatal(err)
				}
				want := 0
				for i := range k {
					want += int(vals[at+i])
					if bits[i/64]>>(i%64)&1 != uint64(vals[at+i]) {
						t.Fatalf("bit %d is wrong", at+i)
					}
				}
				if ones != want {
					t.Fatalf("%d ones, want %d", ones, want)
				}
			case width == 1 && r.IntN(2) == 0:
				ones, err := h.countOnes(k)
				want := 0
				for _, v := range vals[at : at+k] {
					want += int(v)
				}
				if err != nil || ones != want {
					t.Fatalf("%d ones, want %d: %v", ones, want, err)
				}
			default:
				got := make([]uint32, k)
				if err := h.decode(got); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, vals[at:at+k]) {
					t.Fatalf("width %d, values %d to %d: got %v want %v", width, at, at+k, got, vals[at:at+k])
				}
			}
			at += k
		}
	}
}

func TestCodesBelow(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 9))
	for range 20000 {
		codes := make([]uint32, 1+r.IntN(40))
		limit := []int{1, 2, 3, 100, 1 << 20, 1<<31 - 1, 1 << 31, 1<<32 - 1}[r.IntN(8)]
		top := uint32(0)
		for i := range codes {
			codes[i] = uint32(r.Uint64N(uint64(limit)))
			if r.IntN(60) == 0 {
				codes[i] = r.Uint32()
			}
			top = max(top, codes[i])
		}
		if got := codesBelow(codes, limit); got != (uint64(top) < uint64(limit)) {
			t.Fatalf("limit %d, greatest %d: %v", limit, top, got)
		}
	}
	if codesBelow([]uint32{0}, 0) {
		t.Error("a code below 0")
	}
}
