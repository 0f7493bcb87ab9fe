package runner

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	script, err := Parse("a.slt", strings.Join([]string{
		"# a title", "# needs: something", "",
		"statement ok", "CREATE TABLE t (a INT)", "",
		"# about the next", "statement error no such table", "SELECT 1 FROM x", "",
		"query IT rowsort", "SELECT a, b FROM t", "----", "1\tx\\ty", "2\tNULL", "",
		"sleep 25", "",
		"query X", "SELECT y FROM t WHERE FALSE", "----",
	}, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if script.Title != "a title" || !reflect.DeepEqual(script.Header, []string{"a title", "needs: something"}) {
		t.Errorf("header: %q", script.Header)
	}
	want := []Record{
		{File: "a.slt", Line: 4, Kind: StatementOK, SQL: "CREATE TABLE t (a INT)"},
		{File: "a.slt", Line: 8, Kind: StatementError, SQL: "SELECT 1 FROM x", ErrorText: "no such table", Comment: "about the next"},
		{File: "a.slt", Line: 11, Kind: Query, SQL: "SELECT a, b FROM t", Types: "IT", RowSort: true, Want: [][]string{{"1", `x\ty`}, {"2", "NULL"}}},
		{File: "a.slt", Line: 17, Kind: Sleep, Sleep: 25 * time.Millisecond},
		{File: "a.slt", Line: 19, Kind: Query, SQL: "SELECT y FROM t WHERE FALSE", Types: "X"},
	}
	if !reflect.DeepEqual(script.Records, want) {
		t.Errorf("records:\n got %+v\nwant %+v", script.Records, want)
	}
}

func TestReplaceAnswers(t *testing.T) {
	const text = "query I\nSELECT 1\n----\n1\n\nquery I\nSELECT 2\n----\n2\n\nquery I\nSELECT 1\n----\n1\n"
	for differs, want := range map[string]string{
		"# why\nquery I rowsort\nSELECT 1\n----\n7\n\n# why\nquery I\nSELECT 1\n----\n8\n": "",
		"# why\nstatement error x\nSELECT 2\n":                                             "",
		"query I\nSELECT 1\n----\n7\n":                                                     "d:1: there is no reason above the record",
		"# why\n\nquery I\nSELECT 1\n----\n7\n":                                            "d:3: there is no reason",
		"# why\nquery I\nSELECT 1\n----\n1\n":                                              "d:2: says the same as s:1",
		"# why\nquery I\nSELECT 3\n----\n1\n":                                              "d:2: s has no such statement",
		"# why\nquery I\nSELECT 2\n----\n3\n\n# why\nquery I\nSELECT 2\n----\n4\n":         "d:8: s has no such statement",
	} {
		script, err := Parse("s", text)
		if err != nil {
			t.Fatal(err)
		}
		d, err := Parse("d", differs)
		if err != nil {
			t.Fatal(err)
		}
		err = script.ReplaceAnswers(d)
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%q: %v", differs, err)
		}
		if strings.Contains(differs, "8") {
			if r := script.Records; !r[0].RowSort || r[0].Want[0][0] != "7" || r[1].Want[0][0] != "2" || r[2].Want[0][0] != "8" {
				t.Errorf("%+v", r)
			}
		}
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"nonsense":                            "a:1: not a valid script: expected statement, query or sleep",
		"statement maybe\nSELECT 1":           "a:1: ",
		"statement ok now\nSELECT 1":          "a:1: ",
		"statement ok\n\nSELECT 1":            "a:1: not a valid script: the statement is missing",
		"statement ok\nSELECT 1\n----\n1":     "a:3: ",
		"query\nSELECT 1\n----":               "a:1: ",
		"query Q\nSELECT 1\n----":             "a:1: not a valid script: unknown column type 'Q'",
		"query I sorted\nSELECT 1\n----":      "a:1: ",
		"query I\nSELECT 1\n1":                "a:3: not a valid script: expected ----",
		"query I\nSELECT 1":                   "a:3: ",
		"\n\nquery II\nSELECT 1, 2\n----\n1":  "a:6: not a valid script: the row has 1 cells, the query 2 columns",
		"sleep soon":                          "a:1: ",
		"sleep -1":                            "a:1: ",
		"sleep 99999999":                      "a:1: ",
		"query I rowsort more\nSELECT 1\n---": "a:1: ",
	} {
		_, err := Parse("a", text)
		if !errors.Is(err, ErrFormat) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s…", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("statement ok\nSELECT 1\n\nquery I rowsort\nSELECT 1\n----\n1\n")
	f.Add("# t\nsleep 5\nstatement error x\nSELEKT")
	f.Add("query TJ\nSELECT 1\n----\n\\t\t{\"a\": 1e9}\n")
	f.Fuzz(func(t *testing.T, text string) {
		script, err := Parse("fuzz", text)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Fatalf("unclassified error %v", err)
			}
			return
		}
		for _, r := range script.Records {
			if r.Kind != Sleep && r.SQL == "" {
				t.Fatalf("record without a statement at %s", r.Pos())
			}
			for _, row := range r.Want {
				if len(row) != len(r.Types) {
					t.Fatalf("row of %d cells for %s", len(row), r.Types)
				}
				for i := range row {
					c := cell{text: unescape(row[i])}
					c.matches(row[i], r.Types[i])
				}
			}
		}
	})
}
