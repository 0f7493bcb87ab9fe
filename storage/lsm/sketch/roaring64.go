package sketch

import (
	"encoding/binary"
	"sort"

	"github.com/tributarydb/tributary/storage/errs"
)

// The 64-bit format is that of org.roaringbitmap.longlong.Roaring64Bitmap: an
// adaptive radix tree from the high 48 bits to container numbers, then the containers
// in the order in which they were added, with the free slots of their array.

const (
	emptyTag    = 0
	notEmptyTag = 1

	node4Type   = 0
	node16Type  = 1
	node48Type  = 2
	node256Type = 3
	leafType    = 4

	// keyBytes is the length of a key of the tree.
	keyBytes = 6
	// noSlot marks a key without child in a node of 48.
	noSlot = 0xff
	// notTrimmed precedes each array of containers.
	notTrimmed = 0xfe

	// maxContainerSlots bounds the containers of a bitmap, free slots included.
	maxContainerSlots = 1 << 24
)

// artNode is a node of the radix tree: a leaf, or a branch whose children are in ascending order of their bytes.
type artNode struct {
	typ      byte
	key      uint64 // of a leaf: 48 bits
	idx      int    // of a leaf: the container's number
	prefix   []byte
	bytes    []byte
	children []*artNode
	slots    []byte // of a node of 48: each child's place
}

type bitmap64 struct {
	keys       uint64
	root       *artNode
	leaves     []*artNode  // ascending
	containers []container // raw is nil for a free slot
	last       int         // number of the last container, -1 for none
}

func keyByte(key uint64, depth int) byte { return byte(key >> (40 - 8*depth)) }

func (m *bitmap64) readNode(r *reader, depth int, key uint64) (*artNode, error) {
	n := &artNode{typ: r.u8()}
	count, plen := int(r.u16()), int(r.u8())
	if n.typ == leafType {
		p := r.take(keyBytes)
		idx := r.u64()
		if r.fail {
			return nil, errs.Corruptf("64-bit Roaring bitmap: cut off in its tree")
		}
		for _, c := range p {
			n.key = n.key<<8 | uint64(c)
		}
		if depth > 0 && n.key>>(48-8*depth) != key>>(48-8*depth) {
			return nil, errs.Corruptf("64-bit Roaring bitmap: a leaf is in the wrong place")
		}
		if idx > maxContainerSlots {
			return nil, errs.Corruptf("64-bit Roaring bitmap: container number %d", idx)
		}
		n.idx = int(idx)
		if l := len(m.leaves); l > 0 && m.leaves[l-1].key >= n.key {
			return nil, errs.Corruptf("64-bit Roaring bitmap: keys do not ascend")
		}
		m.leaves = append(m.leaves, n)
		return n, nil
	}
	if n.typ > leafType || depth+plen >= keyBytes {
		return nil, errs.Corruptf("64-bit Roaring bitmap: node of type %d, prefix %d at depth %d", n.typ, plen, depth)
	}
	n.prefix = append([]byte(nil), r.take(plen)...)
	if r.fail {
		return nil, errs.Corruptf("64-bit Roaring bitmap: cut off in its tree")
	}
	for _, c := range n.prefix {
		key |= uint64(c) << (40 - 8*depth)
		depth++
	}
	switch n.typ {
	case node4Type, node16Type:
		p := r.take([]int{4, 16}[n.typ])
		if r.fail || count > len(p) {
			return nil, errs.Corruptf("64-bit Roaring bitmap: node of type %d with %d children", n.typ, count)
		}
		for i := range count {
			n.bytes = append(n.bytes, p[reversedAt(i, len(p))])
		}
	case node48Type:
		p := r.take(256)
		for k := 0; k < len(p); k++ {
			if s := p[k&^7|7-k&7]; s != noSlot {
				n.bytes, n.slots = append(n.bytes, byte(k)), append(n.slots, s)
			}
		}
	case node256Type:
		p := r.take(32)
		for k := 0; k < 256 && p != nil; k++ {
			if p[k>>3]>>(k&7)&1 == 1 {
				n.bytes = append(n.bytes, byte(k))
			}
		}
	}
	if r.fail || count == 0 || count != len(n.bytes) || !ascending(n.bytes) {
		return nil, errs.Corruptf("64-bit Roaring bitmap: node of type %d with %d children", n.typ, count)
	}
	for _, c := range n.bytes {
		child, err := m.readNode(r, depth+1, key|uint64(c)<<(40-8*depth))
		if err != nil {
			return nil, err
		}
		n.children = append(n.children, child)
	}
	return n, nil
}

func ascending(b []byte) bool {
	for i := 1; i < len(b); i++ {
		if b[i] <= b[i-1] {
			return false
		}
	}
	return true
}

// reversedAt is where byte i of the big-endian numbers is that hold the bytes of a small node, written little-endian.
func reversedAt(i, size int) int {
	if size == 4 {
		return 3 - i
	}
	return i&^7 | 7 - i&7
}

func parse64(b []byte) (*bitmap64, error) {
	m := &bitmap64{last: -1}
	r := &reader{b: b}
	switch tag := r.u8(); {
	case r.fail || tag > notEmptyTag:
		return nil, errs.Corruptf("64-bit Roaring bitmap: no or unknown tag")
	case tag == emptyTag:
		return m, nil
	}
	m.keys = r.u64()
	root, err := m.readNode(r, 0, 0)
	if err != nil {
		return nil, err
	}
	m.root = root
	if arrays := r.u32(); arrays != 1 {
		return nil, errs.Corruptf("64-bit Roaring bitmap: %d arrays of containers", arrays)
	}
	r.u8() // trim tag
	slots := r.u32()
	if slots > maxContainerSlots || int(slots) > len(r.b) {
		return nil, errs.Corruptf("64-bit Roaring bitmap: %d containers", slots)
	}
	m.containers = make([]container, slots)
	for i := range m.containers {
		switch r.u8() {
		case 0:
			continue
		case 1:
		default:
			return nil, errs.Corruptf("64-bit Roaring bitmap: bad mark before container %d", i)
		}
		kind := containerKind(r.u8())
		card := r.u32()
		if card > 1<<16 {
			return nil, errs.Corruptf("64-bit Roaring bitmap: container %d has %d values", i, card)
		}
		if m.containers[i], err = r.readContainer(kind, int(card)); err != nil {
			return nil, err
		}
	}
	r.u64() // number of containers
	first, second := int32(r.u32()), int32(r.u32())
	if r.fail || first != 0 || second < 0 || int(second) >= len(m.containers) {
		return nil, errs.Corruptf("64-bit Roaring bitmap: cut off, or its last container is %d/%d", first, second)
	}
	m.last = int(second)
	for _, l := range m.leaves {
		if l.idx >= len(m.containers) || m.containers[l.idx].raw == nil {
			return nil, errs.Corruptf("64-bit Roaring bitmap: key without container")
		}
	}
	return m, nil
}

// insert adds a key that is not there, below n at the depth, and returns what takes n's place.
func insertLeaf(n *artNode, leaf *artNode, depth int) *artNode {
	if n == nil {
		return leaf
	}
	if n.typ == leafType {
		common := 0
		for keyByte(n.key, depth+common) == keyByte(leaf.key, depth+common) {
			common++
		}
		b := &artNode{typ: node4Type}
		for i := range common {
			b.prefix = append(b.prefix, keyByte(leaf.key, depth+i))
		}
		b.insert(n, keyByte(n.key, depth+common))
		b.insert(leaf, keyByte(leaf.key, depth+common))
		return b
	}
	for i, c := range n.prefix {
		if keyByte(leaf.key, depth+i) != c {
			b := &artNode{typ: node4Type, prefix: n.prefix[:i:i]}
			b.insert(n, c)
			n.prefix = n.prefix[i+1:]
			b.insert(leaf, keyByte(leaf.key, depth+i))
			return b
		}
	}
	depth += len(n.prefix)
	c := keyByte(leaf.key, depth)
	if i := n.find(c); i < len(n.bytes) && n.bytes[i] == c {
		n.children[i] = insertLeaf(n.children[i], leaf, depth+1)
		return n
	}
	n.insert(leaf, c)
	return n
}

// find returns the place of a byte among the children.
func (n *artNode) find(c byte) int {
	return sort.Search(len(n.bytes), func(i int) bool { return n.bytes[i] >= c })
}

// insert adds a child, growing the node's type where it is full.
func (n *artNode) insert(child *artNode, c byte) {
	count := len(n.bytes)
	switch {
	case n.typ == node4Type && count == 4:
		n.typ = node16Type
	case n.typ == node16Type && count == 16:
		n.typ = node48Type
		n.slots = make([]byte, count)
		for i := range n.slots {
			n.slots[i] = byte(i)
		}
	case n.typ == node48Type && count == 48:
		n.typ, n.slots = node256Type, nil
	}
	i := n.find(c)
	n.bytes = append(n.bytes, 0)
	copy(n.bytes[i+1:], n.bytes[i:])
	n.bytes[i] = c
	n.children = append(n.children, nil)
	copy(n.children[i+1:], n.children[i:])
	n.children[i] = child
	if n.typ == node48Type {
		slot := n.freeSlot(count)
		n.slots = append(n.slots, 0)
		copy(n.slots[i+1:], n.slots[i:])
		n.slots[i] = slot
	}
}

// freeSlot is slot count if it is free, else the first free one.
func (n *artNode) freeSlot(count int) byte {
	var used [256]bool
	for _, s := range n.slots {
		used[s] = true
	}
	if !used[count] {
		return byte(count)
	}
	for s := range used {
		if !used[s] {
			return byte(s)
		}
	}
	return noSlot
}

// UnionRoaring64 unites two 64-bit Roaring bitmaps (aggregate function rbm64).
func UnionRoaring64(a, b []byte) ([]byte, error) {
	acc, err := parse64(a)
	if err != nil {
		return nil, err
	}
	in, err := parse64(b)
	if err != nil {
		return nil, err
	}
	at := map[uint64]int{}
	for _, l := range acc.leaves {
		at[l.key] = l.idx
	}
	for _, l := range in.leaves {
		c := in.containers[l.idx]
		if i, ok := at[l.key]; ok {
			acc.containers[i] = acc.containers[i].union(c)
			continue
		}
		acc.last++
		if acc.last == len(acc.containers) {
			grown := make([]container, max(len(acc.containers)+len(acc.containers)/2, acc.last+1))
			copy(grown, acc.containers)
			acc.containers = grown
		}
		acc.containers[acc.last] = c
		acc.keys++
		acc.root = insertLeaf(acc.root, &artNode{typ: leafType, key: l.key, idx: acc.last}, 0)
	}
	return acc.append(nil), nil
}

func (m *bitmap64) append(out []byte) []byte {
	if m.root == nil {
		return append(out, emptyTag)
	}
	out = append(out, notEmptyTag)
	out = binary.LittleEndian.AppendUint64(out, m.keys)
	out = m.root.append(out)
	out = binary.LittleEndian.AppendUint32(out, 1)
	out = append(out, notTrimmed)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(m.containers)))
	n := uint64(0)
	for _, c := range m.containers {
		if c.raw == nil {
			out = append(out, 0)
			continue
		}
		n++
		c = c.runOptimize(false)
		out = append(out, 1, byte(c.kind))
		out = binary.LittleEndian.AppendUint32(out, uint32(c.cardinality()))
		out = append(out, c.raw...)
	}
	out = binary.LittleEndian.AppendUint64(out, n)
	out = binary.LittleEndian.AppendUint32(out, 0)
	return binary.LittleEndian.AppendUint32(out, uint32(m.last))
}

func (n *artNode) append(out []byte) []byte {
	if n.typ == leafType {
		out = append(out, leafType, 0, 0, 0)
		for i := range keyBytes {
			out = append(out, keyByte(n.key, i))
		}
		return binary.LittleEndian.AppendUint64(out, uint64(n.idx))
	}
	out = append(out, n.typ)
	out = binary.LittleEndian.AppendUint16(out, uint16(len(n.bytes)))
	out = append(append(out, byte(len(n.prefix))), n.prefix...)
	switch n.typ {
	case node4Type, node16Type:
		body := make([]byte, []int{4, 16}[n.typ])
		for i, c := range n.bytes {
			body[reversedAt(i, len(body))] = c
		}
		out = append(out, body...)
	case node48Type:
		var body [256]byte
		for i := range body {
			body[i] = noSlot
		}
		for i, c := range n.bytes {
			body[c&^7|7-c&7] = n.slots[i]
		}
		out = append(out, body[:]...)
	default:
		var body [32]byte
		for _, c := range n.bytes {
			body[c>>3] |= 1 << (c & 7)
		}
		out = append(out, body[:]...)
	}
	for _, c := range n.children {
		out = c.append(out)
	}
	return out
}
