package dialect

import "strings"

// Piece is one statement of a text that may hold several.
type Piece struct {
	Text       string // without the closing semicolon and the space around it
	Start, End int    // byte offsets of Text in the whole text
	Rest       int    // where the text behind the semicolon starts
	Empty      bool   // nothing but comments
}

// Split cuts a COM_QUERY text into its statements at semicolons that stand
// outside strings, quoted names, comments and the bodies of stored programs.
// Pieces of comments alone are left out, except that a text with nothing else
// gives one Piece with Empty set.
func Split(text string, mode Mode) []Piece {
	var out []Piece
	var comment *Piece
	lx := NewLexer(text, mode)
	for {
		p, ok := nextPiece(lx, ";")
		if p.Start < p.End {
			if !p.Empty {
				out = append(out, p)
			} else if comment == nil {
				comment = &p
			}
		}
		if !ok {
			break
		}
	}
	if len(out) == 0 && comment != nil {
		out = append(out, *comment)
	}
	return out
}

// nextPiece reads up to the next delimiter; ok is false when the text ends.
func nextPiece(lx *Lexer, delimiter string) (p Piece, ok bool) {
	p = Piece{Start: -1, Empty: true}
	finish := func(rest int) {
		if p.Start < 0 {
			p.Start, p.End = rest, rest
		}
		p.Text, p.Rest = lx.src[p.Start:p.End], rest
	}
	var body programBody
	for {
		t := lx.Next()
		if t.Kind == KindEOF {
			finish(len(lx.src))
			return p, false
		}
		word := lx.src[t.Start:t.End]
		if t.Kind == KindOp && word == delimiter && !lx.inCond && body.depth == 0 {
			finish(t.End)
			return p, true
		}
		if p.Start < 0 {
			p.Start = t.Start
		}
		p.End = t.End
		if !t.Trivia() {
			p.Empty = false
			body.see(t.Kind, word)
		}
	}
}

// programBody follows the nesting of BEGIN and CASE inside CREATE PROCEDURE,
// FUNCTION, TRIGGER and EVENT, where semicolons end inner statements.
type programBody struct {
	tokens  int
	create  bool // the statement starts with CREATE
	program bool // and creates a stored program
	closing bool // the last token was END
	depth   int
}

// maxProgramHead is how many tokens may stand between CREATE and the kind of
// object (OR REPLACE, DEFINER = 'user'@'host', …).
const maxProgramHead = 12

func (b *programBody) see(kind Kind, word string) {
	b.tokens++
	closing := b.closing
	b.closing = false
	if kind != KindWord {
		return
	}
	word = strings.ToUpper(word)
	switch {
	case b.tokens == 1:
		b.create = word == "CREATE"
	case b.create && !b.program && b.tokens <= maxProgramHead:
		switch word {
		case "PROCEDURE", "FUNCTION", "TRIGGER", "EVENT":
			b.program = true
		case "TABLE", "VIEW", "DATABASE", "SCHEMA", "INDEX", "USER", "ROLE":
			b.create = false
		}
	case b.program:
		switch word {
		case "BEGIN":
			b.depth++
		case "CASE":
			if !closing {
				b.depth++
			}
		case "END":
			if b.depth > 0 {
				b.depth--
			}
			b.closing = true
		case "IF", "LOOP", "WHILE", "REPEAT":
			if closing { // END IF closes no BEGIN
				b.depth++
			}
		}
	}
}
