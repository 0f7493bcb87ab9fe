package types

import (
	"encoding/json"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/types"
)

// EscapeKeys returns a document whose keys can be printed by go-mysql-server, which writes them as they are:
// quotes, backslashes and control characters in them are escaped. Documents without such keys come back unchanged.
func EscapeKeys(doc sql.JSONWrapper) (sql.JSONWrapper, error) {
	if _, hasText := doc.(gms.JSONBytes); hasText {
		return doc, nil
	}
	v, err := doc.ToInterface()
	if err != nil {
		return nil, err
	}
	if !hasOddKey(v) {
		return doc, nil
	}
	return gms.JSONDocument{Val: escapeKeys(v)}, nil
}

// isOdd reports a character that JSON escapes.
func isOdd(r rune) bool { return r < ' ' || r == '"' || r == '\\' }

func hasOddKey(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if strings.ContainsFunc(k, isOdd) || hasOddKey(e) {
				return true
			}
		}
	case []any:
		for _, e := range v {
			if hasOddKey(e) {
				return true
			}
		}
	}
	return false
}

func escapeKeys(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[escaped(k)] = escapeKeys(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = escapeKeys(e)
		}
		return out
	}
	return v
}

// escaped is the inside of a JSON string.
func escaped(k string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(k) != nil {
		return k
	}
	s := strings.TrimSuffix(b.String(), "\n")
	return s[1 : len(s)-1]
}
