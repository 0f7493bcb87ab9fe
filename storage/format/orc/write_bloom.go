package orc

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// bloomBuilder makes the Bloom filters of a column's row groups (org.apache.orc.util.BloomFilterUtf8).
type bloomBuilder struct {
	bits   []uint64
	hashes int
	// done are the messages of the groups of the stripe.
	done []byte
}

// maxBloomBits bounds a filter.
const maxBloomBits = 1 << 30

// newBloom sizes filters for a number of values and a rate of false positives.
func newBloom(values int, fpp float64) *bloomBuilder {
	n := float64(max(values, 1))
	m := int(min(-n*math.Log(fpp)/(math.Ln2*math.Ln2), maxBloomBits))
	m += 64 - m%64
	return &bloomBuilder{bits: make([]uint64, m/64), hashes: min(max(1, int(math.Round(float64(m)/n*math.Ln2))), maxHashFunctions)}
}

// bloomWritten reports whether values of the kind are put into Bloom filters.
func bloomWritten(k kind) bool {
	switch k {
	case kindBoolean, kindList, kindMap, kindStruct, kindUnion:
		return false
	}
	return true
}

func (b *bloomBuilder) add(h uint64) {
	n := len(b.bits) * 64
	h1, h2 := int32(h), int32(h>>32)
	for i := int32(1); i <= int32(b.hashes); i++ {
		c := h1 + i*h2
		if c < 0 {
			c = ^c
		}
		p := int(c) % n
		b.bits[p>>6] |= 1 << (p & 63)
	}
}

// endGroup takes the filter to the finished ones and begins anew.
func (b *bloomBuilder) endGroup() {
	set := make([]byte, 0, len(b.bits)*8)
	for _, w := range b.bits {
		set = binary.LittleEndian.AppendUint64(set, w)
	}
	clear(b.bits)
	m := appendUint(nil, 1, uint64(b.hashes))
	m = appendBytes(m, 3, set)
	b.done = appendBytes(b.done, 1, m)
}

// appendUint appends a varint field, appendSint a zigzag one, appendBytes a delimited one.
func appendUint(dst []byte, num protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(dst, num, protowire.VarintType), v)
}

func appendSint(dst []byte, num protowire.Number, v int64) []byte {
	return appendUint(dst, num, toZigzag(v))
}

func appendBytes(dst []byte, num protowire.Number, b []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(dst, num, protowire.BytesType), b)
}

func appendDouble(dst []byte, num protowire.Number, f float64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(dst, num, protowire.Fixed64Type), math.Float64bits(f))
}

// appendPacked appends a packed repeated field; none where there are no values.
func appendPacked(dst []byte, num protowire.Number, vals []uint64) []byte {
	if len(vals) == 0 {
		return dst
	}
	n := 0
	for _, v := range vals {
		n += protowire.SizeVarint(v)
	}
	dst = protowire.AppendVarint(protowire.AppendTag(dst, num, protowire.BytesType), uint64(n))
	for _, v := range vals {
		dst = protowire.AppendVarint(dst, v)
	}
	return dst
}
