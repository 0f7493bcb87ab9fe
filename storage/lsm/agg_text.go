package lsm

import (
	"bytes"
	"unicode/utf8"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// makeAggregatorMore makes the functions on strings, bytes and nested types.
func (e *Engine) makeAggregatorMore(f *schema.Field, base aggBase, misfit func(string) error) (aggregator, error) {
	switch base.name {
	case aggListagg:
		if f.Type.Root != schema.Varchar {
			return nil, misfit("VarCharType")
		}
		a := listaggAgg{aggBase: base, delimiter: []byte(",")}
		if d, ok := e.opts[fieldKey(f.Name, fieldDelimiter)]; ok {
			a.delimiter = []byte(d)
		}
		var err error
		a.distinct, err = e.opts.fieldBool(f.Name, fieldDistinct)
		return a, err
	}
	return nil, errs.Invalidf("Use unsupported aggregation: %s or spell aggregate function incorrectly! (column '%s')", base.name, f.Name)
}

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
