package types

import (
	"time"
)

// Units of time.
const (
	microsPerSecond = int64(1_000_000)
	secondsPerDay   = int64(86_400)
	microsPerDay    = secondsPerDay * microsPerSecond
	millisPerSecond = 1000
)

// WallMicros converts an instant (microseconds since the epoch) to the wall
// clock of loc, as microseconds since the epoch of that local time read as UTC.
// A nil loc is UTC.
func WallMicros(instant int64, loc *time.Location) int64 {
	if loc == nil || loc == time.UTC {
		return instant
	}
	_, off := time.UnixMicro(instant).In(loc).Zone()
	return instant + int64(off)*microsPerSecond
}

// InstantRange converts a wall clock time of loc to the instants it may mean:
// lo == hi for an ordinary time. At the end of summer time a wall time occurs twice: lo is the first, hi the last. A
// wall time that is skipped lies between: lo > hi, hi the last instant whose
// wall clock is before it and lo the first whose wall clock is after it.
func InstantRange(wall int64, loc *time.Location) (lo, hi int64) {
	if loc == nil || loc == time.UTC {
		return wall, wall
	}
	// Offsets of up to a day either way bracket every candidate.
	_, before := time.UnixMicro(wall - microsPerDay).In(loc).Zone()
	_, after := time.UnixMicro(wall + microsPerDay).In(loc).Zone()
	a, b := wall-int64(before)*microsPerSecond, wall-int64(after)*microsPerSecond
	okA, okB := WallMicros(a, loc) == wall, WallMicros(b, loc) == wall
	switch {
	case okA && okB:
		return min(a, b), max(a, b)
	case okA:
		return a, a
	case okB:
		return b, b
	}
	// Skipped: the clock jumps over wall at the one instant between the candidates.
	x, y := min(a, b), max(a, b)
	for y-x > 1 {
		m := x + (y-x)/2
		if WallMicros(m, loc) < wall {
			x = m
		} else {
			y = m
		}
	}
	return y, x
}

// civil splits days since 1970-01-01 into a proleptic Gregorian date.
func civil(days int64) (year, month, day int) {
	z := days + 719468
	era := z / 146097
	if z < 0 {
		era = (z - 146096) / 146097
	}
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day = int(doy - (153*mp+2)/5 + 1)
	month = int(mp + 3)
	if month > 12 {
		month -= 12
	}
	year = int(yoe + era*400)
	if month <= 2 {
		year++
	}
	return year, month, day
}

func appendDigits(dst []byte, v, width int) []byte {
	var buf [20]byte
	i := len(buf)
	for v > 0 || width > 0 {
		i--
		buf[i] = '0' + byte(v%10)
		v /= 10
		width--
	}
	return append(dst, buf[i:]...)
}

// AppendDate appends YYYY-MM-DD of days since the epoch.
func AppendDate(dst []byte, days int64) []byte {
	y, m, d := civil(days)
	if y < 0 {
		dst = append(dst, '-')
		y = -y
	}
	dst = appendDigits(dst, y, 4)
	dst = append(dst, '-', '0'+byte(m/10), '0'+byte(m%10), '-')
	return append(dst, '0'+byte(d/10), '0'+byte(d%10))
}

func appendClock(dst []byte, secondOfDay int) []byte {
	h, m, s := secondOfDay/3600, secondOfDay/60%60, secondOfDay%60
	dst = appendDigits(dst, h, 2)
	return append(dst, ':', '0'+byte(m/10), '0'+byte(m%10), ':', '0'+byte(s/10), '0'+byte(s%10))
}

// appendFraction appends micros of the second as a point and digits digits; digits < 0: as many as
// are needed, none for 0.
func appendFraction(dst []byte, micros, digits int) []byte {
	if digits < 0 {
		if micros == 0 {
			return dst
		}
		digits = MaxFraction
		for micros%10 == 0 {
			micros /= 10
			digits--
		}
	} else {
		for range MaxFraction - digits {
			micros /= 10
		}
	}
	if digits == 0 {
		return dst
	}
	return appendDigits(append(dst, '.'), micros, digits)
}

// AppendDatetime appends YYYY-MM-DD hh:mm:ss[.fraction] of microseconds since
// the epoch with the number of fractional digits; digits < 0 means without trailing zeros.
func AppendDatetime(dst []byte, micros int64, digits int) []byte {
	days := micros / microsPerDay
	rest := micros % microsPerDay
	if rest < 0 {
		rest += microsPerDay
		days--
	}
	dst = append(AppendDate(dst, days), ' ')
	dst = appendClock(dst, int(rest/microsPerSecond))
	return appendFraction(dst, int(rest%microsPerSecond), digits)
}

// AppendTime appends hh:mm:ss[.fraction] of milliseconds of the day, digits as in AppendDatetime.
func AppendTime(dst []byte, millis int, digits int) []byte {
	if millis < 0 {
		dst = append(dst, '-')
		millis = -millis
	}
	dst = appendClock(dst, millis/millisPerSecond)
	return appendFraction(dst, millis%millisPerSecond*1000, digits)
}
