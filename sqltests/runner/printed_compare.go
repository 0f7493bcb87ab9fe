package runner

import (
	"fmt"
	"strings"
)

// ComparePrinted compares rows that another program printed with what the
// record wants and returns the difference, "" when there is none. A row is one
// line: cells separated by tabs, escaped as in scripts, \N or NULL for null,
// bytes in upper-case hex. Whether a number is a double cannot be seen from its
// text; it passes when it is equal by either rule.
func ComparePrinted(rec *Record, lines []string) string {
	rows := make([][]cell, len(lines))
	for i, line := range lines {
		parts := strings.Split(line, "\t")
		if len(parts) != len(rec.Types) {
			return fmt.Sprintf("row %d: want %d columns (%s), got %d: %s", i+1, len(rec.Types), rec.Types, len(parts), clip(line, 200))
		}
		row := make([]cell, len(parts))
		for j, p := range parts {
			row[j] = printedCell(p, rec.Types[j])
		}
		rows[i] = row
	}
	return compareRows(rec, rows)
}

func printedCell(s string, typ byte) cell {
	if s == `\N` || s == nullText {
		return cell{null: true}
	}
	if s == emptyText {
		s = ""
	}
	if typ == 'X' {
		s = strings.TrimPrefix(s, "0x") // as the mysql client writes it
	}
	return cell{text: unescape(s), approx: typ == 'R', printed: true}
}
