package dialect

import (
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// Functions that operators become, so that the planner's function provider can
// serve them.
const (
	RegexpFunction      = "regexp_like"  // (text, pattern): REGEXP, RLIKE
	JSONExtractFunction = "json_extract" // (json, path): ->
	JSONUnquoteFunction = "json_unquote" // (json): ->> with JSONExtractFunction inside
)

// OperatorsToFunctions turns REGEXP and RLIKE, -> and ->> into function calls:
// go-mysql-server builds those operators itself, REGEXP with a new regular
// expression for each row.
func OperatorsToFunctions(stmt sqlparser.Statement) (sqlparser.Statement, error) {
	return walk(stmt, &visitor{expr: operatorToFunction})
}

func operatorToFunction(e sqlparser.Expr) (sqlparser.Expr, error) {
	switch n := e.(type) {
	case *sqlparser.ComparisonExpr:
		switch n.Operator {
		case sqlparser.RegexpStr:
			return call(RegexpFunction, n.Left, n.Right), nil
		case sqlparser.NotRegexpStr:
			return &sqlparser.NotExpr{Expr: call(RegexpFunction, n.Left, n.Right)}, nil
		}
	case *sqlparser.BinaryExpr:
		switch n.Operator {
		case sqlparser.JSONExtractOp:
			return call(JSONExtractFunction, n.Left, n.Right), nil
		case sqlparser.JSONUnquoteExtractOp:
			return call(JSONUnquoteFunction, call(JSONExtractFunction, n.Left, n.Right)), nil
		}
	}
	return e, nil
}
