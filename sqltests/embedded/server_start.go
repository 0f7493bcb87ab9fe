package embedded

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/tributarydb/tributary/sqlengine"
	"github.com/tributarydb/tributary/sqltests/runner"
)

// user is the only user of an embedded server.
const user = "root"

// Server is a running server.
type Server struct {
	// Target is where to connect to. Its Database is empty.
	Target runner.Target

	cancel context.CancelFunc
	done   chan error
}

// Start opens a server with the options, which need a Warehouse only: address,
// user and password are chosen here. Without a Log nothing is logged. The
// server ends with ctx or Stop.
func Start(ctx context.Context, opts sqlengine.Options) (*Server, error) {
	secrets, err := os.MkdirTemp("", "tributary-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(secrets)
	password := rand.Text()
	opts.Listen, opts.User, opts.PasswordFile = "127.0.0.1:0", user, filepath.Join(secrets, "password")
	if err := os.WriteFile(opts.PasswordFile, []byte(password+"\n"), 0o600); err != nil {
		return nil, err
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	ctx, cancel := context.WithCancel(ctx)
	engine, err := sqlengine.Open(ctx, opts)
	if err != nil {
		cancel()
		return nil, err
	}
	s := &Server{
		Target: runner.Target{Network: "tcp", Address: engine.Addr().String(), User: user, Password: password},
		cancel: cancel,
		done:   make(chan error, 1),
	}
	go func() { s.done <- engine.Serve(ctx) }()
	return s, nil
}

// Stop ends the server, waits for it and returns its error.
func (s *Server) Stop() error {
	s.cancel()
	return <-s.done
}
