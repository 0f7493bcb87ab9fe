package planner

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"github.com/tributarydb/tributary/sqlengine/errmap"
)

// errOrderNotSelected is MySQL's ER_FIELD_IN_ORDER_NOT_SELECT.
const errOrderNotSelected = 3065

// distinctRule puts the sort of a SELECT DISTINCT above DISTINCT, over the selected columns. The binder sorts below,
// where an order need not last, or above by expressions over the tables' columns.
func distinctRule(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	if engineOf(a) == nil || !isTop(scope, sel) || plan.IsDDLNode(n) || !n.Resolved() {
		return n, transform.SameTree, nil
	}
	return sortDistinct(ctx, n)
}

func sortDistinct(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	return transform.NodeWithOpaque(n, func(n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		m, same, err := transform.OneNodeExpressions(n, func(e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
			q, ok := e.(*plan.Subquery)
			if !ok {
				return e, transform.SameTree, nil
			}
			query, same, err := sortDistinct(ctx, q.Query)
			if err != nil || bool(same) {
				return e, transform.SameTree, err
			}
			return q.WithQuery(query), transform.NewTree, nil
		})
		if err != nil {
			return nil, transform.SameTree, err
		}
		lifted, err := liftSort(ctx, m)
		if err != nil || lifted == nil {
			return m, same, err
		}
		return lifted, transform.NewTree, nil
	})
}

// liftSort handles one DISTINCT with its sort; nil where n is none, or is to stay.
func liftSort(ctx *sql.Context, n sql.Node) (sql.Node, error) {
	switch n := n.(type) {
	case *plan.Sort: // already above
		d, ok := n.Child.(*plan.Distinct)
		if !ok {
			return nil, nil
		}
		p, ok := d.Child.(*plan.Project)
		if !ok {
			return nil, nil
		}
		fields, missing := overProjection(n.SortFields, p)
		if missing >= 0 {
			return nil, nil
		}
		return plan.NewSort(fields, d), nil
	case *plan.Distinct:
		p, ok := n.Child.(*plan.Project)
		if !ok {
			return nil, nil
		}
		s, ok := p.Child.(*plan.Sort)
		if !ok {
			return nil, nil
		}
		fields, missing := overProjection(s.SortFields, p)
		if missing >= 0 {
			if !sql.LoadSqlMode(ctx).ModeEnabled(sql.OnlyFullGroupBy) {
				return nil, nil
			}
			return nil, errmap.New(errOrderNotSelected, "HY000",
				"Expression #%d of ORDER BY clause is not in SELECT list, references column '%s' which is not in SELECT list; this is incompatible with DISTINCT",
				missing+1, firstColumn(s.SortFields[missing].Column))
		}
		return plan.NewSort(fields, plan.NewDistinct(plan.NewProject(p.Projections, s.Child))), nil
	}
	return nil, nil
}

// overProjection makes sort fields over the columns of p; missing is the first field that needs other columns, or -1.
func overProjection(fields sql.SortFields, p *plan.Project) (out sql.SortFields, missing int) {
	for i, f := range fields {
		column, ok := projected(f.Column, p)
		if !ok {
			return nil, i
		}
		f.Column, f.Column2 = column, nil
		if c, ok := column.(sql.Expression2); ok {
			f.Column2 = c
		}
		out = append(out, f)
	}
	return out, -1
}

// projected finds a sort expression among the columns of p, or makes it of them.
func projected(e sql.Expression, p *plan.Project) (sql.Expression, bool) {
	text := e.String()
	if a, ok := e.(*expression.Alias); ok {
		text = a.Child.String()
	}
	g, isField := e.(*expression.GetField)
	for _, c := range p.Projections {
		a, ok := c.(*expression.Alias)
		if !ok {
			if strings.EqualFold(c.String(), text) {
				return outputField(c), true
			}
			continue
		}
		if strings.EqualFold(a.Child.String(), text) || isField && (g.Id() != 0 && g.Id() == a.Id() || g.Table() == "" && strings.EqualFold(g.Name(), a.Name())) {
			return outputField(c), true
		}
	}
	if isField {
		return nil, false
	}
	known := true
	out, _, err := transform.Expr(e, func(e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		switch e := e.(type) {
		case *expression.GetField:
			f, ok := projected(e, p)
			if !ok {
				known = false
				return e, transform.SameTree, nil
			}
			return f, transform.NewTree, nil
		case sql.ExpressionWithNodes:
			known = false
		}
		return e, transform.SameTree, nil
	})
	return out, known && err == nil
}

// outputField reads a projected column from above.
func outputField(c sql.Expression) sql.Expression {
	switch c := c.(type) {
	case *expression.GetField:
		return c
	case *expression.Alias:
		return expression.NewGetFieldWithTable(int(c.Id()), 0, c.Type(), "", "", c.Name(), c.IsNullable())
	}
	return expression.NewGetField(0, c.Type(), c.String(), c.IsNullable())
}

// firstColumn names a column that an expression reads.
func firstColumn(e sql.Expression) string {
	name := e.String()
	sql.Inspect(e, func(e sql.Expression) bool {
		if g, ok := e.(*expression.GetField); ok {
			name = g.String()
			return false
		}
		return true
	})
	return name
}
