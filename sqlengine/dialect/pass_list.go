package dialect

import (
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// runPasses applies all AST passes in their order.
func runPasses(stmt sqlparser.Statement, mode Mode) (sqlparser.Statement, error) {
	var err error
	if stmt, err = ResolveMarkers(stmt); err != nil {
		return nil, err
	}
	if mode.OnlyFullGroupBy {
		if err := CheckImplicitGrouping(stmt); err != nil {
			return nil, err
		}
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

// errMarker is for marker functions in other places than those the rewriting puts
// them in: somebody wrote one by hand.
var errMarker = &Error{Number: ErrnoSyntax, State: sqlStateSyntax, Message: "Wrong use of an internal function"}
