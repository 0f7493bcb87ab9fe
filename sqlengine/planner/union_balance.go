package planner

import (
	"fmt"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// minBalanced is the number of arms from which a chain of UNIONs is balanced.
const minBalanced = 4

// balanceUnions turns chains of UNION, which the grammar nests to the left, into
// balanced trees. go-mysql-server derives the columns of a nested set operation once for every
// column and level: the 42 arms of JDBC's getTypeInfo would take for ever.
func balanceUnions(s sqlparser.Statement) {
	// The visitor returns no error.
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		if u, ok := n.(*sqlparser.SetOp); ok {
			if arms := chain(u, nil); len(arms) >= minBalanced {
				for _, a := range arms[1:] {
					nameColumns(a)
				}
				m := len(arms) / 2
				u.Left, u.Right = balanced(u.Type, arms[:m]), balanced(u.Type, arms[m:])
			}
		}
		return true, nil
	}, s)
}

// chain returns the arms of a chain of one kind of UNION, from left to right. Only the head may have ORDER BY, LIMIT and WITH.
func chain(u *sqlparser.SetOp, arms []sqlparser.SelectStatement) []sqlparser.SelectStatement {
	switch u.Type {
	case sqlparser.UnionStr, sqlparser.UnionAllStr, sqlparser.UnionDistinctStr:
	default:
		return nil
	}
	for _, side := range []sqlparser.SelectStatement{u.Left, u.Right} {
		inner, ok := side.(*sqlparser.SetOp)
		if ok && inner.Type == u.Type && plainSetOp(inner) {
			arms = chain(inner, arms)
			continue
		}
		arms = append(arms, side)
	}
	return arms
}

func plainSetOp(u *sqlparser.SetOp) bool {
	return len(u.OrderBy) == 0 && u.With == nil && u.Limit == nil && u.Lock == "" && u.Into == nil
}

func balanced(kind string, arms []sqlparser.SelectStatement) sqlparser.SelectStatement {
	if len(arms) == 1 {
		return arms[0]
	}
	m := len(arms) / 2
	return &sqlparser.SetOp{Type: kind, Left: balanced(kind, arms[:m]), Right: balanced(kind, arms[m:])}
}

// nameColumns gives the columns of an arm that is not the first different names: the binder
// takes columns of one text for one column, also the two zeros of SELECT 0, 0.
func nameColumns(arm sqlparser.SelectStatement) {
	sel, ok := arm.(*sqlparser.Select)
	if !ok || len(sel.OrderBy) > 0 {
		return
	}
	for i, e := range sel.SelectExprs {
		if a, ok := e.(*sqlparser.AliasedExpr); ok && a.As.IsEmpty() {
			a.As = sqlparser.NewColIdent(fmt.Sprintf("_union_%d", i))
		}
	}
}
