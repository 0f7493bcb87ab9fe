package maintain

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tributarydb/tributary/storage/fileio"
)

// listCounter counts the listings of folders of snapshots.
type listCounter struct {
	fileio.FileIO
	n int
}

func (l *listCounter) List(ctx context.Context, dir string) ([]fileio.Info, error) {
	if strings.HasSuffix(dir, "/snapshot") {
		l.n++
	}
	return l.FileIO.List(ctx, dir)
}

// TestExpiryWithoutListing looks after each of many commits for snapshots that are due: most are decided without a listing, and none
// otherwise than with one.
func TestExpiryWithoutListing(t *testing.T) {
	ctx := context.Background()
	for seed, options := range []string{
		`"snapshot.num-retained.min":"3","snapshot.num-retained.max":"40","snapshot.time-retained":"20 s"`,
		`"snapshot.num-retained.min":"5","snapshot.num-retained.max":"9"`,
		`"snapshot.num-retained.min":"2","snapshot.time-retained":"7 s","snapshot.expire.limit":"1"`,
	} {
		w := newWorld(t, int64(seed), options)
		counter := &listCounter{FileIO: w.fio}
		w.fio = counter
		gone, short, listed := 0, 0, 0
		for i := range 60 {
			w.commit("main")
			w.now = w.now.Add(time.Duration(w.rnd.Intn(3000)) * time.Millisecond)
			m := w.table("main")
			s, err := m.schema(ctx)
			if err != nil {
				t.Fatal(err)
			}
			c, err := m.resolve(s, ExpireOptions{}, false)
			if err != nil {
				t.Fatal(err)
			}
			ids, err := m.own.snaps.IDs(ctx)
			if err != nil {
				t.Fatal(err)
			}
			end, err := m.endOf(ctx, ids, ids[len(ids)-1], &c, m.own.snaps.Get)
			if err != nil {
				t.Fatal(err)
			}
			due, _ := slices.BinarySearch(ids, end)
			due = max(min(due, len(ids)-1), 0)
			before := counter.n
			stay, err := m.allStay(ctx, &c)
			if err != nil {
				t.Fatal(err)
			}
			if stay {
				short++
			}
			if stay && due > 0 || i > 0 && !stay && due == 0 || counter.n != before && i > 0 {
				t.Fatalf("commit %d of %s: %d are due, all stay: %v, %d listings", i, options, due, stay, counter.n-before)
			}
			n, err := m.ExpireSnapshots(ctx, ExpireOptions{})
			if err != nil || n != due {
				t.Fatalf("%d snapshots of %d expired: %v", n, due, err)
			}
			gone += n
			if !stay {
				listed++
			}
		}
		if gone == 0 || short == 0 || listed == 0 {
			t.Errorf("%s: %d snapshots expired, %d times without a listing, %d with one", options, gone, short, listed)
		}
	}
}
