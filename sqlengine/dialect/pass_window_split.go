package dialect

import (
	"strconv"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// The derived table that holds the groups below window functions.
const (
	groupsTable  = "tributary_g"
	groupsColumn = "tributary_w"
)

// SplitWindows parts queries that group and use window functions, which
// go-mysql-server cannot plan together, in two: a derived table that groups and
// filters the groups, and around it the window functions, DISTINCT, the order
// and the limit.
func SplitWindows(stmt sqlparser.Statement) (sqlparser.Statement, error) {
	return walk(stmt, &visitor{query: splitWindows})
}

// splitWindows works on queries whose windows have no names any more.
func splitWindows(q sqlparser.SelectStatement) (sqlparser.SelectStatement, error) {
	sel, ok := q.(*sqlparser.Select)
	if !ok || !usesWindow(sel) {
		return q, nil
	}
	if len(sel.GroupBy) == 0 && !hasAggregate(sel) {
		return distinctWindows(sel), nil
	}
	s := &windowSplit{sel: sel, inner: &sqlparser.Select{From: sel.From, Where: sel.Where, Having: sel.Having}}
	return s.split()
}

// usesWindow reports whether the select list or ORDER BY hold a window function
// of this query.
func usesWindow(sel *sqlparser.Select) bool {
	for _, s := range sel.SelectExprs {
		if ae, ok := s.(*sqlparser.AliasedExpr); ok && holdsWindow(ae.Expr) {
			return true
		}
	}
	for _, o := range sel.OrderBy {
		if holdsWindow(o.Expr) {
			return true
		}
	}
	return false
}

func holdsWindow(e sqlparser.Expr) bool {
	return holds(e, func(e sqlparser.Expr) bool {
		f, ok := e.(*sqlparser.FuncExpr)
		return ok && f.Over != nil
	})
}

// holds reports whether an expression has a part, outside of subqueries, for
// which match holds.
func holds(e sqlparser.Expr, match func(sqlparser.Expr) bool) bool {
	found := false
	substitute(e, func(e sqlparser.Expr) (sqlparser.Expr, bool) {
		found = found || match(e)
		_, query := e.(*sqlparser.Subquery)
		return e, found || query
	})
	return found
}

// distinctWindows parts SELECT DISTINCT with window functions and an order, whose
// sorting go-mysql-server cannot bind: the inner query has the functions, the
// outer one takes each row once and sorts. Queries that sort by something else
// than members of the select list stay as they are.
func distinctWindows(sel *sqlparser.Select) *sqlparser.Select {
	if !sel.QueryOpts.Distinct || len(sel.OrderBy) == 0 {
		return sel
	}
	s := &windowSplit{sel: sel, inner: &sqlparser.Select{From: sel.From, Where: sel.Where, Having: sel.Having}}
	outer := s.around()
	for _, x := range sel.SelectExprs {
		ae, ok := x.(*sqlparser.AliasedExpr)
		if !ok {
			return sel
		}
		outer.SelectExprs = append(outer.SelectExprs, &sqlparser.AliasedExpr{Expr: s.column(ae.Expr, ae.As), As: header(ae)})
	}
	columns := len(s.exprs)
	names := &rollup{sel: sel}
	for _, o := range sel.OrderBy {
		e, err := names.selected(o.Expr)
		if err != nil {
			return sel // an ordinal that is no position
		}
		if e == nil {
			e = o.Expr
		}
		e = s.column(e, sqlparser.ColIdent{})
		outer.OrderBy = append(outer.OrderBy, &sqlparser.Order{Expr: e, Direction: o.Direction})
	}
	if len(s.exprs) > columns {
		return sel
	}
	s.derive(outer)
	return outer
}

type windowSplit struct {
	sel   *sqlparser.Select
	inner *sqlparser.Select
	exprs []sqlparser.Expr // of the inner select list
}

// column is the outer query's column for an expression over the groups.
func (s *windowSplit) column(e sqlparser.Expr, as sqlparser.ColIdent) sqlparser.Expr {
	at := -1
	for i, x := range s.exprs {
		if as.IsEmpty() && sameExpr(x, e) {
			at = i
			break
		}
	}
	if at < 0 {
		at = len(s.exprs)
		s.exprs = append(s.exprs, e)
		if as.IsEmpty() {
			as = sqlparser.NewColIdent(groupsColumn + "e" + strconv.Itoa(at))
		}
		s.inner.SelectExprs = append(s.inner.SelectExprs, &sqlparser.AliasedExpr{Expr: e, As: as})
	}
	return &sqlparser.ColName{Name: sqlparser.NewColIdent(groupsColumn + strconv.Itoa(at)),
		Qualifier: sqlparser.TableName{Name: sqlparser.NewTableIdent(groupsTable)}}
}

// outer rewrites an expression with window functions for the outer query: its
// greatest parts without them become columns.
func (s *windowSplit) outer(e sqlparser.Expr) sqlparser.Expr {
	return substitute(e, func(e sqlparser.Expr) (sqlparser.Expr, bool) {
		switch n := e.(type) {
		case sqlparser.ValTuple, *sqlparser.IntervalExpr:
			return nil, false // no values that a column could have
		case *sqlparser.ComparisonExpr:
			if _, ok := n.Right.(*sqlparser.Subquery); ok && holdsWindow(n.Left) {
				c := *n
				c.Left = s.outer(n.Left)
				return &c, true
			}
		}
		if holdsWindow(e) {
			return nil, false
		}
		if !holds(e, ofGroups) {
			return e, true
		}
		return s.column(e, sqlparser.ColIdent{}), true
	})
}

// ofGroups reports whether an expression has another value in each group: it is
// a column, an aggregate, or a subquery, which may use columns.
func ofGroups(e sqlparser.Expr) bool {
	switch n := e.(type) {
	case *sqlparser.ColName:
		name := n.Name.String()
		return name == "" || name[0] != '@'
	case *sqlparser.Subquery:
		return true
	}
	return isAggregate(e)
}

// aliased replaces the names of members of the select list by what they stand for.
func (s *windowSplit) aliased(e sqlparser.Expr) sqlparser.Expr {
	return substitute(e, func(e sqlparser.Expr) (sqlparser.Expr, bool) {
		switch n := e.(type) {
		case *sqlparser.Subquery:
			return e, true
		case *sqlparser.ColName:
			if !n.Qualifier.IsEmpty() {
				return e, true
			}
			for _, x := range s.sel.SelectExprs {
				if ae, ok := x.(*sqlparser.AliasedExpr); ok && !ae.As.IsEmpty() && ae.As.Equal(n.Name) {
					return clone(ae.Expr), true
				}
			}
			return e, true
		}
		return e, isAggregate(e) // sees the rows, not the select list
	})
}

func (s *windowSplit) split() (sqlparser.SelectStatement, error) {
	sel := s.sel
	outer := s.around()
	for _, x := range sel.SelectExprs {
		ae, ok := x.(*sqlparser.AliasedExpr)
		if !ok {
			return nil, unsupported("SELECT * with GROUP BY and a window function", "name the columns")
		}
		item := &sqlparser.AliasedExpr{As: header(ae)}
		if holdsWindow(ae.Expr) {
			item.Expr = s.outer(ae.Expr)
		} else {
			item.Expr = s.column(ae.Expr, ae.As) // GROUP BY and HAVING may name it
		}
		outer.SelectExprs = append(outer.SelectExprs, item)
	}
	for _, o := range sel.OrderBy {
		e := o.Expr
		if _, position := e.(*sqlparser.SQLVal); !position && !s.isHeader(e) {
			if e = s.aliased(e); holdsWindow(e) {
				e = s.outer(e)
			} else if holds(e, ofGroups) {
				e = s.column(e, sqlparser.ColIdent{})
			}
		}
		outer.OrderBy = append(outer.OrderBy, &sqlparser.Order{Expr: e, Direction: o.Direction})
	}
	ordinals := &rollup{sel: sel}
	for _, g := range sel.GroupBy {
		if v, ok := g.(*sqlparser.SQLVal); ok {
			e, err := ordinals.selected(v)
			if err != nil {
				return nil, err
			}
			if e != nil {
				g = clone(e)
			}
		}
		s.inner.GroupBy = append(s.inner.GroupBy, g)
	}
	if len(s.exprs) == 0 { // COUNT(*) OVER () alone
		s.column(integer("1"), sqlparser.ColIdent{})
	}
	s.derive(outer)
	return outer, nil
}

// around is the outer query, without its select list and order.
func (s *windowSplit) around() *sqlparser.Select {
	sel := s.sel
	return &sqlparser.Select{Comments: sel.Comments, QueryOpts: sel.QueryOpts, With: sel.With, Limit: sel.Limit, Into: sel.Into, Lock: sel.Lock}
}

// derive puts the inner query into the outer one.
func (s *windowSplit) derive(outer *sqlparser.Select) {
	derived := &sqlparser.Subquery{Select: s.inner}
	for i := range s.exprs {
		derived.Columns = append(derived.Columns, sqlparser.NewColIdent(groupsColumn+strconv.Itoa(i)))
	}
	outer.From = sqlparser.TableExprs{&sqlparser.AliasedTableExpr{
		Expr: derived, As: sqlparser.NewTableIdent(groupsTable),
		Auth: sqlparser.AuthInformation{AuthType: sqlparser.AuthType_IGNORE},
	}}
}

// header is the name of a member of the select list.
func header(ae *sqlparser.AliasedExpr) sqlparser.ColIdent {
	if !ae.As.IsEmpty() {
		return ae.As
	}
	if c, ok := ae.Expr.(*sqlparser.ColName); ok {
		return c.Name
	}
	return sqlparser.NewColIdent(ae.InputExpression)
}

// isHeader reports whether an expression of ORDER BY is the alias of a member of
// the select list.
func (s *windowSplit) isHeader(e sqlparser.Expr) bool {
	c, ok := e.(*sqlparser.ColName)
	if !ok || !c.Qualifier.IsEmpty() {
		return false
	}
	for _, x := range s.sel.SelectExprs {
		if ae, ok := x.(*sqlparser.AliasedExpr); ok && !ae.As.IsEmpty() && ae.As.Equal(c.Name) {
			return true
		}
	}
	return false
}
