package wire

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/sqlengine/errmap"
)

// newContext makes the context of a command.
func (c *conn) newContext(ctx context.Context, query string) *sql.Context {
	eng := c.srv.cfg.Engine
	return sql.NewContext(ctx, sql.WithSession(c.session), sql.WithPid(c.srv.lastPid.Add(1)), sql.WithQuery(query),
		sql.WithMemoryManager(eng.MemoryManager), sql.WithProcessList(eng.ProcessList),
		sql.WithServices(sql.Services{
			KillConnection: func(id uint32) error { return c.srv.killConnection(id) },
			LoadInfile:     func(name string) (io.ReadCloser, error) { return c.loadInfile(name) },
		}))
}

// variable reads a session variable; ok is false where the session has none.
func (c *conn) variable(name string) (any, bool) {
	if c.session == nil {
		return nil, false
	}
	v, err := c.session.GetSessionVariable(nil, name)
	return v, err == nil && v != nil
}

// intVariable reads an integer session variable.
func (c *conn) intVariable(name string, otherwise int64) int64 {
	v, ok := c.variable(name)
	if !ok {
		return otherwise
	}
	switch v := v.(type) {
	case int8:
		return int64(v)
	case int64:
		return v
	case uint64:
		return int64(min(v, 1<<62))
	case int:
		return int64(v)
	case int32:
		return int64(v)
	case uint32:
		return int64(v)
	case bool:
		if v {
			return 1
		}
		return 0
	}
	return otherwise
}

func (c *conn) stringVariable(name string) string {
	v, ok := c.variable(name)
	if !ok {
		return ""
	}
	s, ok := v.(string)
	if !ok {
		return fmt.Sprint(v)
	}
	return s
}

func (c *conn) idleTimeout() time.Duration {
	name := "wait_timeout"
	if c.caps&capInteractive != 0 {
		name = "interactive_timeout"
	}
	if s := c.intVariable(name, 0); s > 0 && s < int64(365*24*time.Hour/time.Second) {
		return time.Duration(s) * time.Second
	}
	return DefaultIdleTimeout
}

func (c *conn) writeTimeout() time.Duration {
	if s := c.intVariable("net_write_timeout", 0); s > 0 && s < int64(365*24*time.Hour/time.Second) {
		return time.Duration(s) * time.Second
	}
	return DefaultWriteTimeout
}

// maxAllowedPacket is the limit of a client's packets.
func (c *conn) maxAllowedPacket() uint32 {
	n := c.intVariable("max_allowed_packet", int64(c.srv.cfg.MaxAllowedPacket))
	return uint32(min(max(n, 1024), maxProtocolPacket))
}

// readStatus takes the status flags from the session.
func (c *conn) readStatus(ctx *sql.Context) {
	c.status = 0
	auto := true
	if v, ok := c.variable(sql.AutoCommitSessionVar); ok {
		if b, err := sql.ConvertToBool(ctx, v); err == nil {
			auto = b
		}
	}
	if auto {
		c.status |= statusAutocommit
	}
	if c.session.GetIgnoreAutoCommit() || !auto && used(c.session.GetTransaction()) {
		c.status |= statusInTrans
		if tx := c.session.GetTransaction(); tx != nil && tx.IsReadOnly() {
			c.status |= statusInTransReadOnly
		}
	}
	if strings.Contains(strings.ToUpper(c.stringVariable("sql_mode")), "NO_BACKSLASH_ESCAPES") {
		c.status |= statusNoBackslashEscapes
	}
}

// used reports whether an implicit transaction has begun for clients: MySQL's begins with the first table that is read, not
// with SELECT 1. Transactions that do not tell have begun.
func used(tx sql.Transaction) bool {
	if t, ok := tx.(interface{ Used() bool }); ok {
		return t.Used()
	}
	return tx != nil
}

// zoneCache holds the last time_zone that was looked up.
type zoneCache struct {
	name string
	loc  *time.Location
}

// location is the session's time zone.
func (c *conn) location() (*time.Location, error) {
	name := c.stringVariable("time_zone")
	if c.zone.loc != nil && c.zone.name == name {
		return c.zone.loc, nil
	}
	loc := c.srv.cfg.Location
	if name != "" && !strings.EqualFold(name, "SYSTEM") {
		var err error
		if loc, err = c.srv.cfg.LoadZone(name); err != nil {
			return nil, err
		}
	}
	c.zone = zoneCache{name, loc}
	return loc, nil
}

// parseZone reads a value of time_zone: an offset such as +05:30, or a name.
func parseZone(name string) (*time.Location, error) {
	if name[0] == '+' || name[0] == '-' {
		h, m, ok := strings.Cut(name[1:], ":")
		hours, herr := strconv.Atoi(h)
		minutes, merr := strconv.Atoi(m)
		if ok && herr == nil && merr == nil && hours >= 0 && hours <= 14 && minutes >= 0 && minutes < 60 {
			off := (hours*60 + minutes) * 60
			if name[0] == '-' {
				off = -off
			}
			if off == 0 {
				return time.UTC, nil
			}
			return time.FixedZone(name, off), nil
		}
	} else if loc, err := time.LoadLocation(name); err == nil {
		return loc, nil
	}
	return nil, errmap.New(1298, "HY000", "Unknown or incorrect time zone: '%s'", name)
}

// initCharset puts the handshake's collation into the session's variables, as
// SET NAMES would; one the engine does not know leaves the defaults.
func (c *conn) initCharset(ctx *sql.Context) {
	id := sql.CollationID(c.charset)
	if c.charset == 0 || c.charset == collationUTF8M4 || id.Name() == "" || id.Sorter() == nil {
		return
	}
	cs := id.CharacterSet()
	if cs == sql.CharacterSet_binary || cs.Encoder() == nil {
		return
	}
	for _, name := range []string{"character_set_client", "character_set_connection", "character_set_results"} {
		c.setVariable(ctx, name, cs.Name())
	}
	c.setVariable(ctx, "collation_connection", id.Name())
}

func (c *conn) setVariable(ctx *sql.Context, name string, value any) {
	if err := c.session.SetSessionVariable(ctx, name, value); err != nil {
		c.srv.cfg.Logger.Debug("session variable of the handshake", "connection", c.id, "variable", name, "error", err)
	}
}

// initTLSStatus fills the status variables that clients look at to learn whether TLS is on.
func (c *conn) initTLSStatus(ctx *sql.Context) {
	cipher, version := "", ""
	if c.tls != nil {
		cipher, version = tls.CipherSuiteName(c.tls.CipherSuite), strings.Replace(tls.VersionName(c.tls.Version), "TLS 1.", "TLSv1.", 1)
	}
	for name, value := range map[string]string{"Ssl_cipher": cipher, "Ssl_version": version} {
		if err := c.session.SetStatusVariable(ctx, name, value); err != nil {
			c.srv.cfg.Logger.Debug("status variable", "connection", c.id, "variable", name, "error", err)
		}
	}
}

// decodeText turns text of the client into UTF-8, which the parser reads. Text
// in a character set that the engine does not know, or that is not valid in
// it, is taken as it is.
func (c *conn) decodeText(b []byte) string {
	plain := true
	for _, x := range b {
		if x >= 0x80 {
			plain = false
			break
		}
	}
	if plain {
		return string(b)
	}
	switch name := strings.ToLower(c.stringVariable("character_set_client")); name {
	case "", "utf8mb4", "utf8mb3", "utf8", "binary":
	default:
		cs, err := sql.ParseCharacterSet(name)
		if err != nil || cs.Encoder() == nil {
			break
		}
		if out, ok := cs.Encoder().Decode(b); ok {
			return string(out)
		}
	}
	return string(b)
}
