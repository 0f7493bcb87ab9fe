package exec

import (
	"bytes"
	"strconv"

	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/predicate"
)

func parseDecimal(x column.Int128, scale int) float64 {
	var buf [64]byte
	f, err := strconv.ParseFloat(string(column.AppendDecimal(buf[:0], x, scale)), 64)
	if err != nil {
		return 0
	}
	return f
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// compareExpr compares operands of one class: 1, 0 or NULL.
type compareExpr struct {
	base
	op       predicate.Op
	nullSafe bool
	// up are the digits by which decimals are scaled up.
	up [2]int
}

func (c *compareExpr) run(ev *evaluator, s *slot) (*column.Vector, error) {
	l, err := ev.eval(c.in[0])
	if err != nil {
		return nil, err
	}
	r, err := ev.eval(c.in[1])
	if err != nil {
		return nil, err
	}
	n := l.N
	out := s.ints(n, nil)
	if !c.nullSafe {
		out.Valid = s.both(n, l.Valid, r.Valid)
	}
	o := out.I64
	switch c.in[0].kind() {
	case classFloat:
		compareInto(c.op, o, l.F64, r.F64, types.CompareDoubles)
	case classBytes:
		for i := range o {
			o[i] = b2i(c.op.Holds(bytes.Compare(l.Bytes(i), r.Bytes(i))))
		}
	default:
		if l.Kind == column.KindInt64 && r.Kind == column.KindInt64 && c.up == [2]int{} {
			compareInts(c.op, o, l.I64[:n], r.I64[:n])
			break
		}
		for i := range o {
			x, ok1 := mul128(l.Dec128(i), pow10[c.up[0]])
			y, ok2 := mul128(r.Dec128(i), pow10[c.up[1]])
			if (!ok1 || !ok2) && isValid(l.Valid, i) && isValid(r.Valid, i) {
				return nil, errWide
			}
			o[i] = b2i(c.op.Holds(x.Cmp(y)))
		}
	}
	if c.nullSafe && (l.Valid != nil || r.Valid != nil) {
		for i := range o {
			lv, rv := isValid(l.Valid, i), isValid(r.Valid, i)
			if !lv || !rv {
				o[i] = b2i(lv == rv)
			}
		}
	}
	return out, nil
}

func compareInto[T any](op predicate.Op, out []int64, l, r []T, f func(a, b T) int) {
	for i := range out {
		out[i] = b2i(op.Holds(f(l[i], r[i])))
	}
}

func compareInts(op predicate.Op, out, l, r []int64) {
	switch op {
	case predicate.Eq:
		for i, x := range l {
			out[i] = b2i(x == r[i])
		}
	case predicate.Ne:
		for i, x := range l {
			out[i] = b2i(x != r[i])
		}
	case predicate.Lt:
		for i, x := range l {
			out[i] = b2i(x < r[i])
		}
	case predicate.Le:
		for i, x := range l {
			out[i] = b2i(x <= r[i])
		}
	case predicate.Gt:
		for i, x := range l {
			out[i] = b2i(x > r[i])
		}
	default:
		for i, x := range l {
			out[i] = b2i(x >= r[i])
		}
	}
}

// truthExpr turns a number into 1, 0 or NULL.
type truthExpr struct{ base }

func (t *truthExpr) run(ev *evaluator, s *slot) (*column.Vector, error) {
	v, err := ev.eval(t.in[0])
	if err != nil {
		return nil, err
	}
	out := s.ints(v.N, v.Valid)
	switch v.Kind {
	case column.KindFloat64:
		for i := range out.I64 {
			out.I64[i] = b2i(v.F64[i] != 0)
		}
	case column.KindInt128:
		for i := range out.I64 {
			out.I64[i] = b2i(v.I128[i] != column.Int128{})
		}
	default:
		for i := range out.I64 {
			out.I64[i] = b2i(v.I64[i] != 0)
		}
	}
	return out, nil
}

type logicOp uint8

const (
	opAnd logicOp = iota
	opOr
	opXor
)

// logicExpr is AND, OR, XOR on truth values.
type logicExpr struct {
	base
	op logicOp
}

func (g *logicExpr) run(ev *evaluator, s *slot) (*column.Vector, error) {
	l, err := ev.eval(g.in[0])
	if err != nil {
		return nil, err
	}
	n := l.N
	out := s.ints(n, nil)
	valid := s.words(n)
	fill(valid, ^uint64(0))
	nulls := false
	set := func(i int, x int64, known bool) {
		out.I64[i] = x
		if !known {
			valid[i>>6] &^= 1 << (uint(i) & 63)
			nulls = true
		}
	}
	// decided is the left value that decides alone.
	decided := int64(0)
	if g.op == opOr {
		decided = 1
	}
	if g.op != opXor && g.in[1].canFail() {
		// The right side must not be evaluated where the left one decides.
		s.rows = s.rows[:0]
		for i := range n {
			if isValid(l.Valid, i) && l.I64[i] == decided {
				set(i, decided, true)
			} else {
				s.rows = append(s.rows, uint16(i))
			}
		}
		r, err := ev.on(s, g.in[1], s.rows)
		if err != nil {
			return nil, err
		}
		for k, i := range s.rows {
			x, known := g.join(l.I64[i], isValid(l.Valid, int(i)), r.I64[k], isValid(r.Valid, k), decided)
			set(int(i), x, known)
		}
	} else {
		r, err := ev.eval(g.in[1])
		if err != nil {
			return nil, err
		}
		if l.Valid == nil && r.Valid == nil {
			g.plain(out.I64, l.I64, r.I64)
			return out, nil
		}
		for i := range n {
			x, known := g.join(l.I64[i], isValid(l.Valid, i), r.I64[i], isValid(r.Valid, i), decided)
			set(i, x, known)
		}
	}
	if nulls {
		out.Valid = valid
	}
	return out, nil
}

func (g *logicExpr) plain(out, l, r []int64) {
	for i := range out {
		switch g.op {
		case opAnd:
			out[i] = l[i] & r[i]
		case opOr:
			out[i] = l[i] | r[i]
		default:
			out[i] = l[i] ^ r[i]
		}
	}
}

func (g *logicExpr) join(l int64, lv bool, r int64, rv bool, decided int64) (x int64, known bool) {
	if g.op == opXor {
		return l ^ r, lv && rv
	}
	if lv && l == decided || rv && r == decided {
		return decided, true
	}
	return 1 - decided, lv && rv
}

// notExpr negates a truth value.
type notExpr struct{ base }

func (x *notExpr) run(ev *evaluator, s *slot) (*column.Vector, error) {
	v, err := ev.eval(x.in[0])
	if err != nil {
		return nil, err
	}
	out := s.ints(v.N, v.Valid)
	for i := range out.I64 {
		out.I64[i] = 1 - v.I64[i]
	}
	return out, nil
}

// isNullExpr is IS NULL.
type isNullExpr struct{ base }

func (x *isNullExpr) run(ev *evaluator, s *slot) (*column.Vector, error) {
	v, err := ev.eval(x.in[0])
	if err != nil {
		return nil, err
	}
	out := s.ints(v.N, nil)
	if v.Valid == nil {
		clear(out.I64)
		return out, nil
	}
	for i := range out.I64 {
		out.I64[i] = b2i(!isValid(v.Valid, i))
	}
	return out, nil
}

// inExpr is IN with constants of the operand's class, without NULLs in the list.
type inExpr struct {
	base
	ints  map[int64]struct{}
	texts map[string]struct{}
}

func (x *inExpr) run(ev *evaluator, s *slot) (*column.Vector, error) {
	v, err := ev.eval(x.in[0])
	if err != nil {
		return nil, err
	}
	out := s.ints(v.N, v.Valid)
	for i := range out.I64 {
		var ok bool
		if x.texts != nil {
			_, ok = x.texts[string(v.Bytes(i))]
		} else {
			_, ok = x.ints[v.I64[i]]
		}
		out.I64[i] = b2i(ok)
	}
	return out, nil
}

// textTest is a condition on one text, e.g. LIKE.
type textTest struct {
	base
	test func([]byte) bool
}

func (x *textTest) run(ev *evaluator, s *slot) (*column.Vector, error) {
	v, err := ev.eval(x.in[0])
	if err != nil {
		return nil, err
	}
	out := s.ints(v.N, v.Valid)
	for i := range out.I64 {
		if isValid(v.Valid, i) {
			out.I64[i] = b2i(x.test(v.Bytes(i)))
		} else {
			out.I64[i] = 0
		}
	}
	return out, nil
}
