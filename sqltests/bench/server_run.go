package main

import (
	"bufio"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/tributarydb/tributary/sqltests/bench/generate"
)

var readyLine = regexp.MustCompile(`^tributary: ready on (\S+?)[, ]`)

// server is a running Tributary and connections to it.
type server struct {
	release string
	// address is HOST:PORT.
	address string
	cmd     *exec.Cmd
	// db has one connection, pool any number.
	db, pool *sql.DB
	// received counts the bytes that came over the connections.
	received *atomic.Int64
}

// countedConn counts what it receives.
type countedConn struct {
	net.Conn
	received *atomic.Int64
}

func (c countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.received.Add(int64(n))
	return n, err
}

// startServer starts the binary with the warehouse on a free port.
func startServer(ctx context.Context, binary, warehouse string, threads int, readOnly bool) (*server, error) {
	release, err := exec.CommandContext(ctx, binary, "version").Output()
	if err != nil {
		return nil, fmt.Errorf("%s version: %w", binary, err)
	}
	args := []string{"serve", "--warehouse", warehouse, "--listen", "127.0.0.1:0", "--log-level", "warn"}
	if readOnly {
		args = append(args, "--read-only")
	}
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(threads))
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	m := readyLine.FindStringSubmatch(line)
	if m == nil {
		return nil, errors.Join(fmt.Errorf("%s did not start: %q", binary, line), err, cmd.Process.Kill(), cmd.Wait())
	}
	s := &server{release: strings.TrimSpace(strings.SplitN(string(release), "\n", 2)[0]), address: m[1], cmd: cmd, received: &atomic.Int64{}}
	if s.db, s.pool, err = connectAll("tcp", m[1], "root", "", s.received); err != nil {
		return nil, err
	}
	return s, nil
}

// connectAll gives one connection, without a database where there is none yet, and a pool of connections.
func connectAll(network, address, user, password string, received *atomic.Int64) (db, pool *sql.DB, err error) {
	if db, err = connect(network, address, user, password, received); err != nil {
		return nil, nil, err
	}
	if pool, err = connect(network, address, user, password, received); err != nil {
		return nil, nil, err
	}
	pool.SetMaxOpenConns(0)
	return db, pool, nil
}

// connect opens one connection; received counts its bytes.
func connect(network, address, user, password string, received *atomic.Int64) (*sql.DB, error) {
	cfg := mysql.NewConfig()
	cfg.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, address)
		return countedConn{c, received}, err
	}
	cfg.Net, cfg.Addr, cfg.User, cfg.Passwd, cfg.DBName = network, address, user, password, generate.Database
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	return db, nil
}

func (s *server) name() string    { return "Tributary" }
func (s *server) version() string { return s.release }
func (s *server) process() int    { return s.cmd.Process.Pid }

func (s *server) query(ctx context.Context, text string) (answer, error) { return ask(ctx, s.db, text) }

// ask runs a query and times it up to its last row at the client.
func ask(ctx context.Context, db *sql.DB, text string) (answer, error) {
	start := time.Now()
	rows, err := db.QueryContext(ctx, text)
	if err != nil {
		return answer{}, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return answer{}, err
	}
	var a answer
	for rows.Next() {
		cells := make([]string, len(columns))
		into := make([]any, len(columns))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			return answer{}, err
		}
		a.rows = append(a.rows, cells)
	}
	a.took = time.Since(start)
	return a, rows.Err()
}

// readAll reads every row of a query without keeping it: rows and bytes on the connection.
func (s *server) readAll(ctx context.Context, text string) (rows, bytes int64, err error) {
	before := s.received.Load()
	rows, err = readRows(ctx, s.db, text)
	return rows, s.received.Load() - before, err
}

// readRows reads every row of a query without keeping it.
func readRows(ctx context.Context, db *sql.DB, text string) (rows int64, err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	err = eachRow(ctx, conn, text, func() { rows++ })
	return rows, err
}

// eachRow reads every row of a query without keeping it.
func eachRow(ctx context.Context, conn *sql.Conn, text string, row func()) error {
	return conn.Raw(func(c any) error {
		// The driver's own rows: database/sql would cost more than the server.
		r, err := c.(driver.QueryerContext).QueryContext(ctx, text, nil)
		if err != nil {
			return err
		}
		defer r.Close()
		cells := make([]driver.Value, len(r.Columns()))
		for {
			switch err := r.Next(cells); {
			case err == io.EOF:
				return nil
			case err != nil:
				return err
			}
			row()
		}
	})
}

func (s *server) close() error {
	s.db.Close()
	s.pool.Close()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return s.cmd.Wait()
}
