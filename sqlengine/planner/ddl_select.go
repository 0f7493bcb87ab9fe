package planner

import (
	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/sqlengine/dialect"
	"github.com/tributarydb/tributary/storage/errs"
)

// createTableAs is CREATE TABLE … AS SELECT.
func (e *Engine) createTableAs(dialect.CreateTable, []sql.Expression) (sql.Node, error) {
	return nil, errs.Unsupportedf("CREATE TABLE … AS SELECT")
}
