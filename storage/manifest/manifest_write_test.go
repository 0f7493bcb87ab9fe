package manifest

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"sort"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/avrofile"
	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/schema"
)

func testNames(t *testing.T, seed int64) *Names {
	n, err := NewNames(rand.New(rand.NewSource(seed)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// What Paimon 2.0.0 wrote has our schema texts, and comes back equal from what we write of it.
func TestRewriteOfPaimonsFiles(t *testing.T) {
	ctx := context.Background()
	fio := fileio.NewMemory()
	s := NewStore(fio, "/t", nil)
	o := WriteOptions{Names: testNames(t, 1)}
	for file, want := range map[string]string{"manifest-2.0.0": entryRecord, "list-2.0.0": listRecord, "index-2.0.0": indexRecord} {
		data, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		f, err := avrofile.Open(file, data)
		if err != nil {
			t.Fatal(err)
		}
		if f.SchemaText() != want {
			t.Errorf("%s: the schema is\n%s\nours is\n%s", file, f.SchemaText(), want)
		}
		switch {
		case strings.HasPrefix(file, "manifest"):
			in, err := DecodeManifest(ctx, file, data)
			if err != nil {
				t.Fatal(err)
			}
			row, err := binrow.Parse(in[0].Partition)
			if err != nil {
				t.Fatal(err)
			}
			o := o
			for range row.Arity() {
				o.PartitionTypes = append(o.PartitionTypes, &schema.Type{Root: schema.Varchar, Length: schema.MaxLength})
			}
			infos, err := s.WriteManifests(ctx, in, o)
			if err != nil || len(infos) != 1 {
				t.Fatalf("%v, %v", infos, err)
			}
			out, err := s.ReadManifest(ctx, infos[0].Name, infos[0].Size)
			if err != nil || !reflect.DeepEqual(in, out) {
				t.Fatalf("%s changed: %+v, %v", file, out, err)
			}
		case strings.HasPrefix(file, "list"):
			in, err := DecodeList(ctx, file, data)
			if err != nil {
				t.Fatal(err)
			}
			name, size, err := s.WriteList(ctx, in, o)
			if err != nil {
				t.Fatal(err)
			}
			out, err := s.ReadList(ctx, name)
			if b, _ := fio.ReadFile(ctx, s.Path(name)); err != nil || int64(len(b)) != size || !reflect.DeepEqual(in, out) {
				t.Fatalf("%s changed: %+v, %v", file, out, err)
			}
		default:
			in, err := DecodeIndex(ctx, file, data)
			if err != nil {
				t.Fatal(err)
			}
			name, err := s.WriteIndexManifest(ctx, in, o)
			if err != nil {
				t.Fatal(err)
			}
			out, err := s.ReadIndexManifest(ctx, name)
			if err != nil || !reflect.DeepEqual(in, out) {
				t.Fatalf("%s changed: %+v, %v", file, out, err)
			}
		}
	}
}

var testPartition = []*schema.Type{{Root: schema.Int}}

func testEntry(kind Kind, part, n int) Entry {
	p := binrow.EncodeRow(testPartition, []column.Scalar{column.IntScalar(column.KindInt32, int64(part))})
	return Entry{Kind: kind, Partition: p, TotalBuckets: 1, File: &DataFile{
		Name: fmt.Sprintf("data-%d.parquet", n), RowCount: 1, MinKey: binrow.Empty, MaxKey: binrow.Empty, KeyStats: EmptyStats(), ValueStats: EmptyStats(), SchemaID: int64(n % 3),
	}}
}

func liveNames(t *testing.T, s *Store, infos []FileInfo) []string {
	t.Helper()
	live, err := s.Live(context.Background(), infos, testPartition, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range live {
		out = append(out, e.File.Name)
	}
	return out
}

// Merging keeps the live files, whatever the thresholds and the history.
func TestMergeKeepsLiveFiles(t *testing.T) {
	ctx := context.Background()
	for seed := range int64(60) {
		rnd := rand.New(rand.NewSource(seed))
		s := NewStore(fileio.NewMemory(), "/t", nil)
		o := MergeOptions{WriteOptions: WriteOptions{Names: testNames(t, seed), PartitionTypes: testPartition, TargetSize: int64(1500 + rnd.Intn(4000))},
			FullMergeSize: int64(3000 + rnd.Intn(20000)), MinCount: 2 + rnd.Intn(6)}
		live := map[string]Entry{}
		var infos []FileInfo
		n := 0
		for range 40 {
			var entries []Entry
			for range 1 + rnd.Intn(4) {
				n++
				e := testEntry(Add, rnd.Intn(5), n)
				entries = append(entries, e)
				live[e.File.Name] = e
			}
			for name, e := range live {
				if rnd.Intn(12) == 0 {
					e.Kind = Delete
					entries = append(entries, e)
					delete(live, name)
				}
			}
			w, err := s.WriteManifests(ctx, entries, o.WriteOptions)
			if err != nil {
				t.Fatal(err)
			}
			infos = append(infos, w...)
			o.Always = rnd.Intn(10) == 0
			before := len(infos)
			if infos, _, err = s.MergeManifests(ctx, infos, o); err != nil {
				t.Fatal(err)
			}
			if o.Always {
				for _, i := range infos {
					if i.Deleted > 0 {
						t.Fatalf("seed %d: a deletion is left of %d manifests after a full merge", seed, before)
					}
				}
			}
			got := liveNames(t, s, infos)
			sort.Strings(got)
			var want []string
			for name := range live {
				want = append(want, name)
			}
			sort.Strings(want)
			if !reflect.DeepEqual(got, want) && len(got)+len(want) > 0 {
				t.Fatalf("seed %d: live files are %v, want %v", seed, got, want)
			}
		}
	}
}

// A failing write leaves no manifest behind.
func TestWriteFaultLeavesNothing(t *testing.T) {
	ctx := context.Background()
	entries := make([]Entry, 5000)
	for i := range entries {
		entries[i] = testEntry(Add, i%3, i)
	}
	for nth := 1; ; nth++ {
		mem := fileio.NewMemory()
		faulty := fileio.NewFaulty(mem)
		faulty.Inject(fileio.Fault{Nth: nth})
		s := NewStore(faulty, "/t", nil)
		_, err := s.WriteManifests(ctx, entries, WriteOptions{Names: testNames(t, 1), PartitionTypes: testPartition, TargetSize: 20000})
		if err == nil {
			if nth < 4 {
				t.Fatal("no fault was hit")
			}
			return
		}
		if left, _ := mem.List(ctx, "/t/manifest"); len(left) > 0 {
			t.Fatalf("fault %d (%v): %d files are left", nth, err, len(left))
		}
	}
}
