package planner

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/sqlengine/dialect"
	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/storage/errs"
)

// createDatabase is CREATE DATABASE; as in MySQL one row is affected.
func (e *Engine) createDatabase(ctx *sql.Context, s dialect.CreateDatabase) (uint64, error) {
	w, err := e.writable()
	if err != nil {
		return 0, err
	}
	if s.IfNotExists && e.Provider.HasDatabase(ctx, s.Database) { // information_schema and sys are there, too
		if _, found, err := e.Provider.find(ctx, s.Database); err != nil || !found {
			return 0, e.ordinaryDatabase(ctx, s.Database)
		}
	}
	if err := e.ordinaryDatabase(ctx, s.Database); err != nil {
		return 0, err
	}
	err = w.CreateDatabase(ctx, s.Database)
	if errs.Is(err, errs.Exists) {
		message := "Can't create database '" + s.Database + "'; database exists"
		if s.IfNotExists {
			note(ctx, 1007, message)
			return 1, nil
		}
		return 0, errmap.Wrap(err, 1007, "HY000", "%s", message)
	}
	if err != nil {
		return 0, err
	}
	warnIgnored(ctx, s.Ignored)
	return 1, nil
}

// dropDatabase is DROP DATABASE; the tables are the rows affected.
func (e *Engine) dropDatabase(ctx *sql.Context, s dialect.DropDatabase) (uint64, error) {
	w, err := e.writable()
	if err != nil {
		return 0, err
	}
	if err := e.ordinaryDatabase(ctx, s.Database); err != nil {
		return 0, err
	}
	missing := "Can't drop database '" + s.Database + "'; database doesn't exist"
	db, found, err := e.Provider.find(ctx, s.Database)
	if err != nil {
		return 0, err
	}
	if !found {
		if s.IfExists {
			note(ctx, 1008, missing)
			return 0, nil
		}
		return 0, errmap.New(1008, "HY000", "%s", missing)
	}
	tables, unreadable, err := w.TableNames(ctx, db)
	if err != nil && !isMissing(err) {
		return 0, err
	}
	n := len(tables) + len(unreadable)
	if s.Restrict && n > 0 {
		return 0, errmap.New(1010, "HY000", "Database %s is not empty.", db)
	}
	if err := w.DropDatabase(ctx, db, !s.Restrict); err != nil {
		if isMissing(err) {
			return 0, errmap.Wrap(err, 1008, "HY000", "%s", missing)
		}
		return 0, err
	}
	if strings.EqualFold(ctx.GetCurrentDatabase(), db) {
		ctx.SetCurrentDatabase("")
	}
	return uint64(n), nil
}
