package schema

import (
	"strconv"
	"strings"
)

var plainNames = map[Root]string{
	Boolean: "BOOLEAN", TinyInt: "TINYINT", SmallInt: "SMALLINT", Int: "INT", BigInt: "BIGINT",
	Float: "FLOAT", Double: "DOUBLE", Date: "DATE", Variant: "VARIANT", Blob: "BLOB",
}

// String returns t's SQL text as Paimon prints it (DataType.asSQLString),
// e.g. `DECIMAL(10, 2) NOT NULL` or "ROW<`x` INT>".
func (t *Type) String() string {
	if t == nil {
		return "?"
	}
	var sb strings.Builder
	t.print(&sb)
	return sb.String()
}

// Kindless returns t's SQL text without NOT NULL at the top.
func (t *Type) Kindless() string { return t.WithNotNull(false).String() }

func (t *Type) print(sb *strings.Builder) {
	one := func(name string, n int) {
		sb.WriteString(name + "(" + strconv.Itoa(n) + ")")
	}
	switch t.Root {
	case Char:
		one("CHAR", t.Length)
	case Varchar:
		if t.Length == MaxLength {
			sb.WriteString("STRING")
		} else {
			one("VARCHAR", t.Length)
		}
	case Binary:
		one("BINARY", t.Length)
	case Varbinary:
		if t.Length == MaxLength {
			sb.WriteString("BYTES")
		} else {
			one("VARBINARY", t.Length)
		}
	case Decimal:
		sb.WriteString("DECIMAL(" + strconv.Itoa(t.Precision) + ", " + strconv.Itoa(t.Scale) + ")")
	case Time:
		one("TIME", t.Precision)
	case Timestamp:
		one("TIMESTAMP", t.Precision)
	case TimestampLTZ:
		one("TIMESTAMP", t.Precision)
		sb.WriteString(" WITH LOCAL TIME ZONE")
	case Geometry:
		sb.WriteString("GEOMETRY(" + t.CRS + ")")
	case Geography:
		sb.WriteString("GEOGRAPHY(" + t.CRS + ", " + t.Algorithm + ")")
	case Array, Multiset:
		if t.Root == Array {
			sb.WriteString("ARRAY<")
		} else {
			sb.WriteString("MULTISET<")
		}
		t.Elem.print(sb)
		sb.WriteByte('>')
	case VectorType:
		sb.WriteString("VECTOR<")
		t.Elem.print(sb)
		sb.WriteString(", " + strconv.Itoa(t.Length) + ">")
	case Map:
		sb.WriteString("MAP<")
		t.Key.print(sb)
		sb.WriteString(", ")
		t.Elem.print(sb)
		sb.WriteByte('>')
	case Row:
		sb.WriteString("ROW<")
		for i, f := range t.Fields {
			if i > 0 {
				sb.WriteString(", ")
			}
			sb.WriteString("`" + strings.ReplaceAll(f.Name, "`", "``") + "` ")
			f.Type.print(sb)
			if f.Description != "" {
				sb.WriteString(" COMMENT '" + strings.ReplaceAll(f.Description, "'", "''") + "'")
			}
		}
		sb.WriteByte('>')
	default:
		if n, ok := plainNames[t.Root]; ok {
			sb.WriteString(n)
		} else {
			sb.WriteString("?")
		}
	}
	if t.NotNull {
		sb.WriteString(" NOT NULL")
	}
}

// Equal reports whether two types are the same: roots, parameters,
// nullability, and the names, ids and types of fields. Comments and defaults do not count.
func (t *Type) Equal(o *Type) bool { return t.equal(o, true) }

// EqualIgnoreNull is Equal without the nullability, at every level.
func (t *Type) EqualIgnoreNull(o *Type) bool { return t.equal(o, false) }

func (t *Type) equal(o *Type, null bool) bool {
	if t == o {
		return true
	}
	if t == nil || o == nil || t.Root != o.Root || null && t.NotNull != o.NotNull ||
		t.Length != o.Length || t.Precision != o.Precision || t.Scale != o.Scale ||
		t.CRS != o.CRS || t.Algorithm != o.Algorithm || len(t.Fields) != len(o.Fields) {
		return false
	}
	for i := range t.Fields {
		if t.Fields[i].ID != o.Fields[i].ID || t.Fields[i].Name != o.Fields[i].Name || !t.Fields[i].Type.equal(o.Fields[i].Type, null) {
			return false
		}
	}
	if (t.Key == nil) != (o.Key == nil) || (t.Elem == nil) != (o.Elem == nil) {
		return false
	}
	return (t.Key == nil || t.Key.equal(o.Key, null)) && (t.Elem == nil || t.Elem.equal(o.Elem, null))
}
