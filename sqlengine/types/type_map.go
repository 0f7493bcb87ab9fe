package types

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"github.com/tributarydb/tributary/storage/schema"
)

// Limits of MySQL's column types.
const (
	// MaxCharLength is the greatest n of CHAR(n) and BINARY(n).
	MaxCharLength = 255
	// MaxVarcharLength is the greatest n of VARCHAR(n) in utf8mb4.
	MaxVarcharLength = 16383
	// MaxVarbinaryLength is the greatest n of VARBINARY(n).
	MaxVarbinaryLength = 65535
	// MaxFraction is the greatest number of fractional digits of a time.
	MaxFraction = 6
	// MaxTimeFraction is the greatest number of fractional digits of a stored TIME.
	MaxTimeFraction = 3
	// MaxDecimalPrecision and MaxDecimalScale bound MySQL's DECIMAL.
	MaxDecimalPrecision = 65
	MaxDecimalScale     = 30
)

// Collation is the collation of every string column: binary order of code
// points without padding, as Paimon compares.
const Collation = sql.Collation_utf8mb4_0900_bin

var (
	longText = gms.MustCreateString(sqltypes.Text, gms.LongTextBlobMax, Collation)
	longBlob = gms.LongBlob
)

// SQLType returns the MySQL type that t's cells have.
func SQLType(t *schema.Type) sql.Type {
	switch t.Root {
	case schema.Boolean:
		return gms.Boolean
	case schema.TinyInt:
		return gms.Int8
	case schema.SmallInt:
		return gms.Int16
	case schema.Int:
		return gms.Int32
	case schema.BigInt:
		return gms.Int64
	case schema.Float:
		return gms.Float32
	case schema.Double:
		return gms.Float64
	case schema.Decimal:
		return decimalType(t.Precision, t.Scale)
	case schema.Char, schema.Varchar:
		return stringType(t)
	case schema.Binary, schema.Varbinary:
		return binaryType(t)
	case schema.Date:
		return gms.Date
	case schema.Time:
		return gms.Time
	case schema.Timestamp:
		return gms.MustCreateDatetimeType(sqltypes.Datetime, Fraction(t))
	case schema.TimestampLTZ:
		return gms.MustCreateDatetimeType(sqltypes.Timestamp, Fraction(t))
	case schema.Array, schema.VectorType, schema.Multiset, schema.Map, schema.Row, schema.Variant:
		return gms.JSON
	}
	return longBlob
}

func decimalType(precision, scale int) sql.Type {
	p := min(max(precision, 1), MaxDecimalPrecision)
	s := min(max(scale, 0), MaxDecimalScale, p)
	return gms.MustCreateColumnDecimalType(uint8(p), uint8(s))
}

func stringType(t *schema.Type) sql.Type {
	n := int64(max(t.Length, 0))
	switch {
	case t.Root == schema.Char && n <= MaxCharLength:
		return gms.MustCreateString(sqltypes.Char, n, Collation)
	case n <= MaxVarcharLength:
		return gms.MustCreateString(sqltypes.VarChar, n, Collation)
	}
	return longText
}

func binaryType(t *schema.Type) sql.Type {
	n := int64(max(t.Length, 0))
	switch {
	case t.Root == schema.Binary && n <= MaxCharLength:
		return gms.MustCreateBinary(sqltypes.Binary, n)
	case n <= MaxVarbinaryLength:
		return gms.MustCreateBinary(sqltypes.VarBinary, n)
	}
	return longBlob
}

// Fraction returns the number of fractional digits that t's cells show: of
// TIME at most 3, of TIMESTAMP and TIMESTAMP_LTZ at most 6; 0 for other types.
func Fraction(t *schema.Type) int {
	switch t.Root {
	case schema.Time:
		return min(max(t.Precision, 0), MaxTimeFraction)
	case schema.Timestamp, schema.TimestampLTZ:
		return min(max(t.Precision, 0), MaxFraction)
	}
	return 0
}

// ColumnType returns the type text as MySQL 8 prints it in SHOW COLUMNS and
// information_schema.COLUMNS.COLUMN_TYPE, e.g. "decimal(10,2)".
func ColumnType(t *schema.Type) string {
	switch t.Root {
	case schema.Boolean:
		return "tinyint(1)"
	case schema.Decimal:
		return fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale)
	case schema.Char, schema.Varchar, schema.Binary, schema.Varbinary:
		name := DataType(t)
		if name == "longtext" || name == "longblob" {
			return name
		}
		return fmt.Sprintf("%s(%d)", name, t.Length)
	case schema.Time, schema.Timestamp, schema.TimestampLTZ:
		if p := Fraction(t); p > 0 {
			return fmt.Sprintf("%s(%d)", DataType(t), p)
		}
	}
	return DataType(t)
}

// DataType returns the type name without length, as in information_schema.COLUMNS.DATA_TYPE.
func DataType(t *schema.Type) string {
	switch t.Root {
	case schema.Boolean, schema.TinyInt:
		return "tinyint"
	case schema.SmallInt:
		return "smallint"
	case schema.Int:
		return "int"
	case schema.BigInt:
		return "bigint"
	case schema.Float:
		return "float"
	case schema.Double:
		return "double"
	case schema.Decimal:
		return "decimal"
	case schema.Char:
		if t.Length <= MaxCharLength {
			return "char"
		}
		fallthrough
	case schema.Varchar:
		if t.Length <= MaxVarcharLength {
			return "varchar"
		}
		return "longtext"
	case schema.Binary:
		if t.Length <= MaxCharLength {
			return "binary"
		}
		fallthrough
	case schema.Varbinary:
		if t.Length <= MaxVarbinaryLength {
			return "varbinary"
		}
		return "longblob"
	case schema.Date:
		return "date"
	case schema.Time:
		return "time"
	case schema.Timestamp:
		return "datetime"
	case schema.TimestampLTZ:
		return "timestamp"
	case schema.Array, schema.VectorType, schema.Multiset, schema.Map, schema.Row, schema.Variant:
		return "json"
	}
	return "longblob"
}
