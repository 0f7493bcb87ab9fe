package planner

import (
	"strconv"
	"strings"
	"time"

	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"

	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/schema"
)

const (
	// pivotYear is the first of the years of two digits that belong to the 20th century.
	pivotYear = 70
	// maxZoneOffset is the greatest offset of a time zone in a text, in minutes.
	maxZoneOffset = 14 * 60
)

// civilTime is a date and time as written.
type civilTime struct {
	year, month, day, hour, minute, second int
	nanos                                  int64
	// hasZone says that the text ends with an offset, in minutes.
	hasZone bool
	offset  int
}

// valid reports whether there is such a time.
func (c *civilTime) valid() bool {
	if c.month < 1 || c.month > 12 || c.day < 1 || c.hour > 23 || c.minute > 59 || c.second > 59 || c.year > 9999 {
		return false
	}
	return c.day <= time.Date(c.year, time.Month(c.month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// micros is the wall clock, in microseconds since 1970, without its nanoseconds.
func (c *civilTime) micros() int64 {
	return time.Date(c.year, time.Month(c.month), c.day, c.hour, c.minute, c.second, 0, time.UTC).Unix() * microsPerSecond
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// parseCivil reads a date, or a date and a time, as MySQL does: digits alone
// (YYYYMMDD, YYMMDD, both with hhmmss), or parts between any punctuation, a
// fraction, and an offset of a zone. Nothing may follow.
func parseCivil(s string) (c civilTime, ok bool) {
	s = strings.TrimSpace(s)
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	if n == 0 {
		return c, false
	}
	rest := s[n:]
	if rest == "" || (rest[0] == '.' && n >= 12) || (rest[0] == 'T' && n >= 6) {
		if rest != "" && rest[0] == 'T' { // YYYYMMDDThhmmss
			m := 1
			for m < len(rest) && isDigit(rest[m]) {
				m++
			}
			if m != 7 {
				return c, false
			}
			s, n, rest = s[:n]+rest[1:m], n+6, rest[m:]
		}
		if !c.digits(s[:n]) {
			return c, false
		}
		rest, ok = c.fraction(rest)
		return c, ok && rest == "" && c.valid()
	}
	if !c.parts(s) {
		return c, false
	}
	return c, c.valid()
}

// digits reads a time that is written without separators.
func (c *civilTime) digits(s string) bool {
	two := false
	switch len(s) {
	case 8, 14:
	case 6, 12:
		two = true
	default:
		return false
	}
	take := func(n int) int {
		v, _ := strconv.Atoi(s[:n])
		s = s[n:]
		return v
	}
	if two {
		c.year = fullYear(take(2))
	} else {
		c.year = take(4)
	}
	c.month, c.day = take(2), take(2)
	if s != "" {
		c.hour, c.minute, c.second = take(2), take(2), take(2)
	}
	return true
}

func fullYear(y int) int {
	if y < pivotYear {
		return 2000 + y
	}
	return 1900 + y
}

// parts reads a time with separators.
func (c *civilTime) parts(s string) bool {
	number := func(width int) (v, digits int) {
		for digits < len(s) && digits < width && isDigit(s[digits]) {
			v = v*10 + int(s[digits]-'0')
			digits++
		}
		s = s[digits:]
		return v, digits
	}
	separator := func() bool {
		n := 0
		for n < len(s) && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", s[n]) >= 0 {
			n++
		}
		s = s[n:]
		return n > 0
	}
	var d int
	if c.year, d = number(4); d == 0 || d == 3 {
		return false
	} else if d <= 2 {
		c.year = fullYear(c.year)
	}
	if !separator() {
		return false
	}
	if c.month, d = number(2); d == 0 || !separator() {
		return false
	}
	if c.day, d = number(2); d == 0 {
		return false
	}
	if s == "" {
		return true
	}
	if s[0] == 'T' || s[0] == 't' {
		s = s[1:]
	} else if trimmed := strings.TrimLeft(s, " \t\n"); trimmed != s {
		s = trimmed
	} else if !separator() {
		return false
	}
	if c.hour, d = number(2); d == 0 {
		return false
	}
	for _, part := range []*int{&c.minute, &c.second} {
		if s == "" || s[0] == '+' || s[0] == '-' || s[0] == 'Z' || s[0] == 'z' || !separator() {
			break
		}
		if *part, d = number(2); d == 0 {
			return false
		}
	}
	rest, ok := c.fraction(s)
	if !ok {
		return false
	}
	return c.zone(rest)
}

// fraction reads .ffffff; digits beyond the nanoseconds are rounded.
func (c *civilTime) fraction(s string) (rest string, ok bool) {
	if s == "" || s[0] != '.' {
		return s, true
	}
	n := 1
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	digits := s[1:n]
	c.nanos = nanosOf(digits)
	return s[n:], true
}

// nanosOf reads the digits of a fraction, rounded to nanoseconds; the result may be a whole second.
func nanosOf(digits string) int64 {
	const width = 9
	up := len(digits) > width && digits[width] >= '5'
	n, _ := strconv.ParseInt((digits + "000000000")[:width], 10, 64)
	if up {
		n++
	}
	return n
}

// zone reads +hh:mm, -hh:mm, or Z.
func (c *civilTime) zone(s string) bool {
	if s == "" {
		return true
	}
	if s == "Z" || s == "z" {
		c.hasZone = true
		return true
	}
	if len(s) != 6 || s[0] != '+' && s[0] != '-' || s[3] != ':' || !allDigits(s[1:3]) || !allDigits(s[4:]) {
		return false
	}
	h, _ := strconv.Atoi(s[1:3])
	m, _ := strconv.Atoi(s[4:])
	c.hasZone, c.offset = true, h*60+m
	if m > 59 || c.offset > maxZoneOffset || s == "-00:00" {
		return false
	}
	if s[0] == '-' {
		c.offset = -c.offset
	}
	return true
}

// momentKind is how messages call a column's type.
func (w *cellWriter) momentKind() string {
	switch w.typ.Root {
	case schema.Date:
		return "date"
	case schema.Time:
		return "time"
	}
	return "datetime"
}

// badMoment reports what is no time. There are no zero dates: NULL stands for it.
func (w *cellWriter) badMoment(v any) error {
	if err := w.badTime(w.momentKind(), v); err != nil {
		return err
	}
	return w.fallback()
}

// textMoment reads a text as a DATE, TIMESTAMP or TIMESTAMP_LTZ.
func (w *cellWriter) textMoment(s string) error {
	c, ok := parseCivil(s)
	if !ok {
		return w.badMoment(s)
	}
	micros := c.micros() + c.nanos/1000
	if c.hasZone {
		// The wall clock of the session's zone.
		micros = types.WallMicros(micros-int64(c.offset)*60*microsPerSecond, w.zone)
	}
	return w.wall(micros, uint16(c.nanos%1000), s)
}

// numberMoment reads a number: YYYYMMDD or YYYYMMDDhhmmss, also with a year of two digits.
func (w *cellWriter) numberMoment(d decimal.Decimal) error {
	whole := d.Truncate(0)
	digits := whole.String()
	switch n := len(digits); {
	case d.Sign() < 0 || n > 14:
		return w.badMoment(d)
	case n <= 6: // leading zeros of the year
		digits = strings.Repeat("0", 6-n) + digits
	case n == 7:
		digits = "0" + digits
	case n > 8 && n < 12:
		digits = strings.Repeat("0", 12-n) + digits
	case n == 13:
		digits = "0" + digits
	}
	var c civilTime
	if !c.digits(digits) || !c.valid() {
		return w.badMoment(d)
	}
	if frac := d.Sub(whole); !frac.IsZero() && len(digits) > 8 {
		_, f, _ := strings.Cut(frac.String(), ".")
		c.nanos = nanosOf(f)
	}
	return w.wall(c.micros()+c.nanos/1000, uint16(c.nanos%1000), d)
}

// wall appends a wall clock time to a DATE, TIMESTAMP or TIMESTAMP_LTZ column. v is the value as messages show it.
func (w *cellWriter) wall(micros int64, sub uint16, v any) error {
	if w.typ.Root == schema.Date {
		days := floorDiv(micros, microsPerDay)
		if micros != days*microsPerDay || sub != 0 {
			w.noteTruncated()
		}
		w.out.AppendInt(days)
		return nil
	}
	micros, sub = roundMoment(micros, sub, w.typ.Precision)
	if w.typ.Root == schema.TimestampLTZ {
		lo, hi := types.InstantRange(micros, w.zone)
		if lo > hi { // the clock skips this time
			if err := w.skipped(v); err != nil {
				return err
			}
			sub = 0
		}
		micros = lo // of two equal times the first, as in MySQL
	}
	w.out.AppendTimestamp(micros, sub)
	return nil
}

// skipped reports a time that the session's zone does not have: at the beginning of summer time.
func (w *cellWriter) skipped(v any) error {
	if w.m.strict {
		return w.badTime("datetime", v)
	}
	w.m.warn("Warning", warnSkippedTime, "Invalid TIMESTAMP value in column '"+w.name+"' at row "+strconv.FormatInt(w.m.row, 10))
	return nil
}

// roundMoment rounds to so many digits of a second.
func roundMoment(micros int64, sub uint16, precision int) (int64, uint16) {
	switch {
	case precision >= 9:
		return micros, sub
	case precision > 6:
		unit := powersOfTen[9-precision]
		n := (int64(sub) + unit/2) / unit * unit
		return micros + n/1000, uint16(n % 1000)
	case precision == 6:
		if sub >= 500 {
			micros++
		}
		return micros, 0
	}
	unit := powersOfTen[6-max(precision, 0)]
	return floorDiv(micros+unit/2, unit) * unit, 0
}

var powersOfTen = [...]int64{1, 10, 100, 1000, 10_000, 100_000, 1_000_000}

// moment appends a date with a time, whose fraction has so many digits.
func (w *cellWriter) moment(micros int64, sub uint16, digits int) error {
	switch w.typ.Root {
	case schema.Date, schema.Timestamp, schema.TimestampLTZ:
		return w.wall(micros, sub, time.UnixMicro(micros).UTC())
	case schema.Time:
		w.noteTruncated()
		return w.timeOfDay(micros - floorDiv(micros, microsPerDay)*microsPerDay)
	case schema.Char, schema.Varchar, schema.Binary, schema.Varbinary, schema.Blob, schema.Array, schema.VectorType, schema.Map, schema.Multiset, schema.Row, schema.Variant:
		return w.text(string(types.AppendDatetime(nil, micros, digits)))
	}
	t := time.UnixMicro(micros).UTC()
	d := decimal.NewFromInt(momentDigits(t, false)).Add(decimal.New(int64(t.Nanosecond()/1000), -6))
	return w.exact(d)
}

// date appends a date, in days since 1970.
func (w *cellWriter) date(days int64) error {
	switch w.typ.Root {
	case schema.Date:
		w.out.AppendInt(days)
		return nil
	case schema.Timestamp, schema.TimestampLTZ:
		return w.wall(days*microsPerDay, 0, time.Unix(days*86_400, 0).UTC())
	case schema.Time:
		w.noteTruncated()
		return w.timeOfDay(0)
	case schema.Char, schema.Varchar, schema.Binary, schema.Varbinary, schema.Blob, schema.Array, schema.VectorType, schema.Map, schema.Multiset, schema.Row, schema.Variant:
		return w.text(string(types.AppendDate(nil, days)))
	}
	return w.exact(decimal.NewFromInt(momentDigits(time.Unix(days*86_400, 0).UTC(), true)))
}

// textTime reads a text as a time of day; a date before it is left out.
func (w *cellWriter) textTime(s string) error {
	trimmed := strings.TrimSpace(s)
	whole, frac, hasFraction := strings.Cut(trimmed, ".")
	if micros, ok := parseTimeText(whole); ok && (!hasFraction || allDigits(frac)) {
		extra := (nanosOf(frac) + 500) / 1000
		if strings.HasPrefix(whole, "-") {
			extra = -extra
		}
		return w.dayTime(micros+extra, s)
	}
	c, ok := parseCivil(trimmed)
	if !ok {
		return w.badMoment(s)
	}
	w.noteTruncated()
	micros := c.micros() + c.nanos/1000
	return w.dayTime(micros-floorDiv(micros, microsPerDay)*microsPerDay, s)
}

// dayTime appends microseconds to a TIME column, whose values are times of a day: MySQL's longer and negative ones are out of its range.
func (w *cellWriter) dayTime(micros int64, v any) error {
	unit := powersOfTen[6-min(max(w.typ.Precision, 0), types.MaxTimeFraction)]
	rounded := floorDiv(micros+unit/2, unit) * unit
	if rounded < 0 || rounded >= microsPerDay {
		if err := w.m.wrong(errWrongTime, "22007", "Incorrect time value: '%s' %s: a TIME of Paimon is from 00:00:00 to 23:59:59", shownValue(v), w.at()); err != nil {
			return err
		}
		rounded = min(max(rounded, 0), microsPerDay-unit)
	}
	w.out.AppendInt(rounded / 1000)
	return nil
}

// timeOfDay appends a TIME of MySQL, in microseconds.
func (w *cellWriter) timeOfDay(micros int64) error {
	switch w.typ.Root {
	case schema.Time:
		return w.dayTime(micros, timeText(micros))
	case schema.Date, schema.Timestamp, schema.TimestampLTZ:
		y, m, d := w.m.ctx.QueryTime().In(w.zone).Date()
		today := time.Date(y, m, d, 0, 0, 0, 0, time.UTC).UnixMicro()
		return w.wall(today+micros, 0, timeText(micros))
	case schema.Char, schema.Varchar, schema.Binary, schema.Varbinary, schema.Blob, schema.Array, schema.VectorType, schema.Map, schema.Multiset, schema.Row, schema.Variant:
		return w.text(timeText(micros))
	}
	abs := max(micros, -micros)
	s := abs / microsPerSecond
	n := decimal.NewFromInt(s/3600*10_000 + s/60%60*100 + s%60).Add(decimal.New(abs%microsPerSecond, -6))
	if micros < 0 {
		n = n.Neg()
	}
	return w.exact(n)
}

func timeText(micros int64) string { return gms.Timespan(micros).String() }
