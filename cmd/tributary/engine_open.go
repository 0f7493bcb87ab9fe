package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
)

// engineServer is what the commands need of a server.
type engineServer interface {
	// Serve blocks until ctx ends, lets running statements finish, and returns nil then.
	Serve(ctx context.Context) error
	// Addr is the address the server listens on.
	Addr() net.Addr
}

// engineOptions say how to open a server.
type engineOptions struct {
	Warehouse    string
	Listen       string
	Socket       string
	User         string
	PasswordFile string
	UsersFile    string
	TLSCert      string
	TLSKey       string
	ReadOnly     bool
	TimeZone     string
	Log          *slog.Logger
}

// openEngine opens a server; tests put their own in its place.
var openEngine = func(context.Context, engineOptions) (engineServer, error) {
	return nil, errors.New("this build contains no server")
}
