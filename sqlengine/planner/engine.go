package planner

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/rowexec"

	"github.com/tributarydb/tributary/sqlengine/dialect"
)

// Options make an Engine.
type Options struct {
	// Catalog finds databases and tables. Required.
	Catalog Catalog
	// ReadOnly refuses every statement that changes something, as --read-only does.
	ReadOnly bool
	// SystemZone is what time_zone = SYSTEM means; nil is UTC.
	SystemZone *time.Location
	// Variables keeps what SET PERSIST stores; nil keeps it while the server runs.
	Variables VariableStore
	// Replace lets the vector executor take over a statement's analysed plan, whose field indexes are final,
	// before tables are wrapped for progress. It returns n itself where it has nothing better; nil is no executor.
	// It is called for the statement, and for each arm of a UNION on its own before.
	Replace func(ctx *sql.Context, n sql.Node) (sql.Node, error)
	// MaxConnections is what max_connections says; 0 leaves go-mysql-server's value.
	MaxConnections int
	// Log receives what cannot be told to a client; nil discards.
	Log *slog.Logger
}

// Engine plans statements over a Catalog. Its Engine field is go-mysql-server's.
type Engine struct {
	*sqle.Engine
	Provider *Provider

	catalog   Catalog
	readOnly  bool
	replace   func(*sql.Context, sql.Node) (sql.Node, error)
	persisted *persistedVariables
	upserts   upsertLocks
	progress  progress
	log       *slog.Logger
}

// newMu makes engines one after the other: go-mysql-server keeps some of what it needs in variables of the process.
var (
	newMu            sync.Mutex
	globalParserOnce sync.Once
)

// New makes an engine. The rules of the analyzer, the parser and the system
// variables of go-mysql-server are of the whole process: all engines of a process share them.
func New(o Options) (*Engine, error) {
	if o.Catalog == nil {
		return nil, fmt.Errorf("planner: no catalog")
	}
	persisted, err := newPersisted(o.Variables)
	if err != nil {
		return nil, fmt.Errorf("variables of SET PERSIST: %w", err)
	}
	newMu.Lock()
	defer newMu.Unlock()
	guardStatusVariables()
	operate()
	if o.SystemZone != nil {
		SetSystemZone(o.SystemZone)
	}
	if err := defineVariables(o, persisted.values); err != nil {
		return nil, err
	}
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	e := &Engine{catalog: o.Catalog, readOnly: o.ReadOnly, replace: o.Replace, persisted: persisted, log: log}
	e.Provider = newProvider(o.Catalog)
	e.Provider.engine = e
	e.Provider.register(functions()...)
	e.Provider.register(wholeFunctions()...)

	parser := &parser{Parser: dialect.NewParser(dialect.Options{Plan: e.planStatement}), readOnly: o.ReadOnly}
	// Engines of one process share this parser where go-mysql-server asks for one
	// without an engine; each has its own besides.
	globalParserOnce.Do(func() { sql.GlobalParser = parser })
	a := analyzer.NewBuilder(e.Provider).Build()
	a.Parser = parser
	a.Catalog.InfoSchema = newVirtualDatabase(e, sql.InformationSchemaDatabaseName, a.Catalog.InfoSchema, informationTables()...)
	e.Provider.addVirtual(newVirtualDatabase(e, performanceDatabase, nil, performanceTables()...))
	e.Provider.addVirtual(newVirtualDatabase(e, mysqlDatabase, nil, mysqlTables()...))
	override := &execBuilder{engine: e}
	override.base = rowexec.NewOverrideBuilder(override)
	a.ExecBuilder = override.base
	e.Engine = sqle.New(a, &sqle.Config{IsReadOnly: o.ReadOnly})
	e.Engine.Parser = parser
	return e, nil
}
