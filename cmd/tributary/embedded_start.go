package main

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/tributarydb/tributary/sqltests/runner"
)

// embeddedUser is the only user of a server inside this process.
const embeddedUser = "root"

// startEmbedded starts a server over the warehouse inside this process, on a
// free port of the loopback interface and with a password nobody else knows.
// stop ends it and returns what Serve returned.
func startEmbedded(ctx context.Context, warehouse string, readOnly bool) (runner.Target, func() error, error) {
	secrets, err := os.MkdirTemp("", "tributary-*")
	if err != nil {
		return runner.Target{}, nil, err
	}
	password := rand.Text()
	file := filepath.Join(secrets, "password")
	if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
		os.RemoveAll(secrets)
		return runner.Target{}, nil, err
	}
	server, err := openEngine(ctx, engineOptions{
		Warehouse:    warehouse,
		Listen:       "127.0.0.1:0",
		User:         embeddedUser,
		PasswordFile: file,
		ReadOnly:     readOnly,
		Log:          slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	os.RemoveAll(secrets)
	if err != nil {
		return runner.Target{}, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx) }()
	stop := func() error {
		cancel()
		return <-done
	}
	return runner.Target{Address: server.Addr().String(), User: embeddedUser, Password: password}, stop, nil
}
