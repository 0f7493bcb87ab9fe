package planner

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/storage/errs"
)

// savepoint is a name for a point of a transaction: how much it had written of each table.
type savepoint struct {
	name   string // in lower case
	writes map[*pendingWrite]mark
}

// mark is a point in the rows of a pendingWrite.
type mark struct{ rows, flushes int }

// CreateSavepoint implements sql.TransactionSession. A savepoint replaces an older one of its name. Outside a transaction it is gone
// with its statement, as in MySQL.
func (s *Session) CreateSavepoint(_ *sql.Context, tx sql.Transaction, name string) error {
	if t, ok := tx.(*Transaction); ok {
		name = strings.ToLower(name)
		t.mu.Lock()
		defer t.mu.Unlock()
		point := savepoint{name: name, writes: map[*pendingWrite]mark{}}
		for _, p := range t.writes {
			point.writes[p] = mark{p.staged.rows, p.flushes}
		}
		t.savepoints = append(slices.DeleteFunc(t.savepoints, func(p savepoint) bool { return p.name == name }), point)
	}
	return nil
}

// RollbackToSavepoint implements sql.TransactionSession: it throws away what was
// written since, and forgets the savepoints that came later.
func (s *Session) RollbackToSavepoint(_ *sql.Context, tx sql.Transaction, name string) error {
	point, err := cutSavepoints(tx, name, 1)
	if err != nil {
		return err
	}
	return tx.(*Transaction).undo(point)
}

// undo throws away what was written since a savepoint.
func (t *Transaction) undo(point savepoint) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.writes {
		if m, ok := point.writes[p]; ok && m.flushes != p.flushes {
			return errs.Limitf("more than %d MiB were written to table %s.%s since savepoint %s, and are no longer held in memory: only ROLLBACK undoes them",
				stagedBytes>>20, p.db, p.table, point.name)
		}
	}
	var kept []*pendingWrite
	for _, p := range t.writes {
		m, ok := point.writes[p]
		if !ok {
			p.sink.Abort()
			continue
		}
		p.staged.cut(m.rows)
		kept = append(kept, p)
	}
	t.writes = kept
	return nil
}

// ReleaseSavepoint implements sql.TransactionSession: it forgets the savepoint and those that came later.
func (s *Session) ReleaseSavepoint(_ *sql.Context, tx sql.Transaction, name string) error {
	_, err := cutSavepoints(tx, name, 0)
	return err
}

// cutSavepoints keeps the savepoints before name, and name itself where keep is 1. It returns the savepoint.
func cutSavepoints(tx sql.Transaction, name string, keep int) (savepoint, error) {
	if t, ok := tx.(*Transaction); ok {
		t.mu.Lock()
		defer t.mu.Unlock()
		if i := slices.IndexFunc(t.savepoints, func(p savepoint) bool { return p.name == strings.ToLower(name) }); i >= 0 {
			point := t.savepoints[i]
			t.savepoints = t.savepoints[:i+keep]
			return point, nil
		}
	}
	return savepoint{}, errmap.New(1305, "42000", "SAVEPOINT %s does not exist", name)
}
