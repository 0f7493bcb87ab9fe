package planner

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
)

// functions are the functions that override or complete go-mysql-server's.
func functions() []sql.Function {
	return slices.Concat([]sql.Function{tunnelFunction(), decimalCastFunction(), strToDateFunction(), dayFunction(), hexFunction()}, numberFunctions(), finiteFunctions(), choiceFunctions(), textFunctions(), timeFunctions(), regexpFunctions())
}
