package sqlengine

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// TestUpsertsLoseNothing counts with ON DUPLICATE KEY UPDATE from two servers over one warehouse, some in transactions,
// beside plain inserts of other keys: each statement counts once, or fails with error 1213.
func TestUpsertsLoseNothing(t *testing.T) {
	t.Parallel()
	first, dir := emptyWarehouse(t, nil)
	second := connect(t, Options{Warehouse: dir}, nil)
	for _, buckets := range []string{"1", "-1"} {
		table := "c1"
		if buckets == "-1" {
			table = "dynamic"
		}
		mustExec(t, first, "CREATE TABLE "+table+" (k INT PRIMARY KEY, n INT) WITH ('bucket' = '"+buckets+"')")
		upsert := func(db *sql.DB) counter {
			return func(ctx context.Context, _ int) error {
				_, err := db.ExecContext(ctx, "INSERT INTO "+table+" VALUES (1, 1), (2, 1) ON DUPLICATE KEY UPDATE n = n + VALUES(n)")
				return err
			}
		}
		came := countTogether(t, 8, upsert(first), upsert(second),
			func(ctx context.Context, _ int) error {
				return inTransaction(ctx, first, "INSERT INTO "+table+" VALUES (?, 1) ON DUPLICATE KEY UPDATE n = n + VALUES(n)")
			},
			func(ctx context.Context, i int) error {
				_, err := second.ExecContext(ctx, "INSERT INTO "+table+" VALUES (?, 0)", 1000+i)
				return err
			})
		done := came[0] + came[1] + came[2]
		if done == 0 {
			t.Fatal("no statement came through")
		}
		for _, k := range []int{1, 2} {
			var n int
			if err := first.QueryRowContext(t.Context(), "SELECT n FROM "+table+" WHERE k = ?", k).Scan(&n); err != nil || n != done {
				t.Errorf("bucket %s, key %d: counted %d, want %d (%v)", buckets, k, n, done, err)
			}
		}
	}
	if m, err := filepath.Glob(filepath.Join(dir, "default.db", "c1", "bucket-0", "*")); err != nil || len(m) == 0 {
		t.Fatal(m, err)
	}
}

// TestAffectedRows counts as MySQL does, with CLIENT_FOUND_ROWS and without.
func TestAffectedRows(t *testing.T) {
	t.Parallel()
	db, dir := emptyWarehouse(t, nil)
	found := connect(t, Options{Warehouse: dir}, func(c *mysql.Config) { c.ClientFoundRows = true })
	mustExec(t, db, "CREATE TABLE t (k INT PRIMARY KEY, v INT)")
	for _, c := range []struct {
		db    *sql.DB
		query string
		want  int64
	}{
		{db, "INSERT INTO t VALUES (1, 1) ON DUPLICATE KEY UPDATE v = 2", 1},
		{db, "INSERT INTO t VALUES (1, 1) ON DUPLICATE KEY UPDATE v = 2", 2},
		{db, "INSERT INTO t VALUES (1, 1) ON DUPLICATE KEY UPDATE v = 2", 0},
		{found, "INSERT INTO t VALUES (1, 1) ON DUPLICATE KEY UPDATE v = 2", 1},
		{found, "INSERT INTO t VALUES (1, 1), (2, 2), (1, 1) ON DUPLICATE KEY UPDATE v = v + 1", 5},
		{db, "INSERT IGNORE INTO t VALUES (1, 1), (9, 9), (9, 8)", 1},
		{found, "INSERT IGNORE INTO t VALUES (1, 1), (9, 9)", 0},
	} {
		if n, err := mustExec(t, c.db, c.query).RowsAffected(); err != nil || n != c.want {
			t.Errorf("%s: %d rows affected, want %d (%v)", c.query, n, c.want, err)
		}
	}
}

// TestGlobalBranch gives new sessions a branch; COM_RESET_CONNECTION brings a session back to it. It is not parallel: the
// variable is the process's.
func TestGlobalBranch(t *testing.T) {
	db, _ := emptyWarehouse(t, nil)
	mustExec(t, db, "CREATE TABLE t (v INT)")
	mustExec(t, db, "INSERT INTO t VALUES (1)")
	mustExec(t, db, "CALL sys.create_branch('default.t', 'b')")
	mustExec(t, db, "SET GLOBAL paimon_branch = 'b'")
	defer mustExec(t, db, "SET GLOBAL paimon_branch = DEFAULT")
	db.SetMaxIdleConns(0) // every statement has a session of its own
	count := func(c interface {
		QueryRowContext(context.Context, string, ...any) *sql.Row
	}, want int) {
		t.Helper()
		var n int
		if err := c.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM t").Scan(&n); err != nil || n != want {
			t.Errorf("%d rows, want %d (%v)", n, want, err)
		}
	}
	count(db, 0)
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	mustExec(t, conn, "SET paimon_branch = 'main'")
	count(conn, 1)
	mustExec(t, conn, "SET paimon_branch = DEFAULT")
	count(conn, 0)
	if _, err := conn.ExecContext(t.Context(), "SET GLOBAL paimon_branch = 'a/b'"); err == nil {
		t.Error("a branch with a slash")
	}
}
