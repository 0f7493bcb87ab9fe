package planner

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/types"

	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
)

// insertLake is a fakeLake whose tables take rows, and which writes down how.
type insertLake struct {
	*fakeLake
	// events are what happened to sinks, in order.
	events []string
	// commitErr and writeErr are what sinks of a table answer.
	commitErr, writeErr map[string]error
}

func (l *insertLake) OpenSink(_ context.Context, db, name string, o relation.SinkOptions) (relation.Sink, error) {
	base, _, _ := strings.Cut(name, "$branch_")
	t := l.tables[db][name]
	if t == nil {
		t = l.tables[db][base]
	}
	text := "open " + db + "." + name
	if o.Overwrite {
		text += " overwrite"
	}
	for _, k := range sortedKeys(o.Static) {
		v := "NULL"
		if o.Static[k] != nil {
			v = *o.Static[k]
		}
		text += " " + k + "=" + v
	}
	if len(o.Options) > 0 {
		text += fmt.Sprint(" ", o.Options)
	}
	l.events = append(l.events, text)
	return &insertSink{lake: l, table: t, name: name}, nil
}

type insertSink struct {
	lake     *insertLake
	table    *fakeTable
	name     string
	batches  []*column.Batch
	rows     int
	finished bool
}

func (s *insertSink) Fields() []schema.Field { return s.table.fields }

func (s *insertSink) Write(ctx context.Context, b *column.Batch, _ []int32) error {
	if s.finished {
		return fmt.Errorf("written after the end")
	}
	if err := s.lake.writeErr[s.name]; err != nil {
		return err
	}
	if len(b.Cols) != len(s.table.fields) {
		return fmt.Errorf("%d columns", len(b.Cols))
	}
	out := &column.Batch{N: b.Rows()}
	for i, c := range b.Cols {
		if c.N != b.N || c.Kind != schema.KindOf(s.table.fields[i].Type) {
			return fmt.Errorf("column %d: %d rows of kind %d", i, c.N, c.Kind)
		}
		if s.table.fields[i].Type.NotNull && hasNull(b, c) {
			return fmt.Errorf("Cannot write null to non-null column(%s)", s.table.fields[i].Name)
		}
		bl := column.NewBuilderLike(c)
		for k := range b.Rows() {
			bl.Append(c, b.Row(k))
		}
		out.Cols = append(out.Cols, bl.Finish())
	}
	s.batches = append(s.batches, out)
	s.rows += out.N
	return ctx.Err()
}

func (s *insertSink) Commit(ctx context.Context) (relation.Committed, error) {
	s.finished = true
	if err := ctx.Err(); err != nil {
		s.lake.events = append(s.lake.events, "stopped "+s.name)
		return relation.Committed{}, err
	}
	if err := s.lake.commitErr[s.name]; err != nil {
		s.lake.events = append(s.lake.events, "failed "+s.name)
		return relation.Committed{}, err
	}
	s.lake.events = append(s.lake.events, fmt.Sprintf("commit %s %d", s.name, s.rows))
	s.table.morsels = append(s.table.morsels, s.batches...)
	return relation.Committed{Snapshot: 1, Rows: int64(s.rows)}, nil
}

func (s *insertSink) Abort() {
	if !s.finished {
		s.finished = true
		s.lake.events = append(s.lake.events, "abort "+s.name)
	}
}

// insertSession is a session over an insertLake.
type insertSession struct {
	*testSession
	lake *insertLake
	// file is the content of the client's file.
	file string
	// stop, where set, ends the statement's context.
	base context.Context
}

// exec runs a statement; ok is the text of its answer.
func (s *insertSession) exec(query string) (ok string, err error) {
	base := s.base
	if base == nil {
		base = context.Background()
	}
	ctx := sql.NewContext(base, sql.WithSession(s.sess), sql.WithProcessList(s.e.ProcessList), sql.WithServices(sql.Services{
		LoadInfile: func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(s.file)), nil },
	}))
	s.sess.ClearWarnings()
	defer s.sess.CommandEnd()
	_, it, _, err := s.e.Query(ctx, query)
	if err != nil {
		return "", err
	}
	rows, err := sql.RowIterToRows(ctx, it)
	if err != nil || len(rows) == 0 || len(rows[0]) == 0 {
		return "", err
	}
	r, isOK := rows[0][0].(gms.OkResult)
	if !isOK {
		return "", nil
	}
	ok = fmt.Sprint(r.RowsAffected)
	if r.Info != nil {
		ok += " " + r.Info.String()
	}
	return ok, nil
}

func newInsertSession(t testing.TB) *insertSession {
	l := &insertLake{fakeLake: newFakeLake(), commitErr: map[string]error{}, writeErr: map[string]error{}}
	return &insertSession{testSession: newTestSession(t, l), lake: l}
}

// table makes an empty table; its columns are written "name TYPE [NOT NULL] [= default]", separated by semicolons.
func (s *insertSession) table(name, columns string, keys ...string) *fakeTable {
	s.t.Helper()
	var fields []schema.Field
	for _, c := range strings.Split(columns, ";") {
		c, def, hasDefault := strings.Cut(strings.TrimSpace(c), " = ")
		n, typ, _ := strings.Cut(c, " ")
		t, err := schema.ParseType(typ)
		if err != nil {
			s.t.Fatal(err)
		}
		f := schema.Field{Name: n, Type: t}
		if hasDefault {
			f.Default = &def
		}
		fields = append(fields, f)
	}
	f := newFakeTable(fields...)
	f.keys = keys
	f.options = map[string]string{}
	return s.lake.add("default", name, f)
}

// happened checks and forgets what happened to sinks.
func (s *insertSession) happened(events ...string) {
	s.t.Helper()
	if !slices.Equal(s.lake.events, events) {
		s.t.Errorf("events %q, want %q", s.lake.events, events)
	}
	s.lake.events = nil
}

// errorOf runs a statement that must fail; it returns MySQL's error.
func (s *insertSession) errorOf(query string) string {
	s.t.Helper()
	_, err := s.exec(query)
	if err == nil {
		return "no error"
	}
	code, state, text := errmap.Convert(err)
	return fmt.Sprintf("%d %s %s", code, state, text)
}

// failed checks the error of a statement.
func (s *insertSession) failed(query, want string) {
	s.t.Helper()
	if got := s.errorOf(query); !strings.HasPrefix(got, want) {
		s.t.Errorf("%s\n got %s\nwant %s", query, got, want)
	}
}

// warnings are the warnings of the last statement, the oldest first.
func (s *insertSession) warnings() []string {
	var out []string
	for _, w := range s.sess.Warnings() {
		out = append([]string{fmt.Sprintf("%s %d %s", w.Level, w.Code, w.Message)}, out...)
	}
	return out
}

// warned checks the warnings of the last statement.
func (s *insertSession) warned(want ...string) {
	s.t.Helper()
	if got := s.warnings(); !slices.Equal(got, want) {
		s.t.Errorf("warnings %q, want %q", got, want)
	}
}

// does runs a statement and checks its answer: the number of rows and the info text.
func (s *insertSession) does(query, want string) {
	s.t.Helper()
	got, err := s.exec(query)
	if err != nil || got != want {
		s.t.Errorf("%s\n got %q, %v\nwant %q", query, got, err, want)
	}
}
