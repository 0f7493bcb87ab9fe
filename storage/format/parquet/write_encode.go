package parquet

import (
	"context"
	"runtime"
	"sync"

	"github.com/tributarydb/tributary/storage/errs"
)

const (
	// roundRows and roundBytes are the size of what goes to the encoders at a time.
	roundRows  = 16 << 10
	roundBytes = 1 << 20
	// roundsAhead bounds the rounds of a file in memory: those being encoded and the one being filled.
	roundsAhead = 4
)

// round is some rows of all leaves.
type round struct {
	chunks []leafChunk
	rows   int
	// raw is about how many bytes of values the round has.
	raw int64
	// left counts the chunks that are not encoded yet.
	left int
}

// encoders encode the leaves of a file side by side: several goroutines, each for one leaf at a time, and the rounds of
// a leaf in their order. They end when there is nothing to do.
type encoders struct {
	mu      sync.Mutex
	ready   []*leafWriter
	workers int
	err     error

	// free gets the rounds that are encoded, in the order in which they were started.
	free chan *round
	// made counts the rounds there are, out those that were started and not taken back, spare are others.
	made, out int
	spare     []*round
	// compressed, open and raw are what the rounds taken back say of the row group: bytes of finished pages, of
	// values in open pages, and of all values before they were encoded.
	compressed, open, raw int64
}

// take returns an empty round: it waits for one where there are as many as there may be.
func (e *encoders) take(ctx context.Context, leaves []*leafWriter) (*round, error) {
	if len(e.spare) == 0 && e.made == roundsAhead {
		select {
		case r := <-e.free:
			e.back(r)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if err := e.failure(); err != nil {
		return nil, err
	}
	if n := len(e.spare); n > 0 {
		r := e.spare[n-1]
		e.spare = e.spare[:n-1]
		return r, nil
	}
	e.made++
	r := &round{chunks: make([]leafChunk, len(leaves))}
	for i, l := range leaves {
		r.chunks[i].round, r.chunks[i].leaf = r, l
	}
	return r, nil
}

// back takes a round back that was encoded.
func (e *encoders) back(r *round) {
	e.out--
	e.raw += r.raw
	e.compressed, e.open = 0, 0
	for i := range r.chunks {
		c := &r.chunks[i]
		e.compressed += c.compressed
		e.open += c.open
		c.reset()
	}
	r.rows, r.raw = 0, 0
	e.spare = append(e.spare, r)
}

func (e *encoders) failure() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// start gives a round to the encoders.
func (e *encoders) start(r *round) {
	e.out++
	e.mu.Lock()
	defer e.mu.Unlock()
	r.left = len(r.chunks)
	for i := range r.chunks {
		c := &r.chunks[i]
		c.leaf.queue = append(c.leaf.queue, c)
		if !c.leaf.busy {
			c.leaf.busy = true
			e.ready = append(e.ready, c.leaf)
		}
	}
	for most := min(runtime.GOMAXPROCS(0), len(e.ready)); e.workers < most; e.workers++ {
		go e.work()
	}
}

// work encodes until nothing is left.
func (e *encoders) work() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.ready) > 0 {
		l := e.ready[0]
		e.ready = e.ready[1:]
		c := l.queue[0]
		l.queue = l.queue[1:]
		if e.err == nil {
			e.mu.Unlock()
			err := encodeChunk(l, c)
			e.mu.Lock()
			if e.err == nil {
				e.err = err
			}
		}
		if len(l.queue) > 0 {
			e.ready = append(e.ready, l)
		} else {
			l.queue, l.busy = nil, false
		}
		if c.round.left--; c.round.left == 0 {
			e.free <- c.round // has room for all rounds
		}
	}
	e.workers--
}

func encodeChunk(l *leafWriter, c *leafChunk) (err error) {
	defer errs.Recover(&err, "encoding column '"+l.p.path+"'")
	return l.encode(c)
}

// wait waits until everything that was started is encoded.
func (e *encoders) wait() error {
	for e.out > 0 {
		e.back(<-e.free)
	}
	return e.failure()
}

// newGroup begins to count anew.
func (e *encoders) newGroup() { e.compressed, e.open, e.raw = 0, 0, 0 }

// cancel drops what was not encoded yet, and waits for what is being encoded.
func (e *encoders) cancel() {
	e.mu.Lock()
	if e.err == nil {
		e.err = errs.New(errs.Unknown, "the file was given up")
	}
	e.mu.Unlock()
	_ = e.wait()
}
