package faults

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
)

// rivalThin is of how many places between two file operations one is tried; those before a snapshot is made all are.
const rivalThin = 24

// rivals are what another process does meanwhile: a row of a key that is there, a new one, and a compaction; and in
// every other run it also leaves no snapshot but the newest.
var rivals = [][]string{
	{"INSERT INTO a VALUES (2, 'R', 7), (77, 'r', 1)", "CALL sys.compact('a')"},
	{"INSERT INTO a VALUES (2, 'R', 7), (77, 'r', 1)", "CALL sys.compact('a')", "CALL sys.expire_snapshots(table => 'a', retain_max => 1, retain_min => 1)"},
}

// meet lets another process do something in the midst of the statement, which has so many operations, and returns the number of
// runs: both succeed, unless the statement says that there was a conflict or that what it read has expired; the rows are those of
// one after the other, in either order.
func (s *sweeper) meet(ctx context.Context, all int) (runs int) {
	s.t.Helper()
	places := s.thinned(rivalThin, all)
	other := takeEngine(s.t)
	orders := make([][]string, len(rivals))
	for i, o := range places {
		n := (i + len(s.k.name)) % len(rivals)
		if orders[n] == nil {
			orders[n] = []string{s.serial(ctx, s.k.run, rivals[n]), s.serial(ctx, rivals[n], s.k.run), s.serial(ctx, rivals[n]), s.serial(ctx, s.k.run)}
		}
		if s.meetAt(ctx, other, o, rivals[n], orders[n]) {
			runs++
		}
	}
	if runs < len(places)/2 {
		s.t.Fatalf("another process came in between in %d of %d runs", runs, len(places))
	}
	return runs
}

// thinned are one operation in so many, and the changes that make snapshots.
func (s *sweeper) thinned(every, all int) (out []operation) {
	if os.Getenv(denseVariable) != "" {
		every = 1
	}
	for nth := 1; nth <= all; nth++ {
		if (nth+len(s.k.name))%every == 0 {
			out = append(out, operation{fileio.AnyOp, nth})
		}
	}
	for _, nth := range s.published {
		out = append(out, operation{fileio.AnyChange, nth})
	}
	if underRace {
		i := len(s.k.name)
		out = slices.DeleteFunc(out, func(operation) bool { i++; return i%raceThin != 0 })
	}
	return out
}

// serial returns the rows after statements one after the other, and after what finishes them; "" where they fail.
func (s *sweeper) serial(ctx context.Context, statements ...[]string) string {
	s.t.Helper()
	mem := s.base.Clone()
	p := s.e.start(s.t, mem)
	if err := p.run(ctx, slices.Concat(statements...)...); err != nil {
		return ""
	}
	if err := p.run(ctx, s.k.finish...); err != nil {
		s.t.Fatalf("in turn: %v", err)
	}
	got, _, err := s.r.read(ctx, mem)
	if err != nil {
		s.t.Fatalf("in turn: %v", err)
	}
	return s.allRows(got)
}

// allRows are the rows of all tables.
func (s *sweeper) allRows(got state) string {
	var out []string
	for k, v := range got {
		if strings.HasPrefix(k, "rows ") {
			out = append(out, k+": "+v)
		}
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

// meetAt lets another process do something before an operation of the statement; false where there is no such operation, since what is done
// at once is not done in the same order each time. orders are the rows of statement and rival, rival and statement, the rival
// alone, and the statement alone.
func (s *sweeper) meetAt(ctx context.Context, other *engine, o operation, rival, orders []string) bool {
	s.t.Helper()
	mem := s.base.Clone()
	faulty := fileio.NewFaulty(mem)
	var what string
	var rivalErr error
	second := other.start(s.t, mem)
	faulty.Inject(fileio.Fault{Op: o.op, Nth: o.nth, Do: func(_ context.Context, path string) {
		what = fmt.Sprintf("%v before operation %d (%s)", rival, o.nth, path)
		rivalErr = second.run(ctx, rival...)
	}})
	p := s.e.start(s.t, faulty)
	err := p.run(ctx, s.k.run...)
	faulty.Clear()
	if what == "" {
		return false
	}
	refused := rivalErr != nil && orders[0] == "" // after the statement it cannot be done
	switch {
	case rivalErr != nil && !refused:
		s.t.Fatalf("%s: %v", what, rivalErr)
	case err != nil && !errs.Is(err, errs.Conflict) && !errs.Is(err, errs.NotFound) && !errs.Is(err, errs.Corrupt): // the latter: what it read has expired
		s.t.Fatalf("%s: the statement: %v", what, err)
	}
	_ = p.run(ctx, "ROLLBACK")
	if e := p.run(ctx, s.k.finish...); e != nil {
		s.t.Fatalf("%s: finishing after %v: %v", what, err, e)
	}
	got, _, e := s.r.read(ctx, mem)
	if e != nil {
		s.t.Fatalf("%s: the warehouse cannot be read after %v: %v", what, err, e)
	}
	rows := s.allRows(got)
	if refused && rows != orders[3] || !refused && (err == nil && rows != orders[0] && rows != orders[1] || err != nil && rows != orders[2]) {
		s.t.Fatalf("%s: error %v; there is %s, and in turn %s", what, err, rows, strings.Join(orders, "\nor "))
	}
	s.tells(what, got)
	s.cleaned(ctx, what, mem, got)
	return true
}
