package orc

import (
	"encoding/binary"
	"math"

	"github.com/tributarydb/tributary/storage/column"
)

// boolColumn reads BOOLEAN.
type boolColumn struct {
	colBase
	in  bitReader
	buf []uint64
}

func (c *boolColumn) start() error {
	if err := c.startBase(); err != nil {
		return err
	}
	c.in = bitReader{b: byteReader{s: c.stream(c.in.b.s, streamData)}, tmp: c.in.tmp}
	c.data = append(c.data, &c.in)
	return nil
}

func (c *boolColumn) read(n int, parent []uint64, count int) (*column.Vector, error) {
	k, err := c.mask(n, parent, count)
	if err != nil {
		return nil, c.wrap(err)
	}
	c.buf = grow(c.buf, (k+63)/64)
	if _, err := c.in.read(c.buf, k); err != nil {
		return nil, c.wrap(err)
	}
	out := grow(c.vec.I32, n)
	c.vec.I32 = out
	for i := range out[:k] {
		out[i] = int32(c.buf[i>>6] >> (uint(i) & 63) & 1)
	}
	spread(out, c.vec.Valid, k)
	return &c.vec, nil
}

// byteColumn reads TINYINT.
type byteColumn struct {
	colBase
	in  byteReader
	buf []byte
}

func (c *byteColumn) start() error {
	if err := c.startBase(); err != nil {
		return err
	}
	c.in = byteReader{s: c.stream(c.in.s, streamData)}
	c.data = append(c.data, &c.in)
	return nil
}

func (c *byteColumn) read(n int, parent []uint64, count int) (*column.Vector, error) {
	k, err := c.mask(n, parent, count)
	if err != nil {
		return nil, c.wrap(err)
	}
	c.buf = grow(c.buf, k)
	if err := c.in.read(c.buf); err != nil {
		return nil, c.wrap(err)
	}
	out := grow(c.vec.I32, n)
	c.vec.I32 = out
	for i, b := range c.buf {
		out[i] = int32(int8(b))
	}
	spread(out, c.vec.Valid, k)
	return &c.vec, nil
}

// intColumn reads SMALLINT, INT, TIME, DATE (as int32) and BIGINT.
type intColumn struct {
	colBase
	width int // bits of a value
	in    intReader
}

func (c *intColumn) start() error {
	if err := c.startBase(); err != nil {
		return err
	}
	c.ints(&c.in, streamData, true)
	c.data = append(c.data, &c.in)
	return nil
}

func (c *intColumn) read(n int, parent []uint64, count int) (*column.Vector, error) {
	k, err := c.mask(n, parent, count)
	if err != nil {
		return nil, c.wrap(err)
	}
	if c.width == 64 {
		out := grow(c.vec.I64, n)
		c.vec.I64 = out
		if err := c.in.read(out[:k]); err != nil {
			return nil, c.wrap(err)
		}
		spread(out, c.vec.Valid, k)
		return &c.vec, nil
	}
	out := grow(c.vec.I32, n)
	c.vec.I32 = out
	for at := 0; at < k; {
		vals := c.env.ints[:min(k-at, len(c.env.ints))]
		if err := c.in.read(vals); err != nil {
			return nil, c.wrap(err)
		}
		if !fitsBits(vals, c.width) {
			return nil, c.corrupt("a value is out of the range of %s", c.typ)
		}
		for i, v := range vals {
			out[at+i] = int32(v)
		}
		at += len(vals)
	}
	spread(out, c.vec.Valid, k)
	return &c.vec, nil
}

// floatColumn reads FLOAT.
type floatColumn struct {
	colBase
	rawData
}

// rawData is a stream without run lengths.
type rawData struct{ in *stream }

func (r *rawData) positions() int        { return r.in.positions() }
func (r *rawData) seek(p []uint64) error { return r.in.seek(p) }
func (r *rawData) source() *stream       { return r.in }

func (c *floatColumn) start() error {
	if err := c.startBase(); err != nil {
		return err
	}
	c.in = c.stream(c.in, streamData)
	c.data = append(c.data, &c.rawData)
	return nil
}

func (c *floatColumn) read(n int, parent []uint64, count int) (*column.Vector, error) {
	k, err := c.mask(n, parent, count)
	if err != nil {
		return nil, c.wrap(err)
	}
	out := grow(c.vec.F32, n)
	c.vec.F32 = out
	for at := 0; at < k; {
		w, err := c.in.fill(4)
		if err == nil && len(w) < 4 {
			err = errTruncated
		}
		if err != nil {
			return nil, c.wrap(err)
		}
		m := min(k-at, len(w)/4)
		for i := range m {
			out[at+i] = math.Float32frombits(binary.LittleEndian.Uint32(w[i*4:]))
		}
		c.in.take(m * 4)
		at += m
	}
	spread(out, c.vec.Valid, k)
	return &c.vec, nil
}

// doubleColumn reads DOUBLE.
type doubleColumn struct {
	colBase
	rawData
}

func (c *doubleColumn) start() error {
	if err := c.startBase(); err != nil {
		return err
	}
	c.in = c.stream(c.in, streamData)
	c.data = append(c.data, &c.rawData)
	return nil
}

func (c *doubleColumn) read(n int, parent []uint64, count int) (*column.Vector, error) {
	k, err := c.mask(n, parent, count)
	if err != nil {
		return nil, c.wrap(err)
	}
	out := grow(c.vec.F64, n)
	c.vec.F64 = out
	for at := 0; at < k; {
		w, err := c.in.fill(8)
		if err == nil && len(w) < 8 {
			err = errTruncated
		}
		if err != nil {
			return nil, c.wrap(err)
		}
		m := min(k-at, len(w)/8)
		for i := range m {
			out[at+i] = math.Float64frombits(binary.LittleEndian.Uint64(w[i*8:]))
		}
		c.in.take(m * 8)
		at += m
	}
	spread(out, c.vec.Valid, k)
	return &c.vec, nil
}
