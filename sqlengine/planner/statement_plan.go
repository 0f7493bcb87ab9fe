package planner

import (
	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/sqlengine/dialect"
)

// planStatement gives a statement of package dialect its node; nil where it is not served.
func (e *Engine) planStatement(stmt dialect.Statement, children []sql.Expression) (sql.Node, error) {
	return nil, nil
}
