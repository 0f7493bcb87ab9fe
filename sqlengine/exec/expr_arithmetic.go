package exec

import (
	"math"
	"math/bits"

	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/storage/column"
)

type arithOp uint8

const (
	opAdd arithOp = iota
	opSub
	opMul
)

// arithExpr is + - * on operands of one class.
type arithExpr struct {
	base
	op arithOp
	// text names the expression in errors.
	text string
	// up are the digits by which each decimal operand is scaled up first (of + and -).
	up [2]int
	// bits bounds the absolute values of an integer result.
	bits int
}

func (a *arithExpr) run(ev *evaluator, s *slot) (*column.Vector, error) {
	l, err := ev.eval(a.in[0])
	if err != nil {
		return nil, err
	}
	r, err := ev.eval(a.in[1])
	if err != nil {
		return nil, err
	}
	n := l.N
	valid := s.both(n, l.Valid, r.Valid)
	switch a.cls {
	case classFloat:
		out := s.floats(n, valid)
		return out, a.floats(out, l.F64, r.F64)
	case classDecimal:
		return a.decimals(ev, s, l, r, valid)
	}
	out := s.ints(n, valid)
	if a.fits(ev, s, l, r, 0, 0) {
		a.plain(out.I64, l.I64, r.I64)
		return out, nil
	}
	return out, a.checked(out, l.I64, r.I64)
}

// fits reports whether no row can overflow 64 bits; the operands are multiplied by factors of so many bits first.
func (a *arithExpr) fits(ev *evaluator, s *slot, l, r *column.Vector, lbits, rbits int) bool {
	for _, tight := range [2]bool{false, true} {
		x := bits.Len64(ev.magnitude(a.in[0], l, tight)) + lbits
		y := bits.Len64(ev.magnitude(a.in[1], r, tight)) + rbits
		n := max(x, y) + 1
		if a.op == opMul {
			n = x + y
		}
		if n <= 63 {
			s.mag, s.magEpoch, s.tight = 1<<n-1, ev.epoch, false
			return true
		}
	}
	return false
}

func (a *arithExpr) plain(out, l, r []int64) {
	l, r = l[:len(out)], r[:len(out)]
	lc, rc := isConst(a.in[0]), isConst(a.in[1])
	switch a.op {
	case opAdd:
		for i, x := range l {
			out[i] = x + r[i]
		}
	case opSub:
		if lc && len(l) > 0 {
			c := l[0]
			for i, y := range r {
				out[i] = c - y
			}
			return
		}
		for i, x := range l {
			out[i] = x - r[i]
		}
	default:
		if rc && len(r) > 0 {
			c := r[0]
			for i, x := range l {
				out[i] = x * c
			}
			return
		}
		for i, x := range l {
			out[i] = x * r[i]
		}
	}
}

func isConst(e expr) bool {
	_, ok := e.(*constExpr)
	return ok
}

// checked computes integers row by row.
func (a *arithExpr) checked(out *column.Vector, l, r []int64) error {
	for i := range out.I64 {
		x, ok := arith64(a.op, l[i], r[i])
		if !ok && isValid(out.Valid, i) {
			return outOfRange("BIGINT", a.text)
		}
		out.I64[i] = x
	}
	return nil
}

func arith64(op arithOp, x, y int64) (int64, bool) {
	switch op {
	case opAdd:
		z := x + y
		return z, (x^z)&(y^z) >= 0
	case opSub:
		z := x - y
		return z, (x^y)&(x^z) >= 0
	}
	p := column.MulInt64(x, y)
	return int64(p.Lo), p.IsInt64()
}

func outOfRange(typ, text string) error {
	return errmap.New(1690, "22003", "%s value is out of range in '%s'", typ, text)
}

func (a *arithExpr) floats(out *column.Vector, l, r []float64) error {
	o := out.F64
	l, r = l[:len(o)], r[:len(o)]
	sum := 0.0
	for i, x := range l {
		var z float64
		switch a.op {
		case opAdd:
			z = x + r[i]
		case opSub:
			z = x - r[i]
		default:
			z = x * r[i]
		}
		o[i] = z
		sum += z - z // not 0 where z is not finite
	}
	if sum == 0 {
		return nil
	}
	for i, z := range o {
		if isFinite(l[i]) && isFinite(r[i]) && !isFinite(z) && isValid(out.Valid, i) {
			return outOfRange("DOUBLE", a.text)
		}
	}
	return nil
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// decimals computes in 64 bits where the batch's values allow it, else in 128.
func (a *arithExpr) decimals(ev *evaluator, s *slot, l, r *column.Vector, valid []uint64) (*column.Vector, error) {
	n := l.N
	small := l.Kind == column.KindInt64 && r.Kind == column.KindInt64
	if small && a.up[0] <= maxPow64 && a.up[1] <= maxPow64 {
		lf, rf := pow64(a.up[0]), pow64(a.up[1])
		lb, rb := 0, 0
		if a.up[0] > 0 {
			lb = bits.Len64(uint64(lf))
		}
		if a.up[1] > 0 {
			rb = bits.Len64(uint64(rf))
		}
		if a.fits(ev, s, l, r, lb, rb) {
			out := s.ints(n, valid)
			if lf == 1 && rf == 1 {
				a.plain(out.I64, l.I64, r.I64)
				return out, nil
			}
			sign := int64(1)
			if a.op == opSub {
				sign = -1
			}
			rf *= sign
			for i := range out.I64 {
				out.I64[i] = l.I64[i]*lf + r.I64[i]*rf
			}
			return out, nil
		}
	}
	if small && a.op == opMul {
		out := s.wides(n, valid)
		for i := range out.I128 {
			out.I128[i] = column.MulInt64(l.I64[i], r.I64[i])
		}
		return out, nil
	}
	out := s.wides(n, valid)
	for i := range out.I128 {
		z, ok := a.decimal128(l.Dec128(i), r.Dec128(i))
		if !ok && isValid(valid, i) {
			return nil, errWide
		}
		out.I128[i] = z
	}
	return out, nil
}

func (a *arithExpr) decimal128(x, y column.Int128) (column.Int128, bool) {
	if a.op == opMul {
		return mul128(x, y)
	}
	x, ok1 := mul128(x, pow10[a.up[0]])
	y, ok2 := mul128(y, pow10[a.up[1]])
	if !ok1 || !ok2 {
		return column.Int128{}, false
	}
	if a.op == opAdd {
		return add128(x, y)
	}
	return sub128(x, y)
}

// divideExpr is / of doubles; NULL where the divisor is 0.
type divideExpr struct {
	base
	text string
}

func (d *divideExpr) run(ev *evaluator, s *slot) (*column.Vector, error) {
	l, err := ev.eval(d.in[0])
	if err != nil {
		return nil, err
	}
	r, err := ev.eval(d.in[1])
	if err != nil {
		return nil, err
	}
	n := l.N
	out := s.floats(n, nil)
	valid := s.words(n)
	clear(valid)
	for i := range n {
		x, y := l.F64[i], r.F64[i]
		if !isValid(l.Valid, i) || !isValid(r.Valid, i) || y == 0 {
			out.F64[i] = 0
			continue
		}
		z := x / y
		if isFinite(x) && isFinite(y) && !isFinite(z) {
			return nil, outOfRange("DOUBLE", d.text)
		}
		out.F64[i] = z
		valid[i>>6] |= 1 << (uint(i) & 63)
	}
	out.Valid = valid
	return out, nil
}

// negExpr is unary minus.
type negExpr struct {
	base
	text string
}

func (g *negExpr) run(ev *evaluator, s *slot) (*column.Vector, error) {
	v, err := ev.eval(g.in[0])
	if err != nil {
		return nil, err
	}
	if v.Kind == column.KindFloat64 {
		out := s.floats(v.N, v.Valid)
		for i := range out.F64 {
			out.F64[i] = -v.F64[i]
		}
		return out, nil
	}
	if v.Kind == column.KindInt128 {
		out := s.wides(v.N, v.Valid)
		for i := range out.I128 {
			out.I128[i] = v.I128[i].Neg()
		}
		return out, nil
	}
	out := s.ints(v.N, v.Valid)
	for i, x := range v.I64[:v.N] {
		if x == math.MinInt64 && isValid(v.Valid, i) {
			return nil, outOfRange("BIGINT", g.text)
		}
		out.I64[i] = -x
	}
	return out, nil
}

// castExpr converts between number classes: integers to decimals (same vector) or doubles, decimals to doubles.
type castExpr struct{ base }

func (c *castExpr) run(ev *evaluator, s *slot) (*column.Vector, error) {
	v, err := ev.eval(c.in[0])
	if err != nil || c.cls == classDecimal {
		return v, err
	}
	out := s.floats(v.N, v.Valid)
	if v.Kind == column.KindInt128 {
		for i, x := range v.I128[:v.N] {
			out.F64[i] = decimalToFloat(x, c.in[0].typ().Scale)
		}
		return out, nil
	}
	scale := 0
	if c.in[0].kind() == classDecimal {
		scale = c.in[0].typ().Scale
	}
	for i, x := range v.I64[:v.N] {
		if scale > 0 {
			out.F64[i] = decimalToFloat(column.FromInt64(x), scale)
		} else {
			out.F64[i] = float64(x)
		}
	}
	return out, nil
}

// exactFloat bounds the integers that a double holds exactly.
const exactFloat = 1 << 53

// decimalToFloat is the double nearest to the decimal.
func decimalToFloat(x column.Int128, scale int) float64 {
	if i := int64(x.Lo); x.IsInt64() && i < exactFloat && i > -exactFloat && scale <= 22 {
		return float64(i) / math.Pow10(scale) // both exact: one rounding
	}
	return parseDecimal(x, scale)
}
