package dialect

import (
	"strings"
	"unicode/utf8"
)

// Mode holds the parts of sql_mode that change how text is read.
type Mode struct {
	AnsiQuotes         bool // " quotes identifiers
	NoBackslashEscapes bool // \ is an ordinary character in strings
	PipesAsConcat      bool // || is string concatenation
	HighNotPrecedence  bool // NOT binds like !
	OnlyFullGroupBy    bool // implicit grouping may not select plain columns
}

// ModeOf reads a sql_mode value such as "ANSI,STRICT_TRANS_TABLES". Unknown
// names are ignored.
func ModeOf(sqlMode string) Mode {
	var m Mode
	for _, s := range strings.Split(sqlMode, ",") {
		switch strings.ToUpper(strings.TrimSpace(s)) {
		case "ANSI_QUOTES":
			m.AnsiQuotes = true
		case "NO_BACKSLASH_ESCAPES":
			m.NoBackslashEscapes = true
		case "PIPES_AS_CONCAT":
			m.PipesAsConcat = true
		case "HIGH_NOT_PRECEDENCE":
			m.HighNotPrecedence = true
		case "ONLY_FULL_GROUP_BY":
			m.OnlyFullGroupBy = true
		case "ANSI":
			m.AnsiQuotes, m.PipesAsConcat, m.OnlyFullGroupBy = true, true, true
		}
	}
	return m
}

// ServerVersionID is the MySQL version this server speaks as, in the form of
// conditional comments (8.0.36): the text of /*!NNNNN … */ counts when NNNNN is
// not greater.
const ServerVersionID = 80036

// Kind is the class of a [Token].
type Kind uint8

// The token kinds.
const (
	KindEOF       Kind = iota
	KindWord           // unquoted identifier or keyword, also with $ and non-ASCII letters
	KindQuoted         // `identifier`, or "identifier" under ANSI_QUOTES
	KindString         // 'text' or "text"
	KindNString        // N'text'
	KindNumber         // 1, 1.5, .5, 1e3
	KindHex            // X'4D' or 0x4D
	KindBit            // b'01' or 0b01
	KindParam          // ?
	KindUserVar        // @v, @`v`, @'v'
	KindSysVar         // @@v, @@session.v
	KindOp             // operator or punctuation
	KindComment        // comment, also a conditional comment whose version is too high
	KindHint           // /*+ … */
	KindCondOpen       // /*!NNNNN
	KindCondClose      // the */ that ends it
	KindInvalid        // text that is no token (an unterminated string, a stray byte)
)

// Token is one lexical element of a text. Start and End are byte offsets.
type Token struct {
	Kind       Kind
	Start, End int
}

// Trivia reports whether the token is no part of the grammar.
func (t Token) Trivia() bool {
	switch t.Kind {
	case KindComment, KindCondOpen, KindCondClose:
		return true
	}
	return false
}

// Lexer cuts a text into tokens. It never fails: text that is no token comes as
// KindInvalid, and lexing goes on behind it.
type Lexer struct {
	src    string
	mode   Mode
	pos    int
	inCond bool
	prev   Token // last token that is not trivia
	prev2  Token
}

// NewLexer returns a lexer over src.
func NewLexer(src string, mode Mode) *Lexer {
	return &Lexer{src: src, mode: mode}
}

// Lex returns all tokens of src including trivia, without the final KindEOF.
func Lex(src string, mode Mode) []Token {
	lx := NewLexer(src, mode)
	out := make([]Token, 0, len(src)/5+4)
	for {
		t := lx.Next()
		if t.Kind == KindEOF {
			return out
		}
		out = append(out, t)
	}
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWordStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c >= utf8.RuneSelf
}

func isWordByte(c byte) bool { return isWordStart(c) || isDigit(c) }

func isHexDigit(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func (lx *Lexer) at(i int) byte {
	if i < len(lx.src) {
		return lx.src[i]
	}
	return 0
}

// Next returns the next token, KindEOF at the end.
func (lx *Lexer) Next() Token {
	for lx.pos < len(lx.src) && isSpace(lx.src[lx.pos]) {
		lx.pos++
	}
	start := lx.pos
	if start >= len(lx.src) {
		return Token{Kind: KindEOF, Start: start, End: start}
	}
	kind := lx.scan()
	t := Token{Kind: kind, Start: start, End: lx.pos}
	if !t.Trivia() {
		lx.prev2, lx.prev = lx.prev, t
	}
	return t
}

// scan moves pos behind the token that starts there and returns its kind.
func (lx *Lexer) scan() Kind {
	src, i := lx.src, lx.pos
	c, n := src[i], lx.at(i+1)
	switch {
	case c == '\'' || c == '"' && !lx.mode.AnsiQuotes:
		return lx.quoted(i, KindString)
	case c == '`' || c == '"':
		return lx.quoted(i, KindQuoted)
	case (c == 'n' || c == 'N') && n == '\'':
		return lx.quoted(i+1, KindNString)
	case (c == 'x' || c == 'X') && n == '\'':
		return lx.radix(i+1, KindHex, isHexDigit)
	case (c == 'b' || c == 'B') && n == '\'':
		return lx.radix(i+1, KindBit, func(c byte) bool { return c == '0' || c == '1' })
	case isDigit(c) && !lx.afterDot():
		return lx.number()
	case isWordByte(c):
		lx.word()
		return KindWord
	case c == '.' && isDigit(n) && !lx.afterName():
		return lx.number()
	case c == '@':
		return lx.variable()
	case c == '/' && n == '*', c == '#', c == '-' && n == '-' && (i+2 >= len(src) || src[i+2] <= ' '):
		return lx.comment()
	case c == '*' && n == '/' && lx.inCond:
		lx.inCond = false
		lx.pos += 2
		return KindCondClose
	case c == '?':
		lx.pos++
		return KindParam
	}
	return lx.operator()
}

// afterDot reports whether the token is the part of a name behind its dot,
// where `1a` and even `1` are names.
func (lx *Lexer) afterDot() bool {
	p := lx.prev
	return p.Kind == KindOp && p.End == lx.pos && lx.src[p.Start:p.End] == "." &&
		(lx.prev2.Kind == KindWord || lx.prev2.Kind == KindQuoted)
}

// afterName reports whether the token directly follows a name, so that a dot
// belongs to the name.
func (lx *Lexer) afterName() bool {
	return lx.prev.End == lx.pos && (lx.prev.Kind == KindWord || lx.prev.Kind == KindQuoted)
}

// quoted scans from the opening quote at i.
func (lx *Lexer) quoted(i int, kind Kind) Kind {
	src, q := lx.src, lx.src[i]
	escapes := kind != KindQuoted && !lx.mode.NoBackslashEscapes
	for i++; i < len(src); i++ {
		switch {
		case src[i] == '\\' && escapes:
			i++
		case src[i] == q:
			if lx.at(i+1) != q {
				lx.pos = i + 1
				return kind
			}
			i++
		}
	}
	lx.pos = len(src)
	return KindInvalid
}

// radix scans x'..' or b'..' from its opening quote.
func (lx *Lexer) radix(i int, kind Kind, ok func(byte) bool) Kind {
	digits := 0
	for i++; i < len(lx.src) && ok(lx.src[i]); i++ {
		digits++
	}
	if lx.at(i) != '\'' || kind == KindHex && digits%2 != 0 {
		// Not a literal: resume behind the string as a whole.
		lx.quoted(lx.pos+1, KindString)
		return KindInvalid
	}
	lx.pos = i + 1
	return kind
}

func (lx *Lexer) word() {
	for lx.pos < len(lx.src) && isWordByte(lx.src[lx.pos]) {
		lx.pos++
	}
}

// number scans a numeric literal; a digit sequence that goes on with letters is
// a name, as in MySQL.
func (lx *Lexer) number() Kind {
	src, i := lx.src, lx.pos
	if src[i] == '0' && i+2 < len(src) {
		ok, kind := isHexDigit, KindHex
		if src[i+1] == 'b' {
			ok, kind = func(c byte) bool { return c == '0' || c == '1' }, KindBit
		}
		if src[i+1] == 'x' || src[i+1] == 'b' {
			j := i + 2
			for j < len(src) && ok(src[j]) {
				j++
			}
			if j > i+2 && (j == len(src) || !isWordByte(src[j])) {
				lx.pos = j
				return kind
			}
		}
	}
	for i < len(src) && isDigit(src[i]) {
		i++
	}
	dot := i < len(src) && src[i] == '.'
	if dot {
		for i++; i < len(src) && isDigit(src[i]); i++ {
		}
	}
	if c := lx.at(i); c == 'e' || c == 'E' {
		j := i + 1
		if s := lx.at(j); s == '+' || s == '-' {
			j++
		}
		if isDigit(lx.at(j)) {
			for j < len(src) && isDigit(src[j]) {
				j++
			}
			if j == len(src) || !isWordByte(src[j]) || dot {
				lx.pos = j
				return KindNumber
			}
		}
	}
	if !dot && i < len(src) && isWordByte(src[i]) {
		lx.word()
		return KindWord
	}
	lx.pos = i
	return KindNumber
}

// variable scans @name, @'name', @@name and @@scope.name.
func (lx *Lexer) variable() Kind {
	src, i, kind := lx.src, lx.pos+1, KindUserVar
	if lx.at(i) == '@' {
		i++
		kind = KindSysVar
	}
	for {
		if c := lx.at(i); c == '`' || kind == KindUserVar && (c == '\'' || c == '"') {
			lx.pos = i
			if lx.quoted(i, KindQuoted) == KindInvalid {
				return KindInvalid
			}
			i = lx.pos
		} else {
			for i < len(src) && (isWordByte(src[i]) || kind == KindUserVar && src[i] == '.') {
				i++
			}
		}
		if kind == KindSysVar && lx.at(i) == '.' && (isWordStart(lx.at(i+1)) || lx.at(i+1) == '`') {
			i++
			continue
		}
		lx.pos = i
		return kind
	}
}

// comment scans the comment that starts at pos.
func (lx *Lexer) comment() Kind {
	src, i := lx.src, lx.pos
	if src[i] != '/' {
		if j := strings.IndexByte(src[i:], '\n'); j >= 0 {
			lx.pos = i + j + 1
		} else {
			lx.pos = len(src)
		}
		return KindComment
	}
	switch {
	case lx.at(i+2) == '!' && !lx.inCond:
		version, j := 0, i+3
		for j < len(src) && j < i+9 && isDigit(src[j]) {
			version = version*10 + int(src[j]-'0')
			j++
		}
		if j < i+8 { // fewer than five digits are no version but text
			version, j = 0, i+3
		}
		if version <= ServerVersionID {
			if !lx.condTerminated(j) {
				lx.pos = len(src)
				return KindInvalid
			}
			lx.inCond = true
			lx.pos = j
			return KindCondOpen
		}
		return lx.skipCond(j)
	case lx.at(i+2) == '+':
		return lx.plainComment(i, KindHint)
	}
	return lx.plainComment(i, KindComment)
}

func (lx *Lexer) plainComment(i int, kind Kind) Kind {
	j := strings.Index(lx.src[i+2:], "*/")
	if j < 0 {
		lx.pos = len(lx.src)
		return KindInvalid
	}
	lx.pos = i + 2 + j + 2
	return kind
}

// condTerminated looks for the end of a conditional comment whose text starts
// at i. A */ in a string does not count only if the string is closed, which the
// lexer finds out later; here any */ is enough to go on.
func (lx *Lexer) condTerminated(i int) bool {
	return strings.Contains(lx.src[i:], "*/")
}

// skipCond skips a conditional comment that is too new, with comments nested in
// it.
func (lx *Lexer) skipCond(i int) Kind {
	depth := 1
	for ; i < len(lx.src); i++ {
		switch {
		case lx.src[i] == '*' && lx.at(i+1) == '/':
			i++
			if depth--; depth == 0 {
				lx.pos = i + 1
				return KindComment
			}
		case lx.src[i] == '/' && lx.at(i+1) == '*':
			i++
			depth++
		}
	}
	lx.pos = len(lx.src)
	return KindInvalid
}

// operators of more than one byte, longest first.
var longOperators = [...]string{"<=>", "->>", "<<", ">>", "<=", ">=", "<>", "!=", "||", "&&", ":=", "->", "=>"}

func (lx *Lexer) operator() Kind {
	rest := lx.src[lx.pos:]
	for _, op := range longOperators {
		if strings.HasPrefix(rest, op) {
			lx.pos += len(op)
			return KindOp
		}
	}
	lx.pos++
	if strings.IndexByte("=<>!+-*/%^~&|,.;:()[]{}", rest[0]) >= 0 {
		return KindOp
	}
	return KindInvalid
}
