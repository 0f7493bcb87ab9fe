package planner

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/shopspring/decimal"

	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/sqlengine/types"
)

const (
	secondsPerDay  = 86_400
	maxTimeMicros  = (maxTimeHours*3600 + 59*60 + 59) * microsPerSecond
	daysToYearZero = 719_528 // TO_DAYS('1970-01-01')
)

// fractionOf is the constant argument of NOW(n) and its like.
func fractionOf(args []sql.Expression) int {
	if len(args) == 0 {
		return 0
	}
	if l, ok := args[0].(*expression.Literal); ok {
		if n, ok := asInt64(l.Value()); ok && n >= 0 && n <= types.MaxFraction {
			return int(n)
		}
	}
	return types.MaxFraction
}

func checkFraction(ctx *sql.Context, name string, a []any) (int, error) {
	if len(a) == 0 {
		return 0, nil
	}
	n := valueInt(ctx, a[0])
	if n < 0 || n > types.MaxFraction {
		return 0, errmap.New(1426, "42000", "Too-big precision %d specified for '%s'. Maximum is %d.", n, name, types.MaxFraction)
	}
	return int(n), nil
}

func datetimeType(args []sql.Expression) sql.Type {
	return gms.MustCreateDatetimeType(sqltypes.Datetime, fractionOf(args))
}

// wall is the statement's time on the clock of a zone, cut to n digits.
func wall(ctx *sql.Context, loc *time.Location, n int) time.Time {
	t := ctx.QueryTime().In(loc)
	t = time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	unit := time.Second
	for range n {
		unit /= 10
	}
	return t.Truncate(unit)
}

// nowFunction is NOW and its like, in the session's zone or in UTC.
func nowFunction(name string, utc bool) sql.Function {
	return scalar(name, 0, 1, scalarFunction{typ: datetimeType, eval: func(ctx *sql.Context, a []any) (any, error) {
		n, err := checkFraction(ctx, name, a)
		if err != nil {
			return nil, err
		}
		return wall(ctx, zoneOf(ctx, utc), n), nil
	}})
}

func zoneOf(ctx *sql.Context, utc bool) *time.Location {
	if utc {
		return time.UTC
	}
	return SessionZone(ctx)
}

func dateFunction(name string, utc bool) sql.Function {
	return scalar(name, 0, 0, scalarFunction{typ: always(gms.Date), eval: func(ctx *sql.Context, _ []any) (any, error) {
		return wall(ctx, zoneOf(ctx, utc), 0).Truncate(24 * time.Hour), nil
	}})
}

func clockFunction(name string, utc bool) sql.Function {
	return scalar(name, 0, 1, scalarFunction{typ: always(gms.Time), eval: func(ctx *sql.Context, a []any) (any, error) {
		n, err := checkFraction(ctx, name, a)
		if err != nil {
			return nil, err
		}
		return gms.Timespan(clockOf(wall(ctx, zoneOf(ctx, utc), n))), nil
	}})
}

// clockPart is HOUR and its like.
func clockPart(name string, part func(micros int64) int64) sql.Function {
	return scalar(name, 1, 1, scalarFunction{typ: always(gms.Int32), strict: true, eval: func(ctx *sql.Context, a []any) (any, error) {
		m, ok := valueClock(ctx, a[0])
		if !ok {
			return nil, nil
		}
		return int32(part(max(m, -m))), nil
	}})
}

// timestampDiff is TIMESTAMPDIFF(unit, from, to) with the unit as a text.
var timestampDiff = scalar("timestampdiff", 3, 3, scalarFunction{typ: always(gms.Int64), strict: true, eval: func(ctx *sql.Context, a []any) (any, error) {
	from, ok1 := valueMoment(ctx, a[1])
	to, ok2 := valueMoment(ctx, a[2])
	if !ok1 || !ok2 {
		return nil, nil
	}
	return momentsBetween(valueText(a[0]), from, to)
}})

func timeFunctions() []sql.Function {
	clock := always(gms.Time)
	return []sql.Function{
		nowFunction("now", false), nowFunction("current_timestamp", false), nowFunction("localtime", false), nowFunction("localtimestamp", false),
		nowFunction("utc_timestamp", true),
		dateFunction("curdate", false), dateFunction("current_date", false), dateFunction("utc_date", true),
		clockFunction("curtime", false), clockFunction("current_time", false), clockFunction("utc_time", true),
		scalar("sysdate", 0, 1, scalarFunction{typ: datetimeType, volatile: true, eval: func(ctx *sql.Context, a []any) (any, error) {
			n, err := checkFraction(ctx, "sysdate", a)
			if err != nil {
				return nil, err
			}
			now := *ctx
			now.SetQueryTime(time.Now())
			return wall(&now, SessionZone(ctx), n), nil
		}}),
		clockPart("hour", func(m int64) int64 { return m / (3600 * microsPerSecond) }),
		clockPart("minute", func(m int64) int64 { return m / (60 * microsPerSecond) % 60 }),
		clockPart("second", func(m int64) int64 { return m / microsPerSecond % 60 }),
		clockPart("microsecond", func(m int64) int64 { return m % microsPerSecond }),
		scalar("time_to_sec", 1, 1, scalarFunction{typ: always(gms.Int64), strict: true, eval: func(ctx *sql.Context, a []any) (any, error) {
			m, ok := valueClock(ctx, a[0])
			if !ok {
				return nil, nil
			}
			return m / microsPerSecond, nil
		}}),
		scalar("sec_to_time", 1, 1, scalarFunction{typ: clock, strict: true, eval: func(ctx *sql.Context, a []any) (any, error) {
			d, ok := toDecimal(a[0])
			if !ok {
				return timespan(int64(doubleValue(ctx, a[0]) * float64(microsPerSecond))), nil
			}
			return timespan(d.Shift(6).IntPart()), nil
		}}),
		scalar("maketime", 3, 3, scalarFunction{typ: clock, strict: true, eval: func(ctx *sql.Context, a []any) (any, error) {
			h, m, s := valueInt(ctx, a[0]), valueInt(ctx, a[1]), doubleValue(ctx, a[2])
			if m < 0 || m > 59 || s < 0 || s >= 60 {
				return nil, nil
			}
			micros := (max(h, -h)*60+m)*60*microsPerSecond + int64(s*float64(microsPerSecond)+0.5)
			if h < 0 {
				micros = -micros
			}
			return timespan(micros), nil
		}}),
		scalar("from_unixtime", 1, 2, scalarFunction{typ: fromUnixType, strict: true, eval: fromUnix}),
		scalar("makedate", 2, 2, scalarFunction{typ: always(gms.Date), strict: true, eval: func(ctx *sql.Context, a []any) (any, error) {
			y, d := valueInt(ctx, a[0]), valueInt(ctx, a[1])
			if y < 0 || y > 9999 || d < 1 || d > 366*10_000 {
				return nil, nil
			}
			if y < 70 {
				y += 2000
			} else if y < 100 {
				y += 1900
			}
			t := time.Date(int(y), 1, int(d), 0, 0, 0, 0, time.UTC)
			if t.Year() > 9999 {
				return nil, nil
			}
			return t, nil
		}}),
		scalar("to_seconds", 1, 1, scalarFunction{typ: always(gms.Int64), strict: true, eval: func(ctx *sql.Context, a []any) (any, error) {
			t, ok := valueMoment(ctx, a[0])
			if !ok {
				return nil, nil
			}
			return t.Unix() + daysToYearZero*secondsPerDay, nil
		}}),
		scalar("period_add", 2, 2, scalarFunction{typ: always(gms.Int64), strict: true, eval: func(ctx *sql.Context, a []any) (any, error) {
			m, err := periodMonths(ctx, "period_add", a[0])
			if err != nil {
				return nil, err
			}
			m += valueInt(ctx, a[1])
			return m/12*100 + m%12 + 1, nil
		}}),
		scalar("period_diff", 2, 2, scalarFunction{typ: always(gms.Int64), strict: true, eval: func(ctx *sql.Context, a []any) (any, error) {
			m, err := periodMonths(ctx, "period_diff", a[0])
			if err != nil {
				return nil, err
			}
			n, err := periodMonths(ctx, "period_diff", a[1])
			return m - n, err
		}}),
		scalar("addtime", 2, 2, scalarFunction{typ: addTimeType, strict: true, eval: func(ctx *sql.Context, a []any) (any, error) { return addTime(ctx, a, 1) }}),
		scalar("subtime", 2, 2, scalarFunction{typ: addTimeType, strict: true, eval: func(ctx *sql.Context, a []any) (any, error) { return addTime(ctx, a, -1) }}),
		scalar("timestamp", 1, 2, scalarFunction{typ: always(gms.DatetimeMaxPrecision), strict: true, eval: func(ctx *sql.Context, a []any) (any, error) {
			t, ok := valueMoment(ctx, a[0])
			if !ok {
				return nil, nil
			}
			if len(a) == 2 {
				m, ok := valueClock(ctx, a[1])
				if !ok {
					return nil, nil
				}
				t = t.Add(time.Duration(m) * time.Microsecond)
			}
			return t, nil
		}}),
		timestampDiff,
		scalar("time_format", 2, 2, scalarFunction{typ: always(gms.LongText), strict: true, eval: func(ctx *sql.Context, a []any) (any, error) {
			m, ok := valueClock(ctx, a[0])
			if !ok {
				return nil, nil
			}
			return formatClock(m, valueText(a[1])), nil
		}}),
	}
}

// maxUnixSeconds is MySQL's greatest argument of FROM_UNIXTIME.
const maxUnixSeconds = 32_536_771_199

func fromUnixType(args []sql.Expression) sql.Type {
	if len(args) > 1 {
		return gms.LongText
	}
	n := 0
	switch t := args[0].Type().(type) {
	case sql.DecimalType:
		n = min(int(t.Scale()), types.MaxFraction)
	default:
		if k := kindOfType(t); k == kindDouble || k == kindText {
			n = types.MaxFraction
		}
	}
	return gms.MustCreateDatetimeType(sqltypes.Datetime, n)
}

func fromUnix(ctx *sql.Context, a []any) (any, error) {
	var micros int64
	if d, ok := toDecimal(a[0]); ok {
		if d.GreaterThan(decimal.NewFromInt(maxUnixSeconds)) || d.IsNegative() {
			return nil, nil
		}
		micros = d.Shift(6).Round(0).IntPart()
	} else {
		f := doubleValue(ctx, a[0])
		if !(f >= 0 && f <= maxUnixSeconds) {
			return nil, nil
		}
		micros = int64(math.Round(f * float64(microsPerSecond)))
	}
	t := time.UnixMicro(types.WallMicros(micros, SessionZone(ctx))).UTC()
	if len(a) == 1 {
		return t, nil
	}
	return function.NewDateFormat(expression.NewLiteral(t, gms.DatetimeMaxPrecision), expression.NewLiteral(valueText(a[1]), gms.LongText)).Eval(ctx, nil)
}

// timespan is a TIME, cut to what a TIME can hold.
func timespan(micros int64) gms.Timespan {
	return gms.Timespan(min(max(micros, -maxTimeMicros), maxTimeMicros))
}

// periodMonths reads YYMM or YYYYMM as a number of months.
func periodMonths(ctx *sql.Context, name string, v any) (int64, error) {
	p := valueInt(ctx, v)
	y, m := p/100, p%100
	if p <= 0 || m < 1 || m > 12 {
		return 0, errmap.New(1210, "HY000", "Incorrect arguments to %s", name)
	}
	if y < 70 {
		y += 2000
	} else if y < 100 {
		y += 1900
	}
	return y*12 + m - 1, nil
}

// addTimeType is the type of ADDTIME and SUBTIME: that of a date or time, text for a text.
func addTimeType(args []sql.Expression) sql.Type {
	switch kindOfType(args[0].Type()) {
	case kindMoment:
		return gms.DatetimeMaxPrecision
	case kindTimeOfDay:
		return gms.Time
	}
	return gms.LongText
}

func addTime(ctx *sql.Context, a []any, sign int64) (any, error) {
	d, ok := valueClock(ctx, a[1])
	if !ok {
		return nil, nil
	}
	d *= sign
	if s, isText := a[0].(string); isText && !hasDate(s) {
		m, ok := parseTimeText(s)
		if !ok {
			return nil, nil
		}
		return timespan(m + d).String(), nil
	}
	if span, ok := a[0].(gms.Timespan); ok {
		return timespan(int64(span) + d), nil
	}
	t, ok := valueMoment(ctx, a[0])
	if !ok {
		return nil, nil
	}
	t = t.Add(time.Duration(d) * time.Microsecond)
	if _, isText := a[0].(string); isText {
		return t.Format("2006-01-02 15:04:05.999999"), nil
	}
	return t, nil
}

// unitMicros are the units of TIMESTAMPDIFF that have a fixed length.
var unitMicros = map[string]int64{
	"microsecond": 1, "second": microsPerSecond, "minute": 60 * microsPerSecond, "hour": 3600 * microsPerSecond, "day": microsPerDay, "week": 7 * microsPerDay,
}

var unitMonths = map[string]int64{"month": 1, "quarter": 3, "year": 12}

// momentsBetween counts the whole units from one time to another.
func momentsBetween(unit string, from, to time.Time) (any, error) {
	unit = strings.TrimPrefix(strings.ToLower(unit), "sql_tsi_")
	if n, ok := unitMicros[unit]; ok {
		return (to.UnixMicro() - from.UnixMicro()) / n, nil
	}
	n, ok := unitMonths[unit]
	if !ok {
		return nil, errmap.New(1210, "HY000", "Incorrect arguments to TIMESTAMPDIFF: unit %s", unit)
	}
	sign := int64(1)
	if to.Before(from) {
		from, to, sign = to, from, -1
	}
	months := int64(to.Year()-from.Year())*12 + int64(to.Month()) - int64(from.Month())
	// The last month is whole when day and time of day have been reached.
	if d := to.Day() - from.Day(); d < 0 || d == 0 && clockOf(to) < clockOf(from) {
		months--
	}
	return sign * (months / n), nil
}

// formatClock is TIME_FORMAT: hours may exceed a day.
func formatClock(micros int64, format string) string {
	neg := micros < 0
	m := max(micros, -micros)
	h, min, sec, frac := m/(3600*microsPerSecond), m/(60*microsPerSecond)%60, m/microsPerSecond%60, m%microsPerSecond
	h12 := h % 12
	if h12 == 0 {
		h12 = 12
	}
	half := "AM"
	if h%24 >= 12 {
		half = "PM"
	}
	var b strings.Builder
	if neg {
		b.WriteByte('-')
	}
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		switch format[i] {
		case 'H':
			fmt.Fprintf(&b, "%02d", h)
		case 'k':
			b.WriteString(strconv.FormatInt(h, 10))
		case 'h', 'I':
			fmt.Fprintf(&b, "%02d", h12)
		case 'l':
			b.WriteString(strconv.FormatInt(h12, 10))
		case 'i':
			fmt.Fprintf(&b, "%02d", min)
		case 's', 'S':
			fmt.Fprintf(&b, "%02d", sec)
		case 'f':
			fmt.Fprintf(&b, "%06d", frac)
		case 'p':
			b.WriteString(half)
		case 'r':
			fmt.Fprintf(&b, "%02d:%02d:%02d %s", h12, min, sec, half)
		case 'T':
			fmt.Fprintf(&b, "%02d:%02d:%02d", h, min, sec)
		default:
			b.WriteByte(format[i])
		}
	}
	return b.String()
}
