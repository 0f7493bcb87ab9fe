package main

import (
	"context"
	"net"

	"github.com/tributarydb/tributary/sqlengine"
)

// engineServer is what "tributary serve" needs of a server.
type engineServer interface {
	// Serve blocks until ctx ends, lets running statements finish, and returns nil then.
	Serve(ctx context.Context) error
	// Addr is the address the server listens on.
	Addr() net.Addr
}

// openEngine opens a server; tests of the command line put their own in its place.
var openEngine = func(ctx context.Context, o sqlengine.Options) (engineServer, error) {
	return sqlengine.Open(ctx, o)
}
