package planner

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
)

// functions are the functions that override or complete go-mysql-server's.
func functions() []sql.Function {
	return slices.Concat([]sql.Function{tunnelFunction(), decimalCastFunction()}, numberFunctions(), choiceFunctions(), textFunctions(), timeFunctions(), regexpFunctions())
}
