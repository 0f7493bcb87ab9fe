package fileindex

import (
	"math"

	"github.com/cespare/xxhash/v2"
)

// Defaults of the options of bloom filters.
const (
	defaultItems = 1_000_000
	defaultFPP   = 0.1
)

// bloomBuilder makes a bloom filter (BloomFilterFileIndex, BloomFilter64).
type bloomBuilder struct {
	bits []byte
	k    int
}

func newBloomBuilder(s *Spec) (*bloomBuilder, error) {
	items, err := s.integer("items", defaultItems, 1, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	fpp, err := s.ratio("fpp", defaultFPP)
	if err != nil {
		return nil, err
	}
	m := -float64(items) * math.Log(fpp) / (math.Ln2 * math.Ln2)
	if m > math.MaxInt32-8 {
		return nil, s.wrong("items", "smaller: the bloom filter would have more than 2^31 bits")
	}
	bits := int(m)
	bits += 8 - bits%8
	return &bloomBuilder{bits: make([]byte, bits/8), k: max(1, int(math.Round(float64(bits)/float64(items)*math.Ln2)))}, nil
}

func (b *bloomBuilder) addNull() {}

func (b *bloomBuilder) addCode(code int64) { b.add(wang(code)) }

func (b *bloomBuilder) addText(t []byte) { b.add(int64(xxhash.Sum64(t))) }

func (b *bloomBuilder) add(h int64) {
	h1, h2 := int32(h), int32(uint64(h)>>32)
	m := int32(len(b.bits) * 8)
	for i := range int32(b.k) {
		c := h1 + (i+1)*h2
		if c < 0 {
			c = ^c
		}
		pos := c % m
		b.bits[pos>>3] |= 1 << (pos & 7)
	}
}

func (b *bloomBuilder) finish() ([]byte, bool) {
	return append(appendInt(nil, b.k), b.bits...), true
}
