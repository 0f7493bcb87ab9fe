package dialect

import (
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// AggregateTunnel is the function name under which aggregates reach the
// planner's function provider: AggregateTunnel('<kind>', x). See the package
// comment.
const AggregateTunnel = "last"

// IntervalFunction is the name of INTERVAL(n, n1, …), which vitess takes for the
// beginning of an interval.
const IntervalFunction = "tributary_interval"

// DistinctSuffix ends the kind of an aggregate with DISTINCT.
const DistinctSuffix = "_distinct"

// The kinds of the aggregate tunnel.
const (
	KindSum        = "sum"
	KindAvg        = "avg"
	KindStddevPop  = "stddev_pop"  // STD, STDDEV, STDDEV_POP
	KindStddevSamp = "stddev_samp" // STDDEV_SAMP
	KindVarPop     = "var_pop"     // VARIANCE, VAR_POP
	KindVarSamp    = "var_samp"    // VAR_SAMP
	KindBitAnd     = "bit_and"
	KindBitOr      = "bit_or"
	KindBitXor     = "bit_xor"
	// KindApproxCountDistinct is APPROX_COUNT_DISTINCT(x), a BIGINT that is
	// never NULL.
	KindApproxCountDistinct = "approx_count_distinct"
)

// WindowPrefix begins the kinds of window functions: AggregateTunnel('window:<name>', args…) OVER (…).
const WindowPrefix = "window:"

// The window functions of the tunnel, by the names of MySQL.
const (
	WindowRowNumber   = "row_number"
	WindowRank        = "rank"
	WindowDenseRank   = "dense_rank"
	WindowPercentRank = "percent_rank"
	WindowCumeDist    = "cume_dist"
	WindowNTile       = "ntile"
	WindowLead        = "lead"
	WindowLag         = "lag"
	WindowFirstValue  = "first_value"
	WindowLastValue   = "last_value"
	WindowNthValue    = "nth_value"
	WindowCount       = "count"
	WindowMin         = "min"
	WindowMax         = "max"
)

var windowNames = map[string]bool{
	WindowRowNumber: true, WindowRank: true, WindowDenseRank: true, WindowPercentRank: true, WindowCumeDist: true,
	WindowNTile: true, WindowLead: true, WindowLag: true, WindowFirstValue: true, WindowLastValue: true, WindowNthValue: true,
	WindowCount: true, WindowMin: true, WindowMax: true,
}

// tunnelKinds maps function names to kinds.
var tunnelKinds = map[string]string{
	"sum": KindSum, "avg": KindAvg,
	"std": KindStddevPop, "stddev": KindStddevPop, "stddev_pop": KindStddevPop, "stddev_samp": KindStddevSamp,
	"variance": KindVarPop, "var_pop": KindVarPop, "var_samp": KindVarSamp,
	"bit_and": KindBitAnd, "bit_or": KindBitOr, "bit_xor": KindBitXor,
	"approx_count_distinct": KindApproxCountDistinct,
}

// TunnelAggregates renames the aggregates that go-mysql-server types or
// computes wrongly (SUM and AVG are DOUBLE there, windows round AVG) to the
// aggregate tunnel. Column headers are not touched: they hold the user's text.
func TunnelAggregates(stmt sqlparser.Statement) (sqlparser.Statement, error) {
	return walk(stmt, &visitor{expr: tunnelAggregate})
}

func tunnelAggregate(e sqlparser.Expr) (sqlparser.Expr, error) {
	f, ok := e.(*sqlparser.FuncExpr)
	if !ok || !f.Qualifier.IsEmpty() {
		return e, nil
	}
	if f.Over != nil {
		unwrapBounds(f.Over.Frame)
	}
	if f.Over != nil && f.Distinct && aggregateNames[f.Name.Lowered()] {
		return nil, &Error{Number: ErrnoNotSupported, State: sqlStateSyntax,
			Message: "This version of MySQL doesn't yet support '<window function>(DISTINCT ..)'"}
	}
	if f.Over != nil && windowNames[f.Name.Lowered()] {
		args := sqlparser.SelectExprs{&sqlparser.AliasedExpr{Expr: text(WindowPrefix + f.Name.Lowered())}}
		for _, a := range f.Exprs {
			if _, star := a.(*sqlparser.StarExpr); star {
				a = &sqlparser.AliasedExpr{Expr: integer("1")}
			}
			args = append(args, a)
		}
		f.Name, f.Exprs = sqlparser.NewColIdent(AggregateTunnel), args
		return f, nil
	}
	if len(f.Exprs) != 1 {
		return e, nil
	}
	kind, ok := tunnelKinds[f.Name.Lowered()]
	if !ok {
		return e, nil
	}
	if _, star := f.Exprs[0].(*sqlparser.StarExpr); star {
		return e, nil
	}
	if f.Distinct {
		kind += DistinctSuffix
	}
	f.Name = sqlparser.NewColIdent(AggregateTunnel)
	f.Distinct = false
	f.Exprs = sqlparser.SelectExprs{&sqlparser.AliasedExpr{Expr: text(kind)}, f.Exprs[0]}
	return f, nil
}

// aggregateNames are the functions that make a query without GROUP BY an
// aggregate query.
var aggregateNames = map[string]bool{
	"avg": true, "bit_and": true, "bit_or": true, "bit_xor": true, "count": true, "group_concat": true,
	"json_arrayagg": true, "json_objectagg": true, "max": true, "min": true, "std": true, "stddev": true,
	"stddev_pop": true, "stddev_samp": true, "sum": true, "var_pop": true, "var_samp": true, "variance": true,
	"first": true, "last": true, "any_value": true, "approx_count_distinct": true,
}

// isAggregate reports whether the expression node is an aggregate (not a window
// function).
func isAggregate(n sqlparser.SQLNode) bool {
	switch n := n.(type) {
	case *sqlparser.FuncExpr:
		return n.Over == nil && aggregateNames[n.Name.Lowered()]
	case *sqlparser.GroupConcatExpr:
		return true
	}
	return false
}

// hasAggregate reports whether the select list, HAVING or ORDER BY hold an
// aggregate of this query.
func hasAggregate(sel *sqlparser.Select) bool {
	found := false
	visit := func(n sqlparser.SQLNode) (bool, error) {
		if _, ok := n.(*sqlparser.Subquery); ok || found {
			return false, nil
		}
		found = found || isAggregate(n)
		return !found, nil
	}
	// The visitor returns no error.
	_ = sqlparser.Walk(visit, sel.SelectExprs, sel.Having, sel.OrderBy)
	return found
}
