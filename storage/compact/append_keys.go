package compact

import (
	"encoding/binary"
	"math"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// sortKeys makes the keys that a sorting compaction orders rows by: bytes, compared as such.
type sortKeys struct {
	strategy string
	cols     []int
	types    []*schema.Type
	// varBytes are the bytes that texts and binaries give to a Z-order key.
	varBytes int
}

func newSortKeys(o *Sort, s *schema.TableSchema) (*sortKeys, error) {
	k := &sortKeys{strategy: o.Strategy}
	var err error
	if k.varBytes, err = schema.OptZOrderVarBytes.Get(s.Options); err != nil {
		return nil, err
	}
	k.varBytes = max(k.varBytes, 1)
	for _, c := range o.Columns {
		i := s.Index(c)
		k.cols, k.types = append(k.cols, i), append(k.types, s.Fields[i].Type)
	}
	return k, nil
}

// of returns the keys of a batch's rows that count; others have an empty one.
func (k *sortKeys) of(b *column.Batch) *column.Vector {
	cols := make([]*column.Vector, len(k.cols))
	for i, c := range k.cols {
		cols[i] = column.Flatten(b.Cols[c])
	}
	out := &column.Vector{Kind: column.KindBytes, N: b.N, Ref: make([]column.Ref, b.N)}
	var z zKey
	point := make([]uint64, len(cols))
	for n := range b.Rows() {
		i := b.Row(n)
		from := len(out.Data)
		switch k.strategy {
		case SortOrder:
			for c, v := range cols {
				out.Data = appendOrdered(out.Data, k.types[c], v, i)
			}
		case SortZOrder:
			z.reset()
			for c, v := range cols {
				z.add(k.types[c], v, i, k.varBytes)
			}
			out.Data = z.interleave(out.Data)
		default:
			for c, v := range cols {
				point[c] = hilbertValue(k.types[c], v, i)
			}
			out.Data = appendHilbert(out.Data, point)
		}
		out.Ref[i] = column.Ref{Off: uint32(from), Len: uint32(len(out.Data) - from)}
	}
	return out
}

const signBit = 1 << 63

// appendOrdered appends a value as bytes that compare as the values do, NULL first
// (Paimon's record comparator, as OrderSorter uses it).
func appendOrdered(dst []byte, t *schema.Type, v *column.Vector, i int) []byte {
	if v.IsNull(i) {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	switch v.Kind {
	case column.KindInt32:
		return binary.BigEndian.AppendUint32(dst, uint32(v.I32[i])^1<<31)
	case column.KindInt64:
		return binary.BigEndian.AppendUint64(dst, uint64(v.I64[i])^signBit)
	case column.KindTimestamp:
		dst = binary.BigEndian.AppendUint64(dst, uint64(v.I64[i])^signBit)
		return binary.BigEndian.AppendUint16(dst, v.SubNanos(i))
	case column.KindInt128:
		x := v.I128[i]
		return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, uint64(x.Hi)^signBit), x.Lo)
	case column.KindFloat32, column.KindFloat64:
		bits := doubleBits(v.Float(i))
		if bits&signBit != 0 {
			bits = ^bits
		} else {
			bits |= signBit
		}
		return binary.BigEndian.AppendUint64(dst, bits)
	}
	// The end of the bytes must sort before any byte that follows: 00 is written as 00 FF, the end as 00 00.
	for _, c := range v.Bytes(i) {
		if dst = append(dst, c); c == 0 {
			dst = append(dst, 0xff)
		}
	}
	return append(dst, 0, 0)
}

// doubleBits is Java's Double.doubleToLongBits: there is one NaN.
func doubleBits(x float64) uint64 {
	if math.IsNaN(x) {
		return 0x7ff8000000000000
	}
	return math.Float64bits(x)
}

// millis is a timestamp in milliseconds, rounded down.
func millis(micros int64) int64 {
	ms := micros / 1000
	if micros%1000 < 0 {
		ms--
	}
	return ms
}

// zKey collects the bytes of the columns of a Z-order key (ZIndexer).
type zKey struct {
	data []byte
	ends []int
}

func (z *zKey) reset() { z.data, z.ends = z.data[:0], z.ends[:0] }

// add appends a column's bytes: eight, or size of a text or binary; NULL is all zeros.
func (z *zKey) add(t *schema.Type, v *column.Vector, i, size int) {
	defer func() { z.ends = append(z.ends, len(z.data)) }()
	word := func(x uint64) { z.data = binary.BigEndian.AppendUint64(z.data, x) }
	fill := func(b []byte, n int) {
		b = b[:min(len(b), n)]
		z.data = append(z.data, b...)
		z.data = append(z.data, make([]byte, n-len(b))...)
	}
	switch {
	case v.Kind == column.KindBytes && v.IsNull(i):
		fill(nil, size)
	case v.Kind == column.KindBytes:
		fill(v.Bytes(i), size)
	case v.IsNull(i):
		word(0)
	case t.Root == schema.Boolean:
		fill([]byte{byte(v.I32[i]) * 0x81}, 8)
	case t.Root == schema.Decimal:
		fill(unscaledBytes(v, i), 8)
	case v.Kind == column.KindInt32:
		word(uint64(v.I32[i]) ^ signBit)
	case v.Kind == column.KindInt64:
		word(uint64(v.I64[i]) ^ signBit)
	case v.Kind == column.KindTimestamp:
		word(uint64(millis(v.I64[i])) ^ signBit)
	default:
		// Paimon shifts by 31, not by 63: the lower bits of a number's key do not follow its order.
		x := int64(doubleBits(v.Float(i)))
		word(uint64(x ^ (x>>31 | math.MinInt64)))
	}
}

// unscaledBytes are a decimal's unscaled value in two's complement, as short as can be.
func unscaledBytes(v *column.Vector, i int) []byte {
	x := v.Dec128(i)
	b := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(x.Hi)), x.Lo)
	for len(b) > 1 && (b[0] == 0 && b[1] < 0x80 || b[0] == 0xff && b[1] >= 0x80) {
		b = b[1:]
	}
	return b
}

// interleave appends the bits of the columns in turn; columns that have no more are left out.
func (z *zKey) interleave(dst []byte) []byte {
	var out byte
	bits, longest, from := 0, 0, 0
	for _, end := range z.ends {
		longest = max(longest, end-from)
		from = end
	}
	for at := range longest {
		for bit := 7; bit >= 0; bit-- {
			from := 0
			for _, end := range z.ends {
				if from+at < end {
					out = out<<1 | z.data[from+at]>>bit&1
					if bits++; bits == 8 {
						dst, out, bits = append(dst, out), 0, 0
					}
				}
				from = end
			}
		}
	}
	return dst
}
