package lsm

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// numericAgg is what sum and product share: the type's arithmetic as Java does
// it. Integers overflow with an error; decimals that exceed their precision
// become null, except that sums of decimals of at most 18 digits are checked
// against int64 only (org.apache.paimon.utils.DecimalUtils).
type numericAgg struct {
	aggBase
	s        *scratch
	javaName string
	min, max int64 // of integer types
	decimal  bool
	float    bool
}

// newNumericAgg returns nil for types that are not numeric.
func newNumericAgg(base aggBase) *numericAgg {
	n := &numericAgg{aggBase: base, s: newScratch(base.typ)}
	switch base.typ.Root {
	case schema.TinyInt:
		n.javaName, n.min, n.max = "byte", math.MinInt8, math.MaxInt8
	case schema.SmallInt:
		n.javaName, n.min, n.max = "short", math.MinInt16, math.MaxInt16
	case schema.Int:
		n.javaName, n.min, n.max = "int", math.MinInt32, math.MaxInt32
	case schema.BigInt:
		n.javaName, n.min, n.max = "long", math.MinInt64, math.MaxInt64
	case schema.Float, schema.Double:
		n.float = true
	case schema.Decimal:
		n.decimal = true
	default:
		return nil
	}
	return n
}

func (n *numericAgg) overflow(a int64, op string, b int64) error {
	return errs.Invalidf("%s overflow: %d %s %d (aggregate function '%s')", n.javaName, a, op, b, n.name)
}

// integer keeps x if it fits; ok says that it was computed without overflow.
func (n *numericAgg) integer(x int64, ok bool, a int64, op string, b int64) (value, error) {
	if !ok || x < n.min || x > n.max {
		return value{}, n.overflow(a, op, b)
	}
	return n.s.int(x), nil
}

// fits reports whether x has at most the type's digits.
func (n *numericAgg) fits(x column.Int128) bool {
	if x.Hi < 0 {
		x = x.Neg()
		if x.Hi < 0 {
			return false
		}
	}
	return x.Cmp(pow10(n.typ.Precision)) < 0
}

// add returns a+b or a-b.
func (n *numericAgg) add(acc, in value, minus bool) (value, error) {
	switch {
	case n.float && acc.v.Kind == column.KindFloat32:
		x, y := acc.v.F32[acc.i], in.v.F32[in.i]
		if minus {
			y = -y
		}
		n.s.v.F32[0] = x + y
		return value{&n.s.v, 0}, nil
	case n.float:
		x, y := acc.v.F64[acc.i], in.v.F64[in.i]
		if minus {
			y = -y
		}
		return n.s.float(x + y), nil
	case n.decimal && acc.v.Kind == column.KindInt128:
		y, over := in.v.I128[in.i], false
		if minus {
			y = y.Neg()
		}
		x, over := acc.v.I128[acc.i].Add(y)
		if over || !n.fits(x) {
			return value{}, nil
		}
		return n.s.int128(x), nil
	}
	x, y := acc.v.Int(acc.i), in.v.Int(in.i)
	r, op := x+y, "+"
	ok := (x^r)&(y^r) >= 0
	if minus {
		r, op = x-y, "-"
		ok = (x^y)&(x^r) >= 0
	}
	if n.decimal {
		if !ok {
			return value{}, nil // beyond 19 digits
		}
		return n.s.int(r), nil
	}
	return n.integer(r, ok, x, op, y)
}

// sumAgg is sum.
type sumAgg struct{ *numericAgg }

func (a sumAgg) agg(acc, in value) (value, error) {
	if acc.null() {
		return in, nil
	}
	if in.null() {
		return acc, nil
	}
	return a.add(acc, in, false)
}

func (a sumAgg) reversed(acc, in value) (value, error) { return a.agg(in, acc) }

func (a sumAgg) retract(acc, in value) (value, error) {
	if in.null() {
		return acc, nil
	}
	if !acc.null() {
		return a.add(acc, in, true)
	}
	switch {
	case a.float:
		return a.s.float(-in.v.Float(in.i)), nil
	case a.decimal:
		return a.s.int128(in.v.Dec128(in.i).Neg()), nil
	}
	x := in.v.Int(in.i)
	if x == a.min {
		return value{}, errs.Invalidf("%s overflow: -%d (aggregate function '%s')", a.javaName, x, a.name)
	}
	return a.s.int(-x), nil
}

// productAgg is product.
type productAgg struct{ *numericAgg }

func (a productAgg) agg(acc, in value) (value, error) {
	if acc.null() {
		return in, nil
	}
	if in.null() {
		return acc, nil
	}
	switch {
	case a.float && acc.v.Kind == column.KindFloat32:
		a.s.v.F32[0] = acc.v.F32[acc.i] * in.v.F32[in.i]
		return value{&a.s.v, 0}, nil
	case a.float:
		return a.s.float(acc.v.F64[acc.i] * in.v.F64[in.i]), nil
	case a.decimal:
		p := new(big.Int).Mul(acc.v.Dec128(acc.i).Big(), in.v.Dec128(in.i).Big())
		return a.decimalResult(roundHalfUp(p, bigPow10(a.typ.Scale)))
	}
	x, y := acc.v.Int(acc.i), in.v.Int(in.i)
	r, ok := mulInt64(x, y)
	return a.integer(r, ok, x, "*", y)
}

func (a productAgg) reversed(acc, in value) (value, error) { return a.agg(in, acc) }

func (a productAgg) retract(acc, in value) (value, error) {
	if acc.null() || in.null() {
		return acc, nil
	}
	switch {
	case a.float && acc.v.Kind == column.KindFloat32:
		a.s.v.F32[0] = acc.v.F32[acc.i] / in.v.F32[in.i]
		return value{&a.s.v, 0}, nil
	case a.float:
		return a.s.float(acc.v.F64[acc.i] / in.v.F64[in.i]), nil
	case a.decimal:
		return a.divideDecimal(acc.v.Dec128(acc.i).Big(), in.v.Dec128(in.i).Big())
	}
	x, y := acc.v.Int(acc.i), in.v.Int(in.i)
	if y == 0 {
		return value{}, errs.Invalidf("aggregate function 'product' cannot take back a factor 0")
	}
	if y == -1 && x == math.MinInt64 {
		return value{}, a.overflow(x, "/", y)
	}
	return a.integer(x/y, true, x, "/", y)
}

// divideDecimal divides two decimals of the column's scale. As BigDecimal.divide
// without a rounding mode, it fails where the quotient has no finite decimal expansion.
func (a productAgg) divideDecimal(x, y *big.Int) (value, error) {
	if y.Sign() == 0 {
		return value{}, errs.Invalidf("aggregate function 'product' cannot take back a factor 0")
	}
	q := new(big.Rat).SetFrac(x, y)
	den := new(big.Int).Set(q.Denom())
	for _, p := range []int64{2, 5} {
		f, r := big.NewInt(p), new(big.Int)
		for {
			quo, rem := new(big.Int).QuoRem(den, f, r)
			if rem.Sign() != 0 {
				break
			}
			den = quo
		}
	}
	if den.Cmp(big.NewInt(1)) != 0 {
		return value{}, errs.Invalidf("Non-terminating decimal expansion; no exact representable decimal result. (aggregate function 'product' takes a factor back)")
	}
	num := new(big.Int).Mul(q.Num(), bigPow10(a.typ.Scale))
	return a.decimalResult(roundHalfUp(num, q.Denom()))
}

// decimalResult keeps an unscaled value, or gives null where it has too many digits.
func (a productAgg) decimalResult(x *big.Int) (value, error) {
	r, ok := column.FromBig(x)
	if !ok || !a.fits(r) {
		return value{}, nil
	}
	return a.s.int128(r), nil
}

// roundHalfUp returns x/y (y > 0), rounded half away from zero.
func roundHalfUp(x, y *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(x, y, new(big.Int))
	if r.Abs(r).Lsh(r, 1).Cmp(y) >= 0 {
		return q.Add(q, big.NewInt(int64(x.Sign())))
	}
	return q
}

func bigPow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

var powers = func() (p [39]column.Int128) {
	for i := range p {
		p[i], _ = column.FromBig(bigPow10(i))
	}
	return p
}()

// pow10 returns 10^n for n in 0..38.
func pow10(n int) column.Int128 { return powers[min(max(n, 0), 38)] }

func mulInt64(x, y int64) (int64, bool) {
	neg := (x < 0) != (y < 0)
	hi, lo := bits.Mul64(absInt64(x), absInt64(y))
	if hi != 0 {
		return 0, false
	}
	if neg {
		return -int64(lo), lo <= 1<<63
	}
	return int64(lo), lo < 1<<63
}

func absInt64(x int64) uint64 {
	if x < 0 {
		return uint64(-x)
	}
	return uint64(x)
}
