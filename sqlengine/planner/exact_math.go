package planner

import (
	"math/big"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"

	"github.com/tributarydb/tributary/sqlengine/dialect"
	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/sqlengine/types"
)

// Digits of a quotient of decimals: MySQL computes in words of nine digits and cuts.
const (
	wordDigits     = 9
	divisionDigits = avgExtraScale
)

// ExactMath is an arithmetic expression of exact numbers with a division inside of a function: MySQL rounds a quotient to
// the digits it shows only when it is shown, go-mysql-server whenever the arithmetic ends.
type ExactMath struct {
	expression.BinaryExpressionStub
	op   string
	orig sql.Expression
}

var _ sql.CollationCoercible = (*ExactMath)(nil)

// roundingFunctions are the functions whose value has a scale of its own.
var roundingFunctions = map[string]bool{"round": true, "truncate": true, dialect.KindSum: true, dialect.KindAvg: true}

// unrounded replaces the arithmetic that an argument of a function consists of; other expressions stay.
func unrounded(e sql.Expression) sql.Expression {
	if !divides(e) {
		return e
	}
	if m := newExactMath(e); m != nil {
		return m
	}
	return e
}

// divides reports whether an arithmetic expression has a division.
func divides(e sql.Expression) bool {
	switch e := e.(type) {
	case *expression.Div:
		return true
	case *expression.Arithmetic:
		return divides(e.LeftChild) || divides(e.RightChild)
	}
	return false
}

func newExactMath(e sql.Expression) *ExactMath {
	m := &ExactMath{orig: e}
	switch e := e.(type) {
	case *expression.Div:
		m.op, m.LeftChild, m.RightChild = "/", e.LeftChild, e.RightChild
	case *expression.Arithmetic:
		m.op, m.LeftChild, m.RightChild = e.Op, e.LeftChild, e.RightChild
	default:
		return nil
	}
	switch m.op {
	case "+", "-", "*", "/":
	default:
		return nil
	}
	for _, side := range []*sql.Expression{&m.LeftChild, &m.RightChild} {
		switch (*side).(type) {
		case *expression.Div, *expression.Arithmetic:
			in := newExactMath(*side)
			if in == nil {
				return nil
			}
			*side = in
			continue
		}
		if k := kindOfType((*side).Type()); k != kindInteger && k != kindDecimal {
			return nil
		}
	}
	return m
}

// Type implements sql.Expression.
func (m *ExactMath) Type() sql.Type { return m.orig.Type() }

// String implements sql.Expression.
func (m *ExactMath) String() string { return m.orig.String() }

// CollationCoercibility implements sql.CollationCoercible.
func (m *ExactMath) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren implements sql.Expression.
func (m *ExactMath) WithChildren(kids ...sql.Expression) (sql.Expression, error) {
	if len(kids) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(m, len(kids), 2)
	}
	c := *m
	c.LeftChild, c.RightChild = kids[0], kids[1]
	return &c, nil
}

// Eval implements sql.Expression.
func (m *ExactMath) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	l, err := evalPlain(ctx, m.LeftChild, row)
	if err != nil || l == nil {
		return nil, err
	}
	r, err := evalPlain(ctx, m.RightChild, row)
	if err != nil || r == nil {
		return nil, err
	}
	a, ok1 := toDecimal(l)
	b, ok2 := toDecimal(r)
	if !ok1 || !ok2 {
		return m.orig.Eval(ctx, row)
	}
	switch m.op {
	case "+":
		return a.Add(b), nil
	case "-":
		return a.Sub(b), nil
	case "*":
		return a.Mul(b), nil
	}
	if b.IsZero() {
		ctx.Warn(divisionByZero, "Division by 0")
		return nil, nil
	}
	return quotient(withScale(m.LeftChild.Type(), a).(decimal.Decimal), b), nil
}

// quotient divides as decimal_div of MySQL does with div_precision_increment 4.
func quotient(a, b decimal.Decimal) decimal.Decimal {
	words := func(digits int32) int32 { return (digits + wordDigits - 1) / wordDigits * wordDigits }
	fa, fb := max(-a.Exponent(), 0), max(-b.Exponent(), 0)
	more := max(divisionDigits-(words(fa)-fa)-(words(fb)-fb), 0)
	q, _ := a.QuoRem(b, min(words(words(fa)+words(fb)+more), 2*types.MaxDecimalScale))
	return q
}

// BitMath is &, |, ^, << or >>, whose values are BIGINT UNSIGNED; go-mysql-server declares them signed.
type BitMath struct{ *expression.BitOp }

// newBitMath replaces an operation on bits. Dates and times in it are the numbers they are written as.
func newBitMath(e *expression.BitOp) sql.Expression {
	m := *e
	for _, side := range []*sql.Expression{&m.LeftChild, &m.RightChild} {
		if k := kindOfType((*side).Type()); k == kindMoment || k == kindTimeOfDay {
			isDate := gms.IsDateType((*side).Type())
			*side = &scalarFunction{name: "digits_of", args: []sql.Expression{*side}, typ: always(gms.Int64), strict: true,
				eval: func(_ *sql.Context, a []any) (any, error) {
					if d, ok := momentDecimal(a[0], isDate); ok {
						return d.Round(0).IntPart(), nil
					}
					return a[0], nil
				}}
		}
	}
	return &BitMath{&m}
}

// Type implements sql.Expression.
func (m *BitMath) Type() sql.Type { return gms.Uint64 }

// WithChildren implements sql.Expression.
func (m *BitMath) WithChildren(kids ...sql.Expression) (sql.Expression, error) {
	n, err := m.BitOp.WithChildren(kids...)
	if err != nil {
		return nil, err
	}
	return &BitMath{n.(*expression.BitOp)}, nil
}

// Eval implements sql.Expression.
func (m *BitMath) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := m.BitOp.Eval(ctx, row)
	if i, ok := v.(int64); ok {
		return uint64(i), err
	}
	return v, err
}

// IntegerDivision is DIV, which cuts; go-mysql-server's rounds its operands first.
type IntegerDivision struct{ *expression.IntDiv }

// newIntegerDivision replaces DIV of numbers; nil for others.
func newIntegerDivision(d *expression.IntDiv) sql.Expression {
	for _, e := range []sql.Expression{d.LeftChild, d.RightChild} {
		switch kindOfType(e.Type()) {
		case kindInteger, kindDecimal, kindDouble, kindText:
		default:
			return nil
		}
	}
	return &IntegerDivision{d}
}

// WithChildren implements sql.Expression.
func (d *IntegerDivision) WithChildren(kids ...sql.Expression) (sql.Expression, error) {
	n, err := d.IntDiv.WithChildren(kids...)
	if err != nil {
		return nil, err
	}
	return &IntegerDivision{n.(*expression.IntDiv)}, nil
}

// Eval implements sql.Expression.
func (d *IntegerDivision) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	l, err := evalPlain(ctx, d.LeftChild, row)
	if err != nil || l == nil {
		return nil, err
	}
	r, err := evalPlain(ctx, d.RightChild, row)
	if err != nil || r == nil {
		return nil, err
	}
	a, ok1 := divOperand(ctx, l)
	b, ok2 := divOperand(ctx, r)
	if !ok1 || !ok2 {
		return d.IntDiv.Eval(ctx, row)
	}
	if b.IsZero() {
		ctx.Warn(divisionByZero, "Division by 0")
		return nil, nil
	}
	q, _ := a.QuoRem(b, 0)
	n := q.BigInt()
	_, lu := l.(uint64)
	_, ru := r.(uint64)
	if lu || ru || gms.IsUnsigned(d.LeftChild.Type()) || gms.IsUnsigned(d.RightChild.Type()) {
		if !n.IsUint64() {
			return nil, d.outOfRange("BIGINT UNSIGNED")
		}
		return d.inType(n), nil
	}
	if !n.IsInt64() {
		return nil, d.outOfRange("BIGINT")
	}
	return d.inType(n), nil
}

// inType is a quotient in the type that the division has.
func (d *IntegerDivision) inType(n *big.Int) any {
	if d.Type() == gms.Uint64 || !n.IsInt64() {
		return n.Uint64()
	}
	return n.Int64()
}

// divisionByZero is MySQL's ER_DIVISION_BY_ZERO.
const divisionByZero = 1365

// divOperand is an operand of DIV as a decimal.
func divOperand(ctx *sql.Context, v any) (decimal.Decimal, bool) {
	if d, ok := toDecimal(v); ok {
		return d, true
	}
	switch v.(type) {
	case float64, float32, string, []byte:
		if f := doubleValue(ctx, v); f-f == 0 { // neither NaN nor infinite
			return decimal.NewFromFloat(f), true
		}
	}
	return decimal.Decimal{}, false
}

func (d *IntegerDivision) outOfRange(what string) error { return outOfRange(what, d.IntDiv.String()) }

// outOfRange is MySQL's ER_DATA_OUT_OF_RANGE.
func outOfRange(what, text string) error {
	return errmap.New(1690, "22003", "%s value is out of range in '%s'", what, text)
}
