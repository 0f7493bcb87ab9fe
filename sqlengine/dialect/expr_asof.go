package dialect

import (
	"fmt"
	"strconv"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// AsOfExpr is the expression behind AS OF when it must be computed: a
// parameter, a variable, NOW() - INTERVAL 1 DAY, …. The planner evaluates it
// once, while binding; its value is the encoded [Carrier]. While a prepared
// statement is only being described, the parameter has no value yet and the
// carrier names no point: the newest schema answers for the columns.
type AsOfExpr struct {
	Carrier Carrier // the options
	Point   string  // "version", "timestamp" or "asof"
	Value   sql.Expression
}

var _ sql.Expression = (*AsOfExpr)(nil)

// asOfInjection makes the expression once its argument is bound.
type asOfInjection struct {
	carrier Carrier
	point   string
}

// WithResolvedChildren implements sqlparser.Injectable.
func (a asOfInjection) WithResolvedChildren(children []any) (any, error) {
	if len(children) == 1 {
		if value, ok := children[0].(sql.Expression); ok {
			return &AsOfExpr{Carrier: a.carrier, Point: a.point, Value: value}, nil
		}
	}
	return nil, errMarker
}

func asOfMarker(args []sqlparser.Expr) (sqlparser.Expr, error) {
	if len(args) != 3 {
		return nil, errMarker
	}
	encoded, ok1 := args[0].(*sqlparser.SQLVal)
	point, ok2 := args[1].(*sqlparser.SQLVal)
	if !ok1 || !ok2 {
		return nil, errMarker
	}
	carrier, ok, err := DecodeCarrier(string(encoded.Val))
	if err != nil || !ok {
		return nil, errMarker
	}
	return sqlparser.InjectedExpr{
		Expression: asOfInjection{carrier: carrier, point: string(point.Val)},
		Children:   sqlparser.Exprs{args[2]},
		Auth:       sqlparser.AuthInformation{AuthType: sqlparser.AuthType_IGNORE},
	}, nil
}

// Eval implements sql.Expression.
func (a *AsOfExpr) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	c := a.Carrier
	if hasBindVar(a.Value) {
		return c.Encode(), nil
	}
	v, err := a.Value.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	text, err := pointText(v)
	if err != nil {
		return nil, err
	}
	if text == "" {
		return nil, wrongValue("AS OF", "")
	}
	c.with(a.Point, text)
	return c.Encode(), nil
}

func hasBindVar(e sql.Expression) bool {
	found := false
	sql.Inspect(e, func(e sql.Expression) bool {
		_, bind := e.(*expression.BindVar)
		found = found || bind
		return !found
	})
	return found
}

// pointText writes a value as the text of a point in time or a version.
func pointText(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", wrongValue("AS OF", "NULL")
	case string:
		return v, nil
	case []byte:
		return string(v), nil
	case time.Time:
		return v.Format("2006-01-02 15:04:05.999999"), nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	case float32:
		return strconv.FormatFloat(float64(v), 'f', -1, 32), nil
	case fmt.Stringer: // decimals
		return v.String(), nil
	}
	return fmt.Sprint(v), nil
}

// Resolved implements sql.Expression.
func (a *AsOfExpr) Resolved() bool { return a.Value.Resolved() }

// String implements sql.Expression.
func (a *AsOfExpr) String() string { return a.Point + " as of " + a.Value.String() }

// Type implements sql.Expression.
func (a *AsOfExpr) Type() sql.Type { return types.LongText }

// IsNullable implements sql.Expression.
func (a *AsOfExpr) IsNullable() bool { return false }

// Children implements sql.Expression.
func (a *AsOfExpr) Children() []sql.Expression { return []sql.Expression{a.Value} }

// WithChildren implements sql.Expression.
func (a *AsOfExpr) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(a, len(children), 1)
	}
	b := *a
	b.Value = children[0]
	return &b, nil
}
