package table_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/sqltests/golden"
	"github.com/tributarydb/tributary/storage/catalog"
	"github.com/tributarydb/tributary/storage/compact"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/table"
)

// openGolden opens a copy of a golden warehouse.
func openGolden(t *testing.T, name string) *lake {
	t.Helper()
	root, err := golden.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := golden.Unpack(filepath.Join(root, name, golden.ArchiveName), dir); err != nil {
		t.Fatal(err)
	}
	return openDir(t, dir)
}

// openDir opens a warehouse on disk.
func openDir(t *testing.T, dir string) *lake {
	t.Helper()
	fio := fileio.NewLocal()
	l := &lake{t: t, fio: fio, cat: catalog.NewFilesystem(fio, dir, &schema.Cache{})}
	l.env = table.NewEnv(fio, l.cat, nil)
	l.env.Writing.TempDir = t.TempDir()
	return l
}

// TestSortGolden sorts tables that Apache Paimon has sorted: the rows come in the same order again,
// with all rows in memory or in many runs.
func TestSortGolden(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		table string
		sort  compact.Sort
		// shown are the positions of the columns; rows that are equal in them come in any order.
		shown []int
	}{
		{"c_order", compact.Sort{Strategy: compact.SortOrder, Columns: []string{"dt", "name"}}, []int{1, 4}},
		{"c_zorder", compact.Sort{Strategy: compact.SortZOrder, Columns: []string{"id", "v"}}, []int{0, 2}},
		{"c_hilbert", compact.Sort{Strategy: compact.SortHilbert, Columns: []string{"id", "d"}}, []int{0, 3}},
	} {
		shown := func(rows []string) (out []string) {
			for _, r := range rows {
				cells := strings.Split(r, "|")
				out = append(out, cells[c.shown[0]]+"|"+cells[c.shown[1]])
			}
			return out
		}
		l := openGolden(t, "append-compacted")
		want := l.ordered(c.table)
		for _, buffer := range []string{"256 mb", "1 kb"} {
			// Another order first, so that nothing is there already.
			l.compact(c.table, table.CompactOptions{Sort: &compact.Sort{Strategy: compact.SortOrder, Columns: []string{"d", "id"}}})
			if got := l.ordered(c.table); slices.Equal(shown(got), shown(want)) {
				t.Fatalf("table %s is not in another order", c.table)
			}
			l.compact(c.table, table.CompactOptions{Sort: &c.sort, Options: map[string]string{"write-buffer-size": buffer}})
			got := l.ordered(c.table)
			if !slices.Equal(shown(got), shown(want)) {
				t.Errorf("table %s was\n%v\nand is\n%v", c.table, want, got)
			}
			l.expect(c.table, slices.Clone(want)...)
		}
	}
}

// TestSortRefusals lists what cannot be sorted.
func TestSortRefusals(t *testing.T) {
	t.Parallel()
	l := newLake(t)
	l.create("t", "a INT; b STRING; m MAP<STRING, INT>", "", "")
	l.create("pk", "a INT NOT NULL", "a", "")
	l.create("bu", "a INT", "", "", "bucket", "1", "bucket-key", "a")
	for _, name := range []string{"t", "pk", "bu"} {
		l.insert(name, map[string]string{"t": "1|x|{}", "pk": "1", "bu": "1"}[name])
	}
	for _, c := range []struct{ table, strategy, columns, want string }{
		{"pk", "order", "a", "Sort Compact only supports bucket=-1 yet."},
		{"bu", "order", "a", "Sort Compact only supports bucket=-1 yet."},
		{"t", "foo", "a", "cannot match type: foo for ordering"},
		{"t", "order", "q", "Can't find column q in table columns. Possible columns are [a,b,m]."},
		{"t", "order", "", "order column names should not be empty."},
		{"t", "hilbert", "a", "Hilbert sort needs at least two columns."},
		{"t", "zorder", "a,m", "cannot be sorted by column 'm'"},
	} {
		sort := &compact.Sort{Strategy: c.strategy}
		if c.columns != "" {
			sort.Columns = strings.Split(c.columns, ",")
		}
		_, err := l.open(c.table).Compact(context.Background(), table.CompactOptions{Sort: sort})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
