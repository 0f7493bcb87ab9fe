package exec

import (
	"fmt"
	"math/bits"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"

	"github.com/tributarydb/tributary/sqlengine/planner"
	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
)

// maxCaseValues bounds the branches of a CASE that is translated.
const maxCaseValues = 200

var (
	boolType   = &schema.Type{Root: schema.Boolean}
	bigIntType = &schema.Type{Root: schema.BigInt}
	intType    = &schema.Type{Root: schema.Int}
	doubleType = &schema.Type{Root: schema.Double}
	textType   = &schema.Type{Root: schema.Varchar, Length: schema.MaxLength}
	dateType   = &schema.Type{Root: schema.Date}
	momentType = &schema.Type{Root: schema.Timestamp, Precision: types.MaxFraction}
)

// exprBuilder translates expressions over the columns of one source. ok results that are false mean: not translated.
type exprBuilder struct {
	ctx   *sql.Context
	byKey map[string]expr
	n     int
	// field resolves a column of the plan.
	field func(*expression.GetField) (expr, bool)
	// whole, where set, finds an expression that the source gives as a column, e.g. a grouping key.
	whole func(sql.Expression) (expr, bool)
}

func newExprBuilder(ctx *sql.Context) *exprBuilder {
	return &exprBuilder{ctx: ctx, byKey: map[string]expr{}}
}

// intern numbers a new expression, or returns the equal one that exists.
func (b *exprBuilder) intern(e expr, name string, args ...any) expr {
	h := e.(interface{ head() *base }).head()
	var k strings.Builder
	fmt.Fprintf(&k, "%s %v %d.%d", name, args, h.t.Root, h.t.Scale)
	for _, a := range h.in {
		fmt.Fprintf(&k, " %d", a.slot())
		h.fail = h.fail || a.canFail()
		h.big = h.big || a.wide()
		if c, ok := a.(*columnExpr); ok {
			h.reads(c)
			continue
		}
		below := a.(interface{ head() *base }).head()
		h.many = h.many || below.many
		if below.only != nil {
			h.reads(below.only)
		}
	}
	if h.many {
		h.only = nil
	}
	if old, ok := b.byKey[k.String()]; ok {
		return old
	}
	if _, stored := e.(*columnExpr); !stored && h.cls == classDecimal && h.t.Precision > maxDigits {
		h.big = true
	}
	h.id = b.n
	b.n++
	b.byKey[k.String()] = e
	return e
}

func (b *base) head() *base { return b }

func (b *base) reads(c *columnExpr) {
	b.many = b.many || b.only != nil && b.only != c
	b.only = c
}

// column makes the expression of a source's column.
func (b *exprBuilder) column(field int, t *schema.Type) expr {
	c := &columnExpr{base: base{cls: classOf(t), t: t}, field: field}
	return b.intern(c, "column", field)
}

func classOf(t *schema.Type) class {
	switch t.Root {
	case schema.Boolean, schema.TinyInt, schema.SmallInt, schema.Int, schema.BigInt, schema.Date, schema.Time, schema.Timestamp, schema.TimestampLTZ:
		return classInt
	case schema.Decimal:
		return classDecimal
	case schema.Float, schema.Double:
		return classFloat
	case schema.Char, schema.Varchar, schema.Binary, schema.Varbinary:
		return classBytes
	}
	return classOpaque
}

// isInteger, isNumber, isText and isMoment tell what an expression's values mean.
func isInteger(e expr) bool {
	switch e.typ().Root {
	case schema.Boolean, schema.TinyInt, schema.SmallInt, schema.Int, schema.BigInt:
		return true
	}
	return false
}

func isNumber(e expr) bool {
	return isInteger(e) || e.kind() == classDecimal || e.kind() == classFloat
}

func isText(e expr) bool {
	return e.typ().Root == schema.Char || e.typ().Root == schema.Varchar
}

func isMoment(e expr) bool {
	return e.typ().Root == schema.Date || e.typ().Root == schema.Timestamp
}

// constant makes a constant of a value of go-mysql-server.
func (b *exprBuilder) constant(v any) (expr, bool) {
	c := &constExpr{}
	switch v := v.(type) {
	case nil:
		c.base = base{cls: classInt, t: &schema.Type{}}
		c.value = column.NullScalar(column.KindInt64)
	case bool:
		c.base = base{cls: classInt, t: boolType}
		c.value.I = b2i(v)
	case float64:
		c.base = base{cls: classFloat, t: doubleType}
		c.value.F = v
	case string:
		c.base = base{cls: classBytes, t: textType}
		c.value.B = []byte(v)
	case time.Time:
		m, ok := planner.MomentOf(v)
		if !ok {
			return nil, false
		}
		return b.moment(m), true
	case decimal.Decimal:
		scale := max(int(-v.Exponent()), 0)
		n, ok := column.FromBig(v.Shift(int32(scale)).BigInt())
		if !ok || scale > types.MaxDecimalScale {
			return nil, false
		}
		return b.decimal(n, max(v.NumDigits(), scale, 1), scale), true
	default:
		i, ok := integerOf(v)
		if !ok {
			return nil, false
		}
		c.base = base{cls: classInt, t: bigIntType}
		c.value.I = i
	}
	if c.cls == classBytes {
		c.one = &column.Vector{Kind: column.KindBytes, N: 1, Ref: []column.Ref{{Len: uint32(len(c.value.B))}}, Data: c.value.B}
	}
	return b.intern(c, "const", fmt.Sprintf("%T %v", v, v)), true
}

func (b *exprBuilder) decimal(n column.Int128, digits, scale int) expr {
	c := &constExpr{base: base{cls: classDecimal, t: &schema.Type{Root: schema.Decimal, Precision: digits, Scale: scale}}}
	if n.IsInt64() {
		c.value = column.IntScalar(column.KindInt64, int64(n.Lo))
	} else {
		c.value = column.Scalar{Kind: column.KindInt128, D: n}
	}
	return b.intern(c, "const", n, scale)
}

func (b *exprBuilder) moment(micros int64) expr {
	c := &constExpr{base: base{cls: classInt, t: momentType}, value: column.IntScalar(column.KindInt64, micros)}
	return b.intern(c, "const", micros)
}

func integerOf(v any) (int64, bool) {
	switch v := v.(type) {
	case int8:
		return int64(v), true
	case int16:
		return int64(v), true
	case int32:
		return int64(v), true
	case int64:
		return v, true
	case int:
		return int64(v), true
	case uint8:
		return int64(v), true
	case uint16:
		return int64(v), true
	case uint32:
		return int64(v), true
	case uint64:
		return int64(v), v < 1<<63
	}
	return 0, false
}

func isNullConst(e expr) bool {
	c, ok := e.(*constExpr)
	return ok && c.value.Null
}

// compile translates an expression.
func (b *exprBuilder) compile(e sql.Expression) (expr, bool) {
	if b.whole != nil {
		if x, ok := b.whole(e); ok {
			return x, true
		}
	}
	switch e := e.(type) {
	case *expression.Alias:
		return b.compile(e.Child)
	case *expression.GetField:
		return b.field(e)
	case *expression.Literal:
		return b.constant(e.Value())
	case *expression.Arithmetic:
		if v, ok := b.dateConstant(e); ok {
			return v, true
		}
		return b.arithmetic(e)
	case *expression.Div:
		return b.divide(e)
	case *expression.UnaryMinus:
		return b.negate(e)
	case *expression.Equals:
		return b.compare(e.LeftChild, e.RightChild, predicate.Eq, false)
	case *expression.NullSafeEquals:
		return b.compare(e.LeftChild, e.RightChild, predicate.Eq, true)
	case *expression.LessThan:
		return b.compare(e.LeftChild, e.RightChild, predicate.Lt, false)
	case *expression.LessThanOrEqual:
		return b.compare(e.LeftChild, e.RightChild, predicate.Le, false)
	case *expression.GreaterThan:
		return b.compare(e.LeftChild, e.RightChild, predicate.Gt, false)
	case *expression.GreaterThanOrEqual:
		return b.compare(e.LeftChild, e.RightChild, predicate.Ge, false)
	case *expression.Between:
		lo, ok1 := b.compare(e.Val, e.Lower, predicate.Ge, false)
		hi, ok2 := b.compare(e.Val, e.Upper, predicate.Le, false)
		if !ok1 || !ok2 {
			return nil, false
		}
		return b.logic(opAnd, lo, hi), true
	case *expression.And:
		return b.logicOf(opAnd, e.LeftChild, e.RightChild)
	case *expression.Or:
		return b.logicOf(opOr, e.LeftChild, e.RightChild)
	case *expression.Xor:
		return b.logicOf(opXor, e.LeftChild, e.RightChild)
	case *expression.Not:
		x, ok := b.truth(e.Child)
		if !ok {
			return nil, false
		}
		return b.intern(&notExpr{base{cls: classInt, t: boolType, in: []expr{x}}}, "not"), true
	case *expression.IsNull:
		x, ok := b.compile(e.Child)
		if !ok {
			return nil, false
		}
		return b.isNull(x), true
	case *expression.InTuple:
		return b.in(e.LeftChild, e.RightChild)
	case *expression.HashInTuple:
		return b.in(e.Left(), e.Right())
	case *expression.Like:
		return b.like(e)
	case *expression.Case:
		return b.caseWhen(e)
	case *planner.Choice:
		v := e.Values()
		if c := e.Condition(); c != nil {
			return b.branches([]sql.Expression{c}, v[:1], v[1])
		}
		return b.coalesce(v)
	case *function.Coalesce:
		return b.coalesce(e.Children())
	case *function.Year:
		return b.datePart(e.Children(), "year", func(t time.Time) int { return t.Year() })
	case *function.Month:
		return b.datePart(e.Children(), "month", func(t time.Time) int { return int(t.Month()) })
	case *function.Day:
		return b.datePart(e.Children(), "day", func(t time.Time) int { return t.Day() })
	case *function.Extract:
		return b.extract(e)
	case *function.Length:
		return b.length(e)
	}
	return b.dateConstant(e)
}

// dateConstant evaluates a constant that is a date or a time, e.g. with intervals.
func (b *exprBuilder) dateConstant(e sql.Expression) (expr, bool) {
	if !gms.IsTime(e.Type()) {
		return nil, false
	}
	v, ok := planner.ConstantValue(b.ctx, e)
	if !ok {
		return nil, false
	}
	if _, isTime := v.(time.Time); !isTime {
		return nil, false
	}
	return b.constant(v)
}

// fold evaluates an expression of constants.
func (b *exprBuilder) fold(e expr) (expr, bool) {
	for _, a := range e.args() {
		if !isConst(a) {
			return e, true
		}
	}
	ev := newEvaluator(b.n)
	ev.reset(frame{n: 1})
	v, err := ev.eval(e)
	if err != nil {
		return nil, false
	}
	c := &constExpr{base: base{cls: e.kind(), t: e.typ()}, value: column.ScalarAt(v, 0)}
	if c.cls == classDecimal && v.Kind == column.KindInt128 && v.I128[0].IsInt64() {
		c.value = column.IntScalar(column.KindInt64, int64(v.I128[0].Lo))
	}
	return b.intern(c, "folded", e.slot()), true
}

// digits is the decimal precision of a number.
func digits(e expr) (precision, scale int) {
	if c, ok := e.(*constExpr); ok && c.cls == classInt && c.t.Root == schema.BigInt {
		return len(fmt.Sprint(max(c.value.I, -c.value.I))), 0
	}
	switch e.typ().Root {
	case schema.Boolean, schema.TinyInt:
		return 3, 0
	case schema.SmallInt:
		return 5, 0
	case schema.Int:
		return 10, 0
	case schema.BigInt:
		return 19, 0
	}
	return e.typ().Precision, e.typ().Scale
}

// intBits bounds the absolute values of an integer expression, in bits.
func intBits(e expr) int {
	switch e := e.(type) {
	case *constExpr:
		return bits.Len64(uint64(e.value.I ^ e.value.I>>63))
	case *arithExpr:
		return e.bits
	}
	switch e.typ().Root {
	case schema.Boolean, schema.TinyInt:
		return 8
	case schema.SmallInt:
		return 16
	case schema.Int:
		return 32
	}
	return 64
}

func (b *exprBuilder) arithmetic(e *expression.Arithmetic) (expr, bool) {
	var op arithOp
	switch e.Op {
	case "+":
		op = opAdd
	case "-":
		op = opSub
	case "*":
		op = opMul
	default:
		return nil, false
	}
	l, ok1 := b.compile(e.LeftChild)
	r, ok2 := b.compile(e.RightChild)
	if !ok1 || !ok2 || !isNumber(l) || !isNumber(r) {
		return nil, false
	}
	a := &arithExpr{op: op, text: e.String()}
	switch {
	case l.kind() == classFloat || r.kind() == classFloat:
		a.base = base{cls: classFloat, t: doubleType, in: []expr{b.toFloat(l), b.toFloat(r)}, fail: true}
	case l.kind() == classDecimal || r.kind() == classDecimal:
		lp, ls := digits(l)
		rp, rs := digits(r)
		p, s := lp+rp, ls+rs
		if op != opMul {
			s = max(ls, rs)
			p = max(lp-ls, rp-rs) + 1 + s
			a.up = [2]int{s - ls, s - rs}
			for i, side := range []*expr{&l, &r} {
				if c, ok := (*side).(*constExpr); ok && a.up[i] > 0 && c.value.Kind == column.KindInt64 {
					if x, ok := mul128(column.FromInt64(c.value.I), pow10[a.up[i]]); ok {
						*side, a.up[i] = b.decimal(x, c.t.Precision+a.up[i], s), 0
					}
				}
			}
		}
		if s > types.MaxDecimalScale {
			return nil, false
		}
		a.base = base{cls: classDecimal, in: []expr{b.toDecimal(l), b.toDecimal(r)},
			t: &schema.Type{Root: schema.Decimal, Precision: min(p, types.MaxDecimalPrecision), Scale: s}}
	default:
		a.base = base{cls: classInt, t: bigIntType, in: []expr{l, r}}
		a.bits = max(intBits(l), intBits(r)) + 1
		if op == opMul {
			a.bits = intBits(l) + intBits(r)
		}
		if a.bits > 63 {
			a.bits, a.fail = 64, true
		}
	}
	return b.fold(b.intern(a, "arith", op, a.up))
}

// divide translates divisions of doubles. MySQL's of decimals keeps more digits inside an expression than it shows.
func (b *exprBuilder) divide(e *expression.Div) (expr, bool) {
	l, ok1 := b.compile(e.LeftChild)
	r, ok2 := b.compile(e.RightChild)
	if !ok1 || !ok2 || !isNumber(l) || !isNumber(r) || l.kind() != classFloat && r.kind() != classFloat {
		return nil, false
	}
	d := &divideExpr{base: base{cls: classFloat, t: doubleType, in: []expr{b.toFloat(l), b.toFloat(r)}, fail: true}, text: e.String()}
	return b.fold(b.intern(d, "divide"))
}

func (b *exprBuilder) toFloat(e expr) expr {
	if e.kind() == classFloat {
		return e
	}
	out, ok := b.fold(b.intern(&castExpr{base: base{cls: classFloat, t: doubleType, in: []expr{e}}}, "cast"))
	if !ok {
		return e
	}
	return out
}

func (b *exprBuilder) toDecimal(e expr) expr {
	if e.kind() == classDecimal {
		return e
	}
	p, _ := digits(e)
	t := &schema.Type{Root: schema.Decimal, Precision: p}
	if c, ok := e.(*constExpr); ok {
		return b.decimal(column.FromInt64(c.value.I), p, 0)
	}
	return b.intern(&castExpr{base: base{cls: classDecimal, t: t, in: []expr{e}}}, "cast")
}

func (b *exprBuilder) negate(e *expression.UnaryMinus) (expr, bool) {
	x, ok := b.compile(e.Child)
	if !ok || !isNumber(x) {
		return nil, false
	}
	t := x.typ()
	fail := false
	if x.kind() == classInt {
		t = bigIntType
		fail = intBits(x) > 63
	}
	return b.fold(b.intern(&negExpr{base: base{cls: x.kind(), t: t, in: []expr{x}, fail: fail}, text: e.String()}, "neg"))
}

func (b *exprBuilder) compare(left, right sql.Expression, op predicate.Op, nullSafe bool) (expr, bool) {
	l, ok1 := b.compile(left)
	r, ok2 := b.compile(right)
	if !ok1 || !ok2 {
		return nil, false
	}
	c := &compareExpr{op: op, nullSafe: nullSafe}
	switch {
	case isNullConst(l) || isNullConst(r):
		return nil, false
	case isNumber(l) && isNumber(r):
		switch {
		case l.kind() == classFloat || r.kind() == classFloat:
			l, r = b.toFloat(l), b.toFloat(r)
		case l.kind() == classDecimal || r.kind() == classDecimal:
			l, r = b.toDecimal(l), b.toDecimal(r)
			s := max(l.typ().Scale, r.typ().Scale)
			c.up = [2]int{s - l.typ().Scale, s - r.typ().Scale}
			if c.up[0] > maxDigits || c.up[1] > maxDigits {
				return nil, false
			}
			c.big = l.typ().Precision+c.up[0] > maxDigits || r.typ().Precision+c.up[1] > maxDigits
		}
	case isMoment(l) || isMoment(r):
		if l, r, ok1 = b.moments(l, r); !ok1 {
			return nil, false
		}
	case l.kind() == classBytes && r.kind() == classBytes:
		if !planner.ComparedAsBytes(b.ctx, left, right) {
			return nil, false
		}
	default:
		return nil, false
	}
	c.cls, c.t, c.in = classInt, boolType, []expr{l, r}
	return b.intern(c, "compare", op, nullSafe, c.up), true
}

// moments makes two dates or times comparable: both in days or both in microseconds.
func (b *exprBuilder) moments(l, r expr) (expr, expr, bool) {
	read := func(e expr) (expr, bool) {
		if c, ok := e.(*constExpr); ok && c.cls == classBytes {
			m, ok := planner.MomentOf(string(c.value.B))
			if !ok {
				return nil, false
			}
			return b.moment(m), true
		}
		return e, isMoment(e)
	}
	l, ok1 := read(l)
	r, ok2 := read(r)
	if !ok1 || !ok2 {
		return nil, nil, false
	}
	days := func(e expr) (expr, bool) {
		if c, ok := e.(*constExpr); ok {
			if c.value.I%microsPerDay != 0 {
				return nil, false
			}
			d := &constExpr{base: base{cls: classInt, t: dateType}, value: column.IntScalar(column.KindInt64, c.value.I/microsPerDay)}
			return b.intern(d, "const", d.value.I), true
		}
		return e, e.typ().Root == schema.Date
	}
	ld, ok1 := days(l)
	rd, ok2 := days(r)
	if ok1 && ok2 {
		return ld, rd, true
	}
	micros := func(e expr) expr {
		if e.typ().Root == schema.Date {
			return b.intern(&daysToMicros{base{cls: classInt, t: momentType, in: []expr{e}}}, "micros")
		}
		return e
	}
	return micros(l), micros(r), true
}

// truth compiles a condition: 1, 0 or NULL.
func (b *exprBuilder) truth(e sql.Expression) (expr, bool) {
	x, ok := b.compile(e)
	if !ok || isNullConst(x) || !isNumber(x) {
		return nil, false
	}
	switch x.(type) {
	case *compareExpr, *logicExpr, *notExpr, *isNullExpr, *inExpr, *textTest, *truthExpr:
		return x, true
	}
	return b.intern(&truthExpr{base{cls: classInt, t: boolType, in: []expr{x}}}, "truth"), true
}

func (b *exprBuilder) logicOf(op logicOp, l, r sql.Expression) (expr, bool) {
	x, ok1 := b.truth(l)
	y, ok2 := b.truth(r)
	if !ok1 || !ok2 {
		return nil, false
	}
	return b.logic(op, x, y), true
}

func (b *exprBuilder) logic(op logicOp, x, y expr) expr {
	return b.intern(&logicExpr{base: base{cls: classInt, t: boolType, in: []expr{x, y}}, op: op}, "logic", op)
}

func (b *exprBuilder) not(x expr) expr {
	return b.intern(&notExpr{base{cls: classInt, t: boolType, in: []expr{x}}}, "not")
}

func (b *exprBuilder) isNull(x expr) expr {
	return b.intern(&isNullExpr{base{cls: classInt, t: boolType, in: []expr{x}}}, "isnull")
}

func (b *exprBuilder) in(left, right sql.Expression) (expr, bool) {
	list, ok := right.(expression.Tuple)
	x, xok := b.compile(left)
	if !ok || !xok || len(list) == 0 {
		return nil, false
	}
	in := &inExpr{base: base{cls: classInt, t: boolType, in: []expr{x}}}
	for _, e := range list {
		v, ok := b.compile(e)
		c, isC := v.(*constExpr)
		if !ok || !isC || c.value.Null {
			return nil, false
		}
		switch {
		case isInteger(x) && isInteger(c):
			if in.ints == nil {
				in.ints = map[int64]struct{}{}
			}
			in.ints[c.value.I] = struct{}{}
		case isText(x) && isText(c) && planner.ComparedAsBytes(b.ctx, left, e):
			if in.texts == nil {
				in.texts = map[string]struct{}{}
			}
			in.texts[string(c.value.B)] = struct{}{}
		default:
			return nil, false
		}
	}
	return b.intern(in, "in", list), true
}
