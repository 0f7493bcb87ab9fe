package sqlengine

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/tributarydb/tributary/sqlengine/planner"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
)

// numbers is a catalog with one table, default.n: the numbers 0 … rows-1 and a text of pad to pad+4 bytes.
type numbers struct {
	rows, pad int
	// broken makes the reader of row 50000 panic.
	broken bool
}

func (numbers) Databases(context.Context) ([]string, error) { return []string{"default"}, nil }

func (numbers) TableNames(_ context.Context, db string) ([]string, []string, error) {
	if db != "default" {
		return nil, nil, errs.NotFoundf("database %s", db)
	}
	return []string{"n"}, nil, nil
}

func (c numbers) Open(_ context.Context, db, name string, _ planner.OpenOptions) (relation.Relation, error) {
	if db != "default" || name != "n" {
		return nil, errs.NotFoundf("table %s.%s", db, name)
	}
	return c, nil
}

func (numbers) Fields() []schema.Field {
	return []schema.Field{
		{ID: 0, Name: "i", Type: &schema.Type{Root: schema.BigInt, NotNull: true}},
		{ID: 1, Name: "s", Type: &schema.Type{Root: schema.Varchar, Length: schema.MaxLength}},
	}
}

func (numbers) PrimaryKey() []string { return nil }
func (numbers) Comment() string      { return "" }

func (c numbers) Plan(_ context.Context, r relation.Request) (*relation.Plan, error) {
	p := &relation.Plan{RowCount: -1}
	for from := 0; from < c.rows; from += 10_000 {
		p.Morsels = append(p.Morsels, numbersPart{from, min(c.rows, from+10_000), c.pad, c.broken, r.Columns})
	}
	return p, nil
}

type numbersPart struct {
	from, to, pad int
	broken        bool
	cols          []int
}

func (m numbersPart) Weight() int64 { return int64(m.to - m.from) }

func (m numbersPart) Open(context.Context) (relation.Reader, error) { return &m, nil }

func (m *numbersPart) Next(context.Context) (*column.Batch, error) {
	if m.from >= m.to {
		return nil, io.EOF
	}
	n := min(m.to-m.from, column.MaxRows)
	if m.broken && m.from == 50_000 {
		panic("a broken reader")
	}
	b := &column.Batch{N: n}
	for _, c := range m.cols {
		bl := schema.NewBuilder(numbers{}.Fields()[c].Type)
		for k := range n {
			if c == 0 {
				bl.AppendInt(int64(m.from + k))
			} else {
				bl.AppendString(strings.Repeat("x", m.pad+(m.from+k)%5))
			}
		}
		b.Cols = append(b.Cols, bl.Finish())
	}
	m.from += n
	return b, nil
}

func (m *numbersPart) Close() error { return nil }

// connect starts a server and returns a client's handle.
func connect(t *testing.T, o Options, dsn func(*mysql.Config)) *sql.DB {
	t.Helper()
	o.Listen = "127.0.0.1:0"
	if o.Catalog == nil && o.Warehouse == "" {
		o.Catalog = numbers{rows: 25_000}
	}
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr, cfg.User, cfg.DBName = "tcp", s.Addr().String(), "root", "default"
	if dsn != nil {
		dsn(cfg)
	}
	c, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(c)
	t.Cleanup(func() {
		db.Close()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return db
}

func TestServe(t *testing.T) {
	db := connect(t, Options{}, nil)
	var n, sum int
	if err := db.QueryRow("SELECT COUNT(*), SUM(i) FROM n").Scan(&n, &sum); err != nil || n != 25_000 || sum != 25_000*24_999/2 {
		t.Errorf("%d rows, sum %d, %v", n, sum, err)
	}
	rows, err := db.Query("SELECT s, i FROM n")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for rows.Next() {
		var s string
		var i int
		if err := rows.Scan(&s, &i); err != nil || i != seen || len(s) != i%5 {
			t.Fatalf("row %d: %d %q %v", seen, i, s, err)
		}
		seen++
	}
	if rows.Err() != nil || seen != 25_000 {
		t.Errorf("%d rows, %v", seen, rows.Err())
	}
	var s string
	if err := db.QueryRow("SELECT s FROM n WHERE i = ?", 8).Scan(&s); err != nil || s != "xxx" {
		t.Errorf("prepared: %q %v", s, err)
	}
	if err := db.QueryRow("SELECT @@version").Scan(&s); err != nil || !strings.HasPrefix(s, "8.0.") {
		t.Errorf("version %q %v", s, err)
	}
}

func TestRefusals(t *testing.T) {
	for _, x := range []struct {
		readOnly bool
		query    string
		code     uint16
	}{
		{false, "INSERT INTO n VALUES (1, 'a')", 1290},
		{true, "INSERT INTO n VALUES (1, 'a')", 1290},
		{true, "CREATE TABLE x (a INT)", 1290},
		{false, "DROP TABLE n", 1290},
		{false, "TRUNCATE TABLE n", 1290},
		{false, "SELECT 1 INTO OUTFILE 'x'", 1290},
		{false, "SET time_zone = 'Mars/Phobos'", 1298},
		{false, "SELECT * FROM nothing", 1146},
	} {
		db := connect(t, Options{ReadOnly: x.readOnly}, nil)
		_, err := db.Exec(x.query)
		var me *mysql.MySQLError
		if !errors.As(err, &me) || me.Number != x.code {
			t.Errorf("%s (read only %v): %v, want %d", x.query, x.readOnly, err, x.code)
		}
	}
}

func TestAccounts(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	users := write("users", "[[user]]\nname = \"ann\"\npassword = \"secret\"\n[[user]]\nname = \"bob\"\nlocal = true\n")
	for _, x := range []struct {
		o          Options
		user, pass string
		ok         bool
	}{
		{Options{User: "eve", PasswordFile: write("pw", "geheim\n")}, "eve", "geheim", true},
		{Options{User: "eve", PasswordFile: write("pw", "geheim\n")}, "eve", "falsch", false},
		{Options{UsersFile: users}, "ann", "secret", true},
		{Options{UsersFile: users}, "bob", "", true},
		{Options{UsersFile: users}, "root", "", false},
	} {
		db := connect(t, x.o, func(c *mysql.Config) { c.User, c.Passwd, c.AllowNativePasswords = x.user, x.pass, true })
		if err := db.Ping(); (err == nil) != x.ok {
			t.Errorf("%s/%s: %v", x.user, x.pass, err)
		}
	}
	for name, text := range map[string]string{
		"empty": "", "open": "[[user]]\nname = \"a\"\n", "nameless": "[[user]]\npassword = \"a\"\n", "unknown": "[[user]]\nname = \"a\"\nlocal = true\ngod = true\n",
	} {
		if _, err := Open(t.Context(), Options{Catalog: numbers{}, Listen: "127.0.0.1:0", UsersFile: write(name, text)}); err == nil {
			t.Errorf("users file %s is accepted", name)
		}
	}
	if _, err := Open(t.Context(), Options{Catalog: numbers{}, Listen: "127.0.0.1:0", TimeZone: "Mars/Phobos"}); err == nil {
		t.Error("a zone that does not exist is accepted")
	}
}
