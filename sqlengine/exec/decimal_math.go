package exec

import (
	"math/bits"

	"github.com/tributarydb/tributary/storage/column"
)

// maxDigits is the number of decimal digits that 128 bits always hold.
const maxDigits = 38

// pow10 are the powers of ten up to maxDigits.
var pow10 = func() (p [maxDigits + 1]column.Int128) {
	p[0] = column.FromInt64(1)
	for i := 1; i < len(p); i++ {
		p[i], _ = mul128(p[i-1], column.FromInt64(10))
	}
	return p
}()

// maxPow64 is the greatest power of ten in 64 bits.
const maxPow64 = 18

func pow64(k int) int64 { return int64(pow10[k].Lo) }

// mul128 multiplies; ok is false where the product does not fit.
func mul128(a, b column.Int128) (r column.Int128, ok bool) {
	if a.IsInt64() && b.IsInt64() {
		return column.MulInt64(int64(a.Lo), int64(b.Lo)), true
	}
	neg := (a.Hi < 0) != (b.Hi < 0)
	if a.Hi < 0 {
		a = a.Neg()
	}
	if b.Hi < 0 {
		b = b.Neg()
	}
	// Magnitudes up to 2^127; of the cross products one must vanish.
	if a.Hi != 0 && b.Hi != 0 {
		return r, false
	}
	hi, lo := bits.Mul64(a.Lo, b.Lo)
	o1, c1 := bits.Mul64(uint64(a.Hi), b.Lo)
	o2, c2 := bits.Mul64(a.Lo, uint64(b.Hi))
	hi, carry1 := bits.Add64(hi, c1, 0)
	hi, carry2 := bits.Add64(hi, c2, 0)
	if o1|o2|carry1|carry2 != 0 || hi>>63 != 0 {
		return r, false
	}
	r = column.Int128{Hi: int64(hi), Lo: lo}
	if neg {
		r = r.Neg()
	}
	return r, true
}

// sub128 subtracts; ok is false where the difference does not fit.
func sub128(a, b column.Int128) (column.Int128, bool) {
	lo, borrow := bits.Sub64(a.Lo, b.Lo, 0)
	hi, _ := bits.Sub64(uint64(a.Hi), uint64(b.Hi), borrow)
	r := column.Int128{Hi: int64(hi), Lo: lo}
	return r, (a.Hi^b.Hi)&(a.Hi^r.Hi) >= 0
}

func add128(a, b column.Int128) (column.Int128, bool) {
	r, over := a.Add(b)
	return r, !over
}

// magnitude is a number that has at least the bits of every value's absolute value.
func magnitude(v []int64) uint64 {
	var m uint64
	for _, x := range v {
		m |= uint64(x ^ x>>63)
	}
	return m
}

// magnitude returns a magnitude of e's current vector v, which is in 64 bits: at first what is known without looking at
// computed values, with tight set what they are.
func (ev *evaluator) magnitude(e expr, v *column.Vector, tight bool) uint64 {
	if c, ok := e.(*constExpr); ok {
		return uint64(c.value.I ^ c.value.I>>63)
	}
	s := &ev.slots[e.slot()]
	if s.magEpoch == ev.epoch && (s.tight || !tight) {
		return s.mag
	}
	if c, ok := e.(*columnExpr); ok && !tight {
		if d := ev.frame.cols[c.pos].Dict; d != nil && d.Kind == column.KindInt64 {
			if s.magDict != d {
				s.magDict, s.dictMag = d, magnitude(d.I64)
			}
			s.mag, s.magEpoch, s.tight = s.dictMag, ev.epoch, false
			return s.mag
		}
	}
	s.mag, s.magEpoch, s.tight = magnitude(v.I64[:v.N]), ev.epoch, true
	return s.mag
}
