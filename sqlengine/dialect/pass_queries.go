package dialect

import (
	"fmt"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// NormalizeQueries avoids shapes that go-mysql-server v0.20.0 answers wrongly:
//
//   - LEFT, RIGHT and FULL JOIN … ON TRUE (or FALSE) become ON 1=1 (1=0); a
//     literal makes them inner joins there.
//   - LIMIT 0 on an aggregate query without GROUP BY becomes WHERE FALSE HAVING
//     FALSE; it ends in a nil dereference there. Nothing is read either way.
//   - ORDER BY (alias) loses its parentheses, with which the alias is not found.
func NormalizeQueries(stmt sqlparser.Statement) (sqlparser.Statement, error) {
	return walk(stmt, &visitor{query: normalizeQuery, table: normalizeJoin})
}

func normalizeJoin(t sqlparser.TableExpr) error {
	j, ok := t.(*sqlparser.JoinTableExpr)
	if !ok {
		return nil
	}
	switch j.Join {
	case sqlparser.LeftJoinStr, sqlparser.RightJoinStr, sqlparser.FullOuterJoinStr:
	default:
		return nil
	}
	truth, ok := literalTruth(j.Condition.On)
	if !ok {
		return nil
	}
	other := "0"
	if truth {
		other = "1"
	}
	j.Condition.On = &sqlparser.ComparisonExpr{Operator: sqlparser.EqualStr, Left: integer("1"), Right: integer(other)}
	return nil
}

// literalTruth returns the truth of TRUE, FALSE and integer literals.
func literalTruth(e sqlparser.Expr) (truth, ok bool) {
	switch n := e.(type) {
	case *sqlparser.ParenExpr:
		return literalTruth(n.Expr)
	case sqlparser.BoolVal:
		return bool(n), true
	case *sqlparser.SQLVal:
		if n.Type == sqlparser.IntVal {
			return string(n.Val) != "0", true
		}
	}
	return false, false
}

func normalizeQuery(q sqlparser.SelectStatement) (sqlparser.SelectStatement, error) {
	switch n := q.(type) {
	case *sqlparser.Select:
		stripOrderParens(n.OrderBy)
		if limitZero(n.Limit) && len(n.GroupBy) == 0 && hasAggregate(n) {
			n.Where = sqlparser.NewWhere(sqlparser.WhereStr, sqlparser.BoolVal(false))
			n.Having = sqlparser.NewWhere(sqlparser.HavingStr, sqlparser.BoolVal(false))
			n.Limit = nil
		}
	case *sqlparser.SetOp:
		stripOrderParens(n.OrderBy)
	}
	return q, nil
}

func stripOrderParens(orders sqlparser.OrderBy) {
	for _, o := range orders {
		e := o.Expr
		for {
			p, ok := e.(*sqlparser.ParenExpr)
			if !ok {
				break
			}
			e = p.Expr
		}
		if _, ok := e.(*sqlparser.ColName); ok {
			o.Expr = e
		}
	}
}

func limitZero(l *sqlparser.Limit) bool {
	if l == nil {
		return false
	}
	v, ok := l.Rowcount.(*sqlparser.SQLVal)
	return ok && v.Type == sqlparser.IntVal && string(v.Val) == "0"
}

// ExpandWindows puts the definitions of a WINDOW clause in the place of their
// names: go-mysql-server ignores the ORDER BY of a named window.
func ExpandWindows(stmt sqlparser.Statement) (sqlparser.Statement, error) {
	return walk(stmt, &visitor{query: expandWindows})
}

func expandWindows(q sqlparser.SelectStatement) (sqlparser.SelectStatement, error) {
	sel, ok := q.(*sqlparser.Select)
	if !ok || len(sel.Window) == 0 {
		return q, nil
	}
	defs := map[string]*sqlparser.WindowDef{}
	for _, w := range sel.Window {
		if defs[w.Name.Lowered()] != nil {
			return nil, &Error{Number: ErrnoDuplicateWindow, State: sqlStateGeneral,
				Message: fmt.Sprintf("Window '%s' is defined twice.", w.Name.String())}
		}
		unwrapBounds(w.Frame)
		defs[w.Name.Lowered()] = w
	}
	var failed error
	visit := func(n sqlparser.SQLNode) (bool, error) {
		if _, ok := n.(*sqlparser.Subquery); ok {
			return false, nil
		}
		if f, ok := n.(*sqlparser.FuncExpr); ok && f.Over != nil {
			def, err := resolveWindow((*sqlparser.WindowDef)(f.Over), defs, 0)
			if err != nil {
				failed = err
				return false, err
			}
			f.Over = (*sqlparser.Over)(def)
		}
		return true, nil
	}
	if err := sqlparser.Walk(visit, sel.SelectExprs, sel.OrderBy); err != nil {
		return nil, failed
	}
	sel.Window = nil
	return sel, nil
}

// boundUnit is the unit that marks a bound of a frame that is a number or a
// parameter: vitess takes integers and intervals. Intervals of that unit with a
// literal have become others before.
const boundUnit = "DAY_MICROSECOND"

// unwrapBounds puts marked bounds of a frame back.
func unwrapBounds(f *sqlparser.Frame) {
	if f == nil || f.Extent == nil {
		return
	}
	for _, b := range []*sqlparser.FrameBound{f.Extent.Start, f.Extent.End} {
		if b == nil {
			continue
		}
		if i, ok := b.Expr.(*sqlparser.IntervalExpr); ok && strings.EqualFold(i.Unit, boundUnit) {
			b.Expr = i.Expr
		}
	}
}

// resolveWindow returns the definition with what it takes from the window it
// names.
func resolveWindow(w *sqlparser.WindowDef, defs map[string]*sqlparser.WindowDef, depth int) (*sqlparser.WindowDef, error) {
	if w.NameRef.IsEmpty() {
		return w, nil
	}
	base := defs[w.NameRef.Lowered()]
	if base == nil {
		return nil, &Error{Number: ErrnoNoSuchWindow, State: sqlStateGeneral,
			Message: fmt.Sprintf("Window name '%s' is not defined.", w.NameRef.String())}
	}
	if depth > len(defs) {
		return nil, &Error{Number: ErrnoWindowCycle, State: sqlStateGeneral, Message: "There is a circularity in the window dependency graph."}
	}
	base, err := resolveWindow(base, defs, depth+1)
	if err != nil {
		return nil, err
	}
	out := &sqlparser.WindowDef{PartitionBy: base.PartitionBy, OrderBy: base.OrderBy, Frame: base.Frame}
	if len(w.OrderBy) > 0 {
		out.OrderBy = w.OrderBy
	}
	if w.Frame != nil {
		out.Frame = w.Frame
	}
	return out, nil
}
