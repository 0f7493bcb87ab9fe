package sqlengine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// TestChangesAreNotStarved changes rows by statements that take many times as long as the inserts beside them, which commit to the same
// bucket: all come through, and the inserts as well.
func TestChangesAreNotStarved(t *testing.T) {
	t.Parallel()
	db, _ := emptyWarehouse(t, nil)
	for name, c := range map[string]struct{ definition, change string }{
		"updates": {"(k INT PRIMARY KEY, n INT) WITH ('bucket' = '1')", "UPDATE %s SET n = n + 1 WHERE k = 1 AND SLEEP(0.2) = 0"},
		"upserts": {"(k INT PRIMARY KEY, n INT) WITH ('bucket' = '1')", "INSERT INTO %s VALUES (1, 1) ON DUPLICATE KEY UPDATE n = n + 1 + SLEEP(0.2)"},
		"deletes": {"(k INT, n INT) WITH ('deletion-vectors.enabled' = 'true')", "DELETE FROM %s WHERE k = 1 AND SLEEP(0.2) = 0"},
	} {
		t.Run(name, func(t *testing.T) {
			mustExec(t, db, "CREATE TABLE "+name+" "+c.definition)
			mustExec(t, db, "INSERT INTO "+name+" VALUES (1, 0)")
			ctx, stop := context.WithCancel(t.Context())
			var inserts atomic.Int64
			var wg sync.WaitGroup
			for w := range 2 {
				conn, err := db.Conn(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				wg.Go(func() {
					for i := 0; ctx.Err() == nil; i++ {
						if _, err := conn.ExecContext(t.Context(), fmt.Sprintf("INSERT INTO %s VALUES (?, 0)", name), 1000+i*2+w); err != nil {
							t.Error(err)
							return
						}
						inserts.Add(1)
					}
				})
			}
			const changes = 3
			for range changes {
				if _, err := db.ExecContext(t.Context(), fmt.Sprintf(c.change, name)); err != nil {
					var my *mysql.MySQLError
					if errors.As(err, &my) {
						t.Errorf("error %d: %v", my.Number, err)
					} else {
						t.Error(err)
					}
				}
			}
			stop()
			wg.Wait()
			var n sql.NullInt64
			var rows int64
			if err := db.QueryRowContext(t.Context(), "SELECT SUM(CASE WHEN k = 1 THEN n END), COUNT(*) FROM "+name).Scan(&n, &rows); err != nil {
				t.Fatal(err)
			}
			if want := inserts.Load() + 1; name != "deletes" && (n.Int64 != changes || rows != want) {
				t.Errorf("counted %d of %d, %d rows of %d", n.Int64, changes, rows, want)
			} else if name == "deletes" && (n.Valid || rows != want-1) {
				t.Errorf("%d rows of %d, the deleted one's number %v", rows, want-1, n)
			}
			t.Logf("%d inserts beside", inserts.Load())
		})
	}
}
