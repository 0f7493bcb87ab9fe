package planner

import (
	"fmt"
	"strings"
	"testing"
)

// TestInsertValues stores one value in a column, in MySQL's strict mode and
// without it: the value read back or the error, and the warnings.
func TestInsertValues(t *testing.T) {
	const at = " for column 'c' at row 1"
	for _, c := range []struct {
		typ, value string
		// strict is what a column holds then, or an error; loose is the same without strict mode, where it differs.
		strict, loose string
		// note is the warning: of strict mode where loose is empty.
		note string
	}{
		// Integers.
		{"TINYINT", "127", "127", "", ""},
		{"TINYINT", "-128", "-128", "", ""},
		{"TINYINT", "128", "!1264 22003 Out of range value" + at, "127", "Warning 1264 Out of range value" + at},
		{"TINYINT", "-129", "!1264 22003 Out of range value" + at, "-128", "Warning 1264 Out of range value" + at},
		{"SMALLINT", "32768", "!1264 22003 Out of range value" + at, "32767", "Warning 1264 Out of range value" + at},
		{"INT", "2147483648", "!1264 22003 Out of range value" + at, "2147483647", "Warning 1264 Out of range value" + at},
		{"BIGINT", "-9223372036854775808", "-9223372036854775808", "", ""},
		{"BIGINT", "9223372036854775808", "!1264 22003 Out of range value" + at, "9223372036854775807", "Warning 1264 Out of range value" + at},
		{"BIGINT", "1e30", "!1264 22003 Out of range value" + at, "9223372036854775807", "Warning 1264 Out of range value" + at},
		{"BIGINT", "'-1e30'", "!1264 22003 Out of range value" + at, "-9223372036854775808", "Warning 1264 Out of range value" + at},
		{"INT", "'12'", "12", "", ""},
		{"INT", "' 12 '", "12", "", ""},
		{"INT", "'+12'", "12", "", ""},
		{"INT", "'1.5'", "2", "", ""},
		{"INT", "'1e2'", "100", "", ""},
		{"INT", "1.5", "2", "", ""},
		{"INT", "2.5", "3", "", ""},
		{"INT", "-1.5", "-2", "", ""},
		{"INT", "2.5e0", "2", "", ""},
		{"INT", "3.5e0", "4", "", ""},
		{"INT", "'abc'", "!1366 HY000 Incorrect integer value: 'abc'" + at, "0", "Warning 1366 Incorrect integer value: 'abc'" + at},
		{"INT", "''", "!1366 HY000 Incorrect integer value: ''" + at, "0", "Warning 1366 Incorrect integer value: ''" + at},
		{"INT", "'12abc'", "!1265 01000 Data truncated" + at, "12", "Warning 1265 Data truncated" + at},
		{"INT", "TRUE", "1", "", ""},
		{"INT", "NULL", "NULL", "", ""},
		{"INT", "x'1F'", "31", "", ""},
		{"INT", "0xff", "255", "", ""},
		{"INT", "b'101'", "5", "", ""},
		{"INT", "1 + 1", "2", "", ""},
		{"INT", "CAST('2024-01-02' AS DATE)", "20240102", "", ""},
		{"BIGINT", "CAST('2024-01-02 03:04:05' AS DATETIME)", "20240102030405", "", ""},
		{"INT", "CAST('10:11:12' AS TIME)", "101112", "", ""},
		{"INT", "JSON_EXTRACT('{\"a\": 5}', '$.a')", "5", "", ""},
		{"INT", "DEFAULT", "NULL", "", ""},
		// Booleans.
		{"BOOLEAN", "1", "1", "", ""},
		{"BOOLEAN", "0", "0", "", ""},
		{"BOOLEAN", "'true'", "1", "", ""},
		{"BOOLEAN", "'False'", "0", "", ""},
		{"BOOLEAN", "'0'", "0", "", ""},
		{"BOOLEAN", "1 > 2", "0", "", ""},
		{"BOOLEAN", "'maybe'", "!1366 HY000 Incorrect integer value: 'maybe'" + at, "0", "Warning 1366 Incorrect integer value: 'maybe'" + at},
		// Decimals.
		{"DECIMAL(5,2)", "1.005", "1.01", "", "Note 1265 Data truncated" + at},
		{"DECIMAL(5,2)", "-1.005", "-1.01", "", "Note 1265 Data truncated" + at},
		{"DECIMAL(5,2)", "1.500", "1.50", "", ""},
		{"DECIMAL(5,2)", "999.99", "999.99", "", ""},
		{"DECIMAL(5,2)", "999.995", "!1264 22003 Out of range value" + at, "999.99", "Note 1265 Data truncated" + at + "|Warning 1264 Out of range value" + at},
		{"DECIMAL(5,2)", "-1000", "!1264 22003 Out of range value" + at, "-999.99", "Warning 1264 Out of range value" + at},
		{"DECIMAL(5,2)", "'12.34'", "12.34", "", ""},
		{"DECIMAL(5,2)", "'1e2'", "100.00", "", ""},
		{"DECIMAL(5,2)", "'abc'", "!1366 HY000 Incorrect decimal value: 'abc'" + at, "0.00", "Warning 1366 Incorrect decimal value: 'abc'" + at},
		{"DECIMAL(5,2)", "'12x'", "!1366 HY000 Incorrect decimal value: '12x'" + at, "12.00", "Warning 1366 Incorrect decimal value: '12x'" + at},
		{"DECIMAL(5,2)", "1.5e0", "1.50", "", ""},
		{"DECIMAL(38,10)", "1234567890123456789012345678.0123456789", "1234567890123456789012345678.0123456789", "", ""},
		{"DECIMAL(38,0)", "99999999999999999999999999999999999999", "99999999999999999999999999999999999999", "", ""},
		{"DECIMAL(38,0)", "100000000000000000000000000000000000000", "!1264 22003 Out of range value" + at, "99999999999999999999999999999999999999", "Warning 1264 Out of range value" + at},
		{"DECIMAL(38,0)", "'1e400'", "!1264 22003 Out of range value" + at, "99999999999999999999999999999999999999", "Warning 1264 Out of range value" + at},
		{"DECIMAL(10,3)", "'1e-400'", "0.000", "", "Note 1265 Data truncated" + at},
		// Floats.
		{"DOUBLE", "1.5", "1.5", "", ""},
		{"DOUBLE", "'1e308'", "1e+308", "", ""},
		{"DOUBLE", "'abc'", "!1265 01000 Data truncated" + at, "0", "Warning 1265 Data truncated" + at},
		{"DOUBLE", "'1.5x'", "!1265 01000 Data truncated" + at, "1.5", "Warning 1265 Data truncated" + at},
		{"DOUBLE", "''", "!1265 01000 Data truncated" + at, "0", "Warning 1265 Data truncated" + at},
		{"DOUBLE", "'1e400'", "!1264 22003 Out of range value" + at, "1.7976931348623157e+308", "Warning 1264 Out of range value" + at},
		{"DOUBLE", "'NaN'", "NaN", "", ""},
		{"FLOAT", "1e39", "!1264 22003 Out of range value" + at, "3.4028235e+38", "Warning 1264 Out of range value" + at},
		{"FLOAT", "0.1", "0.1", "", ""},
		// Texts.
		{"VARCHAR(3)", "'abc'", "abc", "", ""},
		{"VARCHAR(3)", "'åäö'", "åäö", "", ""},
		{"VARCHAR(3)", "'abcd'", "!1406 22001 Data too long" + at, "abc", "Warning 1406 Data too long" + at},
		{"VARCHAR(3)", "'åäöx'", "!1406 22001 Data too long" + at, "åäö", "Warning 1406 Data too long" + at},
		{"VARCHAR(3)", "'abc  '", "abc", "", "Note 1265 Data truncated" + at},
		{"VARCHAR(3)", "'a  '", "a  ", "", ""},
		{"VARCHAR(3)", "1234", "!1406 22001 Data too long" + at, "123", "Warning 1406 Data too long" + at},
		{"CHAR(3)", "'abc  '", "abc", "", ""},
		{"CHAR(3)", "'a  '", "a", "", ""},
		{"STRING", "12.50", "12.50", "", ""},
		{"STRING", "1e20", "1e20", "", ""},
		{"STRING", "TRUE", "1", "", ""},
		{"STRING", "x'414243'", "ABC", "", ""},
		{"STRING", "x'ff41'", "!1366 HY000 Incorrect string value: '\\xFFA'" + at, "", ""},
		{"STRING", "CAST('2024-01-02' AS DATE)", "2024-01-02", "", ""},
		{"STRING", "CAST('2024-01-02 00:00:00' AS DATETIME)", "2024-01-02 00:00:00", "", ""},
		{"STRING", "CAST('2024-01-02 03:04:05.25' AS DATETIME(3))", "2024-01-02 03:04:05.250", "", ""},
		{"STRING", "CAST('10:11:12' AS TIME)", "10:11:12", "", ""},
		{"STRING", "JSON_ARRAY(1, 'a')", `[1, "a"]`, "", ""},
		{"STRING", "'o''brien'", "o'brien", "", ""},
		{"STRING", "CONCAT('a', 'b')", "ab", "", ""},
		// Bytes.
		{"VARBINARY(3)", "x'010203'", "\x01\x02\x03", "", ""},
		{"VARBINARY(3)", "x'01020304'", "!1406 22001 Data too long" + at, "\x01\x02\x03", "Warning 1406 Data too long" + at},
		{"VARBINARY(3)", "'abc'", "abc", "", ""},
		{"BINARY(3)", "'a'", "a\x00\x00", "", ""},
		{"BYTES", "UNHEX('FF00')", "\xff\x00", "", ""},
		// Dates.
		{"DATE", "'2024-02-29'", "2024-02-29", "", ""},
		{"DATE", "'2023-02-29'", "!1292 22007 Incorrect date value: '2023-02-29'" + at, "NULL", "Warning 1292 Incorrect date value: '2023-02-29'" + at},
		{"DATE", "'24-1-2'", "2024-01-02", "", ""},
		{"DATE", "'70-1-2'", "1970-01-02", "", ""},
		{"DATE", "'2024/01/02'", "2024-01-02", "", ""},
		{"DATE", "'2024.1.2'", "2024-01-02", "", ""},
		{"DATE", "'20240102'", "2024-01-02", "", ""},
		{"DATE", "'240102'", "2024-01-02", "", ""},
		{"DATE", "20240102", "2024-01-02", "", ""},
		{"DATE", "240102", "2024-01-02", "", ""},
		{"DATE", "'2024-01-02 10:11:12'", "2024-01-02", "", "Note 1265 Data truncated" + at},
		{"DATE", "'2024-01-02 00:00:00'", "2024-01-02", "", ""},
		{"DATE", "'0000-00-00'", "!1292 22007 Incorrect date value: '0000-00-00'" + at, "NULL", "Warning 1292 Incorrect date value: '0000-00-00'" + at},
		{"DATE", "'2024-01'", "!1292 22007 Incorrect date value: '2024-01'" + at, "", ""},
		{"DATE", "'abc'", "!1292 22007 Incorrect date value: 'abc'" + at, "", ""},
		{"DATE", "''", "!1292 22007 Incorrect date value: ''" + at, "", ""},
		{"DATE", "0", "!1292 22007 Incorrect date value: '0'" + at, "", ""},
		{"DATE", "CAST('2024-01-02 23:59:59' AS DATETIME)", "2024-01-02", "", "Note 1265 Data truncated" + at},
		{"DATE", "'1000-01-01'", "1000-01-01", "", ""},
		{"DATE", "'9999-12-31'", "9999-12-31", "", ""},
		// Times with a date.
		{"TIMESTAMP(3)", "'2024-01-02 03:04:05.6789'", "2024-01-02 03:04:05.679", "", ""},
		{"TIMESTAMP(0)", "'2024-12-31 23:59:59.5'", "2025-01-01 00:00:00", "", ""},
		{"TIMESTAMP(6)", "'2024-01-02T03:04:05.123456'", "2024-01-02 03:04:05.123456", "", ""},
		{"TIMESTAMP(3)", "'2024-01-02'", "2024-01-02 00:00:00", "", ""},
		{"TIMESTAMP(3)", "'2024-01-02 03:04'", "2024-01-02 03:04:00", "", ""},
		{"TIMESTAMP(3)", "'20240102030405'", "2024-01-02 03:04:05", "", ""},
		{"TIMESTAMP(3)", "'20240102T030405'", "2024-01-02 03:04:05", "", ""},
		{"TIMESTAMP(3)", "20240102030405.5", "2024-01-02 03:04:05.5", "", ""},
		{"TIMESTAMP(3)", "'2024-01-02 03:04:05+02:00'", "2024-01-02 01:04:05", "", ""},
		{"TIMESTAMP(3)", "'2024-01-02 03:04:05Z'", "2024-01-02 03:04:05", "", ""},
		{"TIMESTAMP(3)", "'2024-01-02 25:00:00'", "!1292 22007 Incorrect datetime value: '2024-01-02 25:00:00'" + at, "NULL", "Warning 1292 Incorrect datetime value: '2024-01-02 25:00:00'" + at},
		{"TIMESTAMP(3)", "'2024-01-02 03:04:05 x'", "!1292 22007 Incorrect datetime value: '2024-01-02 03:04:05 x'" + at, "", ""},
		{"TIMESTAMP(3)", "1.5", "!1292 22007 Incorrect datetime value: '1.5'" + at, "", ""},
		{"TIMESTAMP(3)", "CAST('2024-01-02' AS DATE)", "2024-01-02 00:00:00", "", ""},
		{"TIMESTAMP(3) WITH LOCAL TIME ZONE", "'2024-01-02 03:04:05'", "2024-01-02 03:04:05", "", ""},
		// Times of day.
		{"TIME(0)", "'10:11:12'", "10:11:12", "", ""},
		{"TIME(3)", "'10:11:12.3456'", "10:11:12.346000", "", ""},
		{"TIME(0)", "'10:11:12.5'", "10:11:13", "", ""},
		{"TIME(0)", "'10:11'", "10:11:00", "", ""},
		{"TIME(0)", "101112", "10:11:12", "", ""},
		{"TIME(0)", "'2024-01-02 10:11:12'", "10:11:12", "", "Note 1265 Data truncated" + at},
		{"TIME(0)", "'25:00:00'", "!1292 22007 Incorrect time value: '25:00:00'" + at, "23:59:59", "Warning 1292 Incorrect time value: '25:00:00'" + at + ": a TIME of Paimon is from 00:00:00 to 23:59:59"},
		{"TIME(0)", "'-01:00:00'", "!1292 22007 Incorrect time value: '-01:00:00'" + at, "", ""},
		{"TIME(0)", "'abc'", "!1292 22007 Incorrect time value: 'abc'" + at, "NULL", "Warning 1292 Incorrect time value: 'abc'" + at},
		// JSON.
		{"ARRAY<INT>", "'[1, null, 3]'", "[1, null, 3]", "", ""},
		{"ARRAY<INT>", "JSON_ARRAY(1, 2)", "[1, 2]", "", ""},
		{"ARRAY<INT>", "'[1, 2.5]'", "!3140 22032 Invalid JSON value" + at + ": $[1] is the text \"2.5\", where the column has INT", "", ""},
		{"ARRAY<INT>", "'[1, \"2\"]'", "!3140 22032 Invalid JSON value" + at + ": $[1] is the text \"2\", where the column has INT", "", ""},
		{"ARRAY<TINYINT>", "'[1, 300]'", "!1264 22003 Out of range value for column 'c ($[1])' at row 1", "", ""},
		{"ARRAY<INT NOT NULL>", "'[1, null]'", "!1048 23000 Column 'c' cannot be null: $[1] is null at row 1", "", ""},
		{"ARRAY<INT>", "'{\"a\": 1}'", "!3140 22032 Invalid JSON value" + at + ": $ is an object, where the column has ARRAY<INT>", "", ""},
		{"ARRAY<INT>", "'[1'", "!3140 22032 Invalid JSON text: \"The document is incomplete.\" at position 2 in value" + at, "", ""},
		{"ARRAY<INT>", "'[1] 2'", "!3140 22032 Invalid JSON text", "", ""},
		{"ARRAY<INT>", "'[1]}'", "!3140 22032 Invalid JSON text", "", ""},
		{"ARRAY<INT>", "''", "!3140 22032 Invalid JSON text", "", ""},
		{"ARRAY<INT>", "REPEAT('[', 200)", "!3157 22032 The JSON document exceeds the maximum depth", "", ""},
		{"MAP<STRING, INT>", "'{\"b\": 1, \"a\": null, \"b\": 2}'", `{"a": null, "b": 2}`, "", ""},
		{"MAP<INT, BOOLEAN>", "'{\"7\": true}'", `{"7": true}`, "", ""},
		{"MAP<INT, STRING>", "'{\"x\": \"y\"}'", "!3140 22032 Invalid JSON value" + at + ": $.x is the text \"x\", where the column has INT", "", ""},
		{"MULTISET<STRING>", "'{\"a\": 2}'", `{"a": 2}`, "", ""},
		{"ROW<`x` INT, `y` ARRAY<STRING>>", "'{\"y\": [\"p\", \"q\"], \"x\": 1}'", `{"x": 1, "y": ["p", "q"]}`, "", ""},
		{"ROW<`x` INT, `y` STRING>", "'{\"y\": \"only\"}'", `{"x": null, "y": "only"}`, "", ""},
		{"ROW<`x` INT, `y` STRING>", "'{\"z\": 1}'", "!3140 22032 Invalid JSON value" + at + ": $ has no field 'z'; its fields are: x, y", "", ""},
		{"ROW<`x` INT, `y` ROW<`z` DATE>>", "'{\"y\": {\"z\": \"2024-02-30\"}}'", "!1292 22007 Incorrect date value: '2024-02-30' for column 'c ($.y.z)' at row 1", "", ""},
		{"ARRAY<DECIMAL(5,2)>", "'[1.25, 2]'", "[1.25, 2.00]", "", ""},
		{"ARRAY<BYTES>", "'[\"AQI=\"]'", `["AQI="]`, "", ""},
		{"ARRAY<BYTES>", "'[\"***\"]'", "!3140 22032 Invalid JSON value", "", ""},
		{"ARRAY<DOUBLE>", "'[1, 2.5, \"NaN\"]'", `[1.0, 2.5, "NaN"]`, "", ""},
		{"ARRAY<TIMESTAMP(3)>", "'[\"2024-01-02 03:04:05\"]'", `["2024-01-02 03:04:05"]`, "", ""},
		// NOT NULL.
		{"INT NOT NULL", "NULL", "!1048 23000 Column 'c' cannot be null", "!1048 23000 Column 'c' cannot be null", ""},
		{"INT NOT NULL", "DEFAULT", "!1364 HY000 Field 'c' doesn't have a default value", "0", "Warning 1364 Field 'c' doesn't have a default value"},
		{"DATE NOT NULL", "'abc'", "!1292 22007 Incorrect date value: 'abc'" + at, "!1048 23000 Column 'c' cannot be null", ""},
		{"INT = 7", "DEFAULT", "7", "", ""},
		{"STRING = 'abc'", "DEFAULT", "abc", "", ""},
	} {
		for _, mode := range []string{"strict", "loose"} {
			want := c.strict
			if mode == "loose" && (c.loose != "" || strings.HasPrefix(c.strict, "!")) {
				want = c.loose
			}
			if want == "" {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s/%s", c.typ, c.value, mode), func(t *testing.T) {
				s := newInsertSession(t)
				s.table("t", "c "+c.typ)
				if mode == "loose" {
					s.run("SET sql_mode = 'NO_ENGINE_SUBSTITUTION'")
				}
				query := "INSERT INTO t VALUES (" + c.value + ")"
				if text, isError := strings.CutPrefix(want, "!"); isError {
					s.failed(query, text)
					s.happened("open default.t", "abort t")
					return
				}
				s.does(query, "1")
				if notes := strings.Join(s.warnings(), "|"); (mode == "loose" || c.loose == "" || c.strict == c.loose) && notes != c.note {
					t.Errorf("warnings %q, want %q", notes, c.note)
				}
				s.want("SELECT c FROM t", want)
			})
		}
	}
}
