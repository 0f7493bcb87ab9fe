package dialect

import "strings"

// unquote returns the value of a string or quoted name token.
func unquote(t Token, src string, mode Mode) string {
	text := src[t.Start:t.End]
	if t.Kind == KindNString {
		text = text[1:]
	}
	if len(text) < 2 {
		return text
	}
	q, body := text[0], text[1:len(text)-1]
	escapes := t.Kind != KindQuoted && !mode.NoBackslashEscapes
	if strings.IndexByte(body, q) < 0 && (!escapes || strings.IndexByte(body, '\\') < 0) {
		return body
	}
	b := make([]byte, 0, len(body))
	for i := 0; i < len(body); i++ {
		c := body[i]
		switch {
		case c == q:
			i++ // doubled
		case c == '\\' && escapes && i+1 < len(body):
			i++
			switch c = body[i]; c {
			case '0':
				c = 0
			case 'b':
				c = '\b'
			case 'n':
				c = '\n'
			case 'r':
				c = '\r'
			case 't':
				c = '\t'
			case 'Z':
				c = 26
			case '%', '_': // kept for LIKE
				b = append(b, '\\')
			}
		}
		b = append(b, c)
	}
	return string(b)
}

// quoteString writes a string literal that vitess reads back as s.
func quoteString(s string) string {
	b := make([]byte, 0, len(s)+2)
	b = append(b, '\'')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case 0:
			b = append(b, '\\', '0')
		case '\'', '\\':
			b = append(b, '\\', c)
		default:
			b = append(b, c)
		}
	}
	return string(append(b, '\''))
}

// quoteName writes a quoted identifier.
func quoteName(s string) string {
	return "`" + strings.ReplaceAll(s, "`", "``") + "`"
}

// value returns the value of a string or name token.
func (s *script) value(i int) string {
	switch s.kind(i) {
	case KindString, KindNString, KindQuoted:
		return unquote(s.toks[i], s.src, s.mode)
	}
	return s.text(i)
}

// plainName reports whether vitess reads the word without quotes.
func plainName(word string) bool {
	if word == "" || isDigit(word[0]) {
		return false
	}
	for i := 0; i < len(word); i++ {
		if c := word[i]; c == '$' || c >= 0x80 {
			return false
		}
	}
	return true
}
