package runner

import (
	"fmt"
	"slices"
	"strings"
)

// maxDiffLines bounds the rows shown of a difference.
const maxDiffLines = 20

// compareRows returns "" when the rows are what the record wants, else a
// readable difference: lines with '-' are wanted and missing, with '+' came
// instead.
func compareRows(rec *Record, got [][]cell) string {
	if rec.RowSort {
		return compareUnordered(rec, got)
	}
	return compareOrdered(rec, got)
}

func rowMatches(rec *Record, want []string, got []cell) bool {
	for i := range want {
		if !got[i].matches(want[i], rec.Types[i]) {
			return false
		}
	}
	return true
}

func compareOrdered(rec *Record, got [][]cell) string {
	n := min(len(rec.Want), len(got))
	head := 0
	for head < n && rowMatches(rec, rec.Want[head], got[head]) {
		head++
	}
	if head == len(rec.Want) && head == len(got) {
		return ""
	}
	tail := 0
	for tail < n-head && rowMatches(rec, rec.Want[len(rec.Want)-1-tail], got[len(got)-1-tail]) {
		tail++
	}
	want, have := rec.Want[head:len(rec.Want)-tail], got[head:len(got)-tail]
	d := newDiff(rec, len(got))
	if len(want) == len(have) {
		// Same number of rows: show them in pairs, only those that differ.
		for i := range want {
			if !rowMatches(rec, want[i], have[i]) {
				d.note(fmt.Sprintf("row %d", head+i+1))
				d.want(want[i])
				d.got(have[i])
			}
		}
		return d.String()
	}
	d.note(fmt.Sprintf("from row %d", head+1))
	for _, w := range want {
		d.want(w)
	}
	for _, g := range have {
		d.got(g)
	}
	return d.String()
}

func compareUnordered(rec *Record, got [][]cell) string {
	type row struct {
		cells []cell
		key   string
	}
	rows := make([]row, len(got))
	for i, g := range got {
		rows[i] = row{g, printRow(rec, g)}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return strings.Compare(a.key, b.key) })
	want := make([][]string, len(rec.Want))
	copy(want, rec.Want)
	slices.SortStableFunc(want, func(a, b []string) int {
		return strings.Compare(strings.Join(a, "\t"), strings.Join(b, "\t"))
	})
	if len(want) == len(rows) {
		same := true
		for i := range want {
			if !rowMatches(rec, want[i], rows[i].cells) {
				same = false
				break
			}
		}
		if same {
			return ""
		}
	}
	// Doubles and JSON may be written differently and so sort differently:
	// give each wanted row a row of its own that matches.
	used := make([]bool, len(rows))
	var missing [][]string
	from := 0 // rows before it are used
	for _, w := range want {
		for from < len(rows) && used[from] {
			from++
		}
		found := false
		for i := from; i < len(rows); i++ {
			if !used[i] && rowMatches(rec, w, rows[i].cells) {
				used[i], found = true, true
				break
			}
		}
		if !found {
			missing = append(missing, w)
		}
	}
	if len(missing) == 0 && len(want) == len(rows) {
		return ""
	}
	d := newDiff(rec, len(got))
	for _, w := range missing {
		d.want(w)
	}
	for i, r := range rows {
		if !used[i] {
			d.got(r.cells)
		}
	}
	return d.String()
}

func printRow(rec *Record, row []cell) string {
	parts := make([]string, len(row))
	for i, c := range row {
		parts[i] = c.print(rec.Types[i])
	}
	return strings.Join(parts, "\t")
}

// diff collects a bounded difference.
type diff struct {
	rec   *Record
	b     strings.Builder
	lines int
	cut   int
}

func newDiff(rec *Record, got int) *diff {
	d := &diff{rec: rec}
	if got != len(rec.Want) {
		fmt.Fprintf(&d.b, "rows: want %d, got %d\n", len(rec.Want), got)
	} else {
		fmt.Fprintf(&d.b, "rows differ (%d rows)\n", got)
	}
	return d
}

func (d *diff) note(s string) { d.add("@ " + s) }

func (d *diff) want(row []string) { d.add("- " + strings.Join(row, "\t")) }

func (d *diff) got(row []cell) { d.add("+ " + printRow(d.rec, row)) }

func (d *diff) add(line string) {
	if d.lines >= maxDiffLines {
		d.cut++
		return
	}
	d.lines++
	d.b.WriteString(line)
	d.b.WriteByte('\n')
}

func (d *diff) String() string {
	if d.cut > 0 {
		fmt.Fprintf(&d.b, "… %d more lines\n", d.cut)
	}
	return strings.TrimRight(d.b.String(), "\n")
}
