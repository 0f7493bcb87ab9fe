package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// widthSampleRows is the number of rows a table is laid out by. Longer results
// are printed while they arrive; wider cells of later rows stick out.
const widthSampleRows = 10_000

// column describes a column of a result.
type column struct {
	name string
	kind columnKind
}

type columnKind int

const (
	textColumn columnKind = iota
	numberColumn
	bytesColumn
)

// columnOf tells the kind of a column by the driver's name of its type.
func columnOf(name, dbType string) column {
	c := column{name: name}
	switch t := strings.TrimPrefix(dbType, "UNSIGNED "); t {
	case "TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "DECIMAL", "FLOAT", "DOUBLE", "YEAR":
		c.kind = numberColumn
	case "BINARY", "VARBINARY", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB", "BIT", "GEOMETRY":
		c.kind = bytesColumn
	}
	return c
}

// value is one cell; nil text is SQL null.
type value struct {
	text string
	null bool
}

// valueOf takes what the driver delivers.
func valueOf(v any) value {
	switch x := v.(type) {
	case nil:
		return value{null: true}
	case []byte:
		return value{text: string(x)}
	case string:
		return value{text: x}
	case int64:
		return value{text: strconv.FormatInt(x, 10)}
	case uint64:
		return value{text: strconv.FormatUint(x, 10)}
	case float32:
		return value{text: floatText(float64(x), 32)}
	case float64:
		return value{text: floatText(x, 64)}
	default:
		return value{text: fmt.Sprint(x)}
	}
}

// floatText prints a float as MySQL does: without exponent up to 15 digits.
func floatText(f float64, bits int) string {
	if a := math.Abs(f); f == 0 || a >= 1e-5 && a < 1e15 {
		return strconv.FormatFloat(f, 'f', -1, bits)
	}
	s := strconv.FormatFloat(f, 'e', -1, bits)
	m, e, ok := strings.Cut(s, "e")
	if !ok {
		return s // NaN, Inf
	}
	n, _ := strconv.Atoi(e)
	return m + "e" + strconv.Itoa(n)
}

// rowSource delivers rows; ok is false after the last one.
type rowSource func() (row []value, ok bool, err error)

// display prints a cell for people: binary columns as hex, line breaks as they
// are, other control characters as escapes, so that data cannot steer the terminal.
func (c column) display(v value) string {
	if v.null {
		return "NULL"
	}
	if c.kind == bytesColumn {
		return "0x" + strings.ToUpper(hex.EncodeToString([]byte(v.text)))
	}
	if !strings.Contains(v.text, "\n") {
		return printable(v.text)
	}
	lines := strings.Split(v.text, "\n")
	for i, l := range lines {
		lines[i] = printable(l)
	}
	return strings.Join(lines, "\n")
}

// printable is one line of text without control characters.
func printable(s string) string {
	clean := true
	for _, r := range s {
		if r == utf8.RuneError || unicode.IsControl(r) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case unicode.IsControl(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// cellWidth measures text on the terminal. East Asian ambiguous characters
// count as one cell, whatever the locale says, so that output is reproducible.
var cellWidth = &runewidth.Condition{EastAsianWidth: false, StrictEmojiNeutral: true}

// linesWidth is the width of the widest line of a cell.
func linesWidth(s string) int {
	n := 0
	for l := range strings.SplitSeq(s, "\n") {
		n = max(n, cellWidth.StringWidth(l))
	}
	return n
}

// printTable prints a box table and returns the number of rows.
func printTable(w *bufio.Writer, cols []column, next rowSource) (int, error) {
	widths := make([]int, len(cols))
	names := make([]string, len(cols))
	for i, c := range cols {
		names[i] = printable(c.name)
		widths[i] = cellWidth.StringWidth(names[i])
	}
	var sample [][]string
	take := func() ([]string, bool, error) {
		row, ok, err := next()
		if !ok || err != nil {
			return nil, false, err
		}
		cells := make([]string, len(cols))
		for i, v := range row {
			cells[i] = cols[i].display(v)
		}
		return cells, true, nil
	}
	more := true
	for more && len(sample) < widthSampleRows {
		cells, ok, err := take()
		if err != nil {
			return 0, err
		}
		if more = ok; ok {
			for i, s := range cells {
				widths[i] = max(widths[i], linesWidth(s))
			}
			sample = append(sample, cells)
		}
	}
	if len(sample) == 0 {
		return 0, nil
	}
	line := rule(widths)
	w.WriteString(line)
	printCells(w, cols, widths, names, false)
	w.WriteString(line)
	for _, cells := range sample {
		printCells(w, cols, widths, cells, true)
	}
	n := len(sample)
	sample = nil
	for more {
		cells, ok, err := take()
		if err != nil {
			return n, err
		}
		if more = ok; ok {
			printCells(w, cols, widths, cells, true)
			n++
		}
	}
	w.WriteString(line)
	return n, nil
}

func rule(widths []int) string {
	var b strings.Builder
	for _, n := range widths {
		b.WriteByte('+')
		b.WriteString(strings.Repeat("-", n+2))
	}
	b.WriteString("+\n")
	return b.String()
}

// printCells prints a row. A cell of several lines goes on at the left margin,
// as mysql prints it; what is right of it follows its last line.
func printCells(w *bufio.Writer, cols []column, widths []int, cells []string, data bool) {
	for i, s := range cells {
		last := s[strings.LastIndexByte(s, '\n')+1:]
		pad := strings.Repeat(" ", max(0, widths[i]-cellWidth.StringWidth(last)))
		w.WriteString("| ")
		if data && cols[i].kind == numberColumn {
			w.WriteString(pad)
			w.WriteString(s)
		} else {
			w.WriteString(s)
			w.WriteString(pad)
		}
		w.WriteByte(' ')
	}
	w.WriteString("|\n")
}

// printVertical prints one line a column, as \G asks for.
func printVertical(w *bufio.Writer, cols []column, next rowSource) (int, error) {
	width := 0
	for _, c := range cols {
		width = max(width, cellWidth.StringWidth(printable(c.name)))
	}
	for n := 0; ; n++ {
		row, ok, err := next()
		if !ok || err != nil {
			return n, err
		}
		stars := strings.Repeat("*", 27)
		fmt.Fprintf(w, "%s %d. row %s\n", stars, n+1, stars)
		for i, c := range cols {
			name := printable(c.name)
			fmt.Fprintf(w, "%s%s: %s\n", strings.Repeat(" ", width-cellWidth.StringWidth(name)), name, c.display(row[i]))
		}
	}
}

// batchEscaper is what mysql --batch does to cells.
var batchEscaper = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\x00", `\0`)

// printBatch prints tab-separated lines with the names first.
func printBatch(w *bufio.Writer, cols []column, next rowSource) (int, error) {
	for i, c := range cols {
		if i > 0 {
			w.WriteByte('\t')
		}
		w.WriteString(batchEscaper.Replace(c.name))
	}
	w.WriteByte('\n')
	for n := 0; ; n++ {
		row, ok, err := next()
		if !ok || err != nil {
			return n, err
		}
		for i, v := range row {
			if i > 0 {
				w.WriteByte('\t')
			}
			if v.null {
				w.WriteString("NULL")
			} else {
				w.WriteString(batchEscaper.Replace(v.text))
			}
		}
		w.WriteByte('\n')
	}
}

// rowsLine is the line below a result.
func rowsLine(n int, d time.Duration) string {
	secs := fmt.Sprintf("(%.2f sec)", d.Seconds())
	switch n {
	case 0:
		return "Empty set " + secs
	case 1:
		return "1 row in set " + secs
	}
	return fmt.Sprintf("%d rows in set %s", n, secs)
}

// okLine is the line below a statement without result.
func okLine(affected int64, d time.Duration) string {
	noun := "rows"
	if affected == 1 {
		noun = "row"
	}
	return fmt.Sprintf("Query OK, %d %s affected (%.2f sec)", affected, noun, d.Seconds())
}
