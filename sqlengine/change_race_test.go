package sqlengine

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// TestChangesLoseNothing counts with UPDATE from two servers over one warehouse, some in transactions, beside plain inserts
// and deletes of other rows: each statement counts once, or fails with error 1213.
func TestChangesLoseNothing(t *testing.T) {
	t.Parallel()
	first, dir := emptyWarehouse(t, nil)
	second := connect(t, Options{Warehouse: dir}, nil)
	for name, definition := range map[string]string{
		"keyed":    "(k INT PRIMARY KEY, n INT) WITH ('bucket' = '1')",
		"vectors":  "(k INT PRIMARY KEY, n INT) WITH ('bucket' = '1', 'deletion-vectors.enabled' = 'true')",
		"rewrites": "(k INT, n INT)",
		"marks":    "(k INT, n INT) WITH ('deletion-vectors.enabled' = 'true')",
	} {
		t.Run(name, func(t *testing.T) {
			mustExec(t, first, "CREATE TABLE "+name+" "+definition)
			mustExec(t, first, "INSERT INTO "+name+" VALUES (1, 0), (2, 0)")
			exec := func(db *sql.DB, query string, base int) counter {
				return func(ctx context.Context, i int) error {
					_, err := db.ExecContext(ctx, fmt.Sprintf(query, name), base+i)
					return err
				}
			}
			update := func(db *sql.DB) counter { return exec(db, "UPDATE %s SET n = n + 1 WHERE k < ?", 1000) }
			came := countTogether(t, 5, update(first), update(second),
				func(ctx context.Context, _ int) error {
					return inTransaction(ctx, first, "UPDATE "+name+" SET n = n + 1 WHERE k = ?")
				},
				exec(second, "INSERT INTO %s VALUES (?, 0)", 2000), exec(first, "DELETE FROM %s WHERE k = ?", 1000))
			done, inserted := came[0]+came[1]+came[2], came[3]
			if done == 0 || came[4] == 0 {
				t.Fatal("no statement came through")
			}
			for _, k := range []int{1, 2} {
				var n, rows int
				if err := first.QueryRowContext(t.Context(), "SELECT SUM(n), COUNT(*) FROM "+name+" WHERE k = ?", k).Scan(&n, &rows); err != nil || n != done || rows != 1 {
					t.Errorf("key %d: counted %d in %d rows, want %d in 1 (%v)", k, n, rows, done, err)
				}
			}
			var rows int
			if err := first.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+name+" WHERE k >= 2000").Scan(&rows); err != nil || rows != inserted {
				t.Errorf("%d inserted rows are there, want %d (%v)", rows, inserted, err)
			}
		})
	}
}

// TestChangedRows counts as MySQL does, with CLIENT_FOUND_ROWS and without.
func TestChangedRows(t *testing.T) {
	t.Parallel()
	db, dir := emptyWarehouse(t, nil)
	found := connect(t, Options{Warehouse: dir}, func(c *mysql.Config) { c.ClientFoundRows = true })
	for _, table := range []string{"k", "a"} {
		key := map[string]string{"k": " PRIMARY KEY"}[table]
		mustExec(t, db, "CREATE TABLE "+table+" (k INT"+key+", v INT)")
		mustExec(t, db, "INSERT INTO "+table+" VALUES (1, 1), (2, 1), (3, 3)")
		for _, c := range []struct {
			db    *sql.DB
			query string
			want  int64
		}{
			{db, "UPDATE %s SET v = 1", 1},
			{found, "UPDATE %s SET v = 1", 3},
			{db, "UPDATE %s SET v = 2 WHERE k > 1", 2},
			{found, "UPDATE %s SET v = 2 WHERE k > 5", 0},
			{db, "DELETE FROM %s WHERE v = 2 AND k < 3", 1},
			{found, "DELETE FROM %s", 2},
			{db, "DELETE FROM %s", 0},
		} {
			if n, err := mustExec(t, c.db, fmt.Sprintf(c.query, table)).RowsAffected(); err != nil || n != c.want {
				t.Errorf(c.query+": %d rows affected, want %d (%v)", table, n, c.want, err)
			}
		}
	}
}
