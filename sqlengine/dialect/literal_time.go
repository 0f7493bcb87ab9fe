package dialect

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	datePattern = regexp.MustCompile(`^(\d{1,4})[^\d\s](\d{1,2})[^\d\s](\d{1,2})$`)
	timePattern = regexp.MustCompile(`^(-?)(?:(\d+) )?(\d{1,3})(?::(\d{1,2}))?(?::(\d{1,2}))?(?:\.(\d*))?$`)
	// A time of day with an optional offset from UTC.
	clockPattern = regexp.MustCompile(`^(\d{1,2})(?::(\d{1,2}))?(?::(\d{1,2}))?(?:\.(\d*))?([+-]\d{2}:\d{2})?$`)
)

// typedLiteral checks a literal such as DATE '2024-01-31' and writes it as a
// cast, which keeps its type through vitess.
func typedLiteral(typ, value string) (string, error) {
	v := strings.TrimSpace(value)
	switch typ {
	case "DATE":
		d, ok := parseDate(v)
		if !ok {
			return "", wrongValue("DATE", value)
		}
		return "CAST('" + d + "' AS DATE)", nil
	case "TIMESTAMP":
		text, digits, ok := parseTimestamp(v)
		if !ok {
			return "", wrongValue("DATETIME", value)
		}
		return fmt.Sprintf("CAST('%s' AS DATETIME(%d))", text, digits), nil
	}
	m := timePattern.FindStringSubmatch(v)
	if m == nil || !below(m[4], 60) || !below(m[5], 60) {
		return "", wrongValue("TIME", value)
	}
	return fmt.Sprintf("CAST(%s AS TIME(%d))", quoteString(v), min(len(m[6]), maxTimePrecision)), nil
}

// parseDate reads a date in MySQL's relaxed form and returns it as YYYY-MM-DD.
func parseDate(v string) (string, bool) {
	var year, month, day string
	if m := datePattern.FindStringSubmatch(v); m != nil {
		year, month, day = m[1], m[2], m[3]
	} else if n := len(v); (n == 8 || n == 6) && strings.Trim(v, "0123456789") == "" {
		year, month, day = v[:n-4], v[n-4:n-2], v[n-2:]
	} else {
		return "", false
	}
	y, _ := strconv.Atoi(year)
	mo, _ := strconv.Atoi(month)
	d, _ := strconv.Atoi(day)
	if len(year) <= 2 {
		if y += 1900; y < 1970 {
			y += 100
		}
	}
	t := time.Date(y, time.Month(mo), d, 0, 0, 0, 0, time.UTC)
	if t.Day() != d || int(t.Month()) != mo {
		return "", false
	}
	return fmt.Sprintf("%04d-%02d-%02d", y, mo, d), true
}

// parseTimestamp reads a date and time of day and returns it in canonical form
// with its number of fractional digits.
func parseTimestamp(v string) (text string, digits int, ok bool) {
	date, clock, timed := strings.Cut(v, " ")
	if !timed {
		date, clock, timed = strings.Cut(v, "T")
	}
	if date, ok = parseDate(date); !ok {
		return "", 0, false
	}
	if !timed {
		return date + " 00:00:00", 0, true
	}
	m := clockPattern.FindStringSubmatch(strings.TrimSpace(clock))
	if m == nil || !below(m[1], 24) || !below(m[2], 60) || !below(m[3], 60) {
		return "", 0, false
	}
	n := func(s string) int { k, _ := strconv.Atoi(s); return k }
	text = fmt.Sprintf("%s %02d:%02d:%02d", date, n(m[1]), n(m[2]), n(m[3]))
	fraction := m[4]
	if len(fraction) > maxTimePrecision {
		fraction = fraction[:maxTimePrecision]
	}
	if fraction != "" {
		text += "." + fraction
	}
	return text + m[5], len(fraction), true
}

// below reports whether the digits of s, if any, are a number under limit.
func below(s string, limit int) bool {
	n, err := strconv.Atoi(s)
	return s == "" || err == nil && n < limit
}
