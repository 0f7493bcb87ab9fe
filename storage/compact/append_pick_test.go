package compact

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/scan"
)

// appendFile reads `size[/deleted@indexfile]`: a file of 100 rows.
func appendFile(t *testing.T, i int, text string) *scan.File {
	t.Helper()
	var size, deleted int64
	var in string
	f := &scan.File{Meta: &manifest.DataFile{Name: fmt.Sprint(i), RowCount: 100, MinSequence: int64(100 * i)}}
	if n, _ := fmt.Sscanf(text, "%d/%d@%s", &size, &deleted, &in); n == 3 {
		f.Vector = &scan.VectorRef{Path: in, Range: manifest.VectorRange{Cardinality: &deleted}}
		if deleted < 0 {
			f.Vector.Range.Cardinality = nil
		}
	}
	f.Meta.Size = size
	return f
}

// TestAppendPick shows which files are rewritten together: target size 100, small below 70, opening costs 4.
func TestAppendPick(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, files, want string
		bucket, full      bool
		set               func(*appendOptions)
	}{
		{"few small files", "1 1 1 1", "", false, true, nil},
		{"enough small files", "1 1 80 1 1 1", "0 1 3 4 5", false, false, nil},
		{"enough bytes", "60 60 60 60 60 60 60", "0 1 2 3", false, false, nil},
		{"one bin and a rest", "60 60 60 60 1 1 1 1 1", "0 1 2 3|4 5 6 7 8", false, true, nil},
		{"big ones only", "70 80 90 100 200", "", false, true, nil},
		{"all, by option", "70 80 90 100 200", "0 1 2|3 4", false, true, func(o *appendOptions) { o.rewriteAll = true }},
		{"all, not in a minor compaction", "70 80 90 100 200", "", false, false, func(o *appendOptions) { o.rewriteAll = true }},
		{"a lone small file", "1", "", false, true, func(o *appendOptions) { o.minFiles = 1 }},
		{"a file with deleted rows", "1 500/30@a 1", "1", false, false, nil},
		{"few deleted rows of a big file", "1 500/20@a 1", "", false, false, nil},
		{"deleted rows of unknown number", "500/-1@a", "0", false, false, nil},
		{"deleted rows of a small file", "1/1@a", "0", false, false, nil},
		{"files of one index file come together", "60/1@a 60/1@b 60/1@a 60/1@b 60/1@a", "1 3|0 2 4", false, false, func(o *appendOptions) { o.target = 64; o.small = 64 }},
		{"vectors and plain files apart", "1/1@a 1 1 1 1 1", "0|1 2 3 4 5", false, false, nil},
		{"a limit of files, the rest goes on", "1 1 1 1 1 1 1", "0 1 2 3 4 5", false, false, func(o *appendOptions) { o.maxFiles = 3 }},

		{"bucket: too few", "1 1 1 1", "", true, false, nil},
		{"bucket: a window", "1 1 1 1 1 1", "0 1 2 3 4", true, false, nil},
		{"bucket: big files leave the window", "150 60 1 1 1 1", "1 2 3 4 5", true, false, nil},
		{"bucket: a huge file alone", "500 1 1 500 1 1 1 1 1", "4 5 6 7 8", true, false, nil},
		{"bucket, full: two files", "1 1", "", true, true, nil},
		{"bucket, full: three files", "1 1 1", "0 1 2", true, true, nil},
		{"bucket, full: big ones in front stay", "100 120 1 1 1", "2 3 4", true, true, nil},
		{"bucket, full: more big ones than small", "1 100 100", "", true, true, nil},
		{"bucket, full: deleted rows of a big one", "100 100/1@a 100", "1 2", true, true, func(o *appendOptions) { o.vectors = true }},
		{"bucket, full, vectors: few files", "1 1", "0 1", true, true, func(o *appendOptions) { o.vectors = true }},
		{"bucket, full, vectors: one clean file", "1", "", true, true, func(o *appendOptions) { o.vectors = true }},
		{"bucket, full, vectors: one file", "1/1@a", "0", true, true, func(o *appendOptions) { o.vectors = true }},
		{"bucket, full: all by option", "100 100", "0 1", true, true, func(o *appendOptions) { o.rewriteAll = true }},
	} {
		o := &appendOptions{unaware: !c.bucket, target: 100, small: 70, openCost: 4, minFiles: 5, maxFiles: 1000, deleteRatio: 0.2}
		if c.set != nil {
			c.set(o)
		}
		var files []*scan.File
		for i, text := range strings.Fields(c.files) {
			files = append(files, appendFile(t, i, text))
		}
		var got []string
		for _, u := range o.pick(files, c.full) {
			var names []string
			for _, f := range u {
				names = append(names, f.Meta.Name)
			}
			got = append(got, strings.Join(names, " "))
		}
		if s := strings.Join(got, "|"); s != c.want {
			t.Errorf("%s: %q was picked, want %q", c.name, s, c.want)
		}
	}
}
