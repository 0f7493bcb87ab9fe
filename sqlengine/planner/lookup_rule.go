package planner

import (
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// lookupRule gives the filters of subqueries that run once for every outer row, and of lateral tables, an
// index: what is below the filter is read once, and each run looks its rows up.
func lookupRule(_ *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	if engineOf(a) == nil || !isTop(scope, sel) || plan.IsDDLNode(n) {
		return n, transform.SameTree, nil
	}
	return lookupsIn(n)
}

// lookupsIn handles the subqueries and lateral tables of n.
func lookupsIn(n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	return transform.NodeWithOpaque(n, func(n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		if s, ok := n.(*plan.SubqueryAlias); ok && s.IsLateral {
			child, same, err := indexFilters(s.Child)
			if err != nil || bool(same) {
				return n, transform.SameTree, err
			}
			out, err := s.WithChildren(child)
			return out, transform.NewTree, err
		}
		return transform.OneNodeExpressions(n, func(e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
			q, ok := e.(*plan.Subquery)
			if !ok {
				return e, transform.SameTree, nil
			}
			query, same, err := lookupsIn(q.Query)
			if err != nil {
				return nil, transform.SameTree, err
			}
			if !q.CanCacheResults() && !q.Volatile() {
				indexed, same2, err := indexFilters(query)
				if err != nil {
					return nil, transform.SameTree, err
				}
				query, same = indexed, same && same2
			}
			if same {
				return e, transform.SameTree, nil
			}
			return q.WithQuery(query), transform.NewTree, nil
		})
	})
}

// indexFilters replaces the filters of a query that read an outer row.
func indexFilters(n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	return transform.Node(n, func(n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		f, ok := n.(*plan.Filter)
		if !ok || !readsOuter(f) {
			return n, transform.SameTree, nil
		}
		return &LookupNode{filter: f, index: &lookupIndex{mu: &sync.Mutex{}}}, transform.NewTree, nil
	})
}

// readsOuter reports whether a filter reads columns that nothing below it gives.
func readsOuter(f *plan.Filter) bool {
	below := usedColumns{}
	below.node(f.Child)
	own := usedColumns{}
	own.expression(f.Expression)
	below.known.UnionWith(own.known)
	for _, g := range own.fields {
		if !below.known.Contains(g.Id()) {
			return true
		}
	}
	return false
}
