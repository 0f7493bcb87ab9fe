package table_test

import (
	"context"
	"fmt"
	"math/rand"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
	"github.com/tributarydb/tributary/storage/table"
)

// verdict says what a statement does with a row: keep it, remove it, or put another one in its place.
type verdict func(row string) (keep bool, next string)

// pending is a statement that has read and written, and is to be committed.
type pending struct {
	sink relation.Sink
	// gone and fresh are the numbers of rows.
	gone, fresh int
}

// beginChange reads a table and writes what fn says to a sink. Every row to remove is named twice.
func (l *lake) beginChange(ctx context.Context, name string, fn verdict) (*pending, error) {
	tb, err := table.Open(ctx, l.env, "default", name, table.OpenOptions{Positions: true})
	if err != nil {
		return nil, err
	}
	var rows []string
	var fields []schema.Field
	req := relation.Request{}
	for i, f := range tb.Fields() {
		fields = append(fields, f)
		req.Columns = append(req.Columns, i)
	}
	rctx, cancel := context.WithCancel(ctx)
	defer cancel()
	plan, err := tb.Plan(rctx, req)
	if err != nil {
		return nil, err
	}
	for _, m := range plan.Morsels {
		err := eachBatch(rctx, m, func(b *column.Batch) error {
			some, err := printRows(fields, b)
			rows = append(rows, some...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	to, err := l.tryOpen(ctx, name)
	if err != nil {
		return nil, err
	}
	p := &pending{}
	if p.sink, err = to.OpenSink(ctx, relation.SinkOptions{Positions: true, Operation: "DELETE"}); err != nil {
		return nil, err
	}
	var out []string
	for _, row := range rows {
		cells := strings.Split(row, "|")
		n := len(cells) - 2
		keep, next := fn(strings.Join(cells[:n], "|"))
		if keep {
			continue
		}
		p.gone++
		out = append(out, "-D "+row)
		if next != "" {
			p.fresh++
			out = append(out, "+U "+next+"|NULL|NULL", "-U "+row)
		}
	}
	if err = writeRows(ctx, p.sink, out); err == nil {
		err = p.sink.(relation.BasedSink).Based(ctx, tb)
	}
	if err != nil {
		p.sink.Abort()
		return nil, err
	}
	return p, nil
}

func (l *lake) tryOpen(ctx context.Context, name string) (*table.Table, error) {
	return table.Open(ctx, l.env, "default", name, table.OpenOptions{})
}

// tryChange is beginChange and the commit.
func (l *lake) tryChange(ctx context.Context, name string, fn verdict) (relation.Committed, error) {
	p, err := l.beginChange(ctx, name, fn)
	if err != nil {
		return relation.Committed{}, err
	}
	defer p.sink.Abort()
	done, err := p.sink.Commit(ctx)
	if err == nil && done.Rows != int64(p.gone+p.fresh) {
		err = fmt.Errorf("%d rows were taken, %d removed and %d new ones were written", done.Rows, p.gone, p.fresh)
	}
	return done, err
}

func (l *lake) change(name string, fn verdict) relation.Committed {
	l.t.Helper()
	done, err := l.tryChange(context.Background(), name, fn)
	if err != nil {
		l.t.Fatal(err)
	}
	return done
}

// removes is the verdict that removes rows.
func removes(rows ...string) verdict {
	return func(row string) (bool, string) { return !slices.Contains(rows, row), "" }
}

// TestRemoveModel deletes and updates random rows of random tables and compares them with lists of rows.
func TestRemoveModel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		part string
		// ordered says that rows keep their order within their partition.
		ordered bool
		opts    []string
	}{
		{"parquet", "p", false, nil},
		{"orc", "", false, []string{"file.format", "orc", "file-index.bloom-filter.columns", "k"}},
		{"avro", "p", false, []string{"file.format", "avro", "target-file-row-num", "50"}},
		{"small-files", "", false, []string{"target-file-row-num", "11"}},
		{"bucket", "p", true, []string{"bucket", "1", "bucket-key", "k", "target-file-row-num", "23"}},
		{"buckets", "p", false, []string{"bucket", "3", "bucket-key", "k", "file.format", "orc"}},
		{"compacted-bucket", "", false, []string{"bucket", "2", "bucket-key", "k", "compaction.min.file-num", "3", "write-only", "false"}},
		{"tracked", "p", false, []string{"row-tracking.enabled", "true"}},
		{"tracked-orc", "", false, []string{"row-tracking.enabled", "true", "file.format", "orc", "target-file-row-num", "17"}},
		{"tracked-avro", "p", false, []string{"row-tracking.enabled", "true", "file.format", "avro"}},
		{"vectors", "p", true, []string{"deletion-vectors.enabled", "true"}},
		{"vectors-orc", "", true, []string{"deletion-vectors.enabled", "true", "file.format", "orc", "deletion-vectors.bitmap64", "true"}},
		{"vectors-avro", "p", true, []string{"deletion-vectors.enabled", "true", "file.format", "avro", "deletion-vector.index-file.target-size", "50 b", "target-file-row-num", "13"}},
		{"vectors-tracked", "p", true, []string{"deletion-vectors.enabled", "true", "row-tracking.enabled", "true"}},
		{"vectors-buckets", "p", false, []string{"deletion-vectors.enabled", "true", "bucket", "2", "bucket-key", "k"}},
		{"vectors-beside", "", true, []string{"deletion-vectors.enabled", "true", "index-file-in-data-file-dir", "true", "bucket", "1", "bucket-key", "k", "target-file-row-num", "20"}},
		{"toggled", "p", false, []string{"deletion-vectors.enabled", "true", "deletion-vectors.modifiable", "true", "target-file-row-num", "20"}},
		{"toggled-bucket", "", true, []string{"deletion-vectors.enabled", "true", "deletion-vectors.modifiable", "true", "bucket", "1", "bucket-key", "k", "target-file-row-num", "20"}},
	} {
		if underRace && c.name != "vectors-avro" && c.name != "tracked-orc" && c.name != "toggled-bucket" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewSource(int64(len(c.name))))
			l := newLake(t)
			opts := c.opts
			if !slices.Contains(opts, "write-only") {
				opts = append([]string{"write-only", "true"}, opts...)
			}
			l.create("t", "k INT; a STRING; p INT", "", c.part, opts...)
			tracked := slices.Contains(c.opts, "row-tracking.enabled")
			var want []string
			id, columns, last := 0, 3, int64(0)
			more := func(row string) string { // a new row, made of an old one
				cells := strings.Split(row, "|")
				id++
				if rnd.Intn(3) == 0 {
					cells[0] = strconv.Itoa(id)
				}
				if rnd.Intn(4) == 0 {
					cells[2] = strconv.Itoa(rnd.Intn(3))
				}
				cells[1] = fmt.Sprintf("u%d", id)
				return strings.Join(cells, "|")
			}
			steps := 30
			if underRace {
				steps = 10
			}
			for step := range steps {
				var rows []string
				for range 1 + rnd.Intn(40) {
					id++
					row := fmt.Sprintf("%d|%s|%d", id, strings.Repeat("x", rnd.Intn(9)), rnd.Intn(2))
					if columns == 4 {
						row += "|" + strconv.Itoa(id)
					}
					rows = append(rows, row)
				}
				last = l.insert("t", rows...).Snapshot
				want = append(want, rows...)
				if step == steps/2 {
					l.alter("t", schema.AddColumn{Path: []string{"n"}, Type: &schema.Type{Root: schema.BigInt}})
					if !slices.Contains(c.opts, "bucket-key") {
						l.alter("t", schema.ChangeType{Path: []string{"k"}, Type: &schema.Type{Root: schema.BigInt}})
					}
					columns = 4
					for i := range want {
						want[i] += "|NULL"
					}
				}
				if strings.HasPrefix(c.name, "toggled") && rnd.Intn(4) == 0 {
					l.alter("t", schema.SetOption{Key: "deletion-vectors.enabled", Value: strconv.FormatBool(rnd.Intn(2) == 0)}, schema.SetOption{Key: "deletion-vectors.bitmap64", Value: strconv.FormatBool(rnd.Intn(2) == 0)})
				}
				var ids map[string]string
				if tracked {
					ids = l.rowIDs("t")
				}
				share, updates, only := []int{1, 10, 50, 99, 100}[rnd.Intn(5)], rnd.Intn(3), rnd.Intn(4)
				decided := map[string]string{}
				change := func(row string) (bool, string) {
					if only < 2 && strings.Split(row, "|")[2] != strconv.Itoa(only) || rnd.Intn(100) >= share {
						return true, ""
					}
					next := ""
					if rnd.Intn(2) < updates {
						next = more(row)
					}
					decided[row] = next
					return false, next
				}
				done := l.change("t", change)
				var kept, fresh []string
				for _, row := range want {
					next, hit := decided[row]
					if !hit {
						kept = append(kept, row)
					}
					if next != "" {
						fresh = append(fresh, next)
					}
				}
				if len(decided) > 0 && done.Snapshot <= last || len(decided) == 0 && done.Snapshot != 0 {
					t.Fatalf("step %d: %d rows of %d go, %+v", step, len(decided), len(want), done)
				}
				want = append(kept, fresh...)
				got := l.ordered("t")
				if c.ordered && len(decided) > 0 {
					// New rows stand behind the others, in the order in which they were read: compare the rest in order.
					n := map[string]bool{}
					for _, row := range fresh {
						n[row] = true
					}
					old := slices.DeleteFunc(slices.Clone(got), func(row string) bool { return n[row] })
					if !slices.Equal(byPart(old), byPart(kept)) {
						t.Fatalf("step %d: rows are in the order\n%v\nwant\n%v", step, byPart(old), byPart(kept))
					}
					want = got
				}
				if !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(append(slices.Clone(kept), fresh...)))) {
					t.Fatalf("step %d: the table has\n%v\nwant\n%v\nand %v", step, got, kept, fresh)
				}
				if tracked {
					now := l.rowIDs("t")
					for _, row := range kept {
						if now[row] == "" || now[row] != ids[row] {
							t.Fatalf("step %d: row %s had id and number %s, and has %s", step, row, ids[row], now[row])
						}
					}
				}
				if rnd.Intn(4) == 0 {
					l.compact("t", table.CompactOptions{Full: rnd.Intn(2) == 0})
					l.expect("t", slices.Clone(want)...)
					want = l.ordered("t")
				}
				vectorsHaveFiles(t, l)
				l.noEmptyFiles("t")
			}
		})
	}
}

// rowIDs are row id and sequence number of the rows of a row-tracking table, which are all different.
func (l *lake) rowIDs(name string) map[string]string {
	l.t.Helper()
	out, seen := map[string]string{}, map[string]bool{}
	for _, row := range l.tracking(name) {
		cells := strings.Split(row, "|")
		n := len(cells) - 2
		out[strings.Join(cells[:n], "|")] = strings.Join(cells[n:], "|")
		if seen[cells[n+1]] {
			l.t.Fatalf("two rows have the id %s", cells[n+1])
		}
		seen[cells[n+1]] = true
	}
	return out
}

// latest is a table's newest snapshot.
func (l *lake) latest(name string) *snapshot.Snapshot {
	l.t.Helper()
	s, err := l.open(name).Snapshots().Latest(context.Background())
	if err != nil {
		l.t.Fatal(err)
	}
	return s
}

// noEmptyFiles fails where no row of a file is left.
func (l *lake) noEmptyFiles(name string) {
	l.t.Helper()
	for _, f := range l.live(name) {
		if f.Meta.RowCount == 0 || f.Vector != nil && *f.Vector.Range.Cardinality == f.Meta.RowCount {
			l.t.Fatalf("file %s has no rows", f.Meta.Name)
		}
	}
}

// TestRemoveSnapshot looks at what a removal leaves: the kind of the snapshot, its counts, files and vectors.
func TestRemoveSnapshot(t *testing.T) {
	t.Parallel()
	l := newLake(t)
	l.create("dv", "k INT", "", "", "deletion-vectors.enabled", "true")
	l.create("cow", "k INT", "", "")
	l.create("bu", "k INT", "", "", "bucket", "1", "bucket-key", "k", "write-only", "true")
	for _, name := range []string{"dv", "cow", "bu"} {
		l.insert(name, "1", "2", "3")
		l.insert(name, "4", "5")
		l.insert(name, "6")
		before := l.live(name)
		done := l.change(name, func(row string) (bool, string) {
			return row != "2" && row != "4" && row != "5", map[string]string{"2": "22"}[row]
		})
		if done.Snapshot != 4 || done.Rows != 4 {
			t.Errorf("%s: %+v", name, done)
		}
		l.expect(name, "1", "22", "3", "6")
		snap := l.latest(name)
		if snap.CommitKind != snapshot.Overwrite || snap.Operation != "DELETE" {
			t.Fatalf("%s: %+v", name, snap)
		}
		var files []string
		for _, f := range l.live(name) {
			text := fmt.Sprintf("%d:%d-%d", f.Meta.RowCount, f.Meta.MinSequence, f.Meta.MaxSequence)
			if f.Vector != nil {
				text += fmt.Sprintf("-%d", *f.Vector.Range.Cardinality)
			}
			if *f.Meta.Source != manifest.SourceAppend {
				t.Errorf("%s: a file counts as compacted", name)
			}
			files = append(files, text)
		}
		slices.Sort(files)
		want, total, delta := "1:0-0 1:0-0 3:0-2-1", int64(5), int64(-1)
		switch name {
		case "cow":
			want, total, delta = "1:0-0 1:0-0 2:0-1", 4, -2
		case "bu":
			want, total, delta = "1:5-5 1:6-6 2:0-1", 4, -2
		}
		if got := strings.Join(files, " "); got != want || *snap.TotalRecordCount != total || *snap.DeltaRecordCount != delta {
			t.Errorf("%s: files %s, want %s; %d rows, %d more", name, got, want, *snap.TotalRecordCount, *snap.DeltaRecordCount)
		}
		if name == "dv" && l.live(name)[0].Meta.Name != before[0].Meta.Name {
			t.Errorf("%s: a file with a vector was replaced", name)
		}
		// Nothing to remove is no snapshot; all rows may go.
		if done := l.change(name, removes()); done.Snapshot != 0 || done.Rows != 0 {
			t.Errorf("%s: %+v", name, done)
		}
		l.change(name, func(string) (bool, string) { return false, "" })
		l.expect(name)
		if n := len(l.live(name)); n != 0 {
			t.Errorf("%s: %d files are left of no rows", name, n)
		}
		entries, err := l.open(name).Store().ReadIndexManifest(context.Background(), l.latest(name).IndexManifest)
		if err != nil || len(entries) != 0 {
			t.Errorf("%s: index entries %+v, %v", name, entries, err)
		}
		l.insert(name, "7")
		l.expect(name, "7")
	}
}

// TestRemoveRefused lists statements that are refused, and what is said; nothing of them stays.
func TestRemoveRefused(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	l := newLake(t)
	for _, name := range []string{"t", "other"} {
		l.create(name, "k INT NOT NULL", "", "")
		l.insert(name, "1", "2", "3")
	}
	old := l.files("/lake/default.db/t")
	read := func(name string, dynamic bool) relation.Relation {
		tb, err := table.Open(ctx, l.env, "default", name, table.OpenOptions{Positions: dynamic})
		if err != nil {
			t.Fatal(err)
		}
		req := relation.Request{}
		for i := range tb.Fields() {
			req.Columns = append(req.Columns, i)
		}
		scanAll(t, tb, req, false)
		return tb
	}
	for _, c := range []struct {
		name string
		rows []string
		rel  relation.Relation
		want string
	}{
		{"no relation", []string{"-D 1|0|0"}, nil, "without what the statement has read"},
		{"no positions", []string{"-D 1|0|0"}, read("t", false), "without their positions"},
		{"another table", []string{"-D 1|0|0"}, read("other", true), "another table"},
		{"no such file", []string{"-D 1|1|0"}, read("t", true), "lies in file 1"},
		{"negative file", []string{"-D 1|-1|0"}, read("t", true), "lies in file -1"},
		{"nothing was read", []string{"-D 1|0|0"}, l.placed("t"), "lies in file 0"},
		{"no such row", []string{"-D 1|0|2", "-D 1|0|3"}, read("t", true), "has 3 rows"},
		{"negative row", []string{"-D 1|0|-1"}, read("t", true), "row -1"},
		{"no place", []string{"-D 1|0|NULL"}, read("t", true), "has no position"},
		{"null", []string{"-D 1|0|0", "5|NULL|NULL", "NULL|NULL|NULL"}, read("t", true), "Cannot write null to non-null column(k), row 2"},
	} {
		s, err := l.open("t").OpenSink(ctx, relation.SinkOptions{Positions: true})
		if err != nil {
			t.Fatal(err)
		}
		err = writeRows(ctx, s, c.rows)
		if err == nil && c.rel != nil {
			err = s.(relation.BasedSink).Based(ctx, c.rel)
		}
		if err == nil {
			_, err = s.Commit(ctx)
		}
		s.Abort()
		if !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v (class %v)", c.name, err, errs.ClassOf(err))
		}
		if now := l.files("/lake/default.db/t"); !slices.Equal(now, old) {
			t.Errorf("%s: files were %v and are %v", c.name, old, now)
		}
	}
	// Batches of removals need no other columns.
	s, err := l.open("t").OpenSink(ctx, relation.SinkOptions{Positions: true})
	if err != nil {
		t.Fatal(err)
	}
	b := &column.Batch{N: 3, Sel: []uint16{0, 2}, Cols: []*column.Vector{nil, {Kind: column.KindInt32, N: 3, I32: []int32{0, 0, 0}}, {Kind: column.KindInt64, N: 3, I64: []int64{0, 1, 2}}}}
	if err := s.Write(ctx, b, []int32{3, 3, 1}); err != nil {
		t.Fatal(err)
	}
	if err := s.(relation.BasedSink).Based(ctx, read("t", true)); err != nil {
		t.Fatal(err)
	}
	if done, err := s.Commit(ctx); err != nil || done.Rows != 2 || done.Snapshot != 2 {
		t.Fatalf("%+v, %v", done, err)
	}
	l.expect("t", "2")
}
