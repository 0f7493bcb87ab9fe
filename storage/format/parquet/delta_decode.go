package parquet

import (
	"encoding/binary"
	"errors"

	"github.com/parquet-go/bitpack"
)

// Limits of the delta encodings.
const (
	// maxDeltaBlock bounds the values of a DELTA_BINARY_PACKED block.
	maxDeltaBlock = 1 << 20
	// maxDeltaValues bounds the lengths that a page of DELTA_LENGTH_BYTE_ARRAY
	// or DELTA_BYTE_ARRAY may hold, as they are decoded all at once.
	maxDeltaValues = 1 << 24
)

var errDelta = errors.New("the page has a malformed delta encoding")

// deltaReader decodes DELTA_BINARY_PACKED, any number of values at a time.
// Arithmetic wraps, so 32-bit columns take the low half of each value.
type deltaReader struct {
	src    []byte
	left   int // values not yet taken
	first  bool
	last   int64
	min    int64
	widths []byte
	// mini holds the decoded deltas of the current miniblock from miniPos on.
	mini    []int64
	miniPos int
	perMini int
	minis   int
	// inBlock is the number of values that the current block still has to give
	// beyond mini; the last block may lack miniblocks.
	nextMini int
	widthBuf [64]byte
}

// reset reads the header.
func (d *deltaReader) reset(src []byte) error {
	r := varints{b: src}
	block, minis, total, first := r.next(), r.next(), r.next(), r.next()
	if r.bad || block == 0 || block > maxDeltaBlock || minis == 0 || minis > uint64(len(d.widthBuf)) || block%minis != 0 || (block/minis)%8 != 0 || total > 1<<31 {
		return errDelta
	}
	mini := d.mini
	*d = deltaReader{src: r.b, left: int(total), first: true, last: unzigzag(first), perMini: int(block / minis), minis: int(minis)}
	if cap(mini) < d.perMini {
		mini = make([]int64, d.perMini)
	}
	d.mini = mini[:0]
	d.nextMini = d.minis
	return nil
}

func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// varints reads unsigned varints.
type varints struct {
	b   []byte
	bad bool
}

func (v *varints) next() uint64 {
	x, n := binary.Uvarint(v.b)
	if n <= 0 {
		v.bad = true
		v.b = nil
		return 0
	}
	v.b = v.b[n:]
	return x
}

// loadMini decodes the next miniblock.
func (d *deltaReader) loadMini() error {
	if d.nextMini == d.minis {
		r := varints{b: d.src}
		d.min = unzigzag(r.next())
		if r.bad || len(r.b) < d.minis {
			return errDelta
		}
		d.widths = append(d.widthBuf[:0], r.b[:d.minis]...)
		d.src = r.b[d.minis:]
		d.nextMini = 0
	}
	w := uint(d.widths[d.nextMini])
	d.nextMini++
	size := d.perMini * int(w) / 8
	if w > 64 {
		return errDelta
	}
	n := d.perMini
	src := d.src
	if size > len(src) {
		// The last miniblock may be cut behind its last value.
		if need := min(d.left, n); (need*int(w)+7)/8 > len(src) {
			return errDelta
		}
		n = min(d.left, n)
		size = len(src)
	}
	d.src = src[size:]
	d.mini = d.mini[:n]
	d.miniPos = 0
	unpack64(d.mini, src[:size], w, d.min)
	return nil
}

// unpack64 unpacks values of w bits and adds base to each.
func unpack64(dst []int64, src []byte, w uint, base int64) {
	if w == 0 {
		for i := range dst {
			dst[i] = base
		}
		return
	}
	if w <= 32 && cap(src) >= bitpack.ByteCount(w*uint(len(dst))+8*bitpack.PaddingInt64) {
		bitpack.Unpack(dst, src, w)
		for i := range dst {
			dst[i] += base
		}
		return
	}
	at := 0
	mask := ^uint64(0) >> (64 - w)
	for i := range dst {
		v := loadBits(src, at)
		if w > 57 {
			if off := uint(at) & 7; off != 0 {
				// Nine bytes are needed; take the last from behind the eight.
				j := at>>3 + 8
				if j < len(src) {
					v |= uint64(src[j]) << (64 - off)
				}
			}
		}
		dst[i] = base + int64(v&mask)
		at += int(w)
	}
}

// take decodes the next len(dst) values.
func (d *deltaReader) take(dst []int64) error {
	if len(dst) > d.left {
		return errRunEnd
	}
	if d.first && len(dst) > 0 {
		dst[0] = d.last
		d.first = false
		d.left--
		dst = dst[1:]
	}
	for len(dst) > 0 {
		if d.miniPos == len(d.mini) {
			if err := d.loadMini(); err != nil {
				return err
			}
		}
		mini := d.mini[d.miniPos:]
		n := min(len(mini), len(dst))
		last := d.last
		for i, x := range mini[:n] {
			last += x
			dst[i] = last
		}
		d.last = last
		d.miniPos += n
		d.left -= n
		dst = dst[n:]
	}
	return nil
}

// deltaPiece is the number of values that are narrowed at a time.
const deltaPiece = 256

// fixed decodes n values to little-endian bytes of the width 4 or 8.
func (d *deltaReader) fixed(dst []byte, n, width int) error {
	var buf [deltaPiece]int64
	for at := 0; at < n; {
		part := buf[:min(n-at, deltaPiece)]
		if err := d.take(part); err != nil {
			return err
		}
		if width == 4 {
			for i, x := range part {
				binary.LittleEndian.PutUint32(dst[(at+i)*4:], uint32(x))
			}
		} else {
			for i, x := range part {
				binary.LittleEndian.PutUint64(dst[(at+i)*8:], uint64(x))
			}
		}
		at += len(part)
	}
	return nil
}

// skip passes over n values.
func (d *deltaReader) skip(n int) error {
	var buf [deltaPiece]int64
	for n > 0 {
		k := min(n, deltaPiece)
		if err := d.take(buf[:k]); err != nil {
			return err
		}
		n -= k
	}
	return nil
}

// lengths decodes a whole block of not negative lengths at the start of src,
// at most limit, and returns what follows it.
func (d *deltaReader) lengths(dst []int32, src []byte, limit int) (out []int32, rest []byte, err error) {
	if err := d.reset(src); err != nil {
		return nil, nil, err
	}
	if d.left > limit || d.left > maxDeltaValues {
		return nil, nil, errDelta
	}
	n := d.left
	if cap(dst) < n {
		dst = make([]int32, n)
	}
	dst = dst[:n]
	var buf [deltaPiece]int64
	for at := 0; at < n; {
		part := buf[:min(n-at, deltaPiece)]
		if err := d.take(part); err != nil {
			return nil, nil, err
		}
		for i, v := range part {
			if v < 0 || v > maxPageBytes {
				return nil, nil, errDelta
			}
			dst[at+i] = int32(v)
		}
		at += len(part)
	}
	// Miniblocks of the last block without values take no bytes, whatever their width says.
	return dst, d.src, nil
}
