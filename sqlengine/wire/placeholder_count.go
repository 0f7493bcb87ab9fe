package wire

import "strings"

// countParams counts the placeholders of a statement's text.
func (c *conn) countParams(text string) int {
	return countPlaceholders(text, c.status&statusNoBackslashEscapes == 0)
}

// countPlaceholders counts the question marks that stand outside strings,
// quoted names and comments; backslashes tells whether they escape in strings.
// What a versioned comment holds is part of the statement.
func countPlaceholders(s string, backslashes bool) int {
	n := 0
	for i := 0; i < len(s); {
		rest := s[i:]
		switch {
		case s[i] == '?':
			n++
			i++
		case s[i] == '\'' || s[i] == '"' || s[i] == '`':
			i += quotedLen(rest, backslashes && s[i] != '`')
		case s[i] == '#', strings.HasPrefix(rest, "--") && (len(rest) == 2 || rest[2] <= ' '):
			if k := strings.IndexByte(rest, '\n'); k >= 0 {
				i += k
			} else {
				i = len(s)
			}
		case strings.HasPrefix(rest, "/*!") || strings.HasPrefix(rest, "*/"):
			i += 2
		case strings.HasPrefix(rest, "/*"):
			if k := strings.Index(rest[2:], "*/"); k >= 0 {
				i += k + 4
			} else {
				i = len(s)
			}
		default:
			i++
		}
	}
	return n
}

// quotedLen is the length of the quoted text at the start of s.
func quotedLen(s string, backslashes bool) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && backslashes:
			i++
		case s[i] == s[0]:
			if i+1 < len(s) && s[i+1] == s[0] {
				i++
				continue
			}
			return i + 1
		}
	}
	return len(s)
}
