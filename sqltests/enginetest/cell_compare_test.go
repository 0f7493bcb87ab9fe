package enginetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// Relative differences of numbers that are equal.
const (
	doubleDifference = 1e-12
	floatDifference  = 1e-5
)

// validator is an expected value that checks the value itself.
type validator interface {
	Validate(any) (bool, error)
}

// equal compares a value that go-mysql-server expects with one that came over the wire, in a column of the type.
func equal(want any, got cell, typ string) bool {
	if want == nil || got.null {
		return want == nil && got.null
	}
	if v, ok := want.(validator); ok {
		return validates(v, got.text, typ)
	}
	if typ == "JSON" {
		return equalJSON(want, got.text)
	}
	switch w := want.(type) {
	case sql.JSONWrapper:
		return equalJSON(want, got.text)
	case bool:
		return equalNumber(map[bool]string{false: "0", true: "1"}[w], got.text)
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return equalNumber(fmt.Sprint(w), got.text)
	case float32:
		return equalFloat(float64(w), got.text, "FLOAT")
	case float64:
		return equalFloat(w, got.text, typ)
	case decimal.Decimal:
		return equalNumber(w.String(), got.text)
	case time.Time:
		return equalTime(w, got.text)
	case types.Timespan:
		return trimFraction(w.String()) == trimFraction(got.text)
	case []byte:
		return string(w) == got.text
	case string:
		return equalText(w, got.text, typ)
	}
	return fmt.Sprint(printable(want)) == got.text
}

// validates lets an expected value check a value of its column's kind.
func validates(v validator, text, typ string) bool {
	var value any = text
	switch {
	case isInteger(typ):
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			value = n
		}
	case typ == "DOUBLE" || typ == "FLOAT":
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			value = f
		}
	case typ == "DATETIME" || typ == "TIMESTAMP" || typ == "DATE":
		if t, ok := parseTime(text); ok {
			value = t
		}
	}
	ok, err := v.Validate(value)
	return ok && err == nil
}

// isInteger reports whether a column's values are integers.
func isInteger(typ string) bool {
	return strings.HasSuffix(strings.TrimPrefix(typ, "UNSIGNED "), "INT")
}

// equalText compares an expected text with a value, whose column may have a type that is not text.
func equalText(want, got, typ string) bool {
	if want == got {
		return true
	}
	switch {
	case isInteger(typ) || typ == "DECIMAL":
		return equalNumber(want, got)
	case typ == "DOUBLE" || typ == "FLOAT":
		f, err := strconv.ParseFloat(want, 64)
		return err == nil && equalFloat(f, got, typ)
	case typ == "DATE" || typ == "DATETIME" || typ == "TIMESTAMP":
		t, ok := parseTime(want)
		return ok && equalTime(t, got)
	case typ == "TIME":
		return trimFraction(want) == trimFraction(got)
	}
	return false
}

// equalNumber compares numbers exactly.
func equalNumber(want, got string) bool {
	a, ok := new(big.Rat).SetString(want)
	b, ok2 := new(big.Rat).SetString(got)
	return ok && ok2 && a.Cmp(b) == 0
}

// equalFloat compares a floating-point number with a value of a column of the type. A DECIMAL is the number rounded to its
// digits, as MySQL's AVG of integers is.
func equalFloat(want float64, got, typ string) bool {
	f, err := strconv.ParseFloat(got, 64)
	if err != nil {
		return false
	}
	switch difference := math.Abs(f - want); typ {
	case "DECIMAL":
		_, fraction, _ := strings.Cut(got, ".")
		return difference <= 0.5000001*math.Pow10(-len(fraction))
	case "FLOAT":
		return f == want || difference <= floatDifference*max(math.Abs(want), math.Abs(f))
	default:
		return f == want || difference <= doubleDifference*max(math.Abs(want), math.Abs(f))
	}
}

// timeLayouts are how times are printed.
var timeLayouts = []string{"2006-01-02 15:04:05.999999999", "2006-01-02", "2006-01-02T15:04:05.999999999Z", "2006-01-02 15:04:05 -0700 MST"}

// parseTime reads a date or a time.
func parseTime(text string) (time.Time, bool) {
	for _, l := range timeLayouts {
		if t, err := time.Parse(l, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// equalTime compares times by value. go-mysql-server's zero date is the year 0.
func equalTime(want time.Time, got string) bool {
	if strings.HasPrefix(got, "0000-00-00") {
		return want.IsZero() || want.Equal(types.Datetime.Zero().(time.Time))
	}
	t, ok := parseTime(got)
	return ok && t.Equal(want.UTC())
}

// trimFraction cuts the zeros behind a time's point.
func trimFraction(text string) string {
	if !strings.Contains(text, ".") {
		return text
	}
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// equalJSON compares documents by structure.
func equalJSON(want any, got string) bool {
	g, ok := parseJSON(got)
	if !ok {
		return false
	}
	var text []byte
	switch w := want.(type) {
	case sql.JSONWrapper:
		v, err := w.ToInterface()
		if err != nil {
			return false
		}
		if text, err = json.Marshal(v); err != nil {
			return false
		}
	case string:
		text = []byte(w)
	case []byte:
		text = w
	default:
		var err error
		if text, err = json.Marshal(w); err != nil {
			return false
		}
	}
	w, ok := parseJSON(string(text))
	return ok && equalValue(w, g)
}

// parseJSON reads a document with its numbers as they are written.
func parseJSON(text string) (any, bool) {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil, false
	}
	_, err := d.Token()
	return v, err == io.EOF
}

// equalValue compares the parts of documents.
func equalValue(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		n, ok := b.(json.Number)
		return ok && equalNumber(a.String(), n.String())
	case []any:
		l, ok := b.([]any)
		if !ok || len(l) != len(a) {
			return false
		}
		for i := range a {
			if !equalValue(a[i], l[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		m, ok := b.(map[string]any)
		if !ok || len(m) != len(a) {
			return false
		}
		for k, v := range a {
			if w, ok := m[k]; !ok || !equalValue(v, w) {
				return false
			}
		}
		return true
	}
	return a == b
}

// printable makes an expected value readable.
func printable(v any) any {
	switch v := v.(type) {
	case sql.JSONWrapper:
		i, err := v.ToInterface()
		if err != nil {
			return err
		}
		b, err := json.Marshal(i)
		if err != nil {
			return err
		}
		return string(b)
	case []byte:
		return string(v)
	}
	return v
}

// TestEqual checks the comparison itself.
func TestEqual(t *testing.T) {
	t.Parallel()
	day := time.Date(2024, 5, 6, 0, 0, 0, 0, time.UTC)
	for _, x := range []struct {
		want any
		got  string
		typ  string
		is   bool
	}{
		{1, "1", "BIGINT", true},
		{int8(1), "1.000", "DECIMAL", true},
		{uint64(math.MaxUint64), "18446744073709551615", "UNSIGNED BIGINT", true},
		{int64(9007199254740993), "9007199254740992", "BIGINT", false},
		{true, "1", "TINYINT", true},
		{false, "1", "TINYINT", false},
		{0.1, "0.1", "DOUBLE", true},
		{0.1, "0.1001", "DOUBLE", false},
		{float32(0.1), "0.1", "FLOAT", true},
		{5.0 / 3, "1.6667", "DECIMAL", true},
		{5.0 / 3, "1.6666", "DECIMAL", false},
		{"1.50", "1.5", "DECIMAL", true},
		{"1.50", "1.51", "DECIMAL", false},
		{"1.50", "1.5", "VARCHAR", false},
		{decimal.RequireFromString("2.25"), "2.2500", "DECIMAL", true},
		{day, "2024-05-06", "DATE", true},
		{day, "2024-05-06 00:00:00.000000", "DATETIME", true},
		{day, "2024-05-06 00:00:01", "DATETIME", false},
		{types.Timespan(1_500_000), "00:00:01.500000", "TIME", true},
		{types.MustJSON(`{"a": 1, "b": [1, 2.0]}`), `{"b": [1.0, 2], "a": 1}`, "JSON", true},
		{types.MustJSON(`{"a": 1}`), `{"a": 1, "b": null}`, "JSON", false},
		{types.MustJSON(`[1, 2]`), `[2, 1]`, "JSON", false},
		{types.MustJSON(`"x"`), `"x"`, "JSON", true},
		{"x", "X", "VARCHAR", false},
		{[]byte{1, 2}, "\x01\x02", "BLOB", true},
	} {
		if equal(x.want, cell{text: x.got}, x.typ) != x.is {
			t.Errorf("%T(%v) and %q of %s: want %t", x.want, printable(x.want), x.got, x.typ, x.is)
		}
	}
	if equal(nil, cell{text: ""}, "VARCHAR") || !equal(nil, cell{null: true}, "VARCHAR") || equal("", cell{null: true}, "VARCHAR") {
		t.Error("NULL")
	}
	for q, is := range map[string]bool{
		"SELECT a FROM t ORDER BY a":                   true,
		"select a from (select a from t order by a) x": false,
		"select 'order by ' from t":                    false,
		"select sum(a) over (order by a) from t":       false,
		"select (1) from t\n order  by 1":              true,
		"select `order by ` from t where x = ')' ":     false,
	} {
		if ordered(q) != is {
			t.Errorf("ordered(%q) is %t", q, !is)
		}
	}
}
