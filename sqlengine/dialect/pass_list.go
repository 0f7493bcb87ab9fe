package dialect

import (
	"errors"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// runPasses applies all AST passes in their order.
func runPasses(stmt sqlparser.Statement, mode Mode) (sqlparser.Statement, error) {
	var err error
	if stmt, err = ResolveMarkers(stmt); err != nil {
		return nil, err
	}
	for _, pass := range []func(sqlparser.Statement) (sqlparser.Statement, error){
		ExpandWindows, NormalizeQueries, OperatorsToFunctions, TunnelAggregates,
	} {
		if stmt, err = pass(stmt); err != nil {
			return nil, err
		}
	}
	return stmt, nil
}

var errMarker = errors.New("dialect: marker function with wrong arguments")
