package planner

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/types"

	"github.com/tributarydb/tributary/sqlengine/dialect"
)

// changeNode is UPDATE and DELETE. Its source gives the rows that are changed: the table's columns, then the new values.
type changeNode struct {
	engine *Engine
	// table is what was read; its relation was opened for a change.
	table  *insertTable
	change *dialect.ChangeTarget
	rules  changeRules
	sets   []changeSet
	source sql.Node
}

// changeSet is an assignment: the table's column, and the source's column with the new value, or fromDefault.
type changeSet struct{ column, from int }

var (
	_ sql.ExecSourceRel      = (*changeNode)(nil)
	_ sql.CollationCoercible = (*changeNode)(nil)
)

// Schema implements sql.Node.
func (n *changeNode) Schema() sql.Schema { return gms.OkResultSchema }

// Resolved implements sql.Node.
func (n *changeNode) Resolved() bool { return n.source.Resolved() }

// IsReadOnly implements sql.Node.
func (n *changeNode) IsReadOnly() bool { return false }

// Children implements sql.Node.
func (n *changeNode) Children() []sql.Node { return []sql.Node{n.source} }

// WithChildren implements sql.Node.
func (n *changeNode) WithChildren(c ...sql.Node) (sql.Node, error) {
	if len(c) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(c), 1)
	}
	out := *n
	out.source = c[0]
	return &out, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (n *changeNode) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 7
}

// String implements sql.Node.
func (n *changeNode) String() string {
	p := sql.NewTreePrinter()
	verb := "Update"
	if n.change.Delete {
		verb = "Delete"
	}
	_ = p.WriteNode("%s(%s)", verb, n.table.name)
	_ = p.WriteChildren(n.source.String())
	return p.String()
}

// RowIter implements sql.ExecSourceRel.
func (n *changeNode) RowIter(ctx *sql.Context, row sql.Row) (sql.RowIter, error) {
	if tx := ctx.GetTransaction(); tx != nil && tx.IsReadOnly() {
		return nil, sql.ErrReadOnlyTransaction.New()
	}
	defer n.engine.progress.set(ctx.Session.ID(), "")
	done, err := n.run(ctx, row)
	if err != nil {
		return nil, err
	}
	ok := gms.OkResult{RowsAffected: uint64(done.changed)}
	if !n.change.Delete {
		if ctx.Client().Capabilities&capabilityFoundRows != 0 {
			ok.RowsAffected = uint64(done.matched)
		}
		ok.Info = done
	}
	return sql.RowsToRowIter(sql.Row{ok}), nil
}

// changeInfo counts what an UPDATE or DELETE did; it is the info text of an UPDATE, as MySQL has it.
type changeInfo struct {
	matched, changed int64
	warnings         int
}

// String implements fmt.Stringer.
func (i changeInfo) String() string {
	return fmt.Sprintf("Rows matched: %d  Changed: %d  Warnings: %d", i.matched, i.changed, i.warnings)
}
