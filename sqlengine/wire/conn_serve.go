package wire

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"github.com/tributarydb/tributary/sqlengine/errmap"
)

// readerSize is the size of the input buffer of a connection.
const readerSize = 8 << 10

// errQuit ends a connection in order.
var errQuit = errors.New("client quit")

// conn is one client connection. Its fields belong to the goroutine of serve,
// but for those under mu and the atomics.
type conn struct {
	srv *Server
	id  uint32
	// raw is the accepted connection, nc the same or TLS on it.
	raw    net.Conn
	nc     net.Conn
	remote net.Addr
	tls    *tls.ConnectionState
	unix   bool

	ctx    context.Context
	cancel context.CancelFunc
	limit  atomic.Uint32
	reader *packetReader
	// in is nil until the client is in; then packets come from the reading goroutine.
	in *packetQueue
	w  *packetWriter
	// compressed is the zlib protocol, nil without it.
	compressed *compressedConn

	// salt is the greeting's challenge, offered its capabilities.
	salt    []byte
	offered uint32
	caps    uint32
	charset uint16
	attrs   map[string]string
	account Account

	vconn   *mysql.Conn
	session sql.Session
	// registered tells that the process list knows the connection.
	registered bool
	status     uint16
	zone       zoneCache
	stmts      map[uint32]*statement
	lastStmt   uint32
	// named holds the number of parameters of each statement of PREPARE.
	named map[string]int

	mu       sync.Mutex
	busy     bool
	draining bool
	killed   bool
	// gone tells that nothing more comes from the client.
	gone    bool
	started time.Time
}

func newConn(ctx context.Context, s *Server, nc net.Conn) *conn {
	c := &conn{srv: s, id: s.lastID.Add(1), raw: nc, nc: nc, remote: nc.RemoteAddr(), stmts: make(map[uint32]*statement), started: time.Now()}
	_, c.unix = nc.RemoteAddr().(*net.UnixAddr)
	c.ctx, c.cancel = context.WithCancel(ctx)
	c.limit.Store(maxHandshakePacket)
	c.reader = &packetReader{r: bufio.NewReaderSize(nc, readerSize), limit: &c.limit, bytesIn: &s.stats.bytesIn}
	c.w = newPacketWriter(nc, s.cfg.ConnectTimeout, &s.stats.bytesOut)
	return c
}

// secure reports a transport that nobody else can read.
func (c *conn) secure() bool { return c.tls != nil || c.unix }

// host is the client's host for messages and the process list.
func (c *conn) host() string {
	if c.unix {
		return "localhost"
	}
	if a, ok := c.remote.(*net.TCPAddr); ok {
		return a.IP.String()
	}
	return c.remote.String()
}

// address is host:port.
func (c *conn) address() string {
	if c.unix {
		return "localhost"
	}
	return c.remote.String()
}

// refuse answers a connection beyond the limit.
func (c *conn) refuse() {
	defer closeQuietly(c.nc)
	defer c.cancel()
	c.caps = capProtocol41
	c.locked(func() { c.writeError(errmap.New(1040, "08004", "Too many connections")) })
	if err := c.w.finish(); err != nil {
		return
	}
}

// kill ends the connection at once: KILL, shutdown, a client that went away.
func (c *conn) kill() {
	c.mu.Lock()
	c.killed = true
	c.mu.Unlock()
	c.cancel()
	closeQuietly(c.raw)
}

// drain ends the connection when it runs nothing, else after the running command.
func (c *conn) drain() {
	c.mu.Lock()
	c.draining = true
	idle := !c.busy
	c.mu.Unlock()
	if idle {
		c.kill()
	}
}

// serve is the life of a connection.
func (c *conn) serve() {
	sql.StatusVariables.IncrementGlobal("Connections", 1)
	log := c.srv.cfg.Logger.With("connection", c.id, "remote", c.address())
	err := c.run()
	c.cancel()
	c.closeSession()
	closeQuietly(c.nc)
	c.srv.forget(c)
	c.mu.Lock()
	killed := c.killed
	c.mu.Unlock()
	switch {
	case err == nil, errors.Is(err, errQuit):
		log.Debug("connection closed")
	case errors.Is(err, errDenied):
		c.srv.stats.denied.Add(1)
		sql.StatusVariables.IncrementGlobal("Aborted_connects", 1)
		log.Info("connection refused", "error", err)
	case killed && errors.Is(err, context.Canceled):
		log.Debug("connection killed")
	default:
		c.srv.stats.aborted.Add(1)
		sql.StatusVariables.IncrementGlobal("Aborted_clients", 1)
		log.Debug("connection aborted", "error", err)
	}
}

// run greets the client and then runs its commands until the connection ends.
func (c *conn) run() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = c.panicked("connection", p)
		}
	}()
	if err := c.connect(); err != nil {
		c.answerError(err)
		return err
	}
	c.limit.Store(c.maxAllowedPacket())
	if err := c.nc.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	c.in = newPacketQueue()
	go func() {
		defer func() {
			if p := recover(); p != nil {
				_ = c.panicked("reading packets", p) // logs it
				c.kill()
			}
		}()
		c.in.fill(c.ctx, c.reader, func(error) { c.cancelOnEOF() })
	}()
	for {
		p, err := c.awaitCommand()
		if err != nil {
			return err
		}
		err = c.command(p)
		if ferr := c.w.finish(); err == nil {
			err = ferr
		}
		if err == nil {
			err = c.rest()
		}
		if err != nil {
			return err
		}
	}
}

// cancelOnEOF stops the running statement when the stream from the client ends.
func (c *conn) cancelOnEOF() {
	c.mu.Lock()
	c.gone = true
	busy := c.busy
	c.mu.Unlock()
	if busy {
		c.kill()
	}
}

// rest marks the end of a command.
func (c *conn) rest() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy = false
	if c.draining {
		return context.Canceled
	}
	return nil
}

// awaitCommand waits for the next command, no longer than the session's idle timeout.
func (c *conn) awaitCommand() (packet, error) {
	var p packet
	var err error
	select {
	case q := <-c.in.ch:
		p, err = c.in.took(q)
	default:
		timer := time.NewTimer(c.idleTimeout())
		select {
		case q := <-c.in.ch:
			p, err = c.in.took(q)
		case <-c.ctx.Done():
			// A COM_QUIT before the end of the stream counts.
			select {
			case q := <-c.in.ch:
				p, err = c.in.took(q)
			default:
				err = c.ctx.Err()
			}
		case <-timer.C:
			// The client did not ask, so the packet has the number 0.
			c.locked(func() { c.w.seq = 0 })
			err = errmap.New(4031, "HY000", "The client was disconnected by the server because of inactivity. See wait_timeout and interactive_timeout for configuring this behavior.")
			c.answerError(err)
		}
		timer.Stop()
	}
	c.answering(p)
	switch {
	case errors.Is(err, errPacketTooLarge):
		c.answerError(errmap.New(1153, "08S01", "Got a packet bigger than 'max_allowed_packet' bytes"))
	case errors.Is(err, errPacketOrder):
		c.answerError(errmap.New(1156, "08S01", "Got packets out of order"))
	case errors.Is(err, io.EOF):
		err = fmt.Errorf("client went away: %w", err)
	}
	if err != nil {
		return p, err
	}
	c.mu.Lock()
	c.busy = true
	over := c.killed || c.gone
	c.mu.Unlock()
	if over && !isFarewell(p.data) {
		return p, context.Canceled
	}
	return p, nil
}

// isFarewell tells the commands that a client sends without waiting for an answer, before it goes.
func isFarewell(command []byte) bool {
	return len(command) > 0 && (command[0] == comQuit || command[0] == comStmtClose)
}

// nextPacket reads a packet inside a command or the handshake.
func (c *conn) nextPacket() (packet, error) {
	var p packet
	var err error
	if c.in != nil {
		p, err = c.in.next(c.ctx)
	} else {
		p, err = c.reader.read()
	}
	c.answering(p)
	return p, err
}

// locked runs f, which writes packets, with the writer's lock.
func (c *conn) locked(f func()) {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	f()
}

// answering sets the numbers of the packets that answer p.
func (c *conn) answering(p packet) {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	c.w.seq = p.seq + 1
	if c.compressed != nil {
		c.compressed.writeSeq = p.number + 1
	}
}

// answerError sends an error at the end of a connection; that it cannot be sent changes nothing.
func (c *conn) answerError(err error) {
	c.locked(func() {
		c.w.abort()
		c.writeError(err)
	})
	if ferr := c.w.finish(); ferr != nil {
		c.srv.cfg.Logger.Debug("the last error of a connection could not be sent", "connection", c.id, "error", err, "write", ferr)
	}
}

// panicked logs a panic with its stack and makes the error for the client.
func (c *conn) panicked(what string, p any) error {
	c.srv.stats.panics.Add(1)
	c.srv.cfg.Logger.Error("panic", "connection", c.id, "in", what, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	return errmap.New(1105, "HY000", "Internal error in %s: %v. The server's log has the details.", what, p)
}

// logPanic logs a panic that another goroutine of a statement turned into its error.
func (c *conn) logPanic(err error) {
	var p interface {
		error
		PanicStack() []byte
	}
	if errors.As(err, &p) {
		c.srv.stats.panics.Add(1)
		c.srv.cfg.Logger.Error("panic", "connection", c.id, "panic", p.Error(), "stack", string(p.PanicStack()))
	}
}
