package planner

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	gms "github.com/dolthub/go-mysql-server/sql/types"
)

// filterPushRule moves conditions on one side of a join below the join, in the place of
// go-mysql-server's pushFilters. A condition may go below a join on the side whose rows the join never extends with NULLs.
func filterPushRule(_ *sql.Context, a *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	if engineOf(a) == nil || plan.IsDDLNode(n) {
		return n, transform.SameTree, nil
	}
	return transform.Node(n, func(n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		switch n := n.(type) {
		case *plan.Filter:
			return sinkFilter(n)
		case *plan.JoinNode:
			return sinkOn(n)
		}
		return n, transform.SameTree, nil
	})
}

func sinkFilter(f *plan.Filter) (sql.Node, transform.TreeIdentity, error) {
	if _, ok := f.Child.(*plan.JoinNode); !ok {
		return f, transform.SameTree, nil
	}
	child, stay := f.Child, []sql.Expression(nil)
	for _, e := range expression.SplitConjunction(f.Expression) {
		c, ok, err := sink(child, e)
		if err != nil {
			return nil, transform.SameTree, err
		}
		if !ok {
			stay = append(stay, e)
			continue
		}
		child = c
	}
	switch {
	case len(stay) == len(expression.SplitConjunction(f.Expression)):
		return f, transform.SameTree, nil
	case len(stay) == 0:
		return child, transform.NewTree, nil
	}
	return plan.NewFilter(expression.JoinAnd(stay...), child), transform.NewTree, nil
}

// sinkOn moves what ON says of one side alone.
func sinkOn(j *plan.JoinNode) (sql.Node, transform.TreeIdentity, error) {
	if j.Filter == nil || j.Op != plan.JoinTypeInner && j.Op != plan.JoinTypeLeftOuter {
		return j, transform.SameTree, nil
	}
	left, right := j.Left(), j.Right()
	var stay []sql.Expression
	all := expression.SplitConjunction(j.Filter)
	for _, e := range all {
		side := sideOf(j, e)
		switch {
		case side == 1 && j.Op == plan.JoinTypeInner:
			left = plan.NewFilter(e, left)
		case side == 2:
			right = plan.NewFilter(e, right)
		default:
			stay = append(stay, e)
		}
	}
	if len(stay) == len(all) {
		return j, transform.SameTree, nil
	}
	on := sql.Expression(expression.NewLiteral(true, gms.Boolean))
	if len(stay) > 0 {
		on = expression.JoinAnd(stay...)
	}
	n, err := j.WithChildren(left, right)
	if err != nil {
		return nil, transform.SameTree, err
	}
	n, err = n.(*plan.JoinNode).WithExpressions(on)
	return n, transform.NewTree, err
}

// sink moves e below n, a join; ok is false where it must stay above.
func sink(n sql.Node, e sql.Expression) (sql.Node, bool, error) {
	j, ok := n.(*plan.JoinNode)
	if !ok {
		if f, ok := n.(*plan.Filter); ok {
			c, ok, err := sink(f.Child, e)
			if err != nil || !ok {
				return nil, false, err
			}
			m, err := f.WithChildren(c)
			return m, true, err
		}
		return plan.NewFilter(e, n), true, nil
	}
	side := sideOf(j, e)
	kids := []sql.Node{j.Left(), j.Right()}
	k := side - 1
	switch {
	case side == 1 && (j.Op == plan.JoinTypeInner || j.Op == plan.JoinTypeCross || j.Op == plan.JoinTypeLeftOuter):
	case side == 2 && (j.Op == plan.JoinTypeInner || j.Op == plan.JoinTypeCross):
	case side == 3 && j.Op == plan.JoinTypeInner && j.Filter != nil:
		m, err := j.WithExpressions(expression.JoinAnd(j.Filter, e))
		return m, err == nil, err
	case side == 3 && (j.Op == plan.JoinTypeInner || j.Op == plan.JoinTypeCross):
		return plan.NewInnerJoin(j.Left(), j.Right(), e), true, nil
	default:
		return nil, false, nil
	}
	c, ok, err := sink(kids[k], e)
	if err != nil {
		return nil, false, err
	}
	if !ok {
		c = plan.NewFilter(e, kids[k])
	}
	kids[k] = c
	m, err := j.WithChildren(kids...)
	return m, true, err
}

// sideOf says of which side of a join a condition reads columns: 1 left, 2 right, 3 both; 0 where it reads none,
// reads an outer row's, or must stay where it is.
func sideOf(j *plan.JoinNode, e sql.Expression) int {
	left, right := columnsOf(j.Left()), columnsOf(j.Right())
	side := 0
	movable := true
	sql.Inspect(e, func(x sql.Expression) bool {
		switch x := x.(type) {
		case *expression.GetField:
			switch {
			case left.Contains(x.Id()):
				side |= 1
			case right.Contains(x.Id()):
				side |= 2
			default:
				// A column of an outer row: the condition stays where lookups find it.
				movable = false
			}
		case sql.ExpressionWithNodes, *expression.UserVar:
			movable = false
		case sql.NonDeterministicExpression:
			movable = movable && !x.IsNonDeterministic()
		case sql.FunctionExpression:
			movable = movable && !volatileFunctions[x.FunctionName()]
		}
		return true
	})
	if !movable {
		return 0
	}
	return side
}

// columnsOf collects the ids of the columns that a table expression gives.
func columnsOf(n sql.Node) sql.ColSet {
	if t, ok := n.(plan.TableIdNode); ok {
		return t.Columns()
	}
	var out sql.ColSet
	for _, c := range n.Children() {
		out.UnionWith(columnsOf(c))
	}
	return out
}
