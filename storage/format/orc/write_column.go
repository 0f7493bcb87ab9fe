package orc

import (
	"slices"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
)

// columnWriter writes one column of the file, and those below it.
type columnWriter interface {
	// write appends the rows of v that at lists, which may be null.
	write(v *column.Vector, at []int32) error
	// base returns what all column writers have.
	base() *colWriter
	// position appends where the next value goes in the streams behind the present stream.
	position(dst []uint64) []uint64
	// endGroup is told that a row group has ended.
	endGroup()
	// finish ends all runs of the stripe.
	finish()
	// encoding is how the stripe's values are stored; valid after finish.
	encoding() (encodingKind, int)
	// reset makes it ready for another stripe.
	reset()
	// memory is how many bytes wait for the stripe's end: packed, and not packed yet.
	memory() (packed, open int64)
}

// writtenGroup is a row group of a stripe: the start in the streams, statistics.
type writtenGroup struct {
	positions []uint64
	stats     []byte
}

// colWriter is what all column writers have.
type colWriter struct {
	id      int
	kind    kind
	path    string
	notNull bool
	out     *fileWriter
	kids    []columnWriter
	// present tells which rows are not null; the stream is left out where the stripe has no nulls.
	presentStream outStream
	present       bitWriter
	nulls         bool
	// streams are the streams but present, in the order of their kinds.
	streams []*outStream
	groups  []writtenGroup
	// group, stripe and file are the statistics of those.
	group, stripe, file totals
	bloom               *bloomBuilder
	keep, resolved      []int32
}

func (c *colWriter) init(f *fileWriter, id int, k kind, scale int, path string, notNull bool) {
	c.out, c.id, c.kind, c.path, c.notNull = f, id, k, path, notNull
	c.presentStream = f.pack.stream(streamPresent)
	c.present.b.s = &c.presentStream
	c.group, c.stripe, c.file = totals{kind: k, scale: scale}, totals{kind: k, scale: scale}, totals{kind: k, scale: scale}
}

func (c *colWriter) base() *colWriter               { return c }
func (c *colWriter) endGroup()                      {}
func (c *colWriter) encoding() (encodingKind, int)  { return encodingDirectV2, 0 }
func (c *colWriter) position(dst []uint64) []uint64 { return dst }
func (c *colWriter) finish()                        {}
func (c *colWriter) reset()                         {}

func (c *colWriter) memory() (packed, open int64) {
	packed, open = int64(len(c.presentStream.out)), int64(len(c.presentStream.buf))
	for _, s := range c.streams {
		packed += int64(len(s.out))
		open += int64(len(s.buf))
	}
	return packed, open
}

// newStream makes a stream of the column.
func (c *colWriter) newStream(s *outStream, k streamKind) *outStream {
	*s = c.out.pack.stream(k)
	c.streams = append(c.streams, s)
	return s
}

// newInts makes a stream of runs of integers.
func (c *colWriter) newInts(w *intWriter, s *outStream, k streamKind, signed bool) {
	w.s, w.signed, w.aligned = c.newStream(s, k), signed, c.out.opts.aligned
}

// mask writes which of the rows are null and returns the others; they are valid until its next call.
func (c *colWriter) mask(v *column.Vector, at []int32) ([]int32, error) {
	if v.Valid == nil {
		c.present.repeat(1, len(at))
		c.group.count += uint64(len(at))
		return at, nil
	}
	keep := slices.Grow(c.keep[:0], len(at))
	bit, run := byte(1), 0
	for _, i := range at {
		b := byte(v.Valid[i>>6] >> (uint(i) & 63) & 1)
		if b != bit {
			c.present.repeat(bit, run)
			bit, run = b, 0
		}
		run++
		if b != 0 {
			keep = append(keep, i)
		}
	}
	c.present.repeat(bit, run)
	c.keep = keep
	c.group.count += uint64(len(keep))
	if len(keep) < len(at) {
		if c.notNull {
			return nil, errs.Invalidf("Cannot write null to non-null column(%s)", c.path)
		}
		c.nulls, c.group.hasNull = true, true
	}
	return keep, nil
}

// plain returns the vector without dictionary coding that has the rows' values, and where.
func (c *colWriter) plain(v *column.Vector, at []int32) (*column.Vector, []int32) {
	if v.Dict == nil {
		return v, at
	}
	c.resolved = slices.Grow(c.resolved[:0], len(at))[:len(at)]
	for k, i := range at {
		c.resolved[k] = int32(v.Codes[i])
	}
	return v.Dict, c.resolved
}

// values are the rows of a column that are not null, on a vector without dictionary coding.
func (c *colWriter) values(v *column.Vector, at []int32) (*column.Vector, []int32, error) {
	at, err := c.mask(v, at)
	if err != nil {
		return nil, nil, err
	}
	v, at = c.plain(v, at)
	return v, at, nil
}

// presentPositions is the number of positions of the present stream.
func (c *colWriter) presentPositions() int {
	if c.out.opts.codec == codecNone {
		return 3
	}
	return 4
}

// startGroup notes where a row group starts.
func startGroup(w columnWriter) {
	c := w.base()
	c.groups = append(c.groups, writtenGroup{positions: w.position(c.present.position(nil))})
}

// endGroup ends a row group: its statistics go to the index and the stripe.
func endGroup(w columnWriter, indexed bool) {
	c := w.base()
	if indexed {
		c.groups[len(c.groups)-1].stats = c.group.append(nil)
		if c.bloom != nil {
			c.bloom.endGroup()
		}
	}
	c.stripe.merge(&c.group)
	c.group.reset()
	w.endGroup()
}

// dataStream is a finished stream of a stripe.
type dataStream struct {
	kind streamKind
	b    []byte
}

// finishColumn ends a column's part of a stripe and returns its streams in the order of kinds.
func finishColumn(w columnWriter) []dataStream {
	c := w.base()
	w.finish()
	var out []dataStream
	if c.nulls {
		c.present.flush()
		out = append(out, dataStream{streamPresent, c.presentStream.finish()})
	}
	for _, s := range c.streams {
		// A dictionary that is not used has no stream.
		if kind, _ := w.encoding(); s.kind != streamDictionaryData || kind == encodingDictionaryV2 {
			out = append(out, dataStream{s.kind, s.finish()})
		}
	}
	for _, s := range out {
		c.stripe.onDisk += int64(len(s.b))
	}
	return out
}

// indexStreams are the row index and the Bloom filters of a finished column.
func indexStreams(w columnWriter) []dataStream {
	c := w.base()
	var m, e []byte
	for _, g := range c.groups {
		p := g.positions
		if !c.nulls {
			p = p[c.presentPositions():]
		}
		e = appendBytes(appendPacked(e[:0], 1, p), 2, g.stats)
		m = appendBytes(m, 1, e)
	}
	out := []dataStream{{streamRowIndex, c.out.pack.appendAll(nil, m)}}
	if c.bloom != nil {
		out = append(out, dataStream{streamBloomFilterUTF8, c.out.pack.appendAll(nil, c.bloom.done)})
	}
	return out
}

// resetColumn makes a column ready for another stripe.
func resetColumn(w columnWriter) {
	c := w.base()
	c.present = bitWriter{b: byteWriter{s: &c.presentStream}}
	c.presentStream.reset()
	for _, s := range c.streams {
		s.reset()
	}
	c.groups, c.nulls = c.groups[:0], false
	c.stripe.reset()
	if c.bloom != nil {
		c.bloom.done = c.bloom.done[:0]
	}
	w.reset()
}
