package planner

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	gms "github.com/dolthub/go-mysql-server/sql/types"
)

// pruneRule narrows tables to the columns that the statement names. Go-mysql-server's pruneTables
// does the same, but gives up where it finds a subquery in an expression.
func pruneRule(_ *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	if engineOf(a) == nil || !isTop(scope, sel) || plan.IsDDLNode(n) {
		return n, transform.SameTree, nil
	}
	n, same, err := trimExists(n)
	if err != nil {
		return nil, transform.SameTree, err
	}
	u := usedColumns{names: map[string]bool{}}
	u.node(n)
	for _, g := range u.fields {
		if u.known.Contains(g.Id()) {
			u.ids.Add(g.Id())
			continue
		}
		// Such a field is found by its name.
		u.names[strings.ToLower(g.Name())] = true
	}
	n, pruned, err := u.prune(n, true)
	return n, same && pruned, err
}

// trimExists takes the select lists from EXISTS: only whether there is a row matters.
func trimExists(n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	return transform.NodeExprsWithOpaque(n, func(e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		switch e := e.(type) {
		case *plan.Subquery:
			q, same, err := trimExists(e.Query)
			if err != nil || bool(same) {
				return e, transform.SameTree, err
			}
			return e.WithQuery(q), transform.NewTree, nil
		case *plan.ExistsSubquery:
			from := e.Query.Query
			switch n := from.(type) {
			case *plan.Project:
				from = n.Child
			case *plan.ResolvedTable, *plan.Filter, *plan.JoinNode:
				// A projection to all columns has been left out here.
			default:
				return e, transform.SameTree, nil
			}
			one := plan.NewProject([]sql.Expression{expression.NewLiteral(int8(1), gms.Int8)}, from)
			return plan.NewExistsSubquery(e.Query.WithQuery(one)), transform.NewTree, nil
		}
		return e, transform.SameTree, nil
	})
}

// usedColumns collects the columns that a statement's expressions read.
type usedColumns struct {
	fields []*expression.GetField
	// known are the ids of columns that nodes give.
	known sql.ColSet
	ids   sql.ColSet
	names map[string]bool
}

// node collects from n and all below it, subqueries included.
func (u *usedColumns) node(n sql.Node) {
	if t, ok := n.(plan.TableIdNode); ok {
		u.known.UnionWith(t.Columns())
	}
	if p, ok := n.(sql.Projector); ok {
		for _, e := range p.ProjectedExprs() {
			if id, ok := e.(sql.IdExpression); ok && id.Id() != 0 {
				u.known.Add(id.Id())
			}
		}
	}
	if x, ok := n.(sql.Expressioner); ok {
		for _, e := range x.Expressions() {
			u.expression(e)
		}
	}
	for _, c := range n.Children() {
		u.node(c)
	}
}

func (u *usedColumns) expression(e sql.Expression) {
	sql.Inspect(e, func(e sql.Expression) bool {
		switch e := e.(type) {
		case *expression.GetField:
			u.fields = append(u.fields, e)
		case sql.ExpressionWithNodes:
			for _, n := range e.NodeChildren() {
				u.node(n)
			}
		}
		return true
	})
}

// prune narrows the tables of n; all says that every column of n is wanted by what is above it.
func (u *usedColumns) prune(n sql.Node, all bool) (sql.Node, transform.TreeIdentity, error) {
	below := all
	switch n := n.(type) {
	case *plan.ResolvedTable:
		return u.table(n, all)
	case *plan.Project, *plan.GroupBy, *plan.Window:
		below = false
	case *plan.Filter, *plan.Having, *plan.Sort, *plan.TopN, *plan.Limit, *plan.Offset, *plan.TableAlias:
	case *plan.JoinNode:
		if n.JoinType().IsUsing() {
			below = true
		}
	default:
		below = true
	}
	out := n
	kids := n.Children()
	changed := false
	for i, c := range kids {
		k, same, err := u.prune(c, below)
		if err != nil {
			return nil, transform.SameTree, err
		}
		if same {
			continue
		}
		if !changed {
			kids = append([]sql.Node(nil), kids...)
		}
		kids[i], changed = k, true
	}
	if changed {
		var err error
		if out, err = n.WithChildren(kids...); err != nil {
			return nil, transform.SameTree, err
		}
	}
	out, same, err := u.subqueries(out)
	return out, transform.TreeIdentity(!changed) && same, err
}

// subqueries prunes the subqueries of n's own expressions.
func (u *usedColumns) subqueries(n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	return transform.OneNodeExpressions(n, func(e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		q, ok := e.(*plan.Subquery)
		if !ok {
			return e, transform.SameTree, nil
		}
		query, same, err := u.prune(q.Query, true)
		if err != nil || bool(same) {
			return e, transform.SameTree, err
		}
		return q.WithQuery(query), transform.NewTree, nil
	})
}

func (u *usedColumns) table(rt *plan.ResolvedTable, all bool) (sql.Node, transform.TreeIdentity, error) {
	t, ok := tableOf(rt)
	if !ok || all {
		return rt, transform.SameTree, nil
	}
	first, ok := rt.Columns().Next(1)
	if !ok || rt.Columns().Len() != len(t.fields) {
		return rt, transform.SameTree, nil
	}
	var names []string
	for _, f := range t.columns() {
		name := t.fields[f].Name
		if u.ids.Contains(first+sql.ColumnId(f)) || u.names[strings.ToLower(name)] {
			names = append(names, name)
		}
	}
	if len(names) == len(t.columns()) {
		return rt, transform.SameTree, nil
	}
	out, err := rt.WithTable(t.WithProjections(names))
	return out, transform.NewTree, err
}
