package lsm

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/tributarydb/tributary/storage/column"
)

// signBit turns the order of signed integers into that of unsigned ones.
const signBit = uint64(1) << 63

// keyOrder compares keys. A key's norm is a 64-bit prefix of an
// order-preserving encoding: different norms decide, equal norms decide only
// where exact is set.
type keyOrder struct {
	kinds []column.Kind
	// exact says that equal norms are equal keys, for all batches seen so far.
	exact bool
	// nulls says that a null was seen in a key column; then only the first
	// column goes into the norm, and null has the norm of the least value.
	nulls bool
	// skip is the length of the common prefix that norms of a leading
	// KindBytes column leave out; prefix is that prefix.
	skip   int
	prefix []byte
}

// packed reports whether the norm holds two 32-bit columns.
func (o *keyOrder) packed() bool {
	return !o.nulls && len(o.kinds) > 1 && o.kinds[0] == column.KindInt32
}

// adapt prepares the order for another batch of keys: it gives up exactness,
// and shortens the common prefix, where the batch requires it. changed says
// that norms made before are void.
func (o *keyOrder) adapt(keys []*column.Vector, first, last int) (changed bool) {
	for _, k := range keys {
		if !o.nulls && k.Valid != nil && k.NullCount() > 0 {
			o.nulls, o.exact, changed = true, false, true
		}
	}
	if o.exact {
		o.exact = exactBatch(keys)
	}
	if o.kinds[0] != column.KindBytes || o.nulls {
		return changed
	}
	lo, hi := keys[0].Bytes(first), keys[0].Bytes(last)
	if o.skip < 0 { // the first batch
		o.skip = commonPrefix(lo, hi)
		o.prefix = append(o.prefix[:0], lo[:o.skip]...)
		return true
	}
	n := min(commonPrefix(o.prefix, lo), commonPrefix(o.prefix, hi))
	if n < o.skip {
		o.skip, o.prefix, changed = n, o.prefix[:n], true
	}
	return changed
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

// newKeyOrder returns the order of keys of the kinds.
func newKeyOrder(kinds []column.Kind) *keyOrder {
	o := &keyOrder{kinds: kinds, skip: -1}
	switch len(kinds) {
	case 1:
		o.exact = kinds[0] != column.KindBytes
	case 2:
		o.exact = kinds[0] == column.KindInt32 && kinds[1] == column.KindInt32
	}
	if kinds[0] != column.KindBytes {
		o.skip = 0
	}
	return o
}

// exactBatch reports whether the norms of a batch say all; asked only for
// layouts whose norms can.
func exactBatch(keys []*column.Vector) bool {
	v := keys[0]
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

// norms fills dst with the norms of the rows that count, and reports whether they ascend.
func (o *keyOrder) norms(dst []uint64, keys []*column.Vector, sel []uint16) bool {
	o.column(dst, keys[0], sel)
	if o.packed() {
		low := make([]uint64, len(dst))
		o.column(low, keys[1], sel)
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
	return bad == 0
}

func fill[T any](dst []uint64, v *column.Vector, values []T, sel []uint16, enc func(T) uint64) {
	switch {
	case v.Dict != nil:
		for k := range dst {
			i := k
			if sel != nil {
				i = int(sel[k])
			}
			dst[k] = enc(values[v.Codes[i]])
		}
	case sel != nil:
		for k, i := range sel {
			dst[k] = enc(values[i])
		}
	default:
		for k, x := range values[:len(dst)] {
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

// column fills dst with the 64-bit encodings of one key column.
func (o *keyOrder) column(dst []uint64, v *column.Vector, sel []uint16) {
	d := v
	if v.Dict != nil {
		d = v.Dict
	}
	switch v.Kind {
	case column.KindInt32:
		if v.Dict == nil && sel == nil {
			for k, x := range d.I32[:len(dst)] {
				dst[k] = encInt32(x)
			}
			break
		}
		fill(dst, v, d.I32, sel, encInt32)
	case column.KindInt64, column.KindTimestamp:
		if v.Dict == nil && sel == nil {
			for k, x := range d.I64[:len(dst)] {
				dst[k] = encInt64(x)
			}
			break
		}
		fill(dst, v, d.I64, sel, encInt64)
	case column.KindInt128:
		fill(dst, v, d.I128, sel, encInt128)
	case column.KindFloat32:
		fill(dst, v, d.F32, sel, func(f float32) uint64 { return encFloat(float64(f)) })
	case column.KindFloat64:
		fill(dst, v, d.F64, sel, encFloat)
	case column.KindBytes:
		skip := max(o.skip, 0)
		if o.nulls {
			skip = 0
		}
		data := d.Data
		fill(dst, v, d.Ref, sel, func(r column.Ref) uint64 { return encBytes(data[r.Off:r.Off+r.Len], skip) })
	}
	if o.nulls {
		for k := range dst {
			i := k
			if sel != nil {
				i = int(sel[k])
			}
			if v.IsNull(i) {
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

// compare orders row i of keys a and row j of keys b in full.
func (o *keyOrder) compare(a []*column.Vector, i int, b []*column.Vector, j int) int {
	if len(o.kinds) == 1 && o.kinds[0] == column.KindBytes && a[0].Valid == nil && b[0].Valid == nil {
		return bytes.Compare(a[0].Bytes(i), b[0].Bytes(j))
	}
	for k := range o.kinds {
		if c := column.CompareRows(a[k], i, b[k], j); c != 0 {
			return c
		}
	}
	return 0
}
