package sqlengine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
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
			const rounds = 5
			var mu sync.Mutex
			done, inserted, deleted := 0, 0, 0
			var wg sync.WaitGroup
			for w := range 5 {
				db := []*sql.DB{first, second}[w%2]
				wg.Go(func() {
					for i := range rounds {
						var err error
						count := &done
						switch w {
						case 4:
							count = &deleted
							_, err = db.ExecContext(t.Context(), fmt.Sprintf("DELETE FROM %s WHERE k = %d", name, 1000+i))
						case 3:
							count = &inserted
							_, err = db.ExecContext(t.Context(), fmt.Sprintf("INSERT INTO %s VALUES (?, 0)", name), 2000+i)
						case 2:
							err = changeInTransaction(t.Context(), db, name)
						default:
							_, err = db.ExecContext(t.Context(), "UPDATE "+name+" SET n = n + 1 WHERE k < 1000")
						}
						var my *mysql.MySQLError
						if errors.As(err, &my) && my.Number == 1213 {
							continue
						}
						if err != nil {
							t.Errorf("worker %d: %v", w, err)
							return
						}
						mu.Lock()
						*count++
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			if done == 0 || deleted == 0 {
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

func changeInTransaction(ctx context.Context, db *sql.DB, table string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // an error after COMMIT
	for _, k := range []int{2, 1} {
		if _, err := tx.ExecContext(ctx, "UPDATE "+table+" SET n = n + 1 WHERE k = ?", k); err != nil {
			return err
		}
	}
	return tx.Commit()
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
