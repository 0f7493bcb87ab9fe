package runner

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Tolerances of the format.
const (
	doubleTolerance = 1e-12 // R: doubles with doubleDigits digits or more
	doubleDigits    = 15
	floatTolerance  = 1e-5 // F
)

const (
	nullText  = "NULL"
	emptyText = "(empty)"
)

// cell is one value as the server sent it.
type cell struct {
	null   bool
	text   string // as MySQL prints it; raw bytes for binary columns
	approx bool   // the column is FLOAT or DOUBLE, or may be
	json   bool   // the column is JSON

	printed bool // printed by another program: bytes are hex already
}

// newCell makes a cell of a value that the driver delivered. dbType is the
// driver's name of the column type ("DECIMAL", "DOUBLE", …).
func newCell(v any, dbType string) cell {
	c := cell{approx: dbType == "DOUBLE" || dbType == "FLOAT", json: dbType == "JSON"}
	switch x := v.(type) {
	case nil:
		c.null = true
	case []byte:
		c.text = string(x)
	case string:
		c.text = x
	case int64:
		c.text = strconv.FormatInt(x, 10)
	case uint64:
		c.text = strconv.FormatUint(x, 10)
	case float32:
		c.text = strconv.FormatFloat(float64(x), 'g', -1, 32)
	case float64:
		c.text = strconv.FormatFloat(x, 'g', -1, 64)
	case bool:
		c.text = "0"
		if x {
			c.text = "1"
		}
	default:
		// The driver has no other types without parseTime.
		c.text = "(unknown driver value)"
	}
	return c
}

// print renders the cell the way scripts write a column of the given type.
func (c cell) print(typ byte) string {
	if c.null {
		return nullText
	}
	s := c.text
	switch typ {
	case 'I':
		s = integerText(s)
	case 'D':
		s = trimFraction(s)
	case 'B':
		switch s {
		case "1":
			s = "true"
		case "0":
			s = "false"
		}
	case 'X':
		if !c.printed {
			s = strings.ToUpper(hex.EncodeToString([]byte(s)))
		}
	}
	if s == "" {
		return emptyText
	}
	return escape(s)
}

// matches reports whether the cell is what the script wants for a column of
// the given type. The want is the raw text of the script, still escaped.
func (c cell) matches(want string, typ byte) bool {
	if want == nullText {
		// A script writes the text 'NULL' like SQL NULL; only text columns can hold it.
		return c.null || typ == 'T' && c.text == nullText
	}
	if c.null {
		return false
	}
	switch typ {
	case 'R':
		if c.approx && !writtenAsDecimal(want) && (!c.printed || !writtenAsDecimal(c.text)) {
			return doublesEqual(want, c.text)
		}
	case 'F':
		return floatsEqual(want, c.text)
	case 'J':
		// A text column among JSON ones is written as a JSON string.
		if w, ok := jsonParse(unescape(want)); ok && !c.json {
			if s, ok := w.(string); ok && s == c.text {
				return true
			}
		}
		return jsonEqual(unescape(want), c.text)
	}
	return c.print(typ) == want
}

// integerText cuts a fraction of zeros, as SUM over integers arrives as DECIMAL,
// and writes a whole double without exponent.
func integerText(s string) string {
	if whole, frac, ok := strings.Cut(s, "."); ok && strings.Trim(frac, "0") == "" {
		return whole
	}
	if strings.ContainsAny(s, "eE") {
		if f, err := strconv.ParseFloat(s, 64); err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return strconv.FormatInt(int64(f), 10)
		}
	}
	return s
}

// trimFraction cuts trailing zeros of the fraction of a time of day.
func trimFraction(s string) string {
	dot := strings.LastIndexByte(s, '.')
	if dot < 0 || !strings.Contains(s[:dot], ":") {
		return s
	}
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// writtenAsDecimal reports whether a number can only be a decimal: doubles are
// never written with more than 17 digits, nor with zeros at the end of the
// fraction other than ".0".
func writtenAsDecimal(s string) bool {
	if strings.ContainsAny(s, "eE") {
		return false
	}
	_, frac, _ := strings.Cut(s, ".")
	return len(frac) > 1 && frac[len(frac)-1] == '0' || significantDigits(s) > 17
}

func significantDigits(s string) int {
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		s = s[:i]
	}
	digits := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
	digits = strings.TrimLeft(digits, "0")
	if !strings.Contains(s, ".") {
		digits = strings.TrimRight(digits, "0")
	}
	return len(digits)
}

func doublesEqual(want, got string) bool {
	w, errW := strconv.ParseFloat(want, 64)
	g, errG := strconv.ParseFloat(got, 64)
	if errW != nil || errG != nil {
		return strings.EqualFold(want, got)
	}
	if w == g || math.IsNaN(w) && math.IsNaN(g) {
		return true
	}
	if significantDigits(want) < doubleDigits && significantDigits(got) < doubleDigits {
		return false
	}
	return within(w, g, doubleTolerance)
}

func floatsEqual(want, got string) bool {
	w, errW := strconv.ParseFloat(want, 64)
	g, errG := strconv.ParseFloat(got, 64)
	if errW != nil || errG != nil {
		return strings.EqualFold(want, got)
	}
	return w == g || math.IsNaN(w) && math.IsNaN(g) || within(w, g, floatTolerance)
}

func within(a, b, tolerance float64) bool {
	if math.IsInf(a, 0) || math.IsInf(b, 0) {
		return false
	}
	return math.Abs(a-b) <= tolerance*math.Max(math.Abs(a), math.Abs(b))
}

// jsonEqual compares two JSON texts. Numbers are equal when they denote the
// same value, or the same double within the tolerance of doubles.
func jsonEqual(want, got string) bool {
	w, okW := jsonParse(want)
	g, okG := jsonParse(got)
	if !okW || !okG {
		return false
	}
	return jsonValuesEqual(w, g)
}

func jsonParse(s string) (any, bool) {
	d := json.NewDecoder(bytes.NewReader([]byte(s)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, false
	}
	_, err := d.Token()
	return v, err == io.EOF
}

func jsonValuesEqual(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k, v := range x {
			w, ok := y[k]
			if !ok || !jsonValuesEqual(v, w) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !jsonValuesEqual(x[i], y[i]) {
				return false
			}
		}
		return true
	case json.Number:
		y, ok := b.(json.Number)
		return ok && jsonNumbersEqual(x.String(), y.String())
	default:
		return a == b
	}
}

// maxExponent bounds the numbers that are compared as exact rationals, so that
// a hostile "1e999999999" costs nothing.
const maxExponent = 400

func jsonNumbersEqual(a, b string) bool {
	if a == b {
		return true
	}
	if smallExponent(a) && smallExponent(b) {
		x, okX := new(big.Rat).SetString(a)
		y, okY := new(big.Rat).SetString(b)
		if okX && okY && x.Cmp(y) == 0 {
			return true
		}
	}
	// Integers and short numbers are exact; only long fractions may be doubles.
	if !strings.ContainsAny(a, ".eE") && !strings.ContainsAny(b, ".eE") {
		return false
	}
	return doublesEqual(a, b)
}

func smallExponent(s string) bool {
	i := strings.IndexAny(s, "eE")
	if i < 0 {
		return true
	}
	n, err := strconv.Atoi(s[i+1:])
	return err == nil && n <= maxExponent && n >= -maxExponent
}

var escaper = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

func escape(s string) string { return escaper.Replace(s) }

func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 't':
			b.WriteByte('\t')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case '\\':
			b.WriteByte('\\')
		default:
			b.WriteByte('\\')
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
