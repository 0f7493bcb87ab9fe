package schema

import (
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
)

func TestParseType(t *testing.T) {
	for in, want := range map[string]string{
		"INT":                            "INT",
		"integer not null":               "INT NOT NULL",
		" CHAR ( 3 ) ":                   "CHAR(3)",
		"CHAR":                           "CHAR(1)",
		"VARCHAR":                        "VARCHAR(1)",
		"VARCHAR(2147483647)":            "STRING",
		"STRING NULL":                    "STRING",
		"BYTES":                          "BYTES",
		"VARBINARY(2147483647) NOT NULL": "BYTES NOT NULL",
		"BINARY(4)":                      "BINARY(4)",
		"DECIMAL":                        "DECIMAL(10, 0)",
		"DEC(5)":                         "DECIMAL(5, 0)",
		"NUMERIC(38,38)":                 "DECIMAL(38, 38)",
		"DOUBLE PRECISION":               "DOUBLE",
		"TIME":                           "TIME(0)",
		"TIME(3) WITHOUT TIME ZONE":      "TIME(3)",
		"TIMESTAMP":                      "TIMESTAMP(6)",
		"TIMESTAMP(3) WITHOUT TIME ZONE": "TIMESTAMP(3)",
		"TIMESTAMP(9) WITH LOCAL TIME ZONE NOT NULL":          "TIMESTAMP(9) WITH LOCAL TIME ZONE NOT NULL",
		"TIMESTAMP_LTZ(3)":                                    "TIMESTAMP(3) WITH LOCAL TIME ZONE",
		"INT ARRAY":                                           "ARRAY<INT>",
		"INT NOT NULL ARRAY NOT NULL MULTISET":                "MULTISET<ARRAY<INT NOT NULL> NOT NULL>",
		"MAP<STRING, ARRAY<INT>>":                             "MAP<STRING, ARRAY<INT>>",
		"VECTOR<FLOAT, 3>":                                    "VECTOR<FLOAT, 3>",
		"ROW<a INT, `b ``c` STRING NOT NULL COMMENT 'it''s'>": "ROW<`a` INT, `b ``c` STRING NOT NULL COMMENT 'it''s'>",
		"GEOMETRY":                     "GEOMETRY(OGC:CRS84)",
		"GEOGRAPHY(EPSG:4326, karney)": "GEOGRAPHY(EPSG:4326, KARNEY)",
		"VARIANT":                      "VARIANT",
		"BLOB":                         "BLOB",
	} {
		ty, err := ParseType(in)
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if got := ty.String(); got != want {
			t.Errorf("%s prints as %s, want %s", in, got, want)
		}
		again, err := ParseType(ty.String())
		if err != nil || !again.Equal(ty) {
			t.Errorf("%s does not survive printing: %v", in, err)
		}
	}
}

func TestParseTypeRefuses(t *testing.T) {
	for _, in := range []string{
		"", "TEXT", "REAL", "CHARACTER VARYING(3)", "DECIMAL(39)", "DECIMAL(0)", "DECIMAL(5, 6)", "CHAR(0)", "VARCHAR(99999999999)",
		"TIMESTAMP(10)", "INT INT", "ARRAY<INT", "MAP<INT>", "VECTOR<STRING, 3>", "VECTOR<INT, 0>", "ROW<a>", "ROW<`a INT>", "DECIMAL(-1)",
		strings.Repeat("ARRAY<", 200) + "INT" + strings.Repeat(">", 200), "INT" + strings.Repeat(" ARRAY", 200),
	} {
		if ty, err := ParseType(in); err == nil {
			t.Errorf("%.40s parses as %v", in, ty)
		} else if !errs.Is(err, errs.Invalid) {
			t.Errorf("%.40s: class %v", in, errs.ClassOf(err))
		}
	}
}

func TestKinds(t *testing.T) {
	for text, want := range map[string]column.Kind{
		"BOOLEAN": column.KindInt32, "TIME(9)": column.KindInt32, "DECIMAL(18,2)": column.KindInt64, "DECIMAL(19,2)": column.KindInt128,
		"TIMESTAMP_LTZ": column.KindTimestamp, "BLOB": column.KindBytes, "MULTISET<INT>": column.KindMap, "VARIANT": column.KindStruct,
	} {
		ty, err := ParseType(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := KindOf(ty); got != want {
			t.Errorf("%s is of kind %d, want %d", text, got, want)
		}
		b := NewBuilder(ty)
		b.AppendNull()
		if v := b.Finish(); !v.IsNull(0) {
			t.Errorf("%s: no null", text)
		}
	}
}
