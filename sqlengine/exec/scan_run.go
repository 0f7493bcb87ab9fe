package exec

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/relation"
)

const (
	// serialRows is the number of rows up to which a scan is not worth a second goroutine.
	serialRows = 65_536
	// splitRows is the weight from which a morsel is split for more parallelism.
	splitRows = 250_000
)

// workersFor decides how many goroutines read a plan's morsels.
func workersFor(ms []relation.Morsel) int {
	total, splits := int64(0), false
	for _, m := range ms {
		total += m.Weight()
		_, ok := m.(relation.Splitter)
		splits = splits || ok && m.Weight() > splitRows
	}
	if total <= serialRows {
		return 1
	}
	n := runtime.GOMAXPROCS(0)
	if !splits {
		n = min(n, len(ms))
	}
	return max(n, 1)
}

// morselQueue hands morsels to workers, splitting big ones as they come up.
type morselQueue struct {
	mu        sync.Mutex
	wake      *sync.Cond
	morsels   []relation.Morsel
	whole     map[relation.Morsel]bool
	splitting int
	ended     bool
}

func newMorselQueue(ms []relation.Morsel) *morselQueue {
	q := &morselQueue{morsels: ms, whole: map[relation.Morsel]bool{}}
	q.wake = sync.NewCond(&q.mu)
	return q
}

// next returns a morsel to read; nil where there are no more.
func (q *morselQueue) next(ctx context.Context, split bool) (relation.Morsel, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if q.ended {
			return nil, nil
		}
		if len(q.morsels) == 0 {
			if q.splitting == 0 {
				return nil, nil
			}
			q.wake.Wait()
			continue
		}
		m := q.morsels[0]
		q.morsels = q.morsels[1:]
		s, ok := m.(relation.Splitter)
		if !ok || !split || m.Weight() <= splitRows || q.whole[m] {
			return m, nil
		}
		q.splitting++
		q.mu.Unlock()
		parts, err := splitMorsel(ctx, s)
		q.mu.Lock()
		q.splitting--
		q.wake.Broadcast()
		if err != nil {
			return nil, err
		}
		if len(parts) == 0 {
			continue
		}
		for _, p := range parts {
			q.whole[p] = true
		}
		q.morsels = append(parts[1:len(parts):len(parts)], q.morsels...)
		return parts[0], nil
	}
}

// splitMorsel is Split in a goroutine of ours.
func splitMorsel(ctx context.Context, s relation.Splitter) (parts []relation.Morsel, err error) {
	defer errs.Recover(&err, "splitting a scan")
	return s.Split(ctx)
}

// stop wakes the waiting workers for the end.
func (q *morselQueue) stop() {
	q.mu.Lock()
	q.ended = true
	q.wake.Broadcast()
	q.mu.Unlock()
}

// readAll gives every batch of a morsel to f.
func readAll(ctx context.Context, m relation.Morsel, f func(*column.Batch) error) (err error) {
	defer errs.Recover(&err, "scanning a table")
	r, err := m.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if b.Rows() == 0 {
			continue
		}
		if err := f(b); err != nil {
			return err
		}
	}
}

// scanParallel reads morsels with n workers; sink makes worker i's consumer. It returns when all have ended.
func scanParallel(ctx context.Context, ms []relation.Morsel, n int, sink func(i int) func(*column.Batch) error) error {
	q := newMorselQueue(ms)
	if n == 1 {
		f := sink(0)
		for {
			m, err := q.next(ctx, false)
			if m == nil || err != nil {
				return err
			}
			if err := readAll(ctx, m, f); err != nil {
				return err
			}
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	work := func(i int) (err error) {
		defer errs.Recover(&err, "scanning a table")
		f := sink(i)
		for {
			m, err := q.next(ctx, true)
			if m == nil || err != nil {
				return err
			}
			if err := readAll(ctx, m, f); err != nil {
				return err
			}
		}
	}
	failed := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if failed[i] = work(i); failed[i] != nil {
				cancel()
				q.stop()
			}
		})
	}
	wg.Wait()
	return firstCause(failed)
}

// firstCause prefers an error to those that only say that another worker stopped the query.
func firstCause(list []error) error {
	var first error
	for _, err := range list {
		if err == nil {
			continue
		}
		if !errors.Is(err, context.Canceled) {
			return err
		}
		first = err
	}
	return first
}
