package planner

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/sqlengine/errmap"
)

// A transaction that has written nothing has nothing to save or to undo: its savepoints are names.

// CreateSavepoint implements sql.TransactionSession. A savepoint replaces an older one of its name. Outside a transaction it is gone
// with its statement, as in MySQL.
func (s *Session) CreateSavepoint(_ *sql.Context, tx sql.Transaction, name string) error {
	if t, ok := tx.(*Transaction); ok {
		name = strings.ToLower(name)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.savepoints = append(slices.DeleteFunc(t.savepoints, func(n string) bool { return n == name }), name)
	}
	return nil
}

// RollbackToSavepoint implements sql.TransactionSession: it forgets the savepoints that came later.
func (s *Session) RollbackToSavepoint(_ *sql.Context, tx sql.Transaction, name string) error {
	return cutSavepoints(tx, name, 1)
}

// ReleaseSavepoint implements sql.TransactionSession: it forgets the savepoint and those that came later.
func (s *Session) ReleaseSavepoint(_ *sql.Context, tx sql.Transaction, name string) error {
	return cutSavepoints(tx, name, 0)
}

// cutSavepoints keeps the savepoints before name, and name itself where keep is 1.
func cutSavepoints(tx sql.Transaction, name string, keep int) error {
	if t, ok := tx.(*Transaction); ok {
		t.mu.Lock()
		defer t.mu.Unlock()
		if i := slices.Index(t.savepoints, strings.ToLower(name)); i >= 0 {
			t.savepoints = t.savepoints[:i+keep]
			return nil
		}
	}
	return errmap.New(1305, "42000", "SAVEPOINT %s does not exist", name)
}
