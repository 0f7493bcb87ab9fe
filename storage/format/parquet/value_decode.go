package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/tributarydb/tributary/storage/column"
)

// maxBatchBytes bounds the bytes of one variable-length column of a batch.
const maxBatchBytes = 1 << 30

var (
	errValues    = errors.New("the page has fewer values than its header says")
	errCode      = errors.New("the page has a dictionary code beyond the dictionary")
	errNoDict    = errors.New("the page is dictionary-coded but the column has no dictionary")
	errBatchSize = fmt.Errorf("the values of a batch take more than %d bytes", maxBatchBytes)
)

// valueForm says by which method a page's values are taken.
type valueForm int8

const (
	formCodes valueForm = iota // dictionary codes
	formBools
	formPlainFixed
	formPlainBytes
	formDelta
	formDeltaLength
	formDeltaBytes
	formSplit
)

// valueReader takes the not-null values of one page in order, any number at a
// time. Fixed-width values come as little-endian bytes, the others as spans.
type valueReader struct {
	form  valueForm
	width int // bytes of a fixed-width value
	fixed bool
	data  []byte
	pos   int
	// count is the number of values a BYTE_STREAM_SPLIT page holds.
	count  int
	codes  hybrid
	coded  bool // codes has been started
	delta  deltaReader
	lens   []int32
	prefix []int32
	lenPos int
	last   []byte
	// scratch
	raw  []byte
	refs []column.Ref
	buf  []byte
}

// fixedWidth returns the bytes of a value of the type, 0 where they vary or are bits.
func fixedWidth(n *node) int {
	switch n.typ {
	case typeInt32, typeFloat:
		return 4
	case typeInt64, typeDouble:
		return 8
	case typeInt96:
		return 12
	case typeFixed:
		return int(n.typeLength)
	}
	return 0
}

// reset starts on the values of a page. limit is the number of level entries of the page.
func (v *valueReader) reset(n *node, enc encoding, data []byte, limit int) error {
	v.width = fixedWidth(n)
	v.fixed = v.width > 0
	v.data, v.pos = data, 0
	v.coded = false
	switch enc {
	case encPlain:
		switch {
		case n.typ == typeBoolean:
			v.form = formBools
			v.codes.resetPacked(data, 1)
		case v.fixed:
			v.form = formPlainFixed
		default:
			v.form = formPlainBytes
		}
		return nil
	case encPlainDictionary, encRLEDictionary:
		v.form = formCodes
		return nil
	case encRLE:
		if n.typ != typeBoolean {
			break
		}
		v.form = formBools
		if len(data) < 4 {
			v.codes.reset(nil, 1)
			return nil
		}
		size := binary.LittleEndian.Uint32(data)
		if uint64(size) > uint64(len(data)-4) {
			return errValues
		}
		v.codes.reset(data[4:4+size], 1)
		return nil
	case encDeltaBinary:
		if n.typ != typeInt32 && n.typ != typeInt64 {
			break
		}
		v.form = formDelta
		return v.startDelta(limit)
	case encDeltaLength:
		if n.typ != typeByteArray {
			break
		}
		v.form = formDeltaLength
		if len(data) == 0 {
			v.lens, v.lenPos = v.lens[:0], 0
			return nil
		}
		var err error
		v.lens, v.data, err = v.delta.lengths(v.lens, data, limit)
		v.lenPos = 0
		return err
	case encDeltaByteArray:
		if n.typ != typeByteArray && n.typ != typeFixed {
			break
		}
		v.form = formDeltaBytes
		v.lenPos, v.last = 0, v.last[:0]
		if len(data) == 0 {
			v.lens, v.prefix = v.lens[:0], v.prefix[:0]
			return nil
		}
		var err error
		if v.prefix, data, err = v.delta.lengths(v.prefix, data, limit); err != nil {
			return err
		}
		if v.lens, v.data, err = v.delta.lengths(v.lens, data, limit); err != nil {
			return err
		}
		if len(v.lens) != len(v.prefix) {
			return errDelta
		}
		return nil
	case encByteStreamSplit:
		if !v.fixed || n.typ == typeInt96 {
			break
		}
		v.form = formSplit
		v.count = len(data) / v.width
		return nil
	}
	return fmt.Errorf("the encoding %d of a page of type %s is unknown", enc, n.typ)
}

func (v *valueReader) startDelta(limit int) error {
	if len(v.data) == 0 {
		v.delta.left = 0
		return nil
	}
	if err := v.delta.reset(v.data); err != nil {
		return err
	}
	if v.delta.left > limit {
		return errDelta
	}
	return nil
}

// takeCodes decodes dictionary codes; they are checked against the dictionary's size.
func (v *valueReader) takeCodes(dst []uint32, dictLen int) error {
	if err := v.startCodes(); err != nil {
		return err
	}
	if err := v.codes.decode(dst); err != nil {
		return err
	}
	if v.codes.width < 32 && 1<<v.codes.width <= dictLen {
		return nil
	}
	if len(dst) > 0 && !codesBelow(dst, dictLen) {
		return errCode
	}
	return nil
}

func (v *valueReader) startCodes() error {
	if v.coded {
		return nil
	}
	v.coded = true
	if len(v.data) == 0 {
		v.codes.reset(nil, 1)
		return nil
	}
	if v.data[0] > 32 {
		return errRunForm
	}
	v.codes.reset(v.data[1:], uint(v.data[0]))
	return nil
}

// takeFixed returns n values as little-endian bytes, a view of the page or of scratch memory.
func (v *valueReader) takeFixed(n int) ([]byte, error) {
	size := n * v.width
	switch v.form {
	case formPlainFixed:
		if size > len(v.data)-v.pos {
			return nil, errValues
		}
		b := v.data[v.pos : v.pos+size]
		v.pos += size
		return b, nil
	case formDelta:
		if n > v.delta.left {
			return nil, errValues
		}
		v.growRaw(size)
		return v.raw, v.delta.fixed(v.raw, n, v.width)
	case formSplit:
		if n > v.count-v.pos {
			return nil, errValues
		}
		v.growRaw(size)
		for k := range v.width {
			col := v.data[k*v.count+v.pos:][:n]
			for i, c := range col {
				v.raw[i*v.width+k] = c
			}
		}
		v.pos += n
		return v.raw, nil
	case formDeltaBytes:
		refs, data, err := v.takeBytes(n)
		if err != nil {
			return nil, err
		}
		for _, r := range refs {
			if int(r.Len) != v.width {
				return nil, errDelta
			}
		}
		return data, nil
	}
	return nil, errValues
}

func (v *valueReader) growRaw(n int) {
	if cap(v.raw) < n {
		v.raw = make([]byte, n, n+n/4)
	}
	v.raw = v.raw[:n]
}

// takeBytes returns n values as spans of data, both valid until the next call
// (a view of the page where the encoding allows).
func (v *valueReader) takeBytes(n int) (refs []column.Ref, data []byte, err error) {
	if cap(v.refs) < n {
		v.refs = make([]column.Ref, max(n, column.MaxRows))
	}
	refs = v.refs[:n]
	switch v.form {
	case formPlainBytes:
		pos := v.pos
		b := v.data
		for i := range refs {
			if len(b)-pos < 4 {
				return nil, nil, errValues
			}
			size := int(binary.LittleEndian.Uint32(b[pos:]))
			pos += 4
			if size > len(b)-pos {
				return nil, nil, errValues
			}
			refs[i] = column.Ref{Off: uint32(pos), Len: uint32(size)}
			pos += size
		}
		v.pos = pos
		return refs, b, nil
	case formDeltaLength:
		if n > len(v.lens)-v.lenPos {
			return nil, nil, errValues
		}
		for i, l := range v.lens[v.lenPos : v.lenPos+n] {
			if int(l) > len(v.data)-v.pos {
				return nil, nil, errValues
			}
			refs[i] = column.Ref{Off: uint32(v.pos), Len: uint32(l)}
			v.pos += int(l)
		}
		v.lenPos += n
		return refs, v.data, nil
	case formDeltaBytes:
		if n > len(v.lens)-v.lenPos {
			return nil, nil, errValues
		}
		v.buf = v.buf[:0]
		for i := range refs {
			pre, suf := int(v.prefix[v.lenPos]), int(v.lens[v.lenPos])
			if pre > len(v.last) || suf > len(v.data)-v.pos {
				return nil, nil, errDelta
			}
			if len(v.buf)+pre+suf > maxBatchBytes {
				return nil, nil, errBatchSize
			}
			off := len(v.buf)
			v.buf = append(v.buf, v.last[:pre]...)
			v.buf = append(v.buf, v.data[v.pos:v.pos+suf]...)
			v.last = append(v.last[:pre], v.data[v.pos:v.pos+suf]...)
			refs[i] = column.Ref{Off: uint32(off), Len: uint32(pre + suf)}
			v.pos += suf
			v.lenPos++
		}
		return refs, v.buf, nil
	}
	return nil, nil, errValues
}

// skip passes over n values.
func (v *valueReader) skip(n int) error {
	if n == 0 {
		return nil
	}
	switch v.form {
	case formCodes:
		if err := v.startCodes(); err != nil {
			return err
		}
		return v.codes.skip(n)
	case formBools:
		return v.codes.skip(n)
	case formPlainFixed, formSplit:
		unit, size := v.width, len(v.data)
		if v.form == formSplit {
			unit, size = 1, v.count
		}
		if n > (size-v.pos)/unit {
			return errValues
		}
		v.pos += n * unit
		return nil
	case formDelta:
		return v.delta.skip(n)
	}
	for n > 0 {
		k := min(n, column.MaxRows)
		if _, _, err := v.takeBytes(k); err != nil {
			return err
		}
		n -= k
	}
	return nil
}
