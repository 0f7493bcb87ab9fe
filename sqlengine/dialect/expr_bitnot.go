package dialect

import (
	"fmt"
	"math"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// BitNot is ~value: the 64 bits of value inverted, as BIGINT UNSIGNED.
type BitNot struct {
	Value sql.Expression
}

var (
	_ sql.Expression         = (*BitNot)(nil)
	_ sql.CollationCoercible = (*BitNot)(nil)
)

type bitNotInjection struct{}

// WithResolvedChildren implements sqlparser.Injectable.
func (bitNotInjection) WithResolvedChildren(children []any) (any, error) {
	if len(children) == 1 {
		if value, ok := children[0].(sql.Expression); ok {
			return &BitNot{Value: value}, nil
		}
	}
	return nil, errMarker
}

// Eval implements sql.Expression.
func (b *BitNot) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := b.Value.Eval(ctx, row)
	if v == nil || err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case uint64:
		return ^v, nil
	case int64:
		return ^uint64(v), nil
	}
	d, _, err := types.InternalDecimalType.Convert(ctx, v)
	if err != nil {
		return nil, err
	}
	n, ok := d.(decimal.Decimal)
	if !ok {
		return nil, sql.ErrInvalidType.New(b.Value.Type().String())
	}
	n = n.Round(0)
	switch {
	case n.Sign() < 0 && n.LessThan(decimal.NewFromInt(math.MinInt64)):
		return ^(uint64(1) << 63), nil
	case n.Sign() < 0:
		return ^uint64(n.IntPart()), nil
	case !n.BigInt().IsUint64():
		return uint64(0), nil
	}
	return ^n.BigInt().Uint64(), nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (b *BitNot) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// Resolved implements sql.Expression.
func (b *BitNot) Resolved() bool { return b.Value.Resolved() }

// String implements sql.Expression.
func (b *BitNot) String() string { return fmt.Sprintf("~%s", b.Value) }

// Type implements sql.Expression.
func (b *BitNot) Type() sql.Type { return types.Uint64 }

// IsNullable implements sql.Expression.
func (b *BitNot) IsNullable() bool { return b.Value.IsNullable() }

// Children implements sql.Expression.
func (b *BitNot) Children() []sql.Expression { return []sql.Expression{b.Value} }

// WithChildren implements sql.Expression.
func (b *BitNot) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(b, len(children), 1)
	}
	return &BitNot{Value: children[0]}, nil
}
