package main

import (
	"bufio"
	"strings"
	"testing"
	"time"
)

func source(rows ...[]value) rowSource {
	return func() ([]value, bool, error) {
		if len(rows) == 0 {
			return nil, false, nil
		}
		r := rows[0]
		rows = rows[1:]
		return r, true, nil
	}
}

var sampleColumns = []column{
	columnOf("id", "BIGINT"), columnOf("名前", "VARCHAR"), columnOf("raw", "VARBINARY"),
}

func sampleRows() rowSource {
	return source(
		[]value{{text: "1"}, {text: "東京"}, {text: "\x00\xff"}},
		[]value{{text: "-20"}, {text: "Zoë\nx"}, {null: true}},
	)
}

func render(f func(*bufio.Writer, []column, rowSource) (int, error), cols []column, rows rowSource) string {
	var b strings.Builder
	w := bufio.NewWriter(&b)
	if _, err := f(w, cols, rows); err != nil {
		return err.Error()
	}
	w.Flush()
	return b.String()
}

func TestPrintTable(t *testing.T) {
	want := `+-----+------+--------+
| id  | 名前 | raw    |
+-----+------+--------+
|   1 | 東京 | 0x00FF |
| -20 | Zoë
x    | NULL   |
+-----+------+--------+
`
	if got := render(printTable, sampleColumns, sampleRows()); got != want {
		t.Errorf("got\n%s", got)
	}
	if got := render(printTable, sampleColumns, source()); got != "" {
		t.Errorf("an empty result printed %q", got)
	}
}

func TestPrintTableBeyondSample(t *testing.T) {
	n := 0
	rows := func() ([]value, bool, error) {
		n++
		return []value{{text: "x"}}, n <= widthSampleRows+5, nil
	}
	got := render(printTable, []column{columnOf("c", "VARCHAR")}, rows)
	if lines := strings.Count(got, "\n"); lines != widthSampleRows+5+4 || !strings.HasSuffix(got, "| x |\n+---+\n") {
		t.Errorf("%d lines", lines)
	}
}

func TestPrintVertical(t *testing.T) {
	want := `*************************** 1. row ***************************
  id: 1
名前: 東京
 raw: 0x00FF
*************************** 2. row ***************************
  id: -20
名前: Zoë
x
 raw: NULL
`
	if got := render(printVertical, sampleColumns, sampleRows()); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestPrintBatch(t *testing.T) {
	want := "id\t名前\traw\n1\t東京\t\\0\xff\n-20\tZoë\\nx\tNULL\n"
	if got := render(printBatch, sampleColumns, sampleRows()); got != want {
		t.Errorf("got %q", got)
	}
}

func TestTerminalIsSafe(t *testing.T) {
	if got := printable("\x1b[2Jx\x7f\u009bü\xff"); got != `\x1b[2Jx\x7f\x9bü\xff` {
		t.Error(got)
	}
}

func TestLinesAreSafe(t *testing.T) {
	c := columnOf("c", "VARCHAR")
	if got := c.display(value{text: "a\n\x1b[2J\r\n\tb\n"}); got != "a\n\\x1b[2J\\r\n\\tb\n" {
		t.Errorf("%q", got)
	}
}

func TestFloatText(t *testing.T) {
	for _, x := range []struct {
		v    any
		want string
	}{
		{float64(0), "0"}, {float64(1000000), "1000000"}, {1e21, "1e21"}, {1.5e-7, "1.5e-7"}, {float64(123456789012345), "123456789012345"},
		{float32(0.1), "0.1"}, {float32(3.4028235e38), "3.4028235e38"}, {-2.25, "-2.25"},
	} {
		if got := valueOf(x.v).text; got != x.want {
			t.Errorf("%v: %s", x.v, got)
		}
	}
}

func TestCountLines(t *testing.T) {
	for got, want := range map[string]string{
		rowsLine(0, 10*time.Millisecond): "Empty set (0.01 sec)",
		rowsLine(1, time.Second):         "1 row in set (1.00 sec)",
		rowsLine(7, 0):                   "7 rows in set (0.00 sec)",
		okLine(1, 0):                     "Query OK, 1 row affected (0.00 sec)",
		okLine(0, 0):                     "Query OK, 0 rows affected (0.00 sec)",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestSplitter(t *testing.T) {
	var s splitter
	var got []string
	take := func(text string) {
		s.add(text)
		for {
			st, ok := s.next()
			if !ok {
				return
			}
			if st.vertical {
				st.sql += " [G]"
			}
			got = append(got, st.sql)
		}
	}
	take("SELECT ';', \"a;\"\n")
	if !s.pending() || s.open() != 0 || prompt(&s) != "        -> " {
		t.Error("the first line is not pending")
	}
	take("; ;; SELECT `a;b` \\G SELECT 'it''s \\' ; fine' ; -- ; not this\nSELECT 1 # nor; this\n, 2;")
	take("SELECT /* ; */ 3 /*+ x; */; SELECT 5--1; SELECT 'open")
	if prompt(&s) != "        '> " {
		t.Errorf("prompt %q", prompt(&s))
	}
	take(" end'; SELECT /* open")
	if prompt(&s) != "        *> " {
		t.Errorf("prompt %q", prompt(&s))
	}
	take("*/ 9")
	want := []string{
		"SELECT ';', \"a;\"", "SELECT `a;b` [G]", `SELECT 'it''s \' ; fine'`, "-- ; not this\nSELECT 1 # nor; this\n, 2",
		"SELECT /* ; */ 3 /*+ x; */", "SELECT 5--1", "SELECT 'open end'",
	}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if st, ok := s.last(); !ok || st.sql != "SELECT /* open*/ 9" {
		t.Errorf("last: %q", st.sql)
	}
	s.add(" -- only a comment\n/* and another */ ")
	if _, ok := s.last(); ok {
		t.Error("a comment is a statement")
	}
	s.add("/*!40101 SET x = 1 */")
	if _, ok := s.last(); !ok {
		t.Error("an executable comment is no statement")
	}
}

func FuzzSplitter(f *testing.F) {
	f.Add("SELECT ';' ; -- x\n# y\n/* z */ `a` \\G rest")
	f.Add("'open\\")
	f.Add("/*")
	f.Fuzz(func(t *testing.T, text string) {
		var s splitter
		s.add(text)
		s.open()
		total := 0
		for {
			st, ok := s.next()
			if !ok {
				break
			}
			total += len(st.sql)
			firstWord(st.sql)
		}
		st, _ := s.last()
		if total+len(st.sql) > len(text) {
			t.Fatal("more text came out than went in")
		}
	})
}

func TestHistoryLine(t *testing.T) {
	if h, ok := historyLine(statement{sql: "SELECT 1\nFROM t", vertical: true}); !ok || h != `SELECT 1 FROM t\G` {
		t.Error(h, ok)
	}
	if _, ok := historyLine(statement{sql: "SELECT 1 -- x\nFROM t"}); ok {
		t.Error("a line comment was joined")
	}
}
