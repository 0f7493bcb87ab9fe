package planner

import "github.com/dolthub/vitess/go/vt/sqlparser"

// cutCasts makes CAST(x AS CHAR(n)) cut what it casts: the binder drops a cast of a LONGTEXT to a text, and its length.
func cutCasts(s sqlparser.Statement) {
	// The visitor returns no error.
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		c, ok := n.(*sqlparser.ConvertExpr)
		if !ok || c.Type == nil || c.Type.Length == nil || c.Type.Type != "char" && c.Type.Type != "CHAR" {
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
