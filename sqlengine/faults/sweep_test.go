package faults

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
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
	// nothing says that the statement changes nothing that states show.
	nothing bool
}

// modes of interference.
const (
	failBefore = iota // an operation fails without effect
	failAfter         // an operation takes effect, its answer is lost
	crash             // the process ends before an operation that changes files
	kill              // the statement is cancelled before an operation
)

var modeNames = []string{"failing before", "failing after", "crash", "kill"}

const (
	// tail is the number of the last operations of a statement of which each one is tried, the commit among them; of
	// those before, which read, one in thin is. Every operation that changes files is tried.
	tail = 60
	thin = 4
	// raceThin is of how many of these the race detector, with which all takes long, sees one.
	raceThin = 6
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
	runs := 0
	for mode := range modeNames {
		n, op := all, fileio.AnyOp
		if mode == failAfter || mode == crash {
			n, op = changes, fileio.AnyChange
		}
		for nth := 1; nth <= n; nth++ {
			if op == fileio.AnyOp && nth <= n-tail && nth%thin != mode%thin {
				continue
			}
			if underRace && (nth+mode+len(k.name))%raceThin != 0 {
				continue
			}
			s.interfere(ctx, mode, op, nth)
			runs++
		}
	}
	t.Logf("%d operations, %d of them changes: %d runs", all, changes, runs)
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
	faulty.Inject(fileio.Fault{Op: op, Nth: nth, Do: func(_ context.Context, path string) { hit.Store(path) }})
	switch mode {
	case kill:
		faulty.Inject(fileio.Fault{Op: op, Nth: nth, Do: func(context.Context, string) { cancel() }})
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
	got, _, readErr := s.r.read(ctx, mem)
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
	case mode != crash && err != nil && isAfter && !isBefore && !uncertain(err):
		s.t.Fatalf("%s: carried out in spite of the error: %T", what, err)
	case mode == crash:
		s.cleaned(ctx, what, mem, got)
	}
	if err == nil || isAfter && !isBefore || s.k.once && !isBefore {
		return
	}
	// Repeated, it does all of it.
	if s.k.empty && !isBefore && mode == crash {
		return
	}
	again := p
	if mode != crash {
		// A transaction that failed is over.
		_ = again.run(ctx, "ROLLBACK")
	}
	if err := again.run(ctx, s.k.run...); err != nil {
		s.t.Fatalf("%s; repeated: %v", what, err)
	}
	got, _, readErr = s.r.read(ctx, mem)
	if readErr != nil {
		s.t.Fatalf("%s; repeated: the warehouse cannot be read: %v", what, readErr)
	}
	if !maps.Equal(got, s.after) {
		s.t.Fatalf("%s; repeated:\n%s", what, strings.Join(got.differences(s.after), "\n"))
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
