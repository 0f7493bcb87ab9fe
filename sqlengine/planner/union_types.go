package planner

import (
	"math"

	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"github.com/tributarydb/tributary/sqlengine/types"
)

const (
	// maxVarchar is the length from which a union of texts is a LONGTEXT.
	maxVarchar = 16383
	// valueTextLength is enough for the text of a number or of a date.
	valueTextLength = 80
)

// unionType is the type of a column of a set operation whose sides have the types l and r.
func unionType(l, r sql.Type) sql.Type {
	switch {
	case l == gms.Null:
		return r
	case r == gms.Null || l.Equals(r):
		return l
	}
	lk, rk := kindOfType(l), kindOfType(r)
	if lk > rk {
		lk, rk, l, r = rk, lk, r, l
	}
	switch {
	case rk == kindInteger && lk == kindInteger:
		return unionIntegers(l, r)
	case rk == kindDecimal && lk == kindInteger:
		return unionDecimals(integerDecimal(l), r.(sql.DecimalType))
	case rk == kindDecimal && lk == kindDecimal:
		return unionDecimals(l.(sql.DecimalType), r.(sql.DecimalType))
	case rk == kindDouble && (lk == kindInteger || lk == kindDecimal || lk == kindDouble):
		if r.Type() == sqltypes.Float32 && (l.Type() == sqltypes.Float32 || lk == kindInteger && integerBits(l) <= 24) {
			return gms.Float32
		}
		return gms.Float64
	case lk == kindMoment && rk == kindMoment:
		return unionMoments(l, r)
	case lk == kindTimeOfDay && rk == kindTimeOfDay:
		return gms.Time
	case gms.IsJSON(l) && gms.IsJSON(r):
		return gms.JSON
	case lk == kindBinary || rk == kindBinary:
		return unionStrings(l, r, true)
	}
	return unionStrings(l, r, false)
}

func integerBits(t sql.Type) int {
	switch t.Type() {
	case sqltypes.Int8, sqltypes.Uint8:
		return 8
	case sqltypes.Int16, sqltypes.Uint16, sqltypes.Year:
		return 16
	case sqltypes.Int24, sqltypes.Uint24:
		return 24
	case sqltypes.Int32, sqltypes.Uint32:
		return 32
	}
	return 64
}

func unionIntegers(l, r sql.Type) sql.Type {
	lb, rb := integerBits(l), integerBits(r)
	lu, ru := gms.IsUnsigned(l), gms.IsUnsigned(r)
	if lu == ru {
		if lb >= rb {
			return l
		}
		return r
	}
	if ru {
		lb, rb = rb, lb
	}
	// lb are the bits of the unsigned side; the signed type must hold them.
	switch bits := max(lb+1, rb); {
	case bits <= 8:
		return gms.Int8
	case bits <= 16:
		return gms.Int16
	case bits <= 24:
		return gms.Int24
	case bits <= 32:
		return gms.Int32
	case bits <= 64:
		return gms.Int64
	}
	return gms.MustCreateColumnDecimalType(20, 0)
}

// integerDecimal is a DECIMAL that holds every value of an integer type.
func integerDecimal(t sql.Type) sql.DecimalType {
	digits := uint8(math.Ceil(float64(integerBits(t)) * math.Log10(2)))
	return gms.MustCreateColumnDecimalType(digits, 0)
}

func unionDecimals(l, r sql.DecimalType) sql.Type {
	scale := max(l.Scale(), r.Scale())
	whole := max(l.Precision()-l.Scale(), r.Precision()-r.Scale())
	return gms.MustCreateColumnDecimalType(min(whole+scale, gms.DecimalTypeMaxPrecision), scale)
}

func unionMoments(l, r sql.Type) sql.Type {
	if gms.IsDateType(l) && gms.IsDateType(r) {
		return gms.Date
	}
	base := sqltypes.Datetime
	if l.Type() == sqltypes.Timestamp && r.Type() == sqltypes.Timestamp {
		base = sqltypes.Timestamp
	}
	precision := 0
	for _, t := range []sql.Type{l, r} {
		if d, ok := t.(sql.DatetimeType); ok && !gms.IsDateType(t) {
			precision = max(precision, d.Precision())
		}
	}
	return gms.MustCreateDatetimeType(base, precision)
}

// unionStrings is the type of texts, of bytes, and of anything else beside them.
func unionStrings(l, r sql.Type, binary bool) sql.Type {
	length := int64(0)
	collation := types.Collation
	for i, t := range []sql.Type{l, r} {
		n := int64(valueTextLength)
		switch s := t.(type) {
		case sql.StringType:
			n = s.MaxCharacterLength()
			if c := s.Collation(); !binary && (i == 0 || c != sql.Collation_binary && c != types.Collation) {
				collation = c
			}
		default:
			if gms.IsJSON(t) {
				n = math.MaxInt32
			}
		}
		length = max(length, n)
	}
	switch {
	case binary && length > maxVarchar:
		return gms.LongBlob
	case binary:
		return gms.MustCreateBinary(sqltypes.VarBinary, length)
	case length > maxVarchar:
		return gms.MustCreateString(sqltypes.Text, gms.LongTextBlobMax, collation)
	}
	return gms.MustCreateString(sqltypes.VarChar, length, collation)
}
