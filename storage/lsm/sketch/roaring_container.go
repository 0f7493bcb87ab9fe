package sketch

import (
	"encoding/binary"
	"math/bits"

	"github.com/tributarydb/tributary/storage/errs"
)

// containerKind is the form of a container of up to 65536 16-bit values; the
// numbers are those of the 64-bit format.
type containerKind byte

const (
	runContainer    containerKind = 0
	bitmapContainer containerKind = 1
	arrayContainer  containerKind = 2
)

const (
	// maxArraySize is the greatest cardinality of an array container.
	maxArraySize = 4096
	bitmapBytes  = 8192
)

// bitset is a set of 16-bit values.
type bitset [1024]uint64

func (c *bitset) cardinality() int {
	n := 0
	for _, w := range c {
		n += bits.OnesCount64(w)
	}
	return n
}

// runs counts the stretches of consecutive values.
func (c *bitset) runs() int {
	n := 0
	carry := uint64(0) // the last bit of the word before
	for _, w := range c {
		n += bits.OnesCount64(w &^ (w<<1 | carry))
		carry = w >> 63
	}
	return n
}

func runBytes(runs int) int { return 2 + 4*runs }

func (c *bitset) add(x uint16) { c[x>>6] |= 1 << (x & 63) }

// addRange adds from..to, both included.
func (c *bitset) addRange(from, to int) {
	for x := from; x <= to; x++ {
		if x&63 == 0 && x+63 <= to {
			c[x>>6] = ^uint64(0)
			x += 63
			continue
		}
		c.add(uint16(x))
	}
}

// each calls f for every value, ascending.
func (c *bitset) each(f func(x uint16)) {
	for i, w := range c {
		for w != 0 {
			f(uint16(i<<6 + bits.TrailingZeros64(w)))
			w &= w - 1
		}
	}
}

// eachRun calls f for every stretch of consecutive values: its first value and its length - 1.
func (c *bitset) eachRun(f func(start, more uint16)) {
	start, last := -1, -2
	c.each(func(x uint16) {
		if int(x) != last+1 {
			if start >= 0 {
				f(uint16(start), uint16(last-start))
			}
			start = int(x)
		}
		last = int(x)
	})
	if start >= 0 {
		f(uint16(start), uint16(last-start))
	}
}

// container is a set of 16-bit values as it is serialised. Its form is kept
// because the Java library's result depends on it.
type container struct {
	kind containerKind
	raw  []byte
}

// fill adds the container's values to b.
func (c container) fill(b *bitset) {
	p := c.raw
	switch c.kind {
	case runContainer:
		for p = p[2:]; len(p) >= 4; p = p[4:] {
			from := int(binary.LittleEndian.Uint16(p))
			b.addRange(from, from+int(binary.LittleEndian.Uint16(p[2:])))
		}
	case arrayContainer:
		for ; len(p) >= 2; p = p[2:] {
			b.add(binary.LittleEndian.Uint16(p))
		}
	default:
		for i := range b {
			b[i] |= binary.LittleEndian.Uint64(p[8*i:])
		}
	}
}

// newContainer serialises a set in the form of the kind.
func newContainer(kind containerKind, b *bitset) container {
	p := []byte{} // not nil: nil marks a free place
	switch kind {
	case runContainer:
		p = binary.LittleEndian.AppendUint16(p, uint16(b.runs()))
		b.eachRun(func(start, more uint16) {
			p = binary.LittleEndian.AppendUint16(p, start)
			p = binary.LittleEndian.AppendUint16(p, more)
		})
	case arrayContainer:
		b.each(func(x uint16) { p = binary.LittleEndian.AppendUint16(p, x) })
	default:
		for _, w := range b {
			p = binary.LittleEndian.AppendUint64(p, w)
		}
	}
	return container{kind, p}
}

// cardinality counts the values.
func (c container) cardinality() int {
	if c.kind == arrayContainer {
		return len(c.raw) / 2
	}
	var b bitset
	c.fill(&b)
	return b.cardinality()
}

// union unites two containers, in the form that Container.ior gives.
func (c container) union(o container) container {
	var b bitset
	c.fill(&b)
	o.fill(&b)
	kind := runContainer
	switch {
	case c.kind == bitmapContainer || o.kind == bitmapContainer:
		kind = bitmapContainer
	case c.kind == arrayContainer && o.kind == arrayContainer:
		kind = arrayContainer
		if b.cardinality() > maxArraySize {
			kind = bitmapContainer
		}
	case c.kind == arrayContainer:
		kind = b.efficientRun()
	default:
		if bitmapBytes <= runBytes(b.runs()) {
			kind = bitmapContainer
		}
	}
	return newContainer(kind, &b)
}

// efficientRun is the form that a run container of the set takes to be small (RunContainer.toEfficientContainer).
func (c *bitset) efficientRun() containerKind {
	n := c.cardinality()
	if runBytes(c.runs()) <= min(bitmapBytes, 2*n+2) {
		return runContainer
	}
	if n > maxArraySize {
		return bitmapContainer
	}
	return arrayContainer
}

// runOptimize makes a container of another form a run container if that is
// smaller (Container.runOptimize); runs32 says that run containers may change as well.
func (c container) runOptimize(runs32 bool) container {
	var b bitset
	c.fill(&b)
	kind := c.kind
	switch c.kind {
	case runContainer:
		if runs32 {
			kind = b.efficientRun()
		}
	case arrayContainer:
		if 2*b.cardinality() > runBytes(b.runs()) {
			kind = runContainer
		}
	default:
		if bitmapBytes > runBytes(b.runs()) {
			kind = runContainer
		}
	}
	if kind == c.kind {
		return c
	}
	return newContainer(kind, &b)
}

// reader reads little-endian numbers, remembering whether the bytes ended.
type reader struct {
	b    []byte
	fail bool
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.fail, r.b = true, nil
		return nil
	}
	p := r.b[:n]
	r.b = r.b[n:]
	return p
}

func (r *reader) u8() byte {
	if p := r.take(1); p != nil {
		return p[0]
	}
	return 0
}

func (r *reader) u16() uint16 {
	if p := r.take(2); p != nil {
		return binary.LittleEndian.Uint16(p)
	}
	return 0
}

func (r *reader) u32() uint32 {
	if p := r.take(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

func (r *reader) u64() uint64 {
	if p := r.take(8); p != nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}

// readContainer reads a container's content, which stays part of the reader's bytes.
func (r *reader) readContainer(kind containerKind, cardinality int) (container, error) {
	c := container{kind: kind}
	switch kind {
	case runContainer:
		all := r.b
		n := 2 + 4*int(r.u16())
		r.b = all
		c.raw = r.take(n)
		for p := c.raw[min(2, len(c.raw)):]; len(p) >= 4; p = p[4:] {
			if int(binary.LittleEndian.Uint16(p))+int(binary.LittleEndian.Uint16(p[2:])) > 0xffff {
				return c, errs.Corruptf("Roaring bitmap: a run goes beyond 65535")
			}
		}
	case arrayContainer:
		if cardinality < 0 || cardinality > maxArraySize {
			return c, errs.Corruptf("Roaring bitmap: an array container of %d values", cardinality)
		}
		c.raw = r.take(2 * cardinality)
	case bitmapContainer:
		c.raw = r.take(bitmapBytes)
	default:
		return c, errs.Corruptf("Roaring bitmap: container of kind %d", kind)
	}
	if r.fail {
		return c, errs.Corruptf("Roaring bitmap: cut off")
	}
	return c, nil
}
