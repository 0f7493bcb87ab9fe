package snapshot

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tributarydb/tributary/storage/fileio"
)

// renaming is a file system on which another program publishes snapshots by renaming.
type renaming struct {
	*fileio.Memory
	// turns are what happens at each listing of names.
	turns []func()
	calls int
}

func (r *renaming) Names(ctx context.Context, dir string) ([]string, error) {
	infos, err := r.List(ctx, dir)
	var names []string
	for _, i := range infos {
		names = append(names, i.Name)
	}
	if r.calls < len(r.turns) && r.turns[r.calls] != nil {
		r.turns[r.calls]()
	}
	r.calls++
	return names, err
}

// TestRival publishes a snapshot while another program, which found the name free, is about to rename its file over it.
func TestRival(t *testing.T) {
	ctx := context.Background()
	const temp = "/t/snapshot/.snapshot-2.0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0.tmp"
	for _, c := range []struct {
		name, file string
		// replaced: the other one renames its file; otherwise it gives up and deletes it.
		replaced bool
		age      time.Duration
		calls    int
		created  bool
	}{
		{"nobody", "", false, 0, 1, true},
		{"replaced", temp, true, 0, 3, false},
		{"given up", temp, false, 0, 3, true},
		{"another id", strings.Replace(temp, "-2.", "-21.", 1), false, 0, 1, true},
		{"one of ours", "/t/snapshot/.snapshot-2.0011223344556677.tmp", false, 0, 1, true},
		{"of a program that has ended", temp, false, time.Hour, 1, true},
		{"pypaimon", "/t/snapshot/snapshot-2.0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0.tmp", false, 0, 3, true},
	} {
		mem := fileio.NewMemory()
		r := &renaming{Memory: mem}
		if c.file != "" {
			if err := mem.Overwrite(ctx, c.file, []byte("{}")); err != nil {
				t.Fatal(err)
			}
			mem.SetModTime(c.file, time.Now().Add(-c.age))
		}
		other := &Snapshot{Version: CurrentVersion, ID: 2, UUID: "theirs", CommitKind: Append, CommitUser: "u", BaseManifestList: "b", DeltaManifestList: "d"}
		r.turns = []func(){nil, nil, func() {
			_ = mem.Delete(ctx, c.file)
			if c.replaced {
				_ = mem.Overwrite(ctx, "/t/snapshot/snapshot-2", other.JSON())
			}
		}}
		m := NewManager(r, "/t", "")
		mine := &Snapshot{Version: CurrentVersion, ID: 2, UUID: "ours", CommitKind: Append, CommitUser: "u", BaseManifestList: "b", DeltaManifestList: "d"}
		created, err := m.Publish(ctx, mine)
		if err != nil || created != c.created || r.calls != c.calls {
			t.Errorf("%s: created %v after %d listings, %v", c.name, created, r.calls, err)
		}
		// Whoever follows on it sees the same.
		r.calls = 0
		if c.replaced {
			if err := mem.Overwrite(ctx, c.file, []byte("{}")); err != nil {
				t.Fatal(err)
			}
			if ok, err := m.Settled(ctx, mine); err != nil || ok || r.calls != 3 {
				t.Errorf("%s: settled %v after %d listings, %v", c.name, ok, r.calls, err)
			}
		}
	}
}
