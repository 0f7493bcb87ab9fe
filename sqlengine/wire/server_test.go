package wire_test

import (
	"context"
	"crypto/tls"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/memory"
	gsql "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/vitess/go/mysql"
	driver "github.com/go-sql-driver/mysql"
	"github.com/sirupsen/logrus"

	"github.com/tributarydb/tributary/sqlengine/wire"
)

func TestMain(m *testing.M) {
	logrus.SetOutput(io.Discard)
	os.Exit(m.Run())
}

// provider is a memory provider with the tests' table functions.
type provider struct {
	*memory.DbProvider
}

func (p provider) TableFunction(_ *gsql.Context, name string) (gsql.TableFunction, bool) {
	switch strings.ToLower(name) {
	case "fake_source":
		return &fakeFunction{}, true
	}
	return nil, false
}

func (p provider) WithTableFunctions(...gsql.TableFunction) (gsql.TableFunctionProvider, error) {
	return p, nil
}

type options struct {
	users  []wire.User
	tls    *tls.Config
	change func(*wire.Config)
}

// server is a running server on a memory database "test" with a few tables.
type server struct {
	t      testing.TB
	srv    *wire.Server
	engine *sqle.Engine
	addr   string
	stop   context.CancelFunc
	done   chan error
}

func start(t testing.TB, o options) *server {
	t.Helper()
	db := memory.NewDatabase("test")
	db.BaseDatabase.EnablePrimaryKeyIndexes()
	pro := memory.NewDBProvider(db, memory.NewDatabase("other"))
	a := analyzer.NewBuilder(provider{pro}).AddPostValidationRule(rootRule, rootSource).Build()
	engine := sqle.New(a, &sqle.Config{})
	if o.users == nil {
		o.users = []wire.User{{Name: "root", Hosts: wire.LoopbackOnly}, {Name: "u", Password: "secret"}}
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	if testing.Verbose() {
		log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	cfg := wire.Config{
		Engine: engine,
		SessionBuilder: func(_ context.Context, c *mysql.Conn, addr string) (gsql.Session, error) {
			client := gsql.Client{User: c.User, Address: c.RemoteAddr().String(), Capabilities: c.Capabilities}
			return memory.NewSession(gsql.NewBaseSessionWithClientServer(addr, client, c.ConnectionID), pro), nil
		},
		Authenticator: wire.NewAccounts(o.users...),
		Addr:          "127.0.0.1:0",
		TLSConfig:     o.tls,
		Logger:        log,
	}
	if o.change != nil {
		o.change(&cfg)
	}
	srv, err := wire.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &server{t: t, srv: srv, engine: engine, addr: srv.Addr().String(), stop: cancel, done: make(chan error, 1)}
	go func() { s.done <- srv.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
		select {
		case err := <-s.done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(10 * time.Second):
			t.Error("Serve does not end")
		}
	})
	return s
}

// open opens a pool of one connection; params are go-sql-driver DSN parameters.
func (s *server) open(user, password, params string) *sql.DB {
	s.t.Helper()
	dsn := fmt.Sprintf("%s:%s@tcp(%s)/test?%s", user, password, s.addr, params)
	return openDSN(s.t, dsn)
}

func openDSN(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	if _, err := driver.ParseDSN(dsn); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func (s *server) root() *sql.DB { return s.open("root", "", "multiStatements=true") }

func mustExec(t testing.TB, db *sql.DB, q string, args ...any) sql.Result {
	t.Helper()
	r, err := db.Exec(q, args...)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	return r
}

// query renders a result: cells by |, rows by newline, NULL as NULL.
func query(t testing.TB, db *sql.DB, q string, args ...any) string {
	t.Helper()
	out, err := queryErr(db, q, args...)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	return out
}

func queryErr(db *sql.DB, q string, args ...any) (string, error) {
	rows, err := db.Query(q, args...)
	if err != nil {
		return "", err
	}
	return render(rows)
}

// render reads and closes a result.
func render(rows *sql.Rows) (string, error) {
	defer rows.Close()
	var sb strings.Builder
	for more := true; more; more = rows.NextResultSet() {
		cols, err := rows.Columns()
		if err != nil {
			return "", err
		}
		for rows.Next() {
			cells := make([]any, len(cols))
			ptrs := make([]any, len(cols))
			for i := range cells {
				ptrs[i] = &cells[i]
			}
			if err := rows.Scan(ptrs...); err != nil {
				return "", err
			}
			for i, c := range cells {
				if i > 0 {
					sb.WriteByte('|')
				}
				switch c := c.(type) {
				case nil:
					sb.WriteString("NULL")
				case []byte:
					sb.Write(c)
				default:
					fmt.Fprint(&sb, c)
				}
			}
			sb.WriteByte('\n')
		}
	}
	return strings.TrimSuffix(sb.String(), "\n"), rows.Err()
}

// wantError checks a MySQL error number.
func wantError(t testing.TB, err error, number uint16, state string) {
	t.Helper()
	me, ok := err.(*driver.MySQLError)
	if !ok {
		t.Fatalf("got error %v, want MySQL error %d", err, number)
	}
	if me.Number != number || string(me.SQLState[:]) != state {
		t.Fatalf("got error %d (%s) %s, want %d (%s)", me.Number, me.SQLState, me.Message, number, state)
	}
}

func dial(t testing.TB, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// rootRule is an id that no rule of the analyzer has.
const rootRule analyzer.RuleId = 9999

// rootSource takes the projection of SELECT * off a batch source, as an executor's rule would.
func rootSource(_ *gsql.Context, _ *analyzer.Analyzer, n gsql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *gsql.QueryFlags) (gsql.Node, transform.TreeIdentity, error) {
	if p, ok := n.(*plan.Project); ok {
		child := p.Child
		if a, ok := child.(*plan.TableAlias); ok {
			child = a.Child
		}
		if f, ok := child.(*fakeFunction); ok && len(p.Projections) == len(f.ColumnTypes()) {
			return f, transform.NewTree, nil
		}
	}
	return n, transform.SameTree, nil
}
