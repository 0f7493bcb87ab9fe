package lsm

import (
	"bytes"
	"unicode/utf8"
)

// listaggAgg joins strings with a delimiter, leaving out blank ones.
type listaggAgg struct {
	aggBase
	delimiter []byte
	distinct  bool
}

func (a listaggAgg) agg(acc, in value) (value, error) {
	if in.null() || isBlank(in.v.Bytes(in.i)) {
		return acc, nil
	}
	if acc.null() || isBlank(acc.v.Bytes(acc.i)) {
		return in, nil
	}
	have, more := acc.v.Bytes(acc.i), in.v.Bytes(in.i)
	if !a.distinct {
		out := make([]byte, 0, len(have)+len(a.delimiter)+len(more))
		return bytesValue(append(append(append(out, have...), a.delimiter...), more...))
	}
	seen := map[string]bool{}
	for _, t := range splitTokens(have, a.delimiter) {
		seen[string(t)] = true
	}
	out := append([]byte(nil), have...)
	for _, t := range splitTokens(more, a.delimiter) {
		if isBlank(t) || seen[string(t)] {
			continue
		}
		seen[string(t)] = true
		out = append(append(out, a.delimiter...), t...)
	}
	if len(out) == len(have) {
		return acc, nil
	}
	return bytesValue(out)
}

func (a listaggAgg) reversed(acc, in value) (value, error) { return a.agg(in, acc) }

// splitTokens splits at every delimiter, keeping empty tokens; an empty delimiter is one space.
func splitTokens(s, delimiter []byte) [][]byte {
	if len(s) == 0 {
		return nil
	}
	if len(delimiter) == 0 {
		delimiter = []byte(" ")
	}
	return bytes.Split(s, delimiter)
}

// isBlank reports whether s has no character but white space (Java's Character.isWhitespace).
func isBlank(s []byte) bool {
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		if !isJavaWhitespace(r) {
			return false
		}
		s = s[n:]
	}
	return true
}

// isJavaWhitespace is java.lang.Character.isWhitespace: separators but the
// no-break spaces, and the controls U+0009..U+000D, U+001C..U+001F.
func isJavaWhitespace(r rune) bool {
	switch {
	case r >= 0x09 && r <= 0x0d, r >= 0x1c && r <= 0x20:
		return true
	case r == 0x1680, r >= 0x2000 && r <= 0x2006, r >= 0x2008 && r <= 0x200a:
		return true
	case r == 0x2028, r == 0x2029, r == 0x205f, r == 0x3000:
		return true
	}
	return false
}
