package table_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/relation"
)

// TestSinkFaults fails every file operation of a statement once, before and
// after it took effect: the table then holds the rows of before or of after, never
// others; a failed statement leaves no data files; and the next statement works.
func TestSinkFaults(t *testing.T) {
	ctx := context.Background()
	before := []string{"1|a|1", "2|b|1", "3|c|2"}
	change := []string{"+U 1|x|1", "-D 2|b|1", "4|d|2", "5|e|3"}
	for _, c := range []struct {
		name, pk, part string
		opts           []string
		overwrite      bool
		rows, after    []string
	}{
		{"append", "", "p", nil, false, []string{"4|d|2", "5|e|3"}, append(slices.Clone(before), "4|d|2", "5|e|3")},
		{"keyed", "k,p", "p", []string{"bucket", "2", "changelog-producer", "input"}, false, change, []string{"1|x|1", "3|c|2", "4|d|2", "5|e|3"}},
		{"dynamic", "k,p", "p", nil, false, change, []string{"1|x|1", "3|c|2", "4|d|2", "5|e|3"}},
		{"cross", "k", "p", nil, false, []string{"1|x|2", "4|d|2"}, []string{"1|x|2", "2|b|1", "3|c|2", "4|d|2"}},
		{"indexed", "k,p", "p", []string{"bucket", "1", "changelog-producer", "input", "file-index.bitmap.columns", "v", "file-index.in-manifest-threshold", "1 b"}, false, change, []string{"1|x|1", "3|c|2", "4|d|2", "5|e|3"}},
		{"overwrite", "k,p", "p", []string{"bucket", "1"}, true, []string{"9|o|1"}, []string{"9|o|1", "3|c|2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			start := fileio.NewMemory()
			l := openLake(t, start, start)
			l.create("t", "k INT NOT NULL; v STRING; p INT NOT NULL", c.pk, c.part, append([]string{"commit.min-retry-wait", "1 ms", "commit.max-retry-wait", "1 ms"}, c.opts...)...)
			l.insert("t", before...)
			old := l.files("/lake/default.db/t")
			before := slices.Sorted(slices.Values(before))
			slices.Sort(c.after)
			for _, after := range []bool{false, true} {
				for nth := 1; ; nth++ {
					mem := start.Clone()
					l := openLake(t, mem, mem)
					faulty := fileio.NewFaulty(mem)
					f := openLake(t, mem, faulty)
					faulty.Inject(fileio.Fault{Nth: nth, After: after})
					_, err := f.tryInsert(ctx, "t", relation.SinkOptions{Overwrite: c.overwrite}, c.rows...)
					count := faulty.Count(fileio.AnyOp)
					got := l.rows("t")
					isBefore, isAfter := slices.Equal(got, before), slices.Equal(got, c.after)
					switch {
					case !isBefore && !isAfter:
						t.Fatalf("operation %d (after=%v): the table holds %v (error %v)", nth, after, got, err)
					case err == nil && !isAfter:
						t.Fatalf("operation %d (after=%v): success, but the rows are not there", nth, after)
					case err != nil && isAfter && !errs.Is(err, errs.Uncertain):
						t.Fatalf("operation %d (after=%v): the rows are there in spite of the error %v", nth, after, err)
					case err != nil && isBefore:
						for _, p := range l.files("/lake/default.db/t") {
							if (strings.Contains(p, "/bucket-") || strings.Contains(p, "/index/")) && !slices.Contains(old, p) {
								t.Fatalf("operation %d (after=%v): file %s is left over after %v", nth, after, p, err)
							}
						}
					}
					// The next statement finds everything in order.
					if err != nil {
						faulty.Clear()
						if _, err := f.tryInsert(ctx, "t", relation.SinkOptions{Overwrite: c.overwrite}, c.rows...); err != nil {
							t.Fatalf("operation %d (after=%v): repeated: %v", nth, after, err)
						}
						if isBefore {
							l.expect("t", c.after...)
						}
					}
					if nth > count {
						t.Logf("%d operations", count)
						break
					}
				}
			}
		})
	}
}

// TestSinkRefusals lists tables and rows that are refused, and what is said.
func TestSinkRefusals(t *testing.T) {
	ctx := context.Background()
	l := newLake(t)
	cols := "k INT NOT NULL; v STRING; n INT"
	for i, c := range []struct {
		pk   string
		opts []string
		rows []string
		over bool
		want string
	}{
		{"k", []string{"bucket", "1"}, []string{"1|a|1", "NULL|b|1"}, false, "Cannot write null to non-null column(k), row 2"},
		{"", nil, []string{"-D 1|a|1"}, false, "Append only writer can not accept row with RowKind DELETE"},
		{"k", []string{"bucket", "1", "merge-engine", "partial-update"}, []string{"-D 1|a|1"}, false, "Partial update can not accept delete records"},
		{"k", []string{"bucket", "1", "merge-engine", "first-row", "write-only", "true"}, []string{"-D 1|a|1"}, false, "First row merge engine can not accept DELETE/UPDATE_BEFORE records"},
		{"k", []string{"bucket", "1", "merge-engine", "aggregation", "fields.n.aggregate-function", "max"}, []string{"-D 1|a|1"}, false, "column 'n'"},
		{"k", []string{"bucket", "1", "rowkind.field", "v"}, []string{"1|+X|1"}, false, "row 1: column 'v' (option 'rowkind.field') must hold one of"},
		{"k", []string{"bucket", "1", "metadata.iceberg.storage", "table-location"}, []string{"1|a|1"}, false, "metadata.iceberg.storage"},
		{"", []string{"row-tracking.enabled", "true", "data-evolution.enabled", "true"}, []string{"1|a|1"}, false, "data-evolution.enabled"},
		{"k", []string{"bucket", "1", "write.sequence-number-init-mode", "snapshot"}, []string{"1|a|1"}, false, "write.sequence-number-init-mode"},
		{"k", []string{"bucket", "1", "file.format", "lance"}, []string{"1|a|1"}, false, "lance"},
	} {
		name := fmt.Sprintf("t%d", i)
		l.create(name, cols, c.pk, "", c.opts...)
		_, err := l.tryInsert(ctx, name, relation.SinkOptions{Overwrite: c.over}, c.rows...)
		if err == nil || !strings.Contains(err.Error(), c.want) || errs.ClassOf(err) != errs.Invalid && errs.ClassOf(err) != errs.Unsupported {
			t.Errorf("%v: %v (class %v), want %q", c.opts, err, errs.ClassOf(err), c.want)
		}
		for _, p := range l.files("/lake/default.db/" + name) {
			if strings.Contains(p, "/bucket-") {
				t.Errorf("%v: file %s is left over", c.opts, p)
			}
		}
	}
}

// TestBucketChange refuses rows for partitions with another number of buckets; an OVERWRITE gives them the new one.
func TestBucketChange(t *testing.T) {
	l := newLake(t)
	l.create("t", "k INT NOT NULL; p INT NOT NULL", "k,p", "p", "bucket", "2")
	l.insert("t", "1|1", "2|1", "1|2")
	four := relation.SinkOptions{Options: map[string]string{"bucket": "4"}}
	for _, row := range []string{"1|1", "7|1"} { // a new bucket of an old partition as well
		if _, err := l.tryInsert(context.Background(), "t", four, row); err == nil || !strings.Contains(err.Error(), "Try to write table with a new bucket num 4, but the previous bucket num is 2.") {
			t.Fatalf("%s: %v", row, err)
		}
	}
	if _, err := l.tryInsert(context.Background(), "t", four, "1|3"); err != nil {
		t.Fatal(err)
	}
	l.overwrite("t", four, "1|1", "5|1")
	l.expect("t", "1|1", "5|1", "1|2", "1|3")
	l.insert("t", "9|2")
	if _, err := l.tryInsert(context.Background(), "t", four, "6|1"); err != nil {
		t.Fatal(err)
	}
	l.expect("t", "1|1", "5|1", "6|1", "1|2", "9|2", "1|3")
}
