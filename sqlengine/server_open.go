package sqlengine

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"

	"github.com/BurntSushi/toml"

	"github.com/tributarydb/tributary/sqlengine/exec"
	"github.com/tributarydb/tributary/sqlengine/planner"
	"github.com/tributarydb/tributary/sqlengine/wire"
)

// Options say how to open a server.
type Options struct {
	// Warehouse is the folder of the Paimon warehouse. Ignored where Catalog is set.
	Warehouse string
	// Catalog replaces the warehouse's catalog, for tests.
	Catalog planner.Catalog
	// Listen is the TCP address, "host:port"; port 0 takes a free one. Empty means no TCP.
	Listen string
	// Socket is the path of a unix socket; empty means none.
	Socket string
	// User and PasswordFile (its first line is the password) are the only account. Without a password file, User may come
	// without a password, from this machine only.
	User         string
	PasswordFile string
	// UsersFile replaces User and PasswordFile: a TOML file of [[user]] tables with name, password and local.
	UsersFile string
	// TLSCert and TLSKey are PEM files; both or none.
	TLSCert, TLSKey string
	// ReadOnly refuses every statement that writes.
	ReadOnly bool
	// TimeZone is what time_zone = SYSTEM means; empty is UTC.
	TimeZone string
	// QueryMemory bounds the memory that the groups of one query take, in bytes; 0 is exec.DefaultMemory.
	QueryMemory int64
	// CompactionWorkers is how many compactions that no statement waits for run at a time, beside the statements. With 0 the
	// statement that commits runs them before it ends: what it leaves does not depend on the time.
	CompactionWorkers int
	// Log receives the server's log; nil discards it.
	Log *slog.Logger
}

// DefaultCompactionWorkers is what `tributary serve` runs.
const DefaultCompactionWorkers = 2

// Server is an open server.
type Server struct {
	engine *planner.Engine
	wire   *wire.Server
	close  func() error
}

// Open prepares a server and its listeners: once it returns, clients can connect (and wait for Serve).
func Open(ctx context.Context, o Options) (*Server, error) {
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	forwardEngineLog(log)
	zoneName := o.TimeZone
	if zoneName == "" {
		zoneName = "UTC"
	}
	zone, err := planner.LoadZone(zoneName)
	if err != nil {
		return nil, fmt.Errorf("time zone: %w", err)
	}
	accounts, err := openAccounts(o)
	if err != nil {
		return nil, err
	}
	tlsConfig, err := openTLS(o)
	if err != nil {
		return nil, err
	}
	catalog, closeCatalog := o.Catalog, func() error { return nil }
	if catalog == nil {
		if catalog, closeCatalog, err = openWarehouse(ctx, o.Warehouse, o.CompactionWorkers, log); err != nil {
			return nil, err
		}
	}
	vectors := exec.New(exec.Options{Memory: o.QueryMemory})
	engine, err := planner.New(planner.Options{Catalog: catalog, ReadOnly: o.ReadOnly, SystemZone: zone, MaxConnections: wire.DefaultMaxConnections,
		Log: log, Replace: vectors.Replace})
	if err != nil {
		return nil, errors.Join(err, closeCatalog())
	}
	vectors.Bind(engine)
	w, err := wire.New(wire.Config{
		Engine:         engine.Engine,
		Repeat:         engine.Repeat,
		SessionBuilder: engine.NewSession,
		Authenticator:  accounts,
		MaxConnections: wire.DefaultMaxConnections,
		Addr:           o.Listen,
		Socket:         o.Socket,
		TLSConfig:      tlsConfig,
		Version:        planner.Version,
		Logger:         log,
		Location:       zone,
		LoadZone:       planner.LoadZone,
	})
	if err != nil {
		return nil, errors.Join(err, engine.Close(), closeCatalog())
	}
	return &Server{engine: engine, wire: w, close: closeCatalog}, nil
}

// Serve answers clients until ctx ends and lets running statements finish; it returns nil then.
func (s *Server) Serve(ctx context.Context) error {
	err := s.wire.Serve(ctx)
	closing := s.engine.Close()
	if errors.Is(closing, context.Canceled) { // its background threads say how they ended
		closing = nil
	}
	return errors.Join(err, closing, s.close())
}

// Addr is the TCP address, or the socket's where there is no TCP.
func (s *Server) Addr() net.Addr { return s.wire.Addr() }

// usersFile is the form of Options.UsersFile.
type usersFile struct {
	User []struct {
		Name     string `toml:"name"`
		Password string `toml:"password"`
		// Local admits the user from this machine only.
		Local bool `toml:"local"`
	} `toml:"user"`
}

func openAccounts(o Options) (*wire.Accounts, error) {
	if o.UsersFile != "" {
		return readUsers(o.UsersFile)
	}
	user := wire.User{Name: o.User}
	if user.Name == "" {
		user.Name = "root"
	}
	if o.PasswordFile == "" {
		user.Hosts = wire.LoopbackOnly
		return wire.NewAccounts(user), nil
	}
	password, err := wire.ReadPasswordFile(o.PasswordFile)
	if err != nil {
		return nil, err
	}
	user.Password = password
	return wire.NewAccounts(user), nil
}

// readUsers reads a users file. A user without a password must be local.
func readUsers(path string) (*wire.Accounts, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("users file: %w", err)
	}
	var f usersFile
	meta, err := toml.Decode(string(b), &f)
	if err != nil {
		return nil, fmt.Errorf("users file %s: %w", path, err)
	}
	if extra := meta.Undecoded(); len(extra) > 0 {
		return nil, fmt.Errorf("users file %s: there is no setting %q; a [[user]] has name, password and local", path, extra[0].String())
	}
	if len(f.User) == 0 {
		return nil, fmt.Errorf("users file %s: no [[user]] in it", path)
	}
	var users []wire.User
	for i, u := range f.User {
		if u.Name == "" {
			return nil, fmt.Errorf("users file %s: user %d has no name", path, i+1)
		}
		w := wire.User{Name: u.Name, Password: u.Password}
		if u.Local {
			w.Hosts = wire.LoopbackOnly
		} else if u.Password == "" {
			return nil, fmt.Errorf("users file %s: user %q has no password; give one, or local = true", path, u.Name)
		}
		users = append(users, w)
	}
	return wire.NewAccounts(users...), nil
}

func openTLS(o Options) (*tls.Config, error) {
	switch {
	case o.TLSCert == "" && o.TLSKey == "":
		return nil, nil
	case o.TLSCert == "" || o.TLSKey == "":
		return nil, errors.New("TLS needs both a certificate and a key")
	}
	return wire.LoadTLS(o.TLSCert, o.TLSKey)
}
