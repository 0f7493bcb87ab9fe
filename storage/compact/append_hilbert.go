package compact

import (
	"math"
	"math/big"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// hilbertBits is the number of bits of a coordinate (HilbertIndexer.BITS_NUM).
const hilbertBits = 63

// hilbertValue is a value as a coordinate (HilbertIndexer). NULL is the greatest one. The sign is
// not part of it, so that negative numbers come after positive ones.
func hilbertValue(t *schema.Type, v *column.Vector, i int) uint64 {
	if v.IsNull(i) {
		return math.MaxInt64
	}
	switch {
	case t.Root == schema.Boolean:
		return uint64(v.I32[i]) * math.MaxInt64
	case t.Root == schema.TinyInt:
		return uint64(uint8(v.I32[i]))
	case t.Root == schema.Decimal:
		return wholePart(v, i, t.Scale)
	case v.Kind == column.KindInt32:
		return uint64(v.I32[i])
	case v.Kind == column.KindInt64:
		return uint64(v.I64[i])
	case v.Kind == column.KindTimestamp:
		return uint64(millis(v.I64[i]))
	case v.Kind == column.KindBytes:
		// The first eight bytes as a number; fewer are its lowest ones.
		var x uint64
		b := v.Bytes(i)
		for _, c := range b[:min(len(b), 8)] {
			x = x<<8 | uint64(c)
		}
		return x
	}
	return doubleBits(v.Float(i))
}

// wholePart is a decimal without its fraction, its lowest 64 bits.
func wholePart(v *column.Vector, i, scale int) uint64 {
	n := v.Dec128(i).Big()
	n.Quo(n, powersOfTen[scale])
	return n.And(n, lowBits).Uint64()
}

// maxScale is the greatest scale of a decimal.
const maxScale = 38

// powersOfTen are those of the scales of decimals.
var powersOfTen = func() (out [maxScale + 1]*big.Int) {
	out[0] = big.NewInt(1)
	for i := 1; i < len(out); i++ {
		out[i] = new(big.Int).Mul(out[i-1], big.NewInt(10))
	}
	return out
}()

var lowBits = new(big.Int).SetUint64(math.MaxUint64)

// appendHilbert appends the position of a point on the Hilbert curve through all points: Skilling's
// transformation of the axes ("Programming the Hilbert curve", AIP Conf. Proc. 707, 2004), then the
// bits of the axes in turn. The point is changed.
func appendHilbert(dst []byte, x []uint64) []byte {
	const top = uint64(1) << (hilbertBits - 1)
	for q := top; q > 1; q >>= 1 {
		below := q - 1
		for i := range x {
			if x[i]&q != 0 {
				x[0] ^= below
				continue
			}
			t := (x[0] ^ x[i]) & below
			x[0] ^= t
			x[i] ^= t
		}
	}
	for i := 1; i < len(x); i++ {
		x[i] ^= x[i-1]
	}
	var t uint64
	for q := top; q > 1; q >>= 1 {
		if x[len(x)-1]&q != 0 {
			t ^= q - 1
		}
	}
	for i := range x {
		x[i] ^= t
	}
	var out byte
	bits := 0
	for q := top; q > 0; q >>= 1 {
		for _, a := range x {
			out <<= 1
			if a&q != 0 {
				out |= 1
			}
			if bits++; bits == 8 {
				dst, out, bits = append(dst, out), 0, 0
			}
		}
	}
	if bits > 0 {
		dst = append(dst, out<<(8-bits))
	}
	return dst
}
