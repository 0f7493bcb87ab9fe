package planner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/sqlengine/result"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

const (
	// flushBytes is how many bytes of texts a batch takes before it goes to the sink.
	flushBytes = 8 << 20
	// rowsBetweenChecks is how many rows of VALUES are read between two looks at whether the statement was stopped.
	rowsBetweenChecks = 256
)

// batchTarget takes the rows of a statement.
type batchTarget interface {
	fields() []schema.Field
	// write takes a batch; owned says that nobody changes its vectors afterwards.
	write(ctx context.Context, b *column.Batch, owned bool) error
}

// rowFeed moves rows from a source to a statement's sink.
type rowFeed struct {
	ctx  *sql.Context
	n    *insertNode
	sink batchTarget
	// fields are the sink's; from says where each comes from: a column of the source, or one of the from… constants.
	fields []schema.Field
	from   []int
	// konst are the columns that are the same in all rows.
	konst   []*column.Vector
	writers []*cellWriter
	pending int
	m       *misfits
	// lenientNulls: NULL in a NOT NULL column is a warning.
	lenientNulls bool
	rows         int64
}

func newRowFeed(ctx *sql.Context, n *insertNode, sink batchTarget) (*rowFeed, error) {
	f := &rowFeed{ctx: ctx, n: n, sink: sink, fields: sink.fields(), m: &misfits{ctx: ctx, strict: strictMode(ctx) && !n.ignore, row: 1}}
	f.lenientNulls = !f.m.strict && (n.ignore || !n.single())
	at := map[string]int{}
	for i, c := range n.table.columns() {
		at[n.table.fields[c].Name] = n.from[i]
	}
	zone := SessionZone(ctx)
	for _, fd := range f.fields {
		w := newCellWriter(fd.Name, fd.Type, zone, f.m)
		from, ok := at[fd.Name]
		static, isStatic := n.table.target.Partition[fd.Name]
		var err error
		switch {
		case isStatic && static == nil:
			from, err = fromStatic, w.null(f.lenientNulls)
		case isStatic:
			from, err = fromStatic, w.text(*static)
		case !ok:
			err = errs.Conflictf("table %s.%s has got the column '%s' meanwhile; repeat the statement", n.table.db, n.table.name, fd.Name)
		case from < 0:
			err = w.defaultOf(&fd)
		}
		if err != nil {
			return nil, err
		}
		var k *column.Vector
		if from < 0 {
			k = w.out.Finish()
			w.out.Reset()
		}
		f.from, f.konst, f.writers = append(f.from, from), append(f.konst, k), append(f.writers, w)
	}
	for name := range at {
		if schema.IndexOf(f.fields, name) < 0 {
			return nil, errs.Conflictf("table %s.%s has lost the column '%s' meanwhile; repeat the statement", n.table.db, n.table.name, name)
		}
	}
	f.m.bytes = 0
	f.say("writing %d rows")
	return f, nil
}

// defaultText is the text of a column's default, without its quotes; ok is false where it has none.
func defaultText(f *schema.Field) (text string, ok bool) {
	if f.Default == nil {
		return "", false
	}
	s := *f.Default
	if len(s) >= 2 && s[0] == '\'' && s[len(s)-1] == '\'' {
		s = s[1 : len(s)-1]
	}
	return s, true
}

// defaultOf appends the column's default: NULL where it has none, and where that is not possible error 1364, or the
// type's implicit default and a warning.
func (w *cellWriter) defaultOf(f *schema.Field) error {
	if text, ok := defaultText(f); ok {
		return w.text(text)
	}
	if !f.Type.NotNull {
		w.out.AppendNull()
		return nil
	}
	message := fmt.Sprintf("Field '%s' doesn't have a default value", f.Name)
	if !w.m.strict && w.implicitDefault() {
		w.m.warn("Warning", errNoDefault, message)
		return nil
	}
	return errmap.New(errNoDefault, "HY000", "%s", message)
}

// feed reads the source to its end.
func (f *rowFeed) feed(row sql.Row) error {
	if values := carriedRows(f.n.source); values != nil {
		return f.feedValues(values)
	}
	if f.n.load != nil {
		return f.feedFile()
	}
	if src, ok := f.n.source.(result.Source); ok {
		return f.feedBatches(src)
	}
	it, err := f.n.engine.Analyzer.ExecBuilder.Build(f.ctx, f.n.source, row)
	if err != nil {
		return err
	}
	err = f.feedRows(it)
	return errors.Join(err, it.Close(f.ctx))
}

// feedValues reads the rows of VALUES.
func (f *rowFeed) feedValues(values *valueRows) error {
	// Subqueries are analysed as if they stood above a row of VALUES.
	row := make(sql.Row, len(values.rows[0]))
	types := make([]sql.Type, len(values.children))
	for i, c := range values.children {
		types[i] = c.Type()
	}
	for r, cells := range values.rows {
		if r%rowsBetweenChecks == 0 && f.ctx.Err() != nil {
			return f.ctx.Err()
		}
		for i, from := range f.from {
			if from < 0 {
				continue
			}
			w, c := f.writers[i], &cells[from]
			var err error
			switch c.kind {
			case cellNull:
				err = w.null(f.lenientNulls)
			case cellDefault:
				err = w.defaultOf(&f.fields[i])
			case cellOf:
				err = f.otherDefault(w, string(c.text))
			case cellExpr:
				var v any
				if v, err = values.children[c.child].Eval(f.ctx, row); err == nil {
					err = f.cell(w, v, types[c.child])
				}
			default:
				err = w.literal(c)
			}
			if err != nil {
				return err
			}
		}
		if err := f.endRow(); err != nil {
			return err
		}
	}
	return f.flush()
}

// otherDefault appends the default of a column, which need not be that of the writer: DEFAULT(name).
func (f *rowFeed) otherDefault(w *cellWriter, name string) error {
	for i := range f.fields {
		if !strings.EqualFold(f.fields[i].Name, name) {
			continue
		}
		if text, ok := defaultText(&f.fields[i]); ok {
			return w.text(text)
		}
		if f.fields[i].Type.NotNull {
			return errmap.New(errNoDefault, "HY000", "Field '%s' doesn't have a default value", name)
		}
		return w.null(f.lenientNulls)
	}
	return errmap.New(1054, "42S22", "Unknown column '%s' in 'field list'", name)
}

// cell appends a value of an expression of type src.
func (f *rowFeed) cell(w *cellWriter, v any, src sql.Type) error {
	v, err := sql.UnwrapAny(f.ctx, v)
	if err != nil {
		return err
	}
	if v == nil {
		return w.null(f.lenientNulls)
	}
	return w.append(v, src)
}

func (f *rowFeed) feedRows(it sql.RowIter) error {
	var types []sql.Type
	for _, c := range f.n.source.Schema() {
		types = append(types, c.Type)
	}
	for {
		r, err := it.Next(f.ctx)
		if errors.Is(err, io.EOF) {
			return f.flush()
		}
		if err != nil {
			return err
		}
		for i, from := range f.from {
			if from < 0 {
				continue
			}
			if from >= len(r) || from >= len(types) {
				return errmap.New(errValueCount, "21S01", "Column count doesn't match value count at row %d", f.m.row)
			}
			if err := f.cell(f.writers[i], r[from], types[from]); err != nil {
				return err
			}
		}
		if err := f.endRow(); err != nil {
			return err
		}
	}
}

// endRow counts a row that has been appended.
func (f *rowFeed) endRow() error {
	f.rows++
	f.m.row++
	f.pending++
	if f.pending == column.MaxRows || f.m.bytes > flushBytes {
		return f.flush()
	}
	return nil
}

// flush hands the rows so far to the sink.
func (f *rowFeed) flush() error {
	f.m.bytes = 0
	if f.pending == 0 {
		return nil
	}
	b := &column.Batch{N: f.pending}
	for i := range f.fields {
		if f.konst[i] != nil {
			b.Cols = append(b.Cols, column.NewConst(f.konst[i], f.pending))
			continue
		}
		b.Cols = append(b.Cols, f.writers[i].out.Finish())
		f.writers[i].out.Reset()
	}
	f.pending = 0
	f.say("writing %d rows")
	return f.sink.write(f.ctx, b, true)
}

// say tells how many rows there have been.
func (f *rowFeed) say(format string) {
	f.n.engine.progress.set(f.ctx.Session.ID(), fmt.Sprintf(format, f.rows))
}

// feedBatches passes the vectors whose type is the column's, and converts the others.
func (f *rowFeed) feedBatches(src result.Source) error {
	ts := src.ColumnTypes()
	for _, from := range f.from {
		if from >= len(ts) {
			return errmap.New(errValueCount, "21S01", "Column count doesn't match value count at row 1")
		}
	}
	return eachSourced(f.ctx, src, func(b *column.Batch) error { return f.batch(b, ts) })
}

// batch converts a batch and hands it to the sink.
func (f *rowFeed) batch(b *column.Batch, ts []*schema.Type) error {
	n := b.Rows()
	if n == 0 {
		return nil
	}
	passing, all := make([]bool, len(f.from)), true
	for i, from := range f.from {
		if from >= 0 {
			bad := f.fields[i].Type.NotNull && hasNull(b, b.Cols[from])
			if bad && !f.lenientNulls {
				return errmap.New(errNotNull, "23000", "Column '%s' cannot be null", f.fields[i].Name)
			}
			passing[i] = !bad && passes(ts[from], f.fields[i].Type)
			all = all && passing[i]
		}
	}
	out := &column.Batch{N: b.N, Sel: b.Sel}
	if !all {
		out = &column.Batch{N: n}
	}
	for i, from := range f.from {
		switch {
		case from < 0:
			out.Cols = append(out.Cols, column.NewConst(f.konst[i], out.N))
		case passing[i] && (all || b.Sel == nil):
			out.Cols = append(out.Cols, b.Cols[from])
		case passing[i]:
			out.Cols = append(out.Cols, column.Gather(b.Cols[from], b.Sel))
		default:
			w := f.writers[i]
			if err := w.convert(b.Cols[from], b, ts[from], f.lenientNulls); err != nil {
				return err
			}
			out.Cols = append(out.Cols, w.out.Finish())
			w.out.Reset()
		}
	}
	f.rows += int64(n)
	f.m.row += int64(n)
	f.m.bytes = 0
	f.say("writing %d rows")
	return f.sink.write(f.ctx, out, false)
}

// hasNull reports whether a row of the batch that counts is null in a column.
func hasNull(b *column.Batch, v *column.Vector) bool {
	if !v.HasNulls() {
		return false
	}
	for k := range b.Rows() {
		if v.IsNull(b.Row(k)) {
			return true
		}
	}
	return false
}
