package planner

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

const (
	// maxNumberText is how much of a text is read as a number.
	maxNumberText = 512
	// maxNumberExponent bounds a number's exponent: exact arithmetic would need as many digits.
	maxNumberExponent = 400
)

// integerRange returns the least and the greatest value of an integer type.
func integerRange(r schema.Root) (lo, hi int64, ok bool) {
	switch r {
	case schema.TinyInt:
		return math.MinInt8, math.MaxInt8, true
	case schema.SmallInt:
		return math.MinInt16, math.MaxInt16, true
	case schema.Int:
		return math.MinInt32, math.MaxInt32, true
	case schema.BigInt:
		return math.MinInt64, math.MaxInt64, true
	}
	return 0, 0, false
}

// float appends a double of so many bits.
func (w *cellWriter) float(f float64, bits int) error {
	switch w.typ.Root {
	case schema.Double:
		w.out.AppendFloat(f)
		return nil
	case schema.Float:
		if math.Abs(f) > math.MaxFloat32 && !math.IsInf(f, 0) {
			if err := w.outOfRange(); err != nil {
				return err
			}
			f = math.Copysign(math.MaxFloat32, f)
		}
		w.out.AppendFloat(f)
		return nil
	case schema.Char, schema.Varchar, schema.Binary, schema.Varbinary, schema.Blob, schema.Array, schema.VectorType, schema.Map, schema.Multiset, schema.Row, schema.Variant:
		if bits == 32 {
			return w.text(string(types.AppendFloat32(nil, float32(f))))
		}
		return w.text(string(types.AppendFloat64(nil, f)))
	case schema.Boolean:
		w.out.AppendBool(f != 0)
		return nil
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		if err := w.outOfRange(); err != nil {
			return err
		}
		return w.fallback()
	}
	if lo, hi, isInt := integerRange(w.typ.Root); isInt {
		// A double is rounded to the even neighbour, a decimal away from zero.
		r := math.RoundToEven(f)
		if r >= -1<<63 && r < 1<<63 {
			return w.int(int64(r))
		}
		if err := w.outOfRange(); err != nil {
			return err
		}
		if r < 0 {
			w.out.AppendInt(lo)
		} else {
			w.out.AppendInt(hi)
		}
		return nil
	}
	if bits == 32 {
		return w.exact(decimal.NewFromFloat32(float32(f)))
	}
	return w.exact(decimal.NewFromFloat(f))
}

// exact appends a decimal.
func (w *cellWriter) exact(d decimal.Decimal) error {
	if lo, hi, isInt := integerRange(w.typ.Root); isInt {
		r := d.Round(0).BigInt() // half away from zero
		n := r.Int64()
		if !r.IsInt64() {
			if err := w.outOfRange(); err != nil {
				return err
			}
			if r.Sign() < 0 {
				n = lo
			} else {
				n = hi
			}
		}
		return w.int(n)
	}
	switch w.typ.Root {
	case schema.Boolean:
		w.out.AppendBool(!d.IsZero())
		return nil
	case schema.Float, schema.Double:
		f, _ := d.Float64()
		return w.float(f, 64)
	case schema.Decimal:
		return w.decimal(d)
	case schema.Date, schema.Timestamp, schema.TimestampLTZ:
		return w.numberMoment(d)
	}
	return w.text(d.StringFixed(max(0, -d.Exponent())))
}

// decimal rounds to the column's scale.
func (w *cellWriter) decimal(d decimal.Decimal) error {
	scale := w.typ.Scale
	if d.Exponent() < int32(-scale) {
		r := d.Round(int32(scale))
		if !r.Equal(d) {
			w.noteTruncated()
		}
		d = r
	}
	unscaled := d.Coefficient()
	if shift := int(d.Exponent()) + scale; shift != 0 {
		if unscaled.Sign() != 0 && shift > maxNumberExponent {
			return w.clipDecimal(unscaled.Sign())
		}
		unscaled.Mul(unscaled, powerOfTen(shift))
	}
	x, ok := column.FromBig(unscaled)
	if !ok {
		return w.clipDecimal(unscaled.Sign())
	}
	return w.unscaled(x, scale)
}

// unscaled appends x / 10^scale.
func (w *cellWriter) unscaled(x column.Int128, scale int) error {
	if scale == w.typ.Scale {
		limit := decimalLimit(w.typ.Precision)
		abs := x
		if x.Sign() < 0 {
			abs = x.Neg()
		}
		if abs.Sign() < 0 || abs.Cmp(limit) >= 0 {
			return w.clipDecimal(x.Sign())
		}
		w.out.AppendInt128(x)
		return nil
	}
	return w.decimal(types.Decimal(x, scale))
}

// clipDecimal reports a value that is out of range; the nearest one has all nines.
func (w *cellWriter) clipDecimal(sign int) error {
	if err := w.outOfRange(); err != nil {
		return err
	}
	nines, _ := decimalLimit(w.typ.Precision).Add(column.FromInt64(-1))
	if sign < 0 {
		nines = nines.Neg()
	}
	w.out.AppendInt128(nines)
	return nil
}

// decimalLimits are the powers of ten up to those of the greatest precision.
var decimalLimits = func() (out [maxPrecision + 1]column.Int128) {
	for i := range out {
		out[i], _ = column.FromBig(powerOfTen(i))
	}
	return out
}()

// decimalLimit is the least unscaled value with more than so many digits.
func decimalLimit(precision int) column.Int128 {
	return decimalLimits[min(max(precision, 0), maxPrecision)]
}

func powerOfTen(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// numberPrefix finds the number that a text begins with, behind blanks; rest is what follows it. An empty number is none.
func numberPrefix(s string) (number, rest string) {
	s = strings.TrimLeft(s, " \t\n\r\v\f")
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	digits := 0
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		digits++
	}
	if i < len(s) && s[i] == '.' {
		for i++; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
			digits++
		}
	}
	if digits == 0 {
		return "", s
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		j := i + 1
		if j < len(s) && (s[j] == '-' || s[j] == '+') {
			j++
		}
		from := j
		for ; j < len(s) && s[j] >= '0' && s[j] <= '9'; j++ {
		}
		if j > from {
			i = j
		}
	}
	return s[:i], s[i:]
}

func isBlank(s string) bool { return strings.Trim(s, " \t\n\r\v\f") == "" }

// parseExact reads a number that numberPrefix found. tooBig says that it is beyond what any column holds.
func parseExact(s string) (d decimal.Decimal, tooBig bool) {
	if len(s) > maxNumberText {
		// No type has so many digits: those behind the point count for nothing, others are too many.
		point := strings.IndexByte(s, '.')
		if point < 0 || point > maxNumberText/2 || strings.ContainsAny(s, "eE") {
			return decimal.New(int64(signOf(s)), maxNumberExponent), true
		}
		s = s[:maxNumberText]
	}
	mantissa, exp, hasExp := strings.Cut(strings.ToLower(s), "e")
	if hasExp {
		e, err := strconv.Atoi(exp)
		if err != nil || e > maxNumberExponent || e < -maxNumberExponent {
			zero := strings.Trim(mantissa, "+-0.") == ""
			if zero || strings.HasPrefix(exp, "-") {
				return decimal.Zero, false
			}
			return decimal.New(int64(signOf(s)), maxNumberExponent), true
		}
	}
	d, err := decimal.NewFromString(strings.TrimPrefix(s, "+"))
	return d, err != nil
}

func signOf(s string) int {
	if strings.HasPrefix(s, "-") {
		return -1
	}
	return 1
}

// textInt reads a text as an integer.
func (w *cellWriter) textInt(s string) error {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return w.int(n)
	}
	number, rest := numberPrefix(s)
	if number == "" {
		if err := w.incorrect("integer", s); err != nil {
			return err
		}
		return w.int(0)
	}
	if !isBlank(rest) {
		if err := w.truncated(); err != nil {
			return err
		}
	}
	d, _ := parseExact(number)
	return w.exact(d)
}

// textBool reads a number, or one of the words for true and false.
func (w *cellWriter) textBool(s string) error {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "true", "t", "yes", "y", "on":
		w.out.AppendBool(true)
		return nil
	case "false", "f", "no", "n", "off":
		w.out.AppendBool(false)
		return nil
	}
	return w.textInt(s)
}

// textDecimal reads a text as a decimal.
func (w *cellWriter) textDecimal(s string) error {
	number, rest := numberPrefix(s)
	if number == "" || !isBlank(rest) {
		if err := w.incorrect("decimal", s); err != nil {
			return err
		}
		if number == "" {
			return w.int(0)
		}
	}
	d, tooBig := parseExact(number)
	if tooBig {
		return w.clipDecimal(signOf(number))
	}
	return w.decimal(d)
}

// textFloat reads a text as a double. NaN and Infinity are read as they are shown.
func (w *cellWriter) textFloat(s string) error {
	switch s {
	case "NaN":
		return w.float(math.NaN(), 64)
	case "Infinity":
		return w.float(math.Inf(1), 64)
	case "-Infinity":
		return w.float(math.Inf(-1), 64)
	}
	number, rest := numberPrefix(s)
	if number == "" || !isBlank(rest) {
		if err := w.truncated(); err != nil {
			return err
		}
		if number == "" {
			return w.float(0, 64)
		}
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil { // out of range: infinite
		if err := w.outOfRange(); err != nil {
			return err
		}
		limit := math.MaxFloat64
		if w.typ.Root == schema.Float {
			limit = math.MaxFloat32
		}
		w.out.AppendFloat(math.Copysign(limit, f))
		return nil
	}
	return w.float(f, 64)
}
