package planner

import (
	"sort"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/storage/errs"
)

// Provider is go-mysql-server's view of a Catalog.
type Provider struct {
	catalog   Catalog
	virtual   map[string]sql.Database
	functions map[string]sql.Function
	engine    *Engine
}

var (
	_ sql.DatabaseProvider = (*Provider)(nil)
	_ sql.FunctionProvider = (*Provider)(nil)
)

func newProvider(c Catalog) *Provider {
	return &Provider{catalog: c, virtual: map[string]sql.Database{}, functions: map[string]sql.Function{}}
}

// addVirtual adds a database beside the catalog's; it is found by name in any case.
func (p *Provider) addVirtual(db sql.Database) { p.virtual[strings.ToLower(db.Name())] = db }

// find returns the catalog's spelling of a database name: the exact match, else the only one that
// differs in case (go-mysql-server asks in lower case at times).
func (p *Provider) find(ctx *sql.Context, name string) (string, bool, error) {
	names, err := p.databaseNames(ctx)
	if err != nil {
		return "", false, err
	}
	found := ""
	for _, n := range names {
		if n == name {
			return n, true, nil
		}
		if strings.EqualFold(n, name) {
			if found != "" {
				return "", false, nil
			}
			found = n
		}
	}
	return found, found != "", nil
}

// databaseNames lists the catalog's databases, once per transaction.
func (p *Provider) databaseNames(ctx *sql.Context) ([]string, error) {
	tx, _ := ctx.GetTransaction().(*Transaction)
	if tx == nil {
		return p.catalog.Databases(ctx)
	}
	tx.mu.Lock()
	names := tx.databases
	tx.mu.Unlock()
	if names != nil {
		return names, nil
	}
	names, err := p.catalog.Databases(ctx)
	if err != nil {
		return nil, err
	}
	tx.mu.Lock()
	tx.databases = names
	tx.mu.Unlock()
	return names, nil
}

// Database implements sql.DatabaseProvider.
func (p *Provider) Database(ctx *sql.Context, name string) (sql.Database, error) {
	n, ok, err := p.find(ctx, name)
	switch {
	case err != nil:
		return nil, err
	case ok:
		return &Database{name: n, catalog: p.catalog}, nil
	}
	if db, ok := p.virtual[strings.ToLower(name)]; ok {
		return db, nil
	}
	if strings.EqualFold(name, SystemDatabase) {
		return &Database{name: SystemDatabase, catalog: p.catalog}, nil
	}
	return nil, sql.ErrDatabaseNotFound.New(name)
}

// HasDatabase implements sql.DatabaseProvider.
func (p *Provider) HasDatabase(ctx *sql.Context, name string) bool {
	_, err := p.Database(ctx, name)
	return err == nil
}

// AllDatabases implements sql.DatabaseProvider: what SHOW DATABASES lists. The
// system database is found by name only, as in Paimon.
func (p *Provider) AllDatabases(ctx *sql.Context) []sql.Database {
	var out []sql.Database
	names, err := p.databaseNames(ctx)
	if err != nil {
		ctx.Warn(warnCodeUnknown, "databases cannot be listed: %s", err)
	}
	for _, n := range names {
		out = append(out, &Database{name: n, catalog: p.catalog})
	}
	for _, db := range p.virtual {
		out = append(out, db)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name() < out[j].Name() })
	return out
}

// Function implements sql.FunctionProvider; it is asked before the built-in functions.
func (p *Provider) Function(_ *sql.Context, name string) (sql.Function, bool) {
	f, ok := p.functions[strings.ToLower(name)]
	return f, ok
}

// WithFunctions implements sql.FunctionProvider.
func (p *Provider) WithFunctions(fns ...sql.Function) sql.FunctionProvider {
	q := &Provider{catalog: p.catalog, virtual: p.virtual, functions: map[string]sql.Function{}, engine: p.engine}
	q.register(fns...)
	return q
}

func (p *Provider) register(fns ...sql.Function) {
	for _, f := range fns {
		p.functions[strings.ToLower(f.FunctionName())] = f
	}
}

// warnCodeUnknown is MySQL's ER_UNKNOWN_ERROR.
const warnCodeUnknown = 1105

// isMissing reports whether err says that a database or table does not exist.
func isMissing(err error) bool { return errs.Is(err, errs.NotFound) }
