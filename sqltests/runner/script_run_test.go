package runner

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// fakeServer answers statements from a table and records how they came.
type fakeServer struct {
	mu      sync.Mutex
	answers map[string]fakeAnswer
	log     []string // "text SQL" or "prepared SQL"
}

type fakeAnswer struct {
	types    []string
	rows     [][]driver.Value
	err      error // at once
	rowError error // after the rows
	block    bool  // until the context ends
}

func (f *fakeServer) Connect(context.Context) (driver.Conn, error) { return &fakeConn{f}, nil }
func (f *fakeServer) Driver() driver.Driver                        { return nil }

func (f *fakeServer) answer(ctx context.Context, how, query string) (driver.Rows, error) {
	f.mu.Lock()
	f.log = append(f.log, how+" "+query)
	a, ok := f.answers[query]
	f.mu.Unlock()
	if !ok {
		return nil, &mysql.MySQLError{Number: 1064, Message: "You have an error in your SQL syntax near " + query}
	}
	if a.block {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if a.err != nil {
		return nil, a.err
	}
	return &fakeRows{a: a}, nil
}

type fakeConn struct{ f *fakeServer }

func (c *fakeConn) Prepare(query string) (driver.Stmt, error) { return &fakeStmt{c.f, query}, nil }
func (c *fakeConn) Close() error                              { return nil }
func (c *fakeConn) Begin() (driver.Tx, error)                 { return nil, errors.New("no transactions") }
func (c *fakeConn) QueryContext(ctx context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	return c.f.answer(ctx, "text", query)
}

type fakeStmt struct {
	f     *fakeServer
	query string
}

func (s *fakeStmt) Close() error                               { return nil }
func (s *fakeStmt) NumInput() int                              { return 0 }
func (s *fakeStmt) Exec([]driver.Value) (driver.Result, error) { return nil, errors.New("not used") }
func (s *fakeStmt) Query([]driver.Value) (driver.Rows, error) {
	return s.f.answer(context.Background(), "prepared", s.query)
}

type fakeRows struct {
	a fakeAnswer
	i int
}

func (r *fakeRows) Columns() []string                       { return make([]string, len(r.a.types)) }
func (r *fakeRows) Close() error                            { return nil }
func (r *fakeRows) ColumnTypeDatabaseTypeName(i int) string { return r.a.types[i] }
func (r *fakeRows) Next(dest []driver.Value) error {
	if r.i == len(r.a.rows) {
		if r.a.rowError != nil {
			return r.a.rowError
		}
		return io.EOF
	}
	copy(dest, r.a.rows[r.i])
	r.i++
	return nil
}

func runScript(t *testing.T, f *fakeServer, opts Options, text string) *Report {
	t.Helper()
	script, err := Parse("s.slt", text)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(f)
	defer db.Close()
	report, err := Run(context.Background(), db, script, opts)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestRun(t *testing.T) {
	f := &fakeServer{answers: map[string]fakeAnswer{
		"SET x = 1":   {},
		"SELECT 1":    {types: []string{"BIGINT"}, rows: [][]driver.Value{{int64(1)}}},
		"SELECT late": {types: []string{"BIGINT"}, rows: [][]driver.Value{{int64(1)}}, rowError: &mysql.MySQLError{Number: 1105, Message: "Data file is damaged"}},
		"USE `d`":     {},
	}}
	for _, p := range []Protocol{Text, Binary} {
		f.log = nil
		report := runScript(t, f, Options{Protocol: p, Setup: []string{"SET x = 1"}}, `
statement ok
SELECT 1

query I
SELECT 1
----
1

query I
SELECT 1
----
2

query II
SELECT 1
----

statement error DAMAGED
SELECT late

statement error something else
SELECT late

query I
SELECT late
----
1

statement error syntax
SELEKT

statement error syntax
SELECT 1

statement ok
SELEKT

statement ok
USE `+"`d`"+`
`)
		if report.Summary != (Summary{Passed: 5, Failed: 6}) {
			t.Errorf("%s: %s\n%s", p, report.Summary, strings.Join(report.Failures(), "\n"))
		}
		failures := strings.Join(report.Failures(), "\n")
		for _, s := range []string{
			"s.slt:10: FAIL SELECT 1\n    rows differ (1 rows)\n    @ row 1\n    - 2\n    + 1",
			`want 2 columns (II), got 1`,
			`want an error containing "something else", got Error 1105: Data file is damaged`,
			"want rows, got Error 1105: Data file is damaged",
			`want an error containing "syntax", got success`,
			"want success, got Error 1064",
		} {
			if !strings.Contains(failures, s) {
				t.Errorf("%s: no %q in\n%s", p, s, failures)
			}
		}
		how := "text"
		if p == Binary {
			how = "prepared"
		}
		if f.log[0] != "text SET x = 1" || f.log[1] != how+" SELECT 1" || f.log[len(f.log)-1] != "text USE `d`" {
			t.Errorf("%s: sent %q", p, f.log)
		}
	}
}

func TestLostConnectionIsNeverAnExpectedError(t *testing.T) {
	f := &fakeServer{answers: map[string]fakeAnswer{
		"SELECT bye": {err: mysql.ErrInvalidConn},
		"SELECT 1":   {types: []string{"BIGINT"}, rows: [][]driver.Value{{int64(1)}}},
	}}
	report := runScript(t, f, Options{}, "statement error\nSELECT bye\n\nstatement ok\nSELECT 1\n")
	if report.Summary != (Summary{Failed: 1, Skipped: 1}) {
		t.Error(report.Summary)
	}
	if d := report.Results[1].Detail; d != "the connection was lost at s.slt:1" {
		t.Error(d)
	}
}

func TestTimeoutAndSkip(t *testing.T) {
	f := &fakeServer{answers: map[string]fakeAnswer{"SELECT forever": {block: true}, "SELECT 1": {}}}
	var seen []Outcome
	report := runScript(t, f, Options{
		Timeout:  20 * time.Millisecond,
		Skip:     func(r *Record) string { return map[bool]string{true: "not now"}[r.SQL == "INSERT"] },
		OnResult: func(r Result) { seen = append(seen, r.Outcome) },
	}, "sleep 1\n\nstatement ok\nINSERT\n\nstatement ok\nSELECT forever\n\nstatement ok\nSELECT 1\n")
	if report.Summary != (Summary{Passed: 1, Failed: 1, Skipped: 2}) || len(seen) != 4 {
		t.Error(report.Summary, seen)
	}
	if d := report.Results[2].Detail; d != "no answer within 20ms" {
		t.Error(d)
	}
	var out strings.Builder
	if err := report.Print(&out, true); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"s.slt:1: pass\n    (", "s.slt:3: skip INSERT\n    not now\n    (0s)\n", "s.slt (text): 1 passed, 1 failed, 2 skipped\n"} {
		if !strings.Contains(out.String(), s) {
			t.Errorf("no %q in %s", s, out.String())
		}
	}
}

func TestFailedSetupIsAnError(t *testing.T) {
	script, _ := Parse("s.slt", "statement ok\nSELECT 1\n")
	db := sql.OpenDB(&fakeServer{})
	defer db.Close()
	if _, err := Run(context.Background(), db, script, Options{Setup: []string{"SET y = 1"}}); err == nil || !strings.Contains(err.Error(), `setup "SET y = 1"`) {
		t.Error(err)
	}
}

func TestGoesAsText(t *testing.T) {
	for query, want := range map[string]bool{
		"SELECT 1":                       false,
		"(SELECT 1)":                     false,
		"use d":                          true,
		"/* tool */ BEGIN":               true,
		"-- note\nSTART TRANSACTION":     true,
		"/*!40101 SET NAMES utf8 */":     false,
		"INSERT INTO begin VALUES (1)":   false,
		"/* only a comment */":           true,
		"":                               true,
		"SHOW WARNINGS":                  false,
		"CALL sys.compact('default.t')":  false,
		"USERS":                          false,
		"ROLLBACK;":                      true,
		"SET TRANSACTION READ ONLY":      false,
		"# comment without a line break": true,
	} {
		if _, got := GoesAsText(query); got != want {
			t.Errorf("%q: got %v", query, got)
		}
	}
}
