package dialect

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

const (
	// bulkBytes is the size from which the rows of INSERT … VALUES are read here and not by vitess.
	bulkBytes = 2048
	// maxBulkHead is how many tokens may stand before the second row.
	maxBulkHead = 8192
)

// LiteralKind says what a [Literal] is.
type LiteralKind uint8

// The kinds of literals.
const (
	LiteralNull    LiteralKind = iota
	LiteralDefault             // the word DEFAULT
	LiteralInt                 // digits
	LiteralDecimal             // digits with a point
	LiteralDouble              // with an exponent
	LiteralText
	LiteralTrue
	LiteralFalse
)

// Literal is a value of INSERT … VALUES. Text is the number as written, with a minus sign where there is one, or the text's value.
type Literal struct {
	Text []byte
	Kind LiteralKind
}

// LiteralRows are rows of INSERT … VALUES that have literals only. They stand, as an
// injected expression that is a row of its own, behind a row of the statement.
type LiteralRows struct {
	Rows [][]Literal
}

var _ sqlparser.Injectable = (*LiteralRows)(nil)

// String implements sqlparser.Injectable.
func (*LiteralRows) String() string { return "rows of literals" }

// WithResolvedChildren implements sqlparser.Injectable: whoever takes the statement takes the rows out first.
func (*LiteralRows) WithResolvedChildren([]any) (any, error) { return nil, errMarker }

// AsLiteralRows returns the rows that a row of VALUES stands for.
func AsLiteralRows(row sqlparser.ValTuple) (*LiteralRows, bool) {
	if len(row) != 1 {
		return nil, false
	}
	in, ok := row[0].(sqlparser.InjectedExpr)
	if !ok {
		return nil, false
	}
	rows, ok := in.Expression.(*LiteralRows)
	return rows, ok
}

// parseBulk parses an INSERT … VALUES of many rows: the first row as any statement, the others here. ok is false for every
// other text, and for one with an error, which is told by parsing it as a whole.
func (p *Parser) parseBulk(query string, delimiter rune, mode Mode) (stmt sqlparser.Statement, text string, ok bool) {
	from := bulkStart(query, mode)
	if from < 0 {
		return nil, "", false
	}
	rows, size, ok := scanRows([]byte(query[from:]), mode)
	if !ok || strings.Trim(query[from+size:], " \t\r\n"+string(delimiter)) != "" {
		return nil, "", false
	}
	piece, _ := nextPiece(NewLexer(query[:from], mode), string(delimiter))
	parsed, err := p.ParseStatement(piece.Text, mode)
	if err != nil {
		return nil, "", false
	}
	ins, ok := parsed.Statement.(*sqlparser.Insert)
	if !ok {
		return nil, "", false
	}
	values, ok := ins.Rows.(*sqlparser.AliasedValues)
	if !ok || len(values.Values) != 1 {
		return nil, "", false
	}
	values.Values = append(values.Values, sqlparser.ValTuple{sqlparser.InjectedExpr{
		Expression: &LiteralRows{Rows: rows}, Auth: sqlparser.AuthInformation{AuthType: sqlparser.AuthType_IGNORE},
	}})
	return ins, query[piece.Start : from+size], true
}

// bulkStart finds the comma behind the first row of an INSERT … VALUES, -1 where the text is no such statement.
func bulkStart(query string, mode Mode) int {
	if len(query) < bulkBytes {
		return -1
	}
	lx := NewLexer(query, mode)
	depth, values, first := 0, false, true
	for range maxBulkHead {
		t := lx.Next()
		text := query[t.Start:t.End]
		switch t.Kind {
		case KindEOF, KindInvalid, KindCondOpen, KindParam:
			return -1
		case KindComment:
			continue
		case KindWord:
			switch {
			case first:
				if !strings.EqualFold(text, "INSERT") && !strings.EqualFold(text, "REPLACE") {
					return -1
				}
			case depth == 0 && values:
				return -1
			case depth == 0 && (strings.EqualFold(text, "SELECT") || strings.EqualFold(text, "SET")):
				return -1
			case depth == 0 && (strings.EqualFold(text, "VALUES") || strings.EqualFold(text, "VALUE")):
				values = followsParen(query[t.End:])
			}
		case KindOp:
			switch text {
			case "(":
				depth++
			case ")":
				depth--
			case ",":
				if depth == 0 && values {
					return t.Start
				}
			}
		}
		first = false
	}
	return -1
}

func followsParen(rest string) bool {
	rest = strings.TrimLeft(rest, " \t\r\n")
	return rest != "" && rest[0] == '('
}

// rowScanner reads rows of literals.
type rowScanner struct {
	p       []byte
	at      int
	escapes bool
}

// scanRows reads ", (…), (…)" as far as it goes; size is its length. ok is false where something is no literal.
func scanRows(p []byte, mode Mode) (rows [][]Literal, size int, ok bool) {
	s := &rowScanner{p: p, escapes: !mode.NoBackslashEscapes}
	var cells []Literal
	width := 0
	for s.skip(',') {
		if !s.skip('(') {
			return nil, 0, false
		}
		if cap(cells)-len(cells) < width {
			cells = nil // rows keep the memory before
		}
		if cells == nil {
			cells = make([]Literal, 0, max(width, 1)*256)
		}
		from := len(cells)
		for {
			l, ok := s.literal()
			if !ok {
				return nil, 0, false
			}
			cells = append(cells, l)
			if s.skip(',') {
				continue
			}
			if !s.skip(')') {
				return nil, 0, false
			}
			break
		}
		width = len(cells) - from
		rows = append(rows, cells[from:len(cells):len(cells)])
		size = s.at
	}
	return rows, size, len(rows) > 0
}

func (s *rowScanner) blanks() {
	for s.at < len(s.p) && isSpace(s.p[s.at]) {
		s.at++
	}
}

// skip reads a byte, with blanks before it, if it comes next.
func (s *rowScanner) skip(b byte) bool {
	s.blanks()
	if s.at >= len(s.p) || s.p[s.at] != b {
		return false
	}
	s.at++
	return true
}

// ends reports whether a literal may end here.
func (s *rowScanner) ends() bool {
	return s.at < len(s.p) && (s.p[s.at] == ',' || s.p[s.at] == ')' || isSpace(s.p[s.at]))
}

// literal reads a literal.
func (s *rowScanner) literal() (l Literal, ok bool) {
	s.blanks()
	if s.at >= len(s.p) {
		return l, false
	}
	switch c := s.p[s.at]; {
	case c == '\'':
		return s.text()
	case isDigit(c) || (c == '-' || c == '+') && s.at+1 < len(s.p) && isDigit(s.p[s.at+1]):
		return s.number()
	}
	for _, w := range literalWords {
		if n := s.at + len(w.text); n < len(s.p) && strings.EqualFold(string(s.p[s.at:n]), w.text) {
			s.at = n
			return Literal{Kind: w.kind}, s.ends()
		}
	}
	return l, false
}

var literalWords = [...]struct {
	text string
	kind LiteralKind
}{{"NULL", LiteralNull}, {"TRUE", LiteralTrue}, {"FALSE", LiteralFalse}, {"DEFAULT", LiteralDefault}}

// number reads digits with a sign, a point and an exponent at most.
func (s *rowScanner) number() (Literal, bool) {
	from := s.at
	if s.p[s.at] == '+' {
		from++
	}
	if s.p[s.at] == '+' || s.p[s.at] == '-' {
		s.at++
	}
	kind := LiteralInt
	s.digits()
	if s.at < len(s.p) && s.p[s.at] == '.' {
		kind = LiteralDecimal
		s.at++
		s.digits()
	}
	if s.at < len(s.p) && (s.p[s.at] == 'e' || s.p[s.at] == 'E') {
		kind = LiteralDouble
		s.at++
		if s.at < len(s.p) && (s.p[s.at] == '+' || s.p[s.at] == '-') {
			s.at++
		}
		if !s.digits() {
			return Literal{}, false
		}
		if _, err := strconv.ParseFloat(string(s.p[from:s.at]), 64); err != nil {
			return Literal{}, false
		}
	}
	return Literal{s.p[from:s.at:s.at], kind}, s.ends()
}

func (s *rowScanner) digits() bool {
	from := s.at
	for s.at < len(s.p) && isDigit(s.p[s.at]) {
		s.at++
	}
	return s.at > from
}

// text reads a text in single quotes.
func (s *rowScanner) text() (Literal, bool) {
	start := s.at
	s.at++
	plain := true
	for {
		n := bytes.IndexByte(s.p[s.at:], '\'')
		if n < 0 {
			return Literal{}, false
		}
		if s.escapes {
			if e := bytes.IndexByte(s.p[s.at:s.at+n], '\\'); e >= 0 {
				plain = false
				s.at += e + 2 // what follows an escape is no quote
				if s.at > len(s.p) {
					return Literal{}, false
				}
				continue
			}
		}
		s.at += n + 1
		if s.at >= len(s.p) || s.p[s.at] != '\'' {
			break
		}
		plain = false
		s.at++
	}
	if plain {
		return Literal{s.p[start+1 : s.at-1 : s.at-1], LiteralText}, s.ends()
	}
	src := string(s.p[start:s.at])
	return Literal{[]byte(unquote(Token{Kind: KindString, End: len(src)}, src, Mode{NoBackslashEscapes: !s.escapes})), LiteralText}, s.ends()
}
