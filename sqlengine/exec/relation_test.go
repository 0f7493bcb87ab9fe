package exec

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"github.com/tributarydb/tributary/sqlengine/planner"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
)

// memory is a relation over batches: some morsels of some batches each.
type memory struct {
	fields  []schema.Field
	morsels [][]*column.Batch
	// skip makes readers drop the rows that the request's filter excludes, by a selection.
	skip bool
	// noCount hides the row count.
	noCount bool
	// opened counts the open readers, closed those that were closed.
	opened, closed atomic.Int64
}

func (m *memory) Fields() []schema.Field { return m.fields }
func (m *memory) PrimaryKey() []string   { return nil }
func (m *memory) Comment() string        { return "" }

func (m *memory) Plan(_ context.Context, r relation.Request) (*relation.Plan, error) {
	p := &relation.Plan{RowCount: -1, Info: []relation.Note{{Key: "files", Value: fmt.Sprint(len(m.morsels))}}}
	rows := int64(0)
	for _, bs := range m.morsels {
		p.Morsels = append(p.Morsels, &memoryMorsel{of: m, batches: bs, req: r})
		for _, b := range bs {
			rows += int64(b.Rows())
		}
	}
	if r.Filter == nil && !m.noCount {
		p.RowCount = rows
	}
	return p, nil
}

type memoryMorsel struct {
	of      *memory
	batches []*column.Batch
	req     relation.Request
}

func (m *memoryMorsel) Weight() int64 {
	n := int64(0)
	for _, b := range m.batches {
		n += int64(b.N)
	}
	return n
}

// Split cuts a morsel into its batches by thousands of rows.
func (m *memoryMorsel) Split(context.Context) ([]relation.Morsel, error) {
	var out []relation.Morsel
	for bs := range slices.Chunk(m.batches, 16) {
		out = append(out, &memoryMorsel{of: m.of, batches: bs, req: m.req})
	}
	return out, nil
}

func (m *memoryMorsel) Open(context.Context) (relation.Reader, error) {
	m.of.opened.Add(1)
	r := &memoryReader{m: m}
	if m.of.skip && m.req.Filter != nil {
		r.sel = predicate.NewSelector(m.req.Filter)
	}
	return r, nil
}

type memoryReader struct {
	m   *memoryMorsel
	pos int
	sel *predicate.Selector
	out column.Batch
	buf []uint16
}

func (r *memoryReader) Next(context.Context) (*column.Batch, error) {
	if r.pos >= len(r.m.batches) {
		return nil, io.EOF
	}
	b := r.m.batches[r.pos]
	r.pos++
	r.out = column.Batch{N: b.N, Sel: b.Sel, Cols: r.out.Cols[:0]}
	if r.sel != nil {
		r.buf = r.sel.Select(b, b.Sel, r.buf[:0])
		r.out.Sel = r.buf
	}
	for _, c := range r.m.req.Columns {
		r.out.Cols = append(r.out.Cols, b.Cols[c])
	}
	return &r.out, nil
}

func (r *memoryReader) Close() error {
	r.m.of.closed.Add(1)
	return nil
}

// memoryCatalog is one database of relations.
type memoryCatalog map[string]*memory

func (c memoryCatalog) Databases(context.Context) ([]string, error) { return []string{"default"}, nil }

func (c memoryCatalog) TableNames(context.Context, string) ([]string, []string, error) {
	var out []string
	for n := range c {
		out = append(out, n)
	}
	return out, nil, nil
}

func (c memoryCatalog) Open(_ context.Context, _, name string, _ planner.OpenOptions) (relation.Relation, error) {
	t, ok := c[name]
	if !ok {
		return nil, errs.NotFoundf("table %s does not exist", name)
	}
	return t, nil
}

// testEngine is an engine with the executor and one session.
type testEngine struct {
	t    testing.TB
	e    *planner.Engine
	x    *Executor
	sess sql.Session
}

func newTestEngine(t testing.TB, c planner.Catalog, o Options) *testEngine {
	t.Helper()
	x := New(o)
	e, err := planner.New(planner.Options{Catalog: c, Replace: x.Replace})
	if err != nil {
		t.Fatal(err)
	}
	x.Bind(e)
	sess, err := e.NewSession(context.Background(), &mysql.Conn{User: "test", ConnectionID: 1}, "")
	if err != nil {
		t.Fatal(err)
	}
	sess.SetCurrentDatabase("default")
	return &testEngine{t: t, e: e, x: x, sess: sess}
}

func (e *testEngine) ctx(on bool) *sql.Context {
	ctx := sql.NewContext(context.Background(), sql.WithSession(e.sess), sql.WithProcessList(e.e.ProcessList))
	v := int8(0)
	if on {
		v = 1
	}
	if err := e.sess.SetSessionVariable(ctx, Variable, v); err != nil {
		e.t.Fatal(err)
	}
	return ctx
}

// plan analyses a statement.
func (e *testEngine) plan(on bool, query string) string {
	e.t.Helper()
	rows, err := e.rows(on, "EXPLAIN FORMAT=TREE "+query)
	if err != nil {
		e.t.Fatalf("%s: %v", query, err)
	}
	return strings.Join(rows, "\n")
}

// rows runs a statement, with the executor or without.
func (e *testEngine) rows(on bool, query string) ([]string, error) {
	ctx := e.ctx(on)
	sch, it, _, err := e.e.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	rows, err := sql.RowIterToRows(ctx, it)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range rows {
		cells := make([]string, len(r))
		for i, v := range r {
			cells[i] = "NULL"
			if v != nil {
				tv, err := sch[i].Type.SQL(ctx, nil, v)
				if err != nil {
					return nil, err
				}
				cells[i] = tv.ToString()
			}
		}
		out = append(out, strings.Join(cells, "\t"))
	}
	return out, nil
}

// isVector reports whether the executor takes part in a statement.
func (e *testEngine) isVector(query string) bool {
	return strings.Contains(e.plan(true, query), "Vector")
}

func typed(root schema.Root, precision, scale int) *schema.Type {
	t := &schema.Type{Root: root, Precision: precision, Scale: scale}
	if root == schema.Varchar {
		t.Length = schema.MaxLength
	}
	return t
}

// allTypes are the columns of random tables.
func allTypes() []schema.Field {
	f := []schema.Field{
		{Name: "id", Type: typed(schema.BigInt, 0, 0).WithNotNull(true)},
		{Name: "b", Type: typed(schema.Boolean, 0, 0)},
		{Name: "t", Type: typed(schema.TinyInt, 0, 0)},
		{Name: "i", Type: typed(schema.Int, 0, 0)},
		{Name: "l", Type: typed(schema.BigInt, 0, 0)},
		{Name: "d", Type: typed(schema.Decimal, 9, 2)},
		{Name: "e", Type: typed(schema.Decimal, 15, 4).WithNotNull(true)},
		{Name: "w", Type: typed(schema.Decimal, 30, 5)},
		{Name: "f", Type: typed(schema.Float, 0, 0)},
		{Name: "g", Type: typed(schema.Double, 0, 0)},
		{Name: "s", Type: typed(schema.Varchar, 0, 0)},
		{Name: "c", Type: typed(schema.Varchar, 0, 0)},
		{Name: "dt", Type: typed(schema.Date, 0, 0)},
		{Name: "ts", Type: typed(schema.Timestamp, 6, 0)},
		{Name: "z", Type: typed(schema.TimestampLTZ, 3, 0)},
	}
	for i := range f {
		f[i].ID = i
	}
	return f
}

var words = []string{"", "a", "b", "ab", "AB", "green", "forest green", "greenish", "çé", "中文", "x y", "%", "a_b"}

// randomTable makes rows of all types, with nulls, dictionaries and selections.
func randomTable(r *rand.Rand, morsels, batches, rows int) *memory {
	m := &memory{fields: allTypes()}
	id := int64(0)
	for range morsels {
		var bs []*column.Batch
		for range batches {
			n := 1 + r.IntN(rows)
			b := &column.Batch{N: n}
			for _, f := range m.fields {
				nulls := !f.Type.NotNull && r.IntN(3) > 0
				bl := schema.NewBuilder(f.Type)
				values := n
				dict := f.Name != "id" && r.IntN(2) == 0
				if dict {
					values = 1 + r.IntN(6)
				}
				for range values {
					if f.Name == "id" {
						id++
						bl.AppendInt(id)
						continue
					}
					if nulls && !dict && r.IntN(5) == 0 {
						bl.AppendNull()
						continue
					}
					randomCell(r, bl, f)
				}
				v := bl.Finish()
				if dict {
					d := v
					v = &column.Vector{Kind: d.Kind, N: n, Dict: d}
					for range n {
						v.Codes = append(v.Codes, uint32(r.IntN(values)))
					}
					if nulls {
						for i := range n {
							if r.IntN(5) == 0 {
								v.SetNull(i)
							}
						}
					}
				}
				b.Cols = append(b.Cols, v)
			}
			if r.IntN(3) == 0 {
				b.Sel = []uint16{}
				for i := range n {
					if r.IntN(3) > 0 {
						b.Sel = append(b.Sel, uint16(i))
					}
				}
			}
			bs = append(bs, b)
		}
		m.morsels = append(m.morsels, bs)
	}
	return m
}

func randomCell(r *rand.Rand, b *column.Builder, f schema.Field) {
	switch f.Name {
	case "b":
		b.AppendInt(int64(r.IntN(2)))
	case "t":
		b.AppendInt(int64(r.IntN(7) - 3))
	case "i":
		b.AppendInt(int64(r.IntN(41) - 20))
	case "l":
		b.AppendInt(r.Int64N(2_000_000_000_000) - 1_000_000_000_000)
	case "d":
		b.AppendInt(int64(r.IntN(4001) - 2000))
	case "e":
		b.AppendInt(r.Int64N(2_000_000_000_000) - 1_000_000_000_000)
	case "w":
		x, _ := mul128(column.FromInt64(r.Int64()-1<<62), column.FromInt64(r.Int64N(1_000_000)))
		b.AppendInt128(x)
	case "f":
		b.AppendFloat(float64(r.IntN(41)-20) / 4)
	case "g":
		b.AppendFloat(float64(r.IntN(4001)-2000) / 8)
	case "s":
		b.AppendString(words[r.IntN(len(words))])
	case "c":
		b.AppendString(words[r.IntN(4)])
	case "dt":
		b.AppendInt(int64(8000 + r.IntN(900)))
	case "ts":
		b.AppendTimestamp(int64(8000+r.IntN(30))*microsPerDay+int64(r.IntN(3))*3_600_000_000+int64(r.IntN(2)), 0)
	case "z":
		b.AppendTimestamp(int64(8000+r.IntN(30))*microsPerDay+int64(r.IntN(3))*3_600_000_000, 0)
	}
}
