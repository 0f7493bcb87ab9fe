package planner

import (
	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/types"
)

// rowsNode is a statement whose few rows are made when it runs.
type rowsNode struct {
	name string
	sch  sql.Schema
	rows func(ctx *sql.Context) ([]sql.Row, error)
	// writes says that the statement changes something.
	writes bool
}

var (
	_ sql.ExecSourceRel      = (*rowsNode)(nil)
	_ sql.CollationCoercible = (*rowsNode)(nil)
)

// Schema implements sql.Node.
func (n *rowsNode) Schema() sql.Schema { return n.sch }

// Resolved implements sql.Node.
func (n *rowsNode) Resolved() bool { return true }

// IsReadOnly implements sql.Node.
func (n *rowsNode) IsReadOnly() bool { return !n.writes }

// Children implements sql.Node.
func (n *rowsNode) Children() []sql.Node { return nil }

// WithChildren implements sql.Node.
func (n *rowsNode) WithChildren(c ...sql.Node) (sql.Node, error) {
	if len(c) != 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(c), 0)
	}
	return n, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (n *rowsNode) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 7
}

// String implements sql.Node.
func (n *rowsNode) String() string { return n.name }

// RowIter implements sql.ExecSourceRel.
func (n *rowsNode) RowIter(ctx *sql.Context, _ sql.Row) (sql.RowIter, error) {
	rows, err := n.rows(ctx)
	if err != nil {
		return nil, err
	}
	return sql.RowsToRowIter(rows...), nil
}

// textColumns makes a schema of nullable text columns.
func textColumns(names ...string) sql.Schema {
	sch := make(sql.Schema, len(names))
	for i, n := range names {
		sch[i] = &sql.Column{Name: n, Type: gms.LongText, Nullable: true}
	}
	return sch
}

// numberColumn makes a nullable integer column.
func numberColumn(name string) *sql.Column {
	return &sql.Column{Name: name, Type: gms.Int64, Nullable: true}
}

// noRows is an empty result.
func noRows(name string, sch sql.Schema) *rowsNode {
	return &rowsNode{name: name, sch: sch, rows: func(*sql.Context) ([]sql.Row, error) { return nil, nil }}
}
