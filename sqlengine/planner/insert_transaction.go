package planner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/relation"
)

// pendingWrite is a sink whose rows wait for COMMIT.
type pendingWrite struct {
	db, table string
	sink      relation.Sink
}

// is reports whether the write is of a table; each branch is a table of its own here.
func (w *pendingWrite) is(db, table string) bool {
	return w.db == db && strings.EqualFold(w.table, table)
}

// write keeps a sink until the transaction ends.
func (t *Transaction) write(db, table string, sink relation.Sink) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.writes = append(t.writes, pendingWrite{db, table, sink})
}

func (t *Transaction) hasWrites() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.writes) > 0
}

// wrote reports whether a table has rows that wait for COMMIT.
func (t *Transaction) wrote(db, table string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.ContainsFunc(t.writes, func(w pendingWrite) bool { return w.is(db, table) })
}

func (t *Transaction) takeWrites() []pendingWrite {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := t.writes
	t.writes = nil
	return out
}

// commitWrites publishes what waits: statement by statement within a table, the tables in the order of their names.
func (t *Transaction) commitWrites(ctx *sql.Context) error {
	writes := t.takeWrites()
	slices.SortStableFunc(writes, func(a, b pendingWrite) int {
		return cmp.Or(cmp.Compare(a.db, b.db), cmp.Compare(a.table, b.table))
	})
	for i, w := range writes {
		if _, err := w.sink.Commit(ctx); err != nil {
			for _, rest := range writes[i+1:] {
				rest.sink.Abort()
			}
			if i > 0 {
				return errs.New(errs.ClassOf(err), "table %s.%s: %w (the writes of this transaction to tables before it in the order of names are committed)", w.db, w.table, err)
			}
			return err
		}
	}
	return nil
}

func (t *Transaction) abortWrites() {
	for _, w := range t.takeWrites() {
		w.sink.Abort()
	}
}
