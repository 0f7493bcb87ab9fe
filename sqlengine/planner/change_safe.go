package planner

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/tributarydb/tributary/sqlengine/errmap"
)

// varSafeUpdates is the variable that mysql --safe-updates and MySQL Workbench set.
const varSafeUpdates = "sql_safe_updates"

// checkSafe refuses, where sql_safe_updates asks for it, an UPDATE or DELETE that may mean all rows: without LIMIT, and without a
// condition on a column of the primary key or, since partitions leave out files as an index would, of the partition.
func (n *changeNode) checkSafe(ctx *sql.Context) error {
	v, err := ctx.GetSessionVariable(ctx, varSafeUpdates)
	if err != nil {
		return err
	}
	if on, ok := asInt64(v); !ok || on == 0 || n.change.Limited {
		return nil
	}
	keys := n.rules.partition
	if n.rules.keyed {
		for _, i := range n.rules.keys {
			if name := n.table.fields[i].Name; !slices.Contains(keys, name) {
				keys = append(keys[:len(keys):len(keys)], name)
			}
		}
	}
	for _, k := range keys {
		if slices.ContainsFunc(n.change.Bounded, func(c string) bool { return strings.EqualFold(c, k) }) {
			return nil
		}
	}
	return errmap.New(1175, "HY000", "You are using safe update mode and you tried to update a table without a WHERE that uses a KEY column. (table %s.%s; columns that count: %s; SET %s = 0 turns this off)",
		n.table.db, n.table.name, listOrNone(keys), varSafeUpdates)
}

func listOrNone(names []string) string {
	if len(names) == 0 {
		return "none, use LIMIT"
	}
	return strings.Join(names, ", ")
}

// boundedByQuery lists the table's columns that WHERE or the condition of a join compares with something.
func (c *changeQuery) boundedByQuery(where *sqlparser.Where) []string {
	var out []string
	if where != nil {
		out = c.bounded(where.Expr)
	}
	var joins func(from sqlparser.TableExprs)
	joins = func(from sqlparser.TableExprs) {
		for _, e := range from {
			switch e := e.(type) {
			case *sqlparser.ParenTableExpr:
				joins(e.Exprs)
			case *sqlparser.JoinTableExpr:
				out = append(out, c.bounded(e.Condition.On)...)
				for _, name := range e.Condition.Using {
					out = append(out, name.String())
				}
				joins(sqlparser.TableExprs{e.LeftExpr, e.RightExpr})
			}
		}
	}
	joins(c.from)
	return out
}

// bounded lists the table's columns that a condition compares with something, each in every branch of an OR.
func (c *changeQuery) bounded(e sqlparser.Expr) []string {
	column := func(exprs ...sqlparser.Expr) (out []string) {
		for _, e := range exprs {
			if n, ok := e.(*sqlparser.ColName); ok && (n.Qualifier.IsEmpty() || c.names(n)) {
				out = append(out, n.Name.String())
			}
		}
		return out
	}
	switch e := e.(type) {
	case *sqlparser.ParenExpr:
		return c.bounded(e.Expr)
	case *sqlparser.AndExpr:
		return append(c.bounded(e.Left), c.bounded(e.Right)...)
	case *sqlparser.OrExpr:
		right := c.bounded(e.Right)
		return slices.DeleteFunc(c.bounded(e.Left), func(l string) bool {
			return !slices.ContainsFunc(right, func(r string) bool { return strings.EqualFold(l, r) })
		})
	case *sqlparser.ComparisonExpr:
		return column(e.Left, e.Right)
	case *sqlparser.RangeCond:
		return column(e.Left)
	case *sqlparser.IsExpr:
		return column(e.Expr)
	}
	return nil
}
