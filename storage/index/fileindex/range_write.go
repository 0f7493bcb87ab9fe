package fileindex

import (
	"math/bits"

	"github.com/tributarydb/tributary/storage/index/bitmapio"
)

const (
	defaultChunkSize = 16 << 10
	// emptySlices is the number of slices that an index without values has.
	emptySlices = 64
)

// rangeBuilder makes a range bitmap (RangeBitmap).
type rangeBuilder struct {
	*dictionary
	chunkSize int
}

func newRangeBuilder(s *Spec, k keyKind) (*rangeBuilder, error) {
	def := defaultChunkSize
	switch k {
	case keyBool, keyInt8, keyInt16:
		def = 0 // a chunk a value
	}
	size, err := s.size("chunk-size", def)
	if err != nil {
		return nil, err
	}
	return &rangeBuilder{newDictionary(k), size}, nil
}

func (b *rangeBuilder) finish() ([]byte, bool) {
	order := b.sorted()
	head := appendInt([]byte{1}, len(b.rows))
	head = appendInt(head, len(order))
	if len(order) > 0 {
		head = b.appendValue(head, order[0])
		head = b.appendValue(head, order[len(order)-1])
	}
	dict := b.appendDictionary(nil, order)
	head = appendInt(head, len(dict))
	out := append(appendInt(nil, len(head)), head...)
	out = append(out, dict...)
	return b.appendSlices(out, order), true
}

// appendDictionary appends the values in their order, in chunks: a chunk has its first
// value itself and the following ones, up to the chunk size, in the area of keys (ChunkedDictionary).
func (b *rangeBuilder) appendDictionary(out []byte, order []uint32) []byte {
	width := keyWidth(b.k)
	var offsets, chunks, keys []byte
	count := 0
	for at := 0; at < len(order); count++ {
		first, start := at, len(keys)
		var ends, texts []byte
		for at++; at < len(order); at++ {
			size := b.size(order[at])
			if len(texts)+size > b.chunkSize || width == 0 && len(ends)+4 > b.chunkSize {
				break
			}
			if width == 0 {
				ends = appendInt(ends, len(texts))
			}
			texts = b.appendValue(texts, order[at])
		}
		keys = append(append(keys, ends...), texts...)
		offsets = appendInt(offsets, len(chunks))
		chunks = b.appendValue(append(chunks, 1), order[first])
		chunks = appendInt(chunks, first)
		chunks = appendInt(chunks, start)
		chunks = appendInt(chunks, at-first-1)
		if width == 0 {
			chunks = appendInt(appendInt(chunks, len(ends)), len(texts))
		} else {
			chunks = appendInt(appendInt(chunks, len(texts)), width)
		}
	}
	head := appendInt([]byte{1}, count)
	head = appendInt(appendInt(head, len(offsets)), len(chunks))
	out = append(appendInt(out, len(head)), head...)
	out = append(out, offsets...)
	out = append(out, chunks...)
	return append(out, keys...)
}

// appendSlices appends the ranks of the rows' values as bit slices (BitSliceIndexBitmap).
func (b *rangeBuilder) appendSlices(out []byte, order []uint32) []byte {
	ranks := make([]uint64, len(order))
	for r, n := range order {
		ranks[n] = uint64(r)
	}
	var rows []uint32
	var values []uint64
	for i, n := range b.rows {
		if n != noCode {
			rows, values = append(rows, uint32(i)), append(values, ranks[n])
		}
	}
	count := emptySlices
	if len(order) > 0 {
		count = max(1, bits.Len(uint(len(order)-1)))
	}
	exists := bitmapio.AppendSorted(nil, rows)
	var index, slices []byte
	var slice []uint32
	for j := range count {
		at := len(slices)
		slice = bitSlice(slice[:0], rows, values, j)
		slices = bitmapio.AppendSorted(slices, slice)
		index = appendInt(appendInt(index, at), len(slices)-at)
	}
	head := []byte{1, byte(count)}
	head = appendInt(appendInt(head, len(exists)), len(index))
	head = append(head, index...)
	out = append(appendInt(out, len(head)), head...)
	out = append(out, exists...)
	return append(out, slices...)
}
