package binrow

import (
	"math/bits"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// Hasher hashes rows of key columns (section 6.2). It is for one goroutine.
type Hasher struct {
	types []*schema.Type
	buf   []byte
}

// NewHasher returns a hasher of rows of non-nested types.
func NewHasher(types []*schema.Type) *Hasher { return &Hasher{types: types} }

// Hash sets dst[i] to the hash of row i for every row i of sel; nil sel = rows [0, n).
func (h *Hasher) Hash(dst []int32, cols []*column.Vector, sel []uint16, n int) {
	if len(cols) == 1 && !cols[0].HasNulls() {
		switch h.types[0].Root {
		case schema.Int, schema.Date, schema.Time:
			each(sel, n, func(i int) { dst[i] = hashSlot(uint64(uint32(cols[0].Int(i)))) })
			return
		case schema.BigInt:
			each(sel, n, func(i int) { dst[i] = hashSlot(uint64(cols[0].Int(i))) })
			return
		}
	}
	each(sel, n, func(i int) {
		h.buf = AppendRowOf(h.buf[:0], h.types, cols, i)
		dst[i] = Murmur(h.buf)
	})
}

func each(sel []uint16, n int, f func(i int)) {
	if sel != nil {
		for _, i := range sel {
			f(int(i))
		}
		return
	}
	for i := range n {
		f(i)
	}
}

// hashSlot is Murmur of a row of one not-null field with the slot x.
func hashSlot(x uint64) int32 {
	h := mix(mix(mix(mix(murmurSeed, 0), 0), uint32(x)), uint32(x>>32))
	h ^= 16
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	h ^= h >> 16
	return int32(h)
}

func mix(h, k uint32) uint32 {
	k *= 0xcc9e2d51
	k = bits.RotateLeft32(k, 15)
	k *= 0x1b873593
	h ^= k
	h = bits.RotateLeft32(h, 13)
	return h*5 + 0xe6546b64
}

// Bucketer computes the buckets of rows (sections 6.2, 6.3). It is for one goroutine.
type Bucketer struct {
	function string
	buckets  int
	h        *Hasher
	vals     []column.Scalar
}

// NewBucketer returns a bucketer over n > 0 buckets with option bucket-function.type.
func NewBucketer(function string, types []*schema.Type, n int) (*Bucketer, error) {
	if n < 1 {
		return nil, errs.Invalidf("a bucket cannot be computed for %d buckets", n)
	}
	for _, t := range types {
		if t.IsNested() {
			return nil, errs.Unsupportedf("a bucket key of type %s is not supported", t)
		}
	}
	return &Bucketer{function: function, buckets: n, h: NewHasher(types), vals: make([]column.Scalar, len(types))}, nil
}

// Buckets sets dst[i] to the bucket of row i for every row i of sel; nil sel = rows [0, n).
func (b *Bucketer) Buckets(dst []int32, cols []*column.Vector, sel []uint16, n int) error {
	if b.buckets == 1 && b.function != "hive" && b.function != "mod" {
		each(sel, n, func(i int) { dst[i] = 0 })
		return nil
	}
	if b.function == "" || b.function == "default" {
		b.h.Hash(dst, cols, sel, n)
		each(sel, n, func(i int) { dst[i] = int32(DefaultBucket(dst[i], b.buckets)) })
		return nil
	}
	var failed error
	each(sel, n, func(i int) {
		for c, v := range cols {
			b.vals[c] = column.ScalarAt(v, i)
		}
		k, err := Bucket(b.function, b.h.types, b.vals, b.buckets)
		if err != nil {
			failed = err
			return
		}
		dst[i] = int32(k)
	})
	return failed
}
