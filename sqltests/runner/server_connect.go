package runner

import (
	"database/sql"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"
)

// Target is a server to run scripts against.
type Target struct {
	Network  string // "tcp" or "unix"
	Address  string // HOST:PORT, or the path of the socket
	User     string
	Password string
	Database string // current database at the start of a session
}

// dialTimeout bounds one attempt to connect.
const dialTimeout = 10 * time.Second

// SessionSetup brings a session into the state that scripts assume.
var SessionSetup = []string{"SET NAMES utf8mb4", "SET time_zone = '+00:00'"}

// Connect makes a pool for the target. Values arrive as the server prints them:
// no time parsing, no client-side interpolation.
func Connect(t Target) (*sql.DB, error) {
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr = t.Network, t.Address
	if cfg.Net == "" {
		cfg.Net = "tcp"
	}
	cfg.User, cfg.Passwd, cfg.DBName = t.User, t.Password, t.Database
	cfg.Timeout = dialTimeout
	cfg.ParseTime = false
	cfg.InterpolateParams = false
	cfg.Logger = quiet{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", t.Address, err)
	}
	return sql.OpenDB(connector), nil
}

// quiet drops the driver's log lines: the runner reports the errors themselves.
type quiet struct{}

func (quiet) Print(...any) {}
