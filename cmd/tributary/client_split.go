package main

import "strings"

// statement is one piece of client input.
type statement struct {
	sql      string
	vertical bool // ended by \G
}

// splitter cuts input into statements at ';', '\g' and '\G' outside of quotes
// and comments.
type splitter struct{ rest string }

// add appends input.
func (s *splitter) add(text string) { s.rest += text }

// next returns the next complete statement; ok is false when there is none yet.
func (s *splitter) next() (st statement, ok bool) {
	for i := 0; i < len(s.rest); {
		n, skip := skipToken(s.rest[i:])
		if n == 0 {
			// An open quote or comment: wait for more.
			return statement{}, false
		}
		c := s.rest[i]
		switch {
		case skip:
			i += n
			continue
		case c == ';':
			st = statement{sql: s.rest[:i]}
			s.rest = s.rest[i+1:]
		case c == '\\' && i+1 < len(s.rest) && (s.rest[i+1] == 'g' || s.rest[i+1] == 'G'):
			st = statement{sql: s.rest[:i], vertical: s.rest[i+1] == 'G'}
			s.rest = s.rest[i+2:]
		default:
			i++
			continue
		}
		st.sql = strings.TrimSpace(st.sql)
		if st.sql == "" {
			i = 0
			continue
		}
		return st, true
	}
	return statement{}, false
}

// last returns what is left as a statement: the end of input ends it.
func (s *splitter) last() (statement, bool) {
	st := statement{sql: strings.TrimSpace(s.rest)}
	s.rest = ""
	return st, !blank(st.sql)
}

// pending reports whether an unfinished statement is waiting.
func (s *splitter) pending() bool { return !blank(s.rest) }

// open returns the quote or comment that is not closed yet, as shown in the
// prompt: one of ' " ` * or 0.
func (s *splitter) open() byte {
	for i := 0; i < len(s.rest); {
		n, _ := skipToken(s.rest[i:])
		if n == 0 {
			if s.rest[i] == '/' {
				return '*'
			}
			return s.rest[i]
		}
		i += n
	}
	return 0
}

// blank reports whether the text holds nothing but white space and comments
// that a server would not execute.
func blank(s string) bool {
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		n, comment := skipToken(s)
		if n == 0 || !comment || strings.ContainsAny(s[:1], "'\"`") || strings.HasPrefix(s, "/*!") || strings.HasPrefix(s, "/*+") {
			return false
		}
		s = s[n:]
	}
	return true
}

// skipToken looks at the start of s. For a quoted text or a comment it returns
// the length and true, 0 when it has no end; else 1 and false.
func skipToken(s string) (n int, skip bool) {
	switch s[0] {
	case '\'', '"', '`':
		q := s[0]
		for i := 1; i < len(s); i++ {
			if s[i] == '\\' && q != '`' {
				i++
			} else if s[i] == q {
				return i + 1, true // a doubled quote begins a new text, to the same effect
			}
		}
		return 0, true
	case '#':
		return lineComment(s), true
	case '-':
		if strings.HasPrefix(s, "--") && (len(s) == 2 || strings.ContainsAny(s[2:3], " \t\r\n")) {
			return lineComment(s), true
		}
	case '/':
		if strings.HasPrefix(s, "/*") {
			end := strings.Index(s[2:], "*/")
			if end < 0 {
				return 0, true
			}
			return end + 4, true
		}
	}
	return 1, false
}

func lineComment(s string) int {
	if end := strings.IndexByte(s, '\n'); end >= 0 {
		return end + 1
	}
	return len(s)
}

// firstWord returns the first word of a statement in upper case.
func firstWord(sql string) string {
	for {
		sql = strings.TrimLeft(sql, " \t\r\n(")
		if sql == "" {
			return ""
		}
		n, skip := skipToken(sql)
		if !skip || n == 0 || strings.HasPrefix(sql, "/*!") {
			break
		}
		sql = sql[n:]
	}
	end := strings.IndexFunc(sql, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') })
	if end < 0 {
		end = len(sql)
	}
	return strings.ToUpper(sql[:end])
}
