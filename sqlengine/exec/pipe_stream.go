package exec

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/relation"
)

// streamAhead is the number of batches that a morsel may be ahead of the
// consumer, streamBytes about how much memory they may have together.
const (
	streamAhead = 8
	streamBytes = 8 << 20
)

// batchIter yields batches, each valid until the next call.
type batchIter interface {
	next(ctx context.Context) (*column.Batch, error)
	close() error
}

// open starts a pipe.
func (p *pipe) open(ctx context.Context, o *Executor) (batchIter, error) {
	if p.limit == 0 {
		return &listIter{}, nil
	}
	if len(p.order) > 0 {
		return p.openSorted(ctx, o)
	}
	it, err := p.openRows(ctx, o)
	if err != nil {
		return nil, err
	}
	if p.limit >= 0 || p.offset > 0 {
		it = &cutIter{in: it, skip: p.offset, left: p.limit}
	}
	return it, nil
}

// openRows starts a pipe without its order and limit.
func (p *pipe) openRows(ctx context.Context, o *Executor) (batchIter, error) {
	if p.agg != nil {
		batches, err := p.agg.run(ctx, o)
		if err != nil {
			return nil, err
		}
		return &groupIter{w: newPipeWorker(p), in: batches}, nil
	}
	plan, err := p.table.Relation().Plan(ctx, p.request())
	if err != nil {
		return nil, err
	}
	s := &streamIter{pipe: p, morsels: plan.Morsels}
	if workersFor(plan.Morsels) == 1 {
		s.serial = newPipeWorker(p)
	}
	return s, nil
}

func (p *pipe) request() relation.Request {
	r := p.table.Request(p.fields)
	if len(p.filters) > 0 || len(p.order) > 0 || p.limit < 0 {
		r.Limit = 0
	}
	return r
}

// listIter yields batches that are in memory.
type listIter struct{ batches []*column.Batch }

func (l *listIter) next(context.Context) (*column.Batch, error) {
	if len(l.batches) == 0 {
		return nil, io.EOF
	}
	b := l.batches[0]
	l.batches = l.batches[1:]
	return b, nil
}

func (l *listIter) close() error { return nil }

// groupIter runs a pipe over the groups of an aggregate.
type groupIter struct {
	w  *pipeWorker
	in batchIter
}

func (g *groupIter) next(ctx context.Context) (out *column.Batch, err error) {
	for out == nil && err == nil {
		err = g.step(ctx, func(w *pipeWorker) error {
			out, err = w.output()
			return err
		})
	}
	return out, err
}

// step loads the next groups; f is called where rows are left.
func (g *groupIter) step(ctx context.Context, f func(*pipeWorker) error) error {
	if err := check(ctx); err != nil {
		return err
	}
	b, err := g.in.next(ctx)
	if err != nil {
		return err
	}
	in := *b
	in.Cols = make([]*column.Vector, len(g.w.pipe.fields))
	for i, f := range g.w.pipe.fields {
		in.Cols[i] = b.Cols[f]
	}
	ok, err := g.w.load(&in)
	if err != nil || !ok {
		return err
	}
	return f(g.w)
}

func (g *groupIter) close() error { return g.in.close() }

// cutIter skips and limits rows.
type cutIter struct {
	in         batchIter
	skip, left int64
	out        column.Batch
	sel        []uint16
}

func (c *cutIter) next(ctx context.Context) (*column.Batch, error) {
	for {
		if c.left == 0 {
			return nil, io.EOF
		}
		b, err := c.in.next(ctx)
		if err != nil {
			return nil, err
		}
		rows := int64(b.Rows())
		from := min(c.skip, rows)
		c.skip -= from
		to := rows
		if c.left >= 0 {
			to = min(rows, from+c.left)
			c.left -= to - from
		}
		if from == to {
			continue
		}
		if from == 0 && to == rows {
			return b, nil
		}
		c.sel = c.sel[:0]
		for k := from; k < to; k++ {
			c.sel = append(c.sel, uint16(b.Row(int(k))))
		}
		c.out = *b
		c.out.Sel = c.sel
		return &c.out, nil
	}
}

func (c *cutIter) close() error { return c.in.close() }

// streamIter runs a pipe over a table's morsels and yields the batches in the order of the morsels. Some
// morsels are worked on ahead, each with a bounded queue.
type streamIter struct {
	pipe    *pipe
	morsels []relation.Morsel
	// serial does everything in the caller's goroutine.
	serial *pipeWorker
	reader relation.Reader

	cancel  context.CancelFunc
	ctx     context.Context
	wg      sync.WaitGroup
	running []chan streamed
	// free are workers that have ended a morsel.
	free chan *pipeWorker
}

// streamed is a batch or an error; with neither it takes the place of batches that are bigger than others.
type streamed struct {
	batch *column.Batch
	err   error
}

func (s *streamIter) next(ctx context.Context) (*column.Batch, error) {
	if s.serial != nil {
		return s.nextSerial(ctx)
	}
	for {
		if err := s.start(ctx); err != nil {
			return nil, err
		}
		if len(s.running) == 0 {
			return nil, io.EOF
		}
		select {
		case r, ok := <-s.running[0]:
			if !ok {
				// A morsel that was stopped has no end of its own.
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				s.running = s.running[1:]
				continue
			}
			if r.batch == nil && r.err == nil {
				continue
			}
			return r.batch, r.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (s *streamIter) nextSerial(ctx context.Context) (*column.Batch, error) {
	for {
		if err := check(ctx); err != nil {
			return nil, err
		}
		if s.reader == nil {
			if len(s.morsels) == 0 {
				return nil, io.EOF
			}
			r, err := s.morsels[0].Open(ctx)
			if err != nil {
				return nil, err
			}
			s.reader, s.morsels = r, s.morsels[1:]
		}
		b, err := s.reader.Next(ctx)
		if errors.Is(err, io.EOF) {
			err = s.reader.Close()
			if s.reader = nil; err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		ok, err := s.serial.load(b)
		if err != nil {
			return nil, err
		}
		if ok {
			return s.serial.output()
		}
	}
}

// start keeps as many morsels in work as there are workers.
func (s *streamIter) start(ctx context.Context) error {
	if s.ctx == nil {
		s.ctx, s.cancel = context.WithCancel(ctx)
		n := workersFor(s.morsels)
		s.free = make(chan *pipeWorker, n)
		for range n {
			s.free <- newPipeWorker(s.pipe)
		}
	}
	for len(s.morsels) > 0 && len(s.running) < cap(s.free) {
		m := s.morsels[0]
		s.morsels = s.morsels[1:]
		if sp, ok := m.(relation.Splitter); ok && m.Weight() > splitRows {
			parts, err := sp.Split(ctx)
			if err != nil {
				return err
			}
			if len(parts) > 1 {
				rest := s.morsels
				s.morsels = nil
				for _, p := range parts {
					s.morsels = append(s.morsels, unsplit{p})
				}
				s.morsels = append(s.morsels, rest...)
				continue
			}
			if len(parts) == 1 {
				m = parts[0]
			}
		}
		out := make(chan streamed, streamAhead)
		s.running = append(s.running, out)
		s.wg.Add(1)
		go s.work(m, out)
	}
	return nil
}

// unsplit hides that a morsel could be split once more.
type unsplit struct{ relation.Morsel }

func (s *streamIter) work(m relation.Morsel, out chan<- streamed) {
	defer s.wg.Done()
	defer close(out)
	var w *pipeWorker
	select {
	case w = <-s.free:
	case <-s.ctx.Done():
		return
	}
	defer func() { s.free <- w }()
	send := func(r streamed) error {
		select {
		case out <- r:
			return nil
		case <-s.ctx.Done():
			return s.ctx.Err()
		}
	}
	err := readAll(s.ctx, m, func(b *column.Batch) error {
		ok, err := w.load(b)
		if err != nil || !ok {
			return err
		}
		own, err := w.ownOutput()
		if err != nil {
			return err
		}
		if err := send(streamed{batch: own}); err != nil {
			return err
		}
		for range min(own.Size()/(streamBytes/streamAhead), streamAhead-1) {
			if err := send(streamed{}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		_ = send(streamed{err: err})
	}
}

func (s *streamIter) close() error {
	var err error
	if s.reader != nil {
		err = s.reader.Close()
		s.reader = nil
	}
	if s.cancel != nil {
		s.cancel()
		s.wg.Wait()
		s.cancel = nil
	}
	s.morsels = nil
	return err
}
