package planner

import (
	"maps"
	"reflect"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	gms "github.com/dolthub/go-mysql-server/sql/types"
)

// unionRule gives the columns of set operations the types that MySQL derives from all sides.
// Go-mysql-server's binder converts sides of different types by a cast that may cut values, and takes the
// types of the left side for what stands above.
func unionRule(_ *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	if engineOf(a) == nil || !isTop(scope, sel) || plan.IsDDLNode(n) || !n.Resolved() {
		return n, transform.SameTree, nil
	}
	out, _, err := retype(n, nil)
	if err != nil || sameNode(out, n) {
		return n, transform.SameTree, err
	}
	return out, transform.NewTree, nil
}

// retyped are the new types of columns.
type retyped map[sql.ColumnId]sql.Type

// retype handles the set operations in and below n. outer are columns of outer rows with new types; the
// result says which of n's columns have new types.
func retype(n sql.Node, outer retyped) (sql.Node, retyped, error) {
	switch n := n.(type) {
	case *plan.RecursiveCte:
		return retypeRecursive(n, outer)
	case *plan.SetOp:
		return retypeSetOp(n, outer)
	case *plan.SubqueryAlias:
		return retypeDerived(n, outer)
	}
	seen := maps.Clone(outer)
	if seen == nil {
		seen = retyped{}
	}
	own := retyped{}
	kids := n.Children()
	changed := false
	for i, c := range kids {
		below := outer
		if j, ok := n.(*plan.JoinNode); ok && j.Op.IsLateral() {
			below = seen
		}
		k, types, err := retype(c, below)
		if err != nil {
			return nil, nil, err
		}
		maps.Copy(own, types)
		maps.Copy(seen, types)
		if sameNode(k, c) {
			continue
		}
		if !changed {
			kids = append([]sql.Node(nil), kids...)
		}
		kids[i], changed = k, true
	}
	out := n
	if changed {
		var err error
		if out, err = n.WithChildren(kids...); err != nil {
			return nil, nil, err
		}
	}
	x, ok := out.(sql.Expressioner)
	if !ok {
		return out, own, nil
	}
	old := x.Expressions()
	exprs := make([]sql.Expression, len(old))
	changed = false
	for i, e := range old {
		m, same, err := retypeExpression(e, seen)
		if err != nil {
			return nil, nil, err
		}
		exprs[i] = m
		changed = changed || !same
	}
	if !changed {
		return out, own, nil
	}
	out, err := x.WithExpressions(exprs...)
	if err != nil {
		return nil, nil, err
	}
	if before, ok := n.(sql.Projector); ok {
		projectedTypes(own, before.ProjectedExprs(), out.(sql.Projector).ProjectedExprs())
	}
	return out, own, nil
}

// projectedTypes notes the projected columns whose types have changed.
func projectedTypes(into retyped, before, after []sql.Expression) {
	for i, e := range before {
		id, ok := e.(sql.IdExpression)
		if ok && i < len(after) && id.Id() != 0 && !after[i].Type().Equals(e.Type()) {
			into[id.Id()] = after[i].Type()
		}
	}
}

// retypeExpression gives fields their new types; same is false where it has changed something.
func retypeExpression(e sql.Expression, types retyped) (out sql.Expression, same bool, err error) {
	switch e := e.(type) {
	case *expression.GetField:
		t, ok := types[e.Id()]
		if !ok || e.Id() == 0 {
			return e, true, nil
		}
		return fieldOfType(e, t), false, nil
	case *plan.Subquery:
		q, _, err := retype(e.Query, types)
		if err != nil || sameNode(q, e.Query) {
			return e, true, err
		}
		return e.WithQuery(q), false, nil
	}
	old := e.Children()
	kids := make([]sql.Expression, len(old))
	same = true
	for i, c := range old {
		k, unchanged, err := retypeExpression(c, types)
		if err != nil {
			return nil, false, err
		}
		kids[i] = k
		same = same && unchanged
	}
	if same {
		return e, true, nil
	}
	if out, err = e.WithChildren(kids...); err != nil {
		return nil, false, err
	}
	// Some expressions lose their ids on the way.
	if id, ok := e.(sql.IdExpression); ok && id.Id() != 0 {
		if n, ok := out.(sql.IdExpression); ok && n.Id() != id.Id() {
			return n.WithId(id.Id()), false, nil
		}
	}
	return out, false, nil
}

func fieldOfType(g *expression.GetField, t sql.Type) sql.Expression {
	n := expression.NewGetFieldWithTable(g.Index(), int(g.TableId()), t, g.Database(), g.Table(), g.Name(), true)
	return n.WithId(g.Id())
}

// retypeDerived passes the types of a derived table's columns on to its own ids.
func retypeDerived(n *plan.SubqueryAlias, outer retyped) (sql.Node, retyped, error) {
	child, _, err := retype(n.Child, outer)
	if err != nil || sameNode(child, n.Child) {
		return n, nil, err
	}
	types := retyped{}
	before, after := n.Child.Schema(), child.Schema()
	i := 0
	n.Columns().ForEach(func(id sql.ColumnId) {
		if i < len(after) && i < len(before) && !after[i].Type.Equals(before[i].Type) {
			types[id] = after[i].Type
		}
		i++
	})
	out, err := n.WithChildren(child)
	return out, types, err
}

// retypeRecursive leaves dates of a recursive table dates, of which the binder makes times. The first part alone says
// what types the columns have.
func retypeRecursive(n *plan.RecursiveCte, outer retyped) (sql.Node, retyped, error) {
	first, sch := n.Left().Schema(), n.Schema()
	types := maps.Clone(outer)
	if types == nil {
		types = retyped{}
	}
	own := retyped{}
	out := make(sql.Schema, len(sch))
	i := 0
	n.Columns().ForEach(func(id sql.ColumnId) {
		if i < len(sch) && i < len(first) && gms.IsDateType(first[i].Type) && !gms.IsDateType(sch[i].Type) {
			own[id] = first[i].Type
		}
		i++
	})
	if len(own) == 0 {
		return n, nil, nil
	}
	for i, c := range sch {
		out[i] = c.Copy()
		if gms.IsDateType(first[i].Type) {
			out[i].Type = first[i].Type
		}
	}
	maps.Copy(types, own)
	right, _, err := retype(n.Right(), types)
	if err != nil {
		return nil, nil, err
	}
	m, err := n.WithSchema(out).WithChildren(n.Left(), right)
	return m, own, err
}

// retypeSetOp converts both sides to common types.
func retypeSetOp(n *plan.SetOp, outer retyped) (sql.Node, retyped, error) {
	l, r := n.Left(), n.Right()
	if ul, ur, ok := unconverted(l, r); ok {
		l, r = ul, ur
	}
	l, _, err := retype(l, outer)
	if err != nil {
		return nil, nil, err
	}
	if r, _, err = retype(r, outer); err != nil {
		return nil, nil, err
	}
	ls, rs := l.Schema(), r.Schema()
	if len(ls) != len(rs) {
		return n, nil, nil
	}
	types := make([]sql.Type, len(ls))
	for i := range ls {
		types[i] = unionType(ls[i].Type, rs[i].Type)
	}
	out, err := n.WithChildren(convertSide(l, ls, ls, types), convertSide(r, rs, ls, types))
	if err != nil {
		return nil, nil, err
	}
	own := retyped{}
	for i, id := range columnIDs(l) {
		if id != 0 && i < len(types) && !types[i].Equals(ls[i].Type) {
			own[id] = types[i]
		}
	}
	sorted, err := retypeSort(out.(*plan.SetOp), ls, types)
	return sorted, own, err
}

// retypeSort gives the fields of a set operation's ORDER BY the types of the columns that they name.
func retypeSort(n *plan.SetOp, sch sql.Schema, types []sql.Type) (sql.Node, error) {
	if len(n.SortFields) == 0 {
		return n, nil
	}
	out, _, err := transform.OneNodeExpressions(n, func(e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		g, ok := e.(*expression.GetField)
		if !ok {
			return e, transform.SameTree, nil
		}
		for i, c := range sch {
			if strings.EqualFold(c.Name, g.Name()) {
				return fieldOfType(g, types[i]), transform.NewTree, nil
			}
		}
		return e, transform.SameTree, nil
	})
	return out, err
}

// convertSide converts the columns of a side that have other types; columns have the names of the left side.
func convertSide(n sql.Node, sch, names sql.Schema, types []sql.Type) sql.Node {
	exprs := make([]sql.Expression, len(sch))
	same := true
	ids := columnIDs(n)
	for i, c := range sch {
		id := sql.ColumnId(0)
		if i < len(ids) {
			id = ids[i]
		}
		g := expression.NewGetFieldWithTable(int(id), 0, c.Type, c.DatabaseSource, c.Source, c.Name, c.Nullable)
		exprs[i] = g
		if reflect.DeepEqual(c.Type, types[i]) {
			continue
		}
		same = false
		exprs[i] = expression.NewAlias(names[i].Name, &UnionCast{UnaryExpression: expression.UnaryExpression{Child: g}, typ: types[i]})
	}
	if same {
		return n
	}
	return plan.NewProject(exprs, n)
}

// columnIDs are the ids of a node's columns, as the binder numbers those of a side of a set operation.
func columnIDs(n sql.Node) []sql.ColumnId {
	var ids []sql.ColumnId
	switch x := n.(type) {
	case *plan.Project:
		for _, e := range x.Projections {
			id := sql.ColumnId(0)
			if e, ok := e.(sql.IdExpression); ok {
				id = e.Id()
			}
			ids = append(ids, id)
		}
	case plan.TableIdNode:
		x.Columns().ForEach(func(id sql.ColumnId) { ids = append(ids, id) })
	default:
		if c := n.Children(); len(c) > 0 {
			return columnIDs(c[0])
		}
	}
	return ids
}

// unconverted takes off the projections that the binder puts over both sides of a set operation whose types differ.
func unconverted(l, r sql.Node) (left, right sql.Node, ok bool) {
	lp, lok := l.(*plan.Project)
	rp, rok := r.(*plan.Project)
	if !lok || !rok || !isSide(lp.Child) || !isSide(rp.Child) || len(lp.Projections) != len(rp.Projections) {
		return nil, nil, false
	}
	ls, rs := lp.Child.Schema(), rp.Child.Schema()
	if len(ls) != len(lp.Projections) || len(rs) != len(ls) {
		return nil, nil, false
	}
	found := false
	for i := range ls {
		a, ca := convertedField(lp.Projections[i])
		b, cb := convertedField(rp.Projections[i])
		if a == nil || b == nil || a.Name() != ls[i].Name || b.Name() != rs[i].Name {
			return nil, nil, false
		}
		if ca == "" && cb == "" {
			continue
		}
		// A side that has the type already is not converted.
		to := expression.GetConvertToType(ls[i].Type, rs[i].Type)
		if ca != to && ca != "" || cb != to && cb != "" {
			return nil, nil, false
		}
		found = true
	}
	return lp.Child, rp.Child, found
}

// isSide reports whether n may be a side of a set operation as it is written: the binder projects every SELECT.
func isSide(n sql.Node) bool {
	switch n.(type) {
	case *plan.Project, *plan.Distinct, *plan.Limit, *plan.Offset, *plan.Sort, *plan.SetOp, *plan.Having:
		return true
	}
	return false
}

// convertedField is the field of a projection of the binder's, and what it is converted to.
func convertedField(e sql.Expression) (field *expression.GetField, to string) {
	if a, ok := e.(*expression.Alias); ok {
		e = a.Child
	}
	if c, ok := e.(*expression.Convert); ok {
		e, to = c.Child, castTarget(c)
	}
	field, _ = e.(*expression.GetField)
	return field, to
}

// castTarget is the name of the type that a cast without a length converts to.
func castTarget(c *expression.Convert) string {
	s := strings.TrimSuffix(c.String(), ")")
	return s[strings.LastIndex(s, ", ")+2:]
}

// UnionCast converts a column of a side of a set operation.
type UnionCast struct {
	expression.UnaryExpression
	typ sql.Type
}

var (
	_ sql.Expression         = (*UnionCast)(nil)
	_ sql.CollationCoercible = (*UnionCast)(nil)
)

// Type implements sql.Expression.
func (c *UnionCast) Type() sql.Type { return c.typ }

// CollationCoercibility implements sql.CollationCoercible.
func (c *UnionCast) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	if s, ok := c.typ.(sql.StringType); ok {
		return s.Collation(), 2
	}
	return sql.GetCoercibility(ctx, c.Child)
}

// String implements sql.Expression.
func (c *UnionCast) String() string {
	return "convert(" + c.Child.String() + ", " + c.typ.String() + ")"
}

// WithChildren implements sql.Expression.
func (c *UnionCast) WithChildren(kids ...sql.Expression) (sql.Expression, error) {
	if len(kids) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(c, len(kids), 1)
	}
	return &UnionCast{UnaryExpression: expression.UnaryExpression{Child: kids[0]}, typ: c.typ}, nil
}

// Eval implements sql.Expression.
func (c *UnionCast) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := evalPlain(ctx, c.Child, row)
	if err != nil || v == nil {
		return nil, err
	}
	switch kindOfType(c.typ) {
	case kindText:
		return castText(v, gms.IsDateType(c.Child.Type())), nil
	case kindBinary:
		return []byte(castText(v, gms.IsDateType(c.Child.Type()))), nil
	case kindDecimal:
		if d, ok := toDecimal(v); ok {
			return d.Round(int32(c.typ.(sql.DecimalType).Scale())), nil
		}
	}
	out, _, err := c.typ.Convert(ctx, v)
	return out, err
}
