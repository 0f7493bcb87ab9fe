package runner

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Kind says what a record asks for.
type Kind int

// The kinds of records.
const (
	StatementOK    Kind = iota // must succeed
	StatementError             // must fail with a given text
	Query                      // must return given rows
	Sleep                      // waits
)

// columnTypes are the letters a query may use for its columns.
const columnTypes = "IRFTDBXJ"

// maxSleep bounds the wait a script may ask for.
const maxSleep = 10 * time.Minute

// ErrFormat is wrapped by every error about the form of a script.
var ErrFormat = errors.New("not a valid script")

// Record is one step of a script.
type Record struct {
	File string // name given to Parse
	Line int    // line of the record's head, from 1
	Kind Kind

	Comment string // the comment lines right above the record, joined by spaces

	SQL       string        // one line, no semicolon; empty for Sleep
	ErrorText string        // StatementError: text the message must contain
	Types     string        // Query: one letter for each column
	RowSort   bool          // Query: the order of the rows does not count
	Want      [][]string    // Query: rows of raw cells, still escaped
	Sleep     time.Duration // Sleep: how long
}

// Pos returns "file:line".
func (r *Record) Pos() string { return r.File + ":" + strconv.Itoa(r.Line) }

// Script is a parsed file.
type Script struct {
	Name    string
	Title   string   // first line of the file when it is a comment
	Header  []string // the comment lines at the top of the file, without "# "
	Records []Record
}

// ParseFile reads and parses the script at path.
func ParseFile(path string) (*Script, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, string(b))
}

// Parse parses the text of a script. The name is used in positions only.
// Errors wrap ErrFormat and name the line.
func Parse(name, text string) (*Script, error) {
	p := &parser{script: &Script{Name: name}, lines: strings.Split(text, "\n")}
	if err := p.run(); err != nil {
		return nil, err
	}
	return p.script, nil
}

type parser struct {
	script *Script
	lines  []string
	pos    int // index of the next line

	comment []string // comment lines since the last record or empty line
}

func (p *parser) fail(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w: %s", p.script.Name, line, ErrFormat, fmt.Sprintf(format, args...))
}

func (p *parser) run() error {
	inHeader := true
	for p.pos < len(p.lines) {
		line := p.lines[p.pos]
		if strings.HasPrefix(line, "#") {
			if inHeader {
				p.script.Header = append(p.script.Header, strings.TrimSpace(line[1:]))
			}
			p.comment = append(p.comment, strings.TrimSpace(line[1:]))
			p.pos++
			continue
		}
		inHeader = false
		if strings.TrimSpace(line) == "" {
			p.comment = nil
			p.pos++
			continue
		}
		rec := Record{File: p.script.Name, Line: p.pos + 1, Comment: strings.Join(p.comment, " ")}
		p.comment = nil
		word, rest, _ := strings.Cut(line, " ")
		var err error
		switch word {
		case "statement":
			err = p.statement(&rec, rest)
		case "query":
			err = p.query(&rec, rest)
		case "sleep":
			err = p.sleep(&rec, rest)
		default:
			err = p.fail(p.pos+1, "expected statement, query or sleep, found %q", clip(line, 60))
		}
		if err != nil {
			return err
		}
		p.script.Records = append(p.script.Records, rec)
	}
	if len(p.script.Header) > 0 {
		p.script.Title = p.script.Header[0]
	}
	return nil
}

// sql takes the line below the head as the record's statement.
func (p *parser) sql(rec *Record) error {
	p.pos++
	if p.pos >= len(p.lines) || strings.TrimSpace(p.lines[p.pos]) == "" {
		return p.fail(rec.Line, "the statement is missing")
	}
	rec.SQL = p.lines[p.pos]
	p.pos++
	return nil
}

func (p *parser) statement(rec *Record, rest string) error {
	what, text, _ := strings.Cut(rest, " ")
	switch what {
	case "ok":
		rec.Kind = StatementOK
		if strings.TrimSpace(text) != "" {
			return p.fail(rec.Line, "unexpected text after 'statement ok'")
		}
	case "error":
		rec.Kind = StatementError
		rec.ErrorText = strings.TrimSpace(text)
	default:
		return p.fail(rec.Line, "expected 'statement ok' or 'statement error', found %q", clip(rest, 60))
	}
	if err := p.sql(rec); err != nil {
		return err
	}
	if p.pos < len(p.lines) && p.lines[p.pos] == "----" {
		return p.fail(p.pos+1, "a statement has no rows; use 'query'")
	}
	return nil
}

func (p *parser) query(rec *Record, rest string) error {
	rec.Kind = Query
	fields := strings.Fields(rest)
	if len(fields) == 0 || len(fields) > 2 {
		return p.fail(rec.Line, "expected 'query TYPES [rowsort]'")
	}
	rec.Types = fields[0]
	for _, c := range rec.Types {
		if !strings.ContainsRune(columnTypes, c) {
			return p.fail(rec.Line, "unknown column type %q; known are %s", c, columnTypes)
		}
	}
	if len(fields) == 2 {
		if fields[1] != "rowsort" {
			return p.fail(rec.Line, "unknown word %q; only rowsort may follow the types", fields[1])
		}
		rec.RowSort = true
	}
	if err := p.sql(rec); err != nil {
		return err
	}
	if p.pos >= len(p.lines) || p.lines[p.pos] != "----" {
		return p.fail(p.pos+1, "expected ---- below the query")
	}
	p.pos++
	for ; p.pos < len(p.lines) && p.lines[p.pos] != ""; p.pos++ {
		cells := strings.Split(p.lines[p.pos], "\t")
		if len(cells) != len(rec.Types) {
			return p.fail(p.pos+1, "the row has %d cells, the query %d columns", len(cells), len(rec.Types))
		}
		rec.Want = append(rec.Want, cells)
	}
	return nil
}

func (p *parser) sleep(rec *Record, rest string) error {
	rec.Kind = Sleep
	n, err := strconv.ParseUint(strings.TrimSpace(rest), 10, 32)
	if err != nil || time.Duration(n)*time.Millisecond > maxSleep {
		return p.fail(rec.Line, "expected 'sleep MILLISECONDS' (at most %d)", maxSleep/time.Millisecond)
	}
	rec.Sleep = time.Duration(n) * time.Millisecond
	p.pos++
	return nil
}

// clip shortens s for a message, at a rune boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}
