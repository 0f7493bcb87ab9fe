package wire

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"github.com/tributarydb/tributary/sqlengine/errmap"
)

// bufferedConn reads through a buffer that holds bytes already.
type bufferedConn struct {
	net.Conn
	r *bufio.Reader
}

// Read reads from the buffer.
func (b bufferedConn) Read(p []byte) (int, error) { return b.r.Read(p) }

// connect is the handshake: greeting, TLS, authentication, session, default database, OK.
func (c *conn) connect() error {
	deadline := time.Now().Add(c.srv.cfg.ConnectTimeout)
	if err := c.nc.SetReadDeadline(deadline); err != nil {
		return fmt.Errorf("handshake: %w", err)
	}
	salt, err := newSalt()
	if err != nil {
		return err
	}
	c.salt, c.offered = salt, serverCapabilities
	if c.srv.cfg.TLSConfig != nil && !c.unix {
		c.offered |= capSSL
	}
	if !c.srv.cfg.DisableCompression {
		c.offered |= capCompress
	}
	c.status = statusAutocommit
	if err := c.send(c.greeting(salt)); err != nil {
		return fmt.Errorf("greeting: %w", err)
	}
	p, err := c.nextPacket()
	if err != nil {
		return fmt.Errorf("handshake: %w", err)
	}
	r, err := parseHandshakeResponse(p.data, c.offered)
	if err == nil && r.sslRequest {
		if err = c.startTLS(deadline); err != nil {
			return err
		}
		if p, err = c.nextPacket(); err != nil {
			return fmt.Errorf("handshake: %w", err)
		}
		r, err = parseHandshakeResponse(p.data, c.offered)
	}
	c.caps, c.charset, c.attrs = r.caps, r.charset, r.attrs
	if err != nil || r.sslRequest {
		c.caps = capProtocol41
		return errmap.Wrap(errMalformed, 1043, "08S01", "Bad handshake")
	}
	if c.srv.cfg.RequireTLS && !c.secure() {
		return errmap.New(3159, "HY000", "Connections using insecure transport are prohibited while --require_secure_transport=ON.")
	}
	acc, err := c.authenticate(credentials{user: r.user, plugin: r.plugin, answer: r.auth, salt: salt})
	if err != nil {
		return err
	}
	if err := c.openSession(c.ctx, r.user, acc, r.db); err != nil {
		return err
	}
	c.locked(func() { c.writeOK(okPacket{}) })
	if err := c.w.finish(); err != nil {
		return err
	}
	c.startCompression()
	return nil
}

// greeting is the initial handshake packet, version 10.
func (c *conn) greeting(salt []byte) []byte {
	caps := c.offered
	g := append([]byte{10}, c.srv.cfg.Version...)
	g = append(g, 0)
	g = append(g, byte(c.id), byte(c.id>>8), byte(c.id>>16), byte(c.id>>24))
	g = append(g, salt[:8]...)
	g = append(g, 0, byte(caps), byte(caps>>8), collationUTF8M4, byte(c.status), byte(c.status>>8), byte(caps>>16), byte(caps>>24), saltLen+1)
	g = append(g, make([]byte, 10)...)
	g = append(g, salt[8:]...)
	g = append(g, 0)
	g = append(g, pluginSha2...)
	return append(g, 0)
}

// startTLS upgrades the connection.
func (c *conn) startTLS(deadline time.Time) error {
	tc := tls.Server(bufferedConn{c.nc, c.reader.r}, c.srv.cfg.TLSConfig)
	ctx, cancel := context.WithDeadline(c.ctx, deadline)
	defer cancel()
	if err := tc.HandshakeContext(ctx); err != nil {
		return fmt.Errorf("TLS handshake: %w", err)
	}
	st := tc.ConnectionState()
	c.nc = tc
	c.tls = &st
	c.w.conn = tc
	c.reader.r = bufio.NewReaderSize(tc, readerSize)
	return nil
}

// openSession makes the session of an authenticated user, which replaces an older one.
func (c *conn) openSession(ctx context.Context, user string, acc Account, db string) error {
	vc := &mysql.Conn{Conn: c.nc, ConnectionID: c.id, Capabilities: c.caps, CharacterSet: uint8(c.charset), User: user,
		PrepareData: make(map[uint32]*mysql.PrepareData)}
	pl := c.srv.cfg.Engine.ProcessList
	if !c.registered {
		pl.AddConnection(c.id, c.address())
		c.registered = true
	}
	sess, err := c.srv.cfg.SessionBuilder(ctx, vc, c.srv.Addr().String())
	if err != nil {
		return fmt.Errorf("session of user '%s': %w", user, err)
	}
	if c.session != nil {
		sql.SessionEnd(c.session)
	}
	sess.SetConnectionId(c.id)
	sess.SetClient(sql.Client{User: user, Address: c.host(), Capabilities: c.caps})
	c.vconn, c.session, c.account = vc, sess, acc
	c.zone = zoneCache{}
	sctx := c.newContext(ctx, "")
	c.initCharset(sctx)
	c.initTLSStatus(sctx)
	if db != "" {
		if err := c.useDatabase(sctx, db); err != nil {
			return err
		}
	}
	pl.ConnectionReady(sess)
	c.readStatus(sctx)
	if c.in != nil {
		c.limit.Store(c.maxAllowedPacket())
	}
	return nil
}

// useDatabase makes db the current database: COM_INIT_DB and the handshake.
func (c *conn) useDatabase(ctx *sql.Context, db string) error {
	d, err := c.srv.cfg.Engine.Analyzer.Catalog.Database(ctx, db)
	if err != nil {
		return err
	}
	if pd, ok := d.(interface{ Unwrap() sql.Database }); ok {
		d = pd.Unwrap()
	}
	c.session.SetCurrentDatabase(db)
	return c.session.UseDatabase(ctx, d)
}

// closeSession gives up everything the session holds.
func (c *conn) closeSession() {
	for _, st := range c.stmts {
		c.closeCursor(st)
	}
	c.stmts = nil
	if c.session != nil {
		c.endSession()
	}
	if c.registered {
		c.srv.cfg.Engine.ProcessList.RemoveConnection(c.id)
	}
}

// endSession releases the session's locks and prepared names and tells it that it ended.
func (c *conn) endSession() {
	defer func() {
		if p := recover(); p != nil {
			c.srv.cfg.Logger.Error("ending a session", "connection", c.id, "error", c.panicked("session end", p))
		}
	}()
	eng := c.srv.cfg.Engine
	ctx := c.newContext(context.WithoutCancel(c.ctx), "")
	c.rollback(ctx)
	if _, err := eng.LS.ReleaseAll(ctx); err != nil {
		c.srv.cfg.Logger.Warn("releasing locks", "connection", c.id, "error", err)
	}
	if err := eng.Analyzer.Catalog.UnlockTables(ctx, c.id); err != nil {
		c.srv.cfg.Logger.Warn("unlocking tables", "connection", c.id, "error", err)
	}
	eng.CloseSession(c.id)
	c.named = nil
	sql.SessionEnd(c.session)
	c.session = nil
}

// rollback ends an open transaction.
func (c *conn) rollback(ctx *sql.Context) {
	ts, ok := c.session.(sql.TransactionSession)
	tx := c.session.GetTransaction()
	if ok && tx != nil {
		if err := ts.Rollback(ctx, tx); err != nil {
			c.srv.cfg.Logger.Warn("rolling back", "connection", c.id, "error", err)
		}
	}
	c.session.SetTransaction(nil)
	c.session.SetIgnoreAutoCommit(false)
}
