package sqltests

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/tributarydb/tributary/sqlengine"
	"github.com/tributarydb/tributary/sqltests/embedded"
	"github.com/tributarydb/tributary/sqltests/runner"
)

// Some golden scripts write on their copy of the warehouse. While the server
// only reads, those statements and the later queries on the tables they change
// are skipped, and counted. Whether it writes is asked of the server, so the
// statements run as soon as it does.

// serverWrites tells whether the server of this build takes CREATE TABLE and
// INSERT.
var serverWrites = sync.OnceValues(func() (bool, error) {
	dir, err := os.MkdirTemp("", "tributary-writes-*")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	if err := os.Mkdir(filepath.Join(dir, "default.db"), 0o755); err != nil {
		return false, err
	}
	server, err := embedded.Start(context.Background(), sqlengine.Options{Warehouse: dir})
	if err != nil {
		return false, err
	}
	target := server.Target
	target.Database = "default"
	db, err := runner.Connect(target)
	if err != nil {
		return false, err
	}
	script, err := runner.Parse("writes", "statement ok\nCREATE TABLE probe (a INT)\n\nstatement ok\nINSERT INTO probe VALUES (1)\n")
	if err != nil {
		return false, err
	}
	report, err := runner.Run(context.Background(), db, script, runner.Options{})
	if err != nil {
		return false, err
	}
	if err := db.Close(); err != nil {
		return false, err
	}
	return report.Failed == 0, server.Stop()
})

var writeStatement = regexp.MustCompile("(?i)^(?:INSERT\\s+(?:INTO|OVERWRITE)|REPLACE\\s+INTO|DELETE\\s+FROM|UPDATE|(?:TRUNCATE|ALTER|DROP|CREATE|ANALYZE)\\s+TABLE|CALL\\s+sys\\.\\w+\\s*\\(\\s*'default\\.)\\s*`?(\\w+)")

// writeSkipper leaves out what a server that only reads cannot answer.
type writeSkipper struct {
	changed []*regexp.Regexp // names of the tables that would have been changed
	listing bool             // a table would have been created or dropped
	skipped int
}

func (w *writeSkipper) skip(r *runner.Record) string {
	reason := w.reason(r)
	if reason != "" {
		w.skipped++
	}
	return reason
}

func (w *writeSkipper) reason(r *runner.Record) string {
	if m := writeStatement.FindStringSubmatch(r.SQL); m != nil {
		w.changed = append(w.changed, regexp.MustCompile(`\b`+regexp.QuoteMeta(m[1])+`\b`))
		word := strings.ToUpper(r.SQL[:6])
		w.listing = w.listing || strings.HasPrefix(word, "CREATE") || strings.HasPrefix(word, "DROP")
		return "the server does not write yet"
	}
	if w.listing && strings.HasPrefix(r.SQL, "SHOW TABLES") {
		return "a statement before it would have created or dropped a table"
	}
	for _, name := range w.changed {
		if name.MatchString(r.SQL) {
			return "a statement before it would have changed the table"
		}
	}
	return ""
}

func TestWriteSkipper(t *testing.T) {
	w := &writeSkipper{}
	for _, x := range []struct {
		sql  string
		skip bool
	}{
		{"SELECT * FROM a", false},
		{"INSERT INTO a VALUES (1)", true},
		{"SELECT * FROM `a$branch_b`", true},
		{"SELECT * FROM ab", false},
		{"CALL sys.rollback_to('default.man_gone', 'one')", true},
		{"SELECT v FROM man_gone", true},
		{"SHOW TABLES", false},
		{"DROP TABLE c", true},
		{"SHOW TABLES", true},
		{"SELECT updated FROM d", false},
	} {
		if got := w.skip(&runner.Record{Kind: runner.Query, SQL: x.sql}) != ""; got != x.skip {
			t.Errorf("%s: skipped %v", x.sql, got)
		}
	}
	if w.skipped != 6 {
		t.Errorf("%d skipped", w.skipped)
	}
}
