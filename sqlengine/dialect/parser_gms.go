package dialect

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/dolthub/vitess/go/vt/vterrors"
)

// Parser implements go-mysql-server's sql.Parser for the dialect. It is safe
// for concurrent use.
type Parser struct {
	options Options
}

var _ sql.Parser = (*Parser)(nil)

// Options connect a Parser with the planner.
type Options struct {
	// Plan makes the node for a statement of this package. children are the
	// statement's expressions, bound by the planner ([Do] has them). Nil: such
	// statements fail as unsupported.
	Plan func(stmt Statement, children []sql.Expression) (sql.Node, error)
}

// NewParser returns a parser for engine.Parser, Analyzer.Parser and
// sql.GlobalParser.
func NewParser(options Options) *Parser {
	return &Parser{options: options}
}

// Parsed is one parsed statement.
type Parsed struct {
	Statement sqlparser.Statement
	Text      string // the statement as the user wrote it; positions in Statement refer to it
	Params    int    // number of ? placeholders, bound as v1, v2, …
}

// ParseSimple implements sql.Parser: default mode, one statement.
func (p *Parser) ParseSimple(query string) (sqlparser.Statement, error) {
	parsed, err := p.ParseStatement(trimStatement(query, Mode{}), Mode{})
	if err != nil {
		return nil, err
	}
	return parsed.Statement, nil
}

// Parse implements sql.Parser with the sql_mode of the session.
func (p *Parser) Parse(ctx *sql.Context, query string, multi bool) (sqlparser.Statement, string, string, error) {
	return p.parse(query, ';', multi, sessionMode(ctx))
}

// ParseWithOptions implements sql.Parser. If ctx is a *sql.Context, the parts of
// sql_mode that options do not hold are taken from its session.
func (p *Parser) ParseWithOptions(ctx context.Context, query string, delimiter rune, multi bool, options sqlparser.ParserOptions) (sqlparser.Statement, string, string, error) {
	return p.parse(query, delimiter, multi, contextMode(ctx, options))
}

// ParseOneWithOptions implements sql.Parser: the first statement of query, and
// where the next one starts.
func (p *Parser) ParseOneWithOptions(ctx context.Context, query string, options sqlparser.ParserOptions) (sqlparser.Statement, int, error) {
	mode := contextMode(ctx, options)
	piece, _ := nextPiece(NewLexer(query, mode), ";")
	parsed, err := p.ParseStatement(piece.Text, mode)
	if err != nil {
		if errors.Is(err, sqlparser.ErrEmpty) {
			return nil, piece.Rest, err
		}
		return nil, 0, err
	}
	return parsed.Statement, piece.Rest, nil
}

// parse is the common part of Parse and ParseWithOptions.
func (p *Parser) parse(query string, delimiter rune, multi bool, mode Mode) (stmt sqlparser.Statement, text, rest string, err error) {
	if stmt, text, ok := p.parseBulk(query, delimiter, mode); ok {
		return stmt, text, "", nil
	}
	piece, more := nextPiece(NewLexer(query, mode), string(delimiter))
	for piece.Empty && more { // leading semicolons
		query = query[piece.Rest:]
		piece, more = nextPiece(NewLexer(query, mode), string(delimiter))
	}
	rest = strings.TrimSpace(query[piece.Rest:])
	if rest != "" {
		if next, _ := nextPiece(NewLexer(rest, mode), string(delimiter)); next.Start == next.End {
			rest = strings.TrimSpace(rest[next.Rest:])
		}
	}
	if rest != "" && !multi {
		if next := Split(rest, mode); len(next) > 0 && !next[0].Empty {
			at := len(query) - len(strings.TrimLeft(query[piece.Rest:], " \t\r\n;"))
			return nil, piece.Text, rest, syntaxErrorAt(query, at)
		}
		rest = ""
	}
	parsed, err := p.ParseStatement(piece.Text, mode)
	return parsed.Statement, piece.Text, rest, err
}

func trimStatement(query string, mode Mode) string {
	if pieces := Split(query, mode); len(pieces) == 1 {
		return pieces[0].Text
	}
	return query
}

// sessionMode reads sql_mode from the session of ctx.
func sessionMode(ctx *sql.Context) Mode {
	if ctx == nil || ctx.Session == nil {
		return Mode{}
	}
	return ModeOf(sql.LoadSqlMode(ctx).String())
}

func contextMode(ctx context.Context, options sqlparser.ParserOptions) Mode {
	var mode Mode
	if sc, ok := ctx.(*sql.Context); ok {
		mode = sessionMode(sc)
	}
	mode.AnsiQuotes = options.AnsiQuotes // of a view: the mode it was made in
	return mode
}

// ParseStatement parses one statement (without a semicolon behind it). An empty
// text gives sqlparser.ErrEmpty, a text of comments only [CommentOnly]; other
// errors are *[Error].
func (p *Parser) ParseStatement(text string, mode Mode) (Parsed, error) {
	out := Parsed{Text: text}
	s, err := newScript(text, mode)
	if err != nil {
		return out, err
	}
	if len(s.toks) == 0 {
		if strings.TrimSpace(text) == "" {
			return out, sqlparser.ErrEmpty
		}
		out.Statement = p.inject(s, CommentOnly{})
		return out, nil
	}
	out.Params = s.params
	own, err := p.parseOwn(s)
	if own != nil || err != nil {
		out.Statement = own
		return out, err
	}
	if err := s.rewriteStatement(); err != nil {
		return out, err
	}
	r := s.render()
	stmt, err := parseVitess(r.text)
	if err != nil {
		if errors.Is(err, sqlparser.ErrEmpty) {
			return out, err
		}
		return out, r.syntaxError(err)
	}
	if l, ok := stmt.(*sqlparser.Load); ok && len(l.Partition) > 0 {
		return out, unknownPartition(l.Partition[0].String(), l.Table.Name.String())
	}
	if stmt, err = showAsSelect(stmt); err != nil {
		return out, err
	}
	f := s.features(r.text)
	if f.headers {
		restorePositions(stmt, r)
	}
	out.Statement, err = runPasses(stmt, mode, f)
	return out, err
}

// parseVitess calls vitess, which recovers from panics of its grammar but not
// from those in its handling of column headers.
func parseVitess(text string) (stmt sqlparser.Statement, err error) {
	defer func() {
		if r := recover(); r != nil {
			stmt, err = nil, &Error{Number: ErrnoSyntax, State: sqlStateSyntax,
				Message: fmt.Sprintf("The statement cannot be parsed: %v", r)}
		}
	}()
	return sqlparser.ParseWithOptions(context.Background(), text, sqlparser.ParserOptions{})
}

// syntaxErrorSentinel is text that is an error in any place of the grammar. Put
// behind a text, it tells an error at the last token from one at the end.
const syntaxErrorSentinel = " \x02"

// syntaxError turns vitess's error into MySQL's.
func (r *rewritten) syntaxError(err error) error {
	if e, ok := err.(*Error); ok {
		return e
	}
	if e := vitessComplaint(err); e != nil {
		return e
	}
	pos, _ := vitessPosition(err)
	end := pos - 1 // just behind the token that is wrong
	if end >= len(r.text) {
		_, err := parseVitess(r.text + syntaxErrorSentinel)
		if again, ok := vitessPosition(err); ok && again > len(r.text)+1 {
			return syntaxErrorAt(r.src, len(r.src))
		}
	}
	// The token that ends there, or the last one before.
	at := 0
	for _, p := range r.parts {
		if p.outStart >= end {
			break
		}
		at = p.srcStart
	}
	return syntaxErrorAt(r.src, at)
}

// vitessPosition finds the position in a vitess syntax error.
func vitessPosition(err error) (int, bool) {
	se, ok := vterrors.AsSyntaxError(err)
	return se.Position, ok
}

// vitessComplaint returns the error for what vitess's grammar refuses in words
// of its own, nil for a plain syntax error.
func vitessComplaint(err error) *Error {
	message, _, _ := strings.Cut(err.Error(), " at position ")
	switch {
	case message == "syntax error", strings.HasPrefix(message, "handler caught panic"):
		return nil
	case strings.HasPrefix(message, "Every derived table"):
		return &Error{Number: ErrnoDerivedAlias, State: sqlStateSyntax, Message: message}
	}
	return &Error{Number: ErrnoSyntax, State: sqlStateSyntax, Message: message}
}
