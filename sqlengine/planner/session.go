package planner

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/storage/relation"
)

// Transaction pins the relations that its statements opened.
type Transaction struct {
	readOnly  bool
	mu        sync.Mutex
	pinned    map[string]relation.Relation
	databases []string
	// branches are the answers of BranchCatalog.HasBranch.
	branches map[string]bool
	// savepoints are in the order in which they were made.
	savepoints []savepoint
	// writes are the rows that wait for COMMIT.
	writes []*pendingWrite
	// failed: a statement failed that cannot be undone alone; everything was thrown away.
	failed bool
}

// String implements sql.Transaction.
func (t *Transaction) String() string { return "transaction" }

// IsReadOnly implements sql.Transaction.
func (t *Transaction) IsReadOnly() bool { return t.readOnly }

// Used reports whether a statement of the transaction has opened a table: what package wire tells clients of.
func (t *Transaction) Used() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.pinned)+len(t.writes) > 0
}

func (t *Transaction) relation(key string) (relation.Relation, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	rel, ok := t.pinned[key]
	return rel, ok
}

// pin keeps rel unless another goroutine pinned one first; it returns the pinned one.
func (t *Transaction) pin(key string, rel relation.Relation) relation.Relation {
	t.mu.Lock()
	defer t.mu.Unlock()
	if old, ok := t.pinned[key]; ok {
		return old
	}
	t.pinned[key] = rel
	return rel
}

// Session is the session of one connection.
type Session struct {
	*sql.BaseSession
	persisted *persistedVariables
	// engine is that of the session's server; nil in tests without one.
	engine *Engine
	// diagnosed and diagnosedErrors count the warnings and errors of the last statement, for @@warning_count.
	diagnosed, diagnosedErrors int
}

var (
	_ sql.TransactionSession    = (*Session)(nil)
	_ sql.PersistableSession    = (*Session)(nil)
	_ sql.LifecycleAwareSession = (*Session)(nil)
)

func newSession(base *sql.BaseSession, p *persistedVariables) *Session {
	s := &Session{BaseSession: base, persisted: p}
	return s
}

// NewSession makes the session of a connection: wire's session builder.
func (e *Engine) NewSession(ctx context.Context, c *mysql.Conn, addr string) (sql.Session, error) {
	base, err := sql.BaseSessionFromConnection(ctx, c, addr)
	if err != nil {
		return nil, err
	}
	s := newSession(base, e.persisted)
	s.engine = e
	return s, nil
}

// StartTransaction implements sql.TransactionSession.
func (s *Session) StartTransaction(_ *sql.Context, c sql.TransactionCharacteristic) (sql.Transaction, error) {
	return &Transaction{readOnly: c == sql.ReadOnly, pinned: map[string]relation.Relation{}}, nil
}

// CommitTransaction implements sql.TransactionSession.
func (s *Session) CommitTransaction(ctx *sql.Context, tx sql.Transaction) error {
	t, ok := tx.(*Transaction)
	if !ok || t == nil {
		return nil
	}
	err := t.commitWrites(ctx)
	if err != nil {
		// As in MySQL, a transaction that cannot be committed is over.
		ctx.SetTransaction(nil)
		ctx.SetIgnoreAutoCommit(false)
	}
	return err
}

// Rollback implements sql.TransactionSession.
func (s *Session) Rollback(_ *sql.Context, tx sql.Transaction) error {
	if t, ok := tx.(*Transaction); ok && t != nil {
		t.abortWrites()
	}
	return nil
}

// CommandBegin implements sql.LifecycleAwareSession.
func (s *Session) CommandBegin() error {
	s.countDiagnostics()
	return nil
}

// CommandEnd implements sql.LifecycleAwareSession. go-mysql-server leaves the implicit transaction of a
// statement that failed in analysis open; the next statement must not see its snapshots.
func (s *Session) CommandEnd() {
	if s.GetIgnoreAutoCommit() {
		return
	}
	if v, err := s.GetSessionVariable(nil, "autocommit"); err == nil && isOn(v) {
		if t, ok := s.GetTransaction().(*Transaction); ok && t != nil {
			t.abortWrites()
		}
		s.SetTransaction(nil)
	}
}

// SetSessionVariable implements sql.Session. As in MySQL, turning autocommit on commits what is open.
func (s *Session) SetSessionVariable(ctx *sql.Context, name string, value any) error {
	was, err := s.GetSessionVariable(ctx, name)
	if err != nil {
		return err
	}
	if t, ok := s.GetTransaction().(*Transaction); ok && t != nil && strings.EqualFold(name, branchVariable) && branchOf(was) != branchOf(value) && t.hasWrites() {
		return errmap.New(1766, "HY000", "The system variable %s cannot be set when there is an ongoing transaction.", branchVariable)
	}
	if value == nil && strings.EqualFold(name, branchVariable) {
		return wrongBranch("NULL")
	}
	if err := s.BaseSession.SetSessionVariable(ctx, name, value); err != nil || !strings.EqualFold(name, "autocommit") {
		return err
	}
	is, err := s.GetSessionVariable(ctx, name)
	if err != nil || isOn(was) || !isOn(is) {
		return err
	}
	if t, ok := s.GetTransaction().(*Transaction); ok && t != nil {
		return s.CommitTransaction(ctx, t)
	}
	return nil
}

// ValidateSession is called before each statement: it applies SET timestamp, which fixes what NOW() says.
func (s *Session) ValidateSession(ctx *sql.Context) error {
	v, err := s.BaseSession.GetSessionVariable(ctx, "timestamp")
	if f, ok := v.(float64); err == nil && ok && f > 0 {
		ctx.SetQueryTime(time.UnixMicro(int64(f * 1e6)))
	}
	return nil
}

// GetSessionVariable gives what a stored value cannot say: @@timestamp follows the clock until it is set, and character_set_results
// may be NULL.
func (s *Session) GetSessionVariable(ctx *sql.Context, name string) (any, error) {
	if v, ok := s.stateVariable(name); ok {
		return v, nil
	}
	v, err := s.BaseSession.GetSessionVariable(ctx, name)
	if err != nil {
		return nil, err
	}
	switch strings.ToLower(name) {
	case "timestamp":
		if f, ok := v.(float64); ok && f == 0 {
			return float64(time.Now().UnixMicro()) / 1e6, nil
		}
	case "character_set_results":
		if v == "" {
			return nil, nil
		}
	}
	return v, nil
}

// SessionEnd implements sql.LifecycleAwareSession: what was not committed is thrown away.
func (s *Session) SessionEnd() {
	if t, ok := s.GetTransaction().(*Transaction); ok && t != nil {
		t.abortWrites()
	}
}

func isOn(v any) bool {
	switch v := v.(type) {
	case int8:
		return v != 0
	case int64:
		return v != 0
	case bool:
		return v
	}
	return false
}

// persistedVariables holds what SET PERSIST stored. It lives as long as the
// server: where it is to be kept, a Store is given.
type persistedVariables struct {
	mu     sync.Mutex
	values map[string]any
	store  VariableStore
}

// VariableStore keeps the variables of SET PERSIST over restarts.
type VariableStore interface {
	Load() (map[string]any, error)
	Save(map[string]any) error
}

func newPersisted(store VariableStore) (*persistedVariables, error) {
	p := &persistedVariables{values: map[string]any{}, store: store}
	if store == nil {
		return p, nil
	}
	v, err := store.Load()
	if err != nil {
		return nil, err
	}
	maps.Copy(p.values, v)
	return p, nil
}

func (p *persistedVariables) change(f func(map[string]any)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := maps.Clone(p.values)
	f(next)
	if p.store != nil {
		if err := p.store.Save(next); err != nil {
			return err
		}
	}
	p.values = next
	return nil
}

// PersistGlobal implements sql.PersistableSession.
func (s *Session) PersistGlobal(_ *sql.Context, name string, value any) error {
	if _, _, ok := sql.SystemVariables.GetGlobal(name); !ok {
		return sql.ErrUnknownSystemVariable.New(name)
	}
	return s.persisted.change(func(m map[string]any) { m[name] = value })
}

// RemovePersistedGlobal implements sql.PersistableSession.
func (s *Session) RemovePersistedGlobal(name string) error {
	return s.persisted.change(func(m map[string]any) { delete(m, name) })
}

// RemoveAllPersistedGlobals implements sql.PersistableSession.
func (s *Session) RemoveAllPersistedGlobals() error {
	return s.persisted.change(func(m map[string]any) { clear(m) })
}

// GetPersistedValue implements sql.PersistableSession.
func (s *Session) GetPersistedValue(name string) (any, error) {
	s.persisted.mu.Lock()
	defer s.persisted.mu.Unlock()
	return s.persisted.values[name], nil
}

// PersistedNames lists the variables of SET PERSIST, sorted.
func (s *Session) PersistedNames() []string {
	s.persisted.mu.Lock()
	defer s.persisted.mu.Unlock()
	return slices.Sorted(maps.Keys(s.persisted.values))
}

// SessionZone returns the zone of @@time_zone; SYSTEM is the server's zone. Never nil.
func SessionZone(ctx *sql.Context) *time.Location {
	v, err := ctx.GetSessionVariable(ctx, "time_zone")
	if err != nil {
		return systemZone()
	}
	name, _ := v.(string)
	loc, err := LoadZone(name)
	if err != nil {
		return systemZone()
	}
	return loc
}
