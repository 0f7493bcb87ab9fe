package binrow

import (
	"strconv"
	"strings"

	"github.com/tributarydb/tributary/storage/cast"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// AppendPartitionValue appends the text of a not-null partition value, not
// escaped, under partition.legacy-name true or false (section 1.3). A
// TIMESTAMP_LTZ is rendered in UTC.
func AppendPartitionValue(dst []byte, t *schema.Type, s column.Scalar, legacy bool) []byte {
	if legacy {
		switch t.Root {
		case schema.Date, schema.Time:
			return strconv.AppendInt(dst, s.I, 10)
		case schema.Timestamp, schema.TimestampLTZ:
			return cast.AppendLocalDateTime(dst, s.I, s.Sub)
		}
	}
	return cast.AppendScalar(dst, t, s)
}

// PartitionValues returns the texts of a partition's values as they stand in
// its path, not escaped: null and blank ones are defaultName.
func PartitionValues(fields []schema.Field, vals []column.Scalar, defaultName string, legacy bool) ([]string, error) {
	if len(fields) != len(vals) {
		return nil, errs.Corruptf("a partition has %d values, the table %d partition columns", len(vals), len(fields))
	}
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = defaultName
		if vals[i].Null {
			continue
		}
		switch f.Type.Root {
		case schema.Binary, schema.Varbinary:
			if legacy {
				return nil, errs.Unsupportedf("partition column '%s' of type %s has no usable directory name under partition.legacy-name = true", f.Name, f.Type)
			}
		}
		if s := string(AppendPartitionValue(nil, f.Type, vals[i], legacy)); strings.TrimFunc(s, javaSpace) != "" {
			out[i] = s
		}
	}
	return out, nil
}

// javaSpace is Character.isWhitespace for what strings can hold.
func javaSpace(r rune) bool {
	switch {
	case r == 0xa0 || r == 0x2007 || r == 0x202f:
		return false
	case r >= 0x1c && r <= 0x1f || r >= '\t' && r <= '\r' || r == ' ':
		return true
	}
	switch r {
	case 0x1680, 0x2028, 0x2029, 0x205f, 0x3000:
		return true
	}
	return r >= 0x2000 && r <= 0x200a
}

// PartitionPath returns a partition's directory below the table, e.g.
// `dt=2024-01-01/hh=1/`, "" for an unpartitioned table.
func PartitionPath(fields []schema.Field, vals []column.Scalar, defaultName string, legacy bool) (string, error) {
	texts, err := PartitionValues(fields, vals, defaultName, legacy)
	if err != nil {
		return "", err
	}
	var sb strings.Builder
	for i, f := range fields {
		escapePath(&sb, f.Name)
		sb.WriteByte('=')
		escapePath(&sb, texts[i])
		sb.WriteByte('/')
	}
	return sb.String(), nil
}

const hexDigits = "0123456789ABCDEF"

// escapePath writes s with the characters escaped that PartitionPathUtils escapes.
func escapePath(sb *strings.Builder, s string) {
	for i := range len(s) {
		c := s[i]
		if c < 0x20 || c == 0x7f || strings.IndexByte("\"#%'*/:=?\\{}[]^", c) >= 0 {
			sb.WriteByte('%')
			sb.WriteByte(hexDigits[c>>4])
			sb.WriteByte(hexDigits[c&15])
			continue
		}
		sb.WriteByte(c)
	}
}

// EscapePath escapes a partition key or value for a path.
func EscapePath(s string) string {
	var sb strings.Builder
	escapePath(&sb, s)
	return sb.String()
}

// UnescapePath undoes EscapePath; what is not an escape stays.
func UnescapePath(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	var sb strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				sb.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		sb.WriteByte(s[i])
	}
	return sb.String()
}
