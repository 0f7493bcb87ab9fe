package runner

import (
	"strings"
	"testing"
)

func TestCellMatches(t *testing.T) {
	type c struct {
		typ    byte
		want   string
		value  any
		dbType string
		ok     bool
	}
	for _, x := range []c{
		{'I', "1", int64(1), "BIGINT", true},
		{'I', "1", int64(2), "BIGINT", false},
		{'I', "18446744073709551615", uint64(18446744073709551615), "UNSIGNED BIGINT", true},
		{'I', "6", []byte("6"), "DECIMAL", true},
		{'I', "6", []byte("6.00"), "DECIMAL", true},
		{'I', "6", []byte("6.10"), "DECIMAL", false},
		{'I', "10000000", float64(1e7), "DOUBLE", true},
		{'I', "NULL", nil, "BIGINT", true},
		{'I', "0", nil, "BIGINT", false},
		{'I', "NULL", int64(0), "BIGINT", false},

		// decimals are exact, scale included
		{'R', "1.50", []byte("1.50"), "DECIMAL", true},
		{'R', "1.50", []byte("1.5"), "DECIMAL", false},
		{'R', "9999999999999999999999999999.9999999999", []byte("9999999999999999999999999999.9999999998"), "DECIMAL", false},
		{'R', "0.1", []byte("0.10000000000000001"), "DECIMAL", false},
		// doubles: by value; a tolerance only where there are 15 digits or more
		{'R', "1.0E21", float64(1e21), "DOUBLE", true},
		{'R', "-2.25", float64(-2.25), "DOUBLE", true},
		{'R', "5.3", float64(5.300000000000001), "DOUBLE", true},
		{'R', "5.3", float64(5.30000000001), "DOUBLE", false},
		{'R', "5.3", float64(5.31), "DOUBLE", false},
		{'R', "3.141592653589793", float64(3.141592653589795), "DOUBLE", true},
		{'R', "3.141592653589793", float64(3.1415926535), "DOUBLE", false},
		{'R', "0.0", float64(0), "DOUBLE", true},
		{'R', "1.7976931348623157E308", float64(1.7976931348623157e308), "DOUBLE", true},
		{'R', "2.50", float64(2.5), "DOUBLE", false}, // a decimal was wanted

		{'F', "3.402823E38", float32(3.4028235e38), "FLOAT", true},
		{'F', "0.1", float32(0.1), "FLOAT", true},
		{'F', "0.1", float32(0.10001), "FLOAT", false},
		{'F', "0.0", float32(0), "FLOAT", true},
		{'F', "1.5", []byte("1.5"), "FLOAT", true},
		{'F', "NULL", nil, "FLOAT", true},

		{'T', "abc", []byte("abc"), "VARCHAR", true},
		{'T', "abc", []byte("ABC"), "VARCHAR", false},
		{'T', "trailing  ", []byte("trailing  "), "VARCHAR", true},
		{'T', "trailing  ", []byte("trailing"), "VARCHAR", false},
		{'T', "(empty)", []byte(""), "VARCHAR", true},
		{'T', "(empty)", nil, "VARCHAR", false},
		{'T', "NULL", nil, "VARCHAR", true},
		{'T', "NULL", []byte("NULL"), "VARCHAR", true},
		{'T', `a\tb\\c\nd\re`, []byte("a\tb\\c\nd\re"), "VARCHAR", true},
		{'T', `a\tb`, []byte(`a\tb`), "VARCHAR", false},

		{'D', "2024-02-29", []byte("2024-02-29"), "DATE", true},
		{'D', "2024-02-29 12:00:00.5", []byte("2024-02-29 12:00:00.500000"), "DATETIME", true},
		{'D', "2024-02-29 12:00:00", []byte("2024-02-29 12:00:00.000"), "DATETIME", true},
		{'D', "2024-02-29 12:00:10", []byte("2024-02-29 12:00:10"), "DATETIME", true},
		{'D', "12:00:00.25", []byte("12:00:00.250"), "TIME", true},
		{'D', "2024-02-29 12:00:00.5", []byte("2024-02-29 12:00:00"), "DATETIME", false},

		{'B', "true", int64(1), "TINYINT", true},
		{'B', "false", []byte("0"), "TINYINT", true},
		{'B', "true", int64(2), "TINYINT", false},
		{'B', "NULL", nil, "TINYINT", true},

		{'X', "00FF", []byte{0, 255}, "VARBINARY", true},
		{'X', "(empty)", []byte{}, "VARBINARY", true},
		{'X', "00FF", []byte("00FF"), "VARBINARY", false},
		{'X', "NULL", []byte("NULL"), "VARBINARY", false},

		{'J', `{"a": 1, "b": [1, null]}`, []byte(`{"b":[1,null],"a":1}`), "JSON", true},
		{'J', `[1, 2]`, []byte(`[2, 1]`), "JSON", false},
		{'J', `"+I"`, []byte(`+I`), "VARCHAR", true},
		{'J', `"+I"`, []byte(`+I`), "JSON", false},
		{'J', `"+I"`, []byte(`+U`), "VARCHAR", false},
		{'J', `[1.0E100]`, []byte(`[1e100]`), "JSON", true},
		{'J', `[1.50]`, []byte(`[1.5]`), "JSON", true},
		{'J', `[12345678901234567890]`, []byte(`[12345678901234567891]`), "JSON", false},
		{'J', `["1"]`, []byte(`[1]`), "JSON", false},
		{'J', `{"a": 1}`, []byte(`{"a": 1, "b": 2}`), "JSON", false},
		{'J', `{"a": null}`, []byte(`{"b": null}`), "JSON", false},
		{'J', `[1]`, []byte(`[1] x`), "JSON", false},
		{'J', `["a\\nb"]`, []byte(`["a\nb"]`), "JSON", true},
		{'J', `[1e999999999]`, []byte(`[1e999999998]`), "JSON", false},
		{'J', `null`, nil, "JSON", false},
	} {
		if got := newCell(x.value, x.dbType).matches(x.want, x.typ); got != x.ok {
			t.Errorf("%c %q against %v (%s): got %v", x.typ, x.want, x.value, x.dbType, got)
		}
	}
}

func cells(rows ...string) [][]cell {
	var out [][]cell
	for _, r := range rows {
		var row []cell
		for _, s := range strings.Split(r, "\t") {
			row = append(row, cell{text: s, null: s == "NULL", approx: strings.ContainsAny(s, ".e")})
		}
		out = append(out, row)
	}
	return out
}

func want(rows ...string) [][]string {
	var out [][]string
	for _, r := range rows {
		out = append(out, strings.Split(r, "\t"))
	}
	return out
}

func TestCompareRows(t *testing.T) {
	ordered := &Record{Kind: Query, Types: "IT", Want: want("1\ta", "2\tb", "3\tc")}
	if d := compareRows(ordered, cells("1\ta", "2\tb", "3\tc")); d != "" {
		t.Error(d)
	}
	for _, x := range []struct{ got, diff string }{
		{"1\ta|3\tc|2\tb", "rows differ (3 rows)\n@ row 2\n- 2\tb\n+ 3\tc\n@ row 3\n- 3\tc\n+ 2\tb"},
		{"1\ta|3\tc", "rows: want 3, got 2\n@ from row 2\n- 2\tb"},
		{"1\ta|2\tb|2\tb|3\tc", "rows: want 3, got 4\n@ from row 3\n+ 2\tb"},
	} {
		if d := compareRows(ordered, cells(strings.Split(x.got, "|")...)); d != x.diff {
			t.Errorf("%q: got %q\nwant %q", x.got, d, x.diff)
		}
	}
	if d := compareRows(ordered, nil); !strings.HasPrefix(d, "rows: want 3, got 0") {
		t.Error(d)
	}

	sorted := &Record{Kind: Query, Types: "RT", RowSort: true, Want: want("1.0E21\ta", "2.5\tb", "2.5\tb")}
	if d := compareRows(sorted, cells("2.5\tb", "1e21\ta", "2.5\tb")); d != "" {
		t.Error(d)
	}
	if d := compareRows(sorted, cells("2.5\tb", "1e21\ta", "1e21\ta")); d != "rows differ (3 rows)\n- 2.5\tb\n+ 1e21\ta" {
		t.Error(d)
	}
	if d := compareRows(sorted, cells("2.5\tb", "1e21\ta")); d != "rows: want 3, got 2\n- 2.5\tb" {
		t.Error(d)
	}
}

func TestDiffIsBounded(t *testing.T) {
	rec := &Record{Kind: Query, Types: "I"}
	var rows []string
	for range 100 {
		rows = append(rows, "1")
	}
	d := compareRows(rec, cells(rows...))
	if n := strings.Count(d, "\n"); n != maxDiffLines+1 || !strings.HasSuffix(d, "… 81 more lines") {
		t.Errorf("%d lines: %s", n, d)
	}
}
