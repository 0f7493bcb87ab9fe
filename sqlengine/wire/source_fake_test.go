package wire_test

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	gsql "github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/types"

	"github.com/tributarydb/tributary/sqlengine/result"
	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
)

// fakeFunction is the table function fake_source(kind, rows): a batch source.
type fakeFunction struct {
	db   gsql.Database
	kind string
	rows int64
	args []gsql.Expression
}

var (
	_ result.Source      = (*fakeFunction)(nil)
	_ gsql.TableFunction = (*fakeFunction)(nil)
)

func (f *fakeFunction) NewInstance(ctx *gsql.Context, db gsql.Database, args []gsql.Expression) (gsql.Node, error) {
	n := &fakeFunction{db: db, args: args}
	for i, a := range args {
		if !a.Resolved() {
			continue
		}
		v, err := a.Eval(ctx, nil)
		if err != nil {
			continue
		}
		if i == 0 {
			n.kind = fmt.Sprint(v)
		} else if c, _, err := gms.Int64.Convert(ctx, v); err == nil {
			n.rows = c.(int64)
		}
	}
	return n, nil
}

func (f *fakeFunction) Name() string            { return "fake_source" }
func (f *fakeFunction) Database() gsql.Database { return f.db }
func (f *fakeFunction) WithDatabase(db gsql.Database) (gsql.Node, error) {
	n := *f
	n.db = db
	return &n, nil
}
func (f *fakeFunction) Expressions() []gsql.Expression { return f.args }
func (f *fakeFunction) WithExpressions(e ...gsql.Expression) (gsql.Node, error) {
	n := *f
	n.args = e
	return &n, nil
}
func (f *fakeFunction) Resolved() bool        { return true }
func (f *fakeFunction) IsReadOnly() bool      { return true }
func (f *fakeFunction) String() string        { return "fake_source" }
func (f *fakeFunction) Children() []gsql.Node { return nil }
func (f *fakeFunction) WithChildren(...gsql.Node) (gsql.Node, error) {
	return f, nil
}
func (f *fakeFunction) CollationCoercibility(*gsql.Context) (gsql.CollationID, byte) {
	return gsql.Collation_binary, 7
}

// fakeTypes are the column types of each kind.
var fakeTypes = map[string][]*schema.Type{
	"four": {{Root: schema.BigInt, NotNull: true}, {Root: schema.Int}, {Root: schema.Double}, {Root: schema.Varchar, Length: schema.MaxLength}},
	"all": {
		{Root: schema.Boolean}, {Root: schema.TinyInt}, {Root: schema.SmallInt}, {Root: schema.Int}, {Root: schema.BigInt},
		{Root: schema.Float}, {Root: schema.Double}, {Root: schema.Decimal, Precision: 10, Scale: 2}, {Root: schema.Decimal, Precision: 38, Scale: 5},
		{Root: schema.Date}, {Root: schema.Time, Precision: 3}, {Root: schema.Timestamp, Precision: 6}, {Root: schema.TimestampLTZ, Precision: 3},
		{Root: schema.Char, Length: 5}, {Root: schema.Varchar, Length: schema.MaxLength}, {Root: schema.Varbinary, Length: 20},
		{Root: schema.Array, Elem: &schema.Type{Root: schema.Int}},
	},
	"accent": {{Root: schema.Varchar, Length: schema.MaxLength}},
	"slow":   {{Root: schema.Int}},
	"tide":   {{Root: schema.Int}},
	"hang":   {{Root: schema.Int}},
	"fail":   {{Root: schema.Int}},
	"fail0":  {{Root: schema.Int}},
	"panic":  {{Root: schema.Int}},
	"dict":   {{Root: schema.Varchar, Length: 100}, {Root: schema.Int}},
	"big":    {{Root: schema.Varbinary, Length: schema.MaxLength}},
}

func (f *fakeFunction) ColumnTypes() []*schema.Type { return fakeTypes[f.kind] }

func (f *fakeFunction) Schema() gsql.Schema {
	var s gsql.Schema
	for i, t := range f.ColumnTypes() {
		s = append(s, &gsql.Column{Name: fmt.Sprintf("c%d", i), Type: types.SQLType(t), Nullable: !t.NotNull, Source: "fake_source"})
	}
	return s
}

func (f *fakeFunction) Batches(*gsql.Context) (result.Iter, error) {
	return &fakeIter{f: f}, nil
}

// RowIter boxes the batches.
func (f *fakeFunction) RowIter(ctx *gsql.Context, _ gsql.Row) (gsql.RowIter, error) {
	return &boxedIter{it: &fakeIter{f: f}, types: f.ColumnTypes()}, nil
}

type boxedIter struct {
	it    *fakeIter
	types []*schema.Type
	b     *column.Batch
	k     int
}

func (b *boxedIter) Next(ctx *gsql.Context) (gsql.Row, error) {
	for b.b == nil || b.k >= b.b.Rows() {
		var err error
		if b.b, err = b.it.Next(ctx); err != nil {
			return nil, err
		}
		b.k = 0
	}
	row := make(gsql.Row, len(b.types))
	for i, t := range b.types {
		row[i] = types.Value(b.b.Cols[i], b.b.Row(b.k), t, time.UTC)
	}
	b.k++
	return row, nil
}

func (b *boxedIter) Close(ctx *gsql.Context) error { return b.it.Close(ctx) }

type fakeIter struct {
	f    *fakeFunction
	done int64
}

func (it *fakeIter) Close(*gsql.Context) error { return nil }

func (it *fakeIter) Next(ctx *gsql.Context) (*column.Batch, error) {
	switch it.f.kind {
	case "hang":
		<-ctx.Done()
		return nil, ctx.Err()
	case "slow":
		if it.done > 0 {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(50 * time.Millisecond):
			}
		}
	case "tide": // rows that are waited for
		for range 5 {
			relation.Waits(ctx)
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(10 * time.Millisecond):
			}
		}
	case "fail", "fail0":
		if it.done > 0 || it.f.kind == "fail0" {
			return nil, errors.New("the source broke")
		}
	case "panic":
		if it.done > 0 {
			panic("the source panicked")
		}
	}
	if it.done >= it.f.rows {
		return nil, io.EOF
	}
	n := int(min(it.f.rows-it.done, column.MaxRows))
	if it.f.kind == "slow" || it.f.kind == "tide" {
		n = 1
	}
	var b *column.Batch
	if it.f.kind == "four" {
		// The same rows again and again: making them would cost more than sending them.
		b = &column.Batch{N: n}
		for _, v := range fourBatch().Cols {
			b.Cols = append(b.Cols, column.Slice(v, 0, n))
		}
	} else {
		b = fakeBatch(it.f.kind, it.done, n)
	}
	it.done += int64(n)
	return b, nil
}

var fourBatch = sync.OnceValue(func() *column.Batch { return fakeBatch("four", 1000000, column.MaxRows) })

// fakeBatch makes rows [from, from+n) of a kind.
func fakeBatch(kind string, from int64, n int) *column.Batch {
	ts := fakeTypes[kind]
	b := &column.Batch{N: n}
	if kind == "dict" {
		words := column.NewBuilder(column.KindBytes)
		for _, w := range []string{"red", "green", "blue"} {
			words.AppendString(w)
		}
		v := &column.Vector{Kind: column.KindBytes, N: n, Dict: words.Finish()}
		ints := column.NewBuilder(column.KindInt32)
		for i := range n {
			v.Codes = append(v.Codes, uint32(i%3))
			ints.AppendInt(from + int64(i))
			if i%2 == 0 {
				b.Sel = append(b.Sel, uint16(i))
			}
		}
		v.SetNull(0)
		b.Cols = []*column.Vector{v, ints.Finish()}
		return b
	}
	for c, t := range ts {
		bld := schema.NewBuilder(t)
		for i := range n {
			r := from + int64(i)
			if kind == "all" && r == 1 {
				bld.AppendNull()
				continue
			}
			fakeCell(bld, kind, c, t, r)
		}
		b.Cols = append(b.Cols, bld.Finish())
	}
	return b
}

func fakeCell(b *column.Builder, kind string, c int, t *schema.Type, r int64) {
	switch t.Root {
	case schema.Boolean:
		b.AppendBool(r%2 == 0)
	case schema.Decimal:
		if t.Precision > 18 {
			b.AppendInt128(column.MulInt64(-123456789012345678, 1000000007+r))
		} else {
			b.AppendInt(-5 - r)
		}
	case schema.Float, schema.Double:
		b.AppendFloat(float64(r) + 0.5)
	case schema.Date:
		b.AppendInt(19723 + r)
	case schema.Time:
		b.AppendInt(3723004 + r)
	case schema.Timestamp, schema.TimestampLTZ:
		b.AppendTimestamp(1704067200123456+r*1000000, 0)
	case schema.Char, schema.Varchar:
		if kind == "accent" {
			b.AppendString("\u00e9\u6f22x")
			return
		}
		b.AppendString(fmt.Sprintf("s%d", r))
	case schema.Varbinary:
		if kind == "big" {
			b.AppendBytes(make([]byte, 17<<20))
			return
		}
		b.AppendBytes([]byte{0, 255, byte(r)})
	case schema.Array:
		b.Child(0).AppendInt(r)
		b.Child(0).AppendNull()
		b.EndList()
	default:
		b.AppendInt(r)
	}
}
