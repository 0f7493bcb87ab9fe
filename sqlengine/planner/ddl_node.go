package planner

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/types"

	"github.com/tributarydb/tributary/sqlengine/dialect"
	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/storage/errs"
)

// Codes of warnings and notes.
const (
	warnCodeOption = 1478 // ER_ILLEGAL_HA_CREATE_OPTION
	noteNoOption   = 1031 // ER_ILLEGAL_HA
)

// command makes the node of a statement that changes something and answers OK. As in MySQL, such a statement
// commits the transaction before and after.
func (e *Engine) command(name string, run func(ctx *sql.Context) (affected uint64, err error)) sql.Node {
	return &rowsNode{name: name, sch: gms.OkResultSchema, writes: true, rows: func(ctx *sql.Context) ([]sql.Row, error) {
		if err := commitImplicitly(ctx); err != nil {
			return nil, err
		}
		n, err := run(ctx)
		if err != nil {
			return nil, err
		}
		return []sql.Row{{gms.OkResult{RowsAffected: n}}}, nil
	}}
}

// commitImplicitly ends the session's transaction. What is opened afterwards is
// opened anew, so that the statement and those behind it see the change.
func commitImplicitly(ctx *sql.Context) error {
	tx := ctx.GetTransaction()
	if tx != nil {
		if tx.IsReadOnly() && ctx.GetIgnoreAutoCommit() {
			return sql.ErrReadOnlyTransaction.New()
		}
		if ts, ok := ctx.Session.(sql.TransactionSession); ok {
			if err := ts.CommitTransaction(ctx, tx); err != nil {
				return err
			}
		}
	}
	ctx.SetTransaction(nil)
	ctx.SetIgnoreAutoCommit(false)
	return nil
}

// writable returns the catalog for changes.
func (e *Engine) writable() (WritableCatalog, error) {
	w, ok := e.catalog.(WritableCatalog)
	if !ok {
		return nil, errs.ReadOnlyf("this server's catalog is read-only")
	}
	return w, nil
}

// databaseFor returns the catalog's name of the database that a statement changes something in; "" is the current one.
func (e *Engine) databaseFor(ctx *sql.Context, name string) (string, error) {
	if name == "" {
		name = ctx.GetCurrentDatabase()
	}
	if name == "" {
		return "", sql.ErrNoDatabaseSelected.New()
	}
	if err := e.ordinaryDatabase(ctx, name); err != nil {
		return "", err
	}
	found, ok, err := e.Provider.find(ctx, name)
	if err != nil {
		return "", err
	}
	if !ok {
		return "", sql.ErrDatabaseNotFound.New(name)
	}
	return found, nil
}

// ordinaryDatabase refuses the databases that hold metadata.
func (e *Engine) ordinaryDatabase(ctx *sql.Context, name string) error {
	if strings.EqualFold(name, SystemDatabase) {
		return errs.Invalidf("Can't do operation on system database.")
	}
	if _, ok := e.Provider.virtual[strings.ToLower(name)]; ok || strings.EqualFold(name, sql.InformationSchemaDatabaseName) {
		return errmap.New(1044, "42000", "Access denied for user '%s'@'%s' to database '%s'", ctx.Client().User, ctx.Client().Address, name)
	}
	return nil
}

// change resolves the table of a statement that changes it and runs f with it.
func (e *Engine) change(ctx *sql.Context, n dialect.Name, f func(w WritableCatalog, db string) error) error {
	w, err := e.writable()
	if err != nil {
		return err
	}
	db, err := e.databaseFor(ctx, n.DB)
	if err != nil {
		return err
	}
	return f(w, db)
}

// changeBranch is change for what is done to one branch of a table; name is the table's with the session's branch.
func (e *Engine) changeBranch(ctx *sql.Context, n dialect.Name, f func(w WritableCatalog, db, name string) error) error {
	return e.change(ctx, n, func(w WritableCatalog, db string) error {
		at, err := onBranch(ctx, w, db, n.Name, nil)
		if err != nil {
			return err
		}
		if at.lacks != "" {
			return lacksBranch(db, n.Name, at.lacks)
		}
		return f(w, db, at.name)
	})
}

// missingTable gives a table that is missing MySQL's error; other errors stay.
func missingTable(err error, db, name string) error {
	if isMissing(err) && !strings.Contains(name, "$") {
		return errmap.Wrap(err, 1146, "42S02", "Table '%s.%s' doesn't exist", db, name)
	}
	return err
}

// tableExists looks for a table. One that cannot be read is there.
func tableExists(ctx *sql.Context, w WritableCatalog, db, name string) (bool, error) {
	_, err := w.Definition(ctx, db, name)
	switch {
	case isMissing(err):
		return false, nil
	case ctx.Err() != nil:
		return false, ctx.Err()
	}
	return true, nil
}

// note adds a note of MySQL's to the diagnostics.
func note(ctx *sql.Context, code int, message string) {
	ctx.Session.Warn(&sql.Warning{Level: "Note", Code: code, Message: message})
}

// warnIgnored warns of what a statement says in vain.
func warnIgnored(ctx *sql.Context, ignored []string) {
	for _, what := range ignored {
		ctx.Session.Warn(&sql.Warning{Level: "Warning", Code: warnCodeOption,
			Message: "Table storage engine '" + engineName + "' does not support the create option '" + what + "'"})
	}
}
