package types

import (
	"strconv"
	"time"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// AppendCellText appends the text form of row i of v, a vector of type t, as
// MySQL's text protocol prints the type SQLType(t). loc is the session's zone,
// nil for UTC. Nothing is appended for a null row: the caller has asked
// v.IsNull first.
func AppendCellText(dst []byte, v *column.Vector, i int, t *schema.Type, loc *time.Location) []byte {
	if v.IsNull(i) {
		return dst
	}
	switch t.Root {
	case schema.Boolean, schema.TinyInt, schema.SmallInt, schema.Int, schema.BigInt:
		return strconv.AppendInt(dst, v.Int(i), 10)
	case schema.Decimal:
		return column.AppendDecimal(dst, v.Dec128(i), t.Scale)
	case schema.Float:
		return AppendFloat32(dst, float32(v.Float(i)))
	case schema.Double:
		return AppendFloat64(dst, v.Float(i))
	case schema.Date:
		return AppendDate(dst, v.Int(i))
	case schema.Time:
		return AppendTime(dst, int(v.Int(i)), timeDigits(v.Int(i), t))
	case schema.Timestamp:
		return AppendDatetime(dst, v.Int(i), Fraction(t))
	case schema.TimestampLTZ:
		return AppendDatetime(dst, WallMicros(v.Int(i), loc), Fraction(t))
	case schema.Array, schema.VectorType, schema.Multiset, schema.Map, schema.Row, schema.Variant:
		return AppendJSON(dst, v, i, t, loc)
	}
	return append(dst, v.Bytes(i)...)
}

// timeDigits is the number of fractional digits of a TIME cell: those of the
// type, or all three where more is stored (Flink declares TIME(0) and stores milliseconds).
func timeDigits(millis int64, t *schema.Type) int {
	if p := Fraction(t); p >= MaxTimeFraction || millis%1000 == 0 {
		return p
	}
	return MaxTimeFraction
}
