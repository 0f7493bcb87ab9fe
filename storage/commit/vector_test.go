package commit

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/manifest"
)

// vectors is the index entry of deletion vectors: "file:rows" each.
func vectors(p, bucket int, name string, ranges ...string) manifest.IndexEntry {
	e := manifest.IndexEntry{Partition: part(p), Bucket: bucket, Type: manifest.IndexDeletionVectors, Name: name, RowCount: int64(len(ranges))}
	for i, r := range ranges {
		var n int64
		file := r[:len(r)-2]
		fmt.Sscan(r[len(r)-1:], &n)
		e.Ranges = append(e.Ranges, manifest.VectorRange{DataFile: file, Offset: int64(1 + 30*i), Length: 22, Cardinality: &n})
	}
	return e
}

// indexState lists the newest index state: name(files).
func indexState(t testing.TB, fio fileio.FileIO) (out []string) {
	t.Helper()
	ctx := context.Background()
	c := open(t, fio, 97)
	s, err := c.t.Snapshots.Latest(ctx)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := c.t.Store.ReadIndexManifest(ctx, s.IndexManifest)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		x := e.Name
		if int(e.RowCount) != len(e.Ranges) && e.Type == manifest.IndexDeletionVectors {
			t.Fatalf("%s counts %d vectors, has %d", e.Name, e.RowCount, len(e.Ranges))
		}
		for _, r := range e.Ranges {
			x += " " + r.DataFile
		}
		out = append(out, x)
	}
	return out
}

// step is a commit of a script and whether it must be a conflict.
type step struct {
	name     string
	r        Request
	conflict bool
	index    []string
}

// stepSeed keeps the names of several scripts on one table apart.
var stepSeed int64 = 1000

func runSteps(t *testing.T, fio fileio.FileIO, steps []step) {
	t.Helper()
	stepSeed++
	c := open(t, fio, stepSeed)
	for _, s := range steps {
		before, _ := live(t, fio)
		_, err := c.Commit(context.Background(), s.r)
		if s.conflict != errs.Is(err, errs.Conflict) || !s.conflict && err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if after, _ := live(t, fio); s.conflict && !slices.Equal(before, after) {
			t.Fatalf("%s: a conflict left %v live after %v", s.name, after, before)
		}
		if got := indexState(t, fio); s.index != nil && !slices.Equal(got, s.index) {
			t.Fatalf("%s: index state %q, want %q", s.name, got, s.index)
		}
		noOrphans(t, fio)
	}
}

// Unaware buckets: who deletes a data file knows its vector, a vector has its file, a file has one vector.
func TestVectorsOfUnawareBuckets(t *testing.T) {
	fio := fileio.NewMemory()
	setUp(t, fio, appendTable)
	files := map[string]*manifest.DataFile{}
	for _, n := range []string{"a", "b", "c", "d", "e", "x", "y"} {
		files[n] = dataFile(n, 10, 0, 0, 0)
	}
	del := func(names ...string) Message {
		m := Message{Partition: part(1), TotalBuckets: -1}
		for _, n := range names {
			m.DeletedFiles = append(m.DeletedFiles, files[n])
		}
		return m
	}
	index := func(remove, add []manifest.IndexEntry) Message {
		return Message{Partition: part(1), TotalBuckets: -1, NewIndexFiles: add, DeletedIndexFiles: remove}
	}
	list := func(e ...manifest.IndexEntry) []manifest.IndexEntry { return e }
	v1, v2, v3 := vectors(1, 0, "v1", "a:2"), vectors(1, 0, "v2", "a:3", "b:1"), vectors(1, 0, "v3", "c:1")
	both := func(m Message, remove, add []manifest.IndexEntry) Message {
		m.DeletedIndexFiles, m.NewIndexFiles = remove, add
		return m
	}
	drop := batch(del("b"))
	drop.DropVectors = true
	runSteps(t, fio, []step{
		{name: "files", r: batch(message(1, 0, -1, files["a"], files["b"], files["c"], files["d"], files["e"]))},
		{name: "rows of a", r: batch(index(nil, list(v1))), index: []string{"v1 a"}},
		{name: "rows of a again, not knowing", r: batch(index(nil, list(v2))), conflict: true},
		{name: "rows of a again", r: batch(index(list(v1), list(v2))), index: []string{"v2 a b"}},
		{name: "twice removed", r: batch(index(list(v1), list(v3))), conflict: true},
		{name: "rows of a file that is not there", r: batch(index(nil, list(vectors(1, 0, "v9", "gone:1")))), conflict: true},
		{name: "rows of a file of another partition", r: batch(index(nil, list(vectors(2, 0, "v9", "c:1")))), conflict: true},
		{name: "rows of c", r: batch(index(nil, list(v3))), index: []string{"v2 a b", "v3 c"}},
		{name: "a is rewritten, not knowing", r: batch(del("a"), message(1, 0, -1, files["x"])), conflict: true},
		{name: "a is compacted, not knowing", r: batch(Message{Partition: part(1), TotalBuckets: -1, Compact: &Compaction{Before: []*manifest.DataFile{files["a"], files["d"]}, After: []*manifest.DataFile{files["x"]}}}), conflict: true},
		{name: "d has none", r: batch(del("d")), index: []string{"v2 a b", "v3 c"}},
		{name: "a is rewritten", r: batch(both(del("a"), list(v2), list(vectors(1, 0, "v4", "b:1"))), message(1, 0, -1, files["x"])), index: []string{"v3 c", "v4 b"}},
		{name: "a file and its rows at once", r: batch(both(message(1, 0, -1, files["y"]), nil, list(vectors(1, 0, "v5", "y:1", "e:2")))), index: []string{"v3 c", "v4 b", "v5 y e"}},
		{name: "y goes with its vector", r: func() Request { r := batch(del("y")); r.DropVectors = true; return r }(), index: []string{"v3 c", "v4 b", "v5 e"}},
		{name: "b goes with its vector", r: drop, index: []string{"v3 c", "v5 e"}},
		{name: "the partition is replaced", r: func() Request {
			r := batch(message(1, 0, -1, dataFile("z", 1, 0, 0, 0)))
			r.Overwrite = &Overwrite{Dynamic: true}
			return r
		}(), index: []string{}},
	})
	if got, _ := live(t, fio); !slices.Equal(got, []string{"z"}) {
		t.Fatal(got)
	}
}

// Buckets: a new index file replaces the one before, and must not bring rows back.
func TestVectorsOfBuckets(t *testing.T) {
	fio := fileio.NewMemory()
	setUp(t, fio, keyTable)
	compact := func(before, after []*manifest.DataFile, remove, add []manifest.IndexEntry) Request {
		return batch(Message{Partition: part(1), TotalBuckets: 2, Compact: &Compaction{Before: before, After: after, NewIndexFiles: add, DeletedIndexFiles: remove}})
	}
	f := func(e ...*manifest.DataFile) []*manifest.DataFile { return e }
	x := func(e ...manifest.IndexEntry) []manifest.IndexEntry { return e }
	a, b, c := dataFile("a", 9, 0, 1, 5), dataFile("b", 9, 0, 1, 5), dataFile("c", 9, 0, 1, 5)
	a5, b4, c3 := dataFile("a", 9, 5, 1, 5), dataFile("b", 9, 4, 1, 5), dataFile("c", 9, 3, 1, 5)
	runSteps(t, fio, []step{
		{name: "files", r: batch(message(1, 0, 2, a, b, c))},
		{name: "a moves up", r: compact(f(a), f(a5), nil, x(vectors(1, 0, "v1")))},
		{name: "b moves up", r: compact(f(b), f(b4), nil, x(vectors(1, 0, "v2", "a:4"))), index: []string{"v2 a"}},
		{name: "another bucket", r: batch(Message{Partition: part(1), Bucket: 1, TotalBuckets: 2, Compact: &Compaction{After: f(dataFile("o", 1, 5, 1, 1)), NewIndexFiles: x(vectors(1, 1, "o1"))}}), index: []string{"v2 a", "o1"}},
		{name: "c moves up, not knowing of b", r: compact(f(c), f(c3), nil, x(vectors(1, 0, "v3", "b:1"))), conflict: true},
		{name: "c moves up, with fewer rows of a", r: compact(f(c), f(c3), nil, x(vectors(1, 0, "v3", "a:3", "b:1"))), conflict: true},
		{name: "c moves up", r: compact(f(c), f(c3), nil, x(vectors(1, 0, "v3", "a:5", "b:1"))), index: []string{"v3 a b", "o1"}},
		{name: "a is rewritten, not knowing its rows", r: compact(f(a5), f(dataFile("a2", 4, 5, 1, 5)), nil, nil), conflict: true},
		{name: "a is rewritten, not knowing of a", r: compact(f(a5), f(dataFile("a2", 4, 5, 1, 5)), nil, x(vectors(1, 0, "v4", "b:2"))), conflict: true},
		{name: "rows of a file that is not there", r: compact(f(b4), f(dataFile("b", 9, 2, 1, 5)), x(vectors(1, 0, "v3")), x(vectors(1, 0, "v4", "a:5", "b:1", "gone:1"))), conflict: true},
		{name: "a is rewritten", r: compact(f(a5), f(dataFile("a2", 4, 5, 1, 5)), x(vectors(1, 0, "v3")), x(vectors(1, 0, "v4", "b:2"))), index: []string{"o1", "v4 b"}},
		{name: "rows of a file that another compaction has rewritten", r: compact(f(b4), f(dataFile("b", 9, 3, 1, 5)), nil, x(vectors(1, 0, "v9", "a:6", "b:3"))), conflict: true},
		{name: "rows of a file of another bucket", r: compact(nil, nil, nil, x(vectors(1, 0, "v9", "b:2", "o:1"))), conflict: true},
		{name: "the replaced file is named", r: compact(nil, nil, x(vectors(1, 0, "v4")), x(vectors(1, 0, "v5"))), index: []string{"o1", "v5"}},
		{name: "an append leaves them", r: batch(message(1, 0, 2, dataFile("n", 1, 0, 1, 1))), index: []string{"o1", "v5"}},
	})
}

// Index entries of other kinds are kept, and go with the partitions that are replaced.
func TestIndexManifest(t *testing.T) {
	fio := fileio.NewMemory()
	setUp(t, fio, keyTable)
	hash := func(p, bucket int, name string) manifest.IndexEntry {
		return manifest.IndexEntry{Partition: part(p), Bucket: bucket, Type: manifest.IndexHash, Name: name, RowCount: 3, Size: 12}
	}
	ext := "file:/elsewhere/g"
	global := manifest.IndexEntry{Partition: part(1), Type: "btree", Name: "g", Size: 7, ExternalPath: &ext, Global: &manifest.GlobalIndex{RowRangeEnd: 9, FieldID: 1, ExtraFieldIDs: []int32{4, 5}, Meta: []byte{1}, SourceMeta: []byte{2, 3}}}
	odd := manifest.IndexEntry{Partition: part(2), Bucket: 1, Type: "later-kind", Name: "odd"}
	with := func(p int, file string, add ...manifest.IndexEntry) Request {
		m := message(p, 0, 2, dataFile(file, 1, 0, 1, 1))
		m.NewIndexFiles = add
		return batch(m)
	}
	over := func(p int, file string) Request {
		r := batch(message(p, 0, 2, dataFile(file, 1, 0, 1, 1)))
		r.Overwrite = &Overwrite{Dynamic: true}
		return r
	}
	runSteps(t, fio, []step{
		{name: "several", r: with(1, "a", hash(1, 0, "h1"), hash(1, 1, "h2"), global, odd), index: []string{"h1", "h2", "g", "odd"}},
		{name: "one bucket", r: with(1, "b", hash(1, 0, "h3")), index: []string{"h3", "h2", "g", "odd"}},
		{name: "another partition", r: with(2, "c", hash(2, 0, "h4")), index: []string{"h3", "h2", "g", "odd", "h4"}},
		{name: "none", r: with(1, "d")},
	})
	c := open(t, fio, 1)
	s, err := c.t.Snapshots.Latest(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	state, err := c.t.Store.ReadIndexManifest(context.Background(), s.IndexManifest)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprintf("%+v %+v", state[2].Global, state[3]) != fmt.Sprintf("%+v %+v", global.Global, odd) || *state[2].ExternalPath != ext {
		t.Fatalf("%+v %+v", state[2], state[3])
	}
	runSteps(t, fio, []step{
		{name: "partition 1 replaced", r: over(1, "e"), index: []string{"odd", "h4"}},
		{name: "partition 3 replaced", r: over(3, "f"), index: []string{"odd", "h4"}},
		{name: "partition 2 replaced", r: over(2, "g"), index: []string{}},
	})
}
