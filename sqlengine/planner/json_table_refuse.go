package planner

import (
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/tributarydb/tributary/storage/errs"
)

// refuseJSONTable refuses a JSON_TABLE that stands beside other tables in a subquery that is a value: go-mysql-server
// plans it with columns of the wrong tables, and would answer with NULL.
func refuseJSONTable(s sqlparser.SQLNode) error {
	derived := map[*sqlparser.Subquery]bool{}
	return sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.AliasedTableExpr:
			if q, ok := n.Expr.(*sqlparser.Subquery); ok {
				derived[q] = true
			}
		case *sqlparser.Subquery:
			if derived[n] {
				return true, nil
			}
			return true, sqlparser.Walk(jsonBeside, n.Select)
		}
		return true, nil
	}, s)
}

// jsonBeside refuses a SELECT with JSON_TABLE and another table in its FROM.
func jsonBeside(n sqlparser.SQLNode) (bool, error) {
	sel, ok := n.(*sqlparser.Select)
	if !ok {
		return true, nil
	}
	tables, json := 0, false
	for _, t := range sel.From {
		countTables(t, &tables, &json)
	}
	if json && tables > 1 {
		return false, errs.Unsupportedf("JSON_TABLE beside other tables is not supported in a subquery that is a value; join it in the outer FROM")
	}
	return true, nil
}

func countTables(t sqlparser.TableExpr, n *int, json *bool) {
	switch t := t.(type) {
	case *sqlparser.JoinTableExpr:
		countTables(t.LeftExpr, n, json)
		countTables(t.RightExpr, n, json)
	case *sqlparser.ParenTableExpr:
		for _, x := range t.Exprs {
			countTables(x, n, json)
		}
	case *sqlparser.JSONTableExpr:
		*n++
		*json = true
	default:
		*n++
	}
}
