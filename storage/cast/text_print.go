package cast

import (
	"math"
	"strconv"

	"github.com/tributarydb/tributary/storage/column"
)

const (
	millisPerDay  = 86_400_000
	microsPerDay  = 86_400_000_000
	microsPerSec  = 1_000_000
	secondsPerDay = 86_400
)

// floorDiv and floorMod round toward negative infinity.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 {
	r := a % b
	if r < 0 {
		r += b
	}
	return r
}

// civil returns the proleptic Gregorian date of a day number (days since 1970-01-01).
func civil(days int64) (y int64, m, d int) {
	z := days + 719468
	era := floorDiv(z, 146097)
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	y = yoe + era*400
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	d = int(doy - (153*mp+2)/5 + 1)
	if mp < 10 {
		m = int(mp + 3)
	} else {
		m = int(mp - 9)
		y++
	}
	return y, m, d
}

// daysOf returns the day number of a proleptic Gregorian date.
func daysOf(y int64, m, d int) int64 {
	if m <= 2 {
		y--
	}
	era := floorDiv(y, 400)
	yoe := y - era*400
	mp := int64(m+9) % 12
	doy := (153*mp+2)/5 + int64(d) - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return era*146097 + doe - 719468
}

func append2(dst []byte, n int) []byte { return append(dst, byte('0'+n/10%10), byte('0'+n%10)) }

// append4 appends the last four digits of a year, as Paimon's formatting does.
func append4(dst []byte, y int64) []byte {
	if y < 0 {
		dst, y = append(dst, '-'), -y
	}
	return append2(append2(dst, int(y/100%100)), int(y%100))
}

// AppendDate appends a DATE (days since 1970-01-01) as yyyy-MM-dd.
func AppendDate(dst []byte, days int64) []byte {
	y, m, d := civil(days)
	dst = append4(dst, y)
	dst = append2(append(dst, '-'), m)
	return append2(append(dst, '-'), d)
}

func appendHMS(dst []byte, sec int64) []byte {
	dst = append2(dst, int(sec/3600))
	dst = append2(append(dst, ':'), int(sec/60%60))
	return append2(append(dst, ':'), int(sec%60))
}

// AppendTime appends a TIME (milliseconds of the day) as HH:mm:ss with up to
// precision digits of the fraction; the fraction ends at its last digit that
// is not 0 but has at least one where precision > 0 (DateTimeUtils.formatTimestampMillis).
func AppendTime(dst []byte, millis int64, precision int) []byte {
	millis = floorMod(millis, millisPerDay)
	dst = appendHMS(dst, millis/1000)
	if precision <= 0 {
		return dst
	}
	dst = append(dst, '.')
	ms := millis % 1000
	for ; precision > 0; precision-- {
		dst = append(dst, byte('0'+ms/100))
		ms = ms % 100 * 10
		if ms == 0 {
			break
		}
	}
	return dst
}

// AppendTimestamp appends a TIMESTAMP (microseconds since the epoch and
// nanoseconds of the microsecond) as yyyy-MM-dd HH:mm:ss.fraction: nine
// digits, less trailing zeros down to precision digits (DateTimeUtils.formatTimestamp).
func AppendTimestamp(dst []byte, micros int64, sub uint16, precision int) []byte {
	days := floorDiv(micros, microsPerDay)
	rest := floorMod(micros, microsPerDay)
	dst = AppendDate(dst, days)
	dst = appendHMS(append(dst, ' '), rest/microsPerSec)
	return appendFraction(dst, rest%microsPerSec*1000+int64(sub), precision)
}

// appendFraction appends .nnnnnnnnn without trailing zeros beyond precision digits.
func appendFraction(dst []byte, nanos int64, precision int) []byte {
	var b [9]byte
	for i := 8; i >= 0; i-- {
		b[i] = byte('0' + nanos%10)
		nanos /= 10
	}
	n := 9
	for n > precision && b[n-1] == '0' {
		n--
	}
	if n == 0 {
		return dst
	}
	return append(append(dst, '.'), b[:n]...)
}

// AppendLocalDateTime appends a TIMESTAMP as Java's LocalDateTime.toString
// does: 2023-01-01T00:00, seconds only where they or the fraction are not 0, the
// fraction in 3, 6 or 9 digits.
func AppendLocalDateTime(dst []byte, micros int64, sub uint16) []byte {
	days := floorDiv(micros, microsPerDay)
	rest := floorMod(micros, microsPerDay)
	y, m, d := civil(days)
	switch {
	case y > 9999:
		dst = strconv.AppendInt(append(dst, '+'), y, 10)
	case y < -9999:
		dst = strconv.AppendInt(dst, y, 10)
	default:
		dst = append4(dst, y)
	}
	dst = append2(append(dst, '-'), m)
	dst = append2(append(dst, '-'), d)
	sec, nanos := rest/microsPerSec, rest%microsPerSec*1000+int64(sub)
	dst = append2(append(dst, 'T'), int(sec/3600))
	dst = append2(append(dst, ':'), int(sec/60%60))
	if sec%60 == 0 && nanos == 0 {
		return dst
	}
	dst = append2(append(dst, ':'), int(sec%60))
	switch {
	case nanos == 0:
		return dst
	case nanos%1_000_000 == 0:
		return appendFraction(dst, nanos, 3)
	case nanos%1000 == 0:
		return appendFraction(dst, nanos, 6)
	}
	return appendFraction(dst, nanos, 9)
}

// AppendDouble appends a DOUBLE as Java's Double.toString does (shortest
// digits, as since JDK 19).
func AppendDouble(dst []byte, f float64) []byte { return appendJavaFloat(dst, f, 64) }

// AppendFloat appends a FLOAT as Java's Float.toString does.
func AppendFloat(dst []byte, f float32) []byte { return appendJavaFloat(dst, float64(f), 32) }

func appendJavaFloat(dst []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	case f == 0:
		if math.Signbit(f) {
			dst = append(dst, '-')
		}
		return append(dst, "0.0"...)
	}
	if a := math.Abs(f); a >= 1e-3 && a < 1e7 {
		n := len(dst)
		dst = strconv.AppendFloat(dst, f, 'f', -1, bits)
		for _, c := range dst[n:] {
			if c == '.' {
				return dst
			}
		}
		return append(dst, ".0"...)
	}
	var buf [32]byte
	b := strconv.AppendFloat(buf[:0], f, 'e', -1, bits)
	// d.ddde±xx -> d.dddE±x
	e := len(b) - 1
	for b[e] != 'e' {
		e--
	}
	dst = append(dst, b[:e]...)
	point := false
	for _, c := range b[:e] {
		point = point || c == '.'
	}
	if !point {
		dst = append(dst, ".0"...)
	}
	dst = append(dst, 'E')
	exp := b[e+1:]
	if exp[0] == '-' {
		dst = append(dst, '-')
	}
	exp = exp[1:]
	for len(exp) > 1 && exp[0] == '0' {
		exp = exp[1:]
	}
	return append(dst, exp...)
}

// AppendDecimal appends a DECIMAL in plain notation with its scale.
func AppendDecimal(dst []byte, unscaled column.Int128, scale int) []byte {
	return column.AppendDecimal(dst, unscaled, scale)
}
