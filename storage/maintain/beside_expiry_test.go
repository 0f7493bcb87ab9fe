package maintain

import (
	"context"
	"fmt"
	"maps"
	"math/rand"
	"testing"
	"time"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/manifest"
)

// TestBesideExpiry lets another process commit, and expire all snapshots that there were, before each file operation of what deletes files: it
// may say that there was a conflict, but what is left has all of its files.
func TestBesideExpiry(t *testing.T) {
	ctx := context.Background()
	one := ExpireOptions{RetainMax: ptr(1), RetainMin: ptr(1)}
	few := ExpireOptions{RetainMax: ptr(2), RetainMin: ptr(1)}
	const decoupled = `,"changelog-producer":"lookup","changelog.num-retained.min":"1","changelog.num-retained.max":"50","changelog.time-retained":"1 d"`
	for _, c := range []struct {
		name, options string
		run           func(m *Table, limit time.Time) error
	}{
		{"expire snapshots", "", func(m *Table, _ time.Time) error { _, err := m.ExpireSnapshots(ctx, few); return err }},
		{"expire into changelogs", decoupled, func(m *Table, _ time.Time) error { _, err := m.ExpireSnapshots(ctx, few); return err }},
		{"expire changelogs", decoupled, func(m *Table, _ time.Time) error { _, err := m.ExpireChangelogs(ctx, one, false); return err }},
		{"delete tag", "", func(m *Table, _ time.Time) error { _, err := m.DeleteTag(ctx, "kept"); return err }},
		{"clean orphans", "", func(m *Table, limit time.Time) error {
			_, err := m.RemoveOrphanFiles(ctx, OrphanOptions{OlderThan: &limit})
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conflicts, runs := 0, 0
			for seed := range int64(3) {
				start := fileio.NewMemory()
				base := newWorld(t, seed, smallManifests+c.options)
				base.fio = start
				base.write(tableDir+"/schema/schema-0", tableJSON(0, smallManifests+c.options))
				for range 4 {
					base.commit("")
				}
				if _, err := base.table("").CreateTag(ctx, "kept", TagOptions{}); err != nil {
					t.Fatal(err)
				}
				for range 4 {
					base.commit("")
				}
				if c.options != "" || c.name == "delete tag" {
					if _, err := base.table("").ExpireSnapshots(ctx, ExpireOptions{RetainMax: ptr(3), RetainMin: ptr(1)}); err != nil {
						t.Fatal(err)
					}
				}
				limit := time.Now()
				over := func(fio fileio.FileIO, seed int64) *world {
					w := *base
					w.t, w.fio, w.rnd, w.want, w.files = t, fio, rand.New(rand.NewSource(seed)), maps.Clone(base.want), base.files+int(seed)*100
					return &w
				}
				for nth, done := 1, false; !done; nth++ {
					mem := start.Clone()
					faulty := fileio.NewFaulty(mem)
					mine, other := over(faulty, 101), over(mem, 102)
					mine.now = time.Now().Add(time.Hour)
					m := New(Target{FIO: faulty, Dir: tableDir, Label: "default.t", Clock: mine.clock, Random: mine.rnd, Manifests: manifest.NewCache(1 << 20)})
					sch, err := m.schema(ctx)
					if err != nil {
						t.Fatal(err)
					}
					for _, s := range mine.states() { // as who has committed them knows their manifests
						if _, err := m.metadataOf(ctx, newLayout(tableDir, sch), s.snap, true); err != nil {
							t.Fatal(err)
						}
					}
					before := faulty.Count(fileio.AnyOp)
					done = true
					faulty.Inject(fileio.Fault{Nth: nth, Do: func(context.Context, string) {
						done = false
						other.commit("")
						other.commit("")
						if _, err := other.table("").ExpireSnapshots(ctx, one); err != nil {
							t.Errorf("the other one: %v", err)
						}
					}})
					err = c.run(m, limit)
					runs++
					if errs.Is(err, errs.Conflict) {
						conflicts++
					} else if err != nil {
						t.Fatalf("seed %d, operation %d: %v", seed, nth, err)
					}
					other.check(fmt.Sprintf("seed %d, operation %d of %d: %v", seed, nth, faulty.Count(fileio.AnyOp)-before, err), nil)
				}
			}
			t.Logf("%d runs, %d conflicts", runs, conflicts)
		})
	}
}
