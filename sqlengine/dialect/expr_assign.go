package dialect

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// AssignUserVar is @name := value inside an expression. Its value is that of
// Value; evaluating it sets the session's variable.
type AssignUserVar struct {
	Name  string // without the @, lower case
	Value sql.Expression
}

var (
	_ sql.Expression                 = (*AssignUserVar)(nil)
	_ sql.CollationCoercible         = (*AssignUserVar)(nil)
	_ sql.NonDeterministicExpression = (*AssignUserVar)(nil)
)

type assignInjection string

// WithResolvedChildren implements sqlparser.Injectable.
func (a assignInjection) WithResolvedChildren(children []any) (any, error) {
	if len(children) == 1 {
		if value, ok := children[0].(sql.Expression); ok {
			return &AssignUserVar{Name: string(a), Value: value}, nil
		}
	}
	return nil, errMarker
}

func assignMarker(args []sqlparser.Expr) (sqlparser.Expr, error) {
	if len(args) != 2 {
		return nil, errMarker
	}
	name, ok := args[0].(*sqlparser.SQLVal)
	if !ok {
		return nil, errMarker
	}
	return sqlparser.InjectedExpr{
		Expression: assignInjection(name.Val),
		Children:   sqlparser.Exprs{args[1]},
		Auth:       sqlparser.AuthInformation{AuthType: sqlparser.AuthType_IGNORE},
	}, nil
}

// Eval implements sql.Expression.
func (a *AssignUserVar) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := a.Value.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	return v, ctx.SetUserVariable(ctx, a.Name, v, a.Value.Type())
}

// IsNonDeterministic implements sql.NonDeterministicExpression.
func (a *AssignUserVar) IsNonDeterministic() bool { return true }

// CollationCoercibility implements sql.CollationCoercible.
func (a *AssignUserVar) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, a.Value)
}

// Resolved implements sql.Expression.
func (a *AssignUserVar) Resolved() bool { return a.Value.Resolved() }

// String implements sql.Expression.
func (a *AssignUserVar) String() string { return fmt.Sprintf("@%s:=%s", a.Name, a.Value) }

// Type implements sql.Expression.
func (a *AssignUserVar) Type() sql.Type { return a.Value.Type() }

// IsNullable implements sql.Expression.
func (a *AssignUserVar) IsNullable() bool { return a.Value.IsNullable() }

// Children implements sql.Expression.
func (a *AssignUserVar) Children() []sql.Expression { return []sql.Expression{a.Value} }

// WithChildren implements sql.Expression.
func (a *AssignUserVar) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(a, len(children), 1)
	}
	b := *a
	b.Value = children[0]
	return &b, nil
}
