package types

import (
	"encoding/base64"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/variant"
)

// AppendJSON appends row i of v as JSON text in MySQL's spacing. A null row is
// null.
func AppendJSON(dst []byte, v *column.Vector, i int, t *schema.Type, loc *time.Location) []byte {
	if v.IsNull(i) {
		return append(dst, "null"...)
	}
	switch t.Root {
	case schema.Boolean:
		return strconv.AppendBool(dst, v.Int(i) != 0)
	case schema.TinyInt, schema.SmallInt, schema.Int, schema.BigInt:
		return strconv.AppendInt(dst, v.Int(i), 10)
	case schema.Decimal:
		return column.AppendDecimal(dst, v.Dec128(i), t.Scale)
	case schema.Float:
		return appendJSONFloat(dst, v.Float(i), 32)
	case schema.Double:
		return appendJSONFloat(dst, v.Float(i), 64)
	case schema.Char, schema.Varchar:
		return AppendJSONString(dst, v.Bytes(i))
	case schema.Date, schema.Time, schema.Timestamp, schema.TimestampLTZ:
		dst = append(dst, '"')
		return append(appendKeyText(dst, v, i, t, loc), '"')
	}
	v, i = v.At(i)
	switch t.Root {
	case schema.Array, schema.VectorType:
		dst = append(dst, '[')
		from, to := v.Offsets[i], v.Offsets[i+1]
		for j := from; j < to; j++ {
			if j > from {
				dst = append(dst, ", "...)
			}
			dst = AppendJSON(dst, v.Children[0], int(j), t.Elem, loc)
		}
		return append(dst, ']')
	case schema.Map, schema.Multiset:
		return appendJSONMap(dst, v, i, t, loc)
	case schema.Row:
		dst = append(dst, '{')
		for j := range t.Fields {
			if j > 0 {
				dst = append(dst, ", "...)
			}
			dst = AppendJSONString(dst, []byte(t.Fields[j].Name))
			dst = append(dst, ": "...)
			dst = AppendJSON(dst, v.Children[j], i, t.Fields[j].Type, loc)
		}
		return append(dst, '}')
	case schema.Variant:
		return appendVariant(dst, v, i)
	}
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, v.Bytes(i))
	return append(dst, '"')
}

func appendJSONMap(dst []byte, v *column.Vector, i int, t *schema.Type, loc *time.Location) []byte {
	kids := schema.ChildTypes(t)
	dst = append(dst, '{')
	var key []byte
	from, to := v.Offsets[i], v.Offsets[i+1]
	for j := from; j < to; j++ {
		if j > from {
			dst = append(dst, ", "...)
		}
		key = appendKeyText(key[:0], v.Children[0], int(j), kids[0], loc)
		dst = AppendJSONString(dst, key)
		dst = append(dst, ": "...)
		dst = AppendJSON(dst, v.Children[1], int(j), kids[1], loc)
	}
	return append(dst, '}')
}

// appendKeyText appends a map key or a time inside JSON: the cell's text with
// times without trailing zeros, base64 for bytes, JSON for nested keys, "null" for a null.
func appendKeyText(dst []byte, v *column.Vector, i int, t *schema.Type, loc *time.Location) []byte {
	if v.IsNull(i) {
		return append(dst, "null"...)
	}
	switch t.Root {
	case schema.Boolean:
		return strconv.AppendBool(dst, v.Int(i) != 0)
	case schema.Time:
		return AppendTime(dst, int(v.Int(i)), -1)
	case schema.Timestamp:
		return AppendDatetime(dst, v.Int(i), -1)
	case schema.TimestampLTZ:
		return AppendDatetime(dst, WallMicros(v.Int(i), loc), -1)
	case schema.Binary, schema.Varbinary, schema.Blob, schema.Geometry, schema.Geography:
		return base64.StdEncoding.AppendEncode(dst, v.Bytes(i))
	}
	return AppendCellText(dst, v, i, t, loc)
}

// appendVariant appends a VARIANT; damaged bytes become the JSON string that
// says so, since a cell has no way to fail.
func appendVariant(dst []byte, v *column.Vector, i int) []byte {
	n := len(dst)
	out, err := variant.AppendJSON(dst, v.Children[0].Bytes(i), v.Children[1].Bytes(i))
	if err != nil {
		return AppendJSONString(dst[:n], []byte("damaged VARIANT: "+err.Error()))
	}
	return out
}

const hexDigits = "0123456789abcdef"

// AppendJSONString appends s quoted and escaped; bytes that are not UTF-8
// become U+FFFD.
func AppendJSONString(dst, s []byte) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRune(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(append(dst, s[start:i]...), "\ufffd"...)
				start = i + 1
			}
			i += n
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, `\b`...)
		case '\f':
			dst = append(dst, `\f`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

// Base64 decodes bytes as AppendJSON writes them.
func Base64(s string) ([]byte, error) { return base64.StdEncoding.DecodeString(s) }
