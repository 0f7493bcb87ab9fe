package table_test

import (
	"context"
	"fmt"
	"slices"
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

// TestStreamNormalize completes the changes of a table without changelog files by what was there before.
func TestStreamNormalize(t *testing.T) {
	t.Parallel()
	l := newLake(t)
	l.create("t", "k INT NOT NULL; v INT", "k", "", "bucket", "1")
	l.insert("t", "1|80", "2|5")
	f := l.stream("t", "scan.normalize", "true")
	f.expect("+I 1|80", "+I 2|5")
	l.insert("t", "1|100")
	f.expect("-U 1|80", "+U 1|100")
	l.insert("t", "1|100", "-D 7|7") // changes nothing
	l.insert("t", "-D 2|99")
	f.expect("-D 2|5")
	l.insert("t", "2|6")
	f.expect("+I 2|6")
	// A read that begins with changes knows the state before them.
	late := l.stream("t", "scan.normalize", "true", "scan.mode", "from-snapshot", "scan.snapshot-id", "2", "streaming-read-overwrite", "true")
	late.expect("-U 1|80", "+U 1|100", "-D 2|5", "+I 2|6")
	l.overwrite("t", relation.SinkOptions{}, "2|7")
	late.expect("-D 1|100", "-D 2|6", "+I 2|7")
	l.insert("t", "1|1")
	f.expect("-U 1|100", "+U 1|1") // it leaves the OVERWRITE out
	late.expect("+I 1|1")
	// Keys of other types, and rows that go to another partition.
	l.create("p", "k STRING NOT NULL; v DECIMAL(20, 2); p INT", "k", "p", "bucket", "-1")
	q := l.stream("p", "scan.normalize", "true")
	l.insert("p", "a|1.50|2")
	l.insert("p", "a|2.50|2")
	q.expect("+I a|1.50|2", "-U a|1.50|2", "+U a|2.50|2")
	l.insert("p", "a|3.50|1")
	got := []string{<-q.rows, <-q.rows}
	slices.Sort(got)
	if want := []string{"+I a|3.50|1", "-D a|2.50|2"}; !slices.Equal(got, want) {
		t.Errorf("a row that moves: %q, want %q", got, want)
	}
	// What it keeps is bounded.
	l.env.NormalizeBytes = 500
	b := l.stream("t", "scan.normalize", "true", "scan.mode", "latest")
	l.insert("t", "11|1", "12|1", "13|1", "14|1", "15|1")
	b.fails(errs.Limit, "'changelog-producer' = 'lookup'")
	// Tables whose rows are not told by their last change.
	for _, c := range [][]string{{"merge-engine", "aggregation"}, {"sequence.field", "v"}} {
		l.create(c[0], "k INT NOT NULL; v INT", "k", "", append([]string{"bucket", "1"}, c...)...)
		l.stream(c[0], "scan.normalize", "true").fails(errs.Unsupported, "scan.normalize")
	}
	l.create("a", "k INT NOT NULL; v INT", "", "")
	l.stream("a", "scan.normalize", "true").fails(errs.Unsupported, "needs a primary key")
}

// TestStreamOverwrites shows what an OVERWRITE of a primary-key table replaces, where the read asks for it.
func TestStreamOverwrites(t *testing.T) {
	for _, producer := range []string{"none", "input"} {
		t.Run(producer, func(t *testing.T) {
			t.Parallel()
			l := newLake(t)
			l.create("t", "k INT NOT NULL; p INT NOT NULL; v INT", "k,p", "p", "bucket", "1", "changelog-producer", producer)
			l.insert("t", "1|1|10", "2|1|20", "3|2|30")
			l.insert("t", "1|1|11")
			f, plain := l.stream("t", "streaming-read-overwrite", "true"), l.stream("t")
			for _, x := range []*follower{f, plain} {
				x.expect("+I 1|1|11", "+I 2|1|20", "+I 3|2|30")
			}
			l.insert("t", "-D 2|1|20")
			f.expect("-D 2|1|20")
			plain.expect("-D 2|1|20")
			l.overwrite("t", relation.SinkOptions{}, "4|1|40")
			f.expect("-D 1|1|11", "+I 4|1|40")
			l.insert("t", "5|2|50")
			f.expect("+I 5|2|50")
			plain.expect("+I 5|2|50")
			// Where the state before has expired, nobody knows what was replaced.
			late := l.stream("t", "streaming-read-overwrite", "true", "scan.mode", "from-snapshot", "scan.snapshot-id", "4")
			late.expect("-D 1|1|11", "+I 4|1|40", "+I 5|2|50")
			for id := range int64(3) {
				if err := l.open("t").Snapshots().DeleteSnapshot(context.Background(), id+1); err != nil {
					t.Fatal(err)
				}
			}
			l.stream("t", "streaming-read-overwrite", "true", "scan.mode", "from-snapshot", "scan.snapshot-id", "4").fails(errs.NotFound, "has replaced")
		})
	}
	l := newLake(t)
	l.create("t", "k INT NOT NULL; v INT", "k", "", "bucket", "1", "changelog-producer", "lookup")
	l.stream("t", "streaming-read-overwrite", "true").fails(errs.Invalid, "duplicated changes")
}
