package parquet

import (
	"encoding/binary"
	"errors"
	"math"
)

// Thrift compact protocol element types.
const (
	thriftStop   = 0
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
	thriftUUID   = 13
)

// maxThriftDepth bounds the nesting of structures that are skipped.
const maxThriftDepth = 64

var errThrift = errors.New("malformed thrift structure")

// thriftReader decodes Thrift's compact protocol from bytes. The first failure
// is kept in err; every later read gives zero values.
type thriftReader struct {
	b   []byte
	pos int
	err error
}

func (r *thriftReader) fail() {
	if r.err == nil {
		r.err = errThrift
	}
	r.pos = len(r.b)
}

func (r *thriftReader) byte() byte {
	if r.pos >= len(r.b) {
		r.fail()
		return 0
	}
	c := r.b[r.pos]
	r.pos++
	return c
}

func (r *thriftReader) uvarint() uint64 {
	if r.pos < len(r.b) && r.b[r.pos] < 0x80 {
		r.pos++
		return uint64(r.b[r.pos-1])
	}
	x, n := binary.Uvarint(r.b[r.pos:])
	if n <= 0 {
		r.fail()
		return 0
	}
	r.pos += n
	return x
}

// i64 reads a zigzag varint: any of the integer types above byte.
func (r *thriftReader) i64() int64 {
	u := r.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

func (r *thriftReader) i32() int32 {
	x := r.i64()
	if x < math.MinInt32 || x > math.MaxInt32 {
		r.fail()
		return 0
	}
	return int32(x)
}

// binary returns a view of the next string.
func (r *thriftReader) binary() []byte {
	n := r.uvarint()
	if n > uint64(len(r.b)-r.pos) {
		r.fail()
		return nil
	}
	b := r.b[r.pos : r.pos+int(n) : r.pos+int(n)]
	r.pos += int(n)
	return b
}

// list reads a list or set header. The size never exceeds the bytes left, as
// every element takes one byte at least.
func (r *thriftReader) list() (elem byte, n int) {
	h := r.byte()
	elem = h & 0xf
	size := uint64(h >> 4)
	if size == 15 {
		size = r.uvarint()
	}
	if size > uint64(len(r.b)-r.pos) {
		r.fail()
		return elem, 0
	}
	return elem, int(size)
}

// structList reads the header of a list of structures.
func (r *thriftReader) structList() int {
	elem, n := r.list()
	if n > 0 && elem != thriftStruct {
		r.fail()
		return 0
	}
	return n
}

// fields iterates over the fields of a structure; f must consume the value
// (or skip it by r.skip(typ)). Booleans have no value: their type is it.
func (r *thriftReader) fields(f func(id int16, typ byte)) {
	var id int16
	for r.err == nil {
		h := r.byte()
		if r.err != nil {
			return
		}
		typ := h & 0xf
		if typ == thriftStop {
			return
		}
		if d := h >> 4; d != 0 {
			id += int16(d)
		} else {
			x := r.i64()
			if x < math.MinInt16 || x > math.MaxInt16 {
				r.fail()
				return
			}
			id = int16(x)
		}
		f(id, typ)
	}
}

// skip passes over a value of the type.
func (r *thriftReader) skip(typ byte) { r.skipDepth(typ, 0) }

func (r *thriftReader) skipDepth(typ byte, depth int) {
	if depth > maxThriftDepth {
		r.fail()
		return
	}
	switch typ {
	case thriftTrue, thriftFalse:
	case thriftByte:
		r.byte()
	case thriftI16, thriftI32, thriftI64:
		r.uvarint()
	case thriftDouble:
		r.advance(8)
	case thriftUUID:
		r.advance(16)
	case thriftBinary:
		r.binary()
	case thriftList, thriftSet:
		elem, n := r.list()
		for i := 0; i < n && r.err == nil; i++ {
			r.skipElement(elem, depth+1)
		}
	case thriftMap:
		n := r.uvarint()
		if n == 0 {
			return
		}
		if n > uint64(len(r.b)-r.pos) {
			r.fail()
			return
		}
		kv := r.byte()
		for i := uint64(0); i < n && r.err == nil; i++ {
			r.skipElement(kv>>4, depth+1)
			r.skipElement(kv&0xf, depth+1)
		}
	case thriftStruct:
		r.fields(func(_ int16, t byte) { r.skipDepth(t, depth+1) })
	default:
		r.fail()
	}
}

// skipElement skips an element of a collection, where booleans take a byte.
func (r *thriftReader) skipElement(typ byte, depth int) {
	if typ == thriftTrue || typ == thriftFalse {
		r.byte()
		return
	}
	r.skipDepth(typ, depth)
}

func (r *thriftReader) advance(n int) {
	if n > len(r.b)-r.pos {
		r.fail()
		return
	}
	r.pos += n
}

// want checks a field's type; a field of another type is an error, as the
// value could not be skipped safely by guess.
func (r *thriftReader) want(typ, expect byte) bool {
	if typ != expect {
		r.fail()
		return false
	}
	return true
}

// int32Field and its like read a field's value after checking its type.
func (r *thriftReader) int32Field(typ byte) int32 {
	if !r.want(typ, thriftI32) {
		return 0
	}
	return r.i32()
}

func (r *thriftReader) int64Field(typ byte) int64 {
	if !r.want(typ, thriftI64) {
		return 0
	}
	return r.i64()
}

func (r *thriftReader) bytesField(typ byte) []byte {
	if !r.want(typ, thriftBinary) {
		return nil
	}
	return r.binary()
}

func (r *thriftReader) boolField(typ byte) bool {
	if typ != thriftTrue && typ != thriftFalse {
		r.fail()
	}
	return typ == thriftTrue
}
