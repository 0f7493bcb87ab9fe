package planner

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

func TestTransactionWrites(t *testing.T) {
	s := newInsertSession(t)
	s.table("b", "id INT; v STRING")
	s.table("a", "id INT; v STRING")
	s.run("BEGIN")
	s.does("INSERT INTO b VALUES (1, 'x')", "1")
	s.does("INSERT INTO a VALUES (1, 'y')", "1")
	s.does("INSERT INTO b SELECT 2, 'z' UNION ALL SELECT 3, NULL", "2 Records: 2  Duplicates: 0  Warnings: 0")
	s.happened("open default.b", "open default.a")
	s.failed("INSERT INTO b VALUES ('x', 'y')", "1366 ") // this statement alone
	s.run("COMMIT")
	s.happened("commit a 1", "commit b 3")
	s.want("SELECT * FROM b", "1\tx", "2\tz", "3\tNULL")

	s.run("BEGIN")
	s.does("INSERT INTO a VALUES (2, 'y')", "1")
	s.run("ROLLBACK")
	s.happened("open default.a", "abort a")

	// autocommit = 0, and turning it on.
	s.run("SET autocommit = 0")
	s.does("INSERT INTO a VALUES (2, 'y')", "1")
	s.does("INSERT INTO a VALUES (3, 'y')", "1")
	s.run("COMMIT")
	s.does("INSERT INTO a VALUES (4, 'y')", "1")
	s.run("ROLLBACK")
	s.does("INSERT INTO a VALUES (5, 'y')", "1")
	s.run("SET autocommit = 1")
	s.happened("open default.a", "commit a 2", "open default.a", "abort a", "open default.a", "commit a 1")
	s.does("INSERT INTO a VALUES (6, 'y')", "1")
	s.happened("open default.a", "commit a 1")

	// BEGIN commits, and so does a definition.
	s.run("BEGIN")
	s.does("INSERT INTO a VALUES (7, 'y')", "1")
	s.run("BEGIN")
	s.happened("open default.a", "commit a 1")
	s.does("INSERT INTO a VALUES (8, 'y')", "1")
	s.run("CREATE TABLE c (id INT)")
	s.happened("open default.a", "commit a 1")
	s.run("START TRANSACTION READ ONLY")
	s.failed("INSERT INTO a VALUES (9, 'y')", "1792 25006 ")
	s.run("ROLLBACK")

	// The connection ends.
	s.run("BEGIN")
	s.does("INSERT INTO a VALUES (9, 'y')", "1")
	s.sess.SessionEnd()
	s.happened("open default.a", "abort a")
}

// TestTransactionReads: what is written to a table that merges rows, and not committed, cannot be read.
func TestTransactionReads(t *testing.T) {
	s := newInsertSession(t)
	w := s.table("w", "id INT; v STRING")
	w.keys, w.options = []string{"id"}, map[string]string{"merge-engine": "partial-update"}
	s.table("r", "id INT; v STRING")
	s.lake.add("default", "w$audit_log", newFakeTable(field("id", schema.Int)))
	s.lake.add("default", "w$snapshots", newFakeTable(field("id", schema.Int)))
	s.lake.add("default", "w$branch_x", newFakeTable(field("id", schema.Int)))
	s.run("BEGIN")
	s.want("SELECT COUNT(*) FROM w", "0")
	s.does("INSERT INTO w VALUES (1, 'x')", "1")
	const refused = "1235 42000 table default.w has rows of this transaction that are not committed"
	for _, q := range []string{
		"SELECT * FROM w", "SELECT COUNT(*) FROM w", "SELECT * FROM r WHERE id IN (SELECT id FROM w)", "SELECT * FROM (SELECT id FROM w) x",
		"SELECT (SELECT MAX(id) FROM w)", "SELECT * FROM r UNION SELECT * FROM w", "WITH q AS (SELECT * FROM w) SELECT * FROM q",
		"SELECT * FROM r JOIN w ON r.id = w.id", "INSERT INTO r SELECT * FROM w", "INSERT INTO w SELECT * FROM w", "INSERT INTO r VALUES ((SELECT MAX(id) FROM w), 'x')",
		"SELECT * FROM r WHERE EXISTS (SELECT 1 FROM w WHERE w.id = r.id)", "SELECT 1 FROM r ORDER BY (SELECT MAX(id) FROM w)", "SELECT * FROM w AS OF 0",
	} {
		s.failed(q, refused)
	}
	s.failed("SELECT * FROM `w$branch_main`", "")
	s.failed("SELECT * FROM `w$audit_log`", "1235 42000 table default.w$audit_log has rows")
	s.want("SELECT COUNT(*) FROM `w$snapshots`", "0")
	s.want("SELECT COUNT(*) FROM `w$branch_x`", "0")
	s.want("SELECT COUNT(*) FROM r", "0")
	s.run("COMMIT")
	s.want("SELECT COUNT(*) FROM w", "1")

	// A table shows the rows of its fallback branch.
	s.lake.tables["default"]["r"].options["scan.fallback-branch"] = "x"
	s.lake.add("default", "r$branch_x", s.lake.tables["default"]["w"])
	s.run("BEGIN")
	s.does("INSERT INTO `r$branch_x` VALUES (1, 'x')", "1")
	s.failed("SELECT * FROM r", "1235 42000 table default.r has rows")
	s.run("ROLLBACK")
}

func TestTransactionSavepoints(t *testing.T) {
	s := newInsertSession(t)
	s.table("a", "id INT; v STRING")
	s.table("b", "id INT; v STRING")
	s.run("BEGIN")
	s.does("INSERT INTO a VALUES (1, 'x'), (2, 'x')", "2 Records: 2  Duplicates: 0  Warnings: 0")
	s.run("SAVEPOINT one")
	s.does("INSERT INTO a VALUES (3, 'x')", "1")
	s.does("INSERT INTO b VALUES (3, 'x')", "1")
	s.run("SAVEPOINT two")
	s.does("INSERT INTO b VALUES (4, 'x')", "1")
	s.run("ROLLBACK TO two")
	s.run("ROLLBACK TO one")
	s.fails("ROLLBACK TO two", "SAVEPOINT two does not exist")
	s.does("INSERT INTO a VALUES (5, 'x')", "1")
	s.run("RELEASE SAVEPOINT one")
	s.run("COMMIT")
	s.happened("open default.a", "open default.b", "abort b", "commit a 3")
	s.want("SELECT id FROM a", "1", "2", "5")

	// What no longer fits in memory cannot be brought back.
	s.run("BEGIN")
	s.does("INSERT INTO a VALUES (1, 'x')", "1")
	s.run("SAVEPOINT one")
	s.does(fmt.Sprintf("INSERT INTO a SELECT 2, REPEAT('x', %d)", stagedBytes), "1 Records: 1  Duplicates: 0  Warnings: 0")
	s.fails("ROLLBACK TO one", "only ROLLBACK undoes them")
	s.does("INSERT INTO a VALUES (3, 'x')", "1")
	s.run("COMMIT")
	s.want("SELECT COUNT(*) FROM a", "6")
}

func TestTransactionErrors(t *testing.T) {
	s := newInsertSession(t)
	s.table("a", "id INT; v STRING").parts = []string{"v"}
	s.table("b", "id INT; v STRING")
	s.table("c", "id INT; v STRING")
	// A table is written in one way.
	s.run("BEGIN")
	s.does("INSERT INTO a VALUES (1, 'x')", "1")
	s.does("INSERT INTO a PARTITION (v = 'y') VALUES (2)", "1")
	s.failed("INSERT OVERWRITE a VALUES (3, 'x')", "1235 42000 table default.a has rows of this transaction")
	s.failed("INSERT INTO a /*+ OPTIONS('x.y' = 'z') */ VALUES (3, 'x')", "1235 42000 table default.a has rows of this transaction")
	s.does("INSERT OVERWRITE b VALUES (3, 'x')", "1")
	s.failed("INSERT OVERWRITE b VALUES (4, 'x')", "1235 42000 ")
	s.failed("INSERT INTO b VALUES (4, 'x')", "1235 42000 ")
	s.run("COMMIT")
	s.happened("open default.a", "open default.b overwrite", "commit a 2", "commit b 1")

	// COMMIT fails: those before are committed, and the error says so; the transaction is over.
	s.lake.commitErr["b"] = errs.Conflictf("another writer")
	s.run("BEGIN")
	for _, n := range []string{"c", "b", "a"} {
		s.does("INSERT INTO "+n+" VALUES (1, 'x')", "1")
	}
	s.failed("COMMIT", "1213 40001 table default.b: another writer; what this transaction wrote to default.a is committed")
	s.happened("open default.c", "open default.b", "open default.a", "commit a 1", "failed b", "abort c")
	s.does("INSERT INTO c VALUES (1, 'x')", "1")
	s.happened("open default.c", "commit c 1")
	// The rows go to all sinks before the first commit.
	s.lake.commitErr["b"], s.lake.writeErr["b"] = nil, errs.Invalidf("no such bucket")
	s.run("BEGIN")
	s.does("INSERT INTO a VALUES (1, 'x')", "1")
	s.does("INSERT INTO b VALUES (1, 'x')", "1")
	s.failed("COMMIT", "1210 HY000 no such bucket")
	s.happened("open default.a", "open default.b", "abort a", "abort b")
	s.lake.writeErr["b"] = nil

	// A great statement that fails takes the transaction along.
	s.run("BEGIN")
	s.does("INSERT INTO c VALUES (1, 'x')", "1")
	s.failed(fmt.Sprintf("INSERT INTO a VALUES (1, REPEAT('x', %d)), (2, 'x'), ('y', 'x')", stagedBytes), "1366 ")
	s.happened("open default.c", "open default.a", "abort c", "abort a")
	s.failed("INSERT INTO c VALUES (2, 'x')", "1213 40001 this transaction was rolled back")
	s.failed("COMMIT", "1213 40001 this transaction was rolled back")
	s.does("INSERT INTO c VALUES (2, 'x')", "1")
	s.happened("open default.c", "commit c 1")

	// A statement that fails leaves no sink behind.
	s.run("BEGIN")
	s.failed("INSERT INTO c VALUES ('y', 'x')", "1366 ")
	s.happened("open default.c", "abort c")
	s.run("COMMIT")
	s.happened()
}

// TestTransactionStaging: the rows of many small statements share batches, in their order.
func TestTransactionStaging(t *testing.T) {
	s := newInsertSession(t)
	f := s.table("a", "id INT; v STRING; l ARRAY<INT>")
	s.table("src", "id INT").rows([]any{1000}, []any{1001}, []any{1002}, []any{1003})
	s.run("BEGIN")
	var want []string
	add := func(i int) { want = append(want, fmt.Sprint(i)) }
	for i := range 100 {
		s.does(fmt.Sprintf("INSERT INTO a VALUES (%d, 'x', '[%d]')", i, i), "1")
		add(i)
	}
	s.run("SAVEPOINT p")
	s.does("INSERT INTO a (id) VALUES (-1), (-2)", "2 Records: 2  Duplicates: 0  Warnings: 0")
	s.run("ROLLBACK TO p")
	s.does("INSERT INTO a (id) SELECT id FROM src WHERE id <> 1001", "3 Records: 3  Duplicates: 0  Warnings: 0")
	for _, i := range []int{1000, 1002, 1003} {
		add(i)
	}
	var q strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&q, ",(%d, NULL, NULL)", 2000+i)
		add(2000 + i)
	}
	s.does("INSERT INTO a VALUES "+q.String()[1:], "5000 Records: 5000  Duplicates: 0  Warnings: 0")
	s.does("INSERT INTO a (id) VALUES (9000)", "1")
	add(9000)
	s.run("COMMIT")
	s.want("SELECT id FROM a", want...)
	s.want("SELECT SUM(id) FROM a WHERE JSON_EXTRACT(l, '$[0]') = id", "4950")
	if len(f.morsels) != 3 {
		t.Errorf("%d batches: %v", len(f.morsels), batchSizes(f.morsels))
	}
	for _, m := range f.morsels {
		if m.N > column.MaxRows {
			t.Errorf("a batch of %d rows", m.N)
		}
	}
}

func batchSizes(batches []*column.Batch) (out []int) {
	for _, b := range batches {
		out = append(out, b.N)
	}
	return out
}
