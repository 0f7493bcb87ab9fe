package fileindex

import (
	"fmt"
	"math"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/cespare/xxhash/v2"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
)

// maxBloomHashes bounds the number of hash functions.
const maxBloomHashes = 1000

type bloom struct {
	bits []byte
	k    int
	t    *schema.Type
}

func openBloom(data []byte, t *schema.Type) (reader, error) {
	switch keyOf(t) {
	case keyBool, keyDecimal, keyNone:
		return nil, nil
	}
	r := buffer{b: data}
	k := r.i32()
	if r.bad {
		return nil, errShort
	}
	if k < 1 || k > maxBloomHashes || len(r.b) == 0 || len(r.b) > math.MaxInt32/8 {
		return nil, fmt.Errorf("it has %d hash functions and %d bytes", k, len(r.b))
	}
	return &bloom{bits: r.b, k: k, t: t}, nil
}

func (b *bloom) leaf(l *predicate.Leaf) (*roaring.Bitmap, error) {
	if l.Op != predicate.Eq && l.Op != predicate.In {
		return nil, nil
	}
	for _, lit := range l.Literals {
		k, ok := toKey(lit, b.t)
		if !ok {
			return nil, nil
		}
		for _, k := range zeros(k) {
			if b.mayContain(bloomHash(k, b.t)) {
				return nil, nil
			}
		}
	}
	return roaring.New(), nil
}

// mayContain tests the bits of a hash (BloomFilter64).
func (b *bloom) mayContain(h int64) bool {
	h1, h2 := int32(h), int32(uint64(h)>>32)
	m := int32(len(b.bits) * 8)
	for i := range int32(b.k) {
		c := h1 + (i+1)*h2
		if c < 0 {
			c = ^c
		}
		pos := c % m
		if b.bits[pos>>3]&(1<<(pos&7)) == 0 {
			return false
		}
	}
	return true
}

// bloomHash is the 64-bit hash of a key (FastHash).
func bloomHash(k column.Scalar, t *schema.Type) int64 {
	switch keyOf(t) {
	case keyText:
		return int64(xxhash.Sum64(k.B))
	case keyFloat:
		return wang(int64(int32(math.Float32bits(float32(k.F)))))
	case keyDouble:
		return wang(int64(math.Float64bits(k.F)))
	}
	return wang(k.I)
}

// wang is Thomas Wang's 64-bit mix with arithmetic shifts.
func wang(k int64) int64 {
	k = ^k + (k << 21)
	k ^= k >> 24
	k = k + (k << 3) + (k << 8)
	k ^= k >> 14
	k = k + (k << 2) + (k << 4)
	k ^= k >> 28
	return k + (k << 31)
}
