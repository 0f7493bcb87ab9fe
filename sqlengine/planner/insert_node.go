package planner

import (
	"fmt"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	gms "github.com/dolthub/go-mysql-server/sql/types"

	"github.com/tributarydb/tributary/storage/relation"
)

// insertNode is INSERT, REPLACE and LOAD DATA: the source's rows go to a sink in
// batches, which is committed at the end, or with the transaction.
type insertNode struct {
	engine *Engine
	table  *insertTable
	// source gives the rows; the rows of VALUES are inside of one of its expressions (valueRows).
	source sql.Node
	load   *loadData
	// from has, for each of the table's columns, the source's column or fromDefault.
	from   []int
	ignore bool
	// upsert is set where the statement has to know which keys are there.
	upsert *upsert
	// operation is what the snapshot records.
	operation string
}

// Sources of a column that are no column of the source.
const (
	fromDefault = -1 - iota // the statement does not name it
	fromStatic              // the PARTITION clause gives it
)

var (
	_ sql.ExecSourceRel      = (*insertNode)(nil)
	_ sql.Expressioner       = (*insertNode)(nil)
	_ sql.CollationCoercible = (*insertNode)(nil)
)

// Schema implements sql.Node.
func (n *insertNode) Schema() sql.Schema { return gms.OkResultSchema }

// Resolved implements sql.Node.
func (n *insertNode) Resolved() bool { return n.source.Resolved() }

// IsReadOnly implements sql.Node.
func (n *insertNode) IsReadOnly() bool { return false }

// Children implements sql.Node.
func (n *insertNode) Children() []sql.Node { return []sql.Node{n.source} }

// Expressions implements sql.Expressioner: the right sides of ON DUPLICATE KEY UPDATE.
func (n *insertNode) Expressions() []sql.Expression {
	if n.upsert == nil {
		return nil
	}
	var out []sql.Expression
	for _, s := range n.upsert.sets {
		if s.expr != nil {
			out = append(out, s.expr)
		}
	}
	return out
}

// WithExpressions implements sql.Expressioner.
func (n *insertNode) WithExpressions(exprs ...sql.Expression) (sql.Node, error) {
	if want := len(n.Expressions()); len(exprs) != want {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(exprs), want)
	}
	if len(exprs) == 0 {
		return n, nil
	}
	out, u := *n, *n.upsert
	u.sets = slices.Clone(u.sets)
	for i := range u.sets {
		if u.sets[i].expr != nil {
			u.sets[i].expr, exprs = exprs[0], exprs[1:]
		}
	}
	out.upsert = &u
	return &out, nil
}

// WithChildren implements sql.Node.
func (n *insertNode) WithChildren(c ...sql.Node) (sql.Node, error) {
	if len(c) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(c), 1)
	}
	out := *n
	out.source = c[0]
	return &out, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (n *insertNode) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 7
}

// String implements sql.Node.
func (n *insertNode) String() string {
	p := sql.NewTreePrinter()
	_ = p.WriteNode("Insert(%s)", n.table.name)
	_ = p.WriteChildren(n.source.String())
	return p.String()
}

// RowIter implements sql.ExecSourceRel.
func (n *insertNode) RowIter(ctx *sql.Context, row sql.Row) (sql.RowIter, error) {
	if tx := ctx.GetTransaction(); tx != nil && tx.IsReadOnly() {
		return nil, sql.ErrReadOnlyTransaction.New()
	}
	done, warnings, err := n.runCounted(ctx, row)
	if err != nil {
		return nil, err
	}
	ok := gms.OkResult{RowsAffected: uint64(done.affected)}
	switch {
	case n.load != nil:
		ok.Info = loadInfo{done.records, warnings}
	case !n.single():
		ok.Info = insertInfo{done.records, done.duplicates, warnings}
	}
	return sql.RowsToRowIter(sql.Row{ok}), nil
}

// single reports whether the source is one row of VALUES.
func (n *insertNode) single() bool {
	if rows := carriedRows(n.source); rows != nil {
		return len(rows.rows) == 1
	}
	v, ok := n.source.(*plan.Values)
	return ok && len(v.ExpressionTuples) == 1
}

// runCounted writes the rows and says what became of them.
func (n *insertNode) runCounted(ctx *sql.Context, row sql.Row) (outcome, int, error) {
	defer n.engine.progress.set(ctx.Session.ID(), "")
	if n.upsert == nil {
		rows, warnings, err := n.run(ctx, row)
		return outcome{records: rows, affected: rows}, warnings, err
	}
	w, err := n.engine.writable()
	if err != nil {
		return outcome{}, 0, err
	}
	return n.runUpsert(ctx, row, w, n.sinkOptions())
}

func (n *insertNode) sinkOptions() relation.SinkOptions {
	opts := relation.SinkOptions{Overwrite: n.table.target.Overwrite, Operation: n.operation, Options: n.table.target.Options}
	if opts.Overwrite && len(n.table.target.Partition) > 0 { // else the clause only gives the rows its values
		opts.Static = n.table.target.Partition
	}
	return opts
}

// run writes the rows and commits them, or leaves them to the transaction.
func (n *insertNode) run(ctx *sql.Context, row sql.Row) (rows int64, warnings int, err error) {
	w, err := n.engine.writable()
	if err != nil {
		return 0, 0, err
	}
	s, err := openStatement(ctx, w, n.table.db, n.table.object, n.sinkOptions())
	if err != nil {
		return 0, 0, missingTable(err, n.table.db, n.table.name)
	}
	defer s.abort() // does nothing after finish
	f, err := newRowFeed(ctx, n, s)
	if err != nil {
		return 0, 0, err
	}
	if err := f.feed(row); err != nil {
		return 0, 0, err
	}
	f.say("committing %d rows")
	if err := s.finish(ctx); err != nil {
		return 0, 0, err
	}
	return f.rows, f.m.warnings, nil
}

// insertInfo is the info text of an INSERT, as MySQL has it.
type insertInfo struct {
	rows, duplicates int64
	warnings         int
}

// String implements fmt.Stringer.
func (i insertInfo) String() string {
	return fmt.Sprintf("Records: %d  Duplicates: %d  Warnings: %d", i.rows, i.duplicates, i.warnings)
}

// loadInfo is the info text of LOAD DATA.
type loadInfo struct {
	rows     int64
	warnings int
}

// String implements fmt.Stringer.
func (i loadInfo) String() string {
	return fmt.Sprintf("Records: %d  Deleted: 0  Skipped: 0  Warnings: %d", i.rows, i.warnings)
}

// autocommits reports whether a statement commits by itself.
func autocommits(ctx *sql.Context) bool {
	if ctx.GetIgnoreAutoCommit() {
		return false
	}
	v, err := ctx.GetSessionVariable(ctx, "autocommit")
	return err != nil || isOn(v)
}

// strictMode reports whether values that do not fit are errors.
func strictMode(ctx *sql.Context) bool {
	m := sql.LoadSqlMode(ctx)
	return m.ModeEnabled("STRICT_TRANS_TABLES") || m.ModeEnabled("STRICT_ALL_TABLES") || m.ModeEnabled("TRADITIONAL")
}
