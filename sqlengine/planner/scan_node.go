package planner

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/sqlengine/result"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// ScanNode is a table scan with plain columns at the top of a plan: it gives
// batches, so that a client can be served without boxing.
type ScanNode struct {
	table *Table
	// out are the output columns as indexes into cols.
	out []int
	// cols are the columns read, as indexes into the table's fields.
	cols []int
	sch  sql.Schema
	// offset rows are skipped, then at most limit are given; limit < 0 = all.
	offset, limit int64
}

var (
	_ result.Source          = (*ScanNode)(nil)
	_ sql.ExecSourceRel      = (*ScanNode)(nil)
	_ sql.CollationCoercible = (*ScanNode)(nil)
)

// newScanNode scans the table's fields listed, in order and with repetitions.
func newScanNode(t *Table, fields []int, sch sql.Schema) *ScanNode {
	n := &ScanNode{table: t, sch: sch, limit: -1}
	at := map[int]int{}
	for _, f := range fields {
		k, ok := at[f]
		if !ok {
			k = len(n.cols)
			at[f] = k
			n.cols = append(n.cols, f)
		}
		n.out = append(n.out, k)
	}
	return n
}

// Table returns the scanned table.
func (n *ScanNode) Table() *Table { return n.table }

// Schema implements sql.Node.
func (n *ScanNode) Schema() sql.Schema { return n.sch }

// Resolved implements sql.Node.
func (n *ScanNode) Resolved() bool { return true }

// IsReadOnly implements sql.Node.
func (n *ScanNode) IsReadOnly() bool { return true }

// Children implements sql.Node.
func (n *ScanNode) Children() []sql.Node { return nil }

// WithChildren implements sql.Node.
func (n *ScanNode) WithChildren(c ...sql.Node) (sql.Node, error) {
	if len(c) != 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(c), 0)
	}
	return n, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (n *ScanNode) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 7
}

// String implements sql.Node.
func (n *ScanNode) String() string {
	p := sql.NewTreePrinter()
	_ = p.WriteNode("Scan")
	names := make([]string, len(n.sch))
	for i, c := range n.sch {
		names[i] = c.Name
	}
	children := []string{"table: " + n.table.db + "." + n.table.name, fmt.Sprintf("columns: %v", names)}
	if n.limit >= 0 {
		children = append(children, fmt.Sprintf("limit: %d, offset: %d", n.limit, n.offset))
	}
	_ = p.WriteChildren(children...)
	return p.String()
}

// ColumnTypes implements result.Source.
func (n *ScanNode) ColumnTypes() []*schema.Type {
	out := make([]*schema.Type, len(n.out))
	for i, k := range n.out {
		out[i] = n.table.fields[n.cols[k]].Type
	}
	return out
}

// Batches implements result.Source.
func (n *ScanNode) Batches(ctx *sql.Context) (result.Iter, error) {
	if n.limit == 0 {
		return &scanBatches{}, nil
	}
	s, err := n.table.scan(ctx, n.cols)
	if err != nil {
		return nil, err
	}
	return &scanBatches{scan: s, out: n.out, skip: n.offset, left: n.limit}, nil
}

// RowIter implements sql.ExecSourceRel.
func (n *ScanNode) RowIter(ctx *sql.Context, _ sql.Row) (sql.RowIter, error) {
	it, err := n.Batches(ctx)
	if err != nil {
		return nil, err
	}
	return &batchRows{in: it, box: newBoxer(ctx, n.ColumnTypes())}, nil
}

// scanBatches puts the columns of a scan in output order and cuts offset and limit.
type scanBatches struct {
	scan       *scan
	out        []int
	skip, left int64
	batch      column.Batch
	sel        []uint16
}

// Next implements result.Iter.
func (s *scanBatches) Next(ctx *sql.Context) (*column.Batch, error) {
	for {
		if s.scan == nil || s.left == 0 {
			return nil, io.EOF
		}
		b, err := s.scan.Next(ctx)
		if err != nil {
			return nil, err
		}
		s.batch = column.Batch{N: b.N, Sel: b.Sel, Cols: s.batch.Cols[:0]}
		for _, k := range s.out {
			s.batch.Cols = append(s.batch.Cols, b.Cols[k])
		}
		if s.cut() {
			return &s.batch, nil
		}
	}
}

// cut applies offset and limit to the current batch; false where nothing is left of it.
func (s *scanBatches) cut() bool {
	rows := int64(s.batch.Rows())
	from := min(s.skip, rows)
	s.skip -= from
	to := rows
	if s.left >= 0 {
		to = min(rows, from+s.left)
		s.left -= to - from
	}
	if from == to {
		return false
	}
	if from > 0 || to < rows {
		s.sel = s.sel[:0]
		for k := from; k < to; k++ {
			s.sel = append(s.sel, uint16(s.batch.Row(int(k))))
		}
		s.batch.Sel = s.sel
	}
	return true
}

// Close implements result.Iter.
func (s *scanBatches) Close(*sql.Context) error {
	if s.scan == nil {
		return nil
	}
	return s.scan.Close()
}

// batchRows boxes the rows of a result.Iter.
type batchRows struct {
	in    result.Iter
	box   *boxer
	batch batchCursor
}

// Next implements sql.RowIter.
func (r *batchRows) Next(ctx *sql.Context) (sql.Row, error) {
	for !r.batch.next() {
		b, err := r.in.Next(ctx)
		if err != nil {
			return nil, err
		}
		r.batch.reset(b)
	}
	return r.box.row(r.batch.batch, r.batch.row()), nil
}

// Close implements sql.RowIter.
func (r *batchRows) Close(ctx *sql.Context) error { return r.in.Close(ctx) }

// countNode answers COUNT(*) of one table: from the plan where metadata tells, else by counting.
type countNode struct {
	table *Table
	// slow is the plan as it was, for filters that the table cannot decide alone; nil where there is none.
	slow  sql.Node
	build sql.NodeExecBuilder
	sch   sql.Schema
}

var (
	_ sql.ExecSourceRel      = (*countNode)(nil)
	_ sql.CollationCoercible = (*countNode)(nil)
	_ sql.Projector          = (*countNode)(nil)
)

// Schema implements sql.Node.
func (n *countNode) Schema() sql.Schema { return n.sch }

// Resolved implements sql.Node.
func (n *countNode) Resolved() bool { return true }

// IsReadOnly implements sql.Node.
func (n *countNode) IsReadOnly() bool { return true }

// Children implements sql.Node.
func (n *countNode) Children() []sql.Node { return nil }

// ProjectExprs implements sql.Projector.
func (n *countNode) ProjectedExprs() []sql.Expression { return nil }

// WithChildren implements sql.Node.
func (n *countNode) WithChildren(c ...sql.Node) (sql.Node, error) {
	if len(c) != 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(c), 0)
	}
	return n, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (n *countNode) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 7
}

// String implements sql.Node.
func (n *countNode) String() string {
	p := sql.NewTreePrinter()
	_ = p.WriteNode("Count")
	_ = p.WriteChildren("table: " + n.table.db + "." + n.table.name)
	return p.String()
}

// RowIter implements sql.ExecSourceRel.
func (n *countNode) RowIter(ctx *sql.Context, row sql.Row) (sql.RowIter, error) {
	p, err := n.table.rel.Plan(ctx, n.table.request(nil))
	if err != nil {
		return nil, err
	}
	count := p.RowCount
	if count < 0 {
		if n.slow != nil {
			return n.build.Build(ctx, n.slow, row)
		}
		s := newScan(p.Morsels)
		count, err = countRows(ctx, s)
		if err = errors.Join(err, s.Close()); err != nil {
			return nil, err
		}
	}
	return sql.RowsToRowIter(sql.NewRow(count)), nil
}

func countRows(ctx context.Context, s *scan) (int64, error) {
	var n int64
	for {
		b, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		n += int64(b.Rows())
	}
}
