package sqltests

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tributarydb/tributary/sqlengine"
	"github.com/tributarydb/tributary/sqltests/embedded"
	"github.com/tributarydb/tributary/sqltests/runner"
)

// emptyServer starts a server on an empty warehouse; the context bounds the test.
func emptyServer(t *testing.T) (context.Context, *sql.DB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	server, err := embedded.Start(ctx, sqlengine.Options{Warehouse: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	target := server.Target
	target.Database = "default"
	db, err := runner.Connect(target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return ctx, db
}

// TestStreamOverWire follows a table over one connection while another writes it: rows arrive as they are
// committed, the connection's end and KILL end the read, and a consumer goes on where it was.
func TestStreamOverWire(t *testing.T) {
	t.Parallel()
	ctx, db := emptyServer(t)
	exec := func(q string) {
		t.Helper()
		if _, err := db.ExecContext(ctx, q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	exec("CREATE TABLE orders (id INT PRIMARY KEY, price INT) WITH ('changelog-producer' = 'lookup')")
	exec("INSERT INTO orders VALUES (1, 80), (2, 5)")
	reader, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	var id int64
	if err := reader.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	rows, err := reader.QueryContext(ctx, "SELECT rowkind, id, price FROM `orders$audit_log` /*+ OPTIONS('streaming' = 'true', 'consumer-id' = 'desk') */")
	if err != nil {
		t.Fatal(err)
	}
	expect := func(rows *sql.Rows, want ...string) {
		t.Helper()
		for _, w := range want {
			if !rows.Next() {
				t.Fatalf("the stream ended before %q: %v", w, rows.Err())
			}
			var kind string
			var k, v int
			if err := rows.Scan(&kind, &k, &v); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(kind, " ", k, " ", v); got != w {
				t.Fatalf("the stream shows %q, want %q", got, w)
			}
		}
	}
	expect(rows, "+I 1 80", "+I 2 5")
	exec("INSERT INTO orders VALUES (1, 100)")
	expect(rows, "-U 1 80", "+U 1 100")
	exec("INSERT INTO orders VALUES (3, 7)")
	expect(rows, "+I 3 7")
	for next := 0; next < 7; time.Sleep(20 * time.Millisecond) {
		err := db.QueryRowContext(ctx, "SELECT COALESCE(MAX(next_snapshot_id), 0) FROM `orders$consumers`").Scan(&next)
		if err != nil {
			t.Fatal(err)
		}
	}
	exec(fmt.Sprintf("KILL QUERY %d", id))
	if rows.Next() || rows.Err() == nil || !strings.Contains(rows.Err().Error(), "interrupted") {
		t.Fatalf("after KILL QUERY: %v", rows.Err())
	}
	rows.Close()
	exec("INSERT INTO orders VALUES (4, 8)")
	sctx, stop := context.WithCancel(ctx)
	defer stop() // closing the rows alone would wait for their end
	rows, err = reader.QueryContext(sctx, "SELECT rowkind, id, price FROM `orders$audit_log` /*+ OPTIONS('streaming' = 'true', 'consumer-id' = 'desk') */")
	if err != nil {
		t.Fatal(err)
	}
	expect(rows, "+I 4 8")
	stop()
	rows.Close()
	// The table itself shows new rows and new versions; what they replace has no row kind to tell it by.
	var n int
	if err := db.QueryRowContext(ctx, "SELECT price FROM orders /*+ OPTIONS('streaming' = 'true', 'scan.mode' = 'from-snapshot', 'scan.snapshot-id' = '3') */ LIMIT 1").Scan(&n); err != nil || n != 100 {
		t.Fatalf("%d, %v", n, err)
	}
	// Without changelog files, the read completes the changes itself, what an INSERT OVERWRITE replaces included.
	exec("CREATE TABLE stock (id INT PRIMARY KEY, price INT)")
	exec("INSERT INTO stock VALUES (1, 80), (2, 5)")
	var plan string
	explain, err := db.QueryContext(ctx, "EXPLAIN FORMAT=TREE SELECT rowkind, id, price FROM `stock$audit_log` /*+ OPTIONS('streaming' = 'true', 'scan.normalize' = 'true') */")
	if err != nil {
		t.Fatal(err)
	}
	for explain.Next() {
		var line string
		if err := explain.Scan(&line); err != nil {
			t.Fatal(err)
		}
		plan += line + "\n"
	}
	if !strings.Contains(plan, "by files of APPEND snapshots, completed by the last row of each key") {
		t.Errorf("the plan does not tell:\n%s", plan)
	}
	nctx, end := context.WithCancel(ctx)
	defer end()
	other, err := db.Conn(nctx)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	rows, err = other.QueryContext(nctx, "SELECT rowkind, id, price FROM `stock$audit_log` /*+ OPTIONS('streaming' = 'true', 'scan.normalize' = 'true', 'streaming-read-overwrite' = 'true') */ WHERE price > 50")
	if err != nil {
		t.Fatal(err)
	}
	expect(rows, "+I 1 80")
	exec("INSERT INTO stock VALUES (1, 7), (2, 70)") // out of the condition, and into it
	expect(rows, "-U 1 80", "+U 2 70")
	exec("INSERT OVERWRITE stock VALUES (3, 90)")
	expect(rows, "-D 2 70", "+I 3 90")
	exec("TRUNCATE TABLE stock")
	expect(rows, "-D 3 90")
	end()
	rows.Close()
}

// TestStreamBeginsEmpty follows tables that have no row yet: the statement is given back at once, as drivers do when they
// have the column definitions, and shows rows when they come.
func TestStreamBeginsEmpty(t *testing.T) {
	t.Parallel()
	ctx, db := emptyServer(t)
	for i, q := range []struct {
		text string
		args []any
	}{
		{"SELECT id FROM %s /*+ OPTIONS('streaming' = 'true') */", nil},
		{"SELECT id FROM %s /*+ OPTIONS('streaming' = 'true') */ WHERE id > ?", []any{0}}, // the binary protocol
		{"SELECT id + 0 FROM %s /*+ OPTIONS('streaming' = 'true') */ WHERE note LIKE 'a%%'", nil},
		{"SELECT CAST(CONCAT(REVERSE(note), id) AS SIGNED) + id FROM %s /*+ OPTIONS('streaming' = 'true') */", nil}, // by rows
		{"SELECT id FROM %s /*+ OPTIONS('streaming' = 'true', 'scan.mode' = 'latest') */", nil},
	} {
		name := fmt.Sprint("events", i)
		text := fmt.Sprintf(q.text, name)
		if _, err := db.ExecContext(ctx, fmt.Sprintf("CREATE TABLE %s (id INT, note STRING)", name)); err != nil {
			t.Fatal(err)
		}
		sctx, stop := context.WithCancel(ctx)
		late := time.AfterFunc(20*time.Second, stop) // without the definitions, the driver would wait for the first row
		rows, err := db.QueryContext(sctx, text, q.args...)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if _, err := db.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s VALUES (7, 'a note')", name)); err != nil {
			t.Fatal(err)
		}
		var id int
		if !rows.Next() {
			t.Fatalf("%s: %v", text, rows.Err())
		}
		if err := rows.Scan(&id); err != nil || id != 7 {
			t.Errorf("%s: %d, %v", text, id, err)
		}
		late.Stop()
		stop()
		rows.Close()
	}
}
