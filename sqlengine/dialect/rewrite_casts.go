package dialect

import (
	"strings"
)

// castBoolean is the pseudo type that becomes a marker call instead of a cast.
const castBoolean = "BOOLEAN"

// maxTimePrecision is the greatest number of fractional digits MySQL's
// temporal types have; Paimon's TIMESTAMP(9) is cut to it.
const maxTimePrecision = 6

// DecimalCast is the function that stands for CAST(x AS DECIMAL(p)): DecimalCast(x, p). go-mysql-server takes a
// DECIMAL of scale 0 for one of any scale.
const DecimalCast = "__cast_decimal"

// castPrecision is the precision of a DECIMAL without one.
const castPrecision = "10"

// wholeDecimal returns the precision of the type tokens i to j where they are a DECIMAL of scale 0.
func (s *script) wholeDecimal(i, j int) (precision string, ok bool) {
	if !s.is(i, "DECIMAL", "NUMERIC", "DEC") {
		return "", false
	}
	switch {
	case i == j:
		return castPrecision, true
	case !s.is(i+1, "("):
		return "", false
	case j == i+3:
		return s.text(i + 2), true
	case j == i+5 && s.is(i+3, ",") && strings.Trim(s.text(i+4), "0") == "":
		return s.text(i + 2), true
	}
	return "", false
}

// castType maps the type tokens i to j to a type vitess takes in a cast. ok is
// false for types that vitess knows itself.
func (s *script) castType(i, j int) (text string, ok bool) {
	length := ""
	if s.is(i+1, "(") && s.match[i+1] > 0 {
		from, to := s.toks[i+1], s.toks[s.match[i+1]]
		length = s.src[from.Start:to.End]
	}
	switch s.upper[i] {
	case "STRING", "TEXT", "TINYTEXT", "MEDIUMTEXT", "LONGTEXT":
		return "CHAR", true
	case "VARCHAR", "NVARCHAR", "VARCHAR2":
		return "CHAR" + length, true
	case "CHAR", "CHARACTER", "NCHAR":
		if s.is(i+1, "VARYING") {
			if s.is(i+2, "(") && s.match[i+2] > 0 {
				length = s.src[s.toks[i+2].Start:s.toks[s.match[i+2]].End]
			}
			return "CHAR" + length, true
		}
	case "BYTES", "VARBINARY", "BLOB":
		return "BINARY", true
	case "TINYINT", "SMALLINT", "MEDIUMINT", "INT", "INTEGER", "BIGINT", "LONG", "INT1", "INT2", "INT4", "INT8":
		if s.is(j, "UNSIGNED") {
			return "UNSIGNED", true
		}
		return "SIGNED", true
	case "BOOLEAN", "BOOL":
		return castBoolean, true
	case "NUMERIC", "DEC":
		return "DECIMAL" + length, true
	case "SIGNED", "UNSIGNED":
		return s.upper[i], true // also SIGNED INT
	case "FLOAT", "REAL", "FLOAT4":
		return "FLOAT", length != "" || s.is(i, "FLOAT4")
	case "FLOAT8":
		return "DOUBLE", true
	case "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ":
		return "DATETIME" + clampPrecision(length), true
	case "DATETIME", "TIME":
		if clamped := clampPrecision(length); length != "" && clamped != length {
			return s.upper[i] + clamped, true
		}
	}
	return "", false
}

// clampPrecision limits "(9)" to "(6)"; no precision means 6, as Paimon's
// timestamps have.
func clampPrecision(length string) string {
	digits := strings.Trim(length, "( )")
	if length == "" || len(digits) != 1 || digits > "6" {
		return "(6)"
	}
	return length
}

// rewriteCast maps the type of CAST(expr AS type) at token i.
func (s *script) rewriteCast(i int) error {
	end := s.match[i+1]
	if end < 0 {
		return s.errAt(len(s.toks))
	}
	if s.is(i, "TRY_CAST") {
		s.replace(i, "CAST") // a cast of MySQL gives NULL or a default, never an error
	}
	as := -1
	for j := i + 2; j < end; j++ {
		if s.match[j] > j {
			j = s.match[j]
		} else if s.is(j, "AS") {
			as = j
		}
	}
	if as < 0 || as+1 >= end {
		return nil // vitess will say what is wrong
	}
	if p, ok := s.wholeDecimal(as+1, end-1); ok {
		s.replace(i, DecimalCast)
		s.replaceSpan(as, end-1, ", "+p)
		return nil
	}
	text, ok := s.castType(as+1, end-1)
	switch {
	case !ok:
	case text == castBoolean:
		s.replace(i, markerCastBoolean)
		s.replaceSpan(as, end-1, "")
	default:
		s.replaceSpan(as+1, end-1, text)
	}
	return nil
}

// rewriteConvert maps the type of CONVERT(expr, type) at token i.
func (s *script) rewriteConvert(i int) error {
	end := s.match[i+1]
	if end < 0 {
		return s.errAt(len(s.toks))
	}
	comma := -1
	for j := i + 2; j < end; j++ {
		if s.match[j] > j {
			j = s.match[j]
		} else if s.is(j, ",") {
			comma = j
		}
	}
	if comma < 0 || comma+1 >= end {
		return nil // CONVERT(x USING charset)
	}
	if p, ok := s.wholeDecimal(comma+1, end-1); ok {
		s.replace(i, DecimalCast)
		s.replaceSpan(comma+1, end-1, p)
		return nil
	}
	if text, ok := s.castType(comma+1, end-1); ok && text != castBoolean {
		s.replaceSpan(comma+1, end-1, text)
	}
	return nil
}
