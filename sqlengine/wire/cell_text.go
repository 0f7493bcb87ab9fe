package wire

import (
	"math"
	"math/bits"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// cellOp is how a column of a batch is read.
type cellOp uint8

const (
	opOther cellOp = iota
	opInt32
	opInt64
	opDecimal64
	opDecimal128
	opBytes
	opDate
	opTime
	opDatetime
	opInstant
	opFloat32
	opFloat64
	opRecode
)

// batchColumn is the writer of one column of a batch result.
type batchColumn struct {
	op    cellOp
	typ   *schema.Type
	loc   *time.Location
	scale int
	// digits are the fractional digits of times.
	digits int
	cs     resultCharset
	// wire is the protocol's type of the column, for binary rows.
	wire     byte
	unsigned bool

	// Of the batch at hand; vec is the column as it came.
	vec   *column.Vector
	valid []uint64
	codes []uint32
	val   *column.Vector
}

func newBatchColumn(t *schema.Type, d *columnDef, loc *time.Location, cs resultCharset) batchColumn {
	c := batchColumn{typ: t, loc: loc, scale: t.Scale, digits: types.Fraction(t), cs: cs, wire: d.typ, unsigned: d.flags&flagUnsigned != 0}
	switch t.Root {
	case schema.Boolean, schema.TinyInt, schema.SmallInt, schema.Int:
		c.op = opInt32
	case schema.BigInt:
		c.op = opInt64
	case schema.Decimal:
		c.op = opDecimal64
	case schema.Float:
		c.op = opFloat32
	case schema.Double:
		c.op = opFloat64
	case schema.Date:
		c.op = opDate
	case schema.Time:
		c.op = opTime
	case schema.Timestamp:
		c.op = opDatetime
	case schema.TimestampLTZ:
		c.op = opInstant
	case schema.Char, schema.Varchar:
		c.op = opBytes
		if cs.recode {
			c.op = opRecode
		}
	case schema.Binary, schema.Varbinary, schema.Blob, schema.Geometry, schema.Geography:
		c.op = opBytes
	}
	return c
}

// bind points the column at a batch's vector.
func (c *batchColumn) bind(v *column.Vector) {
	c.vec, c.valid, c.codes, c.val = v, v.Valid, nil, v
	if v.Dict != nil {
		c.codes, c.val = v.Codes, v.Dict
	}
	// The vector's kind is the truth about storage: counts may come as INT
	// vectors under a BIGINT type, decimals in either width.
	switch c.op {
	case opInt32, opInt64:
		if v.Kind == column.KindInt32 {
			c.op = opInt32
		} else if v.Kind == column.KindInt64 {
			c.op = opInt64
		} else {
			c.op = opOther
		}
	case opDecimal64, opDecimal128:
		switch v.Kind {
		case column.KindInt64:
			c.op = opDecimal64
		case column.KindInt128:
			c.op = opDecimal128
		default:
			c.op = opOther
		}
	}
}

func (c *batchColumn) null(i int) bool {
	return c.valid != nil && c.valid[i>>6]&(1<<(uint(i)&63)) == 0
}

// at is the row in val.
func (c *batchColumn) at(i int) int {
	if c.codes != nil {
		return int(c.codes[i])
	}
	return i
}

// appendText appends row i as a cell of the text protocol.
func (c *batchColumn) appendText(dst []byte, i int) []byte {
	if c.null(i) {
		return append(dst, cellNull)
	}
	if c.codes != nil && c.op != opOther {
		i = int(c.codes[i])
	}
	switch c.op {
	case opInt32:
		return appendIntCell(dst, int64(c.val.I32[i]))
	case opInt64:
		return appendIntCell(dst, c.val.I64[i])
	case opBytes:
		r := c.val.Ref[i]
		return appendLenencString(dst, c.val.Data[r.Off:r.Off+r.Len])
	case opFloat64:
		return appendDoubleCell(dst, c.val.F64[i])
	case opFloat32:
		at := len(dst)
		dst = types.AppendFloat32(append(dst, 0), c.val.F32[i])
		dst[at] = byte(len(dst) - at - 1)
		return dst
	case opDecimal64:
		return appendDecimalCell(dst, c.val.I64[i], c.scale)
	case opDecimal128:
		at := len(dst)
		dst = column.AppendDecimal(append(dst, 0), c.val.I128[i], c.scale)
		dst[at] = byte(len(dst) - at - 1)
		return dst
	case opDate:
		return appendDateCell(dst, int64(c.val.I32[i]))
	case opDatetime:
		return appendDatetimeCell(dst, c.val.I64[i], c.digits)
	case opInstant:
		return appendDatetimeCell(dst, types.WallMicros(c.val.I64[i], c.loc), c.digits)
	case opRecode:
		r := c.val.Ref[i]
		return appendLenencString(dst, recode(c.val.Data[r.Off:r.Off+r.Len], c.cs.encoding))
	case opTime:
		at := len(dst)
		dst = types.AppendCellText(append(dst, 0), c.val, i, c.typ, c.loc)
		dst[at] = byte(len(dst) - at - 1)
		return dst
	}
	return appendLater(dst, func(dst []byte) []byte { return types.AppendCellText(dst, c.vec, i, c.typ, c.loc) })
}

// recode encodes UTF-8 text for a client that asked for another character
// set; what does not fit becomes '?', as MySQL does.
func recode(text []byte, cs sql.CharacterSetID) []byte {
	enc := cs.Encoder()
	if out, ok := enc.Encode(text); ok {
		return out
	}
	return enc.EncodeReplaceUnknown(text)
}

// appendLater appends a length-encoded string whose length is known afterwards.
func appendLater(dst []byte, f func([]byte) []byte) []byte {
	at := len(dst)
	dst = f(append(dst, 0))
	n := len(dst) - at - 1
	if n < 0xfb {
		dst[at] = byte(n)
		return dst
	}
	var head [9]byte
	h := appendLenenc(head[:0], uint64(n))
	dst = append(dst, h[1:]...)
	copy(dst[at+len(h):], dst[at+1:at+1+n])
	copy(dst[at:], h)
	return dst
}

const digitPairs = "00010203040506070809101112131415161718192021222324252627282930313233343536373839" +
	"40414243444546474849505152535455565758596061626364656667686970717273747576777879" +
	"8081828384858687888990919293949596979899"

var pow10 = [20]uint64{0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}

// digitsOf counts the decimal digits of u, 1 for 0.
func digitsOf(u uint64) int {
	n := bits.Len64(u) * 1233 >> 12
	if n < len(pow10) && u >= pow10[n] {
		n++
	}
	return max(n, 1)
}

// putDigits writes u into b from its end; b has the length of digitsOf(u) or more, then zeros lead.
func putDigits(b []byte, u uint64) {
	i := len(b)
	for i >= 2 {
		q := u / 100
		p := (u - q*100) * 2
		i -= 2
		b[i+1], b[i] = digitPairs[p+1], digitPairs[p]
		u = q
	}
	if i == 1 {
		b[0] = '0' + byte(u%10)
	}
}

// appendIntCell appends a length-encoded integer text.
func appendIntCell(dst []byte, v int64) []byte {
	u := uint64(v)
	neg := 0
	if v < 0 {
		u = -u
		neg = 1
	}
	n := digitsOf(u)
	at := len(dst)
	dst = append(dst, "\x00-0000000000000000000"[:n+neg+1]...)
	dst[at] = byte(n + neg)
	putDigits(dst[at+1+neg:], u)
	return dst
}

// appendUintCell is appendIntCell for unsigned integers.
func appendUintCell(dst []byte, u uint64) []byte {
	n := digitsOf(u)
	at := len(dst)
	dst = append(dst, "\x0000000000000000000000"[:n+1]...)
	dst[at] = byte(n)
	putDigits(dst[at+1:], u)
	return dst
}

// appendDecimalCell appends a decimal of 64 bits.
func appendDecimalCell(dst []byte, v int64, scale int) []byte {
	if scale <= 0 {
		return appendIntCell(dst, v)
	}
	u := uint64(v)
	neg := 0
	if v < 0 {
		u = -u
		neg = 1
	}
	n := max(digitsOf(u), scale+1)
	at := len(dst)
	if n > 24 {
		dst = column.AppendDecimal(append(dst, 0), column.FromInt64(v), scale)
		dst[at] = byte(len(dst) - at - 1)
		return dst
	}
	dst = append(dst, "\x00-0000000000000000000000000"[:n+neg+2]...)
	dst[at] = byte(n + neg + 1)
	b := dst[at+1+neg:]
	putDigits(b[1:], u)
	copy(b, b[1:n-scale+1])
	b[n-scale] = '.'
	return dst
}

// maxShortDouble bounds the magnitude below which four decimals leave at most 15 digits.
const maxShortDouble = 1e11

// appendDoubleCell appends a double. Most doubles of real tables have few
// decimals: where v/10^k with at most 15 digits is the double again, its
// digits are the shortest text, and cheaper to make than by the general way.
func appendDoubleCell(dst []byte, f float64) []byte {
	if f != 0 && f < maxShortDouble && f > -maxShortDouble {
		if v := int64(f); float64(v) == f {
			return appendIntCell(dst, v)
		}
		if v := int64(math.Round(f * 100)); float64(v)/100 == f {
			if v%10 == 0 {
				return appendDecimalCell(dst, v/10, 1)
			}
			return appendDecimalCell(dst, v, 2)
		}
		if v := int64(math.Round(f * 10000)); float64(v)/10000 == f {
			if v%10 == 0 {
				return appendDecimalCell(dst, v/10, 3)
			}
			return appendDecimalCell(dst, v, 4)
		}
	}
	at := len(dst)
	dst = types.AppendFloat64(append(dst, 0), f)
	if n := len(dst) - at - 1; n < 0xfb {
		dst[at] = byte(n)
		return dst
	}
	return appendLater(dst[:at], func(dst []byte) []byte { return types.AppendFloat64(dst, f) })
}

const (
	microsPerSecond = 1_000_000
	microsPerDay    = 86_400 * microsPerSecond
	// maxPlainDays bounds the days since 1970 whose year has four digits: 0000-01-01 to 9999-12-31.
	minPlainDays = -719528
	maxPlainDays = 2932896
)

// civilDay splits days since 1970-01-01 of a year between 0 and 9999.
func civilDay(days int64) (year, month, day int) {
	z := uint32(days + 719468 + 146097)
	era := z / 146097
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day = int(doy - (153*mp+2)/5 + 1)
	month = int(mp + 3)
	if month > 12 {
		month -= 12
	}
	year = int(yoe) + int(era)*400 - 400
	if month <= 2 {
		year++
	}
	return year, month, day
}

func putPair(b []byte, v int) {
	b[1], b[0] = digitPairs[2*v+1], digitPairs[2*v]
}

func appendDateCell(dst []byte, days int64) []byte {
	if days < minPlainDays || days > maxPlainDays {
		return appendLater(dst, func(dst []byte) []byte { return types.AppendDate(dst, days) })
	}
	at := len(dst)
	dst = append(dst, "\x0a0000-00-00"...)
	putDate(dst[at+1:], days)
	return dst
}

func putDate(b []byte, days int64) {
	y, m, d := civilDay(days)
	putPair(b, y/100)
	putPair(b[2:], y%100)
	putPair(b[5:], m)
	putPair(b[8:], d)
}

func appendDatetimeCell(dst []byte, micros int64, digits int) []byte {
	days := micros / microsPerDay
	rest := micros - days*microsPerDay
	if rest < 0 {
		rest += microsPerDay
		days--
	}
	if days < minPlainDays || days > maxPlainDays {
		return appendLater(dst, func(dst []byte) []byte { return types.AppendDatetime(dst, micros, digits) })
	}
	n := 19
	if digits > 0 {
		n += 1 + digits
	}
	at := len(dst)
	dst = append(dst, "\x000000-00-00 00:00:00.000000"[:n+1]...)
	dst[at] = byte(n)
	b := dst[at+1:]
	putDate(b, days)
	sec := int(rest / microsPerSecond)
	putPair(b[11:], sec/3600)
	putPair(b[14:], sec/60%60)
	putPair(b[17:], sec%60)
	if digits > 0 {
		frac := uint64(rest % microsPerSecond)
		for k := digits; k < 6; k++ {
			frac /= 10
		}
		putDigits(b[20:20+digits], frac)
	}
	return dst
}
