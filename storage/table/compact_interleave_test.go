package table_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/maintain"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/table"
)

// deed is what one of two processes does to table t.
type deed struct {
	name string
	// expires says that old snapshots go, and their changelogs with them.
	expires bool
	run     func(l *lake) error
}

func insertDeed(rows ...string) deed {
	return deed{name: "insert", run: func(l *lake) error {
		_, err := l.tryInsert(context.Background(), "t", relation.SinkOptions{}, rows...)
		return err
	}}
}

func overwriteDeed(rows ...string) deed {
	return deed{name: "overwrite", run: func(l *lake) error {
		_, err := l.tryInsert(context.Background(), "t", relation.SinkOptions{Overwrite: true}, rows...)
		return err
	}}
}

func compactDeed(name string, full bool) deed {
	return deed{name: name, run: func(l *lake) error {
		tb, err := table.Open(context.Background(), l.env, "default", "t", table.OpenOptions{})
		if err != nil {
			return err
		}
		_, err = tb.Compact(context.Background(), table.CompactOptions{Full: full})
		return err
	}}
}

// expireDeed leaves the newest snapshot only.
var expireDeed = deed{name: "expire", expires: true, run: func(l *lake) error {
	one := 1
	_, err := maintain.New(maintain.Target{FIO: l.fio, Dir: "/lake/default.db/t", Label: "default.t"}).
		ExpireSnapshots(context.Background(), maintain.ExpireOptions{RetainMax: &one, RetainMin: &one})
	return err
}}

// inTurn does several things.
func inTurn(parts ...deed) deed {
	var out deed
	var names []string
	for _, p := range parts {
		names, out.expires = append(names, p.name), out.expires || p.expires
	}
	out.name = strings.Join(names, "+")
	out.run = func(l *lake) error {
		for _, p := range parts {
			if err := p.run(l); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
		return nil
	}
	return out
}

const (
	// scheduleTail is the number of the last file operations of a deed, which publish it; of these, and of those before, the places
	// to interrupt are one in so many, which differ from pair to pair.
	scheduleTail     = 24
	scheduleTailThin = 12
	scheduleThin     = 97
	// scheduleRaceThin is of how many of these places the race detector sees one.
	scheduleRaceThin = 5
)

// TestCompactInterleavings lets another process do something between any two file operations of a compaction, an INSERT with the
// compaction after it, or an OVERWRITE. Each succeeds; the rows are those of one after the other in either order;
// the changelog tells the same; and there is no vector without its file, nor a file that nothing names.
func TestCompactInterleavings(t *testing.T) {
	for _, c := range []struct {
		name, primary string
		opts          []string
		changelog     bool
		deletes       bool
	}{
		{"plain", "k,p", []string{"bucket", "1"}, false, true},
		{"vectors", "k,p", []string{"bucket", "1", "deletion-vectors.enabled", "true"}, false, true},
		{"vectors-lookup", "k,p", []string{"bucket", "1", "deletion-vectors.enabled", "true", "changelog-producer", "lookup"}, true, true},
		{"lookup", "k,p", []string{"bucket", "1", "changelog-producer", "lookup"}, true, true},
		{"full", "k,p", []string{"bucket", "1", "changelog-producer", "full-compaction"}, true, true},
		{"first-row", "k,p", []string{"bucket", "1", "merge-engine", "first-row", "changelog-producer", "lookup"}, true, false},
		{"aggregation-vectors", "k,p", []string{"bucket", "1", "merge-engine", "aggregation", "fields.v.aggregate-function", "last_value", "deletion-vectors.enabled", "true"}, false, false},
		{"dynamic-vectors", "k,p", []string{"deletion-vectors.enabled", "true", "changelog-producer", "lookup"}, true, true},
		{"append", "", []string{"bucket", "1", "bucket-key", "k", "compaction.min.file-num", "3"}, false, false},
		{"unaware", "", []string{"compaction.min.file-num", "2"}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			start := fileio.NewMemory()
			l := openLake(t, start, start)
			l.create("t", "k STRING NOT NULL; p INT NOT NULL; v STRING", c.primary, "p",
				append([]string{"num-sorted-run.compaction-trigger", "3", "commit.min-retry-wait", "1 ms", "commit.max-retry-wait", "1 ms"}, c.opts...)...)
			// Two levels of a bucket, one much smaller than the one above: new rows go to the level below, and leave both as they are.
			rnd := rand.New(rand.NewSource(int64(len(c.name))))
			noise := func() string { return fmt.Sprintf("%016x%016x", rnd.Uint64(), rnd.Uint64()) }
			next := 0
			rows := func(n int) (out []string) {
				for range n {
					out = append(out, fmt.Sprintf("k%03d|1|%s", next, noise()))
					next++
				}
				return out
			}
			l.insert("t", append(rows(300), "over-1|3|old", "over-2|3|old", "a|2|old")...)
			l.insert("t", rows(40)...)
			if c.primary == "" {
				l.insert("t", rows(3)...)
			}
			change := func(who int) []string {
				out := []string{fmt.Sprintf("k%03d|1|mine%d", 10+who, who), fmt.Sprintf("k%03d|1|mine%d", 305+who, who), fmt.Sprintf("k%03d|1|mine%d", 337, who),
					fmt.Sprintf("new%d|1|mine%d", who, who), fmt.Sprintf("over-1|3|mine%d", who), fmt.Sprintf("a|2|mine%d", who)}
				if c.deletes {
					out = append(out, fmt.Sprintf("-D k%03d|1|gone", 20+who), fmt.Sprintf("-D k%03d|1|gone", 310+who))
				}
				return out
			}
			fresh := start.Clone()
			quiet := relation.SinkOptions{Options: map[string]string{"write-only": "true"}}
			if _, err := openLake(t, fresh, fresh).tryInsert(context.Background(), "t", quiet, "k001|1|fresh", "k302|1|fresh", "over-2|3|fresh"); err != nil {
				t.Fatal(err)
			}
			full, minor := compactDeed("full", true), compactDeed("minor", false)
			over := func(who int) deed { return overwriteDeed(fmt.Sprintf("over-1|3|over%d", who)) }
			first := []deed{full, minor, insertDeed(change(0)...), over(0)}
			insert := insertDeed(change(1)...)
			second := []deed{full, insert, over(1), expireDeed, inTurn(insert, full, expireDeed), inTurn(over(1), insert, expireDeed)}
			runs, pair := 0, 0
			for b, base := range []struct {
				name string
				mem  *fileio.Memory
			}{{"settled", start}, {"fresh", fresh}} {
				for _, x := range first {
					for _, y := range second {
						s := &schedule{t: t, base: base.mem, x: x, y: y, changelog: c.changelog, number: pair}
						if pair++; b > 0 && pair%3 != 0 {
							continue // to save time
						}
						s.name = base.name + " " + x.name + "/" + y.name
						runs += s.explore()
						if t.Failed() {
							return
						}
					}
				}
			}
			t.Logf("levels %s: %d schedules", l.levels("t"), runs)
		})
	}
}

// schedule is two deeds on a table.
type schedule struct {
	t         *testing.T
	name      string
	base      *fileio.Memory
	x, y      deed
	changelog bool
	// number sets the places to interrupt.
	number int
}

// serial returns the rows after one deed and then the other.
func (s *schedule) serial(deeds ...deed) string {
	mem := s.base.Clone()
	l := openLake(s.t, mem, mem)
	for _, d := range deeds {
		if err := d.run(l); err != nil {
			s.t.Fatalf("%s: %v", s.name, err)
		}
	}
	return strings.Join(l.rows("t"), "\n")
}

// explore tries the interleavings and returns their number.
func (s *schedule) explore() (runs int) {
	mem := s.base.Clone()
	faulty := fileio.NewFaulty(mem)
	if err := s.x.run(openLake(s.t, mem, faulty)); err != nil {
		s.t.Fatalf("%s: %v", s.name, err)
	}
	n := faulty.Count(fileio.AnyOp)
	var want, compacted []string
	full := compactDeed("full", true)
	for at := 1; at <= n; at++ {
		thin := scheduleThin
		if at > n-scheduleTail {
			thin = scheduleTailThin
		}
		if underRace {
			thin *= scheduleRaceThin
		}
		if (at+s.number)%thin != 0 {
			continue
		}
		if want == nil {
			want = []string{s.serial(s.x, s.y), s.serial(s.y, s.x)}
			// Rows that wait for a compaction come to light, in buckets that the deeds do not touch.
			compacted = []string{s.serial(s.x, s.y, full), s.serial(s.y, s.x, full)}
		}
		s.try(at, want, compacted)
		runs++
	}
	return runs
}

// try does the second deed before the n-th file operation of the first one.
func (s *schedule) try(n int, want, compacted []string) {
	t := s.t
	mem := s.base.Clone()
	faulty := fileio.NewFaulty(mem)
	other := openLake(t, mem, mem)
	what, done := "", errors.New("it was not tried")
	faulty.Inject(fileio.Fault{Nth: n, Do: func(_ context.Context, path string) {
		what = fmt.Sprintf("%s before operation %d (%s)", s.name, n, strings.TrimPrefix(path, "/lake/default.db/"))
		done = s.y.run(other)
	}})
	if err := s.x.run(openLake(t, mem, faulty)); err != nil {
		t.Errorf("%s: the first one: %v", what, err)
		return
	}
	if done != nil {
		t.Errorf("%s: the second one: %v", what, done)
		return
	}
	l := openLake(t, mem, mem)
	if s.check(l, what, want); t.Failed() {
		return
	}
	if err := compactDeed("", true).run(l); err != nil {
		t.Errorf("%s: compaction afterwards: %v", what, err)
		return
	}
	// The changelog tells what is compacted.
	if got := s.check(l, what+", compacted", compacted); s.changelog && !s.x.expires && !s.y.expires && !t.Failed() {
		s.replay(l, what, got)
	}
}

// replay compares what the changelog tells with the rows.
func (s *schedule) replay(l *lake, what string, got []string) {
	log := &replayed{l: l, name: "t", rows: map[string]string{}, lenient: true}
	log.follow()
	// OVERWRITE is no part of a changelog.
	over := func(r string) bool { return strings.HasPrefix(r, "over-") }
	told, there := slices.DeleteFunc(log.texts(), over), slices.DeleteFunc(got, over)
	if a, b := sorted(told), sorted(there); a != b {
		s.t.Errorf("%s: the changelog and the table differ by %v", what, difference(a, b))
	}
}

// check demands rows of one of the texts, and files that fit together, and returns the rows.
func (s *schedule) check(l *lake, what string, want []string) []string {
	t := s.t
	got := l.rows("t")
	if text := strings.Join(got, "\n"); !slices.Contains(want, text) {
		t.Errorf("%s: the rows differ from those of one after the other by %v and %v", what, difference(want[0], text), difference(want[1], text))
		return got
	}
	vectorsHaveFiles(t, l)
	later := time.Now().Add(2 * time.Hour)
	limit := later.Add(-time.Hour)
	m := maintain.New(maintain.Target{FIO: l.mem, Dir: "/lake/default.db/t", Label: "default.t", Clock: func() time.Time { return later }})
	o, err := m.RemoveOrphanFiles(context.Background(), maintain.OrphanOptions{OlderThan: &limit, DryRun: true})
	if err != nil || len(o.Paths) > 0 {
		t.Errorf("%s: files without a name: %v, %v", what, o.Paths, err)
	}
	return got
}

// difference lists the lines of one text only.
func difference(a, b string) (out []string) {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for _, l := range x {
		if !slices.Contains(y, l) {
			out = append(out, "-"+l)
		}
	}
	for _, l := range y {
		if !slices.Contains(x, l) {
			out = append(out, "+"+l)
		}
	}
	if len(out) == 0 && len(x) != len(y) {
		out = append(out, fmt.Sprintf("%d rows and %d", len(x), len(y)))
	}
	return out
}
