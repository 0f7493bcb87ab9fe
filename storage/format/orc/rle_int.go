package orc

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

const (
	// maxRunValues is the greatest number of values of a run of either version.
	maxRunValues = 512
	// maxRunBytes is more than the longest run: a patched one of 512 values of
	// 64 bits with base, header and 31 patches.
	maxRunBytes = 4 + 8 + maxRunValues*8 + 31*8 + 8
)

var errRun = errors.New("a malformed run of integers")

// intReader decodes the integer run lengths of versions 1 and 2.
type intReader struct {
	s      *stream
	v2     bool
	signed bool
	// run holds values decoded but not asked for yet: [pos, n).
	pos, n int
	run    [maxRunValues]int64
}

// read fills dst.
func (r *intReader) read(dst []int64) error {
	for len(dst) > 0 {
		if r.pos < r.n {
			k := copy(dst, r.run[r.pos:r.n])
			r.pos += k
			dst = dst[k:]
			continue
		}
		if len(dst) >= maxRunValues {
			k, err := r.next((*[maxRunValues]int64)(dst))
			if err != nil {
				return err
			}
			dst = dst[k:]
			continue
		}
		k, err := r.next(&r.run)
		if err != nil {
			return err
		}
		r.pos, r.n = 0, k
	}
	return nil
}

func (r *intReader) skip(n int) error {
	for n > 0 {
		if r.pos == r.n {
			k, err := r.next(&r.run)
			if err != nil {
				return err
			}
			r.pos, r.n = 0, k
		}
		k := min(n, r.n-r.pos)
		r.pos += k
		n -= k
	}
	return nil
}

func (r *intReader) positions() int { return r.s.positions() + 1 }

func (r *intReader) seek(p []uint64) error {
	k := r.s.positions()
	r.pos, r.n = 0, 0
	if err := r.s.seek(p[:k]); err != nil {
		return err
	}
	if p[k] > maxRunValues {
		return errRun
	}
	return r.skip(int(p[k]))
}

func (r *intReader) source() *stream { return r.s }

// next decodes one run and returns its length, at least 1.
func (r *intReader) next(dst *[maxRunValues]int64) (int, error) {
	w, err := r.s.fill(maxRunBytes)
	if err != nil {
		return 0, err
	}
	if len(w) == 0 {
		return 0, errTruncated
	}
	var n, used int
	if !r.v2 {
		n, used, err = r.runV1(dst, w)
	} else {
		switch w[0] >> 6 {
		case 0:
			n, used, err = r.shortRepeat(dst, w)
		case 1:
			n, used, err = r.direct(dst, w)
		case 2:
			n, used, err = r.patchedBase(dst, w)
		default:
			n, used, err = r.delta(dst, w)
		}
	}
	if err != nil {
		return 0, err
	}
	r.s.take(used)
	return n, nil
}

// varint reads a base-128 number; n is 0 where it is cut off, negative where
// it is too long.
func varint(b []byte) (v uint64, n int) { return binary.Uvarint(b) }

// runV1 decodes a run of version 1: n+3 values from a base in steps of a
// signed byte, or -n varints.
func (r *intReader) runV1(dst *[maxRunValues]int64, w []byte) (n, used int, err error) {
	c := int8(w[0])
	if c < 0 {
		n, used = -int(c), 1
		for i := range n {
			v, k := varint(w[used:])
			if k <= 0 {
				return 0, 0, errTruncated
			}
			used += k
			if r.signed {
				dst[i] = zigzag(v)
			} else {
				dst[i] = int64(v)
			}
		}
		return n, used, nil
	}
	if len(w) < 3 {
		return 0, 0, errTruncated
	}
	n = int(c) + 3
	step := int64(int8(w[1]))
	u, k := varint(w[2:])
	if k <= 0 {
		return 0, 0, errTruncated
	}
	v := int64(u)
	if r.signed {
		v = zigzag(u)
	}
	for i := range n {
		dst[i] = v
		v += step
	}
	return n, 2 + k, nil
}

func (r *intReader) shortRepeat(dst *[maxRunValues]int64, w []byte) (n, used int, err error) {
	width := int(w[0]>>3&7) + 1
	n = int(w[0]&7) + 3
	if len(w) < 1+width {
		return 0, 0, errTruncated
	}
	var u uint64
	for _, b := range w[1 : 1+width] {
		u = u<<8 | uint64(b)
	}
	v := int64(u)
	if r.signed {
		v = zigzag(u)
	}
	for i := range n {
		dst[i] = v
	}
	return n, 1 + width, nil
}

// bitWidth decodes the 5-bit width code of direct and patched runs.
func bitWidth(code byte) int {
	switch {
	case code <= 23:
		return int(code) + 1
	case code <= 27:
		return 26 + 2*int(code-24)
	}
	return 40 + 8*int(code-28)
}

// closestWidth rounds a width up to one that has a code.
func closestWidth(n int) int {
	switch {
	case n <= 24:
		return max(n, 1)
	case n <= 32:
		return (n + 1) &^ 1
	}
	return (n + 7) &^ 7
}

func (r *intReader) direct(dst *[maxRunValues]int64, w []byte) (n, used int, err error) {
	if len(w) < 2 {
		return 0, 0, errTruncated
	}
	width := bitWidth(w[0] >> 1 & 31)
	n = (int(w[0]&1)<<8 | int(w[1])) + 1
	size := (n*width + 7) / 8
	if len(w) < 2+size {
		return 0, 0, errTruncated
	}
	unpack(dst[:n], w[2:], width)
	if r.signed {
		for i, v := range dst[:n] {
			dst[i] = zigzag(uint64(v))
		}
	}
	return n, 2 + size, nil
}

func (r *intReader) patchedBase(dst *[maxRunValues]int64, w []byte) (n, used int, err error) {
	if len(w) < 4 {
		return 0, 0, errTruncated
	}
	width := bitWidth(w[0] >> 1 & 31)
	n = (int(w[0]&1)<<8 | int(w[1])) + 1
	baseBytes := int(w[2]>>5) + 1
	patchWidth := bitWidth(w[2] & 31)
	gapWidth := int(w[3]>>5) + 1
	patches := int(w[3] & 31)
	entryWidth := closestWidth(patchWidth + gapWidth)
	used = 4
	size := (n*width + 7) / 8
	patchSize := (patches*entryWidth + 7) / 8
	if patchWidth+gapWidth > 64 {
		return 0, 0, errRun
	}
	if len(w) < used+baseBytes+size+patchSize {
		return 0, 0, errTruncated
	}
	// The base is sign and magnitude.
	var u uint64
	for _, b := range w[used : used+baseBytes] {
		u = u<<8 | uint64(b)
	}
	used += baseBytes
	sign := uint64(1) << (baseBytes*8 - 1)
	base := int64(u &^ sign)
	if u&sign != 0 {
		base = -base
	}
	unpack(dst[:n], w[used:], width)
	used += size
	var list [32]int64
	unpack(list[:patches], w[used:], entryWidth)
	used += patchSize
	at := 0
	for _, e := range list[:patches] {
		gap := int(uint64(e) >> patchWidth)
		patch := uint64(e) & (1<<patchWidth - 1)
		at += gap
		if gap == 255 && patch == 0 {
			continue // a gap longer than 255
		}
		if at >= n {
			return 0, 0, errRun
		}
		if width < 64 {
			dst[at] |= int64(patch << width)
		}
	}
	for i := range dst[:n] {
		dst[i] += base
	}
	return n, used, nil
}

func (r *intReader) delta(dst *[maxRunValues]int64, w []byte) (n, used int, err error) {
	if len(w) < 2 {
		return 0, 0, errTruncated
	}
	width := 0
	if code := w[0] >> 1 & 31; code != 0 {
		width = bitWidth(code)
	}
	n = (int(w[0]&1)<<8 | int(w[1])) + 1
	used = 2
	u, k := varint(w[used:])
	if k <= 0 {
		return 0, 0, errTruncated
	}
	used += k
	v := int64(u)
	if r.signed {
		v = zigzag(u)
	}
	u, k = varint(w[used:])
	if k <= 0 {
		return 0, 0, errTruncated
	}
	used += k
	step := zigzag(u)
	dst[0] = v
	if width == 0 {
		for i := 1; i < n; i++ {
			v += step
			dst[i] = v
		}
		return n, used, nil
	}
	if n < 2 {
		return n, used, nil
	}
	v += step
	dst[1] = v
	size := ((n-2)*width + 7) / 8
	if len(w) < used+size {
		return 0, 0, errTruncated
	}
	unpack(dst[2:n], w[used:], width)
	if step < 0 {
		for i := 2; i < n; i++ {
			v -= dst[i]
			dst[i] = v
		}
	} else {
		for i := 2; i < n; i++ {
			v += dst[i]
			dst[i] = v
		}
	}
	return n, used + size, nil
}

// unpack reads len(dst) big-endian bit-packed values of width 1..64; src has
// at least their bytes.
func unpack(dst []int64, src []byte, width int) {
	switch width {
	case 8:
		for i, b := range src[:len(dst)] {
			dst[i] = int64(b)
		}
		return
	case 16:
		for i := range dst {
			dst[i] = int64(binary.BigEndian.Uint16(src[i*2:]))
		}
		return
	case 32:
		for i := range dst {
			dst[i] = int64(binary.BigEndian.Uint32(src[i*4:]))
		}
		return
	case 64:
		for i := range dst {
			dst[i] = int64(binary.BigEndian.Uint64(src[i*8:]))
		}
		return
	}
	// Widths up to 56 bits: a value lies within the 8 bytes from its first.
	i, bit := 0, 0
	shift := 64 - uint(width)
	for ; i < len(dst) && bit>>3+8 <= len(src); i++ {
		v := binary.BigEndian.Uint64(src[bit>>3:])
		dst[i] = int64(v << (uint(bit) & 7) >> shift)
		bit += width
	}
	for ; i < len(dst); i++ {
		var tail [8]byte
		copy(tail[:], src[bit>>3:])
		v := binary.BigEndian.Uint64(tail[:])
		dst[i] = int64(v << (uint(bit) & 7) >> shift)
		bit += width
	}
}

// fitsBits reports whether every value is a signed integer of the bits.
func fitsBits(vals []int64, width int) bool {
	var acc int64
	for _, v := range vals {
		acc |= v ^ v>>63
	}
	return bits.Len64(uint64(acc)) < width
}
