package cast

import (
	"strconv"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// Dec128 returns the unscaled value of a DECIMAL scalar of either kind.
func Dec128(s column.Scalar) column.Int128 {
	if s.Kind == column.KindInt128 {
		return s.D
	}
	return column.FromInt64(s.I)
}

// AppendScalar appends a not-null value of type t as CAST(... AS STRING) of
// Paimon gives it; TIMESTAMP_LTZ in UTC, bytes as they are. Nested types give nothing.
func AppendScalar(dst []byte, t *schema.Type, s column.Scalar) []byte {
	switch t.Root {
	case schema.Boolean:
		return strconv.AppendBool(dst, s.I != 0)
	case schema.TinyInt, schema.SmallInt, schema.Int, schema.BigInt:
		return strconv.AppendInt(dst, s.I, 10)
	case schema.Decimal:
		return AppendDecimal(dst, Dec128(s), t.Scale)
	case schema.Float:
		return AppendFloat(dst, float32(s.F))
	case schema.Double:
		return AppendDouble(dst, s.F)
	case schema.Date:
		return AppendDate(dst, s.I)
	case schema.Time:
		return AppendTime(dst, s.I, t.Precision)
	case schema.Timestamp, schema.TimestampLTZ:
		return AppendTimestamp(dst, s.I, s.Sub, t.Precision)
	}
	return append(dst, s.B...)
}
