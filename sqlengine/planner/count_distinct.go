package planner

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	gms "github.com/dolthub/go-mysql-server/sql/types"
)

// CountDistinct is COUNT(DISTINCT x, …) by value: go-mysql-server's takes binary
// strings for text and fails on them.
type CountDistinct struct {
	args    []sql.Expression
	classes []compareClass
	id      sql.ColumnId
}

var (
	_ sql.Aggregation        = (*CountDistinct)(nil)
	_ sql.CollationCoercible = (*CountDistinct)(nil)
)

// newCountDistinct replaces go-mysql-server's; nil for values that we have no key for.
func newCountDistinct(ctx *sql.Context, e *aggregation.CountDistinct) sql.Expression {
	if e.Window() != nil {
		return nil
	}
	n := &CountDistinct{args: e.Children(), id: e.Id()}
	for _, a := range n.args {
		c := classOf(ctx, a, a)
		if c == classOther && !gms.IsNull(a) {
			return nil
		}
		n.classes = append(n.classes, c)
	}
	return n
}

// Children implements sql.Expression.
func (n *CountDistinct) Children() []sql.Expression { return n.args }

// WithChildren implements sql.Expression.
func (n *CountDistinct) WithChildren(kids ...sql.Expression) (sql.Expression, error) {
	if len(kids) != len(n.args) {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(kids), len(n.args))
	}
	c := *n
	c.args = kids
	return &c, nil
}

// Resolved implements sql.Expression.
func (n *CountDistinct) Resolved() bool { return expression.ExpressionsResolved(n.args...) }

// Type implements sql.Expression.
func (n *CountDistinct) Type() sql.Type { return gms.Int64 }

// IsNullable implements sql.Expression.
func (n *CountDistinct) IsNullable() bool { return false }

// Id implements sql.IdExpression.
func (n *CountDistinct) Id() sql.ColumnId { return n.id }

// WithId implements sql.IdExpression.
func (n *CountDistinct) WithId(id sql.ColumnId) sql.IdExpression {
	c := *n
	c.id = id
	return &c
}

// Window implements sql.WindowAdaptableExpression; COUNT(DISTINCT) has none.
func (n *CountDistinct) Window() *sql.WindowDefinition { return nil }

// WithWindow implements sql.WindowAdaptableExpression.
func (n *CountDistinct) WithWindow(*sql.WindowDefinition) sql.WindowAdaptableExpression { return n }

// NewWindowFunction implements sql.WindowAdaptableExpression.
func (n *CountDistinct) NewWindowFunction() (sql.WindowFunction, error) {
	return nil, fmt.Errorf("%s is no window function", n)
}

// CollationCoercibility implements sql.CollationCoercible.
func (n *CountDistinct) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// String implements sql.Expression.
func (n *CountDistinct) String() string {
	args := make([]string, len(n.args))
	for i, a := range n.args {
		args[i] = a.String()
	}
	return "COUNT(DISTINCT " + strings.Join(args, ", ") + ")"
}

// Eval implements sql.Expression; the value is the buffer's.
func (n *CountDistinct) Eval(*sql.Context, sql.Row) (any, error) {
	return nil, fmt.Errorf("aggregate %s evaluated on a row", n)
}

// NewBuffer implements sql.Aggregation.
func (n *CountDistinct) NewBuffer() (sql.AggregationBuffer, error) {
	return &countDistinctBuffer{n: n, seen: map[string]struct{}{}}, nil
}

type countDistinctBuffer struct {
	n    *CountDistinct
	seen map[string]struct{}
	key  []byte
}

// Update implements sql.AggregationBuffer: a row with a NULL does not count.
func (b *countDistinctBuffer) Update(ctx *sql.Context, row sql.Row) error {
	b.key = b.key[:0]
	for i, a := range b.n.args {
		v, err := evalPlain(ctx, a, row)
		if err != nil || v == nil {
			return err
		}
		var ok bool
		if b.key, ok = appendKey(b.key, b.n.classes[i], v); !ok {
			return fmt.Errorf("%s: a value of type %T", b.n, v)
		}
	}
	b.seen[string(b.key)] = struct{}{}
	return nil
}

// Eval implements sql.AggregationBuffer.
func (b *countDistinctBuffer) Eval(*sql.Context) (any, error) { return int64(len(b.seen)), nil }

// Dispose implements sql.Disposable.
func (b *countDistinctBuffer) Dispose() {
	for _, a := range b.n.args {
		expression.Dispose(a)
	}
}
