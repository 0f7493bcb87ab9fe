package commit

import (
	"context"
	"testing"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// expire removes the snapshots up to last.
func expire(c *Committer, last int64) error {
	for id := int64(1); id <= last; id++ {
		if err := c.t.FIO.Delete(context.Background(), c.t.Snapshots.Path(id)); err != nil {
			return err
		}
	}
	return nil
}

// A statement that has read fails if, and only if, a later commit changed what matters to it.
func TestIsolation(t *testing.T) {
	ctx := context.Background()
	inPartition := func(p int) func(RowChange) (bool, error) {
		return func(x RowChange) (bool, error) { return string(x.Partition) == string(part(p)), nil }
	}
	vector := Message{Partition: part(1), TotalBuckets: -1, NewIndexFiles: []manifest.IndexEntry{vectors(1, 0, "v", "f1:2")}}
	for _, c := range []struct {
		name     string
		relevant func(RowChange) (bool, error)
		then     func(c *Committer) error
		conflict bool
	}{
		{"nothing", nil, func(*Committer) error { return nil }, false},
		{"an insert", nil, func(c *Committer) error {
			_, err := c.Commit(ctx, batch(message(2, 0, -1, dataFile("n", 1, 0, 0, 0))))
			return err
		}, true},
		{"an insert elsewhere", inPartition(1), func(c *Committer) error {
			_, err := c.Commit(ctx, batch(message(2, 0, -1, dataFile("n", 1, 0, 0, 0))))
			return err
		}, false},
		{"an insert here, then one elsewhere", inPartition(1), func(c *Committer) error {
			for p := range 2 {
				if _, err := c.Commit(ctx, batch(message(1+p, 0, -1, dataFile("n", 1, 0, 0, 0)))); err != nil {
					return err
				}
			}
			return nil
		}, true},
		{"a compaction", nil, func(c *Committer) error {
			_, err := c.Commit(ctx, batch(Message{Partition: part(1), TotalBuckets: -1, Compact: &Compaction{
				Before: []*manifest.DataFile{dataFile("f1", 5, 0, 0, 0), dataFile("f2", 5, 0, 0, 0)}, After: []*manifest.DataFile{dataFile("g", 10, 0, 0, 0)}}}))
			return err
		}, false},
		{"deleted rows", nil, func(c *Committer) error { _, err := c.Commit(ctx, batch(vector)); return err }, true},
		{"deleted rows elsewhere", inPartition(2), func(c *Committer) error { _, err := c.Commit(ctx, batch(vector)); return err }, false},
		{"a partition dropped", inPartition(1), func(c *Committer) error {
			_, err := c.Commit(ctx, Request{Identifier: BatchIdentifier, Overwrite: &Overwrite{}})
			return err
		}, true},
		{"statistics and manifests", nil, func(c *Committer) error {
			if _, err := c.Analyze(ctx, "stat-1"); err != nil {
				return err
			}
			_, err := c.CompactManifests(ctx)
			return err
		}, false},
		{"rolled back", inPartition(9), func(c *Committer) error { return c.t.FIO.Delete(ctx, "/t/snapshot/snapshot-2") }, true},
		{"rolled back, another instead", inPartition(9), func(c *Committer) error {
			if err := c.t.FIO.Delete(ctx, "/t/snapshot/snapshot-2"); err != nil {
				return err
			}
			_, err := c.Commit(ctx, batch(message(2, 0, -1, dataFile("n", 1, 0, 0, 0))))
			return err
		}, true},
		{"rolled back, others instead", inPartition(9), func(c *Committer) error {
			if err := c.t.FIO.Delete(ctx, "/t/snapshot/snapshot-2"); err != nil {
				return err
			}
			for range 2 {
				if _, err := c.Commit(ctx, Request{Identifier: BatchIdentifier, Force: true}); err != nil {
					return err
				}
			}
			return nil
		}, true},
		{"the base expired", inPartition(1), func(c *Committer) error {
			if _, err := c.Commit(ctx, batch(message(2, 0, -1, dataFile("n", 1, 0, 0, 0)))); err != nil {
				return err
			}
			return expire(c, 2)
		}, false},
		{"what followed expired", inPartition(1), func(c *Committer) error {
			for i := range 2 {
				if _, err := c.Commit(ctx, batch(message(2, 0, -1, dataFile("n"+string(rune('0'+i)), 1, 0, 0, 0)))); err != nil {
					return err
				}
			}
			return expire(c, 3)
		}, true},
	} {
		for _, during := range []bool{false, true} {
			mem := fileio.NewMemory()
			setUp(t, mem, appendTable)
			other := open(t, mem, 1)
			var base *snapshot.Snapshot
			for _, f := range []string{"f1", "f2"} {
				res, err := other.Commit(ctx, batch(message(1, 0, -1, dataFile(f, 5, 0, 0, 0))))
				if err != nil {
					t.Fatal(err)
				}
				base = res.Snapshots[0]
			}
			h := &hooked{FileIO: mem}
			mine := open(t, h, 2)
			if during { // the change comes between the check and the publication
				h.put = func(ctx context.Context, p string, data []byte) (bool, error) {
					h.put = nil
					if err := c.then(other); err != nil {
						t.Fatal(err)
					}
					return mem.PutIfAbsent(ctx, p, data)
				}
			} else if err := c.then(other); err != nil {
				t.Fatal(err)
			}
			r := batch(message(7, 0, -1, dataFile("mine", 1, 0, 0, 0)))
			r.Read = &Read{Base: base, Relevant: c.relevant}
			_, err := mine.Commit(ctx, r)
			// A snapshot with this commit's id may have been free again after the change.
			if during && c.conflict && err == nil {
				if s, e := mine.t.Snapshots.Latest(ctx); e == nil && s.ID == base.ID+1 {
					continue
				}
			}
			if c.conflict != errs.Is(err, errs.Conflict) || !c.conflict && err != nil {
				t.Errorf("%s (during %v): %v", c.name, during, err)
			}
		}
	}
}

// A statement that read an empty table sees every first commit.
func TestIsolationOfEmptyTable(t *testing.T) {
	ctx := context.Background()
	mem := fileio.NewMemory()
	setUp(t, mem, appendTable)
	c := open(t, mem, 1)
	r := batch(message(1, 0, -1, dataFile("a", 1, 0, 0, 0)))
	r.Read = &Read{}
	if _, err := c.Commit(ctx, r); err != nil {
		t.Fatal(err)
	}
	r = batch(message(1, 0, -1, dataFile("b", 1, 0, 0, 0)))
	r.Read = &Read{}
	if _, err := c.Commit(ctx, r); !errs.Is(err, errs.Conflict) {
		t.Fatal(err)
	}
	s, err := c.t.Snapshots.Get(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.t.FIO.Delete(ctx, "/t/snapshot/snapshot-1"); err != nil {
		t.Fatal(err)
	}
	r.Read = &Read{Base: s}
	if _, err := c.Commit(ctx, r); !errs.Is(err, errs.Conflict) {
		t.Fatal(err)
	}
}

// Read and Check hold for the statement's own snapshot, not for the compaction that follows it.
func TestCompactionAfterRead(t *testing.T) {
	ctx := context.Background()
	mem := fileio.NewMemory()
	setUp(t, mem, keyTable)
	c := open(t, mem, 1)
	checks := 0
	a, up := dataFile("a", 1, 0, 1, 1), dataFile("a", 1, 5, 1, 1)
	m := message(1, 0, 2, a)
	m.Compact = &Compaction{Before: []*manifest.DataFile{a}, After: []*manifest.DataFile{up}}
	r := batch(m)
	r.Read = &Read{}
	r.Check = func(_ context.Context, latest *snapshot.Snapshot) error {
		checks++
		if latest != nil {
			t.Errorf("asked about snapshot %d", latest.ID)
		}
		return nil
	}
	res, err := c.Commit(ctx, r)
	if err != nil || res.Compaction != nil || len(res.Snapshots) != 2 || checks != 1 {
		t.Fatalf("%+v %v, %d checks", res, err, checks)
	}
	x, y := res.Snapshots[0], res.Snapshots[1]
	if x.CommitKind != snapshot.Append || y.CommitKind != snapshot.Compact || x.CommitUser != y.CommitUser || x.CommitIdentifier != y.CommitIdentifier || x.UUID == y.UUID {
		t.Errorf("%+v\n%+v", x, y)
	}
	// A dedicated compaction is a statement by itself.
	r = batch(Message{Partition: part(1), TotalBuckets: 2, Compact: &Compaction{Before: []*manifest.DataFile{up}, After: []*manifest.DataFile{dataFile("b", 1, 5, 1, 1)}}})
	r.Check = func(context.Context, *snapshot.Snapshot) error { return errs.Conflictf("no") }
	if _, err := c.Commit(ctx, r); !errs.Is(err, errs.Conflict) {
		t.Fatal(err)
	}
}

// The compaction of a statement whose rows are published may fail; its files are
// removed then, those that it only moved are not.
func TestCompactionFails(t *testing.T) {
	ctx := context.Background()
	mem := fileio.NewMemory()
	setUp(t, mem, keyTable)
	c := open(t, mem, 1)
	a, b := dataFile("a", 1, 0, 1, 1), dataFile("b", 1, 0, 2, 2)
	m := message(1, 0, 2, a, b)
	made := dataFile("c", 2, 5, 1, 2)
	made.ExtraFiles = []string{"c.index"}
	m.Compact = &Compaction{
		Before: []*manifest.DataFile{a, dataFile("gone", 1, 0, 1, 1)}, After: []*manifest.DataFile{dataFile("a", 1, 4, 1, 1), made},
		Changelog: []*manifest.DataFile{dataFile("log", 1, 0, 1, 1)}, NewIndexFiles: []manifest.IndexEntry{vectors(1, 0, "v")},
	}
	dir := "/t/p=1/bucket-0/"
	for _, f := range []string{dir + "a", dir + "b", dir + "c", dir + "c.index", dir + "log", "/t/index/v"} {
		if err := mem.Overwrite(ctx, f, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	res, err := c.Commit(ctx, batch(m))
	if err != nil || len(res.Snapshots) != 1 || !errs.Is(res.Compaction, errs.Conflict) {
		t.Fatalf("%+v %v", res, err)
	}
	for f, want := range map[string]bool{dir + "a": true, dir + "b": true, dir + "c": false, dir + "c.index": false, dir + "log": false, "/t/index/v": false} {
		if _, err := mem.Stat(ctx, f); (err == nil) != want {
			t.Errorf("%s: %v", f, err)
		}
	}
	// Abort removes all that is new.
	m.Compact = nil
	c.Abort(ctx, []Message{m})
	for _, f := range []string{dir + "a", dir + "b"} {
		if _, err := mem.Stat(ctx, f); err == nil {
			t.Errorf("%s is still there", f)
		}
	}
}

// A compaction that moves rows out of the postpone bucket changes what statements have read of real buckets.
func TestPostponedRowsAreChanges(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		postponed, moves, conflict bool
	}{{true, true, true}, {true, false, false}, {false, true, false}} {
		fio := fileio.NewMemory()
		setUp(t, fio, keyTable)
		w := open(t, fio, 1)
		waits := dataFile("w", 3, 0, 1, 3)
		for _, m := range []Message{message(1, 0, 2, dataFile("a", 1, 0, 1, 1)), message(1, -2, -2, waits)} {
			if _, err := w.Commit(ctx, batch(m)); err != nil {
				t.Fatal(err)
			}
		}
		base, err := w.t.Snapshots.Latest(ctx)
		if err != nil {
			t.Fatal(err)
		}
		before := []Message{{Partition: part(1), TotalBuckets: 2, Compact: &Compaction{Before: []*manifest.DataFile{dataFile("a", 1, 0, 1, 1)}, After: []*manifest.DataFile{dataFile("b", 1, 5, 1, 1)}}}}
		if c.moves {
			before = []Message{{Partition: part(1), Bucket: -2, TotalBuckets: -2, Compact: &Compaction{Before: []*manifest.DataFile{waits}}},
				{Partition: part(1), TotalBuckets: 2, Compact: &Compaction{After: []*manifest.DataFile{dataFile("m", 3, 0, 1, 3)}}}}
		}
		if _, err := open(t, fio, 2).Commit(ctx, batch(before...)); err != nil {
			t.Fatal(err)
		}
		r := batch(message(1, 0, 2, dataFile("n", 1, 0, 2, 2)))
		r.Read = &Read{Base: base, Postponed: c.postponed, Relevant: func(x RowChange) (bool, error) { return x.Bucket == 0 && x.Kind == manifest.Add, nil }}
		if _, err := w.Commit(ctx, r); Stale(err) != c.conflict || !c.conflict && err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
