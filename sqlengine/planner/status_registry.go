package planner

import (
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/variables"
)

// statusRegistry guards go-mysql-server's status variables, which belong to
// the process: every engine that is made resets them while others count.
type statusRegistry struct {
	mu   sync.Mutex
	base sql.StatusVariableRegistry
}

var statusOnce sync.Once

// guardStatusVariables puts the guard in place, once a process.
func guardStatusVariables() {
	statusOnce.Do(func() {
		variables.InitStatusVariables()
		sql.StatusVariables = &statusRegistry{base: sql.StatusVariables}
	})
}

// NewSessionMap implements sql.StatusVariableRegistry.
func (r *statusRegistry) NewSessionMap() map[string]sql.StatusVarValue {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.base.NewSessionMap()
}

// NewGlobalMap implements sql.StatusVariableRegistry.
func (r *statusRegistry) NewGlobalMap() map[string]sql.StatusVarValue {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.base.NewGlobalMap()
}

// GetGlobal implements sql.StatusVariableRegistry.
func (r *statusRegistry) GetGlobal(name string) (sql.StatusVariable, any, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.base.GetGlobal(name)
}

// SetGlobal implements sql.StatusVariableRegistry.
func (r *statusRegistry) SetGlobal(name string, val any) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.base.SetGlobal(name, val)
}

// IncrementGlobal implements sql.StatusVariableRegistry.
func (r *statusRegistry) IncrementGlobal(name string, val int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.base.IncrementGlobal(name, val)
}
