package sketch

import (
	"encoding/binary"
	"sort"

	"github.com/tributarydb/tributary/storage/errs"
)

// The cookies of the portable 32-bit format.
const (
	cookieNoRuns = 12346
	cookieRuns   = 12347
	// noOffsets is the number of containers below which a bitmap with runs has no offset header.
	noOffsets = 4
)

// maxBitmapContainers32 is the number of distinct high halves.
const maxBitmapContainers32 = 1 << 16

type keyed32 struct {
	key uint16
	c   container
}

// parse32 reads a bitmap in the portable format.
func parse32(b []byte) ([]keyed32, error) {
	r := &reader{b: b}
	cookie := r.u32()
	var n int
	var runs []byte
	switch {
	case r.fail:
		return nil, errs.Corruptf("Roaring bitmap: cut off")
	case cookie&0xffff == cookieRuns:
		n = int(cookie>>16) + 1
		runs = r.take((n + 7) / 8)
	case cookie == cookieNoRuns:
		n = int(r.u32())
	default:
		return nil, errs.Corruptf("Roaring bitmap: cookie %d", cookie)
	}
	if n < 0 || n > maxBitmapContainers32 {
		return nil, errs.Corruptf("Roaring bitmap: %d containers", n)
	}
	head := r.take(4 * n)
	if runs == nil || n >= noOffsets {
		r.take(4 * n)
	}
	if r.fail {
		return nil, errs.Corruptf("Roaring bitmap: cut off")
	}
	out := make([]keyed32, 0, n)
	for i := range n {
		key, card := binary.LittleEndian.Uint16(head[4*i:]), int(binary.LittleEndian.Uint16(head[4*i+2:]))+1
		if i > 0 && key <= out[i-1].key {
			return nil, errs.Corruptf("Roaring bitmap: keys do not ascend")
		}
		kind := arrayContainer
		if runs != nil && runs[i/8]>>(i%8)&1 == 1 {
			kind = runContainer
		} else if card > maxArraySize {
			kind = bitmapContainer
		}
		c, err := r.readContainer(kind, card)
		if err != nil {
			return nil, err
		}
		out = append(out, keyed32{key, c})
	}
	return out, nil
}

// UnionRoaring32 unites two 32-bit Roaring bitmaps (aggregate function rbm32).
func UnionRoaring32(a, b []byte) ([]byte, error) {
	acc, err := parse32(a)
	if err != nil {
		return nil, err
	}
	in, err := parse32(b)
	if err != nil {
		return nil, err
	}
	for _, k := range in {
		i := sort.Search(len(acc), func(i int) bool { return acc[i].key >= k.key })
		if i < len(acc) && acc[i].key == k.key {
			acc[i].c = acc[i].c.union(k.c)
			continue
		}
		acc = append(acc, keyed32{})
		copy(acc[i+1:], acc[i:])
		acc[i] = k
	}
	for i := range acc {
		acc[i].c = acc[i].c.runOptimize(true)
	}
	return append32(acc), nil
}

func append32(set []keyed32) []byte {
	n := len(set)
	runs := make([]byte, (n+7)/8)
	hasRuns := false
	for i, k := range set {
		if k.c.kind == runContainer {
			runs[i/8] |= 1 << (i % 8)
			hasRuns = true
		}
	}
	var out []byte
	if hasRuns {
		out = binary.LittleEndian.AppendUint32(out, cookieRuns|uint32(n-1)<<16)
		out = append(out, runs...)
	} else {
		out = binary.LittleEndian.AppendUint32(out, cookieNoRuns)
		out = binary.LittleEndian.AppendUint32(out, uint32(n))
	}
	for _, k := range set {
		out = binary.LittleEndian.AppendUint16(out, k.key)
		out = binary.LittleEndian.AppendUint16(out, uint16(k.c.cardinality()-1))
	}
	offsets := len(out)
	withOffsets := !hasRuns || n >= noOffsets
	if withOffsets {
		out = append(out, make([]byte, 4*n)...)
	}
	for i, k := range set {
		if withOffsets {
			binary.LittleEndian.PutUint32(out[offsets+4*i:], uint32(len(out)))
		}
		out = append(out, k.c.raw...)
	}
	return out
}
