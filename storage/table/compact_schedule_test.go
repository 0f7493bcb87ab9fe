package table_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/table"
)

// schedule starts a scheduler over a lake's tables.
func (l *lake) schedule(workers int) *table.Compactions {
	c := table.NewCompactions(context.Background(), l.env, workers, nil)
	l.t.Cleanup(c.Close)
	return c
}

// quiet waits until nothing runs or waits.
func quiet(t *testing.T, c *table.Compactions) {
	t.Helper()
	until(t, "the compactions end", func() bool { return len(c.Jobs()) == 0 })
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited in vain until " + what)
		}
	}
}

// TestCompactionsBeside lets the scheduler compact what commits leave, of primary-key tables and of append tables with and
// without buckets; not of write-only ones.
func TestCompactionsBeside(t *testing.T) {
	for _, c := range []struct {
		name, pk string
		opts     []string
		most     int
	}{
		{"keyed", "k", []string{"bucket", "1", "num-sorted-run.compaction-trigger", "3"}, 3},
		{"dynamic", "k", []string{"num-sorted-run.compaction-trigger", "3"}, 3},
		{"append", "", []string{"bucket", "-1", "compaction.min.file-num", "4"}, 3},
		{"buckets", "", []string{"bucket", "1", "bucket-key", "k", "compaction.min.file-num", "4"}, 3},
		{"write-only", "", []string{"bucket", "-1", "compaction.min.file-num", "4", "write-only", "true"}, 12},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLake(t)
			s := l.schedule(2)
			l.create("t", "k INT NOT NULL; v INT", c.pk, "", c.opts...)
			var want []string
			for i := range 12 {
				row := fmt.Sprintf("%d|%d", i, i)
				l.insert("t", row)
				want = append(want, row)
				quiet(t, s)
			}
			l.expect("t", want...)
			files := len(l.live("t"))
			if files > c.most || c.name == "write-only" && files != 12 {
				t.Errorf("%d files: %s", files, l.levels("t"))
			}
		})
	}
}

// TestCompactionsPause pauses: jobs wait as one a branch, writers go on, and all is made up for afterwards.
func TestCompactionsPause(t *testing.T) {
	t.Parallel()
	l := newLake(t)
	s := l.schedule(1)
	for _, name := range []string{"a", "b"} {
		l.create(name, "k INT NOT NULL; v INT", "k", "", "bucket", "1", "num-sorted-run.compaction-trigger", "2", "num-sorted-run.stop-trigger", "3")
	}
	s.Pause()
	for i := range 6 { // many more runs than writers would wait for
		l.insert("a", fmt.Sprintf("%d|0", i))
		l.insert("b", fmt.Sprintf("%d|0", i))
	}
	jobs := s.Jobs()
	if len(jobs) != 2 || jobs[0].Table != "a" || jobs[1].Table != "b" || jobs[0].Database != "default" || jobs[0].State != "paused" || jobs[0].Running || jobs[0].Buckets != 1 {
		t.Fatalf("%+v", jobs)
	}
	if got := l.levels("a"); got != "0:6" {
		t.Errorf("compacted in a pause: %s", got)
	}
	s.Resume()
	quiet(t, s)
	for _, name := range []string{"a", "b"} {
		if got := l.levels(name); got != "5:1" && got != "2:1" {
			t.Errorf("%s after the pause: %s", name, got)
		}
	}
}

// TestCompactionsHoldWriters lets no compaction end: a writer whose bucket has more runs than the stop trigger waits,
// though its rows are there.
func TestCompactionsHoldWriters(t *testing.T) {
	t.Parallel()
	l := newLake(t)
	s := l.schedule(1)
	l.create("t", "k INT NOT NULL; v INT", "k", "", "bucket", "1", "num-sorted-run.compaction-trigger", "2", "num-sorted-run.stop-trigger", "4")
	release, err := table.HoldCompaction(l.open("t"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		l.insert("t", fmt.Sprintf("%d|0", i))
	}
	ends := make(chan error, 2)
	insert := func(ctx context.Context, row string) {
		go func() {
			_, err := l.tryInsert(ctx, "t", relation.SinkOptions{}, row)
			ends <- err
		}()
	}
	insert(context.Background(), "5|0")
	until(t, "the row is there", func() bool { return slices.Contains(l.rows("t"), "5|0") })
	time.Sleep(50 * time.Millisecond)
	if len(ends) != 0 {
		t.Fatalf("a writer over the stop trigger did not wait: %v", <-ends)
	}
	ctx, cancel := context.WithCancel(context.Background())
	insert(ctx, "6|0")
	until(t, "the row is there", func() bool { return slices.Contains(l.rows("t"), "6|0") })
	cancel() // its rows are committed: it ends, and without an error
	if err := <-ends; err != nil {
		t.Fatal(err)
	}
	if jobs := s.Jobs(); len(jobs) != 2 || !jobs[0].Running || !strings.HasPrefix(jobs[0].State, "compacting default.t") || jobs[1].State != "waiting" {
		t.Errorf("%+v", jobs)
	}
	release()
	if err := <-ends; err != nil {
		t.Fatal(err)
	}
	quiet(t, s)
	if got := l.levels("t"); strings.Contains(got, "0:") {
		t.Errorf("levels %s", got)
	}
}

// slowCompaction holds up the making of data files once it is armed.
type slowCompaction struct {
	fileio.FileIO
	armed   atomic.Bool
	started chan struct{}
	release chan struct{}
}

func (f *slowCompaction) Create(ctx context.Context, p string) (fileio.Writer, error) {
	w, err := f.FileIO.Create(ctx, p)
	if strings.Contains(p, "/bucket-") && f.armed.CompareAndSwap(true, false) {
		close(f.started)
		<-f.release
	}
	return w, err
}

// TestCompactionsLeaveNothing ends a compaction in the middle, by the server's end and by dropping its table: no file is left.
func TestCompactionsLeaveNothing(t *testing.T) {
	for _, how := range []string{"close", "drop"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			mem := fileio.NewMemory()
			f := &slowCompaction{FileIO: mem, started: make(chan struct{}), release: make(chan struct{})}
			l := openLake(t, mem, f)
			s := l.schedule(1)
			l.create("t", "k INT NOT NULL; v INT", "k", "", "bucket", "1", "num-sorted-run.compaction-trigger", "2", "num-sorted-run.stop-trigger", "9")
			s.Pause()
			for i := range 3 {
				l.insert("t", fmt.Sprintf("%d|0", i))
			}
			before := l.files("/lake/default.db/t")
			f.armed.Store(true)
			s.Resume()
			<-f.started
			end := make(chan struct{})
			go func() {
				if how == "close" {
					s.Close()
				} else {
					s.Leave("/lake/default.db/t")
				}
				close(end)
			}()
			time.Sleep(20 * time.Millisecond) // the end waits for the compaction
			select {
			case <-end:
				t.Error("the end did not wait")
			default:
			}
			close(f.release)
			<-end
			if after := l.files("/lake/default.db/t"); !slices.Equal(before, after) {
				t.Errorf("files before %q, after %q", before, after)
			}
			if jobs := s.Jobs(); len(jobs) != 0 {
				t.Errorf("%+v", jobs)
			}
			l.insert("t", "9|9")
			quiet(t, s)
			l.expect("t", "0|0", "1|0", "2|0", "9|9")
		})
	}
}

// TestCompactionsAfterAlter compacts with the columns that the table has then, not with those of the statement that asked.
func TestCompactionsAfterAlter(t *testing.T) {
	t.Parallel()
	l := newLake(t)
	s := l.schedule(1)
	l.create("t", "k INT NOT NULL; v INT", "k", "", "bucket", "1", "num-sorted-run.compaction-trigger", "2")
	s.Pause()
	l.insert("t", "1|1")
	l.insert("t", "2|2")
	old := l.open("t")
	l.alter("t", schema.AddColumn{Path: []string{"w"}, Type: &schema.Type{Root: schema.Int}})
	l.insert("t", "3|3|3")
	if _, err := old.Compact(context.Background(), table.CompactOptions{Full: true}); err == nil || !strings.Contains(err.Error(), "was altered since") {
		t.Errorf("a compaction that does not know all columns: %v", err)
	}
	s.Resume()
	quiet(t, s)
	l.expect("t", "1|1|NULL", "2|2|NULL", "3|3|3")
	if got := l.levels("t"); strings.Contains(got, "0:") {
		t.Errorf("levels %s", got)
	}
}
