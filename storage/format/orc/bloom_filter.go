package orc

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/predicate"
)

const (
	// maxHashFunctions bounds the hash functions of a Bloom filter.
	maxHashFunctions = 64
	// murmurSeed is the seed of the hash (org.apache.hive.common.util.Murmur3.DEFAULT_SEED).
	murmurSeed = 104729
)

// bloomFilter is the Bloom filter of a row group (org.apache.orc.util.BloomFilterUtf8).
type bloomFilter struct {
	hashes int
	bits   []byte // little-endian words
}

// parseBloomFilters parses a Bloom filter stream of at most groups filters.
func parseBloomFilters(b []byte, groups int) (out []bloomFilter, err error) {
	err = eachField(b, func(f protoField) error {
		if f.num != 1 {
			return nil
		}
		if len(out) >= groups {
			return fmt.Errorf("more than %d row groups", groups)
		}
		var x bloomFilter
		err := eachField(f.p, func(f protoField) error {
			switch f.num {
			case 1:
				if f.v > maxHashFunctions {
					return fmt.Errorf("%d hash functions", f.v)
				}
				x.hashes = int(f.v)
			case 3:
				if len(f.p)%8 != 0 {
					return fmt.Errorf("a bit set of %d bytes", len(f.p))
				}
				x.bits = f.p
			}
			return nil
		})
		out = append(out, x)
		return err
	})
	return out, err
}

// bloomKind reports whether filters over the kind are used: those whose
// stored and read values hash alike.
func bloomKind(k kind) bool {
	switch k {
	case kindByte, kindShort, kindInt, kindLong, kindDate, kindString, kindVarchar, kindBinary:
		return true
	}
	return false
}

// mayContain reports whether a value can be in the row group.
func (f bloomFilter) mayContain(x column.Scalar) bool {
	n := len(f.bits) * 8
	if n == 0 || f.hashes == 0 || x.Null {
		return true
	}
	var h uint64
	switch x.Kind {
	case column.KindInt32, column.KindInt64:
		h = hashLong(x.I)
	case column.KindBytes:
		h = murmur64(x.B)
	default:
		return true
	}
	h1, h2 := int32(h), int32(h>>32)
	for i := int32(1); i <= int32(f.hashes); i++ {
		c := h1 + i*h2
		if c < 0 {
			c = ^c
		}
		p := int(c) % n
		if f.bits[p>>3]>>(p&7)&1 == 0 {
			return false
		}
	}
	return true
}

// hashLong is Thomas Wang's 64-bit hash, as ORC has it.
func hashLong(v int64) uint64 {
	k := v
	k = ^k + k<<21
	k ^= k >> 24
	k = k + k<<3 + k<<8
	k ^= k >> 14
	k = k + k<<2 + k<<4
	k ^= k >> 28
	k += k << 31
	return uint64(k)
}

// murmur64 is the 64-bit Murmur3 variant of Hive.
func murmur64(b []byte) uint64 {
	const c1, c2 = 0x87c37b91114253d5, 0x4cf5ad432745937f
	h := uint64(murmurSeed)
	n := len(b)
	for ; len(b) >= 8; b = b[8:] {
		k := binary.LittleEndian.Uint64(b)
		k *= c1
		k = bits.RotateLeft64(k, 31)
		k *= c2
		h ^= k
		h = bits.RotateLeft64(h, 27)*5 + 0x52dce729
	}
	if len(b) > 0 {
		var k uint64
		for i, c := range b {
			k |= uint64(c) << (8 * i)
		}
		k *= c1
		k = bits.RotateLeft64(k, 31)
		k *= c2
		h ^= k
	}
	h ^= uint64(n)
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	return h
}

// bloomMayMatch reports whether p can be true where contains tells which values
// a column may have; only = and IN are tested.
func bloomMayMatch(p predicate.Predicate, contains func(col int, x column.Scalar) bool) bool {
	switch p := p.(type) {
	case *predicate.And:
		for _, c := range p.Children {
			if !bloomMayMatch(c, contains) {
				return false
			}
		}
	case *predicate.Or:
		for _, c := range p.Children {
			if bloomMayMatch(c, contains) {
				return true
			}
		}
		return false
	case *predicate.Leaf:
		if p.Op != predicate.Eq && p.Op != predicate.In {
			return true
		}
		for _, x := range p.Literals {
			if contains(p.Column, x) {
				return true
			}
		}
		return len(p.Literals) == 0
	}
	return true
}
