package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"time"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
)

// Defaults of Config.
const (
	DefaultVersion          = "8.0.36-tributary"
	DefaultMaxConnections   = 512
	DefaultMaxAllowedPacket = 64 << 20
	DefaultConnectTimeout   = 10 * time.Second
	DefaultDrainTimeout     = 30 * time.Second
	// DefaultWriteTimeout stands in for net_write_timeout where a session has none.
	DefaultWriteTimeout = 60 * time.Second
	// DefaultIdleTimeout stands in for wait_timeout.
	DefaultIdleTimeout = 8 * time.Hour
)

// SessionBuilder makes the session of a connection. Of c only ConnectionID,
// User, Capabilities, CharacterSet and Conn are set.
type SessionBuilder func(ctx context.Context, c *mysql.Conn, addr string) (sql.Session, error)

// Config is what a Server is made of. Engine, SessionBuilder, Authenticator
// and at least one of Addr, Socket and Listeners are needed.
type Config struct {
	Engine *sqle.Engine
	// Repeat says whether a statement that ended with err is run again, for the try-th time, under the returned context; leave,
	// never nil, is called when it has ended. nil: no statement is.
	Repeat         func(ctx context.Context, err error, try int) (next context.Context, leave func(), again bool)
	SessionBuilder SessionBuilder
	// Parser parses statements; default Engine.Parser.
	Parser        sql.Parser
	Authenticator Authenticator

	// Addr is a TCP address, Socket the path of a unix socket, Listeners are
	// taken as they are. The server closes all of them.
	Addr      string
	Socket    string
	Listeners []net.Listener

	// TLSConfig turns on TLS; RequireTLS refuses TCP clients without it.
	TLSConfig  *tls.Config
	RequireTLS bool
	// DisableCompression stops offering the zlib protocol.
	DisableCompression bool

	// Version is what the greeting says.
	Version string
	Logger  *slog.Logger
	// MaxConnections bounds connections; one more gets error 1040.
	MaxConnections int
	// MaxAllowedPacket bounds a client's packets where the session has no max_allowed_packet, in bytes.
	MaxAllowedPacket uint32
	// ConnectTimeout bounds the handshake.
	ConnectTimeout time.Duration
	// DrainTimeout is how long running statements may go on after Serve's context ended.
	DrainTimeout time.Duration
	// Location is what time_zone=SYSTEM means; default time.Local.
	Location *time.Location
	// LoadZone finds the zone of a value of time_zone other than SYSTEM. The default knows offsets and the names of
	// Go's zone database.
	LoadZone func(name string) (*time.Location, error)
}

func (c *Config) complete() error {
	switch {
	case c.Engine == nil:
		return errors.New("wire: Config.Engine is missing")
	case c.SessionBuilder == nil:
		return errors.New("wire: Config.SessionBuilder is missing")
	case c.Authenticator == nil:
		return errors.New("wire: Config.Authenticator is missing")
	case c.Addr == "" && c.Socket == "" && len(c.Listeners) == 0:
		return errors.New("wire: Config has no Addr, Socket or Listeners")
	case c.RequireTLS && c.TLSConfig == nil:
		return errors.New("wire: Config.RequireTLS needs Config.TLSConfig")
	}
	if c.Parser == nil {
		c.Parser = c.Engine.Parser
	}
	if c.Version == "" {
		c.Version = DefaultVersion
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if c.MaxConnections <= 0 {
		c.MaxConnections = DefaultMaxConnections
	}
	if c.MaxAllowedPacket == 0 {
		c.MaxAllowedPacket = DefaultMaxAllowedPacket
	}
	if c.ConnectTimeout <= 0 {
		c.ConnectTimeout = DefaultConnectTimeout
	}
	if c.DrainTimeout <= 0 {
		c.DrainTimeout = DefaultDrainTimeout
	}
	if c.Location == nil {
		c.Location = time.Local
	}
	if c.LoadZone == nil {
		c.LoadZone = parseZone
	}
	return nil
}
