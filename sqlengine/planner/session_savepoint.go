package planner

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/sqlengine/errmap"
)

// savepoint is a name for a point of a transaction: how much it had written.
type savepoint struct {
	name   string // in lower case
	writes int
}

// CreateSavepoint implements sql.TransactionSession. A savepoint replaces an older one of its name. Outside a transaction it is gone
// with its statement, as in MySQL.
func (s *Session) CreateSavepoint(_ *sql.Context, tx sql.Transaction, name string) error {
	if t, ok := tx.(*Transaction); ok {
		name = strings.ToLower(name)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.savepoints = append(slices.DeleteFunc(t.savepoints, func(p savepoint) bool { return p.name == name }), savepoint{name, len(t.writes)})
	}
	return nil
}

// RollbackToSavepoint implements sql.TransactionSession: it throws away what was
// written since, and forgets the savepoints that came later.
func (s *Session) RollbackToSavepoint(_ *sql.Context, tx sql.Transaction, name string) error {
	at, err := cutSavepoints(tx, name, 1)
	if err != nil {
		return err
	}
	t := tx.(*Transaction)
	t.mu.Lock()
	undone := slices.Clone(t.writes[at:])
	t.writes = t.writes[:at]
	t.mu.Unlock()
	for _, w := range undone {
		w.sink.Abort()
	}
	return nil
}

// ReleaseSavepoint implements sql.TransactionSession: it forgets the savepoint and those that came later.
func (s *Session) ReleaseSavepoint(_ *sql.Context, tx sql.Transaction, name string) error {
	_, err := cutSavepoints(tx, name, 0)
	return err
}

// cutSavepoints keeps the savepoints before name, and name itself where keep is
// 1. It returns how much had been written at name.
func cutSavepoints(tx sql.Transaction, name string, keep int) (writes int, err error) {
	if t, ok := tx.(*Transaction); ok {
		t.mu.Lock()
		defer t.mu.Unlock()
		if i := slices.IndexFunc(t.savepoints, func(p savepoint) bool { return p.name == strings.ToLower(name) }); i >= 0 {
			writes = t.savepoints[i].writes
			t.savepoints = t.savepoints[:i+keep]
			return writes, nil
		}
	}
	return 0, errmap.New(1305, "42000", "SAVEPOINT %s does not exist", name)
}
