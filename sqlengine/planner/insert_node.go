package planner

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	gms "github.com/dolthub/go-mysql-server/sql/types"

	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/sqlengine/result"
	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
)

// insertNode is INSERT, REPLACE and LOAD DATA: the source's rows go to a sink in
// batches, which is committed at the end, or with the transaction.
type insertNode struct {
	engine *Engine
	table  *insertTable
	source sql.Node
	load   *plan.LoadData
	// from has, for each of the table's columns, the source's column or fromDefault.
	from   []int
	ignore bool
	// operation is what the snapshot records.
	operation string
}

var (
	_ sql.ExecSourceRel      = (*insertNode)(nil)
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
	rows, warnings, err := n.run(ctx, row)
	if err != nil {
		return nil, err
	}
	ok := gms.OkResult{RowsAffected: uint64(rows), Info: insertInfo{rows, warnings}}
	return sql.RowsToRowIter(sql.Row{ok}), nil
}

// run writes the rows and commits them, or leaves them to the transaction.
func (n *insertNode) run(ctx *sql.Context, row sql.Row) (rows int64, warnings int, err error) {
	w, err := n.engine.writable()
	if err != nil {
		return 0, 0, err
	}
	t := n.table
	opts := relation.SinkOptions{Overwrite: t.target.Overwrite, Operation: n.operation, Options: t.target.Options}
	if len(t.target.Partition) > 0 {
		opts.Static = t.target.Partition
	}
	sink, err := w.OpenSink(ctx, t.db, t.name, opts)
	if err != nil {
		return 0, 0, missingTable(err, t.db, t.name)
	}
	keep := false
	defer func() {
		if !keep {
			sink.Abort()
		}
	}()
	f, err := newRowFeed(ctx, n, sink)
	if err != nil {
		return 0, 0, err
	}
	if err := f.feed(ctx, row); err != nil {
		return 0, 0, err
	}
	if tx, ok := ctx.GetTransaction().(*Transaction); ok && !autocommits(ctx) {
		tx.write(t.db, t.name, sink)
		keep = true
		return f.rows, f.warnings, nil
	}
	keep = true
	if _, err := sink.Commit(ctx); err != nil {
		return 0, 0, err
	}
	return f.rows, f.warnings, nil
}

// insertInfo is the info text of an INSERT, as MySQL has it.
type insertInfo struct {
	rows     int64
	warnings int
}

// String implements fmt.Stringer.
func (i insertInfo) String() string {
	return fmt.Sprintf("Records: %d  Duplicates: 0  Warnings: %d", i.rows, i.warnings)
}

// autocommits reports whether a statement commits by itself.
func autocommits(ctx *sql.Context) bool {
	if ctx.GetIgnoreAutoCommit() {
		return false
	}
	v, err := ctx.GetSessionVariable(ctx, "autocommit")
	return err != nil || isOn(v)
}

// rowFeed moves rows from a source to a sink.
type rowFeed struct {
	n    *insertNode
	sink relation.Sink
	// fields are the sink's; from says where each comes from: a column of the source, fromDefault, or fromStatic.
	fields []schema.Field
	from   []int
	// konst are the columns that are the same in all rows.
	konst   []*column.Vector
	writers []*cellWriter
	builder []*column.Builder
	pending int

	rows     int64
	warnings int
}

// fromStatic is the source of a column that the PARTITION clause gives.
const fromStatic = -2

func newRowFeed(ctx *sql.Context, n *insertNode, sink relation.Sink) (*rowFeed, error) {
	f := &rowFeed{n: n, sink: sink, fields: sink.Fields()}
	at := map[string]int{}
	for i, c := range n.table.columns() {
		at[n.table.fields[c].Name] = n.from[i]
	}
	zone := SessionZone(ctx)
	for _, fd := range f.fields {
		b := schema.NewBuilder(fd.Type)
		w := &cellWriter{name: fd.Name, typ: fd.Type, out: b, zone: zone, warn: func(code int, text string) {
			f.warnings++
			ctx.Warn(code, "%s", text)
		}}
		var k *column.Vector
		from, ok := at[fd.Name]
		if static, isStatic := n.table.target.Partition[fd.Name]; isStatic {
			from = fromStatic
			var v any
			if static != nil {
				v = *static
			}
			if err := w.append(ctx, v, 1); err != nil {
				return nil, err
			}
			k = b.Finish()
		} else if !ok {
			return nil, errs.Conflictf("table %s.%s has got the column '%s' meanwhile; repeat the statement", n.table.db, n.table.name, fd.Name)
		} else if from == fromDefault {
			if err := w.append(ctx, defaultValue(fd), 1); err != nil {
				return nil, err
			}
			k = b.Finish()
		}
		if k != nil {
			b = schema.NewBuilder(fd.Type)
			w.out = b
		}
		f.from, f.konst, f.writers, f.builder = append(f.from, from), append(f.konst, k), append(f.writers, w), append(f.builder, b)
	}
	return f, nil
}

// defaultValue is the value of a column that the statement leaves out: the text of its default, without quotes.
func defaultValue(f schema.Field) any {
	if f.Default == nil {
		return nil
	}
	s := *f.Default
	if len(s) >= 2 && s[0] == '\'' && s[len(s)-1] == '\'' {
		s = s[1 : len(s)-1]
	}
	return s
}

// feed reads the source to its end.
func (f *rowFeed) feed(ctx *sql.Context, row sql.Row) error {
	if src, ok := f.n.source.(result.Source); ok {
		return f.feedBatches(ctx, src)
	}
	it, err := f.n.engine.Analyzer.ExecBuilder.Build(ctx, f.n.source, row)
	if err != nil {
		return err
	}
	err = f.feedRows(ctx, it)
	return errors.Join(err, it.Close(ctx))
}

func (f *rowFeed) feedRows(ctx *sql.Context, it sql.RowIter) error {
	for {
		r, err := it.Next(ctx)
		if errors.Is(err, io.EOF) {
			return f.flush(ctx)
		}
		if err != nil {
			return err
		}
		f.rows++
		for i, from := range f.from {
			if from < 0 {
				continue
			}
			if from >= len(r) {
				return errmap.New(1136, "21S01", "Column count doesn't match value count at row %d", f.rows)
			}
			v := r[from]
			if _, isDefault := v.(defaultMarker); isDefault {
				v = defaultValue(f.fields[i])
			}
			if err := f.cell(ctx, i, v); err != nil {
				return err
			}
		}
		f.pending++
		if f.pending == column.MaxRows {
			if err := f.flush(ctx); err != nil {
				return err
			}
		}
	}
}

// defaultMarker stands for the keyword DEFAULT.
type defaultMarker struct{}

// cell appends one value. With IGNORE a value that does not fit becomes a warning and NULL, if the column takes it.
func (f *rowFeed) cell(ctx *sql.Context, i int, v any) error {
	err := f.writers[i].append(ctx, v, f.rows)
	if err == nil || !f.n.ignore || f.fields[i].Type.NotNull || f.fields[i].Type.IsNested() {
		return err
	}
	f.warnings++
	code, _, text := errmap.Convert(err)
	ctx.Warn(int(code), "%s", text)
	f.builder[i].AppendNull()
	return nil
}

// flush hands the rows so far to the sink.
func (f *rowFeed) flush(ctx context.Context) error {
	if f.pending == 0 {
		return nil
	}
	b := &column.Batch{N: f.pending}
	for i := range f.fields {
		if f.konst[i] != nil {
			b.Cols = append(b.Cols, column.NewConst(f.konst[i], f.pending))
			continue
		}
		b.Cols = append(b.Cols, f.builder[i].Finish())
		f.builder[i].Reset()
	}
	f.pending = 0
	return f.sink.Write(ctx, b, nil)
}

// feedBatches passes vectors whose type is the column's; the cells of others are converted one by one.
func (f *rowFeed) feedBatches(ctx *sql.Context, src result.Source) (err error) {
	ts := src.ColumnTypes()
	for _, from := range f.from {
		if from >= len(ts) {
			return errmap.New(1136, "21S01", "Column count doesn't match value count at row 1")
		}
	}
	it, err := src.Batches(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close(ctx)) }()
	zone := SessionZone(ctx)
	for {
		b, err := it.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		n := b.Rows()
		if n == 0 {
			continue
		}
		out := &column.Batch{N: b.N, Sel: b.Sel}
		converted := false
		for i, from := range f.from {
			if from >= 0 && !passes(ts[from], f.fields[i].Type) {
				converted = true
			}
		}
		if converted {
			out = &column.Batch{N: n}
		}
		for i, from := range f.from {
			switch {
			case from < 0:
				out.Cols = append(out.Cols, column.NewConst(f.konst[i], out.N))
			case passes(ts[from], f.fields[i].Type):
				v := b.Cols[from]
				if f.fields[i].Type.NotNull && v.HasNulls() {
					for k := range n {
						if v.IsNull(b.Row(k)) {
							return errmap.New(1048, "23000", "Column '%s' cannot be null", f.fields[i].Name)
						}
					}
				}
				if converted && b.Sel != nil {
					v = column.Gather(v, b.Sel)
				}
				out.Cols = append(out.Cols, v)
			default:
				for k := range n {
					f.rows++ // names the row in messages
					if err := f.cell(ctx, i, types.Value(b.Cols[from], b.Row(k), ts[from], zone)); err != nil {
						return err
					}
				}
				f.rows -= int64(n)
				out.Cols = append(out.Cols, f.builder[i].Finish())
				f.builder[i].Reset()
			}
		}
		f.rows += int64(n)
		if err := f.sink.Write(ctx, out, nil); err != nil {
			return err
		}
	}
}

// passes reports whether vectors of one type can be stored as another without a look at the values.
func passes(from, to *schema.Type) bool {
	if from.EqualIgnoreNull(to) {
		return true
	}
	isText := func(t *schema.Type) bool { return t.Root == schema.Varchar || t.Root == schema.Char }
	switch {
	case to.Root == schema.Varchar && isText(from):
		return from.Length <= to.Length
	case to.Root == schema.Varbinary && (from.Root == schema.Binary || from.Root == schema.Varbinary):
		return from.Length <= to.Length
	case to.Root == schema.SmallInt || to.Root == schema.Int:
		return from.Root >= schema.TinyInt && from.Root <= to.Root
	}
	return false
}
