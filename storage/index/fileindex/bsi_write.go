package fileindex

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/tributarydb/tributary/storage/index/bitmapio"
)

// bsiBuilder makes a bit-sliced index (BitSliceIndexBitmapFileIndex).
type bsiBuilder struct {
	values []int64
	valid  []bool
	least  bool // math.MinInt64, which has no magnitude, is among the values
}

func (b *bsiBuilder) addNull() {
	b.values, b.valid = append(b.values, 0), append(b.valid, false)
}

func (b *bsiBuilder) addCode(code int64) {
	b.values, b.valid = append(b.values, code), append(b.valid, true)
	b.least = b.least || code == math.MinInt64
}

func (b *bsiBuilder) addText([]byte) {}

// finish fails, so that the index is left out, where a value cannot be in it.
func (b *bsiBuilder) finish() ([]byte, bool) {
	if b.least {
		return nil, false
	}
	out := appendInt([]byte{1}, len(b.values))
	for _, negative := range []bool{false, true} {
		var rows []uint32
		var magnitudes []uint64
		var limit uint64
		for i, v := range b.values {
			if !b.valid[i] || v < 0 != negative {
				continue
			}
			if negative {
				v = -v
			}
			rows, magnitudes = append(rows, uint32(i)), append(magnitudes, uint64(v))
			limit = max(limit, uint64(v))
		}
		out = appendBool(out, len(rows) > 0)
		if len(rows) == 0 {
			continue
		}
		out = append(out, 1)
		out = binary.BigEndian.AppendUint64(out, 0)
		out = binary.BigEndian.AppendUint64(out, limit)
		out = bitmapio.AppendSorted(out, rows)
		out = appendInt(out, bits.Len64(limit))
		var slice []uint32
		for j := range bits.Len64(limit) {
			slice = bitSlice(slice[:0], rows, magnitudes, j)
			out = bitmapio.AppendSorted(out, slice)
		}
	}
	return out, true
}

// bitSlice appends the rows whose value has bit j set.
func bitSlice(dst, rows []uint32, values []uint64, j int) []uint32 {
	for i, v := range values {
		if v>>j&1 == 1 {
			dst = append(dst, rows[i])
		}
	}
	return dst
}
