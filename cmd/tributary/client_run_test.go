package main

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// fakeDB is a server that knows a few statements.
type fakeDB struct{ seen []string }

func (f *fakeDB) Connect(context.Context) (driver.Conn, error) { return &fakeConn{f}, nil }
func (f *fakeDB) Driver() driver.Driver                        { return nil }

type fakeConn struct{ f *fakeDB }

func (c *fakeConn) Prepare(string) (driver.Stmt, error) { return nil, errors.New("not used") }
func (c *fakeConn) Close() error                        { return nil }
func (c *fakeConn) Begin() (driver.Tx, error)           { return nil, errors.New("not used") }

func (c *fakeConn) ExecContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Result, error) {
	c.f.seen = append(c.f.seen, query)
	return driver.RowsAffected(3), nil
}

func (c *fakeConn) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	c.f.seen = append(c.f.seen, query)
	switch query {
	case "SELECT CONNECTION_ID()":
		return &fakeRows{names: []string{"id"}, rows: [][]driver.Value{{int64(7)}}}, nil
	case "SELECT 1":
		return &fakeRows{names: []string{"a", "b"}, rows: [][]driver.Value{{int64(1), nil}}}, nil
	case "SELECT nothing":
		return &fakeRows{names: []string{"a"}}, nil
	case "SELECT broken":
		return &fakeRows{names: []string{"a"}, rows: [][]driver.Value{{int64(1)}}, err: &mysql.MySQLError{Number: 1105, SQLState: [5]byte{'H', 'Y', '0', '0', '0'}, Message: "file gone"}}, nil
	}
	return nil, &mysql.MySQLError{Number: 1146, SQLState: [5]byte{'4', '2', 'S', '0', '2'}, Message: "Table 'd.t' doesn't exist"}
}

type fakeRows struct {
	names []string
	rows  [][]driver.Value
	err   error
}

func (r *fakeRows) Columns() []string { return r.names }
func (r *fakeRows) Close() error      { return nil }
func (r *fakeRows) Next(dest []driver.Value) error {
	if len(r.rows) == 0 {
		if r.err != nil {
			return r.err
		}
		return io.EOF
	}
	copy(dest, r.rows[0])
	r.rows = r.rows[1:]
	return nil
}

func TestClientScript(t *testing.T) {
	for _, x := range []struct {
		name, text, out, errs string
		terminal, batch, fail bool
		seen                  int
	}{
		{name: "table", text: "SELECT 1; SELECT nothing;", out: "+---+------+\n| a | b    |\n+---+------+\n| 1 | NULL |\n+---+------+\n", seen: 2},
		{name: "without end", text: "SELECT 1\n", out: "+---+------+\n| a | b    |\n+---+------+\n| 1 | NULL |\n+---+------+\n", seen: 1},
		{name: "vertical", text: `SELECT 1\G`, out: strings.Repeat("*", 27) + " 1. row " + strings.Repeat("*", 27) + "\na: 1\nb: NULL\n", seen: 1},
		{name: "batch", text: "SELECT 1; SELECT 1", batch: true, out: "a\tb\n1\tNULL\na\tb\n1\tNULL\n", seen: 2},
		{name: "count", text: "INSERT INTO t VALUES (1)", terminal: true, out: "Query OK, 3 rows affected", seen: 1},
		{name: "no count in a pipe", text: "INSERT INTO t VALUES (1)", seen: 1},
		{name: "error stops", text: "SELECT 1; SELECT * FROM t; SELECT 1", out: "+---", errs: "ERROR 1146 (42S02): Table 'd.t' doesn't exist\n", fail: true, seen: 2},
		{name: "late error", text: "SELECT broken", errs: "ERROR 1105 (HY000): file gone\n", fail: true, seen: 1},
	} {
		t.Run(x.name, func(t *testing.T) {
			f := &fakeDB{}
			db := sql.OpenDB(f)
			defer db.Close()
			var out, errs bytes.Buffer
			c := &clientSession{db: db, out: bufio.NewWriter(&out), err: &errs, format: printTable, terminal: x.terminal}
			if x.batch {
				c.format = printBatch
			}
			if err := c.connect(context.Background()); err != nil || c.id != 7 {
				t.Fatal(c.id, err)
			}
			defer c.close()
			err := c.script(context.Background(), x.text)
			if x.fail != errors.Is(err, errReported) {
				t.Errorf("error %v", err)
			}
			if !strings.HasPrefix(out.String(), x.out) || x.out == "" && out.Len() > 0 {
				t.Errorf("printed %q", out.String())
			}
			if errs.String() != x.errs {
				t.Errorf("errors %q", errs.String())
			}
			if len(f.seen)-1 != x.seen {
				t.Errorf("sent %q", f.seen)
			}
		})
	}
}

func TestErrorText(t *testing.T) {
	for _, x := range []struct {
		err  error
		want string
	}{
		{&mysql.MySQLError{Number: 1, Message: "x"}, "ERROR 1 (HY000): x"},
		{context.Canceled, "ERROR 1317 (70100): Query execution was interrupted"},
		{mysql.ErrInvalidConn, "ERROR 2013 (HY000): invalid connection"},
	} {
		if got := errorText(x.err); got != x.want {
			t.Errorf("%v: %s", x.err, got)
		}
	}
}
