package history

import (
	"context"
	"database/sql"
	"errors"
	"math/rand"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tributarydb/tributary/sqlengine"
	"github.com/tributarydb/tributary/sqltests/embedded"
	"github.com/tributarydb/tributary/storage/fileio"
)

// chance returns a function that is true for one call in n.
func chance(seed int64, n int) func() bool {
	var mu sync.Mutex
	rnd := rand.New(rand.NewSource(seed))
	return func() bool {
		mu.Lock()
		defer mu.Unlock()
		return rnd.Intn(n) == 0
	}
}

// TestGoroutines lets eight connections write the tables of one server at once, while files are
// slow and fail: some order of their statements explains every answer, and no file is lost.
func TestGoroutines(t *testing.T) {
	const connections, each, maxDelay = 8, 60, 300 * time.Microsecond
	for _, c := range []struct {
		name                            string
		faults, maintain, interruptions bool
	}{{"plain", false, false, false}, {"maintenance", false, true, false}, {"interrupted", false, true, true}, {"failing", true, true, true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			mem := fileio.NewMemory()
			if err := mem.MkdirAll(ctx, "/w/default.db"); err != nil {
				t.Fatal(err)
			}
			faulty := fileio.NewFaulty(mem)
			server, err := embedded.Start(ctx, sqlengine.Options{Catalog: sqlengine.NewCatalog(faulty, "/w", nil)})
			if err != nil {
				t.Fatal(err)
			}
			rec := NewRecorder()
			var failed atomic.Int64
			var clients []*client
			for i := range connections {
				db := connect(t, server.Target)
				defer db.Close()
				clients = append(clients, &client{t: t, id: i + 1, rec: rec, rnd: rand.New(rand.NewSource(int64(i))), db: func() *sql.DB { return db },
					maintain: c.maintain, interrupt: c.interruptions, failed: &failed})
			}
			for _, d := range definitions {
				if _, err := clients[0].db().ExecContext(ctx, d); err != nil {
					t.Fatal(err)
				}
			}
			var delays atomic.Int64
			faulty.Inject(fileio.Fault{Nth: 1, Count: -1, If: chance(1, 10), Do: func(ctx context.Context, _ string) {
				timer := time.NewTimer(time.Duration(delays.Add(7919_000)) % maxDelay)
				defer timer.Stop()
				select {
				case <-timer.C:
				case <-ctx.Done():
				}
			}})
			if c.faults {
				broken := errors.New("the disk is broken")
				faulty.Inject(fileio.Fault{Nth: 1, Count: -1, If: chance(2, 600), Err: broken})
				faulty.Inject(fileio.Fault{Op: fileio.AnyChange, Nth: 1, Count: -1, If: chance(3, 150), After: true, Err: broken})
				faulty.Inject(fileio.Fault{Op: fileio.OpPutIfAbsent, Nth: 1, Count: -1, If: chance(4, 30), After: true, Err: broken})
			}
			together(clients, func(c *client) {
				for range each {
					c.step(ctx)
				}
			})
			faulty.Clear()
			together(clients[:2], func(c *client) { c.readAll(ctx) })
			if n := failed.Load(); n > 0 && !c.faults {
				t.Errorf("%d queries failed", n)
			}
			if err := server.Stop(); err != nil {
				t.Error(err)
			}
			// Another server says the same.
			if server, err = embedded.Start(ctx, sqlengine.Options{Catalog: sqlengine.NewCatalog(mem, "/w", nil)}); err != nil {
				t.Fatal(err)
			}
			db := connect(t, server.Target)
			defer db.Close()
			clients[0].db = func() *sql.DB { return db }
			clients[0].readAll(ctx)
			if err := server.Stop(); err != nil {
				t.Error(err)
			}
			judge(t, rec, mem, "/w", slices.Concat(logs, keyed)...)
		})
	}
}
