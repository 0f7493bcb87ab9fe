package dialect

import "github.com/dolthub/vitess/go/vt/sqlparser"

func expandRollup(q sqlparser.SelectStatement) (sqlparser.SelectStatement, error) { return q, nil }
