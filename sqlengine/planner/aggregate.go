package planner

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"github.com/tributarydb/tributary/sqlengine/dialect"
	"github.com/tributarydb/tributary/sqlengine/types"
)

// sumExtraDigits is what SUM adds to the precision of its argument.
const sumExtraDigits = 22

// avgExtraScale is MySQL's div_precision_increment.
const avgExtraScale = 4

// Aggregate is an aggregate that reaches us through package dialect's tunnel:
// SUM, AVG and those of the STDDEV, VARIANCE and BIT families, with MySQL's exact types and values.
type Aggregate struct {
	kind     string
	distinct bool
	child    sql.Expression
	window   *sql.WindowDefinition
	id       sql.ColumnId
}

var (
	_ sql.Aggregation        = (*Aggregate)(nil)
	_ sql.FunctionExpression = (*Aggregate)(nil)
	_ sql.CollationCoercible = (*Aggregate)(nil)
)

// tunnelFunction is the function behind dialect.AggregateTunnel: two arguments
// are ours, one is go-mysql-server's LAST.
func tunnelFunction() sql.Function {
	return sql.FunctionN{Name: dialect.AggregateTunnel, Fn: func(args ...sql.Expression) (sql.Expression, error) {
		if len(args) > 0 {
			name := ""
			if l, ok := args[0].(*expression.Literal); ok {
				name, _ = l.Value().(string)
			}
			if f, ok, err := newWindowFunction(name, args[1:]); ok || err != nil {
				return f, err
			}
			kind, distinct := strings.CutSuffix(name, dialect.DistinctSuffix)
			if _, ok := aggregateKinds[kind]; ok && len(args) == 2 {
				return &Aggregate{kind: kind, distinct: distinct, child: args[1]}, nil
			}
		}
		if len(args) == 1 {
			return aggregation.NewLast(args[0]), nil
		}
		return nil, sql.ErrInvalidArgumentNumber.New(strings.ToUpper(dialect.AggregateTunnel), "1", len(args))
	}}
}

// aggregateKinds are the kinds with whether they are never NULL.
var aggregateKinds = map[string]bool{
	dialect.KindSum: false, dialect.KindAvg: false, dialect.KindStddevPop: false, dialect.KindStddevSamp: false,
	dialect.KindVarPop: false, dialect.KindVarSamp: false, dialect.KindBitAnd: true, dialect.KindBitOr: true,
	dialect.KindBitXor: true, dialect.KindApproxCountDistinct: true,
}

// Kind is one of package dialect's Kind constants.
func (a *Aggregate) Kind() string { return a.kind }

// Distinct says that equal values count once.
func (a *Aggregate) Distinct() bool { return a.distinct }

// Child is the aggregate's argument.
func (a *Aggregate) Child() sql.Expression { return a.child }

// Children implements sql.Expression.
func (a *Aggregate) Children() []sql.Expression {
	out := []sql.Expression{a.child}
	if a.window != nil {
		out = append(out, a.window.ToExpressions()...)
	}
	return out
}

// WithChildren implements sql.Expression.
func (a *Aggregate) WithChildren(kids ...sql.Expression) (sql.Expression, error) {
	if len(kids) < 1 || a.window == nil && len(kids) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(a, len(kids), 1)
	}
	c := *a
	c.child = kids[0]
	if a.window != nil {
		w, err := a.window.FromExpressions(kids[1:])
		if err != nil {
			return nil, err
		}
		c.window = w
	}
	return &c, nil
}

// Resolved implements sql.Expression.
func (a *Aggregate) Resolved() bool {
	if !a.child.Resolved() {
		return false
	}
	return a.window == nil || expression.ExpressionsResolved(a.window.ToExpressions()...)
}

// IsNullable implements sql.Expression.
func (a *Aggregate) IsNullable() bool { return !aggregateKinds[a.kind] }

// Id implements sql.IdExpression.
func (a *Aggregate) Id() sql.ColumnId { return a.id }

// WithId implements sql.IdExpression.
func (a *Aggregate) WithId(id sql.ColumnId) sql.IdExpression {
	c := *a
	c.id = id
	return &c
}

// Window implements sql.WindowAdaptableExpression.
func (a *Aggregate) Window() *sql.WindowDefinition { return a.window }

// WithWindow implements sql.WindowAdaptableExpression.
func (a *Aggregate) WithWindow(w *sql.WindowDefinition) sql.WindowAdaptableExpression {
	c := *a
	c.window = w
	return &c
}

// FunctionName implements sql.FunctionExpression.
func (a *Aggregate) FunctionName() string { return a.kind }

// Description implements sql.FunctionExpression.
func (a *Aggregate) Description() string { return "computes " + a.kind + " over the rows of a group." }

// CollationCoercibility implements sql.CollationCoercible.
func (a *Aggregate) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// String implements sql.Expression; equal aggregates have equal texts.
func (a *Aggregate) String() string {
	distinct := ""
	if a.distinct {
		distinct = "DISTINCT "
	}
	s := fmt.Sprintf("%s(%s%s)", strings.ToUpper(a.kind), distinct, a.child)
	if l, ok := a.child.(*expression.Literal); ok && gms.IsFloat(l.Type()) {
		s = fmt.Sprintf("%s(%s%se0)", strings.ToUpper(a.kind), distinct, a.child) // not AVG(1)
	}
	if a.window != nil {
		s += " " + windowText(a.window)
	}
	return s
}

// DebugString implements sql.DebugStringer.
func (a *Aggregate) DebugString() string { return a.String() }

// Eval implements sql.Expression; the value of an aggregate is its buffer's.
func (a *Aggregate) Eval(*sql.Context, sql.Row) (any, error) {
	return nil, fmt.Errorf("aggregate %s evaluated on a row", a)
}

// numeric is how an aggregate takes its argument.
type numeric uint8

const (
	numericDouble numeric = iota
	numericExact
)

// integerDigits is MySQL's decimal precision of an integer type.
var integerDigits = map[sql.Type]int{
	gms.Boolean: 3, gms.Int8: 3, gms.Uint8: 3, gms.Int16: 5, gms.Uint16: 5, gms.Int24: 8, gms.Uint24: 8,
	gms.Int32: 10, gms.Uint32: 10, gms.Int64: 19, gms.Uint64: 20,
}

// argument classifies the argument's type: as what it is summed, with which precision and scale.
func (a *Aggregate) argument() (n numeric, precision, scale int) {
	t := a.child.Type()
	if c, ok := a.child.(*expression.Case); ok {
		t = caseType(c)
	}
	if p, ok := integerDigits[t]; ok {
		return numericExact, p, 0
	}
	if d, ok := t.(sql.DecimalType); ok {
		return numericExact, int(d.Precision()), int(d.Scale())
	}
	switch t.Type() {
	case sqltypes.Year:
		return numericExact, 4, 0
	case sqltypes.Bit:
		return numericExact, 20, 0
	case sqltypes.Date:
		return numericExact, 8, 0
	case sqltypes.Datetime, sqltypes.Timestamp, sqltypes.Time:
		s := 0
		if dt, ok := t.(sql.DatetimeType); ok {
			s = dt.Precision()
		}
		return numericExact, 14 + s, s
	}
	return numericDouble, 0, 0
}

// Type implements sql.Expression.
func (a *Aggregate) Type() sql.Type {
	switch a.kind {
	case dialect.KindBitAnd, dialect.KindBitOr, dialect.KindBitXor:
		return gms.Uint64
	case dialect.KindApproxCountDistinct:
		return gms.Int64
	case dialect.KindSum, dialect.KindAvg:
		if n, p, s := a.argument(); n == numericExact {
			if a.kind == dialect.KindSum {
				p += sumExtraDigits
			} else {
				p += avgExtraScale
				s = avgScale(s)
			}
			// Not a column type, whose cells are printed with the type's scale: go-mysql-server declares too small a scale
			// for unions of literals. A value prints with its own.
			return gms.MustCreateDecimalType(uint8(min(p, types.MaxDecimalPrecision)), uint8(min(s, types.MaxDecimalScale)))
		}
	}
	return gms.Float64
}

// avgScale is the scale of an average of values of scale s.
func avgScale(s int) int { return min(s+avgExtraScale, types.MaxDecimalScale) }

// NewBuffer implements sql.Aggregation.
func (a *Aggregate) NewBuffer() (sql.AggregationBuffer, error) {
	return &aggregateBuffer{agg: a, acc: a.newAccumulator()}, nil
}

// aggregateBuffer collects one group.
type aggregateBuffer struct {
	agg *Aggregate
	acc accumulator
}

// Update implements sql.AggregationBuffer.
func (b *aggregateBuffer) Update(ctx *sql.Context, row sql.Row) error {
	v, err := b.agg.child.Eval(ctx, row)
	if err != nil || v == nil {
		return err
	}
	return b.acc.add(ctx, v)
}

// Eval implements sql.AggregationBuffer.
func (b *aggregateBuffer) Eval(*sql.Context) (any, error) { return b.acc.result(), nil }

// Dispose implements sql.Disposable.
func (b *aggregateBuffer) Dispose() { expression.Dispose(b.agg.child) }

// NewWindowFunction implements sql.WindowAdaptableExpression; the nodes that ask for it are replaced.
func (a *Aggregate) NewWindowFunction() (sql.WindowFunction, error) {
	return nil, fmt.Errorf("aggregate %s outside of its operator", a)
}
