package cast

import (
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// narrow cuts an integer to the width of an integer type, wrapping as Java does.
func narrow(x int64, to *schema.Type) int64 {
	switch to.Root {
	case schema.TinyInt:
		return int64(int8(x))
	case schema.SmallInt:
		return int64(int16(x))
	case schema.Int:
		return int64(int32(x))
	}
	return x
}

// floatToInt converts as Java's (int) or (long) does: toward zero, NaN to 0,
// and to the nearest end of the range; BIGINT has the range of 64 bits, the others of 32.
func floatToInt(f float64, to *schema.Type) int64 {
	lo, hi := int64(math.MinInt32), int64(math.MaxInt32)
	if to.Root == schema.BigInt {
		lo, hi = math.MinInt64, math.MaxInt64
	}
	switch {
	case f != f:
		return 0
	case f >= float64(hi):
		return hi
	case f <= float64(lo):
		return lo
	}
	return int64(f)
}

var pow10 = func() (out [77]*big.Int) {
	out[0] = big.NewInt(1)
	for i := 1; i < len(out); i++ {
		out[i] = new(big.Int).Mul(out[i-1], big.NewInt(10))
	}
	return out
}()

var smallPow10 = func() (out [19]int64) {
	out[0] = 1
	for i := 1; i < len(out); i++ {
		out[i] = 10 * out[i-1]
	}
	return out
}()

// rescale changes the scale of an unscaled value, rounding half up (away from
// zero), and appends it as a DECIMAL of type to: null where it has too many digits.
func rescale(dst *column.Builder, x column.Int128, scale int, to *schema.Type) {
	if x.IsInt64() && rescale64(dst, int64(x.Lo), scale, to) {
		return
	}
	appendBig(dst, x.Big(), scale, to)
}

// rescale64 does it in 64 bits, reporting whether that was possible.
func rescale64(dst *column.Builder, x int64, scale int, to *schema.Type) bool {
	if to.Precision > schema.MaxCompactPrecision {
		return false
	}
	switch d := to.Scale - scale; {
	case d > 18 || d < -18:
		return false
	case d >= 0:
		p := column.MulInt64(x, smallPow10[d])
		if !p.IsInt64() {
			dst.AppendNull() // 64 bits hold every value of 18 digits
			return true
		}
		x = int64(p.Lo)
	default:
		m := smallPow10[-d]
		q, r := x/m, x%m
		if r < 0 {
			r = -r
		}
		// r >= m - r is 2r >= m without overflow.
		if r >= m-r {
			if x < 0 {
				q--
			} else {
				q++
			}
		}
		x = q
	}
	if limit := smallPow10[to.Precision]; x >= limit || x <= -limit {
		dst.AppendNull()
	} else {
		dst.AppendInt(x)
	}
	return true
}

func appendBig(dst *column.Builder, x *big.Int, scale int, to *schema.Type) {
	switch d := to.Scale - scale; {
	case d > 0:
		if d >= len(pow10) {
			if x.Sign() != 0 {
				dst.AppendNull()
				return
			}
			d = 0
		}
		x = new(big.Int).Mul(x, pow10[d])
	case d < 0:
		m := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-d)), nil)
		q, r := new(big.Int).QuoRem(x, m, new(big.Int))
		if r.Abs(r).Lsh(r, 1).Cmp(m) >= 0 {
			q.Add(q, big.NewInt(int64(x.Sign())))
		}
		x = q
	}
	if x.CmpAbs(pow10[to.Precision]) >= 0 {
		dst.AppendNull()
		return
	}
	v, _ := column.FromBig(x)
	if to.Precision <= schema.MaxCompactPrecision {
		dst.AppendInt(int64(v.Lo))
	} else {
		dst.AppendInt128(v)
	}
}

// toDecimal converts numbers and booleans to DECIMAL.
func toDecimal(from, to *schema.Type) conv {
	switch {
	case from.Root == schema.Decimal:
		return func(b *column.Builder, v *column.Vector, i int) error {
			rescale(b, v.Dec128(i), from.Scale, to)
			return nil
		}
	case isInteger(from) || from.Root == schema.Boolean:
		return func(b *column.Builder, v *column.Vector, i int) error {
			rescale(b, column.FromInt64(v.Int(i)), 0, to)
			return nil
		}
	case isFloating(from):
		// BigDecimal.valueOf takes the digits of Double.toString, also of a widened FLOAT.
		return func(b *column.Builder, v *column.Vector, i int) error {
			f := v.Float(i)
			if math.IsNaN(f) || math.IsInf(f, 0) {
				return fmt.Errorf("'%s' is no number", AppendDouble(nil, f))
			}
			return parseDecimal(b, string(strconv.AppendFloat(nil, f, 'e', -1, 64)), to)
		}
	}
	return nil
}

// fromDecimal converts DECIMAL of a scale to integers and floating numbers.
func fromDecimal(scale int, to *schema.Type) conv {
	switch {
	case isInteger(to):
		return func(b *column.Builder, v *column.Vector, i int) error {
			x := v.Dec128(i)
			if x.IsInt64() && scale < len(smallPow10) {
				b.AppendInt(narrow(int64(x.Lo)/smallPow10[scale], to))
				return nil
			}
			q := new(big.Int).Quo(x.Big(), pow10[scale])
			w, _ := column.FromBig(q)
			b.AppendInt(narrow(int64(w.Lo), to)) // BigDecimal.longValue keeps the low 64 bits
			return nil
		}
	case isFloating(to):
		return func(b *column.Builder, v *column.Vector, i int) error {
			b.AppendFloat(decimalFloat(v.Dec128(i), scale, v.Kind == column.KindInt64))
			return nil
		}
	}
	return nil
}

// decimalFloat is DecimalUtils.doubleValue: compact values are divided in
// floating point, others converted from their digits.
func decimalFloat(x column.Int128, scale int, compact bool) float64 {
	if compact {
		return float64(int64(x.Lo)) / float64(smallPow10[scale])
	}
	f, _ := strconv.ParseFloat(string(AppendDecimal(nil, x, scale)), 64)
	return f
}
