package types

import (
	"time"

	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// Value boxes row i of v, a vector of type t, as a value of SQLType(t) for
// go-mysql-server's row executor: int8 … int64, float32, float64,
// decimal.Decimal, string, []byte, time.Time in UTC (of TIMESTAMP_LTZ the wall
// clock of loc), Timespan, *JSON; nil for a null. The value shares no
// memory with v.
func Value(v *column.Vector, i int, t *schema.Type, loc *time.Location) any {
	if v.IsNull(i) {
		return nil
	}
	switch t.Root {
	case schema.Boolean, schema.TinyInt:
		return int8(v.Int(i))
	case schema.SmallInt:
		return int16(v.Int(i))
	case schema.Int:
		return int32(v.Int(i))
	case schema.BigInt:
		return v.Int(i)
	case schema.Decimal:
		return Decimal(v.Dec128(i), t.Scale)
	case schema.Float:
		return float32(v.Float(i))
	case schema.Double:
		return v.Float(i)
	case schema.Char, schema.Varchar:
		return string(v.Bytes(i))
	case schema.Date:
		return time.Unix(v.Int(i)*secondsPerDay, 0).UTC()
	case schema.Time:
		return gms.Timespan(v.Int(i) * 1000)
	case schema.Timestamp:
		return time.UnixMicro(v.Int(i)).UTC()
	case schema.TimestampLTZ:
		return time.UnixMicro(WallMicros(v.Int(i), loc)).UTC()
	case schema.Array, schema.VectorType, schema.Multiset, schema.Map, schema.Row, schema.Variant:
		return NewJSON(AppendJSON(nil, v, i, t, loc))
	}
	return append([]byte{}, v.Bytes(i)...)
}

// Decimal converts an unscaled value.
func Decimal(unscaled column.Int128, scale int) decimal.Decimal {
	if unscaled.IsInt64() {
		return decimal.New(int64(unscaled.Lo), int32(-scale))
	}
	return decimal.NewFromBigInt(unscaled.Big(), int32(-scale))
}
