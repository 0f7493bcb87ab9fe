package faults

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tributarydb/tributary/sqltests/inventory"
	"github.com/tributarydb/tributary/storage/fileio"
)

// kind is a kind of statement.
type kind struct {
	name  string
	setup []string
	// run is the statement; several are one transaction.
	run []string
	// each says that the statement changes several things one after the other, each from before to after.
	each bool
	// once says that a statement that was carried out in part must not be repeated.
	once bool
	// lazy says that what is done after the statement's commit may fail without a word.
	lazy bool
	// empty lets the table of a CREATE TABLE … AS SELECT be empty when the process ends in between.
	empty bool
	// expires says that snapshots expire after the statement: others than before and after may be left where a compaction failed.
	expires bool
	// gaps says that snapshots are missing between others until the statement has ended.
	gaps bool
	// nothing says that the statement changes nothing that states show.
	nothing bool
	// finish are statements after which the rows are always the same, whatever failed before and was repeated, and a
	// changelog tells them: compactions make up for those that failed.
	finish []string
	// leaves says that files which the statement fails to remove are left to the cleaning of orphan files.
	leaves bool
	// every says that one in so many operations fails, and each one that publishes; 0 = as tail and thin have it.
	every int
}

// modes of interference.
const (
	failBefore = iota // an operation fails without effect
	failAfter         // an operation takes effect, its answer is lost
	crash             // the process ends before an operation that changes files
	kill              // the statement is cancelled before an operation
	outage            // an operation takes effect, and its answer is lost; all that follow fail until the statement ends
)

var modeNames = []string{"failing before", "failing after", "crash", "kill", "outage"}

const (
	// tail is the number of the last operations of a statement of which each one is tried, the commit among them; of
	// those before, which read, one in thin is. Every operation that changes files is tried.
	tail = 60
	thin = 4
	// raceThin is of how many of these the race detector, with which all takes long, sees one.
	raceThin = 6
	// denseVariable is the environment variable with which every operation of every kind is tried.
	denseVariable = "TRIBUTARY_TEST_DENSE"
)

// TestSweep does all of this to every kind of statement.
func TestSweep(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			sweep(t, k)
		})
	}
}

// sweeper sweeps one kind.
type sweeper struct {
	t             *testing.T
	k             kind
	e             *engine
	base          *fileio.Memory
	r             *reader
	before, after state
	// published are the numbers of the changes that make or remove a snapshot.
	published []int
	// finished is the state after the statement and what finishes it.
	finished state
}

func sweep(t *testing.T, k kind) {
	ctx := context.Background()
	s := &sweeper{t: t, k: k, e: takeEngine(t), base: fileio.NewMemory(), r: newReader()}
	if err := s.base.MkdirAll(ctx, warehouseDir+"/default.db"); err != nil {
		t.Fatal(err)
	}
	if err := s.e.start(t, s.base).run(ctx, k.setup...); err != nil {
		t.Fatalf("setup: %v", err)
	}
	var err error
	if s.before, _, err = s.r.read(ctx, s.base); err != nil {
		t.Fatalf("before: %v", err)
	}
	mem := s.base.Clone()
	faulty := fileio.NewFaulty(mem)
	s.watch(faulty)
	p := s.e.start(t, faulty)
	if err := p.run(ctx, k.run...); err != nil {
		t.Fatalf("%v", err)
	}
	all, changes := faulty.Count(fileio.AnyOp), faulty.Count(fileio.AnyChange)
	if s.after, _, err = s.r.read(ctx, mem); err != nil {
		t.Fatalf("after: %v", err)
	}
	if maps.Equal(s.before, s.after) != k.nothing {
		t.Fatalf("before and after: %v", s.before.differences(s.after))
	}
	if len(k.finish) > 0 {
		s.finish(ctx, "undisturbed", p, mem)
	}
	runs := 0
	for mode := range modeNames {
		for _, o := range s.operations(mode, all, changes) {
			s.interfere(ctx, mode, o.op, o.nth)
			runs++
		}
	}
	if len(k.finish) > 0 && (!underRace || len(k.name)%raceThin == 0) {
		runs += s.meet(ctx, all)
	}
	t.Logf("%d operations, %d of them changes: %d runs", all, changes, runs)
}

// watch notes which changes publish.
func (s *sweeper) watch(faulty *fileio.Faulty) {
	var mu sync.Mutex
	n := 0
	faulty.Inject(fileio.Fault{Op: fileio.AnyChange, Nth: 1, Count: -1, Do: func(_ context.Context, path string) {
		mu.Lock()
		defer mu.Unlock()
		n++
		if strings.Contains(path, "/snapshot/snapshot-") || strings.Contains(path, "/changelog/changelog-") {
			s.published = append(s.published, n)
		}
	}})
}

// operation is an operation of a statement: the nth of a kind.
type operation struct {
	op  fileio.Op
	nth int
}

// operations lists those that a mode interferes with.
func (s *sweeper) operations(mode, all, changes int) (out []operation) {
	n, op := all, fileio.AnyOp
	if mode == failAfter || mode == crash || mode == outage {
		n, op = changes, fileio.AnyChange
	}
	if mode == outage && len(s.k.finish) == 0 {
		return nil
	}
	dense := os.Getenv(denseVariable) != ""
	for nth := 1; nth <= n; nth++ {
		switch {
		case dense:
		case s.k.every > 0:
			if (nth+mode+len(s.k.name))%s.k.every != 0 && (op == fileio.AnyOp || !slices.Contains(s.published, nth)) {
				continue
			}
		case op == fileio.AnyOp && nth <= n-tail && nth%thin != mode%thin:
			continue
		}
		out = append(out, operation{op, nth})
	}
	if s.k.every > 0 && op == fileio.AnyOp {
		for _, nth := range s.published {
			out = append(out, operation{fileio.AnyChange, nth})
		}
	}
	if underRace {
		i, thin := 0, raceThin
		if len(s.k.finish) > 0 {
			thin *= 3 // of the many kinds alike
		}
		out = slices.DeleteFunc(out, func(operation) bool { i++; return (i+mode+len(s.k.name))%thin != 0 })
	}
	return out
}

// interfere runs the statement with one interference and looks at what there is then.
func (s *sweeper) interfere(ctx context.Context, mode int, op fileio.Op, nth int) {
	s.t.Helper()
	mem := s.base.Clone()
	faulty := fileio.NewFaulty(mem)
	p := s.e.start(s.t, faulty)
	run, cancel := context.WithCancel(ctx)
	defer cancel()
	var hit atomic.Value
	hit.Store("")
	var begun atomic.Bool
	faulty.Inject(fileio.Fault{Op: op, Nth: nth, Do: func(_ context.Context, path string) {
		hit.Store(path)
		begun.Store(true)
	}})
	switch mode {
	case kill:
		faulty.Inject(fileio.Fault{Op: op, Nth: nth, Do: func(context.Context, string) { cancel() }})
	case outage:
		faulty.Inject(fileio.Fault{Nth: 1, Count: -1, If: begun.Load})
		faulty.Inject(fileio.Fault{Op: op, Nth: nth, After: true})
	default:
		faulty.Inject(fileio.Fault{Op: op, Nth: nth, After: mode == failAfter, Crash: mode == crash})
	}
	if mode == crash {
		// A directory is not removed in one step.
		faulty.Inject(fileio.Fault{Op: fileio.OpDeleteAll, Nth: 1, Count: -1, Do: func(ctx context.Context, path string) {
			files, _ := inventory.AllFiles(ctx, mem, path)
			for i, f := range files {
				if i%2 == 0 {
					_ = mem.Delete(ctx, f)
				}
			}
		}})
	}
	err := p.run(run, s.k.run...)
	cancel()
	what := fmt.Sprintf("%s operation %d (%s): error %v", modeNames[mode], nth, hit.Load(), err)
	faulty.Clear()
	if mode == crash {
		if err == nil {
			err = errors.New("the process has ended")
		}
		mem.Crash()
		p = s.e.start(s.t, mem)
	}
	got, inv, readErr := s.r.read(ctx, mem)
	if readErr != nil {
		s.t.Fatalf("%s: the warehouse cannot be read: %v", what, readErr)
	}
	isBefore, isAfter := maps.Equal(got, s.before), maps.Equal(got, s.after)
	if s.k.lazy {
		isAfter = s.between(got, mode) && got["rows default.a main"] == s.after["rows default.a main"]
	}
	switch {
	case !isBefore && !isAfter && !s.between(got, mode):
		s.t.Fatalf("%s: between before and after:\n%s\nmissing to after:\n%s", what, strings.Join(s.before.differences(got), "\n"), strings.Join(got.differences(s.after), "\n"))
	case err == nil && !isAfter && !s.k.lazy:
		s.t.Fatalf("%s: success, but there is not all:\n%s", what, strings.Join(got.differences(s.after), "\n"))
	case mode != crash && err != nil && (isAfter || s.k.lazy && len(s.k.finish) > 0) && !isBefore && !uncertain(err):
		s.t.Fatalf("%s: carried out in spite of the error: %T", what, err)
	case mode == crash:
		s.cleaned(ctx, what, mem, got)
	case mode != outage && len(s.k.finish) > 0 && !s.k.leaves && !uncertain(err):
		// What a failure has left behind was removed, but for what could not be.
		if x := slices.DeleteFunc(inv.Strays(), func(f string) bool { return f == hit.Load() }); len(x) > 0 {
			s.t.Fatalf("%s: %v are left", what, x)
		}
	}
	s.repeat(ctx, what, p, mem, mode, err == nil || isAfter && !isBefore || s.k.once && !isBefore, isBefore)
	if len(s.k.finish) > 0 {
		s.finish(ctx, what, p, mem)
	}
}

// repeat runs the statement once more, unless it is done: then it does all of it.
func (s *sweeper) repeat(ctx context.Context, what string, p *process, mem *fileio.Memory, mode int, done, isBefore bool) {
	s.t.Helper()
	if done || s.k.empty && !isBefore && mode == crash {
		return
	}
	if mode != crash {
		// A transaction that failed is over.
		_ = p.run(ctx, "ROLLBACK")
	}
	if err := p.run(ctx, s.k.run...); err != nil {
		s.t.Fatalf("%s; repeated: %v", what, err)
	}
	got, _, err := s.r.read(ctx, mem)
	if err != nil {
		s.t.Fatalf("%s; repeated: the warehouse cannot be read: %v", what, err)
	}
	if (isBefore || len(s.k.finish) == 0) && !maps.Equal(got, s.after) {
		s.t.Fatalf("%s; repeated:\n%s", what, strings.Join(got.differences(s.after), "\n"))
	}
}

// finish runs what finishes the statement, and demands that there are the same rows as ever, in the tables and by their changelogs,
// and that the cleaning of orphan files leaves nothing else.
func (s *sweeper) finish(ctx context.Context, what string, p *process, mem *fileio.Memory) {
	s.t.Helper()
	if err := p.run(ctx, s.k.finish...); err != nil {
		s.t.Fatalf("%s; finishing: %v", what, err)
	}
	got, _, err := s.r.read(ctx, mem)
	if err != nil {
		s.t.Fatalf("%s; finished: the warehouse cannot be read: %v", what, err)
	}
	if s.finished == nil {
		s.finished = got
	}
	for _, k := range slices.Sorted(maps.Keys(s.finished)) {
		if strings.HasPrefix(k, "rows ") && got[k] != s.finished[k] {
			s.t.Fatalf("%s; finished: the %s are %s, not %s", what, k, got[k], s.finished[k])
		}
	}
	s.tells(what, got)
	s.cleaned(ctx, what+"; finished", mem, got)
}

// tells demands that changelogs tell the rows that are there.
func (s *sweeper) tells(what string, got state) {
	s.t.Helper()
	for k, told := range got {
		label, ok := strings.CutPrefix(k, "told ")
		if ok && told != got["rows "+label] {
			s.t.Fatalf("%s; finished: the changelog of %s tells %s, but the rows are %s", what, label, told, got["rows "+label])
		}
	}
}

// between reports whether a state is on the way of a statement that changes several things.
func (s *sweeper) between(got state, mode int) bool {
	if s.k.empty && mode == crash {
		for k, v := range got {
			if s.before[k] != v && s.after[k] != v && v != "" {
				return false
			}
		}
		return true
	}
	if !s.k.each {
		return false
	}
	same := func(k string, x state) bool {
		v, ok := got[k]
		w, was := x[k]
		return ok == was && v == w
	}
	for _, m := range []state{got, s.before, s.after} {
		for k := range m {
			thing, label, _ := strings.Cut(k, " ")
			if s.k.expires && (thing == "snapshot" || thing == "changelog" || thing == "told" && (got[k] == "" || got[k] == got["rows "+label])) {
				continue
			}
			if s.k.gaps && (thing == "gap" || thing == "told") {
				continue
			}
			if !same(k, s.before) && !same(k, s.after) {
				return false
			}
		}
	}
	return true
}

// cleaned demands that after the cleaning of orphan files everything on disk is referred to, and nothing else went.
func (s *sweeper) cleaned(ctx context.Context, what string, mem *fileio.Memory, got state) {
	s.t.Helper()
	c := mem.Clone()
	if err := inventory.Clean(ctx, c, warehouseDir); err != nil {
		s.t.Fatalf("%s: cleaning: %v", what, err)
	}
	now, inv, err := s.r.read(ctx, c)
	if err != nil {
		s.t.Fatalf("%s: after cleaning: %v", what, err)
	}
	if !maps.Equal(now, got) {
		s.t.Fatalf("%s: cleaning changed:\n%s", what, strings.Join(got.differences(now), "\n"))
	}
	if x := inv.Strays(); len(x) > 0 {
		s.t.Fatalf("%s: cleaning left %v", what, x)
	}
}
