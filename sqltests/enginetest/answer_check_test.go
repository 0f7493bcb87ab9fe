package enginetest

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
)

// Numbers of errors that have a meaning of their own here.
const (
	errNotSupported = 1235 // ER_NOT_SUPPORTED_YET
	errUnknown      = 1105 // ER_UNKNOWN_ERROR
)

// check runs the step and returns what is wrong with the answer, "" for nothing.
func (s step) check(ctx context.Context, c *session) string {
	counts, isCount := s.counts()
	a, err := c.run(ctx, s.query, s.bindings, isCount)
	switch {
	case s.fails:
		return s.checkError(err)
	case err != nil:
		return "error: " + err.Error()
	case isCount:
		if uint64(a.affected) != counts.RowsAffected {
			return fmt.Sprintf("counts differ: %d rows affected, want %d", a.affected, counts.RowsAffected)
		}
		if counts.InsertID != 0 && uint64(a.insertID) != counts.InsertID {
			return fmt.Sprintf("counts differ: insert id %d, want %d", a.insertID, counts.InsertID)
		}
	case s.rows != nil:
		if text := compareRows(s.rows, a, ordered(s.query)); text != "" {
			return text
		}
	}
	if text := s.checkColumns(a); text != "" {
		return text
	}
	return s.checkWarnings(ctx, c)
}

// counts returns the numbers of an OK packet, where the step expects one.
func (s step) counts() (types.OkResult, bool) {
	if len(s.rows) != 1 || len(s.rows[0]) != 1 {
		return types.OkResult{}, false
	}
	ok, is := s.rows[0][0].(types.OkResult)
	return ok, is
}

// checkError checks the error of a step that has to fail.
func (s step) checkError(err error) string {
	if err == nil {
		return "no error: want " + s.wantedError()
	}
	n := number(err)
	switch text := err.Error(); {
	case n == 0:
		return "connection lost: " + text
	case strings.Contains(text, "panic") || strings.Contains(text, "runtime error"):
		return "panic: " + text
	case n == errNotSupported && !strings.Contains(strings.ToLower(s.wantedError()), "support"):
		return fmt.Sprintf("other error: %s, want %s", text, s.wantedError())
	}
	if want := s.number(); want != 0 && want != n {
		return fmt.Sprintf("other error: %s, want number %d (%s)", err, want, s.wantedError())
	}
	return ""
}

// wantedError is the text of the expected error.
func (s step) wantedError() string {
	if s.kind != nil {
		return s.kind.Message
	}
	return s.message
}

// number is MySQL's number of the expected error, 0 where go-mysql-server knows none.
func (s step) number() uint16 {
	if s.kind == nil {
		return 0
	}
	e := sql.CastSQLError(s.kind.New())
	if e == nil || e.Num == errUnknown || e.Num == mysql.ERUnknownError {
		return 0
	}
	return uint16(e.Num)
}

// checkColumns compares the names of columns.
func (s step) checkColumns(a answer) string {
	if s.columns == nil {
		return ""
	}
	var want, got []string
	for _, c := range s.columns {
		want = append(want, c.Name)
	}
	for _, c := range a.columns {
		got = append(got, c.name)
	}
	if fmt.Sprintf("%q", want) != fmt.Sprintf("%q", got) {
		return fmt.Sprintf("names differ: %q, want %q", got, want)
	}
	return ""
}

// checkWarnings compares the warnings of the statement before.
func (s step) checkWarnings(ctx context.Context, c *session) string {
	if s.warnings == 0 {
		return ""
	}
	a, err := c.run(ctx, "SHOW WARNINGS", nil, false)
	if err != nil {
		return "error: SHOW WARNINGS: " + err.Error()
	}
	if len(a.rows) != s.warnings {
		return fmt.Sprintf("warnings differ: %d, want %d: %s", len(a.rows), s.warnings, printCells(a.rows))
	}
	for _, row := range a.rows {
		if s.warning != 0 && row[1].text != strconv.Itoa(s.warning) {
			return fmt.Sprintf("warnings differ: number %s, want %d: %s", row[1].text, s.warning, row[2].text)
		}
	}
	return ""
}

// ordered reports whether the outermost query has an ORDER BY.
func ordered(query string) bool {
	depth, start := 0, 0
	var outside strings.Builder
	for i := 0; i < len(query); i++ {
		switch b := query[i]; b {
		case '\'', '"', '`':
			if depth == 0 {
				outside.WriteString(query[start:i] + " x ")
			}
			for i++; i < len(query) && query[i] != b; i++ {
				if query[i] == '\\' {
					i++
				}
			}
			start = i + 1
		case '(':
			if depth == 0 {
				outside.WriteString(query[start:i] + " x ")
			}
			depth++
		case ')':
			depth--
			start = i + 1
		}
	}
	if depth == 0 && start < len(query) {
		outside.WriteString(query[start:])
	}
	return strings.Contains(strings.Join(strings.Fields(strings.ToUpper(outside.String())), " "), "ORDER BY ")
}

// compareRows compares rows, in order or as a bag. It returns the difference.
func compareRows(want []sql.Row, a answer, inOrder bool) string {
	if len(want) == 1 && len(want[0]) == 0 && len(a.columns) == 0 {
		return "" // of statements without a result
	}
	differ := ""
	switch {
	case len(want) != len(a.rows):
		differ = fmt.Sprintf("%d rows, want %d", len(a.rows), len(want))
	case inOrder || len(want) <= 1:
		for i := range want {
			if d := compareRow(want[i], a, i); d != "" {
				differ = fmt.Sprintf("row %d: %s", i+1, d)
				break
			}
		}
	default:
		differ = compareBag(want, a)
	}
	if differ == "" {
		return ""
	}
	if inOrder && len(want) == len(a.rows) && compareBag(want, a) == "" {
		return fmt.Sprintf("order differs: %s\ngot  %s\nwant %s", differ, printCells(a.rows), printRows(want))
	}
	return fmt.Sprintf("rows differ: %s\ngot  %s\nwant %s", differ, printCells(a.rows), printRows(want))
}

// compareBag finds an equal row for each of the expected ones.
func compareBag(want []sql.Row, a answer) string {
	used := make([]bool, len(a.rows))
	for i, w := range want {
		found := false
		for j := range a.rows {
			if !used[j] && compareRow(w, a, j) == "" {
				used[j], found = true, true
				break
			}
		}
		if !found {
			return fmt.Sprintf("no row like row %d of those wanted", i+1)
		}
	}
	return ""
}

// compareRow compares a row.
func compareRow(want sql.Row, a answer, i int) string {
	if len(want) != len(a.columns) {
		return fmt.Sprintf("%d columns, want %d", len(a.columns), len(want))
	}
	for j, w := range want {
		if !equal(w, a.rows[i][j], a.columns[j].typ) {
			return fmt.Sprintf("column %d (%s)", j+1, a.columns[j].typ)
		}
	}
	return ""
}

// mostPrinted is how many rows a difference shows.
const mostPrinted = 12

// printCells writes the rows of an answer.
func printCells(rows [][]cell) string {
	var b strings.Builder
	for i, row := range rows {
		if i == mostPrinted {
			return b.String() + "…"
		}
		b.WriteString("[")
		for j, c := range row {
			if j > 0 {
				b.WriteString(", ")
			}
			if c.null {
				b.WriteString("NULL")
			} else {
				b.WriteString(strconv.Quote(c.text))
			}
		}
		b.WriteString("] ")
	}
	return b.String()
}

// printRows writes expected rows.
func printRows(rows []sql.Row) string {
	var b strings.Builder
	for i, row := range rows {
		if i == mostPrinted {
			return b.String() + "…"
		}
		b.WriteString("[")
		for j, v := range row {
			if j > 0 {
				b.WriteString(", ")
			}
			if v == nil {
				b.WriteString("NULL")
			} else {
				fmt.Fprintf(&b, "%T(%v)", v, printable(v))
			}
		}
		b.WriteString("] ")
	}
	return b.String()
}
