package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// maxAcceptDelay bounds the pause after a failed accept (out of descriptors).
const maxAcceptDelay = time.Second

// Server is a MySQL server on an engine. Make it with New, run it with Serve.
type Server struct {
	cfg       Config
	listeners []net.Listener
	started   time.Time

	mu       sync.Mutex
	conns    map[uint32]*conn
	draining bool
	wg       sync.WaitGroup

	lastID  atomic.Uint32
	lastPid atomic.Uint64
	rsa     rsaKey
	// sha2Cache holds SHA256(SHA256(password)) of accounts that proved their password once.
	sha2Cache sync.Map
	stats     counters
}

type counters struct {
	connections, denied, aborted, refused, statements, panics, bytesIn, bytesOut atomic.Uint64
}

// Stats are counts since the server was made.
type Stats struct {
	// Connections were accepted, Denied failed to authenticate, Refused met the connection limit,
	// Aborted ended without COM_QUIT.
	Connections, Denied, Refused, Aborted uint64
	// Open connections now.
	Open int
	// Statements were run; Panics of them panicked.
	Statements, Panics uint64
	// BytesIn and BytesOut count protocol bytes, before TLS and compression.
	BytesIn, BytesOut uint64
	Uptime            time.Duration
}

// New checks the configuration and opens the listeners.
func New(cfg Config) (*Server, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, conns: make(map[uint32]*conn), started: time.Now()}
	s.listeners = append(s.listeners, cfg.Listeners...)
	if cfg.Addr != "" {
		l, err := net.Listen("tcp", cfg.Addr)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("listening on %s: %w", cfg.Addr, err), s.closeListeners())
		}
		s.listeners = append(s.listeners, l)
	}
	if cfg.Socket != "" {
		l, err := listenUnix(cfg.Socket)
		if err != nil {
			return nil, errors.Join(err, s.closeListeners())
		}
		s.listeners = append(s.listeners, l)
	}
	return s, nil
}

// listenUnix opens a unix socket; a socket file that nobody listens on is removed first.
func listenUnix(path string) (net.Listener, error) {
	l, err := net.Listen("unix", path)
	if err == nil {
		return l, nil
	}
	if st, serr := os.Lstat(path); serr != nil || st.Mode()&os.ModeSocket == 0 {
		return nil, fmt.Errorf("listening on socket %s: %w", path, err)
	}
	if c, derr := net.Dial("unix", path); derr == nil {
		return nil, errors.Join(fmt.Errorf("listening on socket %s: another server uses it: %w", path, err), c.Close())
	}
	if rerr := os.Remove(path); rerr != nil {
		return nil, fmt.Errorf("listening on socket %s: %w", path, rerr)
	}
	if l, err = net.Listen("unix", path); err != nil {
		return nil, fmt.Errorf("listening on socket %s: %w", path, err)
	}
	return l, nil
}

// Addr is the address of the first TCP listener, else of the first listener.
func (s *Server) Addr() net.Addr {
	for _, l := range s.listeners {
		if _, ok := l.Addr().(*net.TCPAddr); ok {
			return l.Addr()
		}
	}
	return s.listeners[0].Addr()
}

// Addrs are the addresses of all listeners.
func (s *Server) Addrs() []net.Addr {
	out := make([]net.Addr, len(s.listeners))
	for i, l := range s.listeners {
		out[i] = l.Addr()
	}
	return out
}

// Stats reads the counters.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	open := len(s.conns)
	s.mu.Unlock()
	c := &s.stats
	return Stats{
		Connections: c.connections.Load(), Denied: c.denied.Load(), Refused: c.refused.Load(), Aborted: c.aborted.Load(),
		Open: open, Statements: c.statements.Load(), Panics: c.panics.Load(),
		BytesIn: c.bytesIn.Load(), BytesOut: c.bytesOut.Load(), Uptime: time.Since(s.started),
	}
}

func (s *Server) closeListeners() error {
	var err error
	for _, l := range s.listeners {
		if cerr := l.Close(); cerr != nil && !errors.Is(cerr, net.ErrClosed) {
			err = errors.Join(err, cerr)
		}
	}
	return err
}

// Serve accepts connections until ctx ends. Then it stops accepting, closes
// connections that run nothing, lets running statements finish within
// DrainTimeout, cancels the rest, and returns nil. An error means that a listener failed.
func (s *Server) Serve(ctx context.Context) error {
	connCtx, cancelConns := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelConns()
	failed := make(chan error, len(s.listeners))
	var accepting sync.WaitGroup
	for _, l := range s.listeners {
		accepting.Go(func() {
			if err := s.accept(connCtx, l); err != nil {
				failed <- err
			}
		})
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	s.mu.Lock()
	s.draining = true
	s.mu.Unlock()
	err = errors.Join(err, s.closeListeners())
	accepting.Wait()

	s.mu.Lock()
	for _, c := range s.conns {
		c.drain()
	}
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		s.wg.Wait()
		close(done)
	}()
	timer := time.NewTimer(s.cfg.DrainTimeout)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		cancelConns()
		s.mu.Lock()
		for _, c := range s.conns {
			c.kill()
		}
		s.mu.Unlock()
		<-done
	}
	return err
}

// Close stops accepting and closes every connection at once. Serve then returns.
func (s *Server) Close() error {
	s.mu.Lock()
	s.draining = true
	for _, c := range s.conns {
		c.kill()
	}
	s.mu.Unlock()
	return s.closeListeners()
}

func (s *Server) accept(ctx context.Context, l net.Listener) error {
	var delay time.Duration
	for {
		nc, err := l.Accept()
		if err != nil {
			s.mu.Lock()
			draining := s.draining
			s.mu.Unlock()
			if draining || errors.Is(err, net.ErrClosed) {
				return nil
			}
			var ne net.Error
			if !errors.As(err, &ne) || !ne.Timeout() && delay >= maxAcceptDelay {
				return fmt.Errorf("accepting on %s: %w", l.Addr(), err)
			}
			delay = max(5*time.Millisecond, min(2*delay, maxAcceptDelay))
			s.cfg.Logger.Warn("accept failed, trying again", "addr", l.Addr().String(), "error", err)
			select {
			case <-time.After(delay):
			case <-ctx.Done():
				return nil
			}
			continue
		}
		delay = 0
		s.stats.connections.Add(1)
		c := newConn(ctx, s, nc)
		s.mu.Lock()
		full := len(s.conns) >= s.cfg.MaxConnections
		if s.draining {
			s.mu.Unlock()
			closeQuietly(nc)
			continue
		}
		if !full {
			s.conns[c.id] = c
		}
		s.wg.Add(1)
		s.mu.Unlock()
		go func() {
			defer s.wg.Done()
			if full {
				s.stats.refused.Add(1)
				c.refuse()
				return
			}
			c.serve()
		}()
	}
}

func (s *Server) forget(c *conn) {
	s.mu.Lock()
	delete(s.conns, c.id)
	s.mu.Unlock()
}

// find returns an open connection.
func (s *Server) find(id uint32) *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns[id]
}

// closeQuietly closes a connection that has failed already, or that nobody waits for.
func closeQuietly(nc net.Conn) {
	if err := nc.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return
	}
}
