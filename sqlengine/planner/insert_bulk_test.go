package planner

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/sqlengine/errmap"
)

// TestBulkValues compares statements of many rows with the same ones that go through the parser as a whole: a comment among
// the rows makes them.
func TestBulkValues(t *testing.T) {
	s := newInsertSession(t)
	const columns = "id INT NOT NULL; d DECIMAL(12,3) = 7; x DOUBLE; name STRING; flag BOOLEAN; day DATE"
	rnd := rand.New(rand.NewSource(5))
	pick := func(list ...string) string { return list[rnd.Intn(len(list))] }
	text := func() string {
		return pick("'plain'", "''", "'it''s'", `'it\'s'`, `'\\'`, `'a\nb\tc\0d\%e\_f\q'`, `'tail\\'''`, "'(1,2)'", "'ünï'", "'x, (y'", "NULL", "default", "'longer text of some words'")
	}
	odd := []string{"1+1", "'a' 'b'", "\"double\"", "0x41", "?", "(2)", "'open", "5x", "--3", "1e", "CONCAT('a')", "N'n'", "_utf8'x'", "-'3'", "true1"}
	for i := range 60 {
		var rows []string
		for n := range 45 {
			row := []string{fmt.Sprint(n), pick("1", "-2.5", "+3.25", "0.0005", "12.", "NULL", "DEFAULT", "99999999999", "1e3"), pick("1", "2.5e-3", "-0.0", "1e400", "null", "0.1"),
				text(), pick("TRUE", "false", "0", "2", "NULL"), pick("'2024-01-02'", "'2024-02-30'", "NULL", "20240102")}
			if i%3 == 1 && n > 20 && rnd.Intn(20) == 0 {
				row[rnd.Intn(len(row))] = odd[rnd.Intn(len(odd))]
			}
			if i%5 == 1 && n == 40 {
				row = row[:4]
			}
			rows = append(rows, "("+strings.Join(row, pick(",", ", ", " ,\n"))+")")
		}
		head := pick("INSERT INTO t VALUES", "insert into t (id, d, x, name, flag, day) VALUES ", "REPLACE t VALUES\n", "INSERT IGNORE INTO `t` VALUE ", "INSERT /* c */ INTO t VALUES")
		tail := pick("", ";", " ; \n", " ON DUPLICATE KEY UPDATE d = 1", " garbage", "; SELECT 1")
		mode := pick("STRICT_TRANS_TABLES", "", "STRICT_TRANS_TABLES,NO_BACKSLASH_ESCAPES")
		run := func(comment string) string {
			s.table("t", columns)
			if _, err := s.exec("SET sql_mode = '" + mode + "'"); err != nil {
				t.Fatal(err)
			}
			ok, err := s.exec(head + strings.Join(rows[:2], ", ") + comment + ", " + strings.Join(rows[2:], pick(",", " , ")) + tail)
			out := fmt.Sprint(ok, "|", strings.Join(s.warnings(), "|"))
			if err != nil {
				code, state, text := errmap.Convert(err)
				out += fmt.Sprint(code, state, text)
			}
			if _, err := s.exec("SET sql_mode = DEFAULT"); err != nil {
				t.Fatal(err)
			}
			for _, r := range s.run("SELECT * FROM t") {
				out += "\n" + r
			}
			return out
		}
		if got, want := run(""), run("/* one by one */"); got != want && !strings.Contains(want, "syntax") {
			t.Fatalf("%s … %s\n got %.600s\nwant %.600s", head, tail, got, want)
		} else if strings.Contains(want, "syntax") && !strings.Contains(got, "syntax") {
			t.Fatalf("%s … %s: no syntax error: %.300s", head, tail, got)
		}
	}
}
