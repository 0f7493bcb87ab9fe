package orc

import (
	"github.com/tributarydb/tributary/storage/column"
)

// structColumn reads ROW, and the root of the file.
type structColumn struct {
	colBase
	out []*column.Vector
}

func (c *structColumn) start() error {
	if err := c.startBase(); err != nil {
		return err
	}
	for _, k := range c.kids {
		if err := k.start(); err != nil {
			return err
		}
	}
	return nil
}

func (c *structColumn) read(n int, parent []uint64, count int) (*column.Vector, error) {
	k, err := c.mask(n, parent, count)
	if err != nil {
		return nil, c.wrap(err)
	}
	c.out = c.out[:0]
	for _, kid := range c.kids {
		v, err := kid.read(n, c.vec.Valid, k)
		if err != nil {
			return nil, err
		}
		c.out = append(c.out, v)
	}
	c.vec.Children = c.out
	return &c.vec, nil
}

// listColumn reads ARRAY, MAP and MULTISET: lengths, and the elements as columns.
type listColumn struct {
	colBase
	lengths intReader
	out     []*column.Vector
	// below is the number of columns below this one: what an element costs.
	below int64
}

func (c *listColumn) start() error {
	if err := c.startBase(); err != nil {
		return err
	}
	c.ints(&c.lengths, streamLength, false)
	c.data = append(c.data, &c.lengths)
	if c.below == 0 {
		walkColumns(c, func(*colBase) { c.below++ })
		c.below--
	}
	for _, k := range c.kids {
		if err := k.start(); err != nil {
			return err
		}
	}
	return nil
}

func (c *listColumn) read(n int, parent []uint64, count int) (*column.Vector, error) {
	k, err := c.mask(n, parent, count)
	if err != nil {
		return nil, c.wrap(err)
	}
	// Lengths first, in offsets[1:], then spread to the rows, then summed up.
	offsets := grow(c.vec.Offsets, n+1)
	c.vec.Offsets = offsets
	offsets[0] = 0
	total := int64(0)
	for at := 0; at < k; {
		vals := c.env.ints[:min(k-at, len(c.env.ints))]
		if err := c.lengths.read(vals); err != nil {
			return nil, c.wrap(err)
		}
		for i, v := range vals {
			if v < 0 || v > maxBatchElements {
				return nil, c.corrupt("a row of %d elements, the limit is %d", uint64(v), maxBatchElements)
			}
			offsets[1+at+i] = int32(v)
			total += v
		}
		at += len(vals)
	}
	if err := c.env.addElements(total * max(c.below, 1)); err != nil {
		return nil, err
	}
	spread(offsets[1:], c.vec.Valid, k)
	for i := 1; i <= n; i++ {
		offsets[i] += offsets[i-1]
	}
	c.out = c.out[:0]
	for _, kid := range c.kids {
		v, err := kid.read(int(total), nil, int(total))
		if err != nil {
			return nil, err
		}
		c.out = append(c.out, v)
	}
	c.vec.Children = c.out
	return &c.vec, nil
}
