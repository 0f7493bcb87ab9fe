package sqlengine

import (
	"errors"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// TestReadOnlyRefusals: a server that must not write says so before it looks at anything, and reads branches as another one does.
func TestReadOnlyRefusals(t *testing.T) {
	t.Parallel()
	db, dir := emptyWarehouse(t, nil)
	mustExec(t, db, "CREATE TABLE t (k INT PRIMARY KEY, v INT)")
	mustExec(t, db, "INSERT INTO t VALUES (1, 1)")
	mustExec(t, db, "CALL sys.create_branch('default.t', 'b')")
	ro := connect(t, Options{Warehouse: dir, ReadOnly: true}, nil)
	for _, query := range []string{
		"CALL sys.create_tag('default.t', 'x')", "CALL sys.purge_files('default.t')", "CALL sys.nope()",
		"ANALYZE TABLE t COMPUTE STATISTICS", "INSERT IGNORE INTO t VALUES (1, 1)",
		"INSERT INTO t VALUES (1, 1) ON DUPLICATE KEY UPDATE v = 2", "CREATE VIEW v AS SELECT 1", "ALTER TABLE t ADD PARTITION (k = 1)",
	} {
		_, err := ro.ExecContext(t.Context(), query)
		var my *mysql.MySQLError
		if !errors.As(err, &my) || my.Number != 1290 {
			t.Errorf("%s: %v, want error 1290", query, err)
		}
	}
	rows, err := ro.QueryContext(t.Context(), "ANALYZE TABLE t")
	wantTexts(t, texts(t, rows, err),
		[]string{"default.t", "analyze", "Error", "The Tributary server is running with the --read-only option so it cannot execute this statement (ANALYZE TABLE)"},
		[]string{"default.t", "analyze", "status", "Operation failed"})
	conn, err := ro.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	mustExec(t, conn, "SET paimon_branch = 'b'")
	var n int
	if err := conn.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM t").Scan(&n); err != nil || n != 0 {
		t.Errorf("%d rows (%v)", n, err)
	}
}
