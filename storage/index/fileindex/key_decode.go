package fileindex

import (
	"math"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// keyKind is how an index stores the values of a type.
type keyKind uint8

const (
	keyNone keyKind = iota
	keyBool
	keyInt8
	keyInt16
	keyInt32
	keyInt64
	keyFloat
	keyDouble
	keyTime // TIMESTAMP as milliseconds or microseconds
	keyDecimal
	keyText
)

func keyOf(t *schema.Type) keyKind {
	switch t.Root {
	case schema.Boolean:
		return keyBool
	case schema.TinyInt:
		return keyInt8
	case schema.SmallInt:
		return keyInt16
	case schema.Int, schema.Date, schema.Time:
		return keyInt32
	case schema.BigInt:
		return keyInt64
	case schema.Float:
		return keyFloat
	case schema.Double:
		return keyDouble
	case schema.Timestamp, schema.TimestampLTZ:
		return keyTime
	case schema.Decimal:
		if t.Precision <= schema.MaxCompactPrecision {
			return keyDecimal
		}
	case schema.Char, schema.Varchar, schema.Binary, schema.Varbinary:
		return keyText
	}
	return keyNone
}

// lossy reports whether different values of a type can have one key: then only
// equality can be answered.
func lossy(t *schema.Type) bool {
	return (t.Root == schema.Timestamp || t.Root == schema.TimestampLTZ) && t.Precision > 6
}

// toKey converts a literal to the key that an index stores for it; false where
// no key stands for exactly that literal.
func toKey(l column.Scalar, t *schema.Type) (column.Scalar, bool) {
	if l.Null || l.Kind != schema.KindOf(t) {
		return l, false
	}
	switch keyOf(t) {
	case keyFloat, keyDouble:
		return l, l.F == l.F
	case keyTime:
		if t.Precision > 6 {
			return column.IntScalar(column.KindInt64, l.I), true
		}
		if l.Sub != 0 {
			return l, false
		}
		if t.Precision <= 3 {
			if l.I%1000 != 0 {
				return l, false
			}
			return column.IntScalar(column.KindInt64, l.I/1000), true
		}
		return column.IntScalar(column.KindInt64, l.I), true
	case keyText:
		return l, true
	case keyNone:
		return l, false
	}
	return column.IntScalar(column.KindInt64, l.I), true
}

// zeros returns the keys of a value: both zeros for a floating zero, which SQL
// does not tell apart.
func zeros(k column.Scalar) []column.Scalar {
	if (k.Kind == column.KindFloat32 || k.Kind == column.KindFloat64) && k.F == 0 {
		return []column.Scalar{zeroFor(k, true), zeroFor(k, false)}
	}
	return []column.Scalar{k}
}

// zeroFor replaces a floating zero by the negative or the positive one.
func zeroFor(k column.Scalar, negative bool) column.Scalar {
	if (k.Kind == column.KindFloat32 || k.Kind == column.KindFloat64) && k.F == 0 {
		k.F = 0
		if negative {
			k.F = math.Copysign(0, -1)
		}
	}
	return k
}

// key reads a stored key of a type.
func (r *buffer) key(k keyKind) column.Scalar {
	switch k {
	case keyBool:
		return column.IntScalar(column.KindInt64, int64(r.u8()&1))
	case keyInt8:
		return column.IntScalar(column.KindInt64, int64(int8(r.u8())))
	case keyInt16:
		b := r.take(2)
		if b == nil {
			return column.Scalar{}
		}
		return column.IntScalar(column.KindInt64, int64(int16(uint16(b[0])<<8|uint16(b[1]))))
	case keyInt32:
		return column.IntScalar(column.KindInt64, int64(r.i32()))
	case keyInt64, keyTime, keyDecimal:
		return column.IntScalar(column.KindInt64, r.i64())
	case keyFloat:
		return column.Scalar{Kind: column.KindFloat32, F: float64(math.Float32frombits(uint32(r.i32())))}
	case keyDouble:
		return column.Scalar{Kind: column.KindFloat64, F: math.Float64frombits(uint64(r.i64()))}
	case keyText:
		return column.BytesScalar(r.take(r.i32()))
	}
	r.bad = true
	return column.Scalar{}
}
