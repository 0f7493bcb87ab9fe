package wire

import (
	"errors"
	"io"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/sqlengine/result"
	"github.com/tributarydb/tributary/storage/column"
)

// rowStream is an open result: it takes rows from the plan and writes them.
type rowStream struct {
	ctx    *sql.Context
	binary bool
	defs   []columnDef

	// One of the two: batches with their columns, or rows with theirs.
	batches result.Iter
	cols    []batchColumn
	rows    sql.RowIter
	boxed   []boxedColumn

	batch *column.Batch
	// pos is the next row of batch.
	pos int
	row sql.Row
	// eof tells that the plan has no more rows; what is held may still have.
	eof bool
	// sent counts rows.
	sent uint64

	// idle, where set, gets a value whenever a plan without end waits for rows that are still to be committed: a cursor
	// does not wait with it. pending gets the outcome of the fetch that then goes on, which owns what is above.
	idle    chan struct{}
	pending chan fetched
}

// fetched is the outcome of a fetch in a goroutine of its own.
type fetched struct {
	err error
	// panic is what it panicked with.
	panic any
}

// prime fetches the first batch or row, so that an early failure comes before the column definitions.
func (s *rowStream) prime() error {
	_, err := s.advance()
	return err
}

// advance is fetch, which with a cursor comes back where a plan without end waits: idle says so.
func (s *rowStream) advance() (idle bool, err error) {
	if s.idle == nil {
		return false, s.fetch()
	}
	if s.pending == nil {
		if s.atHand() {
			return false, nil
		}
		s.pending = make(chan fetched, 1)
		go func(done chan<- fetched) {
			var f fetched
			defer func() {
				f.panic = recover()
				done <- f
			}()
			f.err = s.fetch()
		}(s.pending)
	}
	select {
	case f := <-s.pending:
		s.pending = nil
		if f.panic != nil {
			panic(f.panic) // where the command's own panics are answered
		}
		return false, f.err
	case <-s.idle:
		return true, nil
	}
}

// settle waits for a fetch that goes on, after its context has ended.
func (s *rowStream) settle() {
	if s.pending != nil {
		<-s.pending
		s.pending = nil
	}
}

// atHand reports whether there is a row to send, or no more will come.
func (s *rowStream) atHand() bool {
	return s.eof || s.row != nil || s.batch != nil && s.pos < s.batch.Rows()
}

// empty reports that every row was sent.
func (s *rowStream) empty() bool {
	if s.batches != nil {
		return s.eof && (s.batch == nil || s.pos >= s.batch.Rows())
	}
	return s.eof && s.row == nil
}

// fetch takes the next batch or row from the plan, unless one is at hand.
func (s *rowStream) fetch() error {
	for !s.eof {
		if s.batches == nil {
			if s.row != nil {
				return nil
			}
			row, err := s.rows.Next(s.ctx)
			if err != nil {
				return s.ended(err)
			}
			s.row = row
			return nil
		}
		if s.batch != nil && s.pos < s.batch.Rows() {
			return nil
		}
		s.batch = nil
		b, err := s.batches.Next(s.ctx)
		if err != nil {
			return s.ended(err)
		}
		if err := s.ctx.Err(); err != nil {
			return err
		}
		s.batch, s.pos = b, 0
		for i := range s.cols {
			s.cols[i].bind(b.Cols[i])
		}
	}
	return nil
}

func (s *rowStream) ended(err error) error {
	s.batch = nil
	if errors.Is(err, io.EOF) {
		s.eof = true
		return nil
	}
	return err
}

// emit writes up to limit rows, all of them where limit < 0. A cursor on a plan without end gets those that are there, one at least.
func (s *rowStream) emit(w *packetWriter, limit int64) error {
	before := s.sent
	for limit != 0 {
		idle, err := s.advance()
		if err != nil {
			return err
		}
		if idle {
			if s.sent > before {
				return nil
			}
			continue
		}
		if s.empty() {
			return nil
		}
		n, err := s.write(w, limit)
		if err != nil {
			return err
		}
		s.sent += uint64(n)
		if limit > 0 {
			limit -= n
		}
	}
	return nil
}

// write writes what is at hand, at most limit rows where limit > 0, and says how many.
func (s *rowStream) write(w *packetWriter, limit int64) (int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := int64(1)
	if s.batches != nil {
		n = int64(s.batch.Rows() - s.pos)
		if limit > 0 {
			n = min(n, limit)
		}
		if s.binary {
			s.batchBinary(w, int(n))
		} else {
			s.batchText(w, int(n))
		}
	} else {
		row := s.row
		s.row = nil
		var err error
		if s.binary {
			err = s.rowBinary(w, row)
		} else {
			err = s.rowText(w, row)
		}
		if err != nil {
			w.abort()
			return 0, err
		}
	}
	w.armFlush()
	return n, w.err
}

func (s *rowStream) batchText(w *packetWriter, n int) {
	for k := s.pos; k < s.pos+n && w.err == nil; k++ {
		i := s.batch.Row(k)
		w.begin()
		buf := w.buf
		for c := range s.cols {
			buf = s.cols[c].appendText(buf, i)
		}
		w.buf = buf
		w.end()
	}
	s.pos += n
}

// binaryNullOffset is where column 0 stands in the NULL bitmap of a binary row.
const binaryNullOffset = 2

func (s *rowStream) batchBinary(w *packetWriter, n int) {
	bitmap := (len(s.cols) + 7 + binaryNullOffset) / 8
	for k := s.pos; k < s.pos+n && w.err == nil; k++ {
		i := s.batch.Row(k)
		w.begin()
		at := len(w.buf) + 1
		buf := appendZeros(append(w.buf, 0), bitmap)
		for c := range s.cols {
			col := &s.cols[c]
			if col.null(i) {
				bit := c + binaryNullOffset
				buf[at+bit>>3] |= 1 << (bit & 7)
				continue
			}
			buf = col.appendBinary(buf, i)
		}
		w.buf = buf
		w.end()
	}
	s.pos += n
}

func appendZeros(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, 0)
	}
	return dst
}

func (s *rowStream) rowText(w *packetWriter, row sql.Row) error {
	w.begin()
	var err error
	for c := range s.boxed {
		if w.buf, err = s.boxed[c].appendText(s.ctx, w.buf, row[c]); err != nil {
			return err
		}
	}
	w.end()
	return nil
}

func (s *rowStream) rowBinary(w *packetWriter, row sql.Row) error {
	w.begin()
	bitmap := (len(s.boxed) + 7 + binaryNullOffset) / 8
	at := len(w.buf) + 1
	w.buf = appendZeros(append(w.buf, 0), bitmap)
	for c := range s.boxed {
		null := row[c] == nil
		if !null {
			var err error
			if w.buf, null, err = s.boxed[c].appendBinary(s.ctx, w.buf, row[c]); err != nil {
				return err
			}
		}
		if null {
			bit := c + binaryNullOffset
			w.buf[at+bit>>3] |= 1 << (bit & 7)
		}
	}
	w.end()
	return nil
}
