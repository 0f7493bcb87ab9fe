package enginetest

import (
	"context"
	gosql "database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/go-sql-driver/mysql"
)

// statementTime bounds one statement: a longer one hangs.
const statementTime = 60 * time.Second

// session is a connection that a test uses.
type session struct {
	pool *gosql.DB
	conn *gosql.Conn
	// database is the current one of a new connection.
	database string
	// lost says that the connection broke.
	lost bool
}

// answer is what the server gave: rows, or counts.
type answer struct {
	columns  []column
	rows     [][]cell
	affected int64
	insertID int64
}

// column is a column of an answer: its name, and its type as the driver names it.
type column struct{ name, typ string }

// cell is a value as it came over the wire.
type cell struct {
	null bool
	text string
}

// open connects again, with a new session.
func (s *session) open(ctx context.Context) error {
	s.close()
	conn, err := s.pool.Conn(ctx)
	if err != nil {
		return err
	}
	s.conn, s.lost = conn, false
	if s.database == "" {
		return nil
	}
	_, err = s.run(ctx, "USE "+s.database, nil, true)
	return err
}

// close ends the connection for good, so that no later session finds its state.
func (s *session) close() {
	if s.conn == nil {
		return
	}
	s.conn.Raw(func(any) error { return driver.ErrBadConn })
	s.conn.Close()
	s.conn = nil
}

// run sends a statement. counts asks for the numbers of an OK packet instead of rows.
func (s *session) run(ctx context.Context, query string, bindings map[string]sqlparser.Expr, counts bool) (a answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	defer func() { s.lost = s.lost || err != nil && number(err) == 0 }()
	query, args, err := bind(localFiles(query), bindings)
	if err != nil {
		return answer{}, err
	}
	if counts {
		r, err := s.conn.ExecContext(ctx, query, args...)
		if err != nil {
			return answer{}, err
		}
		affected, _ := r.RowsAffected()
		id, _ := r.LastInsertId()
		return answer{affected: affected, insertID: id}, nil
	}
	rows, err := s.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return answer{}, err
	}
	defer rows.Close()
	return read(rows)
}

// read takes all rows of a result.
func read(rows *gosql.Rows) (a answer, err error) {
	types, err := rows.ColumnTypes()
	if err != nil {
		return answer{}, err
	}
	for _, t := range types {
		a.columns = append(a.columns, column{t.Name(), t.DatabaseTypeName()})
	}
	raw := make([]gosql.RawBytes, len(types))
	into := make([]any, len(types))
	for i := range raw {
		into[i] = &raw[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return answer{}, err
		}
		row := make([]cell, len(raw))
		for i, b := range raw {
			row[i] = cell{null: b == nil, text: string(b)}
		}
		a.rows = append(a.rows, row)
	}
	return a, rows.Err()
}

// number returns MySQL's number of an error, 0 for one of the connection.
func number(err error) uint16 {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return e.Number
	}
	return 0
}

// marker is a parameter as go-mysql-server's tests write it: ?, or :name.
var marker = regexp.MustCompile(`\?|:\w+`)

// bind turns named parameters into the protocol's.
func bind(query string, bindings map[string]sqlparser.Expr) (string, []any, error) {
	if len(bindings) == 0 {
		return query, nil, nil
	}
	var args []any
	var failed error
	n := 0
	query = marker.ReplaceAllStringFunc(query, func(m string) string {
		n++
		name := strings.TrimPrefix(m, ":")
		if m == "?" {
			name = "v" + strconv.Itoa(n)
		}
		v, err := argument(bindings[name])
		if err != nil {
			failed = fmt.Errorf("parameter %s: %w", name, err)
		}
		args = append(args, v)
		return "?"
	})
	return query, args, failed
}

// argument makes a driver's value of a literal.
func argument(e sqlparser.Expr) (any, error) {
	switch e := e.(type) {
	case *sqlparser.NullVal:
		return nil, nil
	case *sqlparser.SQLVal:
		switch text := string(e.Val); e.Type {
		case sqlparser.IntVal:
			return strconv.ParseInt(text, 10, 64)
		case sqlparser.FloatVal:
			return strconv.ParseFloat(text, 64)
		default:
			return text, nil
		}
	}
	return nil, fmt.Errorf("a parameter cannot be %T", e)
}

// loadFile finds the file of LOAD DATA.
var loadFile = regexp.MustCompile(`(?i)(LOAD\s+DATA\s+)(?:LOCAL\s+)?INFILE\s+'(?:\./)?testdata/([\w.]+)'`)

// localFiles makes LOAD DATA send go-mysql-server's files from the client: the server reads no files of its own.
func localFiles(query string) string {
	m := loadFile.FindStringSubmatch(query)
	if m == nil {
		return query
	}
	name := m[2]
	mysql.RegisterReaderHandler(name, func() io.Reader {
		dir, err := testdata()
		if err != nil {
			return failedReader{err}
		}
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return failedReader{err}
		}
		return strings.NewReader(string(b))
	})
	return loadFile.ReplaceAllString(query, "${1}LOCAL INFILE 'Reader::${2}'")
}

// failedReader gives an error instead of a file.
type failedReader struct{ err error }

func (r failedReader) Read([]byte) (int, error) { return 0, r.err }

// testdata is the folder of go-mysql-server's files.
var testdata = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/dolthub/go-mysql-server").Output()
	if err != nil {
		return "", fmt.Errorf("the folder of go-mysql-server: %w", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "enginetest", "testdata"), nil
})
