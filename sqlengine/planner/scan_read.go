package planner

import (
	"context"
	"errors"
	"io"
	"runtime"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/sqlengine/result"
	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
)

// readAhead is the number of batches that a morsel may be read ahead of its
// consumer, readAheadBytes about how much memory they may have together.
const (
	readAhead      = 16
	readAheadBytes = 8 << 20
)

// scan reads the morsels of a plan in their order. One morsel is read by the
// caller; of several, some are read ahead by goroutines that end with Close or the context.
type scan struct {
	morsels []relation.Morsel

	// Sequential reading.
	reader relation.Reader
	next   int

	// Reading ahead.
	ctx     context.Context
	cancel  context.CancelFunc
	queues  []chan scanned
	started int
	done    chan struct{}
}

// scanned is a batch or the error that ended its morsel; io.EOF is told by closing the queue.
// With neither it takes the place of batches that are bigger than others.
type scanned struct {
	batch *column.Batch
	err   error
}

func newScan(m []relation.Morsel) *scan { return &scan{morsels: m} }

// eachScanned calls fn with the batches of morsels, which are valid during the call.
func eachScanned(ctx context.Context, morsels []relation.Morsel, fn func(*column.Batch) error) (err error) {
	s := newScan(morsels)
	defer func() { err = errors.Join(err, s.Close()) }()
	return eachBatch(func() (*column.Batch, error) { return s.Next(ctx) }, fn)
}

// eachSourced calls fn with the batches of a source, which are valid during the call.
func eachSourced(ctx *sql.Context, src result.Source, fn func(*column.Batch) error) (err error) {
	it, err := src.Batches(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close(ctx)) }()
	return eachBatch(func() (*column.Batch, error) { return it.Next(ctx) }, fn)
}

// eachBatch calls fn with what next gives, up to io.EOF of next. An error of fn ends it and comes back as it is.
func eachBatch(next func() (*column.Batch, error), fn func(*column.Batch) error) error {
	for {
		b, err := next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = fn(b)
		}
		if err != nil {
			return err
		}
	}
}

// Next returns the next batch, valid until the next call; io.EOF ends the scan.
func (s *scan) Next(ctx context.Context) (*column.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(s.morsels) == 1 {
		return s.nextHere(ctx)
	}
	for s.next < len(s.morsels) {
		s.start(ctx)
		select {
		case r, ok := <-s.queues[s.next]:
			switch {
			case !ok:
				// A morsel whose reading was stopped has no end of its own.
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				s.next++
				continue
			case r.err != nil:
				return nil, r.err
			case r.batch != nil:
				return r.batch, nil
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, io.EOF
}

func (s *scan) nextHere(ctx context.Context) (*column.Batch, error) {
	if s.next > 0 {
		return nil, io.EOF
	}
	if s.reader == nil {
		r, err := s.morsels[0].Open(ctx)
		if err != nil {
			return nil, err
		}
		s.reader = r
	}
	for {
		b, err := s.reader.Next(ctx)
		if errors.Is(err, io.EOF) {
			s.next++
			return nil, io.EOF
		}
		if err != nil || b.Rows() > 0 {
			return b, err
		}
	}
}

// start keeps as many morsels being read as there are processors, the current one first.
func (s *scan) start(ctx context.Context) {
	if s.queues == nil {
		s.queues = make([]chan scanned, len(s.morsels))
		s.done = make(chan struct{}, len(s.morsels))
		s.ctx, s.cancel = context.WithCancel(ctx)
	}
	for s.started < len(s.morsels) && s.started < s.next+runtime.GOMAXPROCS(0) {
		q := make(chan scanned, readAhead)
		s.queues[s.started] = q
		go readMorsel(s.ctx, s.morsels[s.started], q, s.done)
		s.started++
	}
}

// readMorsel sends copies of a morsel's batches, since a batch is only valid until the reader's next call.
func readMorsel(ctx context.Context, m relation.Morsel, out chan<- scanned, done chan<- struct{}) {
	defer func() { done <- struct{}{} }()
	defer close(out)
	send := func(r scanned) bool {
		select {
		case out <- r:
			return true
		case <-ctx.Done():
			return false
		}
	}
	if err := sendMorsel(ctx, m, func(b *column.Batch) bool {
		c := copyBatch(b)
		ok := send(scanned{batch: c})
		for more := min(c.Size()/(readAheadBytes/readAhead), readAhead-1); ok && more > 0; more-- {
			ok = send(scanned{})
		}
		return ok
	}); err != nil {
		send(scanned{err: err})
	}
}

// sendMorsel passes a morsel's batches to send until it returns false.
func sendMorsel(ctx context.Context, m relation.Morsel, send func(*column.Batch) bool) (err error) {
	defer errs.Recover(&err, "scanning a table")
	r, err := m.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		b, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if b.Rows() > 0 && !send(b) {
			return nil
		}
	}
}

// copyBatch copies the rows of b that count.
func copyBatch(b *column.Batch) *column.Batch {
	out := &column.Batch{N: b.Rows(), Cols: make([]*column.Vector, len(b.Cols))}
	for c, v := range b.Cols {
		bl := column.NewBuilderLike(v)
		if b.Sel == nil {
			bl.AppendRange(v, 0, b.N)
		} else {
			for _, i := range b.Sel {
				bl.Append(v, int(i))
			}
		}
		out.Cols[c] = bl.Finish()
	}
	return out
}

// Close stops reading and waits until every reader is closed.
func (s *scan) Close() error {
	var err error
	if s.reader != nil {
		err = s.reader.Close()
		s.reader = nil
	}
	if s.cancel != nil {
		s.cancel()
		for range s.started {
			<-s.done
		}
		s.cancel = nil
		s.started = 0
	}
	s.next = len(s.morsels)
	return err
}

// batchCursor walks the rows of a batch that count.
type batchCursor struct {
	batch *column.Batch
	k     int
}

func (c *batchCursor) reset(b *column.Batch) { c.batch, c.k = b, -1 }

func (c *batchCursor) next() bool {
	if c.batch == nil {
		return false
	}
	c.k++
	return c.k < c.batch.Rows()
}

func (c *batchCursor) row() int { return c.batch.Row(c.k) }

// boxer boxes rows of batches.
type boxer struct {
	types []*schema.Type
	loc   *time.Location
}

func newBoxer(ctx *sql.Context, ts []*schema.Type) *boxer {
	b := &boxer{types: ts}
	for _, t := range ts {
		if t.Root == schema.TimestampLTZ || t.IsNested() {
			b.loc = SessionZone(ctx)
			break
		}
	}
	return b
}

func (b *boxer) row(batch *column.Batch, i int) sql.Row {
	row := make(sql.Row, len(b.types))
	for c, t := range b.types {
		row[c] = types.Value(batch.Cols[c], i, t, b.loc)
	}
	return row
}
