package planner

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/types"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
)

// fakeCatalog holds tables in memory. Its relations skip every row that the
// pushed predicate excludes, so that a predicate that is too narrow shows.
type fakeCatalog struct {
	mu     sync.Mutex
	tables map[string]map[string]*fakeTable
	opens  []string
	broken map[string]string
}

func newFakeCatalog() *fakeCatalog {
	return &fakeCatalog{tables: map[string]map[string]*fakeTable{"default": {}, "other": {}}, broken: map[string]string{}}
}

func (c *fakeCatalog) add(db, name string, t *fakeTable) *fakeTable {
	t.name = name
	c.tables[db][name] = t
	return t
}

func (c *fakeCatalog) Databases(context.Context) ([]string, error) {
	var out []string
	for n := range c.tables {
		out = append(out, n)
	}
	sort.Strings(out)
	return out, nil
}

func (c *fakeCatalog) TableNames(_ context.Context, db string) ([]string, []string, error) {
	ts, ok := c.tables[db]
	if !ok {
		return nil, nil, errs.NotFoundf("database %q does not exist", db)
	}
	var out, warnings []string
	for n := range ts {
		if !strings.Contains(n, "$") {
			out = append(out, n)
		}
	}
	for n, why := range c.broken {
		warnings = append(warnings, "table "+n+": "+why)
	}
	sort.Strings(out)
	return out, warnings, nil
}

func (c *fakeCatalog) Open(_ context.Context, db, name string, o OpenOptions) (relation.Relation, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opens = append(c.opens, fmt.Sprintf("%s.%s options=%v version=%q timestamp=%q asof=%q", db, name, o.Options, o.Version, o.Timestamp, o.AsOf))
	t, ok := c.tables[db][name]
	if !ok {
		return nil, errs.NotFoundf("table %s.%s does not exist", db, name)
	}
	snap := *t
	if v := o.Version + o.AsOf + o.Options["scan.snapshot-id"]; v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n > len(t.morsels) {
			return nil, errs.NotFoundf("snapshot %s of table %s does not exist", v, name)
		}
		snap.morsels = t.morsels[:n]
	}
	return &snap, nil
}

// fakeTable is a relation over batches; each append is a morsel.
type fakeTable struct {
	name    string
	fields  []schema.Field
	keys    []string
	comment string
	morsels []*column.Batch
	parts   []string
	options map[string]string
	// last is the last request; counts what was asked, shared by all snapshots.
	log *requestLog
	// noCount hides row counts of metadata.
	noCount bool
}

type requestLog struct {
	mu   sync.Mutex
	reqs []relation.Request
}

func (l *requestLog) add(r relation.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reqs = append(l.reqs, r)
}

func (l *requestLog) last() relation.Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reqs[len(l.reqs)-1]
}

func newFakeTable(fields ...schema.Field) *fakeTable {
	for i := range fields {
		fields[i].ID = i
	}
	return &fakeTable{fields: fields, log: &requestLog{}}
}

// rows appends one morsel. A cell is nil, an integer, a float64, a string, or a time text for timestamps.
func (t *fakeTable) rows(rows ...[]any) *fakeTable {
	bs := make([]*column.Builder, len(t.fields))
	for i := range bs {
		bs[i] = schema.NewBuilder(t.fields[i].Type)
	}
	for _, r := range rows {
		for i, v := range r {
			appendCell(bs[i], t.fields[i].Type, v)
		}
	}
	b := &column.Batch{N: len(rows)}
	for _, bl := range bs {
		b.Cols = append(b.Cols, bl.Finish())
	}
	t.morsels = append(t.morsels, b)
	return t
}

func appendCell(b *column.Builder, t *schema.Type, v any) {
	switch v := v.(type) {
	case nil:
		b.AppendNull()
	case int:
		b.AppendInt(int64(v))
	case int64:
		b.AppendInt(v)
	case float64:
		b.AppendFloat(v)
	case string:
		switch t.Root {
		case schema.Date:
			d, err := time.Parse("2006-01-02", v)
			if err != nil {
				panic(err)
			}
			b.AppendInt(d.Unix() / 86400)
		case schema.Timestamp, schema.TimestampLTZ:
			d, err := time.Parse("2006-01-02 15:04:05.999999999", v)
			if err != nil {
				panic(err)
			}
			b.AppendTimestamp(d.UnixMicro(), uint16(d.Nanosecond()%1000))
		default:
			b.AppendString(v)
		}
	case []any:
		for _, e := range v {
			appendCell(b.Child(0), t.Elem, e)
		}
		b.EndList()
	default:
		panic(fmt.Sprintf("cell of type %T", v))
	}
}

func (t *fakeTable) Fields() []schema.Field          { return t.fields }
func (t *fakeTable) PrimaryKey() []string            { return t.keys }
func (t *fakeTable) Comment() string                 { return t.comment }
func (t *fakeTable) PartitionKeys() []string         { return t.parts }
func (t *fakeTable) TableOptions() map[string]string { return t.options }

func (t *fakeTable) Plan(_ context.Context, req relation.Request) (*relation.Plan, error) {
	t.log.add(req)
	p := &relation.Plan{RowCount: 0, Info: []relation.Note{{Key: "splits", Value: strconv.Itoa(len(t.morsels))}}}
	for _, b := range t.morsels {
		m := &fakeMorsel{all: b, req: req}
		p.Morsels = append(p.Morsels, m)
		p.RowCount += int64(len(m.matching()))
	}
	if t.noCount {
		p.RowCount = -1
	}
	return p, nil
}

type fakeMorsel struct {
	all *column.Batch
	req relation.Request
}

func (m *fakeMorsel) matching() []uint16 {
	sel := []uint16{}
	for i := range m.all.N {
		if predicate.Matches(m.req.Filter, func(c int) column.Scalar { return column.ScalarAt(m.all.Cols[c], i) }) {
			sel = append(sel, uint16(i))
		}
	}
	return sel
}

func (m *fakeMorsel) Weight() int64 { return int64(m.all.N) }

func (m *fakeMorsel) Open(context.Context) (relation.Reader, error) {
	return &fakeReader{m: m}, nil
}

// fakeReader gives batches of two rows, with a selection.
type fakeReader struct {
	m   *fakeMorsel
	pos int
}

func (r *fakeReader) Next(context.Context) (*column.Batch, error) {
	sel := r.m.matching()
	if r.pos >= len(sel) {
		return nil, io.EOF
	}
	n := min(2, len(sel)-r.pos)
	b := &column.Batch{N: r.m.all.N, Sel: slices.Clone(sel[r.pos : r.pos+n])}
	for _, c := range r.m.req.Columns {
		b.Cols = append(b.Cols, r.m.all.Cols[c])
	}
	r.pos += n
	return b, nil
}

func (r *fakeReader) Close() error { return nil }

func field(name string, root schema.Root, opts ...func(*schema.Type)) schema.Field {
	t := &schema.Type{Root: root}
	switch root {
	case schema.Varchar, schema.Varbinary:
		t.Length = schema.MaxLength
	}
	for _, o := range opts {
		o(t)
	}
	return schema.Field{Name: name, Type: t}
}

func precision(p, s int) func(*schema.Type) {
	return func(t *schema.Type) { t.Precision, t.Scale = p, s }
}

func notNullable(t *schema.Type) { t.NotNull = true }

// testSession is one connection to an engine over a fake catalog.
type testSession struct {
	t    testing.TB
	e    *Engine
	sess *Session
}

func newTestSession(t testing.TB, c Catalog) *testSession {
	t.Helper()
	e, err := New(Options{Catalog: c})
	if err != nil {
		t.Fatal(err)
	}
	s := &testSession{t: t, e: e, sess: newSession(sql.NewBaseSession(), e.persisted)}
	s.sess.SetCurrentDatabase("default")
	return s
}

func (s *testSession) ctx() *sql.Context {
	return sql.NewContext(context.Background(), sql.WithSession(s.sess), sql.WithProcessList(s.e.ProcessList))
}

// try runs a statement and returns its rows as tab separated texts.
func (s *testSession) try(query string) ([]string, error) {
	ctx := s.ctx()
	defer s.sess.CommandEnd()
	sch, it, _, err := s.e.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	rows, err := sql.RowIterToRows(ctx, it)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range rows {
		if sch == nil || len(sch) != len(r) || gms.IsOkResultSchema(sch) {
			continue
		}
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

func (s *testSession) run(query string) []string {
	s.t.Helper()
	out, err := s.try(query)
	if err != nil {
		s.t.Fatalf("%s: %v", query, err)
	}
	return out
}

// want checks a statement's rows, one argument a row.
func (s *testSession) want(query string, rows ...string) {
	s.t.Helper()
	if got := s.run(query); !slices.Equal(got, rows) {
		s.t.Errorf("%s\n got %q\nwant %q", query, got, rows)
	}
}

// fails checks that a statement fails with a text.
func (s *testSession) fails(query, text string) {
	s.t.Helper()
	_, err := s.try(query)
	if err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(text)) {
		s.t.Errorf("%s: error %v, want %q", query, err, text)
	}
}
