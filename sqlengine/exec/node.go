package exec

import (
	"errors"
	"io"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/sqlengine/planner"
	"github.com/tributarydb/tributary/sqlengine/result"
	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// rowsNode is a part of a plan that runs here. Its rows are boxed; where a decimal outgrows 128 bits, the replaced
// nodes answer instead.
type rowsNode struct {
	exec *Executor
	pipe *pipe
	sch  sql.Schema
	// orig are the nodes replaced.
	orig sql.Node
	wide bool
}

// batchNode is a rowsNode whose rows can be had as batches.
type batchNode struct{ rowsNode }

var (
	_ sql.ExecSourceRel      = (*rowsNode)(nil)
	_ sql.CollationCoercible = (*rowsNode)(nil)
	_ sql.Projector          = (*rowsNode)(nil)
	_ planner.Replacement    = (*rowsNode)(nil)
	_ result.Source          = (*batchNode)(nil)
)

// Schema implements sql.Node.
func (n *rowsNode) Schema() sql.Schema { return n.sch }

// Resolved implements sql.Node.
func (n *rowsNode) Resolved() bool { return true }

// IsReadOnly implements sql.Node.
func (n *rowsNode) IsReadOnly() bool { return true }

// Children implements sql.Node.
func (n *rowsNode) Children() []sql.Node { return nil }

// ProjectedExprs implements sql.Projector.
func (n *rowsNode) ProjectedExprs() []sql.Expression { return nil }

// WithChildren implements sql.Node.
func (n *rowsNode) WithChildren(c ...sql.Node) (sql.Node, error) {
	if len(c) != 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(c), 0)
	}
	return n, nil
}

// WithChildren implements sql.Node.
func (n *batchNode) WithChildren(c ...sql.Node) (sql.Node, error) {
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
func (n *rowsNode) String() string {
	name, lines := n.pipe.describe(n.notes)
	names := make([]string, len(n.sch))
	for i, c := range n.sch {
		names[i] = c.Name
	}
	t := sql.NewTreePrinter()
	_ = t.WriteNode("Vector%s", name)
	_ = t.WriteChildren(append([]string{"output: [" + strings.Join(names, " ") + "]"}, lines...)...)
	return t.String()
}

// notes are what a table's plan says of itself.
func (n *rowsNode) notes(t *planner.Table, fields []int) []string {
	return planner.ScanNotes(n.pipe.build.ctx, t, fields)
}

// Replaced implements planner.Replacement.
func (n *rowsNode) Replaced() sql.Node { return n.orig }

// columnTypes are the types of the outputs.
func (n *rowsNode) columnTypes() []*schema.Type {
	out := make([]*schema.Type, len(n.pipe.outs))
	for i, e := range n.pipe.outs {
		out[i] = e.typ()
	}
	return out
}

// ColumnTypes implements result.Source.
func (n *batchNode) ColumnTypes() []*schema.Type { return n.columnTypes() }

// Batches implements result.Source.
func (n *batchNode) Batches(ctx *sql.Context) (result.Iter, error) {
	it, err := n.pipe.open(ctx, n.exec)
	if err != nil {
		return nil, err
	}
	return &resultIter{it}, nil
}

type resultIter struct{ in batchIter }

// Next implements result.Iter.
func (r *resultIter) Next(ctx *sql.Context) (*column.Batch, error) { return r.in.next(ctx) }

// Close implements result.Iter.
func (r *resultIter) Close(*sql.Context) error { return r.in.close() }

// RowIter implements sql.ExecSourceRel.
func (n *rowsNode) RowIter(ctx *sql.Context, row sql.Row) (sql.RowIter, error) {
	it, err := n.pipe.open(ctx, n.exec)
	if err == nil && n.wide {
		it, err = collect(ctx, it)
	}
	if errors.Is(err, errWide) {
		return n.exec.build(ctx, n.orig, row)
	}
	if err != nil {
		return nil, err
	}
	ts := n.columnTypes()
	var loc *time.Location
	for _, t := range ts {
		if t.Root == schema.TimestampLTZ || t.IsNested() {
			loc = planner.SessionZone(ctx)
		}
	}
	return &rowIter{in: it, types: ts, loc: loc}, nil
}

// collect reads everything before the first row is given.
func collect(ctx *sql.Context, in batchIter) (_ batchIter, err error) {
	defer func() { err = errors.Join(err, in.close()) }()
	out := &listIter{}
	for {
		b, err := in.next(ctx)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		out.batches = append(out.batches, ownBatch(b))
	}
}

// rowIter boxes batches.
type rowIter struct {
	in    batchIter
	types []*schema.Type
	loc   *time.Location
	batch *column.Batch
	pos   int
}

// Next implements sql.RowIter.
func (r *rowIter) Next(ctx *sql.Context) (sql.Row, error) {
	for r.batch == nil || r.pos >= r.batch.Rows() {
		b, err := r.in.next(ctx)
		if err != nil {
			return nil, err
		}
		r.batch, r.pos = b, 0
	}
	i := r.batch.Row(r.pos)
	r.pos++
	row := make(sql.Row, len(r.types))
	for c, t := range r.types {
		row[c] = types.Value(r.batch.Cols[c], i, t, r.loc)
	}
	return row, nil
}

// Close implements sql.RowIter.
func (r *rowIter) Close(*sql.Context) error { return r.in.close() }
