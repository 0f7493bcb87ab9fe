package dialect

import (
	"fmt"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// checkNames refuses what go-mysql-server answers: two tables of one name in FROM, x.* of a table that FROM does not have, and
// lists of a common table expression's columns that are too short or too long.
func checkNames(sel *sqlparser.Select) error {
	if err := checkWith(sel.With); err != nil {
		return err
	}
	names := tableNames{}
	for _, t := range sel.From {
		if err := names.add(t); err != nil {
			return err
		}
	}
	if names.unknown {
		return nil
	}
	for _, e := range sel.SelectExprs {
		star, ok := e.(*sqlparser.StarExpr)
		if !ok || star.TableName.IsEmpty() || !star.TableName.DbQualifier.IsEmpty() {
			continue
		}
		if name := star.TableName.Name.String(); !names.has(name) {
			return &Error{Number: ErrnoUnknownTable, State: "42S02", Message: fmt.Sprintf("Unknown table '%s'", name)}
		}
	}
	return nil
}

// checkWith compares the columns that WITH lists with those of the query, where they can be counted.
func checkWith(w *sqlparser.With) error {
	if w == nil {
		return nil
	}
	for _, c := range w.Ctes {
		s, ok := c.AliasedTableExpr.Expr.(*sqlparser.Subquery)
		if !ok || len(c.Columns) == 0 {
			continue
		}
		if n := columnCount(s.Select); n >= 0 && n != len(c.Columns) {
			return &Error{Number: ErrnoColumnLists, State: sqlStateGeneral, Message: "In definition of view, derived table or common table expression, " +
				"SELECT list and column names list have different column counts"}
		}
	}
	return nil
}

// columnCount counts the columns of a query; negative where a * hides them.
func columnCount(q sqlparser.SelectStatement) int {
	switch q := q.(type) {
	case *sqlparser.ParenSelect:
		return columnCount(q.Select)
	case *sqlparser.SetOp:
		return columnCount(q.Left)
	case *sqlparser.Select:
		for _, e := range q.SelectExprs {
			if _, ok := e.(*sqlparser.StarExpr); ok {
				return -1
			}
		}
		return len(q.SelectExprs)
	}
	return -1
}

// tableName is what a member of FROM is called; db is empty where the statement names none.
type tableName struct{ db, name string }

// tableNames are the names in FROM.
type tableNames struct {
	list []tableName
	// unknown: there is a member whose name is not known here.
	unknown bool
}

// add takes the names of a member of FROM.
func (n *tableNames) add(t sqlparser.TableExpr) error {
	switch t := t.(type) {
	case *sqlparser.AliasedTableExpr:
		name := tableName{name: t.As.String()}
		if tn, ok := t.Expr.(sqlparser.TableName); ok {
			name.db = tn.DbQualifier.String()
			if name.name == "" {
				name.name = tn.Name.String()
			}
		}
		return n.put(name)
	case *sqlparser.JSONTableExpr:
		return n.put(tableName{name: t.Alias.String()})
	case *sqlparser.ParenTableExpr:
		for _, e := range t.Exprs {
			if err := n.add(e); err != nil {
				return err
			}
		}
	case *sqlparser.JoinTableExpr:
		if err := n.add(t.LeftExpr); err != nil {
			return err
		}
		return n.add(t.RightExpr)
	default:
		n.unknown = true
	}
	return nil
}

// put adds a name. Upper and lower case differ, as lower_case_table_names = 0 says.
func (n *tableNames) put(name tableName) error {
	if name.name == "" || name.name == "dual" {
		n.unknown = n.unknown || name.name == ""
		return nil
	}
	for _, other := range n.list {
		if other == name {
			return &Error{Number: ErrnoNotUniqueTable, State: sqlStateSyntax, Message: fmt.Sprintf("Not unique table/alias: '%s'", name.name)}
		}
	}
	n.list = append(n.list, name)
	return nil
}

// has reports whether a table is called so, in any case: go-mysql-server finds it.
func (n *tableNames) has(name string) bool {
	for _, t := range n.list {
		if strings.EqualFold(t.name, name) {
			return true
		}
	}
	return false
}
