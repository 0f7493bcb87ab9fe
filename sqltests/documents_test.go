package sqltests

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/tributarydb/tributary/sqlengine"
	"github.com/tributarydb/tributary/sqltests/embedded"
	"github.com/tributarydb/tributary/sqltests/golden"
	"github.com/tributarydb/tributary/sqltests/runner"
)

// documents hold sessions of the mysql client with the sample warehouse, with
// the least number of statements in each.
var documents = map[string]int{"README.md": 15, filepath.Join("docs", "differences.md"): 5}

// step is a statement that a document shows, with what it shows below it.
type step struct {
	line     int
	sql      string
	vertical bool
	answer   []string
}

const (
	promptFirst = "mysql> "
	promptMore  = "    -> "
)

// readSteps finds the statements in the fenced blocks of a document. An answer
// goes on to the next prompt or the end of its block.
func readSteps(path string) ([]step, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []step
	fenced, open, shown := false, false, false // shown: the block has a statement
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		text, first := strings.CutPrefix(line, promptFirst)
		more, next := strings.CutPrefix(line, promptMore)
		switch {
		case strings.HasPrefix(line, "```"):
			if open {
				return nil, fmt.Errorf("%s:%d: a statement without ; or \\G", path, n)
			}
			fenced, shown = !fenced, false
			continue
		case !fenced:
			continue
		case first:
			out, shown = append(out, step{line: n, sql: text}), true
		case open && next:
			out[len(out)-1].sql += "\n" + more
		case open:
			return nil, fmt.Errorf("%s:%d: a statement without ; or \\G", path, n)
		default:
			if shown && strings.TrimSpace(line) != "" {
				s := &out[len(out)-1]
				s.answer = append(s.answer, strings.TrimRight(line, " "))
			}
			continue
		}
		s := &out[len(out)-1]
		var end bool
		if s.sql, end = strings.CutSuffix(s.sql, `\G`); end {
			s.vertical = true
		} else {
			s.sql, end = strings.CutSuffix(s.sql, ";")
		}
		open = !end
	}
	return out, lines.Err()
}

// runStep returns the answer in the form of mysql's tables, as bare cells: a
// line a row, the names first.
func runStep(ctx context.Context, conn *sql.Conn, query string) (names []string, rows [][]string, err error) {
	r, err := conn.QueryContext(ctx, query)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	if names, err = r.Columns(); err != nil {
		return nil, nil, err
	}
	cells, targets := make([]sql.RawBytes, len(names)), make([]any, len(names))
	for i := range cells {
		targets[i] = &cells[i]
	}
	for r.Next() {
		if err := r.Scan(targets...); err != nil {
			return nil, nil, err
		}
		row := make([]string, len(cells))
		for i, c := range cells {
			if row[i] = string(c); c == nil {
				row[i] = "NULL"
			}
		}
		rows = append(rows, row)
	}
	return names, rows, r.Err()
}

// vertical prints rows as \G does, without the padding of the names.
func vertical(names []string, rows [][]string) []string {
	var out []string
	for n, row := range rows {
		stars := strings.Repeat("*", 27)
		out = append(out, fmt.Sprintf("%s %d. row %s", stars, n+1, stars))
		for i, c := range row {
			out = append(out, strings.Split(strings.TrimRight(names[i]+": "+c, " "), "\n")...)
		}
	}
	return out
}

// tableCells takes a printed table apart.
func tableCells(lines []string) ([][]string, error) {
	var out [][]string
	for _, l := range lines {
		switch {
		case strings.HasPrefix(l, "+-"):
		case strings.HasPrefix(l, "| ") && strings.HasSuffix(l, " |"):
			var row []string
			for c := range strings.SplitSeq(l[2:len(l)-2], " | ") {
				row = append(row, strings.TrimSpace(c))
			}
			out = append(out, row)
		default:
			return nil, fmt.Errorf("%q is no line of a table", l)
		}
	}
	return out, nil
}

// planLine finds what documents show of plans: the parts that storage decides. The shape of a plan is not promised.
var planLine = regexp.MustCompile(`(pushed filter|branch \w+): .*`)

// compare says how the shown answer differs from the given one, "" if it does not.
func (s *step) compare(names []string, rows [][]string, err error) string {
	var failed *mysql.MySQLError
	switch {
	case errors.As(err, &failed):
		got := fmt.Sprintf("ERROR %d (%s): %s", failed.Number, failed.SQLState[:], failed.Message)
		if len(s.answer) != 1 || s.answer[0] != got {
			return "it fails: " + got
		}
		return ""
	case err != nil:
		return err.Error()
	case strings.HasPrefix(s.sql, "EXPLAIN"):
		var all strings.Builder
		for _, r := range rows {
			fmt.Fprintln(&all, strings.Join(r, "\n"))
		}
		shown := 0
		for _, l := range s.answer {
			if part := strings.TrimRight(planLine.FindString(l), " |"); part != "" {
				shown++
				if !strings.Contains(all.String(), part) {
					return fmt.Sprintf("%q is not in\n%s", part, all.String())
				}
			}
		}
		if shown == 0 {
			return "the document shows nothing that can be compared"
		}
		return ""
	case s.vertical:
		want := slices.Clone(s.answer)
		for i, l := range want {
			if strings.Contains(l, ": ") {
				want[i] = strings.TrimLeft(l, " ")
			}
		}
		if got := vertical(names, rows); !slices.Equal(got, want) {
			return strings.Join(got, "\n")
		}
		return ""
	}
	want, bad := tableCells(s.answer)
	if bad != nil {
		return bad.Error()
	}
	got := append([][]string{names}, rows...)
	if len(rows) == 0 {
		got = nil
	}
	if !slices.EqualFunc(got, want, slices.Equal[[]string]) {
		return fmt.Sprintf("%q", got)
	}
	return ""
}

// TestDocuments runs what the documents show.
func TestDocuments(t *testing.T) {
	root, err := golden.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := golden.Unpack(filepath.Join(root, "shop", golden.ArchiveName), dir); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	server, err := embedded.Start(ctx, sqlengine.Options{Warehouse: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	for name, least := range documents {
		t.Run(name, func(t *testing.T) {
			steps, err := readSteps(filepath.Join("..", name))
			if err != nil {
				t.Fatal(err)
			}
			if len(steps) < least {
				t.Fatalf("%d statements, there should be %d", len(steps), least)
			}
			target := server.Target
			target.Database = "default"
			db, err := runner.Connect(target)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			conn, err := db.Conn(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			for i := range steps {
				s := &steps[i]
				names, rows, err := runStep(ctx, conn, s.sql)
				if diff := s.compare(names, rows, err); diff != "" {
					t.Errorf("%s:%d: %s\nanswers otherwise:\n%s", name, s.line, s.sql, diff)
				}
			}
		})
	}
}

// TestDocumentsCompare checks that a wrong document would be noticed.
func TestDocumentsCompare(t *testing.T) {
	names, rows := []string{"a", "b"}, [][]string{{"1", "x"}, {"2", "NULL"}}
	for _, x := range []struct {
		step step
		err  error
		same bool
	}{
		{step{answer: []string{"+-+-+", "| a | b |", "+-+-+", "| 1 | x |", "|  2 | NULL |", "+-+-+"}}, nil, true},
		{step{answer: []string{"| a | b |", "| 1 | x |"}}, nil, false},
		{step{answer: []string{"| a | b |", "| 1 | x |", "| 2 | y |"}}, nil, false},
		{step{answer: []string{"| a | c |", "| 1 | x |", "| 2 | NULL |"}}, nil, false},
		{step{answer: []string{"..."}}, nil, false},
		{step{answer: nil}, nil, false},
		{step{vertical: true, answer: vertical(names, rows)}, nil, true},
		{step{vertical: true, answer: vertical(names, rows[:1])}, nil, false},
		{step{sql: "EXPLAIN x", answer: []string{"| branch main: 5 |"}}, nil, false},
		{step{sql: "EXPLAIN x", answer: []string{"| Project |"}}, nil, false},
		{step{answer: []string{"ERROR 1 (HY000): m"}}, &mysql.MySQLError{Number: 1, SQLState: [5]byte([]byte("HY000")), Message: "m"}, true},
		{step{answer: []string{"ERROR 1 (HY000): m"}}, &mysql.MySQLError{Number: 2, SQLState: [5]byte([]byte("HY000")), Message: "m"}, false},
		{step{answer: []string{"ERROR 1 (HY000): m"}}, nil, false},
	} {
		if diff := x.step.compare(names, rows, x.err); (diff == "") != x.same {
			t.Errorf("%+v: %q", x.step, diff)
		}
	}
}
