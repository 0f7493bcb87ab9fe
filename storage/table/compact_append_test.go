package table_test

import (
	"context"
	"fmt"
	"math/rand"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/commit"
	"github.com/tributarydb/tributary/storage/compact"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/index"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/read"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/table"
)

// ordered reads a table's rows in the order in which they come.
func (l *lake) ordered(name string) []string {
	l.t.Helper()
	r := l.open(name)
	req := relation.Request{}
	for i := range r.Fields() {
		req.Columns = append(req.Columns, i)
	}
	plan, err := r.Plan(context.Background(), req)
	if err != nil {
		l.t.Fatal(err)
	}
	var out []string
	for _, m := range plan.Morsels {
		err := eachBatch(context.Background(), m, func(b *column.Batch) error {
			out = append(out, textsOf(l.t, r.Fields(), b)...)
			return nil
		})
		if err != nil {
			l.t.Fatal(err)
		}
	}
	return out
}

// live lists the live files of a table.
func (l *lake) live(name string) []*scan.File {
	l.t.Helper()
	tb := l.open(name)
	snap, err := tb.Snapshots().Latest(context.Background())
	if err != nil {
		l.t.Fatal(err)
	}
	files, _, err := tb.Source().LiveFiles(context.Background(), snap, scan.Request{})
	if err != nil {
		l.t.Fatal(err)
	}
	return files
}

// committer publishes to a table as a statement of another writer does.
func (l *lake) committer(name string) *commit.Committer {
	tb := l.open(name)
	return commit.New(commit.Target{FIO: l.fio, Dir: tb.Dir(), Label: tb.Label(), Schema: tb.StoredSchema(), Schemas: tb.Schemas(), Snapshots: tb.Snapshots(), Store: tb.Store()})
}

// erase deletes rows by position: file name to positions. The old index files of these files' buckets go.
func (l *lake) erase(name string, wide bool, rows map[string][]int64) error {
	ctx := context.Background()
	tb := l.open(name)
	snap, err := tb.Snapshots().Latest(ctx)
	if err != nil {
		return err
	}
	entries, err := tb.Store().ReadIndexManifest(ctx, snap.IndexManifest)
	if err != nil {
		return err
	}
	type place struct {
		partition string
		bucket    int
	}
	byPlace := map[place][]*scan.File{}
	all := l.live(name)
	for _, f := range all {
		k := place{f.PartitionID, f.Bucket}
		if rows[f.Meta.Name] != nil {
			byPlace[k] = append(byPlace[k], f)
		}
	}
	if len(byPlace) == 0 {
		return errs.Conflictf("the files are gone")
	}
	bucketed := tb.StoredSchema().BucketMode() != schema.BucketUnaware
	var messages []commit.Message
	for k, files := range byPlace {
		m := commit.Message{Partition: files[0].PartitionRow(), Bucket: files[0].Bucket, TotalBuckets: files[0].TotalBuckets}
		if bucketed { // one index file has all vectors of the bucket
			for _, f := range all {
				if k == (place{f.PartitionID, f.Bucket}) && f.Vector != nil && !slices.Contains(files, f) {
					files = append(files, f)
				}
			}
		}
		drop := map[string]bool{}
		vectors := map[string]*index.Vector{}
		keep := func(f *scan.File) error {
			if f.Vector == nil {
				return nil
			}
			v, err := index.ReadVector(ctx, l.fio, nil, f.Vector.Path, f.Vector.Size, f.Vector.Range)
			vectors[f.Meta.Name] = v
			drop[f.Vector.Path] = true
			return err
		}
		for _, f := range files {
			if err := keep(f); err != nil {
				return err
			}
		}
		for _, f := range all { // vectors that share an index file move along
			if f.Vector != nil && drop[f.Vector.Path] && vectors[f.Meta.Name] == nil {
				if err := keep(f); err != nil {
					return err
				}
			}
		}
		for _, f := range files {
			if rows[f.Meta.Name] == nil {
				continue
			}
			if vectors[f.Meta.Name], err = vectors[f.Meta.Name].With(wide, rows[f.Meta.Name]...); err != nil {
				return err
			}
		}
		e := manifest.IndexEntry{Partition: m.Partition, Bucket: m.Bucket, Type: manifest.IndexDeletionVectors, Name: fmt.Sprintf("index-%d-%s-%d", snap.ID, files[0].Meta.Name, lakes.Add(1))}
		w, err := index.CreateVectors(ctx, l.fio, index.Path(tb.Dir(), "", &e, false))
		if err != nil {
			return err
		}
		for _, f := range all {
			if v := vectors[f.Meta.Name]; v != nil {
				if err := w.Add(f.Meta.Name, v); err != nil {
					return err
				}
			}
		}
		if e.Ranges, e.Size, err = w.Close(); err != nil {
			return err
		}
		e.RowCount = int64(len(e.Ranges))
		m.NewIndexFiles = append(m.NewIndexFiles, e)
		for _, old := range entries {
			for p := range drop {
				if strings.HasSuffix(p, "/"+old.Name) {
					m.DeletedIndexFiles = append(m.DeletedIndexFiles, old)
				}
			}
		}
		messages = append(messages, m)
	}
	_, err = l.committer(name).Commit(ctx, commit.Request{Identifier: commit.BatchIdentifier, Messages: messages})
	return err
}

// eraseSome deletes random rows.
func (l *lake) eraseSome(name string, rnd *rand.Rand) {
	l.t.Helper()
	rows := map[string][]int64{}
	for _, f := range l.live(name) {
		if rnd.Intn(3) == 0 {
			continue
		}
		for range 1 + rnd.Intn(int(f.Meta.RowCount)) {
			rows[f.Meta.Name] = append(rows[f.Meta.Name], rnd.Int63n(f.Meta.RowCount))
		}
	}
	if len(rows) == 0 {
		return
	}
	if err := l.erase(name, rnd.Intn(2) == 0, rows); err != nil {
		l.t.Fatal(err)
	}
}

// TestCompactAppendKeepsRows inserts, deletes and compacts in random order: rows stay, in their order.
func TestCompactAppendKeepsRows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		bucket  bool
		vectors bool
		opts    []string
	}{
		{"parquet", false, false, nil},
		{"orc", false, false, []string{"file.format", "orc"}},
		{"avro", false, false, []string{"file.format", "avro"}},
		{"rolling", false, false, []string{"target-file-row-num", "13"}},
		{"tracked", false, false, []string{"row-tracking.enabled", "true"}},
		{"tracked-orc", false, false, []string{"row-tracking.enabled", "true", "file.format", "orc"}},
		{"tracked-avro", false, false, []string{"row-tracking.enabled", "true", "file.format", "avro"}},
		{"vectors", false, true, []string{"deletion-vectors.enabled", "true"}},
		{"vectors-files", false, true, []string{"deletion-vectors.enabled", "true", "file.format", "orc", "deletion-vector.index-file.target-size", "60 b"}},
		{"vectors-limit", false, true, []string{"deletion-vectors.enabled", "true", "compaction.file-num-limit", "3"}},
		{"tracked-vectors", false, true, []string{"deletion-vectors.enabled", "true", "row-tracking.enabled", "true"}},
		{"bucket", true, false, []string{"bucket", "1", "bucket-key", "k"}},
		{"buckets", true, false, []string{"bucket", "2", "bucket-key", "k"}},
		{"bucket-vectors", true, true, []string{"bucket", "1", "bucket-key", "k", "deletion-vectors.enabled", "true"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewSource(int64(len(c.name))))
			l := newLake(t)
			l.create("t", "k INT; a STRING; p INT", "", "p", append([]string{"compaction.min.file-num", "2", "write-only", "true"}, c.opts...)...)
			tracked := slices.Contains(c.opts, "row-tracking.enabled")
			id, columns := 0, 3
			for step := range 24 {
				var rows []string
				for range 1 + rnd.Intn(20) {
					id++
					rows = append(rows, fmt.Sprintf("%d|%s|%d", id, strings.Repeat("x", rnd.Intn(9)), rnd.Intn(2)))
				}
				if columns == 4 {
					for i, r := range rows {
						cells := strings.Split(r, "|")
						rows[i] = cells[0] + "|" + cells[1] + "|" + cells[2] + "|" + strconv.Itoa(id)
					}
				}
				l.insert("t", rows...)
				if step == 12 {
					l.alter("t", schema.AddColumn{Path: []string{"n"}, Type: &schema.Type{Root: schema.BigInt}})
					l.alter("t", schema.ChangeType{Path: []string{"k"}, Type: &schema.Type{Root: schema.BigInt}})
					columns = 4
				}
				if c.vectors && rnd.Intn(2) == 0 {
					l.eraseSome("t", rnd)
				}
				if rnd.Intn(3) > 0 {
					continue
				}
				before, ids := l.ordered("t"), []string(nil)
				if tracked {
					ids = l.tracking("t")
				}
				o := table.CompactOptions{Full: rnd.Intn(2) == 0}
				if rnd.Intn(3) == 0 {
					o.Options = map[string]string{"file.format": []string{"avro", "parquet", "orc"}[rnd.Intn(3)]}
				}
				l.compact("t", o)
				after := l.ordered("t")
				if tracked {
					if got := l.tracking("t"); !slices.Equal(got, ids) {
						t.Fatalf("row ids and numbers were\n%v\nand are\n%v", ids, got)
					}
				}
				if c.vectors && !c.bucket || c.name == "rolling" || c.name == "buckets" { // files with vectors, and small rests, move behind the others
					slices.Sort(before)
					slices.Sort(after)
				}
				if !slices.Equal(byPart(before), byPart(after)) {
					t.Fatalf("step %d: rows were\n%v\nand are\n%v", step, before, after)
				}
			}
			l.compact("t", table.CompactOptions{Full: true, Options: map[string]string{"compaction.force-rewrite-all-files": "true"}})
			for _, f := range l.live("t") {
				if f.Vector != nil || *f.Meta.Source != manifest.SourceCompact {
					t.Errorf("file %s has a vector, or is not compacted", f.Meta.Name)
				}
			}
		})
	}
}

// byPart orders rows by their partition, the third column.
func byPart(rows []string) []string {
	out := slices.Clone(rows)
	slices.SortStableFunc(out, func(a, b string) int {
		return strings.Compare(strings.Split(a, "|")[2], strings.Split(b, "|")[2])
	})
	return out
}

// tracking lists the rows of a row-tracking table with their ids and numbers, sorted.
func (l *lake) tracking(name string) []string {
	l.t.Helper()
	tb := l.open(name)
	fields := append(slices.Clone(tb.Fields()), schema.SequenceField(), schema.RowIDField())
	var out []string
	for _, f := range l.live(name) {
		want := read.Want{Sequence: true, RowID: true}
		for i := range tb.Fields() {
			want.Columns = append(want.Columns, i)
		}
		out = append(out, l.fileRows(name, f, want, fields)...)
	}
	slices.Sort(out)
	return out
}

// fileRows reads a file of an append table.
func (l *lake) fileRows(name string, f *scan.File, want read.Want, fields []schema.Field) (out []string) {
	l.t.Helper()
	tb := l.open(name)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	sp := &scan.Split{Source: tb.Source(), Partition: f.Partition, Bucket: f.Bucket, Mode: scan.Raw, Files: []*scan.File{f}}
	for _, m := range read.Morsels(tb.Env().Readers.NewHandles(ctx), sp, want) {
		err := eachBatch(ctx, m, func(b *column.Batch) error {
			out = append(out, textsOf(l.t, fields, b)...)
			return nil
		})
		if err != nil {
			l.t.Fatal(err)
		}
	}
	return out
}

func (l *lake) alter(name string, changes ...schema.Change) {
	l.t.Helper()
	if err := l.cat.AlterTable(context.Background(), "default", name, "", changes); err != nil {
		l.t.Fatal(err)
	}
}

// TestCompactAppendFiles compares the files that compactions leave with those that Apache Paimon leaves.
func TestCompactAppendFiles(t *testing.T) {
	t.Parallel()
	l := newLake(t)
	describe := func(name string) string {
		var out []string
		for _, f := range l.live(name) {
			out = append(out, fmt.Sprintf("%d:%d-%d:%d", f.Meta.RowCount, f.Meta.MinSequence, f.Meta.MaxSequence, *f.Meta.Source))
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	expect := func(name, want string) {
		t.Helper()
		if got := describe(name); got != want {
			t.Errorf("table %s has the files %s, want %s", name, got, want)
		}
	}
	l.create("un", "a INT; b STRING", "", "", "write-only", "true")
	for i := range 4 {
		l.insert("un", fmt.Sprintf("%d|a", i))
	}
	l.compact("un", table.CompactOptions{Full: true})
	expect("un", "1:0-0:0 1:0-0:0 1:0-0:0 1:0-0:0")
	l.insert("un", "7|a", "8|b")
	l.compact("un", table.CompactOptions{Full: true})
	expect("un", "6:0-5:1")
	l.compact("un", table.CompactOptions{Full: true, Sort: &compact.Sort{Strategy: compact.SortZOrder, Columns: []string{"b", "a"}}})
	expect("un", "6:0-5:0")
	snap, err := l.open("un").Snapshots().Latest(context.Background())
	if err != nil || snap.CommitKind != "OVERWRITE" || *snap.DeltaRecordCount != 0 || *snap.TotalRecordCount != 6 {
		t.Errorf("snapshot of the sorting: %+v, %v", snap, err)
	}

	l.create("bu", "a INT; b STRING", "", "", "bucket", "1", "bucket-key", "a", "write-only", "true")
	for i := range 10 {
		l.insert("bu", fmt.Sprintf("%d|a", i))
		l.compact("bu", table.CompactOptions{})
	}
	expect("bu", "1:9-9:0 9:0-8:1")
	l.compact("bu", table.CompactOptions{Full: true})
	expect("bu", "1:9-9:0 9:0-8:1") // two files are too few

	l.create("rt", "a INT; b STRING", "", "", "row-tracking.enabled", "true", "write-only", "true")
	for i := range 6 {
		l.insert("rt", fmt.Sprintf("%d|a", i), fmt.Sprintf("%d|b", i))
	}
	l.compact("rt", table.CompactOptions{Full: true})
	expect("rt", "12:1-6:1")
	if f := l.live("rt")[0]; f.Meta.FirstRowID != nil || f.Meta.WriteColumns != nil {
		t.Errorf("a compacted file with rows of its own ids has the first id %v, columns %v", f.Meta.FirstRowID, f.Meta.WriteColumns)
	}
	l.compact("rt", table.CompactOptions{Sort: &compact.Sort{Strategy: compact.SortOrder, Columns: []string{"b"}}})
	expect("rt", "12:8-8:0")
	if f := l.live("rt")[0]; *f.Meta.FirstRowID != 12 {
		t.Errorf("the first id of a sorted file is %d", *f.Meta.FirstRowID)
	}
}

// TestCompactAppendVectors looks at the index files: vectors of untouched files move into new ones.
func TestCompactAppendVectors(t *testing.T) {
	t.Parallel()
	l := newLake(t)
	l.create("t", "k INT", "", "", "deletion-vectors.enabled", "true", "write-only", "true")
	rows := func(from, n int) (out []string) {
		for i := range n {
			out = append(out, strconv.Itoa(from+i))
		}
		return out
	}
	l.insert("t", rows(0, 2000)...) // too big to be rewritten for its size below
	l.insert("t", rows(5000, 10)...)
	l.insert("t", rows(6000, 10)...)
	erase := map[string][]int64{}
	for _, f := range l.live("t") {
		erase[f.Meta.Name] = []int64{1, 3}
	}
	if err := l.erase("t", false, erase); err != nil {
		t.Fatal(err)
	}
	want := l.rows("t")
	size := l.live("t")[1].Meta.Size
	opts := map[string]string{"target-file-size": strconv.FormatInt(size*3/2, 10) + " b", "source.split.open-file-cost": "0 b"}
	l.compact("t", table.CompactOptions{Full: true, Options: opts})
	l.expect("t", want...)
	files := l.live("t")
	if len(files) != 2 || files[0].Vector == nil || files[1].Vector != nil || files[1].Meta.RowCount != 16 {
		t.Fatalf("%d files, %+v", len(files), files[0].Meta)
	}
	snap, _ := l.open("t").Snapshots().Latest(context.Background())
	entries, err := l.open("t").Store().ReadIndexManifest(context.Background(), snap.IndexManifest)
	if err != nil || len(entries) != 1 || len(entries[0].Ranges) != 1 || entries[0].Ranges[0].DataFile != files[0].Meta.Name {
		t.Fatalf("index entries %+v, %v", entries, err)
	}
	// A file of which all rows are deleted vanishes.
	erase = map[string][]int64{files[1].Meta.Name: nil}
	for i := range 16 {
		erase[files[1].Meta.Name] = append(erase[files[1].Meta.Name], int64(i))
	}
	if err := l.erase("t", true, erase); err != nil {
		t.Fatal(err)
	}
	l.compact("t", table.CompactOptions{Options: opts})
	if files = l.live("t"); len(files) != 1 {
		t.Fatalf("%d files", len(files))
	}
	l.compact("t", table.CompactOptions{Options: map[string]string{"compaction.delete-ratio-threshold": "0.0001", "compaction.small-file-ratio": "0"}})
	if files = l.live("t"); len(files) != 1 || files[0].Vector != nil || files[0].Meta.RowCount != 1998 {
		t.Fatalf("%+v", files[0].Meta)
	}
}

// TestCompactAppendRaces lets other writers insert, delete and overwrite while compactions run: no row is lost or doubled.
func TestCompactAppendRaces(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		opts []string
		sort *compact.Sort
	}{
		{"unaware", nil, nil},
		{"bucket", []string{"bucket", "1", "bucket-key", "k"}, nil},
		{"sorted", nil, &compact.Sort{Strategy: compact.SortOrder, Columns: []string{"k"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLake(t)
			l.create("t", "k INT; p INT", "", "p", append([]string{"compaction.min.file-num", "2", "write-only", "true", "deletion-vectors.enabled", "true",
				"commit.min-retry-wait", "1 ms", "commit.max-retry-wait", "2 ms", "commit.max-retries", "200"}, c.opts...)...)
			l.insert("t", "-1|0", "-2|1", "-3|2")
			const writers, each = 2, 12
			var wg sync.WaitGroup
			var mu sync.Mutex
			inserted, deleted := []string{"-1|0", "-2|1"}, map[string]bool{}
			for w := range writers {
				wg.Add(1)
				go func() {
					defer wg.Done()
					for i := range each {
						row := fmt.Sprintf("%d|%d", w*1000+i, i%2)
						if _, err := l.tryInsert(context.Background(), "t", relation.SinkOptions{}, row); err != nil {
							t.Error(err)
							return
						}
						mu.Lock()
						inserted = append(inserted, row)
						mu.Unlock()
					}
				}()
			}
			wg.Add(2)
			go func() { // deletes the first row of a file, if nobody was faster
				defer wg.Done()
				for range each {
					files := l.live("t")
					f := files[len(files)/2]
					if f.Vector != nil || f.Partition[0].I == 2 {
						continue
					}
					row := l.fileRows("t", f, read.Want{Columns: []int{0, 1}}, l.open("t").Fields())[0]
					err := l.erase("t", false, map[string][]int64{f.Meta.Name: {0}})
					if err != nil && !errs.Is(err, errs.Conflict) {
						t.Error(err)
					}
					if err == nil {
						mu.Lock()
						deleted[row] = true
						mu.Unlock()
					}
				}
			}()
			last := ""
			go func() { // replaces a partition of its own
				defer wg.Done()
				for i := range each {
					row := fmt.Sprintf("%d|2", 9000+i)
					if _, err := l.tryInsert(context.Background(), "t", relation.SinkOptions{Overwrite: true}, row); err != nil {
						t.Error(err)
						return
					}
					last = row
				}
			}()
			stop := make(chan struct{})
			var compactions sync.WaitGroup
			compactions.Add(1)
			done := 0
			go func() {
				defer compactions.Done()
				for {
					select {
					case <-stop:
						return
					default:
					}
					res, err := l.open("t").Compact(context.Background(), table.CompactOptions{Full: true, Sort: c.sort})
					if err != nil && !errs.Is(err, errs.Conflict) {
						t.Error(err)
					}
					if err == nil && res.Snapshot != nil {
						done++
					}
				}
			}()
			wg.Wait()
			close(stop)
			compactions.Wait()
			var rows []string
			for _, r := range inserted {
				if !deleted[r] {
					rows = append(rows, r)
				}
			}
			rows = append(rows, last)
			l.expect("t", rows...)
			l.compact("t", table.CompactOptions{Full: true, Sort: c.sort})
			l.expect("t", rows...)
			t.Logf("%d compactions", done)
		})
	}
}

// TestCompactAppendFaults fails every file operation of a compaction once: rows stay as they were, and
// nothing is left over.
func TestCompactAppendFaults(t *testing.T) {
	t.Parallel()
	for _, sort := range []*compact.Sort{nil, {Strategy: compact.SortOrder, Columns: []string{"k"}}} {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("sorted=%v/after=%v", sort != nil, after), func(t *testing.T) {
				t.Parallel()
				for nth := 1; ; nth++ {
					mem := fileio.NewMemory()
					l := openLake(t, mem, mem)
					l.create("t", "k INT; p INT", "", "p", "compaction.min.file-num", "2", "write-only", "true", "deletion-vectors.enabled", "true",
						"commit.min-retry-wait", "1 ms", "commit.max-retry-wait", "1 ms", "target-file-row-num", "2")
					l.insert("t", "3|1", "2|1", "1|2")
					l.insert("t", "6|1", "5|1", "4|2")
					files := l.live("t")
					if err := l.erase("t", false, map[string][]int64{files[0].Meta.Name: {0}, files[1].Meta.Name: {0}}); err != nil {
						t.Fatal(err)
					}
					want := l.rows("t")
					old := l.files("/lake/default.db/t")
					faulty := fileio.NewFaulty(mem)
					f := openLake(t, mem, faulty)
					faulty.Inject(fileio.Fault{Nth: nth, After: after})
					tb, err := table.Open(context.Background(), f.env, "default", "t", table.OpenOptions{})
					var res compact.Result
					if err == nil {
						res, err = tb.Compact(context.Background(), table.CompactOptions{Full: true, Sort: sort})
					}
					count := faulty.Count(fileio.AnyOp)
					l.expect("t", want...)
					snap, serr := l.open("t").Snapshots().Latest(context.Background())
					if serr != nil {
						t.Fatal(serr)
					}
					published := snap.ID > 3
					switch {
					case err == nil && (!published || res.Snapshot == nil || res.Snapshot.ID != snap.ID):
						t.Fatalf("operation %d: success, snapshot %d, result %+v", nth, snap.ID, res)
					case err != nil && published && !errs.Is(err, errs.Uncertain):
						t.Fatalf("operation %d: published in spite of %v", nth, err)
					case err != nil && !published && !errs.Is(err, errs.Uncertain):
						for _, p := range l.files("/lake/default.db/t") {
							if (strings.Contains(p, "/bucket-") || strings.Contains(p, "/index/")) && !slices.Contains(old, p) {
								t.Fatalf("operation %d: file %s is left over after %v", nth, p, err)
							}
						}
					}
					if nth > count {
						t.Logf("%d operations", count)
						return
					}
				}
			})
		}
	}
}
