package planner

import (
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/tributarydb/tributary/sqlengine/dialect"
	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/sqlengine/types"
)

const (
	// castPrecision is the precision of DECIMAL(0).
	castPrecision = 10
	// errTooBigPrecision is MySQL's ER_TOO_BIG_PRECISION.
	errTooBigPrecision = 1426
)

// rewriteExpressions makes CAST(x AS CHAR(n)) cut what it casts: the binder drops a cast of a LONGTEXT to a text, and its length.
// GROUP_CONCAT of several expressions becomes one of CONCAT, for the executor takes the first alone.
func rewriteExpressions(s sqlparser.Statement) {
	// The visitor returns no error.
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		if g, ok := n.(*sqlparser.GroupConcatExpr); ok && len(g.Exprs) > 1 {
			joined := &sqlparser.FuncExpr{Name: sqlparser.NewColIdent("concat"), Exprs: g.Exprs}
			g.Exprs = sqlparser.SelectExprs{&sqlparser.AliasedExpr{Expr: joined}}
		}
		c, ok := n.(*sqlparser.ConvertExpr)
		if !ok || c.Type == nil || c.Type.Length == nil || !strings.EqualFold(c.Type.Type, "char") {
			return true, nil
		}
		text := &sqlparser.ConvertExpr{Name: c.Name, Expr: c.Expr, Type: &sqlparser.ConvertType{Type: c.Type.Type, Charset: c.Type.Charset}}
		length := sqlparser.NewIntVal(c.Type.Length.Val)
		c.Expr = &sqlparser.FuncExpr{Name: sqlparser.NewColIdent("left"), Exprs: sqlparser.SelectExprs{
			&sqlparser.AliasedExpr{Expr: text}, &sqlparser.AliasedExpr{Expr: length},
		}}
		return true, nil
	}, s)
}

// decimalCastFunction is dialect.DecimalCast, which rounds to an integer of at most so many digits.
func decimalCastFunction() sql.Function {
	return sql.FunctionN{Name: dialect.DecimalCast, Fn: func(args ...sql.Expression) (sql.Expression, error) {
		if len(args) != 2 {
			return nil, sql.ErrInvalidArgumentNumber.New(dialect.DecimalCast, 2, len(args))
		}
		p, ok := constantCount(args[1])
		if !ok || p > types.MaxDecimalPrecision {
			return nil, errmap.New(errTooBigPrecision, "42000", "Too-big precision %d specified for '%s'. Maximum is %d.", p, args[0], types.MaxDecimalPrecision)
		}
		if p == 0 {
			p = castPrecision
		}
		typ := gms.MustCreateColumnDecimalType(uint8(p), 0)
		args = []sql.Expression{bytesNumber(args[0], expression.NewLiteral(nil, typ)), args[1]}
		return &scalarFunction{name: dialect.DecimalCast, args: args, typ: always(typ), strict: true, eval: func(ctx *sql.Context, a []any) (any, error) {
			if d, ok := momentDecimal(a[0], gms.IsDateType(args[0].Type())); ok {
				a[0] = d
			}
			if d, ok := castDecimalValue(ctx, a[0]); ok {
				return clampDecimal(ctx, d, typ), nil
			}
			v, _, err := typ.Convert(ctx, a[0])
			return v, err
		}}, nil
	}}
}

// momentDigits is YYYYMMDD of a date and YYYYMMDDhhmmss of a date with a time.
func momentDigits(t time.Time, date bool) int64 {
	layout := "20060102150405"
	if date {
		layout = "20060102"
	}
	n, err := strconv.ParseInt(t.Format(layout), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
