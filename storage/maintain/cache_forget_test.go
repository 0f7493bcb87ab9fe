package maintain

import (
	"context"
	"testing"

	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// TestExpiryEmptiesCaches lets snapshots expire while every new one is read: caches keep nothing of files that are gone.
func TestExpiryEmptiesCaches(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, 3, `"snapshot.num-retained.min":"2","snapshot.num-retained.max":"3"`)
	c := manifest.NewCache(64 << 20)
	m := New(Target{FIO: w.fio, Dir: tableDir, Label: "default.t", Clock: w.clock, Random: w.rnd, Manifests: c, Deleted: c.Forget})
	most := 0
	for range 40 {
		w.commit("main")
		s, err := m.own.snaps.Latest(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range []string{s.BaseManifestList, s.DeltaManifestList} {
			infos, err := m.store.ReadList(ctx, list)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range infos {
				if _, err := m.store.ReadManifest(ctx, i.Name, i.Size); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := m.ExpireSnapshots(ctx, ExpireOptions{}); err != nil {
			t.Fatal(err)
		}
		files, err := w.fio.List(ctx, tableDir+"/manifest")
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, c.Stats().Entries)
		if n := c.Stats().Entries; n > len(files) {
			t.Fatalf("snapshot %d: the cache has %d files, there are %d", s.ID, n, len(files))
		}
	}
	if s, err := m.own.snaps.Earliest(ctx); err != nil || s.ID <= snapshot.FirstID || most == 0 {
		t.Fatalf("nothing expired, or nothing was kept: %v", err)
	}
}
