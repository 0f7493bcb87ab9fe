package planner

import (
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/types"
)

// errBadFunctionValue is MySQL's ER_WRONG_VALUE_FOR_TYPE.
const errBadFunctionValue = 1411

// Specifiers of STR_TO_DATE that make its value a date or a time.
const (
	dateSpecifiers = "MVUXYWabcjmvuxywdDe"
	timeSpecifiers = "HIShiklprsTf"
)

// strToDateFunction is STR_TO_DATE(text, format). go-mysql-server's forgets AM and PM, weeks and the digits of fractions.
func strToDateFunction() sql.Function {
	return scalar("str_to_date", 2, 2, scalarFunction{typ: strToDateType, strict: true, eval: strToDate})
}

// dateFormatKind says what a format reads.
func dateFormatKind(format string) (date, clock, fraction bool) {
	for i := 0; i+1 < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		i++
		date = date || strings.IndexByte(dateSpecifiers, format[i]) >= 0
		clock = clock || strings.IndexByte(timeSpecifiers, format[i]) >= 0
		fraction = fraction || format[i] == 'f'
	}
	return date, clock, fraction
}

func strToDateType(args []sql.Expression) sql.Type {
	l, ok := args[1].(*expression.Literal)
	if !ok || l.Value() == nil {
		return gms.DatetimeMaxPrecision
	}
	date, clock, fraction := dateFormatKind(valueText(l.Value()))
	switch {
	case !clock:
		return gms.Date
	case !date:
		return gms.Time
	case fraction:
		return gms.DatetimeMaxPrecision
	}
	return gms.Datetime
}

func strToDate(ctx *sql.Context, a []any) (any, error) {
	text, format := valueText(a[0]), valueText(a[1])
	d := dateReader{rest: text, week: -1, weekYear: -1}
	date, clock, _ := dateFormatKind(format)
	if d.read(format) && d.finish(date) {
		if clock && !date {
			return gms.Timespan(int64((d.hour*60+d.minute)*60+d.second)*microsPerSecond + int64(d.micro)), nil
		}
		t := time.Date(d.year, time.Month(d.month), d.day, d.hour, d.minute, d.second, d.micro*nanosPerMicro, time.UTC)
		if t.Day() == d.day && int(t.Month()) == d.month && d.year > 0 {
			return t, nil
		}
	}
	ctx.Warn(errBadFunctionValue, "Incorrect datetime value: '%s' for function str_to_date", text)
	return nil, nil
}

// dateReader reads a text as a format says; its fields are what it has found.
type dateReader struct {
	rest                                          string
	year, month, day, hour, minute, second, micro int
	dayOfYear, weekday /* Monday is 1 */, week    int
	weekYear                                      int
	sundayFirst, strictWeek, weekYearFromSunday   bool
	twelveHours, afternoon                        bool
}

// number reads up to n digits; negative where there are none.
func (d *dateReader) number(n int) int {
	i, v := 0, 0
	for i < n && i < len(d.rest) && d.rest[i] >= '0' && d.rest[i] <= '9' {
		v = v*10 + int(d.rest[i]-'0')
		i++
	}
	if i == 0 {
		return -1
	}
	d.rest = d.rest[i:]
	return v
}

// word reads one of some names, of which the first short letters may stand alone; its place from 1, 0 for none.
func (d *dateReader) word(name func(int) string, n int, short bool) int {
	end := 0
	for end < len(d.rest) && (d.rest[end]|0x20 >= 'a' && d.rest[end]|0x20 <= 'z') {
		end++
	}
	for i := 1; i <= n; i++ {
		w := name(i)
		if short {
			w = w[:3]
		}
		if strings.EqualFold(w, d.rest[:end]) {
			d.rest = d.rest[end:]
			return i
		}
	}
	return 0
}

func monthName(i int) string { return time.Month(i).String() }

func weekdayName(i int) string { return time.Weekday(i % 7).String() }

// century completes a year of two digits.
func century(y int) int {
	if y < 70 {
		return y + 2000
	}
	return y + 1900
}

// skip drops what belongs to a class of bytes.
func (d *dateReader) skip(is func(byte) bool) {
	for d.rest != "" && is(d.rest[0]) {
		d.rest = d.rest[1:]
	}
}

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isPunct(c byte) bool { return c > ' ' && c < 0x7f && !isDigit(c) && !isAlpha(c) }
func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// read reads the text; false where it does not fit the format. What is left of either is ignored.
func (d *dateReader) read(format string) bool {
	for i := 0; i < len(format) && d.rest != ""; i++ {
		if d.skip(isSpace); d.rest == "" {
			break
		}
		c := format[i]
		if c != '%' || i+1 == len(format) {
			if isSpace(c) {
				continue
			}
			if d.rest[0] != c {
				return false
			}
			d.rest = d.rest[1:]
			continue
		}
		i++
		if !d.part(format[i]) {
			return false
		}
	}
	return true
}

// part reads what one specifier stands for.
func (d *dateReader) part(c byte) bool {
	into := func(p *int, digits int) bool {
		*p = d.number(digits)
		return *p >= 0
	}
	switch c {
	case 'Y':
		before := len(d.rest)
		if !into(&d.year, 4) {
			return false
		}
		if before-len(d.rest) <= 2 {
			d.year = century(d.year)
		}
	case 'y':
		if !into(&d.year, 2) {
			return false
		}
		d.year = century(d.year)
	case 'm', 'c':
		return into(&d.month, 2)
	case 'M', 'b':
		d.month = d.word(monthName, 12, c == 'b')
		return d.month > 0
	case 'd', 'e':
		return into(&d.day, 2)
	case 'D':
		if !into(&d.day, 2) {
			return false
		}
		d.rest = d.rest[min(len(d.rest), 2):]
	case 'h', 'I', 'l':
		d.twelveHours = true
		return into(&d.hour, 2)
	case 'H', 'k':
		return into(&d.hour, 2)
	case 'i':
		return into(&d.minute, 2)
	case 's', 'S':
		return into(&d.second, 2)
	case 'f':
		before := len(d.rest)
		if !into(&d.micro, 6) {
			return false
		}
		for range 6 - (before - len(d.rest)) {
			d.micro *= 10
		}
	case 'p':
		if len(d.rest) < 2 || !d.twelveHours {
			return false
		}
		switch strings.ToUpper(d.rest[:2]) {
		case "PM":
			d.afternoon = true
		case "AM":
		default:
			return false
		}
		d.rest = d.rest[2:]
	case 'W', 'a':
		d.weekday = d.word(weekdayName, 7, c == 'a')
		return d.weekday > 0
	case 'w':
		if !into(&d.weekday, 1) || d.weekday > 6 {
			return false
		}
		if d.weekday == 0 {
			d.weekday = 7
		}
	case 'j':
		return into(&d.dayOfYear, 3)
	case 'U', 'u', 'V', 'v':
		d.sundayFirst, d.strictWeek = c == 'U' || c == 'V', c == 'V' || c == 'v'
		return into(&d.week, 2) && d.week <= 53 && (d.week > 0 || !d.strictWeek)
	case 'X', 'x':
		d.weekYearFromSunday = c == 'X'
		return into(&d.weekYear, 4)
	case 'r':
		return d.read("%I:%i:%S %p")
	case 'T':
		return d.read("%H:%i:%S")
	case '.':
		d.skip(isPunct)
	case '@':
		d.skip(isAlpha)
	case '#':
		d.skip(isDigit)
	default:
		if d.rest[0] != c {
			return false
		}
		d.rest = d.rest[1:]
	}
	return true
}

// finish puts the parts together; false where they make no time.
func (d *dateReader) finish(date bool) bool {
	if d.twelveHours {
		if d.hour < 1 || d.hour > 12 {
			return false
		}
		d.hour %= 12
		if d.afternoon {
			d.hour += 12
		}
	}
	if d.hour > 23 || d.minute > 59 || d.second > 59 {
		return false
	}
	if date && d.dayOfYear > 0 {
		d.set(time.Date(d.year, 1, d.dayOfYear, 0, 0, 0, 0, time.UTC))
	}
	if date && d.week >= 0 && d.weekday > 0 {
		if d.strictWeek != (d.weekYear >= 0) || d.strictWeek && d.weekYearFromSunday != d.sundayFirst {
			return false
		}
		year := d.year
		if d.strictWeek {
			year = d.weekYear
		}
		first := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		// skipped is how many days the first week begins after the first of January; it may begin before.
		skipped, place := -int(first.Weekday()), d.weekday%7
		if !d.sundayFirst {
			if skipped, place = -(int(first.Weekday()+6) % 7), d.weekday-1; skipped < -3 {
				skipped += 7
			}
		} else if skipped < 0 {
			skipped += 7
		}
		d.set(first.AddDate(0, 0, skipped+(d.week-1)*7+place))
	}
	return d.month <= 12 && d.day <= 31
}

// set takes a day.
func (d *dateReader) set(t time.Time) { d.year, d.month, d.day = t.Year(), int(t.Month()), t.Day() }
