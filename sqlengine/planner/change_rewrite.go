package planner

import (
	"slices"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/tributarydb/tributary/sqlengine/dialect"
	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/storage/errs"
)

// rewriteChange makes INSERT of UPDATE and DELETE: their condition, order and limit become a query that gives the rows they
// mean and the new values, so that these are the rows that SELECT shows; insertRule takes it from there. Other statements
// are returned as they are.
func rewriteChange(s sqlparser.Statement) (sqlparser.Statement, error) {
	switch s := s.(type) {
	case *sqlparser.Update:
		return rewriteUpdate(s)
	case *sqlparser.Delete:
		return rewriteDelete(s)
	case *sqlparser.Explain:
		inner, err := rewriteChange(s.Statement)
		if err != nil {
			return nil, err
		}
		s.Statement = inner
	}
	return s, nil
}

// changeWords names the statement in messages.
func changeWords(isDelete bool) string {
	if isDelete {
		return "DELETE"
	}
	return "UPDATE"
}

// rewriteUpdate makes INSERT … SELECT t.*, values of UPDATE.
func rewriteUpdate(u *sqlparser.Update) (sqlparser.Statement, error) {
	if len(u.Returning) > 0 {
		return nil, errs.Unsupportedf("This version of Tributary doesn't yet support 'UPDATE … RETURNING'")
	}
	c := changeQuery{from: u.TableExprs, target: dialect.ChangeTarget{Ignore: strings.Contains(strings.ToLower(u.Ignore), "ignore")}}
	if err := c.findUpdated(u.Exprs); err != nil {
		return nil, err
	}
	if c.target.Joined && (len(u.OrderBy) > 0 || u.Limit != nil) {
		return nil, errmap.New(1221, "HY000", "Incorrect usage of UPDATE and %s", orderOrLimit(u.OrderBy))
	}
	values, err := c.assignments(u.Exprs)
	if err != nil {
		return nil, err
	}
	return c.statement(u.With, u.Where, u.OrderBy, u.Limit, values)
}

// rewriteDelete makes INSERT … SELECT t.* of DELETE.
func rewriteDelete(d *sqlparser.Delete) (sqlparser.Statement, error) {
	switch {
	case len(d.Returning) > 0:
		return nil, errs.Unsupportedf("This version of Tributary doesn't yet support 'DELETE … RETURNING'")
	case len(d.Partitions) > 0:
		return nil, errs.Unsupportedf("DELETE … PARTITION (name) is not supported: partitions of Paimon tables have no names; use WHERE, or ALTER TABLE … DROP PARTITION")
	case len(d.Targets) > 1:
		return nil, errs.Unsupportedf("DELETE of rows of several tables is not supported, since tables are committed one by one; use a statement for each table")
	}
	c := changeQuery{from: d.TableExprs, target: dialect.ChangeTarget{Delete: true}}
	all := aliased(d.TableExprs)
	if len(d.Targets) == 1 {
		c.table = findTable(all, d.Targets[0])
		c.target.Joined = len(all) != 1 || len(d.TableExprs) != 1
		if c.table == nil {
			return nil, errmap.New(1109, "42S02", "Unknown table '%s' in MULTI DELETE", d.Targets[0].Name.String())
		}
	} else if len(all) == 1 {
		c.table = all[0]
	}
	if c.table == nil {
		return nil, errs.Unsupportedf("DELETE has to name the table whose rows go: DELETE t FROM t JOIN …")
	}
	if !c.target.Joined {
		c.target.All = d.Where == nil && d.Limit == nil
		if d.Where != nil && d.Limit == nil && d.With == nil {
			c.target.Equal = equalTerms(d.Where.Expr)
		}
	} else if len(d.OrderBy) > 0 || d.Limit != nil {
		return nil, errmap.New(1221, "HY000", "Incorrect usage of DELETE and %s", orderOrLimit(d.OrderBy))
	}
	return c.statement(d.With, d.Where, d.OrderBy, d.Limit, nil)
}

func orderOrLimit(order sqlparser.OrderBy) string {
	if len(order) > 0 {
		return "ORDER BY"
	}
	return "LIMIT"
}

// changeQuery is an UPDATE or DELETE on its way to an INSERT.
type changeQuery struct {
	from  sqlparser.TableExprs
	table *sqlparser.AliasedTableExpr
	// target goes with the table's name.
	target dialect.ChangeTarget
}

// aliased lists the tables and derived tables of FROM.
func aliased(from sqlparser.TableExprs) (out []*sqlparser.AliasedTableExpr) {
	for _, e := range from {
		switch e := e.(type) {
		case *sqlparser.AliasedTableExpr:
			out = append(out, e)
		case *sqlparser.ParenTableExpr:
			out = append(out, aliased(e.Exprs)...)
		case *sqlparser.JoinTableExpr:
			out = append(out, aliased(sqlparser.TableExprs{e.LeftExpr, e.RightExpr})...)
		}
	}
	return out
}

// nameOf is the table of a reference; ok is false for a derived table.
func nameOf(t *sqlparser.AliasedTableExpr) (sqlparser.TableName, bool) {
	n, ok := t.Expr.(sqlparser.TableName)
	return n, ok
}

// findTable finds the table that a name without columns means: an alias, or a table. As the binder, it takes upper and lower
// case for equal where no name is the same.
func findTable(all []*sqlparser.AliasedTableExpr, name sqlparser.TableName) *sqlparser.AliasedTableExpr {
	db := name.DbQualifier.String()
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		for _, t := range all {
			n, ok := nameOf(t)
			if !ok {
				continue
			}
			if alias := t.As.String(); alias != "" {
				if db == "" && same(alias, name.Name.String()) {
					return t
				}
				continue
			}
			if same(n.Name.String(), name.Name.String()) && (db == "" || n.DbQualifier.IsEmpty() || same(db, n.DbQualifier.String())) {
				return t
			}
		}
	}
	return nil
}

// findUpdated finds the table whose columns are assigned.
func (c *changeQuery) findUpdated(exprs sqlparser.AssignmentExprs) error {
	all := aliased(c.from)
	if len(all) == 1 && len(c.from) == 1 {
		if c.table = all[0]; len(exprs) > 0 {
			return c.sameTable(all, exprs)
		}
		return nil
	}
	c.target.Joined = true
	for _, e := range exprs {
		if e.Name.Qualifier.IsEmpty() {
			return errs.Unsupportedf("UPDATE of a join has to name the table of each column that is assigned: SET t.%s = …", e.Name.Name.String())
		}
		t := findTable(all, e.Name.Qualifier)
		if t == nil {
			return unknownColumn(e.Name)
		}
		if c.table == nil {
			c.table = t
		}
	}
	return c.sameTable(all, exprs)
}

// sameTable refuses assignments to columns of other tables.
func (c *changeQuery) sameTable(all []*sqlparser.AliasedTableExpr, exprs sqlparser.AssignmentExprs) error {
	for _, e := range exprs {
		if e.Name.Qualifier.IsEmpty() {
			continue
		}
		switch findTable(all, e.Name.Qualifier) {
		case c.table:
		case nil:
			return unknownColumn(e.Name)
		default:
			return errs.Unsupportedf("UPDATE of columns of several tables is not supported, since tables are committed one by one; use a statement for each table")
		}
	}
	return nil
}

func unknownColumn(n *sqlparser.ColName) error {
	return errmap.New(1054, "42S22", "Unknown column '%s.%s' in 'field list'", n.Qualifier.Name.String(), n.Name.String())
}

// alias is how the table is called in the statement.
func (c *changeQuery) alias() string {
	if a := c.table.As.String(); a != "" {
		return a
	}
	n, _ := nameOf(c.table)
	return n.Name.String()
}

// names reports whether a column name may mean a column of the table.
func (c *changeQuery) names(n *sqlparser.ColName) bool {
	q := n.Qualifier.Name.String()
	return q == "" && !c.target.Joined || strings.EqualFold(q, c.alias())
}

// assignments are the values of UPDATE in order. As in MySQL each sees what those before it have assigned. Of several to one
// column the last one counts.
func (c *changeQuery) assignments(exprs sqlparser.AssignmentExprs) (values sqlparser.SelectExprs, err error) {
	type assigned struct {
		column string
		expr   sqlparser.Expr // nil: the default
	}
	var done []assigned
	find := func(column string) int {
		return slices.IndexFunc(done, func(a assigned) bool { return strings.EqualFold(a.column, column) })
	}
	for _, e := range exprs {
		column := e.Name.Name.String()
		a := assigned{column: column}
		if d, ok := e.Expr.(*sqlparser.Default); !ok || d.ColName != "" && !strings.EqualFold(d.ColName, column) {
			inner := innerNames(e.Expr)
			a.expr, err = dialect.ReplaceExprs(e.Expr, func(x sqlparser.Expr) (sqlparser.Expr, error) {
				switch x := x.(type) {
				case *sqlparser.Default:
					name := x.ColName
					if name == "" {
						name = column
					}
					return injected(&newValue{name: name, def: true}), nil
				case *sqlparser.ColName:
					if i := find(x.Name.String()); i >= 0 && c.names(x) {
						if inner[x] && x.Qualifier.IsEmpty() {
							return nil, errs.Unsupportedf("UPDATE cannot tell whether '%s' in a subquery is the column that is assigned before; write the table's name before it", x.Name.String())
						}
						if done[i].expr == nil {
							return injected(&newValue{name: done[i].column, def: true}), nil
						}
						return injected(&storedValue{column: done[i].column}, done[i].expr), nil
					}
				}
				return x, nil
			})
			if err != nil {
				return nil, err
			}
		}
		if i := find(column); i >= 0 {
			done = slices.Delete(done, i, i+1)
		}
		done = append(done, a)
	}
	for _, a := range done {
		c.target.Sets = append(c.target.Sets, dialect.ChangeSet{Column: a.column, ByDefault: a.expr == nil})
		if a.expr != nil {
			values = append(values, &sqlparser.AliasedExpr{Expr: a.expr})
		}
	}
	return values, nil
}

// innerNames are the column names in the subqueries of an expression.
func innerNames(e sqlparser.Expr) map[*sqlparser.ColName]bool {
	out := map[*sqlparser.ColName]bool{}
	// The visitors return no error.
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		if q, ok := n.(*sqlparser.Subquery); ok {
			_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
				if c, ok := n.(*sqlparser.ColName); ok {
					out[c] = true
				}
				return true, nil
			}, q)
			return false, nil
		}
		return true, nil
	}, e)
	return out
}

func injected(e sqlparser.Injectable, children ...sqlparser.Expr) sqlparser.Expr {
	return sqlparser.InjectedExpr{Expression: e, Children: children, Auth: sqlparser.AuthInformation{AuthType: sqlparser.AuthType_IGNORE}}
}

// statement is INSERT INTO table SELECT table.*, values FROM ….
func (c *changeQuery) statement(with *sqlparser.With, where *sqlparser.Where, order sqlparser.OrderBy, limit *sqlparser.Limit, values sqlparser.SelectExprs) (sqlparser.Statement, error) {
	name, ok := nameOf(c.table)
	if !ok {
		return nil, errmap.New(1288, "HY000", "The target table %s of the %s is not updatable", c.alias(), changeWords(c.target.Delete))
	}
	if err := refuseSystemName(name.Name.String()); err != nil {
		return nil, err
	}
	carrier := dialect.Carrier{Change: true}.Encode()
	if at := c.table.AsOf; at != nil {
		if v, ok := at.Time.(*sqlparser.SQLVal); !ok || string(v.Val) != carrier { // the statement was rewritten before
			return nil, errs.Unsupportedf("A hint or AS OF on the table that is written is not supported")
		}
	}
	c.target.Limited = limit != nil
	c.target.Bounded = c.boundedByQuery(where)
	c.table.AsOf = &sqlparser.AsOf{Time: sqlparser.NewStrVal([]byte(carrier))}
	star := &sqlparser.StarExpr{TableName: sqlparser.TableName{Name: sqlparser.NewTableIdent(c.alias())}}
	query := &sqlparser.Select{
		With: with, SelectExprs: append(sqlparser.SelectExprs{star}, values...), From: c.from, Where: where, OrderBy: order, Limit: limit,
	}
	target := name
	target.Name = sqlparser.NewTableIdent(dialect.EncodeInsertTarget(name.Name.String(), dialect.InsertTarget{Change: &c.target}))
	return &sqlparser.Insert{
		Action: sqlparser.InsertStr, Table: target, Rows: query, Auth: sqlparser.AuthInformation{AuthType: sqlparser.AuthType_IGNORE},
	}, nil
}

// equalTerms takes column = literal AND … apart; nil where the condition is something else.
func equalTerms(e sqlparser.Expr) []dialect.EqualTerm {
	switch e := e.(type) {
	case *sqlparser.ParenExpr:
		return equalTerms(e.Expr)
	case *sqlparser.AndExpr:
		left, right := equalTerms(e.Left), equalTerms(e.Right)
		if left == nil || right == nil {
			return nil
		}
		return append(left, right...)
	case *sqlparser.ComparisonExpr:
		if e.Operator != sqlparser.EqualStr || e.Escape != nil {
			return nil
		}
		name, isName := e.Left.(*sqlparser.ColName)
		value, isValue := e.Right.(*sqlparser.SQLVal)
		if !isName || !isValue {
			name, isName = e.Right.(*sqlparser.ColName)
			value, isValue = e.Left.(*sqlparser.SQLVal)
		}
		if !isName || !isValue || value.Type != sqlparser.StrVal && value.Type != sqlparser.IntVal {
			return nil
		}
		return []dialect.EqualTerm{{Column: name.Name.String(), Text: string(value.Val), Number: value.Type == sqlparser.IntVal}}
	}
	return nil
}
