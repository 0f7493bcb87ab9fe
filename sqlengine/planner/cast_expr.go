package planner

import (
	stdjson "encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/expression/function/json"
	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"

	"github.com/tributarydb/tributary/sqlengine/errmap"
)

// Cast is CAST where go-mysql-server's gives another value than MySQL.
type Cast struct {
	*expression.Convert
	from typeKind
}

// newCast replaces a cast; nil where go-mysql-server's is right.
func newCast(c *expression.Convert) sql.Expression {
	if l, ok := c.Child.(*expression.Literal); ok {
		// A hexadecimal or bit literal that becomes a number is the number it stands for.
		if n := bytesNumber(l, expression.NewLiteral(nil, c.Type())); n != sql.Expression(l) {
			if with, err := c.WithChildren(n); err == nil {
				c = with.(*expression.Convert)
				if out := newCast(c); out != nil {
					return out
				}
				return c
			}
		}
	}
	from := kindOfType(c.Child.Type())
	isDate := gms.IsDateType(c.Child.Type())
	to := c.Type()
	switch {
	case (to == gms.Int64 || to == gms.Uint64) && (from == kindMoment || from == kindTimeOfDay),
		to == gms.Int64 && (from == kindText || from == kindInteger && gms.IsUnsigned(c.Child.Type())),
		gms.IsFloat(to) && (from == kindText || from == kindMoment || from == kindTimeOfDay),
		gms.IsDecimal(to) && (from == kindMoment || from == kindTimeOfDay),
		gms.IsDatetimeType(to) && from == kindInteger,
		gms.IsTextOnly(to) && from == kindMoment,
		gms.IsDecimal(to) && !to.Equals(gms.InternalDecimalType) && (from == kindInteger || from == kindDecimal || from == kindText),
		gms.IsTextOnly(to) && (from == kindDouble || from == kindTimeOfDay || isDate || from == kindText && castLength(c) >= 0),
		gms.IsDateType(to) && from == kindInteger:
		return &Cast{Convert: c, from: from}
	}
	return nil
}

// WithChildren implements sql.Expression.
func (c *Cast) WithChildren(kids ...sql.Expression) (sql.Expression, error) {
	n, err := c.Convert.WithChildren(kids...)
	if err != nil {
		return nil, err
	}
	return &Cast{Convert: n.(*expression.Convert), from: c.from}, nil
}

// Eval implements sql.Expression.
func (c *Cast) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := evalPlain(ctx, c.Child, row)
	if err != nil || v == nil {
		return nil, err
	}
	to := c.Type()
	if d, ok := momentDecimal(v, gms.IsDateType(c.Child.Type())); ok {
		switch {
		case to == gms.Int64:
			return d.Round(0).IntPart(), nil
		case to == gms.Uint64:
			return uint64(d.Round(0).IntPart()), nil
		case gms.IsFloat(to):
			x, _, err := to.Convert(ctx, d.InexactFloat64())
			return x, err
		case gms.IsDecimal(to):
			return clampDecimal(ctx, d, to.(sql.DecimalType)), nil
		}
	}
	switch {
	case to == gms.Int64:
		if s, ok := toText(v); ok {
			return integerPrefix(ctx, s), nil
		}
		if u, ok := v.(uint64); ok {
			return int64(u), nil
		}
	case gms.IsFloat(to):
		if s, ok := toText(v); ok {
			x, _, err := to.Convert(ctx, textDouble(ctx, s))
			return x, err
		}
	case gms.IsDatetimeType(to) && !gms.IsDateType(to):
		if i, ok := asInt64(v); ok {
			t, ok := numberMoment(i)
			if !ok {
				ctx.Warn(1292, "Incorrect datetime value: '%d'", i)
				return nil, nil
			}
			return t, nil
		}
	case gms.IsDecimal(to):
		d, ok := castDecimalValue(ctx, v)
		if ok {
			return clampDecimal(ctx, d, to.(sql.DecimalType)), nil
		}
	case gms.IsTextOnly(to):
		return cutText(momentPrinter(c.Child, false)(v), castLength(c.Convert)), nil
	case gms.IsDateType(to):
		if i, ok := asInt64(v); ok {
			t, ok := numberMoment(i)
			if !ok {
				ctx.Warn(1292, "Incorrect datetime value: '%d'", i)
				return nil, nil
			}
			return t.Truncate(24 * time.Hour), nil
		}
	}
	return c.Convert.Eval(ctx, row)
}

// integerPrefix reads the integer that a text begins with, with a warning where more follows.
func integerPrefix(ctx *sql.Context, s string) int64 {
	t := strings.TrimLeft(s, " \t\n\r\v\f")
	end := 0
	for end < len(t) && (t[end] >= '0' && t[end] <= '9' || end == 0 && (t[0] == '-' || t[0] == '+')) {
		end++
	}
	if end < len(strings.TrimRight(t, " ")) || end == 0 {
		ctx.Warn(1292, "Truncated incorrect INTEGER value: '%s'", s)
	}
	d, err := decimal.NewFromString(strings.TrimPrefix(t[:end], "+"))
	switch {
	case err != nil:
		return 0
	case d.GreaterThan(decimal.NewFromInt(math.MaxInt64)):
		return math.MaxInt64
	case d.LessThan(decimal.NewFromInt(math.MinInt64)):
		return math.MinInt64
	}
	return d.IntPart()
}

func castDecimalValue(ctx *sql.Context, v any) (decimal.Decimal, bool) {
	s, isText := toText(v)
	if !isText {
		switch f := v.(type) {
		case float64:
			return finiteDecimal(f)
		case float32:
			d, ok := finiteDecimal(float64(f))
			if ok {
				d = decimal.NewFromFloat32(f)
			}
			return d, ok
		}
		return toDecimal(v)
	}
	d, err := decimal.NewFromString(strings.TrimSpace(s))
	if err != nil || d.Exponent() > maxExponent || d.Exponent() < -maxExponent {
		ctx.Warn(1292, "Truncated incorrect DECIMAL value: '%s'", s)
		f := numericPrefix(s)
		if math.IsInf(f, 0) {
			return decimal.Decimal{}, false
		}
		return decimal.NewFromFloat(f), true
	}
	return d, true
}

func finiteDecimal(f float64) (decimal.Decimal, bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return decimal.Decimal{}, false
	}
	return decimal.NewFromFloat(f), true
}

// clampDecimal rounds to the type's scale and keeps to its greatest value.
func clampDecimal(ctx *sql.Context, d decimal.Decimal, t sql.DecimalType) decimal.Decimal {
	scale := int32(t.Scale())
	r := d.Round(scale)
	limit := decimal.New(1, int32(t.Precision())-scale).Sub(decimal.New(1, -scale))
	if r.Abs().GreaterThan(limit) {
		ctx.Warn(1264, "Out of range value for column '%s' at row 1", d.String())
		if r.IsNegative() {
			return limit.Neg()
		}
		return limit
	}
	return r
}

// momentDecimal is the number that MySQL makes of a date (YYYYMMDD), a date with a time or a time (hhmmss), with its fraction.
func momentDecimal(v any, date bool) (decimal.Decimal, bool) {
	switch v := v.(type) {
	case time.Time:
		n := decimal.NewFromInt(momentDigits(v, date))
		if micros := int64(v.Nanosecond() / nanosPerMicro); micros != 0 {
			n = n.Add(decimal.New(micros, -6))
		}
		return n, true
	case gms.Timespan:
		m := v.AsMicroseconds()
		s := max(m, -m) / microsPerSecond
		n := decimal.NewFromInt(s/3600*10_000 + s/60%60*100 + s%60)
		if micros := max(m, -m) % microsPerSecond; micros != 0 {
			n = n.Add(decimal.New(micros, -6))
		}
		if m < 0 {
			n = n.Neg()
		}
		return n, true
	}
	return decimal.Decimal{}, false
}

// textDouble is the number that a text begins with, with a warning where more follows or it is too great.
func textDouble(ctx *sql.Context, s string) float64 {
	if _, err := strconv.ParseFloat(strings.Trim(s, " \t\n\r\v\f"), 64); err != nil || strings.ContainsAny(s, "xXpP_nN") {
		ctx.Warn(1292, "Truncated incorrect DOUBLE value: '%s'", s)
	}
	return numericPrefix(s)
}

func castText(v any, date bool) string {
	if t, ok := v.(time.Time); ok && date {
		return t.Format("2006-01-02")
	}
	return valueText(v)
}

// castLength is the n of CAST(… AS CHAR(n)), -1 for none; go-mysql-server tells it in the expression's text only.
func castLength(c *expression.Convert) int {
	s := strings.TrimSuffix(c.String(), "))")
	i := strings.LastIndex(s, "char(")
	if i < 0 || len(s)+2 != len(c.String()) {
		return -1
	}
	n, err := strconv.Atoi(s[i+len("char("):])
	if err != nil {
		return -1
	}
	return n
}

// cutText cuts a text to n characters; n < 0 leaves it.
func cutText(s string, n int) string {
	if n < 0 || utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n])
}

// IntegerMath is +, - or * of integers, with an error where MySQL has one and
// go-mysql-server wraps around.
type IntegerMath struct{ *expression.Arithmetic }

// isUnsigned reports whether an operand is unsigned: the result is, too.
func (m *IntegerMath) isUnsigned() bool {
	return gms.IsUnsigned(m.LeftChild.Type()) || gms.IsUnsigned(m.RightChild.Type())
}

// Type implements sql.Expression.
func (m *IntegerMath) Type() sql.Type {
	if m.isUnsigned() {
		return gms.Uint64
	}
	return gms.Int64
}

// WithChildren implements sql.Expression.
func (m *IntegerMath) WithChildren(kids ...sql.Expression) (sql.Expression, error) {
	n, err := m.Arithmetic.WithChildren(kids...)
	if err != nil {
		return nil, err
	}
	return &IntegerMath{n.(*expression.Arithmetic)}, nil
}

// Eval implements sql.Expression.
func (m *IntegerMath) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	l, err := evalPlain(ctx, m.LeftChild, row)
	if err != nil || l == nil {
		return nil, err
	}
	r, err := evalPlain(ctx, m.RightChild, row)
	if err != nil || r == nil {
		return nil, err
	}
	if m.isUnsigned() {
		return m.unsigned(l, r)
	}
	a, ok1 := asInt64(l)
	b, ok2 := asInt64(r)
	if !ok1 || !ok2 {
		return m.Arithmetic.Eval(ctx, row)
	}
	var x int64
	over := false
	switch m.Op {
	case "+":
		x = a + b
		over = (a^x)&(b^x) < 0
	case "-":
		x = a - b
		over = (a^b)&(a^x) < 0
	default:
		x = a * b
		over = a != 0 && (x/a != b || a == -1 && b == math.MinInt64)
	}
	if over {
		return nil, m.outOfRange("BIGINT")
	}
	return x, nil
}

func (m *IntegerMath) unsigned(l, r any) (any, error) {
	a, ok1 := toDecimal(l)
	b, ok2 := toDecimal(r)
	if !ok1 || !ok2 {
		return nil, m.outOfRange("BIGINT UNSIGNED")
	}
	var x decimal.Decimal
	switch m.Op {
	case "+":
		x = a.Add(b)
	case "-":
		x = a.Sub(b)
	default:
		x = a.Mul(b)
	}
	if x.IsNegative() || !x.BigInt().IsUint64() {
		return nil, m.outOfRange("BIGINT UNSIGNED")
	}
	return x.BigInt().Uint64(), nil
}

func (m *IntegerMath) outOfRange(what string) error {
	return errmap.New(1690, "22003", "%s value is out of range in '%s'", what, m.Arithmetic)
}

// newArithmetic repairs an arithmetic expression; nil where there is nothing to repair.
func newArithmetic(a *expression.Arithmetic) sql.Expression {
	switch a.Op {
	case "+", "-", "*":
	default:
		return nil
	}
	if _, ok := a.RightChild.(*expression.Interval); ok {
		return newIntervalMath(a, a.LeftChild, a.RightChild)
	}
	if _, ok := a.LeftChild.(*expression.Interval); ok {
		return newIntervalMath(a, a.RightChild, a.LeftChild)
	}
	l, r := kindOfType(a.LeftChild.Type()), kindOfType(a.RightChild.Type())
	if l == kindText || r == kindText {
		n := expression.NewArithmetic(numberOf(a.LeftChild), numberOf(a.RightChild), a.Op)
		if m := newArithmetic(n); m != nil {
			return m
		}
		return n
	}
	if l == kindInteger && r == kindInteger {
		return &IntegerMath{a}
	}
	dated := func(k typeKind, e sql.Expression) bool {
		return k == kindTimeOfDay || k == kindMoment && gms.IsDateType(e.Type())
	}
	if !dated(l, a.LeftChild) && !dated(r, a.RightChild) {
		return nil
	}
	n := expression.NewArithmetic(momentAsNumber(a.LeftChild), momentAsNumber(a.RightChild), a.Op)
	if m := newArithmetic(n); m != nil {
		return m
	}
	return n
}

// momentAsNumber makes YYYYMMDD of a date and hhmmss of a time; other expressions stay.
func momentAsNumber(e sql.Expression) sql.Expression {
	if gms.IsDateType(e.Type()) || kindOfType(e.Type()) == kindTimeOfDay {
		return &scalarFunction{name: "number_of", args: []sql.Expression{e}, typ: always(gms.Int64), strict: true, eval: func(_ *sql.Context, a []any) (any, error) {
			switch v := a[0].(type) {
			case time.Time:
				return int64(v.Year())*10_000 + int64(v.Month())*100 + int64(v.Day()), nil
			case gms.Timespan:
				m := v.AsMicroseconds()
				s := max(m, -m) / microsPerSecond
				n := s/3600*10_000 + s/60%60*100 + s%60
				if m < 0 {
					n = -n
				}
				return n, nil
			}
			return nil, nil
		}}
	}
	return e
}

// newIntervalMath makes DATE_ADD or DATE_SUB of date + INTERVAL, whose operator has no fractions of seconds in go-mysql-server.
func newIntervalMath(a *expression.Arithmetic, date, interval sql.Expression) sql.Expression {
	build := function.NewDateAdd
	switch {
	case a.Op == "-":
		build = function.NewDateSub
	case a.Op != "+":
		return nil
	}
	f, err := build(date, interval)
	if err != nil {
		return nil
	}
	return f
}

// newJSONValue makes the text of a JSON string of JSON_VALUE, which go-mysql-server leaves quoted.
func newJSONValue(e *json.JsonValue) sql.Expression {
	if !gms.IsTextOnly(e.Typ) {
		return nil
	}
	return &scalarFunction{name: "json_value", args: []sql.Expression{e}, typ: always(gms.LongText), strict: true, eval: func(_ *sql.Context, a []any) (any, error) {
		s := valueText(a[0])
		var text string
		if strings.HasPrefix(s, `"`) && stdjson.Unmarshal([]byte(s), &text) == nil {
			return text, nil
		}
		return s, nil
	}}
}
