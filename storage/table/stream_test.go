package table_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/table"
)

// follower is a streaming read under way: its rows as texts, kind first.
type follower struct {
	t      *testing.T
	rows   chan string
	end    chan error
	cancel context.CancelFunc
}

// stream begins a streaming read; options come in pairs.
func (l *lake) stream(name string, options ...string) *follower {
	t := l.t.(*testing.T)
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	f := &follower{t: t, rows: make(chan string, 1000), end: make(chan error, 1), cancel: cancel}
	t.Cleanup(cancel)
	dynamic := map[string]string{"streaming": "true"}
	for i := 0; i < len(options); i += 2 {
		dynamic[options[i]] = options[i+1]
	}
	tb, err := table.Open(ctx, l.env, "default", name, table.OpenOptions{Dynamic: dynamic})
	if err != nil {
		t.Fatal(err)
	}
	req := relation.Request{}
	for i := range tb.Fields() {
		req.Columns = append(req.Columns, i)
	}
	plan, err := tb.PlanView(ctx, req, table.View{Kind: true})
	if err != nil {
		f.end <- err
		return f
	}
	if len(plan.Morsels) != 1 {
		t.Fatalf("a stream of %d morsels", len(plan.Morsels))
	}
	go func() {
		n := len(tb.Fields())
		f.end <- eachBatch(ctx, plan.Morsels[0], func(b *column.Batch) error {
			rows, err := printRows(tb.Fields(), &column.Batch{N: b.N, Sel: b.Sel, Cols: b.Cols[:n]})
			for k, row := range rows {
				f.rows <- []string{"+I", "-U", "+U", "-D"}[b.Cols[n].Int(b.Row(k))] + " " + row
			}
			return err
		})
	}()
	return f
}

// expect waits for the next rows.
func (f *follower) expect(want ...string) {
	f.t.Helper()
	for _, w := range want {
		select {
		case got := <-f.rows:
			if got != w {
				f.t.Fatalf("the stream shows %q, want %q", got, w)
			}
		case err := <-f.end:
			f.t.Fatalf("the stream ended before %q: %v", w, err)
		case <-time.After(20 * time.Second):
			f.t.Fatalf("no %q", w)
		}
	}
}

// fails waits for the end with an error of a class.
func (f *follower) fails(class errs.Class, text string) {
	f.t.Helper()
	select {
	case err := <-f.end:
		if !errs.Is(err, class) || !strings.Contains(err.Error(), text) {
			f.t.Fatalf("the stream ended with %v, want %q", err, text)
		}
	case row := <-f.rows:
		f.t.Fatalf("a row %q instead of %q", row, text)
	case <-time.After(20 * time.Second):
		f.t.Fatalf("the stream goes on, want %q", text)
	}
}

func TestStreamProducers(t *testing.T) {
	for _, c := range []struct {
		producer string
		want     [][]string
	}{
		{"none", [][]string{{"+I 1|100"}, {"-D 2|5"}}},
		{"input", [][]string{{"+I 1|100"}, {"-D 2|5"}}},
		{"lookup", [][]string{{"-U 1|80", "+U 1|100"}, {"-D 2|5"}}},
		{"full-compaction", [][]string{{"-U 1|80", "+U 1|100"}, {"-D 2|5"}}},
	} {
		t.Run(c.producer, func(t *testing.T) {
			t.Parallel()
			l := newLake(t)
			l.create("t", "k INT NOT NULL; v INT", "k", "", "bucket", "1", "changelog-producer", c.producer)
			l.insert("t", "1|80", "2|5")
			f := l.stream("t")
			f.expect("+I 1|80", "+I 2|5")
			l.insert("t", "1|100")
			f.expect(c.want[0]...)
			l.insert("t", "-D 2|5")
			f.expect(c.want[1]...)
			late := l.stream("t", "scan.mode", "latest")
			l.insert("t", "3|3")
			f.expect("+I 3|3")
			late.expect("+I 3|3")
			f.cancel()
			if err := <-f.end; err == nil {
				t.Error("a canceled stream ended without an error")
			}
		})
	}
}

func TestStreamStarts(t *testing.T) {
	l := newLake(t)
	l.create("t", "v INT", "", "")
	empty := l.stream("t")
	for i := range 3 {
		l.insert("t", fmt.Sprint(i))
	}
	empty.expect("+I 0", "+I 1", "+I 2")
	l.stream("t", "scan.mode", "from-snapshot", "scan.snapshot-id", "2").expect("+I 1", "+I 2")
	l.stream("t", "scan.mode", "from-snapshot-full", "scan.snapshot-id", "2").expect("+I 0", "+I 1", "+I 2")
	l.stream("t", "scan.mode", "from-timestamp", "scan.timestamp-millis", "1").expect("+I 0", "+I 1", "+I 2")
	l.stream("t", "incremental-between", "1,2").fails(errs.Invalid, "incremental")
	l.stream("t", "scan.mode", "from-snapshot", "scan.snapshot-id", "9").fails(errs.NotFound, "out of available snapshotId range")
	// An OVERWRITE is no part of a stream unless it is asked for.
	all := l.stream("t", "streaming-read-append-overwrite", "true")
	all.expect("+I 0", "+I 1", "+I 2")
	l.overwrite("t", relation.SinkOptions{}, "7")
	l.insert("t", "8")
	empty.expect("+I 8")
	all.expect("+I 7", "+I 8")
}

// TestStreamConsumer goes on where a consumer has got to, and holds its place.
func TestStreamConsumer(t *testing.T) {
	l := newLake(t)
	l.create("t", "v INT", "", "")
	l.insert("t", "1")
	f := l.stream("t", "consumer-id", "c")
	f.expect("+I 1")
	l.insert("t", "2")
	f.expect("+I 2")
	mgr := l.open("t").Snapshots()
	for {
		c, err := mgr.Consumer(context.Background(), "c")
		if err == nil && c.NextSnapshot == 3 {
			break
		}
		if err != nil && !errs.Is(err, errs.NotFound) || err == nil && c.NextSnapshot > 3 {
			t.Fatalf("%+v, %v", c, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	f.cancel()
	<-f.end
	l.insert("t", "3")
	l.stream("t", "consumer-id", "c").expect("+I 3")
	l.stream("t", "consumer-id", "c", "consumer.ignore-progress", "true").expect("+I 1", "+I 2", "+I 3")
}

// TestStreamLosesHistory ends with an error where snapshots that it needs are gone.
func TestStreamLosesHistory(t *testing.T) {
	l := newLake(t)
	l.create("t", "v INT", "", "")
	for i := range 3 {
		l.insert("t", fmt.Sprint(i))
	}
	mgr := l.open("t").Snapshots()
	f := l.stream("t", "scan.mode", "from-snapshot", "scan.snapshot-id", "3")
	f.expect("+I 2")
	if err := mgr.DropLatestHint(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := mgr.DeleteSnapshot(context.Background(), 3); err != nil {
		t.Fatal(err)
	}
	f.fails(errs.Conflict, "rolled back")
}
