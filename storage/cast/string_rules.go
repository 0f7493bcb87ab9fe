package cast

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// fitString cuts a text to the length of a CHAR or VARCHAR in characters and
// pads CHAR with blanks (BinaryStringUtils.toCharacterString).
func fitString(s []byte, to *schema.Type) []byte {
	if len(s) <= to.Length && to.Root == schema.Varchar {
		return s
	}
	n := utf8.RuneCount(s)
	switch {
	case n > to.Length:
		end := 0
		for range to.Length {
			_, w := utf8.DecodeRune(s[end:])
			end += w
		}
		return s[:end]
	case n < to.Length && to.Root == schema.Char:
		return append(bytes.Clone(s), bytes.Repeat([]byte{' '}, to.Length-n)...)
	}
	return s
}

// fitBytes cuts bytes to a type's length and pads BINARY with zeros.
func fitBytes(s []byte, to *schema.Type) []byte {
	switch {
	case len(s) > to.Length:
		return s[:to.Length]
	case len(s) < to.Length && to.Root == schema.Binary:
		return append(bytes.Clone(s), make([]byte, to.Length-len(s))...)
	}
	return s
}

// toString converts any type to CHAR or VARCHAR.
func toString(from, to *schema.Type) conv {
	if isString(from) {
		return func(b *column.Builder, v *column.Vector, i int) error {
			b.AppendBytes(fitString(v.Bytes(i), to))
			return nil
		}
	}
	if isBinary(from) {
		return func(b *column.Builder, v *column.Vector, i int) error { b.AppendBytes(v.Bytes(i)); return nil }
	}
	print := printer(from)
	if print == nil {
		return nil
	}
	var buf []byte
	return func(b *column.Builder, v *column.Vector, i int) error {
		buf = print(buf[:0], v, i)
		b.AppendBytes(fitString(buf, to))
		return nil
	}
}

// printer returns the text form of a type's values; nil where there is none.
// The functions it returns keep no state.
func printer(t *schema.Type) func(dst []byte, v *column.Vector, i int) []byte {
	orNull := func(p func([]byte, *column.Vector, int) []byte, dst []byte, v *column.Vector, i int) []byte {
		if v.IsNull(i) {
			return append(dst, "null"...)
		}
		return p(dst, v, i)
	}
	switch t.Root {
	case schema.Array:
		elem := printer(t.Elem)
		if elem == nil {
			return nil
		}
		return func(dst []byte, v *column.Vector, i int) []byte {
			v, i = v.At(i)
			dst = append(dst, '[')
			for j := v.Offsets[i]; j < v.Offsets[i+1]; j++ {
				if j > v.Offsets[i] {
					dst = append(dst, ", "...)
				}
				dst = orNull(elem, dst, v.Children[0], int(j))
			}
			return append(dst, ']')
		}
	case schema.Map:
		key, val := printer(t.Key), printer(t.Elem)
		if key == nil || val == nil {
			return nil
		}
		return func(dst []byte, v *column.Vector, i int) []byte {
			v, i = v.At(i)
			dst = append(dst, '{')
			for j := v.Offsets[i]; j < v.Offsets[i+1]; j++ {
				if j > v.Offsets[i] {
					dst = append(dst, ", "...)
				}
				dst = orNull(key, dst, v.Children[0], int(j))
				dst = append(dst, " -> "...)
				dst = orNull(val, dst, v.Children[1], int(j))
			}
			return append(dst, '}')
		}
	case schema.Row:
		fields := make([]func([]byte, *column.Vector, int) []byte, len(t.Fields))
		for k := range fields {
			if fields[k] = printer(t.Fields[k].Type); fields[k] == nil {
				return nil
			}
		}
		return func(dst []byte, v *column.Vector, i int) []byte {
			v, i = v.At(i)
			dst = append(dst, '{')
			for k, f := range fields {
				if k > 0 {
					dst = append(dst, ", "...)
				}
				dst = orNull(f, dst, v.Children[k], i)
			}
			return append(dst, '}')
		}
	case schema.Multiset, schema.VectorType, schema.Variant, schema.Blob, schema.Geometry, schema.Geography:
		return nil
	}
	return func(dst []byte, v *column.Vector, i int) []byte { return AppendScalar(dst, t, column.ScalarAt(v, i)) }
}

// fromString converts texts to other types.
func fromString(to *schema.Type) conv {
	switch to.Root {
	case schema.Boolean:
		return func(b *column.Builder, v *column.Vector, i int) error {
			switch strings.ToLower(string(v.Bytes(i))) {
			case "t", "true", "y", "yes", "1":
				b.AppendBool(true)
			case "f", "false", "n", "no", "0":
				b.AppendBool(false)
			default:
				return fmt.Errorf("'%s' is no truth value", v.Bytes(i))
			}
			return nil
		}
	case schema.TinyInt, schema.SmallInt, schema.Int, schema.BigInt:
		lo, hi := intRange(to)
		return func(b *column.Builder, v *column.Vector, i int) error {
			x, err := parseInteger(v.Bytes(i), lo, hi)
			if err == nil {
				b.AppendInt(x)
			}
			return err
		}
	case schema.Float, schema.Double:
		bits := 64
		if to.Root == schema.Float {
			bits = 32
		}
		return func(b *column.Builder, v *column.Vector, i int) error {
			f, err := parseFloat(string(v.Bytes(i)), bits)
			if err == nil {
				b.AppendFloat(f)
			}
			return err
		}
	case schema.Decimal:
		return func(b *column.Builder, v *column.Vector, i int) error { return parseDecimal(b, string(v.Bytes(i)), to) }
	case schema.Date:
		return func(b *column.Builder, v *column.Vector, i int) error {
			d, err := ParseDate(string(v.Bytes(i)))
			if err == nil {
				b.AppendInt(d)
			}
			return err
		}
	case schema.Time:
		return func(b *column.Builder, v *column.Vector, i int) error {
			d, err := ParseTime(string(v.Bytes(i)))
			if err == nil {
				b.AppendInt(d)
			}
			return err
		}
	case schema.Timestamp, schema.TimestampLTZ:
		return func(b *column.Builder, v *column.Vector, i int) error {
			us, sub, err := ParseTimestamp(string(v.Bytes(i)), to.Precision, to.Root == schema.Timestamp)
			if err == nil {
				b.AppendTimestamp(us, sub)
			}
			return err
		}
	case schema.Binary, schema.Varbinary:
		return func(b *column.Builder, v *column.Vector, i int) error {
			b.AppendBytes(fitBytes(v.Bytes(i), to))
			return nil
		}
	}
	return nil
}

func intRange(t *schema.Type) (lo, hi int64) {
	switch t.Root {
	case schema.TinyInt:
		return math.MinInt8, math.MaxInt8
	case schema.SmallInt:
		return math.MinInt16, math.MaxInt16
	case schema.Int:
		return math.MinInt32, math.MaxInt32
	}
	return math.MinInt64, math.MaxInt64
}

// parseInteger parses an optional sign, digits, and a fraction that is cut
// off (BinaryStringUtils.toLong): no blanks.
func parseInteger(s []byte, lo, hi int64) (int64, error) {
	whole, frac, _ := strings.Cut(string(s), ".")
	bad := func(why string) (int64, error) { return 0, fmt.Errorf("'%s' is no integer: %s", s, why) }
	for _, c := range []byte(frac) {
		if c < '0' || c > '9' {
			return bad("invalid character")
		}
	}
	digits := strings.TrimLeft(whole, "+-")
	if len(whole)-len(digits) > 1 {
		return bad("invalid character")
	}
	if len(s) == 0 {
		return bad("it is empty")
	}
	if digits == "" {
		if len(s) == len(whole) {
			return bad("it is only a sign")
		}
		return 0, nil // ".5", "-.5"
	}
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' {
			return bad("invalid character")
		}
	}
	x, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || x < lo || x > hi {
		return bad("out of range")
	}
	return x, nil
}

// parseFloat parses as Java's Double.parseDouble: surrounding blanks, NaN and
// Infinity by these names, a type suffix, hexadecimal forms; beyond the range infinite.
func parseFloat(s string, bits int) (float64, error) {
	bad := fmt.Errorf("'%s' is no number", s)
	t := strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
	body := strings.TrimLeft(t, "+-")
	if len(t)-len(body) > 1 {
		return 0, bad
	}
	neg := strings.HasPrefix(t, "-")
	switch body {
	case "NaN":
		return math.NaN(), nil
	case "Infinity":
		if neg {
			return math.Inf(-1), nil
		}
		return math.Inf(1), nil
	case "":
		return 0, bad
	}
	if c := body[0]; c != '.' && (c < '0' || c > '9') || strings.ContainsRune(body, '_') {
		return 0, bad
	}
	hex := len(body) > 1 && (body[1] == 'x' || body[1] == 'X')
	if c := body[len(body)-1]; c == 'f' || c == 'F' || c == 'd' || c == 'D' {
		if !hex || strings.ContainsAny(body, "pP") {
			t = t[:len(t)-1]
		}
	}
	f, err := strconv.ParseFloat(t, bits)
	if err != nil {
		if ne, ok := err.(*strconv.NumError); !ok || ne.Err != strconv.ErrRange {
			return 0, bad
		}
	}
	return f, nil
}

const (
	// maxDecimalText bounds the digits of a decimal text: more than any type holds.
	maxDecimalText = 1000
	// maxExponent is where a decimal's exponent decides alone.
	maxExponent = 2000
)

// parseDecimal parses as Java's BigDecimal: sign, digits, point, exponent, no
// blanks; then rounds half up to the scale. Too many digits make null.
func parseDecimal(dst *column.Builder, s string, to *schema.Type) error {
	bad := fmt.Errorf("'%s' is no decimal number", s)
	mant, expText := s, ""
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mant, expText = s[:i], s[i+1:]
		if expText == "" {
			return bad
		}
	}
	neg := strings.HasPrefix(mant, "-")
	if neg || strings.HasPrefix(mant, "+") {
		mant = mant[1:]
	}
	whole, frac, _ := strings.Cut(mant, ".")
	digits := whole + frac
	if digits == "" {
		return bad
	}
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' {
			return bad
		}
	}
	exp := 0
	if expText != "" {
		e, err := strconv.ParseInt(expText, 10, 32)
		if err != nil {
			return bad
		}
		exp = int(e)
	}
	scale := len(frac) - exp
	digits = strings.TrimLeft(digits, "0")
	if digits == "" {
		appendBig(dst, new(big.Int), 0, to)
		return nil
	}
	if len(digits) > maxDecimalText {
		// Keep what can matter; the cut digits lie below the rounding digit of
		// any number that fits.
		scale -= len(digits) - maxDecimalText
		digits = digits[:maxDecimalText]
	}
	if scale < -maxExponent {
		dst.AppendNull()
		return nil
	}
	if scale > maxExponent+maxDecimalText {
		appendBig(dst, new(big.Int), 0, to)
		return nil
	}
	x, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		return bad
	}
	if neg {
		x.Neg(x)
	}
	appendBig(dst, x, scale, to)
	return nil
}
