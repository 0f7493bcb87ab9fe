package planner

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestLines splits files into fields as MySQL does.
func TestLines(t *testing.T) {
	tab := lineFormat{fieldEnd: []byte("\t"), lineEnd: []byte("\n"), enclosed: -1, escape: '\\'}
	csv := lineFormat{fieldEnd: []byte(","), lineEnd: []byte("\n"), enclosed: '"', escape: '\\'}
	crlf := lineFormat{fieldEnd: []byte(","), lineEnd: []byte("\r\n"), enclosed: '"', escape: -1}
	doubled := lineFormat{fieldEnd: []byte(","), lineEnd: []byte("\n"), enclosed: '"', escape: '"'}
	long := lineFormat{fieldEnd: []byte("||"), lineEnd: []byte("|\n"), lineStart: []byte(">>"), enclosed: -1, escape: -1}
	latin := lineFormat{fieldEnd: []byte(";"), lineEnd: []byte("\n"), enclosed: -1, escape: -1, latin1: true}
	for _, c := range []struct {
		f        lineFormat
		in, want string
	}{
		{tab, "", ""},
		{tab, "1\ta\n2\tb\n", "1|a / 2|b"},
		{tab, "1\ta\n2\tb", "1|a / 2|b"},
		{tab, "1\t\n\n2", "1| /  / 2"},
		{tab, "a\\tb\t\\N\t\\\\N\tN\t\\n\\0\\Z\\q\n", "a\tb|~|\\N|N|\n\x00\x1aq"},
		{tab, "a\\\tb\\\nc\td\n", "a\tb\nc|d"},
		{tab, "a\\", "a\\"},
		{tab, "\"a\tb\"\n", "\"a|b\""},
		{tab, "NULL\txNULL\n", "NULL|xNULL"},
		{csv, `1,"a,b","c""d",e"f,"NULL",NULL,\N` + "\n", `1|a,b|c"d|e"f|NULL|~|~`},
		{csv, "\"two\nlines\",x\n", "two\nlines|x"},
		{csv, "\"a\"b\",c\n", "a\"b|c"},
		{csv, "\"a\\\"b\",c\n", "a\"b|c"},
		{csv, "\"open,a\n1,2\n", "\"open,a\n1,2\n"},
		{csv, "\"a\"", "a"},
		{csv, ",\n", "|"},
		{csv, "\"\",\n", "|"},
		{crlf, "a,\"b\r\nc\"\r\nd\n,\\N\r\n", "a|b\r\nc / d\n|\\N"},
		{crlf, "a\r", "a\r"},
		{doubled, "\"a\"\"b\",c\\n\n", "a\"b|c\\n"},
		{long, "x>>a||b|c|\nskipped>>d|\nnothing", "a|b|c / d"},
		{latin, "\xe4;\x80;a\n", "ä|€|a"},
	} {
		r := newLineReader(strings.NewReader(c.in), c.f)
		var lines []string
		for {
			fields, err := r.next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, f := range fields {
				if f.null {
					texts = append(texts, "~")
				} else {
					texts = append(texts, string(f.text))
				}
			}
			lines = append(lines, strings.Join(texts, "|"))
		}
		if got := strings.Join(lines, " / "); got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}

func TestLoadData(t *testing.T) {
	s := newInsertSession(t)
	columns := "id INT NOT NULL; name STRING; d DATE; n DECIMAL(5,2) = 7"
	s.table("t", columns)
	load := func(content, rest, want string, rows ...string) {
		t.Helper()
		s.file = content
		s.does("LOAD DATA LOCAL INFILE 'f.txt' "+rest, want)
		s.want("SELECT * FROM t", rows...)
		s.table("t", columns)
	}
	load("1\ta\t2024-01-02\t1.5\n2\t\\N\t\\N\t\\N\n", "INTO TABLE t", "2 Records: 2  Deleted: 0  Skipped: 0  Warnings: 0",
		"1\ta\t2024-01-02\t1.50", "2\tNULL\tNULL\tNULL")
	// Columns in another order; those that are missing get their defaults.
	load("a,1\nb,2\n", "INTO TABLE t FIELDS TERMINATED BY ',' (name, id)", "2 Records: 2  Deleted: 0  Skipped: 0  Warnings: 0",
		"1\ta\tNULL\t7.00", "2\tb\tNULL\t7.00")
	load("id;name\r\n1;\"x;\"\"y\"\"\"\r\n", "INTO TABLE t FIELDS TERMINATED BY ';' OPTIONALLY ENCLOSED BY '\"' LINES TERMINATED BY '\\r\\n' IGNORE 1 LINES (id, name)",
		"1 Records: 1  Deleted: 0  Skipped: 0  Warnings: 0", "1\tx;\"y\"\tNULL\t7.00")
	// User variables and SET.
	load("1,a,20,x\n2,b,,y\n", "INTO TABLE t FIELDS TERMINATED BY ',' (id, @n, @m, name) SET n = NULLIF(@m, '') + 1, name = CONCAT(UPPER(@n), '-', name), d = '2024-01-02'",
		"2 Records: 2  Deleted: 0  Skipped: 0  Warnings: 0", "1\tA-x\t2024-01-02\t21.00", "2\tB-y\t2024-01-02\tNULL")
	s.want("SELECT @n, @m", "b\t")
	load("5,a\n", "INTO TABLE t FIELDS TERMINATED BY ',' (@x, @ignored) SET id = @x * 2", "1 Records: 1  Deleted: 0  Skipped: 0  Warnings: 0", "10\tNULL\tNULL\t7.00")
	// The client cannot be stopped: what does not fit becomes a warning.
	load("x\ta\t2024-02-30\t1.005\textra\n7\n\\N\tb\t\t1000\n", "INTO TABLE t", "3 Records: 3  Deleted: 0  Skipped: 0  Warnings: 8",
		"0\ta\tNULL\t1.01", "7\tNULL\tNULL\t7.00", "0\tb\tNULL\t999.99")
	s.file = "x\ta\t2024-02-30\t1.005\textra\n7\n\\N\tb\t\t1000\n"
	if _, err := s.exec("LOAD DATA LOCAL INFILE 'f.txt' INTO TABLE t"); err != nil {
		t.Fatal(err)
	}
	s.warned("Warning 1262 Row 1 was truncated; it contained more data than there were input columns",
		"Warning 1366 Incorrect integer value: 'x' for column 'id' at row 1", "Warning 1292 Incorrect date value: '2024-02-30' for column 'd' at row 1",
		"Note 1265 Data truncated for column 'n' at row 1", "Warning 1261 Row 2 doesn't contain data for all columns",
		"Warning 1263 Column set to default value; NULL supplied to NOT NULL column 'id' at row 3", "Warning 1292 Incorrect date value: '' for column 'd' at row 3",
		"Warning 1264 Out of range value for column 'n' at row 3")
	// With REPLACE it can.
	s.table("t", columns)
	for content, want := range map[string]string{
		"x\ta\t\\N\t1\n":                  "1366 HY000 Incorrect integer value: 'x' for column 'id' at row 1",
		"1\ta\t\\N\t1\n2\n":               "1261 01000 Row 2 doesn't contain data for all columns",
		"1\ta\t\\N\t1\n2\ta\t\\N\t1\t5\n": "1262 01000 Row 2 was truncated",
		"\\N\ta\t\\N\t1\n":                "1263 22004 Column set to default value; NULL supplied to NOT NULL column 'id' at row 1",
	} {
		s.file = content
		s.failed("LOAD DATA LOCAL INFILE 'f.txt' REPLACE INTO TABLE t", want)
	}
	s.want("SELECT COUNT(*) FROM t", "0")
	for rest, want := range map[string]string{
		"INTO TABLE t (id, nope)":                 "1054 42S22 ",
		"INTO TABLE t (id, id)":                   "1110 42000 ",
		"INTO TABLE nothing":                      "1146 42S02 ",
		"INTO TABLE t CHARACTER SET utf16":        "1235 42000 LOAD DATA … CHARACTER SET utf16 is not supported",
		"INTO TABLE t (id) SET name = (SELECT 1)": "1235 42000 LOAD DATA … SET with a subquery",
		"INTO TABLE t (name)":                     "1364 HY000 Field 'id' doesn't have a default value",
		"INTO TABLE t (@a) SET nope = @a":         "1054 42S22 ",
	} {
		s.file = "1\n"
		got := s.errorOf("LOAD DATA LOCAL INFILE 'f.txt' " + rest)
		if strings.HasPrefix(want, "1364") {
			// A warning with LOCAL: zero.
			if got != "no error" {
				t.Error(got)
			}
			continue
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", rest, got, want)
		}
	}
	s.fails("LOAD DATA LOCAL INFILE 'f.txt' INTO TABLE t FIELDS TERMINATED BY ''", "rows of fixed width")
}

// TestLoadMany: files are read in batches, in one commit.
func TestLoadMany(t *testing.T) {
	s := newInsertSession(t)
	s.table("t", "a INT; b STRING; c DECIMAL(10,2)")
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "%d,\"name, %d\",%d.5\n", i, i, i)
	}
	s.file = b.String()
	s.does("LOAD DATA LOCAL INFILE 'f' INTO TABLE t FIELDS TERMINATED BY ',' ENCLOSED BY '\"'", "20000 Records: 20000  Deleted: 0  Skipped: 0  Warnings: 0")
	s.happened("open default.t", "commit t 20000")
	s.want("SELECT COUNT(*), SUM(a), MAX(c), MIN(b) FROM t", "20000\t199990000\t19999.50\tname, 0")
}

// FuzzLines: no file makes the reader fail or run on.
func FuzzLines(f *testing.F) {
	f.Add("1\ta\\N\n\"x\"\"y\",\\", "\t", "\n", "", byte('"'), byte('\\'))
	f.Add("a||b|c|\n>>d", "||", "|\n", ">>", byte(0), byte(0))
	f.Fuzz(func(t *testing.T, in, fieldEnd, lineEnd, lineStart string, enclosed, escape byte) {
		if fieldEnd == "" || lineEnd == "" {
			return
		}
		format := lineFormat{fieldEnd: []byte(fieldEnd), lineEnd: []byte(lineEnd), lineStart: []byte(lineStart), enclosed: int(enclosed) - 1, escape: int(escape) - 1}
		r := newLineReader(strings.NewReader(in), format)
		total := 0
		for range len(in) + 2 {
			fields, err := r.next()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					t.Fatal(err)
				}
				return
			}
			for _, x := range fields {
				total += len(x.text)
			}
			if total > len(in) {
				t.Fatalf("%d bytes of %d", total, len(in))
			}
		}
		t.Fatal("the reader does not end")
	})
}
