package sqlengine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/tributarydb/tributary/sqltests/golden"
)

// stopLimit is how soon a statement must end once it is stopped. The best of
// several tries counts: other work of the machine slows some down.
const stopLimit = 100 * time.Millisecond

// stopTries is how often a statement is stopped that ended too late.
const stopTries = 25

// long are statements that would run for hours over the numbers of endlessRows.
var long = []string{
	"SELECT COUNT(*) FROM n WHERE s LIKE '%y%'",
	"SELECT MAX(CONCAT(s, i)) FROM n",
	"SELECT COUNT(DISTINCT i % 1000) FROM n",
	"SELECT i FROM n WHERE i < 0",
	"SELECT s, COUNT(*) FROM n GROUP BY s",
	"SELECT i, s FROM n ORDER BY s DESC, i LIMIT 3",
	"SELECT COUNT(*) FROM (SELECT 1 AS one) a JOIN n ON n.i = a.one",
	"SELECT COUNT(*) FROM n a JOIN n b ON a.i = b.i",
	"SELECT COUNT(*) FROM n a JOIN n b ON a.i < b.i AND a.s > b.s",
	"SELECT COUNT(*) FROM (SELECT 1 AS one) a LEFT JOIN n ON n.i + a.one < 0",
	"SELECT COUNT(*) FROM n WHERE i IN (SELECT -i FROM n WHERE i > 5)",
	"SELECT i FROM n WHERE i < 0 UNION SELECT i FROM n WHERE i < -1",
}

const endlessRows = 2_000_000_000

// resources are what a process must not lose statement by statement.
type resources struct{ goroutines, files int }

func countResources(t *testing.T) resources {
	t.Helper()
	r := resources{goroutines: runtime.NumGoroutine()}
	if dir, err := os.ReadDir("/proc/self/fd"); err == nil {
		r.files = len(dir)
	}
	return r
}

// settle waits until no more is in use than before.
func settle(t *testing.T, before resources) {
	t.Helper()
	var now resources
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		now = countResources(t)
		if now.goroutines <= before.goroutines && now.files <= before.files {
			return
		}
	}
	buf := make([]byte, 1<<20)
	t.Errorf("%d goroutines and %d files are in use, before the statements %d and %d\n%s", now.goroutines, now.files, before.goroutines, before.files, buf[:runtime.Stack(buf, true)])
}

// drain runs a query to its end.
func drain(ctx context.Context, c *sql.Conn, query string) error {
	rows, err := c.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
	}
	return rows.Err()
}

func conn(t *testing.T, db *sql.DB) (*sql.Conn, int) {
	t.Helper()
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var id int
	if err := c.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	return c, id
}

// running tells whether the server runs a statement on a connection.
func running(t *testing.T, admin *sql.Conn, id int) bool {
	t.Helper()
	var n int
	if err := admin.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.processlist WHERE id = "+strconv.Itoa(id)+" AND command = 'Query'").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n > 0
}

// stopOnce starts a statement on a connection of its own, stops it with how and returns how long it took to end.
func stopOnce(t *testing.T, db *sql.DB, admin *sql.Conn, query, how string) time.Duration {
	t.Helper()
	c, id := conn(t, db)
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if how == "timeout" {
		if _, err := c.ExecContext(ctx, "SET max_execution_time = 80"); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error, 1)
	start := time.Now()
	go func() { done <- drain(ctx, c, query) }()
	time.Sleep(80 * time.Millisecond)
	want := uint16(1317)
	switch how {
	case "timeout":
		want = 3024
		start = start.Add(80 * time.Millisecond)
	case "kill":
		start = time.Now()
		if _, err := admin.ExecContext(t.Context(), fmt.Sprintf("KILL QUERY %d", id)); err != nil {
			t.Fatal(err)
		}
	case "close": // the driver closes the connection
		start = time.Now()
		cancel()
		for running(t, admin, id) {
			if time.Since(start) > 10*time.Second {
				t.Fatalf("%s: runs on though its client has gone", query)
			}
			time.Sleep(time.Millisecond)
		}
		took := time.Since(start)
		<-done
		return took
	}
	select {
	case err := <-done:
		took := time.Since(start)
		var me *mysql.MySQLError
		if !errors.As(err, &me) || me.Number != want {
			t.Errorf("%s, %s: %v, want error %d", how, query, err, want)
		}
		if err := c.PingContext(t.Context()); err != nil {
			t.Errorf("%s, %s: the connection is gone: %v", how, query, err)
		}
		return took
	case <-time.After(10 * time.Second):
		t.Fatalf("%s, %s: runs on", how, query)
		return 0
	}
}

// stopAll stops each statement in every way.
func stopAll(t *testing.T, db *sql.DB, queries []string) {
	db.SetMaxIdleConns(0)
	admin, _ := conn(t, db)
	defer admin.Close()
	for _, q := range queries { // what is set up at first use is no leak
		stopOnce(t, db, admin, q, "kill")
	}
	time.Sleep(50 * time.Millisecond)
	before := countResources(t)
	for _, q := range queries {
		for _, how := range []string{"kill", "timeout", "close"} {
			best := time.Hour
			for range stopTries {
				if best = min(best, stopOnce(t, db, admin, q, how)); best < stopLimit {
					break
				}
			}
			t.Logf("%s, %s: ended after %v", how, q, best)
			if best >= stopLimit {
				t.Errorf("%s, %s: ends after %v only", how, q, best)
			}
		}
	}
	settle(t, before)
}

// TestStop: KILL QUERY, max_execution_time and a client that goes away end
// scans, sorts, groups and joins at once, and free what they used.
func TestStop(t *testing.T) {
	stopAll(t, connect(t, Options{Catalog: numbers{rows: endlessRows}}, nil), long)
}

// TestStopFiles does it with tables of files.
func TestStopFiles(t *testing.T) {
	root, err := golden.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := golden.Unpack(filepath.Join(root, "shop", golden.ArchiveName), dir); err != nil {
		t.Fatal(err)
	}
	db := connect(t, Options{Catalog: nil, Warehouse: dir}, nil)
	stopAll(t, db, []string{
		"SELECT COUNT(*) FROM page_views a JOIN page_views b ON a.duration_ms < b.duration_ms",
		"SELECT a.* FROM orders a, order_items b, page_views c",
		"SELECT COUNT(*) FROM orders a LEFT JOIN order_items b ON a.order_id + b.order_id = 0.5",
	})
}

// TestStopWriting: the end of a connection ends a statement that waits for its client to read.
func TestStopWriting(t *testing.T) {
	db := connect(t, Options{Catalog: numbers{rows: endlessRows, pad: 100}}, nil)
	db.SetMaxIdleConns(0)
	admin, _ := conn(t, db)
	defer admin.Close()
	before := countResources(t)
	for _, kill := range []bool{true, false} {
		c, id := conn(t, db)
		ctx, cancel := context.WithCancel(t.Context())
		rows, err := c.QueryContext(ctx, "SELECT i, s FROM n")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond) // buffers fill up
		if !running(t, admin, id) {
			t.Fatal("the statement has ended already")
		}
		if kill {
			if _, err := admin.ExecContext(t.Context(), fmt.Sprintf("KILL %d", id)); err != nil {
				t.Fatal(err)
			}
		} else {
			cancel()
		}
		for start := time.Now(); running(t, admin, id); time.Sleep(time.Millisecond) {
			if time.Since(start) > 10*time.Second {
				t.Fatalf("kill %v: the statement runs on", kill)
			}
		}
		cancel()
		_ = rows.Close()
		_ = c.Close()
	}
	settle(t, before)
}

// TestFlatMemory: a client that reads a big table slowly costs the server no
// more memory than one that reads a small one.
func TestFlatMemory(t *testing.T) {
	const (
		rows  = 250_000
		pad   = 800 // 200 MB in all
		bound = 80 << 20
	)
	db := connect(t, Options{Catalog: numbers{rows: rows, pad: pad}}, nil)
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapInuse)
	}
	for _, args := range [][]any{nil, {-1}} { // text and binary
		query := "SELECT s, i FROM n"
		if args != nil {
			query += " WHERE i > ?"
		}
		before, most := heap(), int64(0)
		r, err := db.QueryContext(t.Context(), query, args...)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		var s sql.RawBytes
		for i := int64(0); r.Next(); n++ {
			if err := r.Scan(&s, &i); err != nil || i != int64(n) || len(s) != pad+n%5 {
				t.Fatalf("row %d: %d, %d bytes, %v", n, i, len(s), err)
			}
			if n%(rows/8) == rows/16 {
				time.Sleep(100 * time.Millisecond) // the server could run ahead
				most = max(most, heap()-before)
			}
		}
		if err := r.Err(); err != nil || n != rows {
			t.Fatalf("%d rows, %v", n, err)
		}
		if most > bound {
			t.Errorf("%s: the heap grew by %d MB", query, most>>20)
		}
		t.Logf("%s: the heap grew by %d MB", query, most>>20)
	}
}

// TestPanics: a reader that panics, in whatever goroutine, fails its statement only.
func TestPanics(t *testing.T) {
	db := connect(t, Options{Catalog: numbers{rows: 300_000, broken: true}}, nil)
	db.SetMaxOpenConns(2)
	c, _ := conn(t, db)
	defer c.Close()
	before := countResources(t)
	for _, q := range long {
		err := drain(t.Context(), c, q)
		var me *mysql.MySQLError
		if !errors.As(err, &me) || me.Number != 1105 || !strings.Contains(me.Message, "a broken reader") {
			t.Errorf("%s: %v", q, err)
		}
		if err := c.PingContext(t.Context()); err != nil {
			t.Fatalf("%s: the connection is gone: %v", q, err)
		}
	}
	settle(t, before)
}
