package planner

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/tributarydb/tributary/sqlengine/dialect"
	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// newValue stands in ON DUPLICATE KEY UPDATE for a value that the row would have inserted, VALUES(c) or alias.c, until
// duplicateSets knows where that is: go-mysql-server finds it for rows of VALUES only.
type newValue struct {
	// name is the column's; where it is "", place is the number of the column among those of the statement.
	name  string
	place int
	// def: not the new value is meant, but the column's default.
	def bool
}

var (
	_ sqlparser.Injectable   = (*newValue)(nil)
	_ sql.Expression         = (*newValue)(nil)
	_ sql.CollationCoercible = (*newValue)(nil)
)

// WithResolvedChildren implements sqlparser.Injectable.
func (v *newValue) WithResolvedChildren([]any) (any, error) { return v, nil }

// Resolved implements sql.Expression.
func (v *newValue) Resolved() bool { return true }

// String implements sql.Expression.
func (v *newValue) String() string { return "values(" + v.name + ")" }

// Type implements sql.Expression.
func (v *newValue) Type() sql.Type { return gms.LongText }

// IsNullable implements sql.Expression.
func (v *newValue) IsNullable() bool { return true }

// Eval implements sql.Expression.
func (v *newValue) Eval(*sql.Context, sql.Row) (any, error) {
	return nil, errs.Unsupportedf("%s has no value outside of ON DUPLICATE KEY UPDATE", v)
}

// Children implements sql.Expression.
func (v *newValue) Children() []sql.Expression { return nil }

// WithChildren implements sql.Expression.
func (v *newValue) WithChildren(c ...sql.Expression) (sql.Expression, error) {
	if len(c) != 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(v, len(c), 0)
	}
	return v, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (v *newValue) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_Default, 2
}

// carryDuplicates puts a newValue in the place of VALUES(c), DEFAULT, and the columns of a row alias.
func carryDuplicates(ins *sqlparser.Insert) error {
	if len(ins.OnDup) == 0 {
		return nil
	}
	alias, columns := "", sqlparser.Columns(nil)
	if v, ok := ins.Rows.(*sqlparser.AliasedValues); ok {
		alias, columns = v.As.String(), v.Columns
		v.As, v.Columns = sqlparser.TableIdent{}, nil
	}
	if len(columns) > 0 && len(ins.Columns) > 0 && len(columns) != len(ins.Columns) {
		return errmap.New(1353, "HY000", "In definition of view, derived table or common table expression, SELECT list and column names list have different column counts")
	}
	for _, a := range ins.OnDup {
		assigned := a.Name.Name.String()
		expr, err := dialect.ReplaceExprs(a.Expr, func(e sqlparser.Expr) (sqlparser.Expr, error) {
			var v *newValue
			switch e := e.(type) {
			case *sqlparser.Subquery:
				return nil, errs.Unsupportedf("This version of Tributary doesn't yet support 'subqueries in ON DUPLICATE KEY UPDATE'")
			case *sqlparser.ValuesFuncExpr:
				v = &newValue{name: e.Name.Name.String()}
			case *sqlparser.Default:
				if v = (&newValue{name: e.ColName, def: true}); e.ColName == "" {
					v.name = assigned
				}
			case *sqlparser.ColName:
				v = aliasedValue(e, alias, columns)
			}
			if v == nil {
				return e, nil
			}
			return sqlparser.InjectedExpr{Expression: v, Auth: sqlparser.AuthInformation{AuthType: sqlparser.AuthType_IGNORE}}, nil
		})
		if err != nil {
			return err
		}
		a.Expr = expr
	}
	return nil
}

// aliasedValue is the new value that a name means; nil for other names.
func aliasedValue(c *sqlparser.ColName, alias string, columns sqlparser.Columns) *newValue {
	table := c.Qualifier.Name.String()
	if alias == "" || table != "" && !strings.EqualFold(table, alias) {
		return nil
	}
	for i, x := range columns {
		if strings.EqualFold(x.String(), c.Name.String()) {
			return &newValue{place: i}
		}
	}
	if table == "" || len(columns) > 0 {
		return nil
	}
	return &newValue{name: c.Name.String()}
}

// duplicateSet is an assignment of ON DUPLICATE KEY UPDATE.
type duplicateSet struct {
	// column is the index of the field that gets the value of expr over a row of the old fields and the new ones. copies is
	// the index of the field in such a row where expr is no more than that, else -1. byDefault: the value is the column's default.
	column, copies int
	byDefault      bool
	expr           sql.Expression
}

// duplicateSets gives the bound assignments of ON DUPLICATE KEY UPDATE.
func (n *insertNode) duplicateSets(ins *plan.InsertInto) ([]duplicateSet, error) {
	t := n.table
	names := ins.ColumnNames
	var out []duplicateSet
	for _, e := range ins.OnDupExprs {
		set, ok := e.(*expression.SetField)
		if !ok {
			return nil, sql.ErrUnsupportedSyntax.New(e)
		}
		left, ok := set.LeftChild.(*expression.GetField)
		if !ok {
			return nil, sql.ErrUnsupportedSyntax.New(set.LeftChild)
		}
		i, ok := fieldAt(t.fields, left.Name())
		if !ok {
			return nil, errmap.New(1054, "42S22", "Unknown column '%s' in 'field list'", left.Name())
		}
		d := duplicateSet{column: i, copies: -1}
		if v, ok := set.RightChild.(*newValue); ok && v.def {
			if k, ok := fieldAt(t.fields, v.name); ok && k == i {
				d.byDefault = true
				out = append(out, d)
				continue
			}
		}
		expr, _, err := transform.Expr(set.RightChild, func(e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
			at := -1
			switch e := e.(type) {
			case *newValue:
				name := e.name
				if name == "" && e.place < len(names) {
					name = names[e.place]
				}
				k, ok := fieldAt(t.fields, name)
				if !ok {
					return nil, transform.SameTree, errmap.New(1054, "42S22", "Unknown column '%s' in 'field list'", name)
				}
				if e.def {
					return defaultLiteral(&n.table.fields[k]), transform.NewTree, nil
				}
				at = len(t.fields) + k
			case *expression.GetField:
				if at = n.duplicateColumn(e); at < 0 {
					return nil, transform.SameTree, errmap.New(1054, "42S22", "Unknown column '%s' in 'field list'", e)
				}
			default:
				return e, transform.SameTree, nil
			}
			c := t.full.Schema[at%len(t.fields)]
			return expression.NewGetFieldWithTable(at, 0, c.Type, t.db, t.name, c.Name, c.Nullable), transform.NewTree, nil
		})
		if err != nil {
			return nil, err
		}
		if g, ok := expr.(*expression.GetField); ok {
			d.copies = g.Index()
		}
		d.expr = expr
		out = append(out, d)
	}
	return out, nil
}

// defaultLiteral is the default of a column as an expression.
func defaultLiteral(f *schema.Field) sql.Expression {
	text, ok := defaultText(f)
	if !ok {
		return expression.NewLiteral(nil, gms.Null)
	}
	return expression.NewLiteral(text, gms.LongText)
}

// duplicateColumn finds the column that a name in ON DUPLICATE KEY UPDATE means, in a row of the old fields and the new ones: one
// of the table, or one of the query, which is a new value.
func (n *insertNode) duplicateColumn(g *expression.GetField) int {
	t := n.table
	if strings.EqualFold(g.Table(), t.name) || g.Table() == "" || carriedRows(n.source) != nil {
		if i, ok := fieldAt(t.fields, g.Name()); ok {
			return i
		}
	}
	for j, c := range n.source.Schema() {
		if !strings.EqualFold(c.Name, g.Name()) || g.Table() != "" && c.Source != "" && !strings.EqualFold(c.Source, g.Table()) {
			continue
		}
		for k, from := range n.from {
			if from == j {
				return len(t.fields) + t.columns()[k]
			}
		}
	}
	return -1
}
