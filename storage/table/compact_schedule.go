package table

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tributarydb/tributary/storage/errs"
)

// Compactions runs the compactions that no statement waits for beside the statements: some at a time, one of a branch. Commits
// ask for them; what is asked for while another one of the branch waits is done together with it. It is safe for concurrent use.
type Compactions struct {
	env     *Env
	workers int
	// after is called for a table that a compaction has changed.
	after  func(ctx context.Context, t *Table)
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu sync.Mutex
	// waiting are in the order in which they were asked for, running one a branch.
	waiting []*compactJob
	running map[gateKey]*compactJob
	paused  bool
	// pausing is closed while no compaction begins.
	pausing chan struct{}
	lastID  int64
}

// compactJob is a compaction that was asked for.
type compactJob struct {
	id       int64
	key      gateKey
	database string
	name     string
	label    string
	over     map[string]string
	buckets  map[bucketName]bool
	asked    time.Time
	// started is zero while the job waits; state says how far it is.
	started time.Time
	state   string
	cancel  context.CancelFunc
	done    chan struct{}
}

// CompactionJob describes a compaction that waits or runs.
type CompactionJob struct {
	// ID numbers the jobs of a process, from 1 on.
	ID int64
	// Database and Table name the branch, the latter as $branch_ names do.
	Database, Table string
	// Buckets is how many buckets are looked at.
	Buckets int
	Running bool
	// Since is when it was asked for or, where it runs, when it began.
	Since time.Time
	// State says how far it is.
	State string
}

// NewCompactions starts a scheduler for the tables of an environment, which commits find there: workers compactions run at
// a time. after, which may be nil, is called for a table that a compaction has changed. The scheduler ends with ctx, or Close.
func NewCompactions(ctx context.Context, env *Env, workers int, after func(ctx context.Context, t *Table)) *Compactions {
	ctx, cancel := context.WithCancel(ctx)
	c := &Compactions{env: env, workers: max(workers, 1), after: after, ctx: ctx, cancel: cancel, running: map[gateKey]*compactJob{}, pausing: make(chan struct{})}
	env.Writing.Compactions = c
	return c
}

// Close cancels what runs, which leaves nothing behind, and waits for its end.
func (c *Compactions) Close() {
	c.cancel()
	c.mu.Lock()
	c.drop(func(*compactJob) bool { return true })
	c.mu.Unlock()
	c.wg.Wait()
}

// Pause lets no compaction begin until Resume. Those that run go on; writers wait for none meanwhile.
func (c *Compactions) Pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.paused {
		c.paused = true
		close(c.pausing)
	}
}

// Resume ends a pause.
func (c *Compactions) Resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused {
		c.paused = false
		c.pausing = make(chan struct{})
		c.start()
	}
}

// Jobs lists what runs, then what waits, in the order of its beginning.
func (c *Compactions) Jobs() []CompactionJob {
	c.mu.Lock()
	defer c.mu.Unlock()
	jobs := slices.SortedFunc(maps.Values(c.running), func(a, b *compactJob) int { return a.started.Compare(b.started) })
	var out []CompactionJob
	for _, j := range append(jobs, c.waiting...) {
		x := CompactionJob{ID: j.id, Database: j.database, Table: strings.TrimPrefix(j.label, j.database+"."), Buckets: len(j.buckets), Since: j.asked, State: j.state}
		if !j.started.IsZero() {
			x.Running, x.Since = true, j.started
		}
		if x.State == "" {
			x.State = "waiting"
			if c.paused {
				x.State = "paused"
			}
		}
		out = append(out, x)
	}
	return out
}

// Leave cancels the compactions of the tables in a directory, which is about to go, and waits for their end.
func (c *Compactions) Leave(dir string) {
	mine := func(j *compactJob) bool { return j.key.dir == dir || strings.HasPrefix(j.key.dir, dir+"/") }
	c.mu.Lock()
	c.drop(mine)
	var ends []chan struct{}
	for _, j := range c.running {
		if mine(j) {
			j.cancel()
			ends = append(ends, j.done)
		}
	}
	c.mu.Unlock()
	for _, end := range ends {
		<-end
	}
}

// drop gives up waiting jobs. The mutex is held.
func (c *Compactions) drop(which func(*compactJob) bool) {
	c.waiting = slices.DeleteFunc(c.waiting, func(j *compactJob) bool {
		if !which(j) {
			return false
		}
		close(j.done)
		return true
	})
}

// ask asks for a compaction of buckets of a branch with a statement's options.
func (c *Compactions) ask(t *Table, over map[string]string, buckets []bucketName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return
	}
	key := gateKey{t.dir, t.branch}
	at := slices.IndexFunc(c.waiting, func(j *compactJob) bool { return j.key == key && maps.Equal(j.over, over) })
	if at < 0 {
		c.lastID++
		at = len(c.waiting)
		c.waiting = append(c.waiting, &compactJob{id: c.lastID, key: key, database: t.database, name: t.name, label: t.Label(), over: over,
			buckets: map[bucketName]bool{}, asked: time.Now(), done: make(chan struct{})})
	}
	for _, b := range buckets {
		c.waiting[at].buckets[b] = true
	}
	c.start()
}

// await waits until the compactions of a branch that were asked for have ended, or none is to begin.
func (c *Compactions) await(ctx context.Context, t *Table) {
	key := gateKey{t.dir, t.branch}
	var ends []chan struct{}
	c.mu.Lock()
	pausing := c.pausing
	if j := c.running[key]; j != nil {
		ends = append(ends, j.done)
	}
	for _, j := range c.waiting {
		if j.key == key {
			ends = append(ends, j.done)
		}
	}
	c.mu.Unlock()
	for _, end := range ends {
		select {
		case <-end:
		case <-pausing:
			return
		case <-ctx.Done():
			return
		}
	}
}

// start begins waiting jobs as long as there are workers. The mutex is held.
func (c *Compactions) start() {
	for i := 0; i < len(c.waiting) && len(c.running) < c.workers && !c.paused && c.ctx.Err() == nil; {
		j := c.waiting[i]
		if c.running[j.key] != nil {
			i++
			continue
		}
		c.waiting = slices.Delete(c.waiting, i, i+1)
		ctx, cancel := context.WithCancel(c.ctx)
		j.started, j.state, j.cancel = time.Now(), "compacting "+j.label, cancel
		c.running[j.key] = j
		c.wg.Go(func() {
			defer cancel()
			err := c.run(ctx, j)
			if err != nil && ctx.Err() == nil {
				c.env.Log.Warn("compaction failed; the next one makes up for it, or CALL sys.compact", "table", j.label, "error", err)
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			delete(c.running, j.key)
			close(j.done)
			c.start()
		})
	}
}

// run compacts. The table is opened anew: its schema and options may have changed since the statement that asked.
func (c *Compactions) run(ctx context.Context, j *compactJob) (err error) {
	defer errs.Recover(&err, "compacting table "+j.label)
	t, err := Open(ctx, c.env, j.database, j.name, OpenOptions{Branch: j.key.branch})
	if errs.Is(err, errs.NotFound) {
		return nil // dropped since
	}
	if err != nil {
		return err
	}
	s := t.stored.WithOptions(j.over)
	if t.dir != j.key.dir || compactsWith(s) == compactsNever {
		return nil
	}
	o := compactBuckets(s, j.buckets)
	o.Progress = func(text string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		j.state = text
	}
	res, err := t.compact(ctx, o, j.over, "")
	if err == nil && res.Snapshot != nil && c.after != nil {
		c.after(ctx, t)
	}
	return err
}
