package column

import (
	"math/big"
	"math/bits"
)

// FromInt64 widens x.
func FromInt64(x int64) Int128 { return Int128{Hi: x >> 63, Lo: uint64(x)} }

// Cmp compares as signed integers: -1, 0, 1.
func (a Int128) Cmp(b Int128) int {
	switch {
	case a.Hi < b.Hi:
		return -1
	case a.Hi > b.Hi:
		return 1
	case a.Lo < b.Lo:
		return -1
	case a.Lo > b.Lo:
		return 1
	}
	return 0
}

// Add returns a+b and whether it overflowed.
func (a Int128) Add(b Int128) (Int128, bool) {
	lo, c := bits.Add64(a.Lo, b.Lo, 0)
	hi, _ := bits.Add64(uint64(a.Hi), uint64(b.Hi), c)
	r := Int128{Hi: int64(hi), Lo: lo}
	return r, (a.Hi^r.Hi)&(b.Hi^r.Hi) < 0
}

// Neg returns -a (wrapping for the least value).
func (a Int128) Neg() Int128 {
	lo, c := bits.Add64(^a.Lo, 1, 0)
	return Int128{Hi: ^a.Hi + int64(c), Lo: lo}
}

// Sign returns -1, 0 or 1.
func (a Int128) Sign() int {
	if a.Hi < 0 {
		return -1
	}
	if a.Hi == 0 && a.Lo == 0 {
		return 0
	}
	return 1
}

// MulInt64 returns the full 128-bit product of two int64.
func MulInt64(a, b int64) Int128 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	h := int64(hi)
	if a < 0 {
		h -= b
	}
	if b < 0 {
		h -= a
	}
	return Int128{Hi: h, Lo: lo}
}

// IsInt64 reports whether a fits an int64.
func (a Int128) IsInt64() bool { return a.Hi == int64(a.Lo)>>63 }

// Big converts to a big integer.
func (a Int128) Big() *big.Int {
	neg := a.Hi < 0
	if neg {
		a = a.Neg()
	}
	x := new(big.Int).SetUint64(uint64(a.Hi))
	x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(a.Lo))
	if neg {
		x.Neg(x)
	}
	return x
}

// FromBig converts x; ok is false where it does not fit.
func FromBig(x *big.Int) (r Int128, ok bool) {
	abs := new(big.Int).Abs(x)
	if abs.BitLen() > 128 {
		return r, false
	}
	lo := new(big.Int).And(abs, new(big.Int).SetUint64(^uint64(0))).Uint64()
	hi := new(big.Int).Rsh(abs, 64).Uint64()
	r = Int128{Hi: int64(hi), Lo: lo}
	if x.Sign() < 0 {
		r = r.Neg()
		return r, r.Hi < 0
	}
	return r, r.Hi >= 0
}

// FromBigEndian reads a big-endian two's complement integer of any length;
// ok is false where it does not fit 128 bits. Empty reads as 0.
func FromBigEndian(b []byte) (r Int128, ok bool) {
	if len(b) == 0 {
		return r, true
	}
	fill := byte(0)
	if b[0]&0x80 != 0 {
		fill = 0xff
		r = Int128{Hi: -1, Lo: ^uint64(0)}
	}
	for len(b) > 16 {
		if b[0] != fill || b[1]&0x80 != fill&0x80 {
			return r, false
		}
		b = b[1:]
	}
	for _, c := range b {
		r.Hi = r.Hi<<8 | int64(r.Lo>>56)
		r.Lo = r.Lo<<8 | uint64(c)
	}
	return r, true
}

// AppendDecimal appends the decimal text of unscaled with the scale (digits
// after the point, >= 0), e.g. -1.50.
func AppendDecimal(dst []byte, unscaled Int128, scale int) []byte {
	neg := unscaled.Hi < 0
	if neg {
		unscaled = unscaled.Neg()
	}
	var buf [64]byte
	i := len(buf)
	hi, lo := uint64(unscaled.Hi), unscaled.Lo
	for digits := 0; hi != 0 || lo != 0 || digits <= scale; digits++ {
		if digits == scale && scale > 0 {
			i--
			buf[i] = '.'
		}
		var rem uint64
		if hi == 0 {
			rem = lo % 10
			lo /= 10
		} else {
			q := hi / 10
			lo, rem = bits.Div64(hi%10, lo, 10)
			hi = q
		}
		i--
		buf[i] = '0' + byte(rem)
	}
	if neg {
		dst = append(dst, '-')
	}
	return append(dst, buf[i:]...)
}
