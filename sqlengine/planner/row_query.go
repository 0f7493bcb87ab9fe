package planner

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	gms "github.com/dolthub/go-mysql-server/sql/types"
)

// RowQuery compares a row with the row that a subquery gives, column by column; go-mysql-server takes NULLs for equal.
type RowQuery struct {
	expression.BinaryExpressionStub
	// orig is the comparison, between rows of literals in the place of the subquery when it is evaluated.
	orig sql.Expression
}

var _ sql.CollationCoercible = (*RowQuery)(nil)

// newRowQuery replaces a comparison of a row with a subquery; nil for others.
func newRowQuery(e sql.Expression) sql.Expression {
	b, ok := e.(expression.BinaryExpression)
	if !ok || !isRowOrQuery(b.Left()) || !isRowOrQuery(b.Right()) {
		return nil
	}
	switch e.(type) {
	case *expression.Equals, *expression.NullSafeEquals, *expression.LessThan, *expression.LessThanOrEqual,
		*expression.GreaterThan, *expression.GreaterThanOrEqual:
	default:
		return nil
	}
	return &RowQuery{BinaryExpressionStub: expression.BinaryExpressionStub{LeftChild: b.Left(), RightChild: b.Right()}, orig: e}
}

func isRowOrQuery(e sql.Expression) bool {
	switch e := e.(type) {
	case expression.Tuple:
		return len(e) > 1
	case *plan.Subquery:
		_, isRow := e.Type().(gms.TupleType)
		return isRow
	}
	return false
}

// Type implements sql.Expression.
func (q *RowQuery) Type() sql.Type { return gms.Boolean }

// IsNullable implements sql.Expression.
func (q *RowQuery) IsNullable() bool { return true }

// CollationCoercibility implements sql.CollationCoercible.
func (q *RowQuery) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// String implements sql.Expression.
func (q *RowQuery) String() string { return q.orig.String() }

// WithChildren implements sql.Expression.
func (q *RowQuery) WithChildren(kids ...sql.Expression) (sql.Expression, error) {
	o, err := q.orig.WithChildren(kids...)
	if err != nil {
		return nil, err
	}
	return &RowQuery{BinaryExpressionStub: expression.BinaryExpressionStub{LeftChild: kids[0], RightChild: kids[1]}, orig: o}, nil
}

// Eval implements sql.Expression. A comparison with a subquery that gives no row is NULL.
func (q *RowQuery) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	var sides [2]sql.Expression
	for i, e := range []sql.Expression{q.LeftChild, q.RightChild} {
		var err error
		if sides[i], err = rowOf(ctx, e, row); err != nil || sides[i] == nil {
			return nil, err
		}
	}
	e, err := q.orig.WithChildren(sides[:]...)
	if err != nil {
		return nil, err
	}
	expanded := expandRows(e)
	if expanded == nil {
		return nil, sql.ErrInvalidOperandColumns.New(len(columnsOfRow(q.LeftChild)), len(columnsOfRow(q.RightChild)))
	}
	return repairRows(ctx, expanded).Eval(ctx, row)
}

// rowOf is a row, as literals where a subquery gives it; nil where that has no row.
func rowOf(ctx *sql.Context, e sql.Expression, row sql.Row) (sql.Expression, error) {
	s, ok := e.(*plan.Subquery)
	if !ok {
		return e, nil
	}
	v, err := s.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	values, ok := v.([]any)
	types := s.Type().(gms.TupleType)
	if !ok || len(values) != len(types) {
		return nil, sql.ErrInvalidOperandColumns.New(len(types), len(values))
	}
	out := make([]sql.Expression, len(types))
	for i, t := range types {
		out[i] = expression.NewLiteral(values[i], t)
	}
	return expression.NewTuple(out...), nil
}

// plainTruths makes numbers of the truth values that the recursive part of a common table expression gives: with UNION DISTINCT
// they are compared with the numbers of its first part.
func plainTruths(n *plan.RecursiveCte) (sql.Node, error) {
	right := n.Right()
	found := false
	fields := make([]sql.Expression, len(right.Schema()))
	for i, c := range right.Schema() {
		f := expression.NewGetField(i, c.Type, c.Name, c.Nullable)
		fields[i] = f
		if c.Type == gms.Boolean {
			found = true
			fields[i] = &scalarFunction{name: "number_of_truth", args: []sql.Expression{f}, typ: always(gms.Int64), strict: true,
				eval: func(ctx *sql.Context, a []any) (any, error) {
					if b, ok := a[0].(bool); ok {
						if b {
							return int64(1), nil
						}
						return int64(0), nil
					}
					return a[0], nil
				}}
		}
	}
	if !found {
		return nil, nil
	}
	return n.WithChildren(n.Left(), plan.NewProject(fields, right))
}
