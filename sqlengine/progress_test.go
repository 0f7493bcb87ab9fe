package sqlengine

import (
	"strings"
	"testing"
	"time"
)

// TestStateOfStatements looks at a statement that writes, and at one that only reads, from another connection.
func TestStateOfStatements(t *testing.T) {
	t.Parallel()
	db, _ := emptyWarehouse(t, nil)
	mustExec(t, db, "CREATE TABLE t (v INT)")
	for query, want := range map[string]string{
		"INSERT INTO t SELECT SLEEP(60)": "writing 0 rows",
		"SELECT SLEEP(60)":               "running",
	} {
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var id string
		if err := conn.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&id); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := conn.ExecContext(t.Context(), query)
			ended <- err
		}()
		state := func(of string) string {
			rows, err := db.QueryContext(t.Context(), "SELECT STATE FROM performance_schema.processlist WHERE ID = ?", of)
			if got := texts(t, rows, err); len(got) == 1 {
				return got[0][0]
			}
			return "no such connection"
		}
		for limit := time.Now().Add(30 * time.Second); state(id) != want; {
			if time.Now().After(limit) {
				t.Fatalf("%s: state %q, want %q", query, state(id), want)
			}
		}
		rows, err := db.QueryContext(t.Context(), "SHOW PROCESSLIST")
		seen := false
		for _, r := range texts(t, rows, err) {
			seen = seen || r[0] == id && r[6] == want && strings.Contains(r[7], "SLEEP(60)") && r[4] == "Query"
		}
		if !seen {
			t.Errorf("%s is not in SHOW PROCESSLIST", query)
		}
		mustExec(t, db, "KILL QUERY "+id)
		<-ended
		if got := state(id); got != "" {
			t.Errorf("%s: state %q after its end", query, got)
		}
		conn.Close()
	}
}
