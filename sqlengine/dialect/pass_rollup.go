package dialect

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// The derived table that holds the levels of a rollup.
const (
	rollupTable  = "tributary_r"
	rollupColumn = "tributary_c"
)

// expandRollup turns GROUP BY g1, …, gn WITH ROLLUP into a union of the n+1
// levels of grouping. In a level, grouping columns that are rolled up are NULL
// of their own type, and GROUPING() is a constant. Without an ORDER BY the rows
// come in MySQL's order: sorted by the groups, each super-aggregate row behind
// the rows it sums up.
func expandRollup(q sqlparser.SelectStatement) (sqlparser.SelectStatement, error) {
	sel, ok := q.(*sqlparser.Select)
	if !ok || len(sel.GroupBy) < 2 || !isCall(sel.GroupBy[len(sel.GroupBy)-1], markerRollup) {
		return q, nil
	}
	if q, err := expandWindows(q); err != nil {
		return nil, err
	} else if q, err = splitWindows(q); err != nil {
		return nil, err
	} else if outer := q.(*sqlparser.Select); outer != sel { // the windows are over all levels
		groups := outer.From[0].(*sqlparser.AliasedTableExpr).Expr.(*sqlparser.Subquery)
		groups.Select, err = expandRollup(groups.Select)
		return outer, err
	}
	r := &rollup{sel: sel}
	for _, g := range sel.GroupBy[:len(sel.GroupBy)-1] {
		e, err := r.groupExpr(g)
		if err != nil {
			return nil, err
		}
		r.groups = append(r.groups, e)
	}
	return r.expand()
}

type rollup struct {
	sel    *sqlparser.Select
	groups []sqlparser.Expr
}

// selected returns the expression of the select list at an ordinal or under an
// alias, nil if e names none.
func (r *rollup) selected(e sqlparser.Expr) (sqlparser.Expr, error) {
	switch n := e.(type) {
	case *sqlparser.SQLVal:
		if n.Type != sqlparser.IntVal {
			return nil, nil
		}
		i, err := strconv.Atoi(string(n.Val))
		if err != nil || i < 1 || i > len(r.sel.SelectExprs) {
			return nil, &Error{Number: ErrnoBadField, State: "42S22", Message: fmt.Sprintf("Unknown column '%s' in 'group statement'", n.Val)}
		}
		if ae, ok := r.sel.SelectExprs[i-1].(*sqlparser.AliasedExpr); ok {
			return ae.Expr, nil
		}
	case *sqlparser.ColName:
		if !n.Qualifier.IsEmpty() {
			return nil, nil
		}
		for _, s := range r.sel.SelectExprs {
			if ae, ok := s.(*sqlparser.AliasedExpr); ok && ae.As.Equal(n.Name) {
				return ae.Expr, nil
			}
		}
	}
	return nil, nil
}

// groupExpr resolves an item of GROUP BY.
func (r *rollup) groupExpr(g sqlparser.Expr) (sqlparser.Expr, error) {
	if e, err := r.selected(g); e != nil || err != nil {
		return e, err
	}
	return g, nil
}

// sameExpr compares expressions as GROUP BY does; a missing qualifier matches
// any.
func sameExpr(a, b sqlparser.Expr) bool {
	x, ok1 := a.(*sqlparser.ColName)
	y, ok2 := b.(*sqlparser.ColName)
	if ok1 != ok2 {
		return false
	}
	if ok1 {
		return x.Name.Equal(y.Name) && (x.Qualifier.IsEmpty() || y.Qualifier.IsEmpty() ||
			strings.EqualFold(x.Qualifier.Name.String(), y.Qualifier.Name.String()))
	}
	return strings.EqualFold(sqlparser.String(a), sqlparser.String(b))
}

// level rewrites an expression for the level that groups by the first k groups.
func (r *rollup) level(e sqlparser.Expr, k int) sqlparser.Expr {
	return substitute(e, func(e sqlparser.Expr) (sqlparser.Expr, bool) {
		if isAggregate(e) {
			return e, true // sees the rows, not the groups
		}
		if f, ok := e.(*sqlparser.FuncExpr); ok && f.Name.EqualString("grouping") {
			return r.grouping(f, k)
		}
		for i := k; i < len(r.groups); i++ {
			if sameExpr(e, r.groups[i]) {
				return typedNull(e), true
			}
		}
		return nil, false
	})
}

// typedNull is NULL with the type of e.
func typedNull(e sqlparser.Expr) sqlparser.Expr {
	return &sqlparser.CaseExpr{Whens: []*sqlparser.When{{
		Cond: &sqlparser.ComparisonExpr{Operator: sqlparser.EqualStr, Left: integer("1"), Right: integer("0")},
		Val:  call("any_value", clone(e)),
	}}}
}

// grouping is the value of GROUPING(a, …): one bit for each argument, set when
// it is rolled up.
func (r *rollup) grouping(f *sqlparser.FuncExpr, k int) (sqlparser.Expr, bool) {
	bits := 0
	for _, a := range f.Exprs {
		ae, ok := a.(*sqlparser.AliasedExpr)
		if !ok {
			return nil, false
		}
		bits <<= 1
		arg := ae.Expr
		if e, err := r.selected(arg); e != nil && err == nil {
			arg = e
		}
		for i := k; i < len(r.groups); i++ {
			if sameExpr(arg, r.groups[i]) {
				bits |= 1
				break
			}
		}
	}
	return integer(strconv.Itoa(bits)), true
}

func (r *rollup) expand() (sqlparser.SelectStatement, error) {
	sel := r.sel
	outer := &sqlparser.Select{Comments: sel.Comments, QueryOpts: sqlparser.QueryOpts{Distinct: sel.QueryOpts.Distinct},
		With: sel.With, Limit: sel.Limit, Into: sel.Into}
	var exprs []*sqlparser.AliasedExpr
	column := func() *sqlparser.ColName {
		return &sqlparser.ColName{Name: sqlparser.NewColIdent(rollupColumn + strconv.Itoa(len(exprs))),
			Qualifier: sqlparser.TableName{Name: sqlparser.NewTableIdent(rollupTable)}}
	}
	for _, s := range sel.SelectExprs {
		ae, ok := s.(*sqlparser.AliasedExpr)
		if !ok {
			return nil, unsupported("SELECT * with GROUP BY … WITH ROLLUP", "name the columns")
		}
		header := ae.As.String()
		if c, ok := ae.Expr.(*sqlparser.ColName); ok && header == "" {
			header = c.Name.String()
		} else if header == "" {
			header = ae.InputExpression
		}
		outer.SelectExprs = append(outer.SelectExprs, &sqlparser.AliasedExpr{Expr: column(), As: sqlparser.NewColIdent(header)})
		exprs = append(exprs, ae)
	}
	order := func(e sqlparser.Expr, direction string) {
		outer.OrderBy = append(outer.OrderBy, &sqlparser.Order{Expr: column(), Direction: direction})
		exprs = append(exprs, &sqlparser.AliasedExpr{Expr: e})
	}
	if len(sel.OrderBy) == 0 {
		for _, g := range r.groups {
			order(call("grouping", g), sqlparser.AscScr)
			order(g, sqlparser.AscScr)
		}
	}
	for _, o := range sel.OrderBy {
		e := o.Expr
		if named, err := r.selected(e); err != nil {
			return nil, err
		} else if named != nil {
			e = named
		}
		if _, null := e.(*sqlparser.NullVal); !null {
			order(e, o.Direction)
		}
	}
	var levels sqlparser.SelectStatement
	for k := len(r.groups); k >= 0; k-- {
		level := r.levelSelect(exprs, k)
		if levels == nil {
			levels = level
		} else {
			levels = &sqlparser.SetOp{Type: sqlparser.UnionAllStr, Left: levels, Right: level}
		}
	}
	derived := &sqlparser.Subquery{Select: levels}
	for i := range exprs {
		derived.Columns = append(derived.Columns, sqlparser.NewColIdent(rollupColumn+strconv.Itoa(i)))
	}
	outer.From = sqlparser.TableExprs{&sqlparser.AliasedTableExpr{
		Expr: derived, As: sqlparser.NewTableIdent(rollupTable),
		Auth: sqlparser.AuthInformation{AuthType: sqlparser.AuthType_IGNORE},
	}}
	return outer, nil
}

// levelSelect is the query of one level.
func (r *rollup) levelSelect(exprs []*sqlparser.AliasedExpr, k int) *sqlparser.Select {
	sel := r.sel
	level := &sqlparser.Select{From: clone(sel.From), Where: clone(sel.Where)}
	for i, ae := range exprs {
		as := ae.As
		if as.IsEmpty() {
			as = sqlparser.NewColIdent("tributary_e" + strconv.Itoa(i))
		}
		level.SelectExprs = append(level.SelectExprs, &sqlparser.AliasedExpr{Expr: r.level(ae.Expr, k), As: as})
	}
	for _, g := range r.groups[:k] {
		level.GroupBy = append(level.GroupBy, clone(g))
	}
	if sel.Having != nil {
		level.Having = sqlparser.NewWhere(sqlparser.HavingStr, r.level(sel.Having.Expr, k))
	}
	if k == 0 {
		// A table without rows has no grand total.
		some := sqlparser.Expr(&sqlparser.ComparisonExpr{Operator: sqlparser.GreaterThanStr, Left: &sqlparser.FuncExpr{
			Name: sqlparser.NewColIdent("count"), Exprs: sqlparser.SelectExprs{&sqlparser.StarExpr{}}}, Right: integer("0")})
		if level.Having != nil {
			some = &sqlparser.AndExpr{Left: some, Right: level.Having.Expr}
		}
		level.Having = sqlparser.NewWhere(sqlparser.HavingStr, some)
	}
	return level
}
