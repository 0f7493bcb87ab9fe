package dialect

import (
	"fmt"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// CheckImplicitGrouping refuses an aggregate query without GROUP BY that selects
// plain columns, as ONLY_FULL_GROUP_BY wants (go-mysql-server gives an arbitrary
// row). Only the outermost query and the arms of its set operation are looked
// at: further in, a column may belong to an outer query. A column that WHERE
// compares may depend on a constant and is let through.
func CheckImplicitGrouping(stmt sqlparser.Statement) error {
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
