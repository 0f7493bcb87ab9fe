package planner

import (
	"context"
	"slices"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
)

// selectLake is a fakeLake whose tables take rows.
type selectLake struct {
	*fakeLake
	// commit is what a commit answers.
	commit error
}

func (l *selectLake) OpenSink(_ context.Context, db, name string, o relation.SinkOptions) (relation.Sink, error) {
	if err := l.did("write %s.%s %s", db, name, o.Operation); err != nil {
		return nil, err
	}
	return &selectSink{lake: l, table: l.tables[db][name]}, nil
}

type selectSink struct {
	lake    *selectLake
	table   *fakeTable
	batches []*column.Batch
}

func (s *selectSink) Fields() []schema.Field { return s.table.fields }

func (s *selectSink) Write(_ context.Context, b *column.Batch, _ []int32) error {
	out := &column.Batch{N: b.Rows()}
	for _, c := range b.Cols {
		if b.Sel != nil {
			c = column.Gather(c, b.Sel)
		}
		out.Cols = append(out.Cols, column.Flatten(c))
	}
	s.batches = append(s.batches, out)
	return nil
}

func (s *selectSink) Commit(context.Context) (relation.Committed, error) {
	if s.lake.commit != nil {
		return relation.Committed{}, s.lake.commit
	}
	s.table.morsels = append(s.table.morsels, s.batches...)
	return relation.Committed{Snapshot: 1}, nil
}

func (s *selectSink) Abort() {}

func newSelectSession(t testing.TB) (*lakeSession, *selectLake) {
	l := &selectLake{fakeLake: newFakeLake()}
	orders := shop().tables["default"]["orders"]
	l.add("default", "orders", orders)
	return &lakeSession{lake: l.fakeLake, testSession: newTestSession(t, l)}, l
}

func TestCreateTableAs(t *testing.T) {
	s, l := newSelectSession(t)
	s.does("CREATE TABLE a WITH ('primary-key' = 'id', 'k' = 'v') AS SELECT id, who AS name, amt, d, ts, lz, f, ok, ti FROM orders WHERE id < 3",
		`create default.a (id BIGINT, name STRING, amt DECIMAL(10, 2), d DATE, ts TIMESTAMP(3), lz TIMESTAMP(3) WITH LOCAL TIME ZONE, f DOUBLE, ok BOOLEAN, ti TINYINT) pk=[] by=[] [primary-key k] map[k:v primary-key:id] ""`,
		"write default.a CREATE_TABLE_AS_SELECT")
	s.want("SELECT id, name, amt, d, ts FROM a ORDER BY id", "1\tann\t1.50\t2026-01-01\t2026-01-01 10:00:00.5", "2\tbob\t2.50\t2026-01-02\t2026-01-02 00:00:00")
	s.does("CREATE TABLE b AS SELECT * FROM orders", `create default.b (id BIGINT, who STRING, amt DECIMAL(10, 2), d DATE, ts TIMESTAMP(3), lz TIMESTAMP(3) WITH LOCAL TIME ZONE, f DOUBLE, ok BOOLEAN, ti TINYINT) pk=[] by=[] [] map[] ""`,
		"write default.b CREATE_TABLE_AS_SELECT")
	s.want("SELECT COUNT(*), SUM(id), COUNT(who) FROM b", "6\t21\t5")
	// Expressions: integers are wide enough, texts have no length.
	s.does("CREATE TABLE c AS SELECT 1 AS one, 'abc' AS t, 1.5 AS d, NOW(3) AS n, NULL AS nothing, id + 1 AS plus, COUNT(*) AS c FROM orders GROUP BY id",
		`create default.c (one INT, t STRING, d DECIMAL(2, 1), n TIMESTAMP(3), nothing STRING, plus BIGINT, c BIGINT) pk=[] by=[] [] map[] ""`,
		"write default.c CREATE_TABLE_AS_SELECT")
	// Columns of the statement: those that the query does not give come first, with their default.
	s.does("CREATE TABLE e (x INT DEFAULT 7, who VARCHAR(10) NOT NULL) AS SELECT id, who FROM orders WHERE who IS NOT NULL",
		`create default.e (x INT =7, id BIGINT, who VARCHAR(10) NOT NULL) pk=[] by=[] [] map[] ""`, "write default.e CREATE_TABLE_AS_SELECT")
	s.want("SELECT x, id, who FROM e ORDER BY id LIMIT 2", "7\t1\tann", "7\t2\tbob")
	s.does("CREATE TABLE IF NOT EXISTS a AS SELECT 1 AS one")
	s.warns("Note\t1050\tTable 'a' already exists")
	s.code("CREATE TABLE a AS SELECT 1 AS one", 1050, "Table 'a' already exists")
	s.code("CREATE TABLE f AS SELECT 1 AS one, 2 AS One", 1060, "Duplicate column name 'One'")
	s.code("CREATE TABLE f AS SELECT nothing FROM orders", 1054, "nothing")
	s.code("CREATE TABLE f AS SELECT * FROM nothing", 1146, "nothing")

	// What fails takes its table away, unless its rows may be there.
	const create = `create default.g (x INT) pk=[] by=[] [] map[] ""`
	const write = "write default.g CREATE_TABLE_AS_SELECT"
	for _, c := range []struct {
		err   error
		calls []string
	}{
		{errs.Conflictf("other"), []string{create, write, "drop default.g"}},
		{errs.Uncertainf("lost"), []string{create, write}},
	} {
		l.commit, l.calls = c.err, nil
		if _, err := s.try("CREATE TABLE g AS SELECT 1 AS x"); errs.ClassOf(err) != errs.ClassOf(c.err) {
			t.Error(err)
		}
		if !slices.Equal(l.calls, c.calls) {
			t.Errorf("%v: %q", c.err, l.calls)
		}
	}
	l.commit, l.calls = nil, nil
	if _, err := s.try("CREATE TABLE h (x INT) AS SELECT 'abc' AS x"); err == nil || !slices.Contains(l.calls, "drop default.h") {
		t.Error(err, l.calls)
	}
}
