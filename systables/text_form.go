package systables

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/tributarydb/tributary/storage/cast"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// zoneOffset is a zone's offset at an instant, in milliseconds.
func zoneOffset(z *time.Location, ms int64) int64 {
	_, off := time.UnixMilli(ms).In(z).Zone()
	return int64(off) * 1000
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// prettyJSON indents as Jackson's printer does: `"key" : value`.
func prettyJSON(compact string) string {
	var buf bytes.Buffer
	if json.Indent(&buf, []byte(compact), "", "  ") != nil {
		return compact
	}
	var sb strings.Builder
	inString, escaped := false, false
	for _, c := range buf.String() {
		switch {
		case escaped:
			escaped = false
		case inString && c == '\\':
			escaped = true
		case c == '"':
			inString = !inString
		case c == ':' && !inString:
			sb.WriteByte(' ')
		}
		sb.WriteRune(c)
	}
	return strings.ReplaceAll(sb.String(), "{}", "{ }")
}

// valueText is a value cast to STRING; null for NULL.
func valueText(t *schema.Type, v column.Scalar) string {
	if v.Null {
		return "null"
	}
	if t.Root == schema.Binary || t.Root == schema.Varbinary {
		return hex.EncodeToString(v.B)
	}
	return string(cast.AppendScalar(nil, t, v))
}

// rowText is a row of values in brackets: {a, b} or [a, b].
func rowText(open, end string, types []*schema.Type, vals []column.Scalar) string {
	parts := make([]string, len(vals))
	for i, v := range vals {
		parts[i] = valueText(types[i], v)
	}
	return open + strings.Join(parts, ", ") + end
}

// boundText is a bound of a column as $files prints it: DATE and TIME as the
// stored integer, times as ISO text, bytes in hex; null where there is none.
func boundText(t *schema.Type, known bool, v column.Scalar) string {
	if !known || v.Null {
		return "null"
	}
	switch t.Root {
	case schema.Date, schema.Time:
		return strconv.FormatInt(v.I, 10)
	case schema.Timestamp, schema.TimestampLTZ:
		return string(cast.AppendLocalDateTime(nil, v.I, v.Sub))
	}
	return valueText(t, v)
}

// castBound is boundText of a bound of a file's column, cast to the column of
// today; null where it cannot be cast.
func castBound(from, to *schema.Type, known bool, v column.Scalar) string {
	if known && !v.Null && !from.EqualIgnoreNull(to) {
		x, err := cast.Scalar(from, to, v)
		if err != nil {
			return "null"
		}
		v = x
	}
	return boundText(to, known, v)
}

// javaMapOrder orders keys, given in the order of their insertion, as a
// java.util.HashMap iterates over them: $schemas prints its options so.
func javaMapOrder(keys []string) []string {
	buckets := 16
	for float64(len(keys)) > float64(buckets)*0.75 {
		buckets *= 2
	}
	out := slices.Clone(keys)
	slot := func(s string) uint32 {
		var h uint32
		for _, u := range utf16.Encode([]rune(s)) {
			h = 31*h + uint32(u)
		}
		return (h ^ h>>16) & uint32(buckets-1)
	}
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(slot(a), slot(b)) })
	return out
}
