package orc

import (
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
)

// bytesColumn reads strings and binaries: bytes and lengths (direct), or codes of a
// dictionary, which stays one in the vectors.
type bytesColumn struct {
	colBase
	// trim cuts trailing spaces: CHAR is stored padded, and is read without
	// (as org.apache.orc.impl.TreeReaderFactory.CharTreeReader does).
	trim bool
	in   rawData
	// lengths (direct) or codes (dictionary).
	nums intReader
	// coded says that the stripe has a dictionary; it is loaded by the first read.
	coded bool
	dict  *column.Vector
	// text, refs and codes are the memory of the vectors.
	text  []byte
	refs  []column.Ref
	codes []uint32
}

func (c *bytesColumn) start() error {
	if err := c.startBase(); err != nil {
		return err
	}
	c.dict, c.coded = nil, false
	if c.enc.kind == encodingDirect || c.enc.kind == encodingDirectV2 {
		c.in.in = c.stream(c.in.in, streamData)
		c.ints(&c.nums, streamLength, false)
		c.setData(&c.in, &c.nums)
		return nil
	}
	if c.typ.kind == kindBinary {
		return c.corrupt("binary values with a dictionary")
	}
	c.ints(&c.nums, streamData, false)
	c.setData(&c.nums)
	c.coded = true
	return nil
}

func (c *bytesColumn) setData(s ...seeker) { c.colBase.data = append(c.colBase.data[:0], s...) }

// loadDictionary reads the stripe's dictionary. Memory grows with what is read.
func (c *bytesColumn) loadDictionary() error {
	size := c.enc.dictionarySize
	if size > maxDictionaryEntries {
		return errs.Limitf("file %s: column %s: a dictionary of %d entries, the limit is %d", c.env.file.path, c.path, size, maxDictionaryEntries)
	}
	var lengths intReader
	c.ints(&lengths, streamLength, false)
	d := &column.Vector{Kind: column.KindBytes, N: int(size)}
	d.Ref = make([]column.Ref, 0, min(int(size), column.MaxRows))
	total := 0
	for len(d.Ref) < int(size) {
		vals := c.env.ints[:min(int(size)-len(d.Ref), len(c.env.ints))]
		if err := lengths.read(vals); err != nil {
			return err
		}
		for _, v := range vals {
			if v < 0 || v > int64(maxDictionaryBytes-total) {
				return c.corrupt("a dictionary of more than %d bytes", maxDictionaryBytes)
			}
			d.Ref = append(d.Ref, column.Ref{Off: uint32(total), Len: uint32(v)})
			total += int(v)
		}
	}
	s := c.stream(nil, streamDictionaryData)
	var err error
	if d.Data, err = s.appendTo(make([]byte, 0, min(int64(total), max(s.length, 0))), total); err != nil {
		return err
	}
	if c.trim {
		trimSpaces(d.Ref, d.Data)
	}
	c.dict = d
	return nil
}

func trimSpaces(refs []column.Ref, data []byte) {
	for i, r := range refs {
		for r.Len > 0 && data[r.Off+r.Len-1] == ' ' {
			r.Len--
		}
		refs[i].Len = r.Len
	}
}

func (c *bytesColumn) read(n int, parent []uint64, count int) (*column.Vector, error) {
	k, err := c.mask(n, parent, count)
	if err != nil {
		return nil, c.wrap(err)
	}
	if c.coded && c.dict == nil {
		if err := c.loadDictionary(); err != nil {
			return nil, c.wrap(err)
		}
	}
	c.vec.Dict, c.vec.Codes, c.vec.Ref, c.vec.Data = nil, nil, nil, nil
	if c.dict != nil && (c.dict.N > 0 || k > 0) {
		return c.readCodes(n, k)
	}
	c.refs = grow(c.refs, n)
	total := 0
	for at := 0; at < k; {
		vals := c.env.ints[:min(k-at, len(c.env.ints))]
		if err := c.nums.read(vals); err != nil {
			return nil, c.wrap(err)
		}
		for i, v := range vals {
			if v < 0 || v > int64(maxBatchBytes-total) {
				if v >= 0 && v <= maxBatchBytes {
					return nil, errs.Limitf("file %s: column %s: more than %d bytes of values in %d rows", c.env.file.path, c.path, maxBatchBytes, n)
				}
				return nil, c.corrupt("a value of length %d", uint64(v))
			}
			c.refs[at+i] = column.Ref{Off: uint32(total), Len: uint32(v)}
			total += int(v)
		}
		at += len(vals)
	}
	if total > 0 {
		if c.text, err = c.in.in.appendTo(c.text[:0], total); err != nil {
			return nil, c.wrap(err)
		}
	}
	if c.trim {
		trimSpaces(c.refs[:k], c.text)
	}
	spread(c.refs, c.vec.Valid, k)
	c.vec.Ref, c.vec.Data = c.refs, c.text[:total]
	return &c.vec, nil
}

func (c *bytesColumn) readCodes(n, k int) (*column.Vector, error) {
	c.codes = grow(c.codes, n)
	limit := uint64(c.dict.N)
	for at := 0; at < k; {
		vals := c.env.ints[:min(k-at, len(c.env.ints))]
		if err := c.nums.read(vals); err != nil {
			return nil, c.wrap(err)
		}
		for i, v := range vals {
			if uint64(v) >= limit {
				return nil, c.corrupt("entry %d of a dictionary of %d", uint64(v), limit)
			}
			c.codes[at+i] = uint32(v)
		}
		at += len(vals)
	}
	spread(c.codes, c.vec.Valid, k)
	c.vec.Dict, c.vec.Codes = c.dict, c.codes
	return &c.vec, nil
}
