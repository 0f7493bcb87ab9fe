package orc

import (
	"context"
	"fmt"
	"math/bits"
	"sync"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
)

// readEnv is what the column readers and streams of one Reader share.
type readEnv struct {
	file *file
	ctx  context.Context
	// stripe that is being read; pieces are its parts in memory.
	stripe     *stripe
	pieces     []piece
	pieceBytes int
	*workspace
	// elements counts list and map elements of the batch.
	elements int
	legacyTZ bool
}

// workspace is memory that readers use and pass on to later ones.
type workspace struct {
	// memory is behind the pieces.
	memory []byte
	// scratch holds one decompressed block.
	scratch []byte
	// ints, nanos and wide hold a few decoded numbers.
	ints  [column.MaxRows]int64
	nanos [column.MaxRows / 4]int64
	wide  [column.MaxRows / 4]column.Int128
}

var workspaces = sync.Pool{New: func() any { return new(workspace) }}

// release gives the workspace back.
func (e *readEnv) release() {
	if e.workspace != nil {
		if cap(e.memory) > stripeReadBudget/4 {
			e.memory = nil
		}
		workspaces.Put(e.workspace)
		e.workspace = nil
	}
}

// scratchBlock returns empty memory for one decompressed block.
func (e *readEnv) scratchBlock() []byte {
	if cap(e.scratch) < e.file.blockSize {
		e.scratch = make([]byte, 0, e.file.blockSize)
	}
	return e.scratch[:0:e.file.blockSize]
}

// addElements counts n more elements of the batch against the limit.
func (e *readEnv) addElements(n int64) error {
	if n > maxBatchElements-int64(e.elements) {
		return errs.Limitf("file %s: more than %d elements of arrays and maps in %d rows or fewer", e.file.path, maxBatchElements, column.MaxRows)
	}
	e.elements += int(n)
	return nil
}

// columnReader decodes one column of the file, and the columns below it, into vectors.
type columnReader interface {
	// start opens the column's streams in the current stripe; nothing is read yet.
	start() error
	// read returns the vector of n rows, of which only those of the mask parent
	// (nil: all), count in number, have values stored. It is valid until the next call.
	read(n int, parent []uint64, count int) (*column.Vector, error)
	// base returns what all column readers have.
	base() *colBase
}

// seeker is a decoder that can go to the positions of a row index entry.
type seeker interface {
	// positions is how many positions it has.
	positions() int
	seek(p []uint64) error
	source() *stream
}

// colBase is the part that every column reader has.
type colBase struct {
	env  *readEnv
	typ  *orcType
	path string // name of the column for messages, e.g. a.b
	kids []columnReader
	vec  column.Vector
	enc  columnEncoding
	// present tells which rows are not null; nil in a stripe without nulls.
	present *bitReader
	bits    bitReader
	bitBuf  []uint64
	maskBuf []uint64
	// data are the decoders behind present, in the order of index positions.
	data []seeker
}

func (c *colBase) base() *colBase { return c }

// corrupt makes an error that names file and column.
func (c *colBase) corrupt(format string, args ...any) error {
	return errs.Corruptf("file %s: column %s: %w", c.env.file.path, c.path, fmt.Errorf(format, args...))
}

// wrap names file and column in a decoding error; errors that have a class stay as they are.
func (c *colBase) wrap(err error) error {
	if !isDecoding(err) {
		return err
	}
	return c.corrupt("%w", err)
}

// stream opens a stream of the column, in the memory of the one that it had in
// the stripe before (or nil); one that is absent is empty.
func (c *colBase) stream(old *stream, k streamKind) *stream {
	st := c.env.stripe.find(c.typ.id, k)
	if old == nil {
		return &stream{env: c.env, offset: st.offset, length: st.length}
	}
	*old = stream{env: c.env, offset: st.offset, length: st.length, buf: old.buf[:0], lazy: piece{data: old.lazy.data[:0]}}
	return old
}

// startBase opens the present stream and checks the encoding; the caller sets data.
func (c *colBase) startBase() error {
	c.enc = c.env.stripe.footer.encodings[c.typ.id]
	c.present = nil
	if c.env.stripe.find(c.typ.id, streamPresent).length > 0 {
		c.bits = bitReader{b: byteReader{s: c.stream(c.bits.b.s, streamPresent)}, tmp: c.bits.tmp}
		c.present = &c.bits
	}
	c.data = c.data[:0]
	return nil
}

// ints opens a stream of integers in the version of the column's encoding, as stream does.
func (c *colBase) ints(r *intReader, k streamKind, signed bool) {
	r.s = c.stream(r.s, k)
	r.v2 = c.enc.kind == encodingDirectV2 || c.enc.kind == encodingDictionaryV2
	r.signed = signed
	r.pos, r.n = 0, 0
}

// seekers are the decoders in the order of index positions.
func (c *colBase) seekers() []seeker {
	if c.present == nil {
		return c.data
	}
	return append([]seeker{c.present}, c.data...)
}

// positionsFit returns the positions that belong to the seekers: those of a
// present stream that the writer dropped are cut off. ok is false where the
// numbers do not fit.
func (c *colBase) positionsFit(p []uint64) (rest []uint64, ok bool) {
	want := 0
	for _, s := range c.seekers() {
		want += s.positions()
	}
	if len(p) == want {
		return p, true
	}
	if c.present == nil {
		presentPositions := 3
		if c.env.file.codec != codecNone {
			presentPositions = 4
		}
		if len(p) == want+presentPositions {
			return p[presentPositions:], true
		}
	}
	return nil, false
}

// seek goes to the start of a row group, for the column and those below it.
func seek(r columnReader, group int) error {
	c := r.base()
	p, ok := c.positionsFit(c.env.stripe.index[c.typ.id][group].positions)
	if !ok {
		return c.corrupt("row group %d has %d positions", group, len(p))
	}
	for _, s := range c.seekers() {
		n := s.positions()
		if err := s.seek(p[:n]); err != nil {
			return c.wrap(err)
		}
		p = p[n:]
	}
	for _, k := range c.kids {
		if err := seek(k, group); err != nil {
			return err
		}
	}
	return nil
}

// walkColumns calls f for a column reader and those below it.
func walkColumns(r columnReader, f func(*colBase)) {
	f(r.base())
	for _, k := range r.base().kids {
		walkColumns(k, f)
	}
}

// mask computes the validity of n rows into vec, and returns how many values
// are stored for them.
func (c *colBase) mask(n int, parent []uint64, count int) (int, error) {
	c.vec.N = n
	c.vec.Valid = parent
	if c.present == nil || count == 0 {
		return count, nil
	}
	c.bitBuf = grow(c.bitBuf, (count+63)/64)
	ones, err := c.present.read(c.bitBuf, count)
	if err != nil {
		return 0, err
	}
	if ones == count {
		return count, nil
	}
	if parent == nil {
		c.vec.Valid = c.bitBuf
		return ones, nil
	}
	// Bits are stored for the parent's rows only: spread them.
	c.maskBuf = grow(c.maskBuf, (n+63)/64)
	at := 0
	for i, w := range parent[:len(c.maskBuf)] {
		var out uint64
		for ; w != 0; w &= w - 1 {
			if at < count {
				out |= (c.bitBuf[at>>6] >> (uint(at) & 63) & 1) << bits.TrailingZeros64(w)
			}
			at++
		}
		c.maskBuf[i] = out
	}
	c.vec.Valid = c.maskBuf
	return ones, nil
}

// grow returns a slice of length n, in the memory of s where it is enough.
func grow[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	return make([]T, n, max(n, 64))
}

// spread moves the first k values of s, dense, to the rows that are valid; the
// others become zero.
func spread[T any](s []T, valid []uint64, k int) {
	if k == len(s) {
		return
	}
	var zero T
	j := k - 1
	for i := len(s) - 1; i > j; i-- {
		if valid[i>>6]>>(uint(i)&63)&1 != 0 {
			s[i] = s[j]
			j--
		} else {
			s[i] = zero
		}
	}
	// Rows up to j are where they belong.
}
