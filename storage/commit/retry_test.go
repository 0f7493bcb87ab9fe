package commit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/manifest"
)

// hooked is a file system whose publication can be tampered with.
type hooked struct {
	fileio.FileIO
	// put replaces PutIfAbsent of snapshots, where it is not nil.
	put func(ctx context.Context, path string, data []byte) (bool, error)
	// read is asked before a snapshot is read; its error is the result.
	read func(path string) error
}

func isSnapshot(p string) bool { return strings.Contains(p, "/snapshot/snapshot-") }

func (h *hooked) PutIfAbsent(ctx context.Context, p string, data []byte) (bool, error) {
	if h.put != nil && isSnapshot(p) {
		return h.put(ctx, p, data)
	}
	return h.FileIO.PutIfAbsent(ctx, p, data)
}

func (h *hooked) ReadFile(ctx context.Context, p string) ([]byte, error) {
	if h.read != nil && isSnapshot(p) {
		if err := h.read(p); err != nil {
			return nil, err
		}
	}
	return h.FileIO.ReadFile(ctx, p)
}

// metadata lists the files of manifest/ and those of them that snapshots refer to.
func metadata(t testing.TB, fio fileio.FileIO) (all, used []string) {
	t.Helper()
	ctx := context.Background()
	infos, err := fio.List(ctx, "/t/manifest")
	if err != nil && !errs.Is(err, errs.NotFound) {
		t.Fatal(err)
	}
	for _, i := range infos {
		all = append(all, i.Name)
	}
	c := open(t, fio, 98)
	snaps, err := c.t.Snapshots.List(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range snaps {
		for _, l := range []string{s.BaseManifestList, s.DeltaManifestList, s.ChangelogManifestList} {
			if l == "" {
				continue
			}
			used = append(used, l)
			infos, err := c.t.Store.ReadList(ctx, l)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range infos {
				used = append(used, i.Name)
				if _, err := c.t.Store.ReadManifest(ctx, i.Name, i.Size); err != nil {
					t.Fatal(err)
				}
			}
		}
		if s.IndexManifest != "" {
			used = append(used, s.IndexManifest)
			if _, err := c.t.Store.ReadIndexManifest(ctx, s.IndexManifest); err != nil {
				t.Fatal(err)
			}
		}
	}
	slices.Sort(used)
	return all, slices.Compact(used)
}

// noOrphans demands that every metadata file is one of a snapshot.
func noOrphans(t testing.TB, fio fileio.FileIO) {
	t.Helper()
	if all, used := metadata(t, fio); !slices.Equal(all, used) {
		t.Fatalf("files of manifest/: %v\nreferred to: %v", all, used)
	}
}

// A commit that loses races is repeated on the newer state, after growing waits,
// as often as the options say, and leaves nothing of the lost attempts behind.
func TestLostRaces(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		lose, retries int
		timeout       string
		tries         int
		ok            bool
	}{
		{0, 10, "", 1, true}, {3, 10, "", 4, true}, {10, 10, "", 11, true}, {11, 10, "", 11, false},
		{1, 0, "", 1, false}, {9, 10, "250 ms", 6, false},
	} {
		mem := fileio.NewMemory()
		setUp(t, mem, appendTable)
		other := open(t, mem, 1)
		lost := 0
		h := &hooked{FileIO: mem}
		h.put = func(ctx context.Context, p string, data []byte) (bool, error) {
			if lost++; lost <= c.lose {
				if _, err := other.Commit(ctx, batch(message(1, 0, -1, dataFile(fmt.Sprint("other", lost), 1, 0, 0, 0)))); err != nil {
					t.Fatal(err)
				}
			}
			return mem.PutIfAbsent(ctx, p, data)
		}
		mine := open(t, h, 2)
		opts := map[string]string{"commit.max-retries": fmt.Sprint(c.retries), "commit.min-retry-wait": "10 ms", "commit.max-retry-wait": "100 ms"}
		if c.timeout != "" {
			opts["commit.timeout"] = c.timeout
		}
		mine.t.Schema = mine.t.Schema.WithOptions(opts)
		now := time.UnixMilli(0)
		mine.t.Clock = func() time.Time { return now }
		var waits []time.Duration
		mine.t.Sleep = func(_ context.Context, d time.Duration) error {
			waits = append(waits, d)
			now = now.Add(50 * time.Millisecond)
			return nil
		}
		_, err := mine.Commit(ctx, batch(message(1, 0, -1, dataFile("mine", 1, 0, 0, 0))))
		if (err == nil) != c.ok || err != nil && !errs.Is(err, errs.Conflict) || lost != c.tries {
			t.Fatalf("%+v: %d tries, %v", c, lost, err)
		}
		for i, w := range waits {
			if want := min(10*time.Millisecond<<i, 100*time.Millisecond); w < want/2 || w > want*3/2 {
				t.Errorf("%+v: wait %d is %v", c, i, w)
			}
		}
		got, latest := live(t, mem)
		if slices.Contains(got, "mine") != c.ok || len(got) != int(latest.ID) {
			t.Fatalf("%+v: live %v in snapshot %d", c, got, latest.ID)
		}
		noOrphans(t, mem)
	}
}

// A context that ends while a commit waits for its turn, or for its next attempt, ends it.
func TestCancelled(t *testing.T) {
	mem := fileio.NewMemory()
	setUp(t, mem, appendTable)
	ctx, cancel := context.WithCancel(context.Background())
	h := &hooked{FileIO: mem}
	other := open(t, mem, 1)
	h.put = func(ctx context.Context, p string, data []byte) (bool, error) {
		if _, err := other.Commit(ctx, batch(message(1, 0, -1, dataFile("other", 1, 0, 0, 0)))); err != nil {
			t.Fatal(err)
		}
		cancel()
		return mem.PutIfAbsent(ctx, p, data)
	}
	mine := open(t, h, 2)
	mine.t.Sleep = sleep
	if _, err := mine.Commit(ctx, batch(message(1, 0, -1, dataFile("mine", 1, 0, 0, 0)))); err != context.Canceled {
		t.Fatal(err)
	}
	noOrphans(t, mem)

	// One that waits for another commit of the process.
	inside, release := make(chan bool), make(chan bool)
	h.put = func(ctx context.Context, p string, data []byte) (bool, error) {
		close(inside)
		<-release
		return mem.PutIfAbsent(ctx, p, data)
	}
	done := make(chan error)
	go func() {
		_, err := mine.Commit(context.Background(), batch(message(1, 0, -1, dataFile("first", 1, 0, 0, 0))))
		done <- err
	}()
	<-inside
	if _, err := open(t, h, 3).Commit(ctx, batch(message(1, 0, -1, dataFile("second", 1, 0, 0, 0)))); err != context.Canceled {
		t.Fatal(err)
	}
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got, _ := live(t, mem); !slices.Equal(got, []string{"first", "other"}) {
		t.Fatal(got)
	}
}

// What a storage says of a publication is not always what it did. Whatever it
// says, the files are committed once or not at all, and the answer fits.
func TestDoubt(t *testing.T) {
	ctx := context.Background()
	doubt := errs.Uncertainf("the connection broke")
	plain := fmt.Errorf("the connection broke")
	type world struct {
		mem   *fileio.Memory
		h     *hooked
		tries int
		other func(name string)
	}
	for _, c := range []struct {
		name string
		put  func(w *world, p string, data []byte) (bool, error)
		// want: 1 committed, 0 not, -1 uncertain.
		want int
	}{
		{"written, answered with an error", func(w *world, p string, data []byte) (bool, error) {
			_, _ = w.mem.PutIfAbsent(ctx, p, data)
			return false, plain
		}, 1},
		{"written, answered with no", func(w *world, p string, data []byte) (bool, error) {
			_, _ = w.mem.PutIfAbsent(ctx, p, data)
			return false, nil
		}, 1},
		{"answered with yes, replaced by somebody else", func(w *world, p string, data []byte) (bool, error) {
			if w.tries == 1 {
				w.other("other")
				return true, nil
			}
			return w.mem.PutIfAbsent(ctx, p, data)
		}, 1},
		{"not written, a plain error", func(w *world, p string, data []byte) (bool, error) { return false, plain }, 0},
		{"not written, and nobody knows", func(w *world, p string, data []byte) (bool, error) {
			if w.tries == 1 {
				return false, doubt
			}
			return w.mem.PutIfAbsent(ctx, p, data)
		}, 1},
		{"never known", func(w *world, p string, data []byte) (bool, error) { return false, doubt }, -1},
		{"written later, before the next attempt", func(w *world, p string, data []byte) (bool, error) {
			if w.tries == 1 {
				w.h.read = func(string) error {
					w.h.read = nil
					_, _ = w.mem.PutIfAbsent(ctx, p, data)
					w.other("other")
					return plain
				}
				return false, plain
			}
			return w.mem.PutIfAbsent(ctx, p, data)
		}, 1},
		{"written later, during the next attempt", func(w *world, p string, data []byte) (bool, error) {
			if w.tries == 1 {
				first := data
				w.h.put = func(ctx context.Context, p string, data []byte) (bool, error) {
					w.h.put = nil
					_, _ = w.mem.PutIfAbsent(ctx, p, first)
					return w.mem.PutIfAbsent(ctx, p, data)
				}
				return false, doubt
			}
			return w.mem.PutIfAbsent(ctx, p, data)
		}, 1},
		{"unknown, then somebody else has the id", func(w *world, p string, data []byte) (bool, error) {
			if w.tries == 1 {
				w.other("other")
				w.h.read = func(string) error { w.h.read = nil; return plain }
				return false, plain
			}
			return w.mem.PutIfAbsent(ctx, p, data)
		}, 1},
		{"unknown, then somebody else has the id and the files conflict", func(w *world, p string, data []byte) (bool, error) {
			w.other("mine")
			w.h.read = func(string) error { w.h.read = nil; return plain }
			return false, plain
		}, 0},
		{"unknown, then the ids are gone", func(w *world, p string, data []byte) (bool, error) {
			w.h.read = func(string) error {
				w.h.read = nil
				_, _ = w.mem.PutIfAbsent(ctx, p, data)
				w.other("x")
				w.other("y")
				_ = w.mem.Delete(ctx, p)
				return plain
			}
			return false, plain
		}, -1},
	} {
		w := &world{mem: fileio.NewMemory()}
		setUp(t, w.mem, appendTable)
		w.h = &hooked{FileIO: w.mem}
		seed := int64(50)
		w.other = func(name string) {
			seed++
			if _, err := open(t, w.mem, seed).Commit(ctx, batch(message(1, 0, -1, dataFile(name, 1, 0, 0, 0)))); err != nil {
				t.Fatal(err)
			}
		}
		w.other("old")
		w.h.put = func(_ context.Context, p string, data []byte) (bool, error) {
			w.tries++
			return c.put(w, p, data)
		}
		// A deletion, so that a second commit of the same files would be a conflict.
		r := batch(message(1, 0, -1, dataFile("mine", 1, 0, 0, 0)), Message{Partition: part(1), TotalBuckets: -1, DeletedFiles: []*manifest.DataFile{dataFile("old", 1, 0, 0, 0)}})
		res, err := open(t, w.h, 2).Commit(ctx, r)
		got, _ := live(t, w.mem)
		if ok := err == nil; c.want == 1 && (!ok || len(res.Snapshots) != 1) || c.want == 0 && (ok || errs.Is(err, errs.Uncertain)) || c.want == -1 && !errs.Is(err, errs.Uncertain) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if c.want == 1 && (slices.Contains(got, "old") || !slices.Contains(got, "mine")) {
			t.Errorf("%s: live %v", c.name, got)
		}
		ids, err := open(t, w.mem, 9).t.Snapshots.IDs(ctx)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, id := range ids {
			s, err := open(t, w.mem, 9).t.Snapshots.Get(ctx, id)
			if err != nil {
				t.Fatal(err)
			}
			if s.CommitKind == "OVERWRITE" {
				n++
			}
		}
		if c.want >= 0 && n != c.want {
			t.Errorf("%s: committed %d times", c.name, n)
		}
		if _, used := metadata(t, w.mem); len(used) == 0 {
			t.Errorf("%s: nothing is referred to", c.name)
		}
	}
}

// An attempt that is held up until its id was given away and has expired again must not
// end as a snapshot that nobody sees.
func TestHeldUp(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name            string
		others, expired int
		leaveBehind     bool
	}{
		{"nothing happened", 0, 0, false},
		{"lost", 3, 2, false},
		{"the id was free again", 3, 3, true},
		{"the id was free again, long ago", 9, 5, true},
		{"the id was the last that expired", 5, 3, true},
	} {
		for _, opts := range []map[string]string{nil, {"manifest.merge-min-count": "1", "manifest.full-compaction-threshold-size": "1 b"}} {
			mem := fileio.NewMemory()
			setUp(t, mem, appendTable)
			other := open(t, mem, 1)
			other.t.Schema = other.t.Schema.WithOptions(opts)
			commit := func(name string) {
				if _, err := other.Commit(ctx, batch(message(1, 0, -1, dataFile(name, 1, 0, 0, 0)))); err != nil {
					t.Fatal(err)
				}
			}
			commit("first")
			commit("second")
			h := &hooked{FileIO: mem}
			h.put = func(ctx context.Context, p string, data []byte) (bool, error) {
				h.put = nil
				for i := range c.others {
					commit(fmt.Sprint("other", i))
				}
				if err := expire(other, int64(c.expired)); err != nil {
					t.Fatal(err)
				}
				return mem.PutIfAbsent(ctx, p, data)
			}
			mine := open(t, h, 2)
			res, err := mine.Commit(ctx, batch(message(1, 0, -1, dataFile("mine", 1, 0, 0, 0))))
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			got, latest := live(t, mem)
			if !slices.Contains(got, "mine") || len(got) != 3+c.others || res.Snapshots[0].ID != latest.ID || latest.ID != int64(3+c.others) {
				t.Fatalf("%s: live %v in snapshot %d", c.name, got, latest.ID)
			}
			if there, _ := mine.t.Snapshots.Exists(ctx, 3); c.leaveBehind && there {
				t.Errorf("%s: snapshot 3 is there", c.name)
			}
		}
	}
	// Others commit on top at once, and what was before expires: nothing is wrong.
	for _, opts := range []map[string]string{nil, {"manifest.merge-min-count": "1", "manifest.full-compaction-threshold-size": "1 b"}} {
		mem := fileio.NewMemory()
		setUp(t, mem, appendTable)
		other := open(t, mem, 1)
		other.t.Schema = other.t.Schema.WithOptions(opts)
		if _, err := other.Commit(ctx, batch(message(1, 0, -1, dataFile("first", 1, 0, 0, 0)))); err != nil {
			t.Fatal(err)
		}
		h := &hooked{FileIO: mem}
		h.put = func(ctx context.Context, p string, data []byte) (bool, error) {
			h.put = nil
			created, err := mem.PutIfAbsent(ctx, p, data)
			for i := range 3 {
				if _, err := other.Commit(ctx, batch(message(1, 0, -1, dataFile(fmt.Sprint("later", i), 1, 0, 0, 0)))); err != nil {
					t.Fatal(err)
				}
			}
			if err := expire(other, 1); err != nil {
				t.Fatal(err)
			}
			return created, err
		}
		res, err := open(t, h, 2).Commit(ctx, batch(message(1, 0, -1, dataFile("mine", 1, 0, 0, 0))))
		if got, _ := live(t, mem); err != nil || res.Snapshots[0].ID != 2 || len(got) != 5 {
			t.Fatalf("%v: %v", err, got)
		}
	}
}

// A commit of deletion vectors alone changes no data file; held up like that, it must not end unseen either.
func TestHeldUpVectors(t *testing.T) {
	ctx := context.Background()
	rows := func(name string) Request { return batch(message(1, 0, -1, dataFile(name, 9, 0, 0, 0))) }
	gone := func(name string) Request {
		return batch(Message{Partition: part(1), TotalBuckets: -1, NewIndexFiles: []manifest.IndexEntry{vectors(1, 0, "vectors-"+name, name+":1")}})
	}
	for _, c := range []struct {
		name    string
		others  []Request
		expired int64
		// before says that the snapshot is published before the others commit; hinted that the hint tells of the expiry.
		before, hinted bool
		// uncertain says that nobody can tell.
		uncertain bool
	}{
		{"nothing happened", nil, 0, false, false, false},
		{"lost", []Request{rows("x"), rows("y")}, 2, false, false, false},
		{"the id was free again", []Request{rows("x"), rows("y")}, 3, false, false, false},
		{"the id was free again, long ago", []Request{rows("x"), rows("y"), rows("z"), gone("z")}, 5, false, false, false},
		{"the id was that of other vectors", []Request{gone("second"), rows("y")}, 3, false, true, false},
		{"the id was that of other vectors, without a hint", []Request{gone("second"), rows("y")}, 3, false, false, true},
		{"others followed", []Request{rows("x"), rows("y")}, 2, true, false, false},
		{"others followed with vectors", []Request{gone("second"), rows("y")}, 2, true, false, false},
	} {
		for _, opts := range []map[string]string{nil, {"manifest.merge-min-count": "1", "manifest.full-compaction-threshold-size": "1 b"}} {
			mem := fileio.NewMemory()
			setUp(t, mem, appendTable)
			other := open(t, mem, 1)
			other.t.Schema = other.t.Schema.WithOptions(opts)
			do := func(r Request) {
				if _, err := other.Commit(ctx, r); err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
			}
			do(rows("first"))
			do(rows("second"))
			h := &hooked{FileIO: mem}
			h.put = func(ctx context.Context, p string, data []byte) (created bool, err error) {
				h.put = nil
				if c.before {
					created, err = mem.PutIfAbsent(ctx, p, data)
				}
				for _, r := range c.others {
					do(r)
				}
				if err := expire(other, c.expired); err != nil {
					t.Fatal(err)
				}
				if c.hinted {
					other.t.Snapshots.WriteEarliestHint(ctx, c.expired+1)
				}
				if c.before {
					return created, err
				}
				return mem.PutIfAbsent(ctx, p, data)
			}
			_, err := open(t, h, 2).Commit(ctx, gone("first"))
			if errs.Is(err, errs.Uncertain) != c.uncertain || !c.uncertain && err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			there := slices.Contains(indexState(t, mem), "vectors-first first")
			if there == c.uncertain {
				t.Errorf("%s: error %v, but the vectors are %v", c.name, err, indexState(t, mem))
			}
		}
	}
}
