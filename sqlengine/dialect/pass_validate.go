package dialect

import (
	"fmt"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// CheckImplicitGrouping refuses an aggregate query without GROUP BY that selects
// plain columns, as ONLY_FULL_GROUP_BY wants (go-mysql-server gives an arbitrary
// row). Only the outermost query, the arms of its set operation, and their derived tables and common table
// expressions are looked at: in other subqueries a column may belong to an outer query. A column that WHERE
// compares may depend on a constant and is let through.
func CheckImplicitGrouping(stmt sqlparser.Statement) error {
	for _, q := range derivedQueries(stmt) {
		if err := CheckImplicitGrouping(q); err != nil {
			return err
		}
	}
	switch n := stmt.(type) {
	case *sqlparser.ParenSelect:
		return CheckImplicitGrouping(n.Select)
	case *sqlparser.SetOp:
		if err := CheckImplicitGrouping(n.Left); err != nil {
			return err
		}
		return CheckImplicitGrouping(n.Right)
	case *sqlparser.Select:
		if len(n.GroupBy) > 0 || !hasAggregate(n) {
			return nil
		}
		compared := map[string]bool{}
		if n.Where != nil {
			// The visitor returns no error.
			_ = sqlparser.Walk(func(e sqlparser.SQLNode) (bool, error) {
				if c, ok := e.(*sqlparser.ColName); ok {
					compared[c.Name.Lowered()] = true
				}
				return true, nil
			}, n.Where)
		}
		for i, s := range n.SelectExprs {
			if column := plainColumn(s, compared); column != "" {
				return &Error{Number: ErrnoMixGroup, State: sqlStateSyntax, Message: fmt.Sprintf(
					"In aggregated query without GROUP BY, expression #%d of SELECT list contains nonaggregated column '%s'; this is incompatible with sql_mode=only_full_group_by",
					i+1, column)}
			}
		}
	}
	return nil
}

// derivedQueries are the queries of the derived tables in FROM, which see no outer query, and of WITH.
func derivedQueries(stmt sqlparser.Statement) (out []sqlparser.Statement) {
	with := func(w *sqlparser.With) {
		if w == nil {
			return
		}
		for _, c := range w.Ctes {
			if s, ok := c.AliasedTableExpr.Expr.(*sqlparser.Subquery); ok {
				out = append(out, s.Select)
			}
		}
	}
	var table func(t sqlparser.TableExpr)
	table = func(t sqlparser.TableExpr) {
		switch t := t.(type) {
		case *sqlparser.AliasedTableExpr:
			if s, ok := t.Expr.(*sqlparser.Subquery); ok && !t.Lateral {
				out = append(out, s.Select)
			}
		case *sqlparser.ParenTableExpr:
			for _, e := range t.Exprs {
				table(e)
			}
		case *sqlparser.JoinTableExpr:
			table(t.LeftExpr)
			table(t.RightExpr)
		}
	}
	switch n := stmt.(type) {
	case *sqlparser.SetOp:
		with(n.With)
	case *sqlparser.Select:
		with(n.With)
		for _, t := range n.From {
			table(t)
		}
	}
	return out
}

// checkAggregates refuses aggregates in the WHERE of the outermost query, of the arms of its set operation, and of their derived
// tables: there is no query further out whose groups they could be of.
func checkAggregates(stmt sqlparser.Statement) error {
	for _, q := range derivedQueries(stmt) {
		if err := checkAggregates(q); err != nil {
			return err
		}
	}
	switch n := stmt.(type) {
	case *sqlparser.ParenSelect:
		return checkAggregates(n.Select)
	case *sqlparser.SetOp:
		if err := checkAggregates(n.Left); err != nil {
			return err
		}
		return checkAggregates(n.Right)
	case *sqlparser.Select:
		if n.Where == nil {
			return nil
		}
		found := false
		// The visitor returns no error.
		_ = sqlparser.Walk(func(e sqlparser.SQLNode) (bool, error) {
			if _, ok := e.(*sqlparser.Subquery); ok {
				return false, nil
			}
			found = found || isAggregate(e)
			return !found, nil
		}, n.Where)
		if found {
			return &Error{Number: ErrnoInvalidGroupUse, State: sqlStateGeneral, Message: "Invalid use of group function"}
		}
	}
	return nil
}

// refusePartitions refuses FROM t PARTITION (p, …): the partitions of these
// tables have values and no names, and go-mysql-server would read all of them.
func refusePartitions(t sqlparser.TableExpr) error {
	a, ok := t.(*sqlparser.AliasedTableExpr)
	if !ok || len(a.Partitions) == 0 {
		return nil
	}
	table := a.As.String()
	if table == "" {
		if n, ok := a.Expr.(sqlparser.TableName); ok {
			table = n.Name.String()
		}
	}
	return unknownPartition(a.Partitions[0].String(), table)
}

func unknownPartition(partition, table string) *Error {
	return &Error{Number: ErrnoNoSuchPartition, State: sqlStateGeneral, Message: fmt.Sprintf("Unknown partition '%s' in table '%s'", partition, table)}
}

// plainColumn returns a column that a member of the select list uses outside
// aggregates and subqueries, "" if there is none.
func plainColumn(s sqlparser.SelectExpr, compared map[string]bool) string {
	column := ""
	// The visitor returns no error.
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		if isAggregate(n) {
			return false, nil
		}
		switch n := n.(type) {
		case *sqlparser.Subquery:
			return false, nil
		case *sqlparser.ColName:
			name := n.Name.String()
			if name != "" && name[0] != '@' && !compared[n.Name.Lowered()] && column == "" {
				column = sqlparser.String(n)
			}
		}
		return true, nil
	}, s)
	return column
}
