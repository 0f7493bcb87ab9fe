package table

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/write"
)

// maxGroupRows bounds the rows that one snapshot of a group takes.
const maxGroupRows = 64 * GroupRows

// writeGate orders the writers of one branch in this process: from reading
// the greatest sequence numbers to the commit there is one at a time, so that
// statements never share sequence numbers. Small statements that wait form a
// group: the first of them, the leader, writes and commits the rows of all as one snapshot.
type writeGate struct {
	// place holds a value while somebody is inside, compacting while somebody rewrites files.
	place, compacting chan struct{}
	mu                sync.Mutex
	queue             []*groupMember
	// led says that some member is, or was told to become, the leader.
	led bool
	// lastPostponed is the creation time of the newest postponed file.
	lastPostponed atomic.Int64
}

// groupMember is a small statement that waits for its commit.
type groupMember struct {
	s   *sink
	ctx context.Context
	// taken says that a leader has taken the rows: the outcome is the group's then.
	taken bool
	// wake gets true when the member is to lead, false when its result is there.
	wake chan bool
	id   int64
	err  error
}

func newWriteGate() *writeGate {
	return &writeGate{place: make(chan struct{}, 1), compacting: make(chan struct{}, 1)}
}

// lock waits for the place inside, unless HoldWrites has got it for the context.
func (g *writeGate) lock(ctx context.Context) (unlock func(), err error) {
	if h := holdOf(ctx, g); h != nil && h.take() {
		return func() { <-g.place }, nil
	}
	return enter(ctx, g.place)
}

// lockCompaction waits until no other compaction of the branch runs in this process: both
// would rewrite the same files, and one in vain.
func (g *writeGate) lockCompaction(ctx context.Context) (unlock func(), err error) {
	return enter(ctx, g.compacting)
}

// busyCompacting reports whether a compaction of the branch runs in this process.
func (g *writeGate) busyCompacting() bool { return len(g.compacting) > 0 }

func enter(ctx context.Context, place chan struct{}) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case place <- struct{}{}:
		return func() { <-place }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// submit commits a small statement's rows, in the order of arrival, with those of others that wait.
func (g *writeGate) submit(ctx context.Context, s *sink) (int64, error) {
	m := &groupMember{s: s, ctx: ctx, wake: make(chan bool, 1)}
	g.mu.Lock()
	g.queue = append(g.queue, m)
	lead := !g.led
	g.led = true
	g.mu.Unlock()
	if !lead {
		select {
		case lead = <-m.wake:
		case <-ctx.Done():
			if g.leave(m) {
				return 0, ctx.Err()
			}
			// The rows were taken, or the member leads: the next word says which.
			lead = <-m.wake
		}
	}
	if lead {
		g.lead(m)
	}
	return m.id, m.err
}

// leave takes a member out of the queue, unless its rows were taken or it was told to lead.
func (g *writeGate) leave(m *groupMember) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if m.taken || len(m.wake) > 0 {
		return false
	}
	if i := slices.Index(g.queue, m); i >= 0 {
		g.queue = slices.Delete(g.queue, i, i+1)
	}
	return true
}

// lead commits the group that m, the first of the queue, leads, and tells the next one to lead.
func (g *writeGate) lead(m *groupMember) {
	unlock, err := g.lock(m.ctx)
	g.mu.Lock()
	var group []*groupMember
	if err != nil {
		m.err = err
		g.queue = slices.DeleteFunc(g.queue, func(x *groupMember) bool { return x == m })
	} else {
		group = g.take(m)
	}
	g.mu.Unlock()
	var written []*sink
	if err == nil {
		commitGroup(group)
		unlock()
		written = publishers(group)
		if len(written) > 0 && compactsWith(m.s.schema) == compactsWaiting {
			compactGroup(group, written)
			written = nil
		}
	}
	if len(written) > 0 {
		askCompaction(written)
	}
	g.mu.Lock()
	g.led = len(g.queue) > 0
	if g.led {
		g.queue[0].wake <- true
	}
	g.mu.Unlock()
	for _, x := range group {
		if x != m {
			x.wake <- false
		}
	}
	if len(written) > 0 {
		compactQuietly(m.ctx, written)
	}
}

// publishers are the sinks of a group whose buckets may be worth compacting; all of the group wait where one has to.
func publishers(group []*groupMember) (out []*sink) {
	stalled := false
	for _, x := range group {
		if len(x.s.touched) > 0 {
			out = append(out, x.s)
			stalled = stalled || x.s.stalled
		}
	}
	for _, x := range group {
		x.s.stalled = stalled
	}
	return out
}

// compactGroup compacts what the members have written, for as long as one of them waits.
func compactGroup(group []*groupMember, written []*sink) {
	ctx, cancel := groupContext(group)
	defer cancel()
	compactTouched(ctx, written)
}

// take takes from the queue the members from m on whose rows fit m's snapshot. The gate's mutex is held.
func (g *writeGate) take(m *groupMember) []*groupMember {
	rows, n := 0, 0
	for _, x := range g.queue {
		if x != m && (!m.s.fits(x.s) || rows+x.s.held.Rows() > maxGroupRows) {
			break
		}
		rows += x.s.held.Rows()
		x.taken = true
		n++
	}
	group := slices.Clone(g.queue[:n])
	g.queue = slices.Delete(g.queue, 0, n)
	return group
}

// commitGroup commits the rows of a group as one snapshot, or where that fails
// each statement by itself, so that one statement's rows are not another one's failure.
func commitGroup(group []*groupMember) {
	ctx, cancel := groupContext(group)
	defer cancel()
	id, err := writeGroup(ctx, group)
	if err == nil || len(group) == 1 || errs.Is(err, errs.Uncertain) {
		for _, m := range group {
			m.id, m.err = id, err
		}
		return
	}
	for _, m := range group {
		m.id, m.err = writeGroup(m.ctx, []*groupMember{m})
	}
}

// groupContext ends when all members' contexts have ended.
func groupContext(group []*groupMember) (context.Context, context.CancelFunc) {
	if len(group) == 1 {
		return context.WithCancel(group[0].ctx)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(group[0].ctx))
	var left atomic.Int64
	left.Store(int64(len(group)))
	var stops []func() bool
	for _, m := range group {
		stops = append(stops, context.AfterFunc(m.ctx, func() {
			if left.Add(-1) == 0 {
				cancel()
			}
		}))
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}

// writeGroup writes and commits the rows of the members, in their order.
func writeGroup(ctx context.Context, group []*groupMember) (id int64, err error) {
	s := group[0].s
	build := func() (*write.Writer, error) {
		w, err := s.newWriter()
		if err != nil {
			return nil, err
		}
		err = func() (err error) {
			defer errs.Recover(&err, "writing table "+s.t.Label())
			for _, m := range group {
				if err := m.s.held.Each(func(r write.Rows) error { return w.Write(ctx, r) }); err != nil {
					return err
				}
			}
			return nil
		}()
		if err != nil {
			w.Abort(ctx)
			return nil, err
		}
		return w, nil
	}
	w, err := build()
	if err != nil {
		return 0, err
	}
	return s.publish(ctx, w, build)
}
