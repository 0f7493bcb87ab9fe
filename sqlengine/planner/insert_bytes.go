package planner

import (
	"unicode/utf8"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// textOf appends a text, which is not kept. What has the usual form of its column's type is read here,
// without an allocation; everything else as text does.
func (w *cellWriter) textOf(p []byte) error {
	switch w.typ.Root {
	case schema.TinyInt, schema.SmallInt, schema.Int, schema.BigInt:
		if n, ok := plainInt(p); ok {
			return w.int(n)
		}
	case schema.Boolean:
		if len(p) == 1 && isDigit(p[0]) {
			w.out.AppendBool(p[0] != '0')
			return nil
		}
	case schema.Decimal, schema.Double:
		if ok, err := w.plainNumber(p); ok {
			return err
		}
	case schema.Varchar:
		if len(p) <= w.typ.Length && utf8.Valid(p) {
			w.m.bytes += len(p)
			w.out.AppendBytes(p)
			return nil
		}
	case schema.Date:
		if days, ok := plainDate(p); ok {
			w.out.AppendInt(days)
			return nil
		}
	case schema.Timestamp:
		if micros, ok := plainMoment(p); ok {
			micros, sub := roundMoment(micros, 0, w.typ.Precision)
			w.out.AppendTimestamp(micros, sub)
			return nil
		}
	}
	return w.text(string(p))
}

const (
	// maxPlainDigits is how many digits any int64 has room for.
	maxPlainDigits   = 18
	maxExactMantissa = 1 << 53
)

// exactPowers are powers of ten that are exact doubles.
var exactPowers = [maxPlainDigits + 1]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

// plainInt reads digits with a minus sign at most.
func plainInt(p []byte) (n int64, ok bool) {
	n, digits, ok := plainDecimal(p)
	return n, ok && digits == 0 && p[len(p)-1] != '.'
}

// plainDecimal reads digits with a minus sign and a point at most: the number without its point, and the digits behind it.
func plainDecimal(p []byte) (n int64, digits int, ok bool) {
	d := p
	if len(d) > 0 && d[0] == '-' {
		d = d[1:]
	}
	if len(d) == 0 || len(d) > maxPlainDigits {
		return 0, 0, false
	}
	point := len(d)
	for i, b := range d {
		switch {
		case isDigit(b):
			n = n*10 + int64(b-'0')
		case b == '.' && point == len(d):
			point = i
			digits = len(d) - 1 - i
		default:
			return 0, 0, false
		}
	}
	if point == 0 && len(d) == 1 { // a point alone
		return 0, 0, false
	}
	if len(d) < len(p) {
		n = -n
	}
	return n, digits, true
}

// shiftedDecimal is n * 10^shift.
func shiftedDecimal(n int64, shift int) (column.Int128, bool) {
	if shift == 0 {
		return column.FromInt64(n), true
	}
	if shift > maxPlainDigits {
		return column.Int128{}, false
	}
	return column.MulInt64(n, int64(exactPowers[shift])), true
}

// plainDate reads YYYY-MM-DD as days since 1970.
func plainDate(p []byte) (days int64, ok bool) {
	if len(p) != len("YYYY-MM-DD") || p[4] != '-' || p[7] != '-' {
		return 0, false
	}
	year, ok1 := digitsOf(p[:4])
	month, ok2 := digitsOf(p[5:7])
	day, ok3 := digitsOf(p[8:])
	if !ok1 || !ok2 || !ok3 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0, false
	}
	return civilDays(year, month, day), true
}

// plainMoment reads YYYY-MM-DD hh:mm:ss, with a fraction of one to six digits or without, as microseconds since 1970.
func plainMoment(p []byte) (micros int64, ok bool) {
	const whole = len("YYYY-MM-DD hh:mm:ss")
	if len(p) < whole || p[10] != ' ' || p[13] != ':' || p[16] != ':' {
		return 0, false
	}
	days, ok := plainDate(p[:10])
	hour, ok1 := digitsOf(p[11:13])
	minute, ok2 := digitsOf(p[14:16])
	second, ok3 := digitsOf(p[17:19])
	if !ok || !ok1 || !ok2 || !ok3 || hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	micros = ((days*24+int64(hour))*60+int64(minute))*60 + int64(second)
	micros *= microsPerSecond
	if len(p) == whole {
		return micros, true
	}
	fraction := p[whole+1:]
	if p[whole] != '.' || len(fraction) == 0 || len(fraction) > 6 {
		return 0, false
	}
	f, ok := digitsOf(fraction)
	return micros + int64(f)*powersOfTen[6-len(fraction)], ok
}

// digitsOf reads digits alone.
func digitsOf(p []byte) (n int, ok bool) {
	for _, b := range p {
		if !isDigit(b) {
			return 0, false
		}
		n = n*10 + int(b-'0')
	}
	return n, true
}

// daysIn is the number of days of a month.
func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// civilDays counts the days from 1970-01-01 to a date of the Gregorian calendar, of a year from 0: the year begins in March,
// so that the leap day is its last one.
func civilDays(year, month, day int) int64 {
	const daysOf400, toEpoch = 146_097, 719_468
	if month <= 2 {
		year--
	}
	era := floorDiv(int64(year), 400)
	ofEra := int64(year) - era*400
	ofYear := int64((153*((month+9)%12)+2)/5 + day - 1)
	return era*daysOf400 + ofEra*365 + ofEra/4 - ofEra/100 + ofYear - toEpoch
}

// plainNumber appends digits with a minus sign and a point at most to a DECIMAL or DOUBLE; ok is false where they do not fit
// as they are.
func (w *cellWriter) plainNumber(p []byte) (ok bool, err error) {
	n, digits, ok := plainDecimal(p)
	switch {
	case !ok:
		return false, nil
	case w.typ.Root == schema.Decimal && digits <= w.typ.Scale:
		x, ok := shiftedDecimal(n, w.typ.Scale-digits)
		if !ok {
			return false, nil
		}
		return true, w.unscaled(x, w.typ.Scale)
	case w.typ.Root == schema.Double && n > -maxExactMantissa && n < maxExactMantissa && (n != 0 || p[0] != '-'):
		// The quotient of two exact doubles is the nearest one.
		w.out.AppendFloat(float64(n) / exactPowers[digits])
		return true, nil
	}
	return false, nil
}
