package planner

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// scalarFunction is a function of ours.
type scalarFunction struct {
	name string
	args []sql.Expression
	typ  func(args []sql.Expression) sql.Type
	// strict: NULL for any NULL argument, without calling eval.
	strict bool
	eval   func(ctx *sql.Context, args []any) (any, error)
	// volatile functions give another value at each call.
	volatile bool
}

var (
	_ sql.FunctionExpression         = (*scalarFunction)(nil)
	_ sql.CollationCoercible         = (*scalarFunction)(nil)
	_ sql.NonDeterministicExpression = (*scalarFunction)(nil)
)

// scalar declares a function with min to max arguments; max < 0 is any number.
func scalar(name string, minArgs, maxArgs int, f scalarFunction) sql.Function {
	f.name = name
	return sql.FunctionN{Name: name, Fn: func(args ...sql.Expression) (sql.Expression, error) {
		if len(args) < minArgs || maxArgs >= 0 && len(args) > maxArgs {
			return nil, sql.ErrInvalidArgumentNumber.New(strings.ToUpper(name), minArgs, len(args))
		}
		c := f
		c.args = args
		return &c, nil
	}}
}

// always is a function's fixed type.
func always(t sql.Type) func([]sql.Expression) sql.Type {
	return func([]sql.Expression) sql.Type { return t }
}

// FunctionName implements sql.FunctionExpression.
func (f *scalarFunction) FunctionName() string { return f.name }

// Description implements sql.FunctionExpression.
func (f *scalarFunction) Description() string {
	return "MySQL's function " + strings.ToUpper(f.name) + "."
}

// IsNonDeterministic implements sql.NonDeterministicExpression.
func (f *scalarFunction) IsNonDeterministic() bool { return f.volatile }

// Children implements sql.Expression.
func (f *scalarFunction) Children() []sql.Expression { return f.args }

// WithChildren implements sql.Expression.
func (f *scalarFunction) WithChildren(kids ...sql.Expression) (sql.Expression, error) {
	if len(kids) != len(f.args) {
		return nil, sql.ErrInvalidChildrenNumber.New(f, len(kids), len(f.args))
	}
	c := *f
	c.args = kids
	return &c, nil
}

// Resolved implements sql.Expression.
func (f *scalarFunction) Resolved() bool { return expression.ExpressionsResolved(f.args...) }

// IsNullable implements sql.Expression.
func (f *scalarFunction) IsNullable() bool { return true }

// Type implements sql.Expression.
func (f *scalarFunction) Type() sql.Type { return f.typ(f.args) }

// CollationCoercibility implements sql.CollationCoercible.
func (f *scalarFunction) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	if gms.IsTextOnly(f.Type()) {
		return ctx.GetCollation(), 4
	}
	return sql.Collation_binary, 5
}

// String implements sql.Expression.
func (f *scalarFunction) String() string {
	args := make([]string, len(f.args))
	for i, a := range f.args {
		args[i] = a.String()
	}
	return f.name + "(" + strings.Join(args, ",") + ")"
}

// Eval implements sql.Expression.
func (f *scalarFunction) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	vals := make([]any, len(f.args))
	for i, a := range f.args {
		v, err := evalPlain(ctx, a, row)
		if err != nil {
			return nil, err
		}
		if v == nil && f.strict {
			return nil, nil
		}
		vals[i] = v
	}
	return f.eval(ctx, vals)
}

// valueText is a value as the text that MySQL makes of it.
func valueText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	case bool:
		if v {
			return "1"
		}
		return "0"
	case float64:
		return string(appendFloat64(nil, v))
	case float32:
		return string(appendFloat64(nil, float64(v)))
	case decimal.Decimal:
		return v.StringFixed(max(0, -v.Exponent()))
	case time.Time:
		if v.Hour() == 0 && v.Minute() == 0 && v.Second() == 0 && v.Nanosecond() == 0 {
			return v.Format("2006-01-02 15:04:05")
		}
		return v.Format("2006-01-02 15:04:05.999999")
	case gms.Timespan:
		return v.String()
	case uint64:
		return strconv.FormatUint(v, 10)
	}
	if i, ok := asInt64(v); ok {
		return strconv.FormatInt(i, 10)
	}
	if s, ok := v.(interface{ String() string }); ok {
		return s.String()
	}
	return ""
}

// valueInt rounds a value to an integer; texts by the number they begin with.
func valueInt(ctx *sql.Context, v any) int64 {
	if i, ok := asInt64(v); ok {
		return i
	}
	switch v := v.(type) {
	case uint64:
		if v > math.MaxInt64 {
			return math.MaxInt64
		}
		return int64(v)
	case decimal.Decimal:
		return v.Round(0).IntPart()
	}
	f := math.Round(doubleValue(ctx, v))
	switch {
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	}
	return int64(f)
}

// valueMoment reads a date with an optional time.
func valueMoment(ctx *sql.Context, v any) (time.Time, bool) {
	switch x := v.(type) {
	case time.Time:
		return x, x.Year() > 0
	case gms.Timespan:
		y, m, d := ctx.QueryTime().In(SessionZone(ctx)).Date()
		return time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Add(x.AsTimeDuration()), true
	case string:
		if m, ok := literalMicros(literal{value: x}); ok {
			return time.UnixMicro(m).UTC(), true
		}
	}
	if i, ok := asInt64(v); ok {
		return numberMoment(i)
	}
	t, _, err := gms.DatetimeMaxPrecision.Convert(ctx, v)
	if err != nil || t == nil {
		return time.Time{}, false
	}
	m := t.(time.Time)
	return m, m.Year() > 0
}

// numberMoment reads YYMMDD, YYYYMMDD and YYYYMMDDhhmmss.
func numberMoment(i int64) (time.Time, bool) {
	layout := "20060102"
	switch {
	case i > 99_991_231:
		layout = "20060102150405"
	case i >= 101 && i <= 991_231: // YYMMDD: 70 to 99 are of the last century
		if i += 20_000_000; i >= 20_700_101 {
			i -= 1_000_000
		}
	}
	t, err := time.Parse(layout, strconv.FormatInt(i, 10))
	return t, err == nil
}

// hasDate reports whether a text is a date, with or without a time, and no time alone.
func hasDate(s string) bool {
	return strings.ContainsAny(strings.TrimPrefix(s, "-"), "-/T") || len(s) >= 8 && allDigits(s)
}

// valueClock reads a time of day or a duration, in microseconds.
func valueClock(ctx *sql.Context, v any) (int64, bool) {
	switch x := v.(type) {
	case gms.Timespan:
		return x.AsMicroseconds(), true
	case time.Time:
		return clockOf(x), true
	case string:
		if hasDate(x) {
			m, ok := valueMoment(ctx, x)
			return clockOf(m), ok
		}
		return parseTimeText(x)
	case decimal.Decimal:
		return parseTimeText(x.String())
	}
	if i, ok := asInt64(v); ok {
		return parseTimeText(strconv.FormatInt(i, 10))
	}
	return 0, false
}

func clockOf(t time.Time) int64 {
	h, m, s := t.Clock()
	return int64((h*60+m)*60+s)*microsPerSecond + int64(t.Nanosecond()/nanosPerMicro)
}
