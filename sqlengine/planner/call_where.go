package planner

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// partitionCondition binds a condition over the partition columns of a table: the argument `where` of
// procedures. The result says whether it is true for a partition; NULL counts as false.
func (e *Engine) partitionCondition(ctx *sql.Context, db, table, text string, partition []schema.Field) (func([]column.Scalar) (bool, error), error) {
	quote := func(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }
	query := "SELECT 1 FROM " + quote(db) + "." + quote(table) + " WHERE (" + text + ")"
	stmt, err := e.Parser.ParseSimple(query)
	if err != nil {
		return nil, err
	}
	bound, _, err := planbuilder.New(ctx, e.Analyzer.Catalog, e.EventScheduler, e.Parser).BindOnly(stmt, query, nil)
	if err != nil {
		return nil, err
	}
	filter, ok := conditionOf(bound)
	if !ok {
		return nil, errs.Invalidf("'%s' is no condition", text)
	}
	cond, _, err := transform.Expr(filter, func(x sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		switch x := x.(type) {
		case *plan.Subquery, *plan.InSubquery, *plan.ExistsSubquery:
			return nil, transform.SameTree, errs.Invalidf("a subquery is not possible there")
		case *expression.GetField:
			for i, f := range partition {
				if strings.EqualFold(f.Name, x.Name()) {
					return x.WithIndex(i), transform.NewTree, nil
				}
			}
			return nil, transform.SameTree, errs.Invalidf("Only partition key can be specialized in compaction action. (column '%s' is none)", x.Name())
		}
		return repairExpression(ctx, x)
	})
	if err != nil {
		return nil, err
	}
	cond = truth(cond)
	zone := SessionZone(ctx)
	return func(values []column.Scalar) (bool, error) {
		row := make(sql.Row, len(partition))
		for i, f := range partition {
			row[i] = types.Value(column.FromScalar(values[i]), 0, f.Type, zone)
		}
		v, err := cond.Eval(ctx, row)
		if err != nil || v == nil {
			return false, err
		}
		return sql.ConvertToBool(ctx, v)
	}, nil
}

// conditionOf is the condition of SELECT … WHERE over one table; false for anything else.
func conditionOf(n sql.Node) (sql.Expression, bool) {
	p, ok := n.(*plan.Project)
	if !ok {
		return nil, false
	}
	f, ok := p.Child.(*plan.Filter)
	if !ok {
		return nil, false
	}
	_, ok = f.Child.(*plan.ResolvedTable)
	return f.Expression, ok
}
