package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/term"

	"github.com/tributarydb/tributary/sqlengine"
	"github.com/tributarydb/tributary/sqltests/embedded"
	"github.com/tributarydb/tributary/sqltests/runner"
)

type clientConfig struct {
	execute, host, socket, user, passwordFile, database, warehouse string

	port         int
	askPassword  bool
	batch, table bool
	readOnly     bool
}

func clientFlags(cfg *clientConfig) *flag.FlagSet {
	fs := flag.NewFlagSet("tributary sql", flag.ContinueOnError)
	fs.StringVar(&cfg.execute, "e", "", "`SQL` to run (several statements: separated by ;), then exit")
	fs.StringVar(&cfg.host, "host", "127.0.0.1", "server `host`")
	fs.IntVar(&cfg.port, "port", 3306, "server `port`")
	fs.StringVar(&cfg.socket, "socket", "", "`path` of the server's Unix socket, in place of host and port")
	fs.StringVar(&cfg.user, "user", "root", "user `name`")
	fs.StringVar(&cfg.passwordFile, "password-file", "", "`file` whose first line is the password")
	fs.BoolVar(&cfg.askPassword, "ask-password", false, "ask for the password")
	fs.StringVar(&cfg.database, "database", "", "current database, a `name`")
	fs.StringVar(&cfg.warehouse, "warehouse", "", "`folder` of a warehouse to open in this process, without a server")
	fs.BoolVar(&cfg.readOnly, "read-only", false, "with --warehouse: refuse every statement that writes")
	fs.BoolVar(&cfg.batch, "batch", false, "print results tab-separated")
	fs.BoolVar(&cfg.batch, "B", false, "short for --batch")
	fs.BoolVar(&cfg.table, "table", false, "print results as tables, also when statements come from a pipe")
	return fs
}

// client runs the SQL client.
func client(ctx context.Context, args []string, std streams) error {
	var cfg clientConfig
	fs := clientFlags(&cfg)
	rest, err := parseFlags(fs, args, std)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usagef("sql: unexpected argument %q; SQL goes after -e", rest[0])
	}
	target, stop, err := clientTarget(ctx, &cfg)
	if err != nil {
		return err
	}
	if stop != nil {
		defer stop()
	}
	db, err := runner.Connect(target)
	if err != nil {
		return err
	}
	defer db.Close()

	c := &clientSession{db: db, out: bufio.NewWriter(std.out), err: std.err, format: printTable, screen: std.out}
	out, isFile := std.out.(*os.File)
	c.terminal = isFile && term.IsTerminal(int(out.Fd()))
	fromTerminal := std.in != nil && term.IsTerminal(int(std.in.Fd()))
	if cfg.batch || cfg.execute == "" && !fromTerminal && !cfg.table {
		c.format = printBatch
	}
	if err := c.connect(ctx); err != nil {
		return c.report(err)
	}
	defer c.close()
	switch {
	case cfg.execute != "":
		return c.script(ctx, cfg.execute)
	case !fromTerminal:
		text, err := io.ReadAll(std.in)
		if err != nil {
			return err
		}
		return c.script(ctx, string(text))
	default:
		return c.interactive(ctx)
	}
}

// clientTarget says where to connect; stop ends a server in this process.
func clientTarget(ctx context.Context, cfg *clientConfig) (target runner.Target, stop func() error, err error) {
	if cfg.warehouse != "" {
		if info, err := os.Stat(cfg.warehouse); err != nil || !info.IsDir() {
			return target, nil, fmt.Errorf("the warehouse %s is not a folder", cfg.warehouse)
		}
		server, err := embedded.Start(ctx, sqlengine.Options{Warehouse: cfg.warehouse, ReadOnly: cfg.readOnly})
		if err != nil {
			return target, nil, err
		}
		target = server.Target
		target.Database = cfg.database
		return target, server.Stop, nil
	}
	target = runner.Target{Network: "tcp", Address: net.JoinHostPort(cfg.host, strconv.Itoa(cfg.port)), User: cfg.user, Database: cfg.database}
	if cfg.socket != "" {
		target.Network, target.Address = "unix", cfg.socket
	}
	if cfg.askPassword {
		target.Password, err = askPassword()
	} else {
		target.Password, err = readPassword(cfg.passwordFile)
	}
	return target, nil, err
}

// clientSession is one session of the SQL client.
type clientSession struct {
	db       *sql.DB
	conn     *sql.Conn
	id       uint64 // the server's number of the connection, for KILL
	out      *bufio.Writer
	err      io.Writer
	format   func(*bufio.Writer, []column, rowSource) (int, error)
	terminal bool // output goes to a terminal: show counts and times
	screen   io.Writer
}

func (c *clientSession) connect(ctx context.Context) error {
	conn, err := c.db.Conn(ctx)
	if err != nil {
		return err
	}
	c.conn = conn
	return conn.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&c.id)
}

func (c *clientSession) close() {
	c.out.Flush()
	if c.conn != nil {
		c.conn.Close()
	}
}

// script runs statements until the first failure.
func (c *clientSession) script(ctx context.Context, text string) error {
	var s splitter
	s.add(text)
	for {
		st, ok := s.next()
		if !ok {
			st, ok = s.last()
		}
		if !ok {
			return nil
		}
		if err := c.run(ctx, st); err != nil {
			return c.report(err)
		}
	}
}

// report prints an error the way mysql does.
func (c *clientSession) report(err error) error {
	c.out.Flush()
	fmt.Fprintln(c.err, errorText(err))
	return errReported
}

func errorText(err error) string {
	var server *mysql.MySQLError
	var network *net.OpError
	switch {
	case errors.As(err, &server):
		state := string(server.SQLState[:])
		if server.SQLState[0] == 0 {
			state = "HY000"
		}
		return fmt.Sprintf("ERROR %d (%s): %s", server.Number, state, server.Message)
	case errors.As(err, &network) && network.Op == "dial":
		return "ERROR 2003 (HY000): Can't connect to the server: " + err.Error()
	case errors.Is(err, context.Canceled):
		return "ERROR 1317 (70100): Query execution was interrupted"
	}
	return "ERROR 2013 (HY000): " + err.Error()
}

// withoutResult lists the statements that answer with a count in place of rows.
var withoutResult = map[string]bool{
	"INSERT": true, "UPDATE": true, "DELETE": true, "REPLACE": true, "MERGE": true, "TRUNCATE": true, "LOAD": true,
	"CREATE": true, "ALTER": true, "DROP": true, "RENAME": true, "SET": true, "USE": true, "DO": true, "KILL": true,
	"BEGIN": true, "START": true, "COMMIT": true, "ROLLBACK": true, "SAVEPOINT": true, "RELEASE": true,
	"LOCK": true, "UNLOCK": true, "GRANT": true, "REVOKE": true, "FLUSH": true, "PREPARE": true, "DEALLOCATE": true,
}

// run runs one statement and prints what it answers. An interrupt asks the
// server to end the statement; the session goes on.
func (c *clientSession) run(ctx context.Context, st statement) error {
	defer c.out.Flush()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	go func() {
		select {
		case <-interrupts:
			if !c.kill(ctx) {
				cancel()
			}
		case <-ctx.Done():
		}
	}()
	c.out.Flush()
	stop := c.watch(ctx)
	defer stop()
	start := time.Now()
	if withoutResult[firstWord(st.sql)] {
		res, err := c.conn.ExecContext(ctx, st.sql)
		stop()
		if err != nil {
			return err
		}
		if c.terminal {
			n, _ := res.RowsAffected()
			fmt.Fprintf(c.out, "%s\n\n", okLine(n, time.Since(start)))
		}
		return nil
	}
	rows, err := c.conn.QueryContext(ctx, st.sql)
	stop() // the answer begins
	if err != nil {
		return err
	}
	defer rows.Close()
	for {
		if err := c.printResult(rows, st.vertical, start); err != nil {
			return err
		}
		if !rows.NextResultSet() {
			return rows.Err()
		}
	}
}

func (c *clientSession) printResult(rows *sql.Rows, vertical bool, start time.Time) error {
	types, err := rows.ColumnTypes()
	if err != nil {
		return err
	}
	if len(types) == 0 {
		for rows.Next() {
		}
		if rows.Err() == nil && c.terminal {
			fmt.Fprintf(c.out, "%s\n\n", okLine(0, time.Since(start)))
		}
		return rows.Err()
	}
	cols := make([]column, len(types))
	values, pointers := make([]any, len(types)), make([]any, len(types))
	for i, t := range types {
		cols[i] = columnOf(t.Name(), t.DatabaseTypeName())
		pointers[i] = &values[i]
	}
	row := make([]value, len(types))
	next := func() ([]value, bool, error) {
		if !rows.Next() {
			return nil, false, rows.Err()
		}
		if err := rows.Scan(pointers...); err != nil {
			return nil, false, err
		}
		for i, v := range values {
			row[i] = valueOf(v)
		}
		return row, true, nil
	}
	format := c.format
	if vertical {
		format = printVertical
	}
	n, err := format(c.out, cols, next)
	if err != nil {
		return err
	}
	if c.terminal {
		fmt.Fprintf(c.out, "%s\n\n", rowsLine(n, time.Since(start)))
	}
	return c.out.Flush()
}

// killTimeout bounds the attempt to end a statement on the server.
const killTimeout = 5 * time.Second

// kill asks the server to end the running statement.
func (c *clientSession) kill(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, killTimeout)
	defer cancel()
	_, err := c.db.ExecContext(ctx, "KILL QUERY "+strconv.FormatUint(c.id, 10))
	return err == nil
}
