//go:build deps

package tributary

import (
	_ "github.com/dolthub/go-mysql-server/server"
)
