package planner

import (
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/expression/function/json"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// repairRule replaces expressions that go-mysql-server evaluates wrongly or
// slowly, in the whole statement with its subqueries. It comes last: rules and the vector executor know
// go-mysql-server's expressions.
func repairRule(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	if engineOf(a) == nil || !isTop(scope, sel) || plan.IsDDLNode(n) {
		return n, transform.SameTree, nil
	}
	return repairNode(ctx, n)
}

func repairNode(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	n, same, err := transform.NodeWithOpaque(n, func(n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		switch f := n.(type) {
		case *plan.Filter:
			if isText(f.Expression) {
				return plan.NewFilter(truth(f.Expression), f.Child), transform.NewTree, nil
			}
		case *plan.Having:
			if isText(f.Cond) {
				return plan.NewHaving(truth(f.Cond), f.Child), transform.NewTree, nil
			}
		case *plan.RecursiveCte:
			r, err := plainTruths(f)
			if err != nil || r == nil {
				return n, transform.SameTree, err
			}
			return r, transform.NewTree, nil
		}
		return n, transform.SameTree, nil
	})
	if err != nil {
		return n, same, err
	}
	out, sameExprs, err := repairExpressions(ctx, n)
	return out, same && sameExprs, err
}

func repairExpressions(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	return transform.NodeExprsWithNodeWithOpaque(n, func(_ sql.Node, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		return repairExpression(ctx, e)
	})
}

// repairExpression is called for every expression, children first.
func repairExpression(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	var out sql.Expression
	switch e := e.(type) {
	case *plan.Subquery:
		q, same, err := repairNode(ctx, e.Query)
		if err != nil || bool(same) {
			return e, transform.SameTree, err
		}
		return e.WithQuery(q), transform.NewTree, nil
	case *expression.Between:
		return repairBetween(ctx, e)
	case *expression.InTuple:
		if out = newInList(ctx, e.LeftChild, e.RightChild, e); out == nil {
			out = newInRowList(ctx, e.LeftChild, e.RightChild, e)
		}
	case *expression.HashInTuple:
		in := expression.NewInTuple(e.Left(), e.Right())
		if out = newInList(ctx, e.Left(), e.Right(), in); out == nil {
			out = newInRowList(ctx, e.Left(), e.Right(), in)
		}
	case *plan.ExistsSubquery:
		out = &Exists{query: e.Query, orig: e, mu: &sync.Mutex{}}
	case *plan.InSubquery:
		out = newInSubquery(ctx, e)
	case *aggregation.CountDistinct:
		out = newCountDistinct(ctx, e)
	case *expression.Convert:
		out = newCast(e)
	case *expression.Arithmetic:
		out = newArithmetic(e)
	case *expression.BitOp:
		out = newBitMath(e)
	case *expression.IntDiv:
		out = newIntegerDivision(e)
	case *expression.Case:
		out = newCase(e)
	case *expression.And, *expression.Or, *expression.Xor, *expression.Not:
		out = repairLogic(e)
	case *function.TimestampDiff:
		f, err := timestampDiff.NewInstance(e.Children())
		if err != nil {
			return e, transform.SameTree, err
		}
		out = f
	case *json.JsonValue:
		out = newJSONValue(e)
	case *expression.Like:
		if k := kindOfType(e.LeftChild.Type()); k == kindMoment || k == kindTimeOfDay {
			e = expression.NewLike(textOf(e.LeftChild, false), e.RightChild, e.Escape).(*expression.Like)
			out = e
		}
		if l := newLike(ctx, e); l != nil {
			out = l
		}
	case sql.FunctionExpression:
		out = repairFunction(e)
	default:
		if q := newRowQuery(e); q != nil && expandRows(e) == nil {
			return q, transform.NewTree, nil
		}
		if out = newComparison(ctx, e); out == nil {
			out = repairRows(ctx, expandRows(e))
		}
	}
	if out == nil {
		return e, transform.SameTree, nil
	}
	return out, transform.NewTree, nil
}

// repairFunction repairs the arguments of a function or aggregate; nil where there is nothing to repair.
func repairFunction(e sql.FunctionExpression) sql.Expression {
	var out sql.Expression
	if t := repairTexts(e); t != nil {
		out = t
		e = t.(sql.FunctionExpression)
	}
	if !roundingFunctions[strings.ToLower(e.FunctionName())] {
		return out
	}
	kids := e.Children()
	changed := false
	for i, k := range kids {
		if divides(k) {
			kids[i] = unrounded(k)
			changed = true
		}
	}
	if changed {
		if n, err := e.WithChildren(kids...); err == nil {
			out = n
		}
	}
	return out
}

// repairBetween makes two comparisons of BETWEEN where both are ours.
func repairBetween(ctx *sql.Context, e *expression.Between) (sql.Expression, transform.TreeIdentity, error) {
	lo := newComparison(ctx, expression.NewGreaterThanOrEqual(e.Val, e.Lower))
	hi := newComparison(ctx, expression.NewLessThanOrEqual(e.Val, e.Upper))
	if lo == nil || hi == nil {
		return e, transform.SameTree, nil
	}
	return expression.NewAnd(lo, hi), transform.NewTree, nil
}

// repairRows repairs what a comparison of rows became; nil stays nil.
func repairRows(ctx *sql.Context, e sql.Expression) sql.Expression {
	if e == nil {
		return nil
	}
	out, _, err := transform.Expr(e, func(e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		if c := newComparison(ctx, e); c != nil {
			return c, transform.NewTree, nil
		}
		return e, transform.SameTree, nil
	})
	if err != nil {
		return nil
	}
	return out
}
