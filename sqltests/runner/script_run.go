package runner

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/go-sql-driver/mysql"
)

// Protocol is the way statements travel.
type Protocol int

// The two protocols of MySQL.
const (
	Text   Protocol = iota // COM_QUERY
	Binary                 // COM_STMT_PREPARE and COM_STMT_EXECUTE
)

func (p Protocol) String() string {
	if p == Binary {
		return "binary"
	}
	return "text"
}

// DefaultTimeout bounds one record unless Options say otherwise.
const DefaultTimeout = 2 * time.Minute

// textOnly lists the kinds of statements that MySQL does not take in its
// prepared statement protocol (error 1295), by their first word, with the
// reason. They go as text in both protocols.
var textOnly = map[string]string{
	"":           "an empty statement cannot be prepared (error 1065)",
	"USE":        "not in MySQL's list of preparable statements",
	"BEGIN":      "transaction control is not preparable",
	"START":      "transaction control is not preparable",
	"ROLLBACK":   "ROLLBACK TO SAVEPOINT is not preparable",
	"SAVEPOINT":  "transaction control is not preparable",
	"RELEASE":    "transaction control is not preparable",
	"LOCK":       "table locks are not preparable",
	"UNLOCK":     "table locks are not preparable",
	"PREPARE":    "statements about prepared statements cannot be nested",
	"EXECUTE":    "statements about prepared statements cannot be nested",
	"DEALLOCATE": "statements about prepared statements cannot be nested",
	"LOAD":       "LOAD DATA is not preparable",
	"HELP":       "not in MySQL's list of preparable statements",
	"HANDLER":    "not in MySQL's list of preparable statements",
}

// GoesAsText says whether the statement is sent as text even in the binary
// protocol, and why.
func GoesAsText(query string) (reason string, ok bool) {
	reason, ok = textOnly[firstWord(query)]
	return reason, ok
}

// firstWord returns the first word of a statement in upper case, without
// leading comments and parentheses. An executable comment counts as a word.
func firstWord(query string) string {
	for s := query; ; {
		s = strings.TrimLeft(s, " \t\r\n(;")
		var end, skip int
		switch {
		case strings.HasPrefix(s, "/*!"), strings.HasPrefix(s, "/*M!"):
			return "/*!"
		case strings.HasPrefix(s, "/*"):
			end, skip = strings.Index(s, "*/"), 2
		case strings.HasPrefix(s, "-- "), strings.HasPrefix(s, "#"):
			end, skip = strings.IndexByte(s, '\n'), 1
		default:
			end := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && r != '_' })
			if end < 0 {
				end = len(s)
			}
			if end == 0 && s != "" {
				return s[:1]
			}
			return strings.ToUpper(s[:end])
		}
		if end < 0 {
			return ""
		}
		s = s[end+skip:]
	}
}

// Options say how a script is run. The zero value runs in the text protocol.
type Options struct {
	Protocol Protocol
	Timeout  time.Duration // of one record; 0 = DefaultTimeout
	Setup    []string      // statements sent before the first record; a failure is an error of Run
	// Skip returns a reason when a record is to be left out, else "".
	Skip func(*Record) string
	// OnResult, when set, is called after each record.
	OnResult func(Result)
}

// Outcome of a record.
type Outcome int

// The outcomes.
const (
	Passed Outcome = iota
	Failed
	Skipped
)

func (o Outcome) String() string { return [...]string{"pass", "FAIL", "skip"}[o] }

// Result of one record.
type Result struct {
	Record   *Record
	Outcome  Outcome
	Detail   string // why it failed or was skipped; several lines
	Duration time.Duration
}

// errConnection marks a record after which the connection cannot be used.
var errConnection = errors.New("the connection is lost")

// Run runs a script on one connection of the pool. An error means that the
// script could not be started (no connection, a failed Setup statement, a
// cancelled context); failed records are in the report. After a lost
// connection the remaining records are skipped, since the session is gone.
func Run(ctx context.Context, db *sql.DB, script *Script, opts Options) (*Report, error) {
	if opts.Timeout <= 0 {
		opts.Timeout = DefaultTimeout
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: connect: %w", script.Name, err)
	}
	defer conn.Close()
	r := &run{conn: conn, opts: opts}
	for _, s := range opts.Setup {
		if _, err := r.send(ctx, s, Text); err != nil {
			return nil, fmt.Errorf("%s: setup %q: %w", script.Name, s, err)
		}
	}
	report := &Report{Script: script, Protocol: opts.Protocol}
	lost := ""
	for i := range script.Records {
		if err := ctx.Err(); err != nil {
			return report, err
		}
		rec := &script.Records[i]
		res := Result{Record: rec}
		start := time.Now()
		switch reason := r.skip(rec, lost); {
		case reason != "":
			res.Outcome, res.Detail = Skipped, reason
		default:
			detail, err := r.record(ctx, rec)
			if detail != "" {
				res.Outcome, res.Detail = Failed, detail
			}
			if err != nil {
				lost = "the connection was lost at " + rec.Pos()
			}
		}
		res.Duration = time.Since(start)
		report.add(res)
		if opts.OnResult != nil {
			opts.OnResult(res)
		}
	}
	return report, nil
}

type run struct {
	conn *sql.Conn
	opts Options
}

func (r *run) skip(rec *Record, lost string) string {
	if lost != "" {
		return lost
	}
	if r.opts.Skip != nil {
		return r.opts.Skip(rec)
	}
	return ""
}

// record runs one record. The detail is "" when it passed; the error is not nil
// when the connection is gone.
func (r *run) record(ctx context.Context, rec *Record) (detail string, lost error) {
	if rec.Kind == Sleep {
		select {
		case <-time.After(rec.Sleep):
		case <-ctx.Done():
		}
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.opts.Timeout)
	defer cancel()
	rows, err := r.send(ctx, rec.SQL, r.opts.Protocol)
	var server *mysql.MySQLError
	if err != nil && !errors.As(err, &server) {
		// Not an answer of the server: never what a script expects.
		if ctx.Err() == context.DeadlineExceeded {
			return fmt.Sprintf("no answer within %s", r.opts.Timeout), errConnection
		}
		if connectionLost(err) {
			return "connection lost: " + err.Error(), errConnection
		}
		return "failed in the client: " + err.Error(), nil
	}
	switch rec.Kind {
	case StatementOK:
		if err != nil {
			return "want success, got " + err.Error(), nil
		}
	case StatementError:
		if err == nil {
			return fmt.Sprintf("want an error containing %q, got success", rec.ErrorText), nil
		}
		if !strings.Contains(strings.ToLower(server.Error()), strings.ToLower(rec.ErrorText)) {
			return fmt.Sprintf("want an error containing %q, got %s", rec.ErrorText, err), nil
		}
	case Query:
		if err != nil {
			return "want rows, got " + err.Error(), nil
		}
		if rows.columns != len(rec.Types) {
			return fmt.Sprintf("want %d columns (%s), got %d", len(rec.Types), rec.Types, rows.columns), nil
		}
		return compareRows(rec, rows.cells), nil
	}
	return "", nil
}

func connectionLost(err error) bool {
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, sql.ErrConnDone) ||
		errors.Is(err, mysql.ErrMalformPkt) || errors.Is(err, mysql.ErrPktSync)
}

// resultSet is the first result set of a statement, read to its end.
type resultSet struct {
	columns int
	cells   [][]cell
}

// send runs a statement and reads everything the server answers.
func (r *run) send(ctx context.Context, query string, protocol Protocol) (*resultSet, error) {
	var rows *sql.Rows
	var err error
	if _, asText := GoesAsText(query); protocol == Binary && !asText {
		var stmt *sql.Stmt
		if stmt, err = r.conn.PrepareContext(ctx, query); err != nil {
			return nil, err
		}
		defer stmt.Close()
		rows, err = stmt.QueryContext(ctx)
	} else {
		rows, err = r.conn.QueryContext(ctx, query)
	}
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	set, err := readRows(rows)
	if err != nil {
		return nil, err
	}
	for rows.NextResultSet() {
		if _, err := readRows(rows); err != nil {
			return nil, err
		}
	}
	return set, rows.Err()
}

func readRows(rows *sql.Rows) (*resultSet, error) {
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	set := &resultSet{columns: len(types)}
	values := make([]any, len(types))
	pointers := make([]any, len(types))
	for i := range values {
		pointers[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(pointers...); err != nil {
			return nil, err
		}
		row := make([]cell, len(types))
		for i, v := range values {
			row[i] = newCell(v, types[i].DatabaseTypeName())
		}
		set.cells = append(set.cells, row)
	}
	return set, rows.Err()
}
