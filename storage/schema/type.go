package schema

import "github.com/tributarydb/tributary/storage/column"

// Root is the root of a Paimon data type (org.apache.paimon.types.DataTypeRoot).
type Root uint8

// The type roots.
const (
	RootInvalid Root = iota
	Char
	Varchar
	Boolean
	Binary
	Varbinary
	Decimal
	TinyInt
	SmallInt
	Int
	BigInt
	Float
	Double
	Date
	Time
	Timestamp
	TimestampLTZ
	Variant
	Blob
	Geometry
	Geography
	Array
	VectorType
	Multiset
	Map
	Row
)

// MaxLength is the length of STRING and BYTES.
const MaxLength = 2147483647

// MaxCompactPrecision is the greatest decimal precision that is stored as int64.
const MaxCompactPrecision = 18

// Type is a Paimon data type. Types are immutable once made and may be shared.
type Type struct {
	Root    Root
	NotNull bool
	// Length is the length of CHAR, VARCHAR, BINARY, VARBINARY (characters or
	// bytes) and VECTOR (elements).
	Length int
	// Precision of DECIMAL (1..38), TIME, TIMESTAMP and TIMESTAMP_LTZ (0..9).
	Precision int
	// Scale of DECIMAL.
	Scale int
	// Key is the key type of MAP.
	Key *Type
	// Elem is the element type of ARRAY, VECTOR, MULTISET, the value type of MAP.
	Elem *Type
	// Fields are the fields of ROW.
	Fields []Field
	// CRS and Algorithm belong to GEOMETRY and GEOGRAPHY.
	CRS, Algorithm string
}

// Field is a column of a table or a field of a ROW.
type Field struct {
	ID          int
	Name        string
	Type        *Type
	Description string
	// Default is the default value's text, nil where there is none.
	Default *string
}

// KindOf returns the physical kind of t's vectors.
func KindOf(t *Type) column.Kind {
	switch t.Root {
	case Boolean, TinyInt, SmallInt, Int, Date, Time:
		return column.KindInt32
	case BigInt:
		return column.KindInt64
	case Decimal:
		if t.Precision > MaxCompactPrecision {
			return column.KindInt128
		}
		return column.KindInt64
	case Float:
		return column.KindFloat32
	case Double:
		return column.KindFloat64
	case Timestamp, TimestampLTZ:
		return column.KindTimestamp
	case Char, Varchar, Binary, Varbinary, Blob, Geometry, Geography:
		return column.KindBytes
	case Array, VectorType:
		return column.KindList
	case Map, Multiset:
		return column.KindMap
	case Row, Variant:
		return column.KindStruct
	}
	return column.KindInvalid
}

var (
	intNotNull  = &Type{Root: Int, NotNull: true}
	bytesType   = &Type{Root: Varbinary, Length: MaxLength}
	variantKids = []*Type{bytesType, bytesType}
)

// ChildTypes returns the types of the children of t's vectors: element; key
// and value (a MULTISET's value is its INT count); fields; a VARIANT's value
// and metadata bytes. Empty for flat types.
func ChildTypes(t *Type) []*Type {
	switch t.Root {
	case Array, VectorType:
		return []*Type{t.Elem}
	case Map:
		return []*Type{t.Key, t.Elem}
	case Multiset:
		return []*Type{t.Elem, intNotNull}
	case Row:
		out := make([]*Type, len(t.Fields))
		for i := range t.Fields {
			out[i] = t.Fields[i].Type
		}
		return out
	case Variant:
		return variantKids
	}
	return nil
}

// NewBuilder returns a builder of t's vectors.
func NewBuilder(t *Type) *column.Builder {
	kids := ChildTypes(t)
	ch := make([]*column.Builder, len(kids))
	for i, k := range kids {
		ch[i] = NewBuilder(k)
	}
	return column.NewBuilder(KindOf(t), ch...)
}

// NewNulls returns n null rows of type t.
func NewNulls(t *Type, n int) *column.Vector {
	kids := ChildTypes(t)
	ch := make([]*column.Vector, len(kids))
	rows := 0
	if KindOf(t) == column.KindStruct {
		rows = n
	}
	for i, k := range kids {
		ch[i] = NewNulls(k, rows)
	}
	return column.NewNulls(KindOf(t), n, ch...)
}

// IsNested reports whether t has children (ARRAY, MAP, ROW, …).
func (t *Type) IsNested() bool { return t.Root >= Array || t.Root == Variant }

// WithNotNull returns t with the nullability.
func (t *Type) WithNotNull(notNull bool) *Type {
	if t.NotNull == notNull {
		return t
	}
	c := *t
	c.NotNull = notNull
	return &c
}
