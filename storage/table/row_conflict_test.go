package table_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/table"
)

// removeCases are the ways in which rows are removed.
var removeCases = []struct {
	name string
	opts []string
}{
	{"vectors", []string{"deletion-vectors.enabled", "true"}},
	{"bucket-vectors", []string{"deletion-vectors.enabled", "true", "bucket", "1", "bucket-key", "k"}},
	{"rewritten", nil},
	{"bucket-rewritten", []string{"bucket", "1", "bucket-key", "k"}},
	{"tracked", []string{"row-tracking.enabled", "true"}},
}

// TestRemoveConflicts lets others change a table between a statement's reading and its commit, and right before its snapshot is published.
func TestRemoveConflicts(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	n := 0
	for _, c := range removeCases {
		for _, x := range []struct {
			name     string
			other    func(l *lake)
			conflict bool
			// rows are there after a statement that removed 1 and made 2 to 22.
			rows []string
		}{
			{"append", func(l *lake) { l.insert("t", "9") }, false, []string{"22", "3", "4", "5", "6", "9"}},
			{"same file", func(l *lake) { l.change("t", removes("3")) }, true, []string{"1", "2", "4", "5", "6"}},
			{"same row", func(l *lake) { l.change("t", removes("1")) }, true, []string{"2", "3", "4", "5", "6"}},
			{"same file, more rows", func(l *lake) { l.change("t", removes("2", "3")) }, true, []string{"1", "4", "5", "6"}},
			{"whole file", func(l *lake) { l.change("t", removes("1", "2", "3")) }, true, []string{"4", "5", "6"}},
			{"other file", func(l *lake) { l.change("t", removes("4")) }, false, []string{"22", "3", "5", "6"}},
			{"other files", func(l *lake) { l.change("t", removes("4", "6")) }, false, []string{"22", "3", "5"}},
			{"update of another file", func(l *lake) {
				l.change("t", func(row string) (bool, string) { return row != "5", "55" })
			}, false, []string{"22", "3", "4", "55", "6"}},
			{"compaction", func(l *lake) {
				l.compact("t", table.CompactOptions{Full: true, Options: map[string]string{"compaction.force-rewrite-all-files": "true"}})
			}, true, []string{"1", "2", "3", "4", "5", "6"}},
			{"truncate", func(l *lake) {
				if _, err := l.committer("t").Truncate(ctx); err != nil {
					l.t.Error(err)
				}
			}, true, nil},
			{"overwrite", func(l *lake) { l.overwrite("t", relation.SinkOptions{}, "8") }, true, []string{"8"}},
		} {
			for _, moment := range []string{"read", "commit"} {
				for _, vectors := range []bool{false, true} {
					if vectors && !slices.Contains(c.opts, "deletion-vectors.enabled") {
						continue
					}
					if n++; underRace && n%raceThin != 0 {
						continue
					}
					t.Run(fmt.Sprintf("%s/%s/%s/%v", c.name, x.name, moment, vectors), func(t *testing.T) {
						t.Parallel()
						mem := fileio.NewMemory()
						intruder := &intruding{FileIO: mem}
						l, other := openLake(t, mem, intruder), openLake(t, mem, mem)
						l.create("t", "k INT", "", "", append([]string{"write-only", "true", "commit.min-retry-wait", "1 ms", "commit.max-retry-wait", "1 ms"}, c.opts...)...)
						l.insert("t", "0", "1", "2", "3")
						l.insert("t", "4", "5", "50", "51")
						l.insert("t", "6", "60")
						gone := []string{"0", "60"}
						if !vectors {
							gone = nil
						}
						// Without, the table has no vectors yet; with, there is one index file of several.
						l.change("t", removes(gone...))
						rest := append([]string{"50", "51"}, map[bool][]string{false: {"0", "60"}}[vectors]...)
						if x.name == "truncate" || x.name == "overwrite" {
							rest = nil
						}
						p, err := l.beginChange(ctx, "t", func(row string) (bool, string) {
							return row != "1" && row != "2", map[string]string{"2": "22"}[row]
						})
						if err != nil {
							t.Fatal(err)
						}
						var seen []string
						meet := func() { x.other(other); seen = other.files("/lake/default.db/t") }
						if moment == "read" {
							meet()
						} else {
							intruder.before = meet
						}
						done, err := p.sink.Commit(ctx)
						switch {
						case seen == nil:
							t.Fatal("nobody came between")
						case x.conflict && !errs.Is(err, errs.Conflict):
							t.Fatalf("%+v, %v", done, err)
						case !x.conflict && err != nil:
							t.Fatal(err)
						}
						want := append(slices.Clone(x.rows), rest...)
						other.expect("t", want...)
						vectorsHaveFiles(t, other)
						other.noLeftovers("t")
						// The statement works when it is begun anew.
						l.change("t", removes("1", "8", "50"))
						other.expect("t", slices.DeleteFunc(want, func(row string) bool { return row == "1" || row == "8" || row == "50" })...)
						vectorsHaveFiles(t, other)
						other.noLeftovers("t")
					})
				}
			}
		}
	}
}

// noLeftovers fails where there is a data or index file that no snapshot names.
func (l *lake) noLeftovers(name string) {
	l.t.Helper()
	ctx := context.Background()
	tb := l.open(name)
	named := map[string]bool{}
	ids, err := tb.Snapshots().IDs(ctx)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, id := range ids {
		s, err := tb.Snapshots().Get(ctx, id)
		if err != nil {
			l.t.Fatal(err)
		}
		err = tb.Source().EachEntry(ctx, s, func(_ string, e *manifest.Entry) { named[e.File.Name] = true })
		if err != nil {
			l.t.Fatal(err)
		}
		entries, err := tb.Store().ReadIndexManifest(ctx, s.IndexManifest)
		if err != nil {
			l.t.Fatal(err)
		}
		for _, e := range entries {
			named[e.Name] = true
		}
	}
	for _, p := range l.files(tb.Dir()) {
		at := p[strings.LastIndexByte(p, '/')+1:]
		if (strings.Contains(p, "/bucket-") || strings.Contains(p, "/index/")) && !named[strings.TrimSuffix(at, ".index")] {
			l.t.Fatalf("file %s is left over", p)
		}
	}
}

// TestRemoveFaults fails every file operation of a removal once, before and after it took effect: the table
// then holds the rows of before or of after, and a failed statement leaves no files.
func TestRemoveFaults(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	before := []string{"1|a|1", "2|b|1", "3|c|2", "4|d|1", "5|e|3"}
	change := func(row string) (bool, string) {
		switch row {
		case "2|b|1":
			return false, "2|x|2"
		case "3|c|2", "4|d|1":
			return false, ""
		}
		return true, ""
	}
	want := []string{"1|a|1", "2|x|2", "5|e|3"}
	for _, c := range removeCases {
		if underRace && c.name != "vectors" && c.name != "rewritten" {
			continue
		}
		step := 1
		if underRace {
			step = raceThin
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			start := fileio.NewMemory()
			l := openLake(t, start, start)
			l.create("t", "k INT; v STRING; p INT", "", "p", append([]string{"write-only", "true", "commit.min-retry-wait", "1 ms", "commit.max-retry-wait", "1 ms", "file-index.bitmap.columns", "v", "file-index.in-manifest-threshold", "1 b"}, c.opts...)...)
			l.insert("t", before[:3]...)
			l.insert("t", append(before[3:], "6|f|1")...)
			l.change("t", removes("6|f|1"))
			for _, after := range []bool{false, true} {
				for nth := 1; ; nth += step {
					mem := start.Clone()
					l := openLake(t, mem, mem)
					faulty := fileio.NewFaulty(mem)
					f := openLake(t, mem, faulty)
					faulty.Inject(fileio.Fault{Nth: nth, After: after})
					_, err := f.tryChange(ctx, "t", change)
					count := faulty.Count(fileio.AnyOp)
					got := l.rows("t")
					isBefore, isAfter := slices.Equal(got, before), slices.Equal(got, want)
					switch {
					case !isBefore && !isAfter:
						t.Fatalf("operation %d (after=%v): the table holds %v (error %v)", nth, after, got, err)
					case err == nil && !isAfter:
						t.Fatalf("operation %d (after=%v): success, but the rows are %v", nth, after, got)
					case err != nil && isAfter && !errs.Is(err, errs.Uncertain):
						t.Fatalf("operation %d (after=%v): the rows are changed in spite of the error %v", nth, after, err)
					case err != nil && errs.ClassOf(err) != errs.Unknown && !errs.Is(err, errs.Uncertain):
						t.Fatalf("operation %d (after=%v): a failing disk counts as %s: %v", nth, after, errs.ClassOf(err), err)
					}
					if !errs.Is(err, errs.Uncertain) || isAfter {
						l.noLeftovers("t")
					}
					vectorsHaveFiles(t, l)
					// The next statement finds everything in order.
					if err != nil && isBefore {
						faulty.Clear()
						if _, err := f.tryChange(ctx, "t", change); err != nil {
							t.Fatalf("operation %d (after=%v): repeated: %v", nth, after, err)
						}
						l.expect("t", want...)
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

// TestRemoveCancelled ends the context at every file operation: nothing is changed then, or everything.
func TestRemoveCancelled(t *testing.T) {
	t.Parallel()
	for _, c := range removeCases[:3] {
		if underRace && c.name != "vectors" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			start := fileio.NewMemory()
			l := openLake(t, start, start)
			l.create("t", "k INT", "", "", append([]string{"write-only", "true"}, c.opts...)...)
			l.insert("t", "1", "2", "3")
			l.insert("t", "4", "5")
			for nth := 1; ; nth++ {
				mem := start.Clone()
				l := openLake(t, mem, mem)
				faulty := fileio.NewFaulty(mem)
				f := openLake(t, mem, faulty)
				ctx, cancel := context.WithCancel(context.Background())
				faulty.Inject(fileio.Fault{Nth: nth, Do: func(context.Context, string) { cancel() }})
				_, err := f.tryChange(ctx, "t", func(row string) (bool, string) { return row != "1" && row != "4", map[string]string{"4": "44"}[row] })
				cancel()
				switch {
				case err == nil:
					l.expect("t", "2", "3", "44", "5")
				case !errs.Is(err, errs.Uncertain):
					l.expect("t", "1", "2", "3", "4", "5")
				}
				if !errs.Is(err, errs.Uncertain) {
					l.noLeftovers("t")
				}
				if nth > faulty.Count(fileio.AnyOp) {
					if err != nil {
						t.Fatal(err)
					}
					break
				}
			}
		})
	}
}
