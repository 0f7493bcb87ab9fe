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
				alignConstants(arms)
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

// alignConstants gives the constants of a column of a union one type. go-mysql-server converts the sides of
// every set operation whose types differ, integers of different size and NULLs as well, and derives the columns of
// a set operation once for every column of the conversion around it.
func alignConstants(arms []sqlparser.SelectStatement) {
	selects := make([]*sqlparser.Select, len(arms))
	for i, a := range arms {
		sel, ok := a.(*sqlparser.Select)
		if !ok || len(sel.SelectExprs) != len(selectsOf(arms[0])) {
			return
		}
		selects[i] = sel
	}
	for c := range selects[0].SelectExprs {
		kind := constantNull
		exprs := make([]*sqlparser.AliasedExpr, len(selects))
		for i, sel := range selects {
			a, ok := sel.SelectExprs[c].(*sqlparser.AliasedExpr)
			if !ok {
				return
			}
			exprs[i] = a
			kind = kind.with(constantKind(a.Expr))
		}
		for _, a := range exprs {
			_, null := a.Expr.(*sqlparser.NullVal)
			switch {
			case kind == constantInteger:
				a.Expr = &sqlparser.ConvertExpr{Name: "CAST", Expr: a.Expr, Type: &sqlparser.ConvertType{Type: "signed"}}
			case kind == constantText && null:
				a.Expr = &sqlparser.ConvertExpr{Name: "CAST", Expr: a.Expr, Type: &sqlparser.ConvertType{Type: "char"}}
			}
		}
	}
}

func selectsOf(arm sqlparser.SelectStatement) sqlparser.SelectExprs {
	if sel, ok := arm.(*sqlparser.Select); ok {
		return sel.SelectExprs
	}
	return nil
}

// constant is what the expressions of a column are.
type constant uint8

const (
	constantNull constant = iota
	constantInteger
	constantText
	constantOther
)

func (c constant) with(d constant) constant {
	switch {
	case c == d || d == constantNull:
		return c
	case c == constantNull:
		return d
	}
	return constantOther
}

func constantKind(e sqlparser.Expr) constant {
	switch e := e.(type) {
	case *sqlparser.NullVal:
		return constantNull
	case *sqlparser.UnaryExpr:
		if e.Operator == sqlparser.MinusStr && constantKind(e.Expr) == constantInteger {
			return constantInteger
		}
	case *sqlparser.SQLVal:
		switch {
		case e.Type == sqlparser.IntVal && len(e.Val) < maxIntegerDigits:
			return constantInteger
		case e.Type == sqlparser.StrVal:
			return constantText
		}
	}
	return constantOther
}

// maxIntegerDigits is the length from which an integer literal may exceed BIGINT.
const maxIntegerDigits = 19
