package lsm

import (
	"encoding/binary"
	"math"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
)

// signBit turns the order of signed integers into that of unsigned ones.
const signBit = uint64(1) << 63

// keyNorm makes norms: 64-bit prefixes of an order-preserving encoding of
// keys. Different norms decide, equal norms decide only where exact is set. A
// keyNorm is made for a round of the merge, for the keys that take part in it.
type keyNorm struct {
	exact bool
	// skip is the length of the prefix that all of the round's keys share in a
	// leading KindBytes column.
	skip int
	// second says that the norm's lower half is the second column.
	second bool
	low    []uint64
}

// newKeyNorm looks at the cursors of a round; least and greatest are keys that bound the round's keys.
func (m *merger) newKeyNorm(cs []*part, least, greatest rec) {
	n := &m.norm
	first := cs[0].c.keys
	nulls := false
	for _, p := range cs {
		for _, v := range p.c.keys {
			nulls = nulls || v.Valid != nil
		}
	}
	*n = keyNorm{low: n.low}
	n.second = !nulls && len(first) > 1 && first[0].Kind == column.KindInt32
	switch {
	case nulls || first[0].Kind == column.KindBytes:
	case len(first) == 1:
		n.exact = true
	case len(first) == 2:
		n.exact = n.second && first[1].Kind == column.KindInt32
	}
	for _, p := range cs {
		n.exact = n.exact && exactKeys(p.c.keys[0])
	}
	if first[0].Kind == column.KindBytes && !nulls {
		n.skip = commonPrefix(least.c.keys[0].Bytes(least.c.at(least.k)), greatest.c.keys[0].Bytes(greatest.c.at(greatest.k)))
	}
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// exactKeys reports whether the 64-bit encodings of a column without nulls say all.
func exactKeys(v *column.Vector) bool {
	if v.Dict != nil {
		v = v.Dict
	}
	switch v.Kind {
	case column.KindTimestamp:
		return v.Sub == nil
	case column.KindInt128:
		for _, x := range v.I128 {
			if !x.IsInt64() || int64(x.Lo) == math.MaxInt64 || int64(x.Lo) == math.MinInt64 {
				return false
			}
		}
	}
	return true
}

// fill writes the norms of rows [from, from+len(dst)) of a cursor.
func (n *keyNorm) fill(dst []uint64, c *cursor, from int) error {
	n.encode(dst, c, 0, from)
	if n.second {
		if cap(n.low) < len(dst) {
			n.low = make([]uint64, column.MaxRows)
		}
		low := n.low[:len(dst)]
		n.encode(low, c, 1, from)
		for i := range dst {
			dst[i] |= low[i] >> 32
		}
	}
	var prev, bad uint64
	for _, x := range dst {
		if x < prev {
			bad = 1
		}
		prev = x
	}
	if bad != 0 {
		return errs.Corruptf("a sorted run is not in key order")
	}
	return nil
}

func encodeAll[T any](dst []uint64, v *column.Vector, values []T, c *cursor, from int, enc func(T) uint64) {
	switch {
	case v.Dict != nil:
		for k := range dst {
			dst[k] = enc(values[v.Codes[c.at(from+k)]])
		}
	case c.sel != nil:
		for k, i := range c.sel[from : from+len(dst)] {
			dst[k] = enc(values[i])
		}
	default:
		for k, x := range values[from : from+len(dst)] {
			dst[k] = enc(x)
		}
	}
}

func encInt32(x int32) uint64 { return uint64(uint32(x)^1<<31) << 32 }
func encInt64(x int64) uint64 { return uint64(x) ^ signBit }

func encInt128(x column.Int128) uint64 {
	if x.IsInt64() {
		return encInt64(int64(x.Lo))
	}
	if x.Hi < 0 {
		return 0
	}
	return math.MaxUint64
}

func encFloat(f float64) uint64 {
	if f != f {
		return math.MaxUint64
	}
	b := math.Float64bits(f)
	if b&signBit != 0 {
		return ^b
	}
	return b | signBit
}

// encode fills dst with the 64-bit encodings of key column col.
func (n *keyNorm) encode(dst []uint64, c *cursor, col, from int) {
	v := c.keys[col]
	d := v
	if v.Dict != nil {
		d = v.Dict
	}
	switch v.Kind {
	case column.KindInt32:
		if v.Dict == nil && c.sel == nil {
			for k, x := range d.I32[from : from+len(dst)] {
				dst[k] = encInt32(x)
			}
			break
		}
		encodeAll(dst, v, d.I32, c, from, encInt32)
	case column.KindInt64, column.KindTimestamp:
		if v.Dict == nil && c.sel == nil {
			for k, x := range d.I64[from : from+len(dst)] {
				dst[k] = encInt64(x)
			}
			break
		}
		encodeAll(dst, v, d.I64, c, from, encInt64)
	case column.KindInt128:
		encodeAll(dst, v, d.I128, c, from, encInt128)
	case column.KindFloat32:
		encodeAll(dst, v, d.F32, c, from, func(f float32) uint64 { return encFloat(float64(f)) })
	case column.KindFloat64:
		encodeAll(dst, v, d.F64, c, from, encFloat)
	case column.KindBytes:
		data, skip := d.Data, n.skip
		encodeAll(dst, v, d.Ref, c, from, func(r column.Ref) uint64 { return encBytes(data[r.Off:r.Off+r.Len], skip) })
	}
	if v.Valid != nil {
		for k := range dst {
			if v.IsNull(c.at(from + k)) {
				dst[k] = 0
			}
		}
	}
}

// encBytes is the big-endian value of the 8 bytes after the common prefix.
func encBytes(p []byte, skip int) uint64 {
	if len(p) >= skip+8 {
		return binary.BigEndian.Uint64(p[skip:])
	}
	if len(p) <= skip {
		return 0
	}
	var buf [8]byte
	copy(buf[:], p[skip:])
	return binary.BigEndian.Uint64(buf[:])
}
