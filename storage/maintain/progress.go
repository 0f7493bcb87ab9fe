package maintain

import "strconv"

// progress tells whoever listens that done of total parts of the work are over.
func (t *Table) progress(what string, done, total int) {
	if t.t.Progress != nil && total > 1 {
		t.t.Progress(what + " " + strconv.Itoa(done) + "/" + strconv.Itoa(total))
	}
}
