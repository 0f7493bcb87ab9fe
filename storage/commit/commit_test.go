package commit

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"sort"
	"sync"
	"testing"
	"time"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

const appendTable = `{"version":3,"id":0,"fields":[{"id":0,"name":"p","type":"INT"},{"id":1,"name":"v","type":"INT"}],"highestFieldId":1,
"partitionKeys":["p"],"primaryKeys":[],"options":{"manifest.target-file-size":"2 kb","manifest.full-compaction-threshold-size":"6 kb","manifest.merge-min-count":"4"},"comment":"","timeMillis":1}`

const keyTable = `{"version":3,"id":0,"fields":[{"id":0,"name":"p","type":"INT NOT NULL"},{"id":1,"name":"k","type":"INT NOT NULL"}],"highestFieldId":1,
"partitionKeys":["p"],"primaryKeys":["p","k"],"options":{"bucket":"2"},"comment":"","timeMillis":1}`

var intType = []*schema.Type{{Root: schema.Int}}

func part(n int) []byte {
	return binrow.EncodeRow(intType, []column.Scalar{column.IntScalar(column.KindInt32, int64(n))})
}

// setUp writes a schema and returns what a committer of another process has in common with this one: the files.
func setUp(t testing.TB, fio fileio.FileIO, text string) {
	t.Helper()
	if _, err := fio.PutIfAbsent(context.Background(), "/t/schema/schema-0", []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, fio fileio.FileIO, seed int64) *Committer {
	t.Helper()
	m := schema.NewManager(fio, "/t", &schema.Cache{})
	s, err := m.Latest(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return New(Target{
		FIO: fio, Dir: "/t", Label: "default.t", Schema: s, Schemas: m, Snapshots: snapshot.NewManager(fio, "/t", ""), Store: manifest.NewStore(fio, "/t", nil),
		Random: rand.New(rand.NewSource(seed)), Clock: func() time.Time { return time.UnixMilli(1000) },
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
}

func dataFile(name string, rows int64, level int, lo, hi int) *manifest.DataFile {
	f := &manifest.DataFile{Name: name, RowCount: rows, Level: level, MinKey: part(lo), MaxKey: part(hi), KeyStats: manifest.EmptyStats(), ValueStats: manifest.EmptyStats()}
	src := int32(manifest.SourceAppend)
	f.Source = &src
	return f
}

func message(p, bucket, total int, files ...*manifest.DataFile) Message {
	return Message{Partition: part(p), Bucket: bucket, TotalBuckets: total, NewFiles: files}
}

// live lists the live files of the newest snapshot, and its total.
func live(t testing.TB, fio fileio.FileIO) (names []string, latest *snapshot.Snapshot) {
	t.Helper()
	ctx := context.Background()
	c := open(t, fio, 99)
	latest, err := c.t.Snapshots.Latest(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if latest == nil {
		return nil, nil
	}
	infos, err := c.manifestsOf(ctx, latest)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := c.t.Store.Live(ctx, infos, c.t.Schema.PartitionTypes(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var rows int64
	for _, e := range entries {
		names = append(names, e.File.Name)
		rows += e.File.RowCount
	}
	if rows != *latest.TotalRecordCount {
		t.Fatalf("snapshot %d counts %d rows, its files hold %d", latest.ID, *latest.TotalRecordCount, rows)
	}
	sort.Strings(names)
	return names, latest
}

func batch(ms ...Message) Request { return Request{Identifier: BatchIdentifier, Messages: ms} }

// Random appends, deletions and overwrites leave the files that a map says.
func TestHistoryAgainstModel(t *testing.T) {
	ctx := context.Background()
	for seed := range int64(15) {
		fio := fileio.NewMemory()
		setUp(t, fio, appendTable)
		c := open(t, fio, seed)
		rnd := rand.New(rand.NewSource(seed))
		model := map[string]int{}
		files := map[string]*manifest.DataFile{}
		for n := range 40 {
			p := rnd.Intn(4)
			name := fmt.Sprintf("f%d", n)
			f := dataFile(name, int64(rnd.Intn(50)), 0, 0, 0)
			files[name] = f
			r := batch(message(p, 0, -1, f))
			switch rnd.Intn(6) {
			case 0:
				r.Overwrite = &Overwrite{Dynamic: true}
				for k, q := range model {
					if q == p {
						delete(model, k)
					}
				}
			case 1:
				r.Overwrite = &Overwrite{}
				clear(model)
			case 2:
				r.Overwrite = &Overwrite{Static: map[string]column.Scalar{"p": column.IntScalar(column.KindInt32, int64(p))}}
				for k, q := range model {
					if q == p {
						delete(model, k)
					}
				}
			case 3:
				for k, q := range model {
					r.Messages = append(r.Messages, Message{Partition: part(q), TotalBuckets: -1, DeletedFiles: []*manifest.DataFile{files[k]}})
					delete(model, k)
					break
				}
			}
			model[name] = p
			if _, err := c.Commit(ctx, r); err != nil {
				t.Fatal(err)
			}
			var want []string
			for k := range model {
				want = append(want, k)
			}
			sort.Strings(want)
			if got, _ := live(t, fio); !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, commit %d: live %v, want %v", seed, n, got, want)
			}
		}
		if res, err := c.DropPartitions(ctx, func(p []column.Scalar) bool { return p[0].I == 1 }); err != nil || len(res.Snapshots) == 1 && res.Snapshots[0].Operation != "TRUNCATE" {
			t.Fatalf("%+v, %v", res, err)
		}
		if _, err := c.CompactManifests(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Truncate(ctx); err != nil {
			t.Fatal(err)
		}
		if got, s := live(t, fio); len(got) > 0 || s.CommitKind != snapshot.Overwrite {
			t.Fatalf("after TRUNCATE %v are live in a snapshot of kind %s", got, s.CommitKind)
		}
	}
}

// Committers of several processes lose no file, and ids stay dense.
func TestConcurrentCommitters(t *testing.T) {
	ctx := context.Background()
	fio := fileio.NewMemory()
	setUp(t, fio, appendTable)
	const workers, each = 8, 25
	var wg sync.WaitGroup
	for w := range workers {
		// A wrapper of its own stands for a process of its own: it shares no lock with the others.
		c := open(t, fileio.NewFaulty(fio), int64(w))
		c.t.Schema = c.t.Schema.WithOptions(map[string]string{"commit.max-retries": "1000"})
		wg.Go(func() {
			for i := range each {
				if _, err := c.Commit(ctx, batch(message(w%3, 0, -1, dataFile(fmt.Sprintf("w%d-%d", w, i), 1, 0, 0, 0)))); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	got, latest := live(t, fio)
	if len(got) != workers*each || latest.ID != workers*each {
		t.Fatalf("%d files in %d snapshots, want %d", len(got), latest.ID, workers*each)
	}
	ids, err := snapshot.NewManager(fio, "/t", "").IDs(ctx)
	if err != nil || len(ids) != workers*each {
		t.Fatalf("%d ids, %v", len(ids), err)
	}
}

func TestConflicts(t *testing.T) {
	ctx := context.Background()
	fio := fileio.NewMemory()
	setUp(t, fio, keyTable)
	c := open(t, fio, 1)
	f1, f2 := dataFile("a", 3, 0, 1, 5), dataFile("b", 3, 0, 2, 9)
	if _, err := c.Commit(ctx, batch(message(1, 0, 2, f1, f2))); err != nil {
		t.Fatal(err)
	}
	compact := func(out string, lo, hi int, before ...*manifest.DataFile) Request {
		return batch(Message{Partition: part(1), TotalBuckets: 2, Compact: &Compaction{Before: before, After: []*manifest.DataFile{dataFile(out, 3, 5, lo, hi)}}})
	}
	res, err := c.Commit(ctx, compact("c", 1, 9, f1, f2))
	if err != nil || res.Snapshots[0].CommitKind != snapshot.Compact {
		t.Fatalf("%+v, %v", res, err)
	}
	// The same compaction once more: its inputs are gone.
	if _, err := c.Commit(ctx, compact("d", 1, 9, f1, f2)); !errs.Is(err, errs.Conflict) {
		t.Fatalf("want a conflict, got %v", err)
	}
	// Another file of the level whose keys overlap.
	if _, err := c.Commit(ctx, compact("e", 9, 12)); !errs.Is(err, errs.Conflict) {
		t.Fatalf("want a conflict, got %v", err)
	}
	if _, err := c.Commit(ctx, batch(message(1, 3, 4, dataFile("x", 1, 0, 1, 1)))); !errs.Is(err, errs.Invalid) {
		t.Fatalf("another bucket count was accepted: %v", err)
	}
	r := batch(message(1, 3, 4, dataFile("y", 1, 0, 1, 1)))
	r.Overwrite = &Overwrite{Dynamic: true}
	if _, err := c.Commit(ctx, r); err != nil {
		t.Fatal(err)
	}
	if got, _ := live(t, fio); !slices.Equal(got, []string{"y"}) {
		t.Fatalf("live: %v", got)
	}
	r = batch(message(2, 0, 4, dataFile("z", 1, 0, 1, 1)))
	r.Overwrite = &Overwrite{Static: map[string]column.Scalar{"p": column.IntScalar(column.KindInt32, 1)}}
	if _, err := c.Commit(ctx, r); !errs.Is(err, errs.Invalid) {
		t.Fatalf("a row outside the partition was accepted: %v", err)
	}
}

var errDisk = errors.New("no space left on device")

// Whatever file operation fails, before or after it took effect, the table has
// the state before or after the commit, and an error that is no Uncertain means before.
func TestFaultSweep(t *testing.T) {
	ctx := context.Background()
	for _, after := range []bool{false, true} {
		for _, count := range []int{1, -1} {
			for nth := 1; ; nth++ {
				mem := fileio.NewMemory()
				setUp(t, mem, appendTable)
				first := open(t, mem, 1)
				for i := range 3 {
					if _, err := first.Commit(ctx, batch(message(1, 0, -1, dataFile(fmt.Sprint("f", i), 1, 0, 0, 0)))); err != nil {
						t.Fatal(err)
					}
				}
				faulty := fileio.NewFaulty(mem)
				c := open(t, faulty, 2)
				before := faulty.Count(fileio.AnyOp)
				faulty.Inject(fileio.Fault{Nth: nth, Count: count, After: after, Err: errDisk})
				r := batch(message(1, 0, -1, dataFile("new", 1, 0, 0, 0)), Message{Partition: part(1), TotalBuckets: -1, DeletedFiles: []*manifest.DataFile{dataFile("f0", 1, 0, 0, 0)}})
				_, err := c.Commit(ctx, r)
				hit := faulty.Count(fileio.AnyOp)-before >= nth
				faulty.Clear()
				mem.Crash()
				got, _ := live(t, mem)
				isOld, isNew := slices.Equal(got, []string{"f0", "f1", "f2"}), slices.Equal(got, []string{"f1", "f2", "new"})
				switch {
				case !isOld && !isNew:
					t.Fatalf("fault %d (after %v): live %v", nth, after, got)
				case err == nil && !isNew:
					t.Fatalf("fault %d (after %v): success, but live %v", nth, after, got)
				case err != nil && !errs.Is(err, errs.Uncertain) && !isOld:
					t.Fatalf("fault %d (after %v): %v, but it was committed", nth, after, err)
				}
				// The next commit goes on from there.
				if _, err := open(t, mem, 3).Commit(ctx, batch(message(2, 0, -1, dataFile("later", 1, 0, 0, 0)))); err != nil {
					t.Fatalf("fault %d: the next commit: %v", nth, err)
				}
				if !hit {
					if nth < 8 {
						t.Fatalf("only %d operations", nth)
					}
					break
				}
			}
		}
	}
}
