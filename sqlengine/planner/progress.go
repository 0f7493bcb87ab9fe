package planner

import (
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
)

// stateRunning is the state of statements that say nothing of how far they are.
const stateRunning = "running"

// progress keeps what the running statements say of how far they are, by connection: the State of SHOW PROCESSLIST.
type progress struct {
	mu    sync.Mutex
	texts map[uint32]string
}

// set notes what a connection's statement says; "" ends it.
func (p *progress) set(id uint32, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if text == "" {
		delete(p.texts, id)
		return
	}
	if p.texts == nil {
		p.texts = map[uint32]string{}
	}
	p.texts[id] = text
}

// report returns a function that notes how far a statement is, and one that ends it.
func (e *Engine) report(ctx *sql.Context) (say func(text string), end func()) {
	id := ctx.Session.ID()
	return func(text string) { e.progress.set(id, text) }, func() { e.progress.set(id, "") }
}

// stateOf is the State of a connection.
func (e *Engine) stateOf(p *sql.Process) string {
	if p.Command != sql.ProcessCommandQuery {
		return ""
	}
	e.progress.mu.Lock()
	defer e.progress.mu.Unlock()
	if t := e.progress.texts[p.Connection]; t != "" {
		return t
	}
	return stateRunning
}

// showProcessList is SHOW PROCESSLIST.
func (e *Engine) showProcessList(sch sql.Schema) *rowsNode {
	return &rowsNode{name: "ShowProcessList", sch: sch, rows: func(ctx *sql.Context) ([]sql.Row, error) {
		var rows []sql.Row
		for _, p := range e.processRows(ctx) {
			rows = append(rows, sql.Row{p.id, p.user, p.host, p.db, p.command, p.seconds, p.state, p.info})
		}
		return rows, nil
	}}
}

// textOrNull is NULL for an empty text.
func textOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
