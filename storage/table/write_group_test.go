package table_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/table"
)

// TestGroupCommit lets many goroutines write small statements into one table:
// every statement's rows are there, those of one statement in one snapshot, and groups share snapshots.
func TestGroupCommit(t *testing.T) {
	for _, c := range []struct{ name, pk, bucket string }{{"append", "", "-1"}, {"keyed", "k", "2"}, {"dynamic", "k", "-1"}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const writers, each = 64, 3
			l := newLake(t)
			l.create("t", "k INT NOT NULL; v STRING", c.pk, "", "bucket", c.bucket, "write-only", "true") // no snapshots of compactions
			var wg sync.WaitGroup
			var mu sync.Mutex
			snapshots := map[int64]int{}
			var want []string
			for g := range writers {
				wg.Go(func() {
					for i := range each {
						k := g*each + i
						if k%8 == 7 { // refused rows are this statement's failure only
							if _, err := l.tryInsert(context.Background(), "t", relation.SinkOptions{}, fmt.Sprintf("%d|x", k), "NULL|y"); !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), "Cannot write null to non-null column(k), row 2") {
								t.Errorf("a null key: %v", err)
							}
							continue
						}
						a, b := fmt.Sprintf("%d|a", k), fmt.Sprintf("%d|b", k+1000)
						got, err := l.tryInsert(context.Background(), "t", relation.SinkOptions{}, a, b)
						if err != nil || got.Rows != 2 || got.Snapshot == 0 {
							t.Errorf("%+v %v", got, err)
							return
						}
						mu.Lock()
						snapshots[got.Snapshot]++
						want = append(want, a, b)
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			l.expect("t", want...)
			if len(snapshots) >= writers*each*7/8 {
				t.Errorf("%d snapshots for %d statements: none were shared", len(snapshots), writers*each*7/8)
			}
			last, err := l.open("t").Snapshots().Latest(context.Background())
			if err != nil || int(last.ID) != len(snapshots) {
				t.Errorf("last snapshot %v, %d were reported (%v)", last, len(snapshots), err)
			}
		})
	}
}

// blocking holds up the commits of a table: opening a snapshot file for writing waits.
type blocking struct {
	fileio.FileIO
	wait    chan struct{}
	blocked chan struct{}
}

func (b *blocking) PutIfAbsent(ctx context.Context, p string, data []byte) (bool, error) {
	if strings.Contains(p, "/snapshot/") && b.wait != nil {
		b.blocked <- struct{}{}
		<-b.wait
	}
	return b.FileIO.PutIfAbsent(ctx, p, data)
}

// TestGroupOrder checks the order of arrival, the isolation of a statement whose merge fails, and members that give up.
func TestGroupOrder(t *testing.T) {
	mem := fileio.NewMemory()
	b := &blocking{FileIO: mem}
	l := openLake(t, mem, b)
	l.create("t", "k INT NOT NULL; v TINYINT", "k", "", "bucket", "1", "merge-engine", "aggregation", "fields.v.aggregate-function", "sum")
	b.wait, b.blocked = make(chan struct{}), make(chan struct{}, 100)

	type result struct {
		c   relation.Committed
		err error
	}
	// start begins the commit of a statement and waits until it is in the queue.
	start := func(ctx context.Context, rows ...string) chan result {
		tb := l.open("t")
		s, err := tb.OpenSink(ctx, relation.SinkOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := writeRows(ctx, s, rows); err != nil {
			t.Fatal(err)
		}
		ch := make(chan result, 1)
		n := table.QueueLength(tb)
		go func() {
			c, err := s.Commit(ctx)
			ch <- result{c, err}
		}()
		for range 2000 {
			if table.QueueLength(tb) > n || len(b.blocked) > 0 {
				return ch
			}
			time.Sleep(time.Millisecond)
		}
		t.Fatal("a statement does not queue")
		return nil
	}
	ctx := context.Background()
	first := start(ctx, "1|100")
	<-b.blocked // the leader commits
	good := start(ctx, "2|1")
	bad := start(ctx, "3|100", "3|100") // overflows when merged
	gone, cancel := context.WithCancel(ctx)
	left := start(gone, "4|1")
	after := start(ctx, "2|5")
	cancel()
	if r := <-left; !errors.Is(r.err, context.Canceled) {
		t.Fatalf("a member that gave up: %+v", r)
	}
	close(b.wait)
	if r := <-first; r.err != nil || r.c.Snapshot != 1 {
		t.Fatalf("%+v", r)
	}
	if r := <-good; r.err != nil || r.c.Rows != 1 {
		t.Fatalf("%+v", r)
	}
	if r := <-bad; !errs.Is(r.err, errs.Invalid) || !strings.Contains(r.err.Error(), "overflow") {
		t.Fatalf("%+v", r)
	}
	if r := <-after; r.err != nil || r.c.Rows != 1 {
		t.Fatalf("%+v", r)
	}
	l.expect("t", "1|100", "2|6")
	if n := len(l.files("/lake/default.db/t/bucket-0")); n != 3 {
		t.Errorf("%d data files: the group's attempt was not removed, or rows are missing", n)
	}
}

// TestGroupLeaderGivesUp cancels a statement that waits for a big one to finish and would lead the next group.
func TestGroupLeaderGivesUp(t *testing.T) {
	mem := fileio.NewMemory()
	b := &blocking{FileIO: mem}
	l := openLake(t, mem, b)
	l.create("t", "k INT NOT NULL; v INT", "k", "", "bucket", "1")
	b.wait, b.blocked = make(chan struct{}), make(chan struct{}, 100)
	rows := make([]string, table.GroupRows+1)
	for i := range rows {
		rows[i] = fmt.Sprintf("%d|0", i)
	}
	big := make(chan error, 1)
	go func() {
		_, err := l.tryInsert(context.Background(), "t", relation.SinkOptions{}, rows...)
		big <- err
	}()
	<-b.blocked
	ctx, cancel := context.WithCancel(context.Background())
	leader := make(chan error, 1)
	go func() { _, err := l.tryInsert(ctx, "t", relation.SinkOptions{}, "1|1"); leader <- err }()
	for table.Led(l.open("t")) == false {
		time.Sleep(time.Millisecond)
	}
	next := make(chan error, 1)
	go func() { _, err := l.tryInsert(context.Background(), "t", relation.SinkOptions{}, "2|2"); next <- err }()
	for table.QueueLength(l.open("t")) < 2 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-leader; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	close(b.wait)
	if err := errors.Join(<-big, <-next); err != nil {
		t.Fatal(err)
	}
	got := l.rows("t")
	if len(got) != len(rows) || !contains(got, "2|2") || !contains(got, "1|0") {
		t.Errorf("%d rows", len(got))
	}
}

func contains(list []string, x string) bool {
	for _, s := range list {
		if s == x {
			return true
		}
	}
	return false
}
