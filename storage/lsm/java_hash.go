package lsm

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// Paimon keeps the entries of merge_map, nested_update with a key and collect
// with distinct in Java hash maps, and the order of the resulting map or array
// is their iteration order: a table's reader sees it, and files keep it.
// hashTable iterates in that order, so that our merges give the same arrays.

// hashTable is the entry order of a java.util.HashMap: entries have ids 0, 1, …
// in the order of their insertion.
type hashTable struct {
	ids     map[string]int
	hashes  []uint32
	buckets [][]int32
	size    int
	// plain keeps insertion order instead, for keys whose Java hash is not a function of their value.
	plain bool
	alive []bool
}

// javaInitialCapacity and the load factor 3/4 are those of java.util.HashMap.
const javaInitialCapacity = 16

func newHashTable(plain bool) *hashTable {
	return &hashTable{ids: map[string]int{}, buckets: make([][]int32, javaInitialCapacity), plain: plain}
}

// find returns the id of a key, -1 where it is not there.
func (h *hashTable) find(key []byte) int {
	if id, ok := h.ids[string(key)]; ok {
		return id
	}
	return -1
}

// insert adds a key that is not there.
func (h *hashTable) insert(key []byte, hash int32) (id int) {
	id = len(h.hashes)
	h.ids[string(key)] = id
	u := uint32(hash)
	u ^= u >> 16
	h.hashes = append(h.hashes, u)
	h.alive = append(h.alive, true)
	h.size++
	if h.plain {
		return id
	}
	b := u & uint32(len(h.buckets)-1)
	h.buckets[b] = append(h.buckets[b], int32(id))
	if h.size > len(h.buckets)/4*3 {
		next := make([][]int32, 2*len(h.buckets))
		for _, bucket := range h.buckets {
			for _, id := range bucket {
				b := h.hashes[id] & uint32(len(next)-1)
				next[b] = append(next[b], id)
			}
		}
		h.buckets = next
	}
	return id
}

// remove deletes a key; it may be absent.
func (h *hashTable) remove(key []byte) {
	id, ok := h.ids[string(key)]
	if !ok {
		return
	}
	delete(h.ids, string(key))
	h.alive[id] = false
	h.size--
	if h.plain {
		return
	}
	b := h.hashes[id] & uint32(len(h.buckets)-1)
	for k, other := range h.buckets[b] {
		if other == int32(id) {
			h.buckets[b] = append(h.buckets[b][:k], h.buckets[b][k+1:]...)
			return
		}
	}
}

// each calls f with the ids in iteration order.
func (h *hashTable) each(f func(id int)) {
	if h.plain {
		for id, ok := range h.alive {
			if ok {
				f(id)
			}
		}
		return
	}
	for _, bucket := range h.buckets {
		for _, id := range bucket {
			f(int(id))
		}
	}
}

// hasJavaHash reports whether values of the type have a hash code in Paimon's
// Java objects that depends on the value alone. byte[] hashes by identity, and
// nested objects as their class pleases.
func hasJavaHash(t *schema.Type) bool {
	switch t.Root {
	case schema.Binary, schema.Varbinary, schema.Blob, schema.Geometry, schema.Geography:
		return false
	}
	return !t.IsNested()
}

// javaHash is the hash code of a value's Java object; 0 for null.
func javaHash(t *schema.Type, x value) int32 {
	if x.null() {
		return 0
	}
	v, i := x.v, x.i
	switch t.Root {
	case schema.Boolean:
		if v.I32[i] != 0 {
			return 1231
		}
		return 1237
	case schema.TinyInt, schema.SmallInt, schema.Int, schema.Date, schema.Time:
		return v.I32[i]
	case schema.BigInt:
		return foldInt64(uint64(v.I64[i]))
	case schema.Float:
		f := v.F32[i]
		if f != f {
			return 0x7fc00000
		}
		return int32(math.Float32bits(f))
	case schema.Double:
		f := v.F64[i]
		if f != f {
			return 0x7ff80000
		}
		return foldInt64(math.Float64bits(f))
	case schema.Timestamp, schema.TimestampLTZ:
		micros := v.I64[i]
		millis := micros / 1000
		if micros%1000 < 0 {
			millis--
		}
		nanos := int32(micros-millis*1000)*1000 + int32(v.SubNanos(i))
		return 31*(int32(millis)^int32(millis>>32)) + nanos
	case schema.Decimal:
		return decimalHash(v.Dec128(i), t.Scale)
	case schema.Char, schema.Varchar:
		return stringHash(v.Bytes(i))
	}
	return 0
}

func foldInt64(x uint64) int32 { return int32(uint32(x) ^ uint32(x>>32)) }

// decimalHash is BigDecimal.hashCode: 31 times that of the unscaled BigInteger, plus the scale.
func decimalHash(d column.Int128, scale int) int32 {
	neg := d.Hi < 0
	if neg {
		d = d.Neg()
	}
	var h uint32
	for _, w := range [4]uint32{uint32(uint64(d.Hi) >> 32), uint32(uint64(d.Hi)), uint32(d.Lo >> 32), uint32(d.Lo)} {
		h = 31*h + w // leading zero words leave h at 0
	}
	if neg {
		h = -h
	}
	return int32(31*h + uint32(scale))
}

// stringHash is BinaryString.hashCode: murmur over the bytes, the last n%4 of
// them one by one, as signed numbers.
func stringHash(b []byte) int32 {
	mix := func(h, k uint32) uint32 {
		k *= 0xcc9e2d51
		k = bits.RotateLeft32(k, 15)
		k *= 0x1b873593
		h ^= k
		h = bits.RotateLeft32(h, 13)
		return h*5 + 0xe6546b64
	}
	h := uint32(42)
	n := len(b) &^ 3
	for i := 0; i < n; i += 4 {
		h = mix(h, binary.LittleEndian.Uint32(b[i:]))
	}
	for _, c := range b[n:] {
		h = mix(h, uint32(int32(int8(c))))
	}
	h ^= uint32(len(b))
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	h ^= h >> 16
	return int32(h)
}

// valueKey appends bytes that two values of the type share if and only if they are equal.
func valueKey(dst []byte, t *schema.Type, v *column.Vector, i int) []byte {
	return binrow.AppendRowOf(dst, []*schema.Type{t}, []*column.Vector{v}, i)
}
