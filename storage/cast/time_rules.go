package cast

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// timeRule resolves the conversions between dates, times, timestamps and numbers.
func timeRule(from, to *schema.Type) conv {
	switch {
	case isTimestamp(from) && isTimestamp(to):
		return func(b *column.Builder, v *column.Vector, i int) error {
			us, sub := v.Int(i), v.SubNanos(i)
			if to.Precision < from.Precision {
				us, sub = truncate(us, sub, to.Precision)
			}
			b.AppendTimestamp(us, sub)
			return nil
		}
	case isTimestamp(from) && to.Root == schema.Date:
		return func(b *column.Builder, v *column.Vector, i int) error {
			// Paimon 2.0.0 divides milliseconds toward zero: 1969-12-31
			// 12:00 becomes 1970-01-01. Golden answers hold that.
			b.AppendInt(floorDiv(v.Int(i), 1000) / millisPerDay)
			return nil
		}
	case isTimestamp(from) && to.Root == schema.Time:
		return func(b *column.Builder, v *column.Vector, i int) error {
			b.AppendInt(floorMod(v.Int(i), microsPerDay) / 1000)
			return nil
		}
	case isTimestamp(from) && (to.Root == schema.Int || to.Root == schema.BigInt):
		return func(b *column.Builder, v *column.Vector, i int) error {
			// Milliseconds are rounded down, seconds toward zero.
			b.AppendInt(narrow(floorDiv(v.Int(i), 1000)/1000, to))
			return nil
		}
	case from.Root == schema.Date && isTimestamp(to):
		return func(b *column.Builder, v *column.Vector, i int) error {
			return appendMillis(b, v.Int(i)*millisPerDay)
		}
	case from.Root == schema.Time && isTimestamp(to):
		return func(b *column.Builder, v *column.Vector, i int) error { return appendMillis(b, v.Int(i)) }
	case (from.Root == schema.Int || from.Root == schema.BigInt) && isTimestamp(to):
		return func(b *column.Builder, v *column.Vector, i int) error {
			x := v.Int(i)
			if x > math.MaxInt64/microsPerSec || x < math.MinInt64/microsPerSec {
				return fmt.Errorf("%d seconds are no timestamp", x)
			}
			b.AppendTimestamp(x*microsPerSec, 0)
			return nil
		}
	}
	return nil
}

func appendMillis(b *column.Builder, ms int64) error {
	if ms > math.MaxInt64/1000 || ms < math.MinInt64/1000 {
		return fmt.Errorf("%d milliseconds are no timestamp", ms)
	}
	b.AppendTimestamp(ms*1000, 0)
	return nil
}

// truncate cuts a timestamp to a precision as DateTimeUtils.truncate: digits
// of the milliseconds toward zero of the whole number, digits below of the fraction.
func truncate(us int64, sub uint16, precision int) (int64, uint16) {
	nanos := floorMod(us, microsPerSec)*1000 + int64(sub)
	significant := 9
	for n := nanos; significant > 0 && n%10 == 0; n /= 10 {
		significant--
	}
	if significant <= precision {
		return us, sub
	}
	ms := floorDiv(us, 1000)
	if precision <= 3 {
		t := smallPow10[3-precision]
		return ms / t * t * 1000, 0
	}
	in := floorMod(us, 1000)*1000 + int64(sub) // nanoseconds of the millisecond
	t := smallPow10[9-precision]
	in = in / t * t
	return ms*1000 + in/1000, uint16(in % 1000)
}

// isNumeric is StringUtils.isNumeric: digits only, at least one.
func isNumeric(s string) bool {
	for _, r := range s {
		if !unicode.IsDigit(r) {
			return false
		}
	}
	return s != ""
}

// maxIntText bounds the digits of one part of a date or time.
const maxIntText = 9

// part parses digits with surrounding blanks.
func part(s string) (int, bool) {
	s = strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
	if s == "" || len(s) > maxIntText {
		return 0, false
	}
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}

func daysInMonth(y, m int) int {
	switch m {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if y%400 == 0 || y%4 == 0 && y%100 != 0 {
			return 29
		}
		return 28
	}
	return 31
}

// ParseDate parses a text to a DATE (days since 1970-01-01) as Paimon casts
// it: y, y-m or y-m-d, a time after a blank is ignored; digits alone are a day number.
func ParseDate(s string) (int64, error) {
	bad := fmt.Errorf("'%s' is no date", s)
	if isNumeric(s) {
		return parseInteger([]byte(s), math.MinInt32, math.MaxInt32)
	}
	text := s
	if i := strings.IndexByte(text, ' '); i > 0 {
		text = text[:i]
	}
	parts := strings.SplitN(text, "-", 3)
	n := [3]int{0, 1, 1}
	for i, p := range parts {
		var ok bool
		if n[i], ok = part(p); !ok {
			return 0, bad
		}
	}
	y, m, d := n[0], n[1], n[2]
	if y > 9999 || m < 1 || m > 12 || d < 1 || d > daysInMonth(y, m) {
		return 0, bad
	}
	return daysOf(int64(y), m, d), nil
}

// ParseTime parses a text to a TIME (milliseconds) as Paimon casts it: h, h:m
// or h:m:s.fraction with an optional offset; digits alone are milliseconds.
func ParseTime(s string) (int64, error) {
	bad := fmt.Errorf("'%s' is no time", s)
	if isNumeric(s) {
		return parseInteger([]byte(s), math.MinInt32, math.MaxInt32)
	}
	body, sign := s, int64(0)
	var zh, zm int
	if i := strings.IndexByte(s, '-'); i >= 0 {
		sign = -1
		body = s[:i]
	} else if i := strings.IndexByte(s, '+'); i >= 0 {
		sign = 1
		body = s[:i]
	}
	if sign != 0 {
		h, m, has := strings.Cut(s[len(body)+1:], ":")
		var ok bool
		if zh, ok = part(h); !ok {
			return 0, bad
		}
		if has {
			if zm, ok = part(m); !ok {
				return 0, bad
			}
		}
	}
	parts := strings.SplitN(body, ":", 3)
	n := [3]int{}
	milli := 0
	for i, p := range parts {
		if i == 2 {
			var frac string
			var has bool
			if p, frac, has = strings.Cut(p, "."); has {
				milli = fraction(strings.TrimSpace(frac))
			}
		}
		var ok bool
		if n[i], ok = part(p); !ok {
			return 0, bad
		}
	}
	ms := (int64(n[0])+sign*int64(zh))*3_600_000 + (int64(n[1])+sign*int64(zm))*60_000 + int64(n[2])*1000 + int64(milli)
	return int64(int32(ms)), nil
}

// fraction reads up to three digits as milliseconds, rounding by the fourth.
func fraction(s string) int {
	mul, r := 100, 0
	for i := range len(s) {
		if c := s[i]; c >= '0' && c <= '9' {
			r += mul * int(c-'0')
		}
		if mul < 10 {
			if i+1 < len(s) && s[i+1] >= '5' {
				r++
			}
			break
		}
		mul /= 10
	}
	return r
}

// ParseTimestamp parses a text to a TIMESTAMP as Paimon casts it:
// yyyy-M-d, then optionally ` H:m:s.fraction` or `THH:m[:s.fraction]`, the
// fraction cut to the precision. Where numbers is set, digits alone are an epoch number
// in the unit of the precision (0, 3, 6, 9).
func ParseTimestamp(s string, precision int, numbers bool) (micros int64, sub uint16, err error) {
	if numbers && isNumeric(s) {
		return epoch(s, precision)
	}
	days, nanos, ok := parseDateTime(s)
	if !ok {
		return 0, 0, fmt.Errorf("'%s' is no timestamp", s)
	}
	unit := smallPow10[9-precision]
	nanos -= nanos % 1_000_000_000 % unit
	return days*microsPerDay + nanos/1000, uint16(nanos % 1000), nil
}

func epoch(s string, precision int) (int64, uint16, error) {
	x, err := parseInteger([]byte(s), math.MinInt64, math.MaxInt64)
	if err != nil {
		return 0, 0, err
	}
	mul := int64(1)
	switch precision {
	case 0:
		mul = microsPerSec
	case 3:
		mul = 1000
	case 6:
	case 9:
		return floorDiv(x, 1000), uint16(floorMod(x, 1000)), nil
	default:
		return 0, 0, fmt.Errorf("'%s' is a number, and numbers are no TIMESTAMP(%d)", s, precision)
	}
	p := column.MulInt64(x, mul)
	if !p.IsInt64() {
		return 0, 0, fmt.Errorf("'%s' is out of range for a timestamp", s)
	}
	return int64(p.Lo), 0, nil
}

// scanner takes parts of a date-time text.
type scanner struct{ s string }

// number takes one digit, or two, or more where most allows.
func (p *scanner) number(least, most int) (int, bool) {
	i := 0
	for i < len(p.s) && i < most && p.s[i] >= '0' && p.s[i] <= '9' {
		i++
	}
	if i < least {
		return 0, false
	}
	n, err := strconv.Atoi(p.s[:i])
	p.s = p.s[i:]
	return n, err == nil
}

func (p *scanner) char(c byte) bool {
	if p.s == "" || p.s[0] != c {
		return false
	}
	p.s = p.s[1:]
	return true
}

// parseDateTime returns day number and nanoseconds of the day (24:00:00 is
// the next day; a day beyond the month's end is its last day, as Java's smart resolver has it).
func parseDateTime(s string) (days, nanos int64, ok bool) {
	p := scanner{s}
	y, ok1 := p.number(4, maxIntText)
	ok2 := p.char('-')
	m, ok3 := p.number(1, 2)
	ok4 := p.char('-')
	d, ok5 := p.number(1, 2)
	if !(ok1 && ok2 && ok3 && ok4 && ok5) || y < 1 || y > 200_000 || m < 1 || m > 12 || d < 1 || d > 31 {
		return 0, 0, false
	}
	days = daysOf(int64(y), m, min(d, daysInMonth(y, m)))
	if p.s == "" {
		return days, 0, true
	}
	blank := p.char(' ')
	if !blank && !p.char('T') {
		return 0, 0, false
	}
	h, ok1 := p.number(1, 2)
	ok2 = p.char(':')
	mi, ok3 := p.number(1, 2)
	if !(ok1 && ok2 && ok3) || h > 24 || mi > 59 {
		return 0, 0, false
	}
	sec, frac := 0, int64(0)
	if p.char(':') {
		if sec, ok1 = p.number(1, 2); !ok1 || sec > 59 {
			return 0, 0, false
		}
		if p.char('.') {
			n := len(p.s)
			f, _ := p.number(0, 9)
			frac = int64(f)
			for i := n - len(p.s); i < 9; i++ {
				frac *= 10
			}
		}
	} else if blank {
		return 0, 0, false
	}
	if p.s != "" || h == 24 && (mi != 0 || sec != 0 || frac != 0) {
		return 0, 0, false
	}
	if h == 24 {
		return days + 1, 0, true
	}
	return days, int64(h*3600+mi*60+sec)*1_000_000_000 + frac, true
}
