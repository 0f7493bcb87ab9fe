package wire

import (
	"errors"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/tributarydb/tributary/sqlengine/errmap"
)

// commandQuery runs the statements of COM_QUERY.
func (c *conn) commandQuery(body []byte) error {
	if c.caps&capQueryAttributes != 0 {
		var err error
		if body, err = skipAttributes(body); err != nil {
			return c.malformed()
		}
	}
	text := c.decodeText(body)
	for first := true; ; first = false {
		r, rest, err := c.parseNext(text)
		if err != nil {
			if !first && errors.Is(err, sqlparser.ErrEmpty) && blankSQL(rest) {
				err = errmap.New(1065, "42000", "Query was empty")
			}
			return c.answer(err)
		}
		if blankSQL(rest) {
			rest = ""
		}
		if rest != "" && c.caps&capMultiStatements == 0 {
			return c.answer(errmap.New(1064, "42000",
				"You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near '%s' at line %d",
				firstChars(strings.TrimSpace(rest)), 1+strings.Count(text[:max(len(text)-len(rest), 0)], "\n")))
		}
		r.more = rest != ""
		ok, err := c.run1(r)
		if err != nil || !ok || rest == "" {
			return err
		}
		text = rest
	}
}

// parseNext parses the first statement of text.
func (c *conn) parseNext(text string) (r runnable, rest string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = c.panicked("parser", p)
		}
	}()
	ctx := c.newContext(c.ctx, text)
	r.stmt, r.text, rest, err = c.srv.cfg.Parser.Parse(ctx, text, true)
	return r, rest, err
}

// parseOne parses text that must be one statement.
func (c *conn) parseOne(ctx *sql.Context, text string) (sqlparser.Statement, string, error) {
	stmt, parsed, rest, err := c.srv.cfg.Parser.Parse(ctx, text, true)
	if err != nil {
		return nil, "", err
	}
	if !blankSQL(rest) {
		return nil, "", errmap.New(1064, "42000",
			"You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near '%s' at line 1",
			firstChars(strings.TrimSpace(rest)))
	}
	return stmt, parsed, nil
}

// nearChars is how much of a statement a syntax error quotes.
const nearChars = 80

func firstChars(s string) string {
	n := 0
	for i := range s {
		if n == nearChars {
			return s[:i]
		}
		n++
	}
	return s
}

// blankSQL reports text that holds spaces, semicolons and plain comments only.
func blankSQL(s string) bool {
	for {
		s = strings.TrimLeft(s, " \t\r\n\f\v;")
		switch {
		case s == "":
			return true
		case strings.HasPrefix(s, "#"), strings.HasPrefix(s, "--") && (len(s) == 2 || s[2] <= ' '):
			i := strings.IndexByte(s, '\n')
			if i < 0 {
				return true
			}
			s = s[i:]
		case strings.HasPrefix(s, "/*") && !strings.HasPrefix(s, "/*!"):
			i := strings.Index(s[2:], "*/")
			if i < 0 {
				return true
			}
			s = s[i+4:]
		default:
			return false
		}
	}
}
