package planner

import (
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/types"

	"github.com/tributarydb/tributary/storage/errs"
)

// BackgroundCatalog is a Catalog that works beside the statements.
type BackgroundCatalog interface {
	Catalog
	// BackgroundWork lists what runs and what waits.
	BackgroundWork() []BackgroundWork
	// PauseCompactions lets no compaction begin, or lets them begin again. errs.Unsupported where the statements that
	// write run them.
	PauseCompactions(pause bool) error
}

// BackgroundWork is one piece of work that no statement waits for.
type BackgroundWork struct {
	// ID numbers the pieces of a server from 1 on.
	ID int64
	// Database is where it works, Info says on what, State how far it is.
	Database, Info, State string
	// Since is when it began, or was asked for.
	Since time.Time
}

// What lists of processes show of background work, as MySQL shows threads of its own.
const (
	backgroundUser    = "system user"
	backgroundCommand = "Daemon"
	// backgroundID is added to the numbers of pieces of work: beyond the ids of connections.
	backgroundID = 1 << 32
)

// compactionVariable pauses the compactions that no statement waits for.
const compactionVariable = "tributary_compaction"

// Values of the variable.
const (
	compactionRunning = "running"
	compactionPaused  = "paused"
)

// defineCompaction makes the system variable.
func defineCompaction() sql.SystemVariable {
	v := define(compactionVariable, sql.SystemVariableScope_Global, true, gms.NewSystemEnumType(compactionVariable, compactionRunning, compactionPaused), compactionRunning)
	v.SetVarHintApplies = false
	v.NotifyChanged = func(ctx *sql.Context, _ sql.SystemVariableScope, v sql.SystemVarValue) error {
		if ctx == nil {
			return nil
		}
		s, ok := ctx.Session.(*Session)
		if !ok || s.engine == nil {
			return nil
		}
		c, ok := s.engine.catalog.(BackgroundCatalog)
		if !ok {
			return errs.Unsupportedf("there are no compactions beside statements here")
		}
		return c.PauseCompactions(v.Val == compactionPaused)
	}
	return v
}

// processRow is a line of a list of processes; nil cells are NULL.
type processRow struct {
	id         int64
	user, host string
	db         any
	command    string
	seconds    int64
	state      string
	info       any
	background bool
}

// processRows lists the connections, then the background work.
func (e *Engine) processRows(ctx *sql.Context) []processRow {
	var rows []processRow
	for _, p := range processes(ctx) {
		rows = append(rows, processRow{id: int64(p.Connection), user: p.User, host: p.Host, db: textOrNull(p.Database), command: string(p.Command),
			seconds: int64(p.Seconds()), state: e.stateOf(&p), info: textOrNull(p.Query)})
	}
	c, ok := e.catalog.(BackgroundCatalog)
	if !ok {
		return rows
	}
	for _, w := range c.BackgroundWork() {
		rows = append(rows, processRow{id: backgroundID + w.ID, user: backgroundUser, db: textOrNull(w.Database), command: backgroundCommand,
			seconds: int64(time.Since(w.Since).Seconds()), state: w.State, info: textOrNull(w.Info), background: true})
	}
	return rows
}
