package schema

import "fmt"

var rootNames = map[Root]string{
	Char: "CHAR", Varchar: "VARCHAR", Boolean: "BOOLEAN", Binary: "BINARY", Varbinary: "VARBINARY",
	Decimal: "DECIMAL", TinyInt: "TINYINT", SmallInt: "SMALLINT", Int: "INT", BigInt: "BIGINT",
	Float: "FLOAT", Double: "DOUBLE", Date: "DATE", Time: "TIME", Timestamp: "TIMESTAMP",
	TimestampLTZ: "TIMESTAMP WITH LOCAL TIME ZONE", Variant: "VARIANT", Blob: "BLOB", Geometry: "GEOMETRY",
	Geography: "GEOGRAPHY", Array: "ARRAY", VectorType: "VECTOR", Multiset: "MULTISET", Map: "MAP", Row: "ROW",
}

// String names the type root in messages, e.g. "TIMESTAMP WITH LOCAL TIME ZONE".
func (r Root) String() string {
	if n, ok := rootNames[r]; ok {
		return n
	}
	return fmt.Sprintf("type %d", uint8(r))
}

// Brief names a type in messages: its root, with precision and scale where values depend on them.
func (t *Type) Brief() string {
	switch t.Root {
	case Decimal:
		return fmt.Sprintf("%s(%d, %d)", t.Root, t.Precision, t.Scale)
	case Timestamp, TimestampLTZ:
		return fmt.Sprintf("%s(%d)", t.Root, t.Precision)
	}
	return t.Root.String()
}
