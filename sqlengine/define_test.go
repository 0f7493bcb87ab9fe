package sqlengine

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// emptyWarehouse is a server over a new warehouse.
func emptyWarehouse(t *testing.T, dsn func(*mysql.Config)) (*sql.DB, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "default.db"), 0o755); err != nil {
		t.Fatal(err)
	}
	return connect(t, Options{Warehouse: dir}, dsn), dir
}

func mustExec(t *testing.T, db interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}, query string, args ...any) sql.Result {
	t.Helper()
	r, err := db.ExecContext(t.Context(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return r
}

// texts reads a result as texts, NULL as "NULL".
func texts(t *testing.T, rows *sql.Rows, err error) (out [][]string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	cols, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		cells, at := make([]sql.NullString, len(cols)), make([]any, len(cols))
		for i := range cells {
			at[i] = &cells[i]
		}
		if err := rows.Scan(at...); err != nil {
			t.Fatal(err)
		}
		line := make([]string, len(cols))
		for i, c := range cells {
			if line[i] = "NULL"; c.Valid {
				line[i] = c.String
			}
		}
		out = append(out, line)
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	return out
}

func wantTexts(t *testing.T, got [][]string, want ...[]string) {
	t.Helper()
	if !slices.EqualFunc(got, want, slices.Equal[[]string]) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestPreparedDefinitions sends definitions and CALL with parameters through the binary protocol.
func TestPreparedDefinitions(t *testing.T) {
	db, _ := emptyWarehouse(t, nil)
	r := mustExec(t, db, "CREATE TABLE a AS SELECT ? AS n, ? AS s, CAST(? AS DATE) AS d", 7, "x", "2026-01-02")
	if n, err := r.RowsAffected(); err != nil || n != 1 {
		t.Errorf("%d rows affected, %v", n, err)
	}
	rows, err := db.Query("SELECT n, s, d FROM a")
	wantTexts(t, texts(t, rows, err), []string{"7", "x", "2026-01-02"})

	for _, prepared := range []string{"ALTER TABLE a ADD COLUMN more INT", "TRUNCATE TABLE a", "INSERT INTO a (n) VALUES (1)"} {
		st, err := db.Prepare(prepared)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := st.Exec(); err != nil {
			t.Errorf("%s: %v", prepared, err)
		}
		st.Close()
	}
	st, err := db.Prepare("CALL sys.create_tag(?, tag => ?)")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for _, tag := range []string{"v1", "v2"} {
		rows, err := st.Query("default.a", tag)
		wantTexts(t, texts(t, rows, err), []string{"Success"})
	}
	rows, err = db.Query("SELECT tag_name FROM `a$tags` ORDER BY 1")
	wantTexts(t, texts(t, rows, err), []string{"v1"}, []string{"v2"})
	if _, err := st.Exec("default.a", "v1"); err == nil {
		t.Error("a tag was made twice")
	}
	rows, err = db.Query("SHOW TAGS a")
	wantTexts(t, texts(t, rows, err), []string{"v1"}, []string{"v2"})

	// PREPARE in SQL, with the result of a CALL.
	ctx := t.Context()
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	mustExec(t, conn, "PREPARE s FROM 'CALL sys.create_tag(''a'', ?)'")
	mustExec(t, conn, "SET @tag = 'v3'")
	rows, err = conn.QueryContext(ctx, "EXECUTE s USING @tag")
	wantTexts(t, texts(t, rows, err), []string{"Success"})
	mustExec(t, conn, "PREPARE d FROM 'DROP TABLE a'")
	mustExec(t, conn, "EXECUTE d")
	var me *mysql.MySQLError
	if _, err := conn.ExecContext(ctx, "EXECUTE d"); !errors.As(err, &me) || me.Number != 1051 || string(me.SQLState[:]) != "42S02" {
		t.Errorf("%v", err)
	}
}

// TestDefinitionsTogether sends several definitions in one text; what follows an error does not run.
func TestDefinitionsTogether(t *testing.T) {
	db, _ := emptyWarehouse(t, func(c *mysql.Config) { c.MultiStatements = true })
	rows, err := db.Query("CREATE TABLE a (x INT); INSERT INTO a VALUES (1), (2); CREATE TABLE b LIKE a; SELECT COUNT(*) FROM a; DROP TABLE b")
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if !rows.Next() || rows.Scan(&n) != nil || n != 2 {
		t.Errorf("%d rows, %v", n, rows.Err())
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE c (x INT); CREATE TABLE a (x INT); CREATE TABLE d (x INT)"); err == nil {
		t.Error("a table was made twice")
	}
	rows, err = db.Query("SHOW TABLES")
	wantTexts(t, texts(t, rows, err), []string{"a"}, []string{"c"})
}

// TestStoppedDefinition stops a CREATE TABLE … AS SELECT: its table and its files are gone.
func TestStoppedDefinition(t *testing.T) {
	db, dir := emptyWarehouse(t, nil)
	mustExec(t, db, "CREATE TABLE n AS WITH RECURSIVE c AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM c WHERE i < 1000) SELECT i FROM c")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := db.ExecContext(ctx, "CREATE TABLE big AS SELECT a.i AS x, b.i AS y, CONCAT(a.i, '-', b.i, '-', c.i) AS z FROM n a JOIN n b JOIN n c")
	if err == nil {
		t.Fatal("the statement was not stopped")
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("stopped after %s", took)
	}
	deadline := time.Now().Add(10 * time.Second)
	for {
		entries, err := os.ReadDir(filepath.Join(dir, "default.db"))
		if err != nil {
			t.Fatal(err)
		}
		hidden, err := filepath.Glob(filepath.Join(dir, ".dropped-*")) // a table whose files are being deleted
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) == 1 && entries[0].Name() == "n" && len(hidden) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("left: %v %v", entries, hidden)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
