package planner

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"

	"github.com/tributarydb/tributary/sqlengine/dialect"
)

// maxFunctionText bounds the text that a function makes, as max_allowed_packet does in MySQL.
const maxFunctionText = defaultPacket

// warnPacket is MySQL's ER_WARN_ALLOWED_PACKET_OVERFLOWED.
const warnPacket = 1301

// textFunctions are functions of texts, and of dates as texts, that go-mysql-server answers otherwise than MySQL.
func textFunctions() []sql.Function {
	text := always(gms.LongText)
	pad := func(left bool) func(*sql.Context, []any) (any, error) {
		return func(ctx *sql.Context, a []any) (any, error) { return padText(ctx, a, left) }
	}
	return []sql.Function{
		scalar("lpad", 3, 3, scalarFunction{typ: text, strict: true, eval: pad(true)}),
		scalar("rpad", 3, 3, scalarFunction{typ: text, strict: true, eval: pad(false)}),
		scalar("repeat", 2, 2, scalarFunction{typ: text, strict: true, eval: func(ctx *sql.Context, a []any) (any, error) {
			s, n := valueText(a[0]), max(valueInt(ctx, a[1]), 0)
			if tooLong(ctx, "repeat", n, max(len(s), 1)) {
				return nil, nil
			}
			return strings.Repeat(s, int(n)), nil
		}}),
		scalar("quote", 1, 1, scalarFunction{typ: text, eval: func(_ *sql.Context, a []any) (any, error) {
			if a[0] == nil {
				return "NULL", nil
			}
			return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\x00", `\0`, "\x1a", `\Z`).Replace(valueText(a[0])) + "'", nil
		}}),
		scalar("soundex", 1, 1, scalarFunction{typ: text, strict: true, eval: func(_ *sql.Context, a []any) (any, error) {
			return soundex(valueText(a[0])), nil
		}}),
		scalar("abs", 1, 1, scalarFunction{typ: absType, strict: true, eval: abs}),
		scalar("week", 1, 2, scalarFunction{typ: always(gms.Int32), strict: true, eval: func(ctx *sql.Context, a []any) (any, error) {
			t, ok := valueMoment(ctx, a[0])
			if !ok {
				return nil, nil
			}
			mode := int64(0)
			if len(a) > 1 {
				mode = valueInt(ctx, a[1])
			}
			w, _ := weekOf(t, weekMode(mode))
			return int32(w), nil
		}}),
		scalar("date_format", 2, 2, scalarFunction{typ: text, strict: true, eval: func(ctx *sql.Context, a []any) (any, error) {
			t, ok := valueMoment(ctx, a[0])
			format := valueText(a[1])
			if !ok || format == "" {
				return nil, nil
			}
			return formatMoment(t, format), nil
		}}),
		scalar(dialect.IntervalFunction, 2, -1, scalarFunction{typ: always(gms.Int64), eval: intervalIndex}),
	}
}

// tooLong reports, with MySQL's warning, whether a function would make too long a text of n parts of so many bytes.
func tooLong(ctx *sql.Context, name string, n int64, bytes int) bool {
	if n <= maxFunctionText/int64(bytes) {
		return false
	}
	ctx.Warn(warnPacket, "Result of %s() was larger than max_allowed_packet (%d) - truncated", name, maxFunctionText)
	return true
}

// padText is LPAD and RPAD: a text of so many characters.
func padText(ctx *sql.Context, a []any, left bool) (any, error) {
	s, n, fill := valueText(a[0]), valueInt(ctx, a[1]), []rune(valueText(a[2]))
	have := int64(utf8.RuneCountInString(s))
	switch {
	case n < 0:
		return nil, nil
	case n <= have:
		return string([]rune(s)[:n]), nil
	case len(fill) == 0:
		return "", nil
	case tooLong(ctx, "lpad", n, utf8.UTFMax):
		return nil, nil
	}
	var b strings.Builder
	if !left {
		b.WriteString(s)
	}
	for i := range n - have {
		b.WriteRune(fill[i%int64(len(fill))])
	}
	if left {
		b.WriteString(s)
	}
	return b.String(), nil
}

// soundexCodes has the code of each letter from A.
const soundexCodes = "01230120022455012623010202"

// soundexLength is the least length of a code.
const soundexLength = 4

// soundex is MySQL's: the first letter, then a digit for each further consonant that differs from the one before.
func soundex(s string) string {
	var b []rune
	last := byte('0')
	for _, r := range s {
		if !unicode.IsLetter(r) {
			continue
		}
		r = unicode.ToUpper(r)
		code := byte('0')
		if r >= 'A' && r <= 'Z' {
			code = soundexCodes[r-'A']
		}
		if len(b) == 0 {
			b = append(b, r)
			last = code
			continue
		}
		if code != '0' && code != last {
			b = append(b, rune(code))
			last = code
		}
	}
	if len(b) == 0 {
		return ""
	}
	for len(b) < soundexLength {
		b = append(b, '0')
	}
	return string(b)
}

func absType(args []sql.Expression) sql.Type {
	switch t := args[0].Type(); kindOfType(t) {
	case kindInteger:
		if gms.IsUnsigned(t) {
			return gms.Uint64
		}
		return gms.Int64
	case kindDecimal:
		return t
	}
	return gms.Float64
}

// abs is ABS(x).
func abs(ctx *sql.Context, a []any) (any, error) {
	switch v := a[0].(type) {
	case decimal.Decimal:
		return v.Abs(), nil
	case uint64:
		return v, nil
	}
	if i, ok := asInt64(a[0]); ok {
		if i == -i && i != 0 {
			return nil, outOfRange("BIGINT", "abs("+valueText(i)+")")
		}
		return max(i, -i), nil
	}
	f := doubleValue(ctx, a[0])
	return max(f, -f), nil
}

// intervalIndex is INTERVAL(n, n1, n2, …): how many of the ascending numbers are not greater than n.
func intervalIndex(ctx *sql.Context, a []any) (any, error) {
	if a[0] == nil {
		return int64(-1), nil
	}
	n, exact := toDecimal(a[0])
	f := doubleValue(ctx, a[0])
	for i, v := range a[1:] {
		if v == nil {
			continue
		}
		if d, ok := toDecimal(v); ok && exact {
			if d.GreaterThan(n) {
				return int64(i), nil
			}
			continue
		}
		if doubleValue(ctx, v) > f {
			return int64(i), nil
		}
	}
	return int64(len(a) - 1), nil
}

// The bits of MySQL's modes of counting weeks, as calc_week takes them.
const (
	weekMondayFirst  = 1 // weeks begin with Monday
	weekYear         = 2 // the last week of a year may reach into the next one, there is no week 0
	weekFirstWeekday = 4 // week 1 is the first with a first day of the week in the year, not the first with four days
	weekModes        = 7
)

// weekMode is what WEEK makes of its second argument.
func weekMode(mode int64) int {
	m := int(mode & weekModes)
	if m&weekMondayFirst == 0 {
		m ^= weekFirstWeekday
	}
	return m
}

// weekOf is MySQL's calc_week: the number of a week and the year it belongs to.
func weekOf(t time.Time, mode int) (week, year int) {
	year = t.Year()
	first := time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC)
	weekday := int(first.Weekday()) // of 1 January, 0 is the first day of the week
	if mode&weekMondayFirst != 0 {
		weekday = (weekday + 6) % 7
	}
	daysIn := func(year int) int { return time.Date(year, time.December, 31, 0, 0, 0, 0, time.UTC).YearDay() }
	day, start := t.YearDay()-1, 0 // days since 1 January, and where the counted year starts
	inYear := mode&weekYear != 0
	late := func(weekday int) bool {
		if mode&weekFirstWeekday != 0 {
			return weekday != 0
		}
		return weekday >= 4
	}
	if t.Month() == time.January && t.Day() <= 7-weekday {
		if !inYear && late(weekday) {
			return 0, year
		}
		inYear = true
		year--
		days := daysIn(year)
		start -= days
		weekday = (weekday + 53*7 - days) % 7
	}
	days := day - start + weekday
	if late(weekday) {
		days -= 7
	}
	if inYear && days >= 52*7 {
		weekday = (weekday + daysIn(year)) % 7
		if !late(weekday) {
			return 1, year + 1
		}
	}
	return days/7 + 1, year
}

// formatMoment is DATE_FORMAT with English names.
func formatMoment(t time.Time, format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		switch c := format[i]; c {
		case 'a':
			b.WriteString(t.Format("Mon"))
		case 'b':
			b.WriteString(t.Format("Jan"))
		case 'c':
			fmt.Fprint(&b, int(t.Month()))
		case 'D':
			b.WriteString(ordinalDay(t.Day()))
		case 'd':
			fmt.Fprintf(&b, "%02d", t.Day())
		case 'e':
			fmt.Fprint(&b, t.Day())
		case 'j':
			fmt.Fprintf(&b, "%03d", t.YearDay())
		case 'M':
			b.WriteString(t.Month().String())
		case 'm':
			fmt.Fprintf(&b, "%02d", int(t.Month()))
		case 'U':
			w, _ := weekOf(t, weekFirstWeekday)
			fmt.Fprintf(&b, "%02d", w)
		case 'u':
			w, _ := weekOf(t, weekMondayFirst)
			fmt.Fprintf(&b, "%02d", w)
		case 'V':
			w, _ := weekOf(t, weekYear|weekFirstWeekday)
			fmt.Fprintf(&b, "%02d", w)
		case 'v':
			w, _ := weekOf(t, weekYear|weekMondayFirst)
			fmt.Fprintf(&b, "%02d", w)
		case 'X':
			_, y := weekOf(t, weekYear|weekFirstWeekday)
			fmt.Fprintf(&b, "%04d", y)
		case 'x':
			_, y := weekOf(t, weekYear|weekMondayFirst)
			fmt.Fprintf(&b, "%04d", y)
		case 'W':
			b.WriteString(t.Weekday().String())
		case 'w':
			fmt.Fprint(&b, int(t.Weekday()))
		case 'Y':
			fmt.Fprintf(&b, "%04d", t.Year())
		case 'y':
			fmt.Fprintf(&b, "%02d", t.Year()%100)
		default:
			b.WriteString(formatClock(clockOf(t), format[i-1:i+1]))
		}
	}
	return b.String()
}

// ordinalDay is a day of a month with its English suffix.
func ordinalDay(d int) string {
	suffix := "th"
	if d < 10 || d > 20 {
		switch d % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprint(d, suffix)
}
