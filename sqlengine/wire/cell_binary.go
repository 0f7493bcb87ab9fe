package wire

import (
	"encoding/binary"
	"math"
	"strconv"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/types"

	"github.com/tributarydb/tributary/sqlengine/types"
)

// civilTime is a date and time in the parts of the binary protocol.
type civilTime struct {
	year, month, day     int
	hour, minute, second int
	micros               int
}

// splitMicros splits microseconds since 1970 of wall-clock time; ok is false outside years 0 to 9999.
func splitMicros(micros int64) (civilTime, bool) {
	days := micros / microsPerDay
	rest := micros - days*microsPerDay
	if rest < 0 {
		rest += microsPerDay
		days--
	}
	if days < minPlainDays || days > maxPlainDays {
		return civilTime{}, false
	}
	var t civilTime
	t.year, t.month, t.day = civilDay(days)
	sec := int(rest / microsPerSecond)
	t.hour, t.minute, t.second, t.micros = sec/3600, sec/60%60, sec%60, int(rest%microsPerSecond)
	return t, true
}

// appendBinaryDatetime appends a DATE, DATETIME or TIMESTAMP value; digits cut the fraction.
func appendBinaryDatetime(dst []byte, t civilTime, date bool, digits int) []byte {
	for k, p := types.MaxFraction, 10; k > digits && digits >= 0; k, p = k-1, p*10 {
		t.micros -= t.micros % p
	}
	n := 11
	switch {
	case date || t.hour|t.minute|t.second|t.micros == 0:
		n = 4
		if t.year|t.month|t.day == 0 {
			n = 0
		}
	case t.micros == 0:
		n = 7
	}
	dst = append(dst, byte(n))
	if n == 0 {
		return dst
	}
	dst = append(dst, byte(t.year), byte(t.year>>8), byte(t.month), byte(t.day))
	if n > 4 {
		dst = append(dst, byte(t.hour), byte(t.minute), byte(t.second))
	}
	if n > 7 {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(t.micros))
	}
	return dst
}

// appendBinaryTime appends a TIME value given in microseconds.
func appendBinaryTime(dst []byte, micros int64) []byte {
	if micros == 0 {
		return append(dst, 0)
	}
	neg := byte(0)
	u := uint64(micros)
	if micros < 0 {
		neg, u = 1, -u
	}
	days := u / microsPerDay
	u -= days * microsPerDay
	sec, frac := u/microsPerSecond, u%microsPerSecond
	n := byte(8)
	if frac != 0 {
		n = 12
	}
	dst = append(dst, n, neg)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(days))
	dst = append(dst, byte(sec/3600), byte(sec/60%60), byte(sec%60))
	if frac != 0 {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(frac))
	}
	return dst
}

// appendBinaryInt appends an integer as the column's type has it.
func appendBinaryInt(dst []byte, wire byte, v int64) []byte {
	switch wire {
	case typeTiny:
		return append(dst, byte(v))
	case typeShort, typeYear:
		return append(dst, byte(v), byte(v>>8))
	case typeLong, typeInt24:
		return binary.LittleEndian.AppendUint32(dst, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(dst, uint64(v))
}

func isIntType(wire byte) bool {
	switch wire {
	case typeTiny, typeShort, typeLong, typeInt24, typeLongLong, typeYear:
		return true
	}
	return false
}

// fits reports that op gives what wire expects without going through text.
func (c *batchColumn) fits() bool {
	switch c.wire {
	case typeFloat:
		return c.op == opFloat32
	case typeDouble:
		return c.op == opFloat64 || c.op == opFloat32
	case typeDate:
		return c.op == opDate
	case typeDatetime, typeTimestamp:
		return c.op == opDatetime || c.op == opInstant || c.op == opDate
	case typeTime:
		return c.op == opTime
	}
	if isIntType(c.wire) {
		return c.op == opInt32 || c.op == opInt64
	}
	return true
}

// appendBinary appends row i, which is not null, as a value of the binary protocol.
func (c *batchColumn) appendBinary(dst []byte, i int) []byte {
	if !c.fits() {
		text := types.AppendCellText(nil, c.vec, i, c.typ, c.loc)
		return appendBinaryFromText(dst, text, c.wire, c.unsigned)
	}
	j := c.at(i)
	switch c.wire {
	case typeFloat:
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(c.val.F32[j]))
	case typeDouble:
		f := 0.0
		if c.op == opFloat32 {
			f = float64(c.val.F32[j])
		} else {
			f = c.val.F64[j]
		}
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(f))
	case typeDate, typeDatetime, typeTimestamp:
		var micros int64
		switch c.op {
		case opDate:
			micros = int64(c.val.I32[j]) * microsPerDay
		case opInstant:
			micros = types.WallMicros(c.val.I64[j], c.loc)
		default:
			micros = c.val.I64[j]
		}
		t, _ := splitMicros(micros)
		return appendBinaryDatetime(dst, t, c.wire == typeDate, c.digits)
	case typeTime:
		return appendBinaryTime(dst, int64(c.val.I32[j])*1000)
	}
	if isIntType(c.wire) {
		if c.op == opInt32 {
			return appendBinaryInt(dst, c.wire, int64(c.val.I32[j]))
		}
		return appendBinaryInt(dst, c.wire, c.val.I64[j])
	}
	return c.appendText(dst, i)
}

// appendBinaryFromText converts a text to a protocol type that its vector is not stored as.
func appendBinaryFromText(dst, text []byte, wire byte, unsigned bool) []byte {
	s := string(text)
	switch {
	case isIntType(wire):
		if unsigned {
			if u, err := strconv.ParseUint(s, 10, 64); err == nil {
				return appendBinaryInt(dst, wire, int64(u))
			}
		}
		if v, err := strconv.ParseInt(s, 10, 64); err == nil {
			return appendBinaryInt(dst, wire, v)
		}
		f := parseFloat(s)
		return appendBinaryInt(dst, wire, int64(math.RoundToEven(f)))
	case wire == typeDouble:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(parseFloat(s)))
	case wire == typeFloat:
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(parseFloat(s))))
	case wire == typeDate || wire == typeDatetime || wire == typeTimestamp:
		for _, layout := range []string{"2006-01-02 15:04:05.999999", time.DateOnly} {
			if t, err := time.Parse(layout, s); err == nil {
				return appendBinaryDatetime(dst, partsOf(t), wire == typeDate, -1)
			}
		}
		return append(dst, 0)
	case wire == typeTime:
		if v, err := gms.Time.ConvertToTimespan(s); err == nil {
			return appendBinaryTime(dst, int64(v))
		}
		return append(dst, 0)
	}
	return appendLenencString(dst, text)
}

// parseFloat reads a number, 0 where it is none.
func parseFloat(s string) float64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0
	}
	return f
}

func civilOf(t time.Time) civilTime {
	if isZeroTime(t) {
		return civilTime{}
	}
	return partsOf(t)
}

func partsOf(t time.Time) civilTime {
	return civilTime{year: t.Year(), month: int(t.Month()), day: t.Day(), hour: t.Hour(), minute: t.Minute(), second: t.Second(),
		micros: t.Nanosecond() / 1000}
}

// appendBinary appends a value as the binary protocol has it; null is true where it turns out to be NULL.
func (c *boxedColumn) appendBinary(ctx *sql.Context, dst []byte, v any) (out []byte, null bool, err error) {
	wire := c.def.typ
	if isIntType(wire) {
		if i, ok := boxedInt(v); ok {
			return appendBinaryInt(dst, wire, i), false, nil
		}
	}
	switch v := v.(type) {
	case float64:
		switch wire {
		case typeDouble:
			return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v)), false, nil
		case typeFloat:
			return binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(v))), false, nil
		}
	case float32:
		switch wire {
		case typeDouble:
			return binary.LittleEndian.AppendUint64(dst, math.Float64bits(float64(v))), false, nil
		case typeFloat:
			return binary.LittleEndian.AppendUint32(dst, math.Float32bits(v)), false, nil
		}
	case time.Time:
		if wire == typeDate || wire == typeDatetime || wire == typeTimestamp {
			return appendBinaryDatetime(dst, civilOf(v), wire == typeDate, c.digits), false, nil
		}
	case gms.Timespan:
		if wire == typeTime {
			return appendBinaryTime(dst, int64(v)), false, nil
		}
	}
	switch wire {
	case typeTiny, typeShort, typeLong, typeInt24, typeLongLong, typeYear, typeFloat, typeDouble,
		typeDate, typeDatetime, typeTimestamp, typeTime:
		text, err := c.text(ctx, v)
		if err != nil || text == nil {
			return dst, true, err
		}
		return appendBinaryFromText(dst, text, wire, c.def.flags&flagUnsigned != 0), false, nil
	}
	at := len(dst)
	dst, err = c.appendText(ctx, dst, v)
	if err == nil && len(dst) == at+1 && dst[at] == cellNull {
		return dst[:at], true, nil
	}
	return dst, false, err
}

// boxedInt reads any Go integer.
func boxedInt(v any) (int64, bool) {
	switch v := v.(type) {
	case int8:
		return int64(v), true
	case int16:
		return int64(v), true
	case int32:
		return int64(v), true
	case int64:
		return v, true
	case int:
		return int64(v), true
	case uint8:
		return int64(v), true
	case uint16:
		return int64(v), true
	case uint32:
		return int64(v), true
	case uint64:
		return int64(v), true
	case uint:
		return int64(v), true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}
