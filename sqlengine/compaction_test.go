package sqlengine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCompactionBesideStatements pauses the compactions of a server, looks at one that waits in all lists of processes, and
// lets it run.
func TestCompactionBesideStatements(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "default.db"), 0o755); err != nil {
		t.Fatal(err)
	}
	db := connect(t, Options{Warehouse: dir, CompactionWorkers: 1}, nil)
	mustExec(t, db, "CREATE TABLE t (k INT PRIMARY KEY, v INT) WITH ('bucket' = '1')")
	mustExec(t, db, "SET GLOBAL tributary_compaction = 'paused'")
	for range 6 {
		mustExec(t, db, "INSERT INTO t VALUES (1, 1)")
	}
	work := func(query string) [][]string {
		rows, err := db.QueryContext(t.Context(), query)
		var out [][]string
		for _, r := range texts(t, rows, err) {
			if r[1] == "system user" {
				out = append(out, r)
			}
		}
		return out
	}
	lists := []string{"SHOW PROCESSLIST", "SELECT * FROM information_schema.PROCESSLIST", "SELECT * FROM performance_schema.processlist"}
	for _, list := range lists {
		got := work(list)
		if len(got) != 1 || strings.Join(got[0][2:5], "|") != "|default|Daemon" || got[0][6] != "paused" || got[0][7] != "compaction of 1 bucket of t" {
			t.Errorf("%s: %q", list, got)
		}
	}
	files := func() string {
		rows, err := db.QueryContext(t.Context(), "SELECT COUNT(*) FROM `t$files`")
		return texts(t, rows, err)[0][0]
	}
	if n := files(); n != "6" {
		t.Errorf("%s files in a pause", n)
	}
	mustExec(t, db, "SET GLOBAL tributary_compaction = 'running'")
	for end := time.Now().Add(30 * time.Second); len(work(lists[0])) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the compaction does not end")
		}
	}
	if n := files(); n != "1" {
		t.Errorf("%s files after the pause", n)
	}
}
