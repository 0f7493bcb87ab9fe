package orc

import (
	"encoding/binary"
	"math/bits"
)

const (
	// minRepeat is the number of equal values that become a run of their own.
	minRepeat = 3
	// maxShortRepeat is the longest short repeat.
	maxShortRepeat = 10
	// maxPatchBase bounds the base of patched runs: it has a sign bit besides.
	maxPatchBase = 1 << 56
	// maxGap is the greatest gap of a patch.
	maxGap = 255
)

// intWriter encodes integer runs of version 2. Values wait until their run is complete.
type intWriter struct {
	s      *outStream
	signed bool
	// aligned takes widths of whole bytes where there are more than 8 bits (orc.encoding.strategy SPEED).
	aligned bool
	// n values wait; the last rep of them are equal. Where rep is minRepeat or more, all of them are.
	n, rep int
	wait   [maxRunValues]int64
	work   [maxRunValues]uint64
}

func (w *intWriter) write(vals []int64) {
	for _, v := range vals {
		w.add(v)
	}
	w.s.settle()
}

// repeat writes v count times.
func (w *intWriter) repeat(v int64, count int) {
	for count > 0 {
		if w.rep < minRepeat || w.wait[0] != v {
			w.add(v)
			count--
			continue
		}
		k := min(count, maxRunValues-w.n)
		w.n, w.rep, count = w.n+k, w.rep+k, count-k
		w.wait[w.n-1] = v
		if w.n == maxRunValues {
			w.flush()
		}
	}
	w.s.settle()
}

func (w *intWriter) add(v int64) {
	if w.n > 0 && v == w.wait[w.n-1] {
		w.rep++
		w.wait[w.n] = v
		w.n++
		if w.rep == minRepeat && w.n > minRepeat {
			w.varied(w.wait[:w.n-minRepeat])
			w.wait[0], w.wait[1], w.wait[2] = v, v, v
			w.n = minRepeat
		}
	} else {
		if w.rep >= minRepeat {
			w.flush()
		}
		w.wait[w.n] = v
		w.n++
		w.rep = 1
	}
	if w.n == maxRunValues {
		w.flush()
	}
}

// flush ends the run.
func (w *intWriter) flush() {
	switch {
	case w.rep >= minRepeat:
		w.repeated(w.wait[0], w.n)
	case w.n > 0:
		w.varied(w.wait[:w.n])
	}
	w.n, w.rep = 0, 0
	w.s.settle()
}

func (w *intWriter) position(dst []uint64) []uint64 {
	return append(w.s.position(dst), uint64(w.n))
}

// coded is a value as it is stored.
func (w *intWriter) coded(v int64) uint64 {
	if w.signed {
		return toZigzag(v)
	}
	return uint64(v)
}

// toZigzag is the reverse of zigzag.
func toZigzag(v int64) uint64 { return uint64(v)<<1 ^ uint64(v>>63) }

// header appends the two bytes of all runs but short repeats.
func (w *intWriter) header(mode, widthCode, n int) {
	w.s.buf = append(w.s.buf, byte(mode<<6|widthCode<<1|(n-1)>>8), byte(n-1))
}

// repeated writes n equal values: a short repeat, or a delta run of step 0.
func (w *intWriter) repeated(v int64, n int) {
	u := w.coded(v)
	if n > maxShortRepeat {
		w.header(3, 0, n)
		w.s.buf = append(binary.AppendUvarint(w.s.buf, u), 0)
		return
	}
	size := max((bits.Len64(u)+7)/8, 1)
	w.s.buf = append(w.s.buf, byte((size-1)<<3|(n-minRepeat)))
	for i := size - 1; i >= 0; i-- {
		w.s.buf = append(w.s.buf, byte(u>>(8*i)))
	}
}

// widthCode is the 5-bit code of a width that closestWidth gave.
func widthCode(width int) int {
	switch {
	case width <= 24:
		return width - 1
	case width <= 32:
		return 24 + (width-26)/2
	}
	return 28 + (width-40)/8
}

// packedWidth is the width that values of n bits are stored with.
func (w *intWriter) packedWidth(n int) int {
	if w.aligned && n > 2 {
		switch {
		case n <= 4:
			return 4
		default:
			return (n + 7) &^ 7
		}
	}
	return closestWidth(n)
}

// varied writes values that do not just repeat, as a delta, patched or direct run.
func (w *intWriter) varied(v []int64) {
	n := len(v)
	if n <= minRepeat {
		w.direct(v)
		return
	}
	least, most := v[0], v[0]
	up, down, steady := true, true, true
	first := v[1] - v[0]
	var deltas uint64 // all steps from the second one joined by or
	for i := 1; i < n; i++ {
		x, d := v[i], v[i]-v[i-1]
		least, most = min(least, x), max(most, x)
		up, down = up && x >= v[i-1], down && x <= v[i-1]
		steady = steady && d == first
		if i > 1 {
			if d < 0 {
				d = -d
			}
			deltas |= uint64(d)
			w.work[i-2] = uint64(d)
		}
	}
	if most-least < 0 { // differences do not fit
		w.direct(v)
		return
	}
	if steady || first != 0 && (up || down) {
		width, code := 0, 0
		if !steady {
			width = max(w.packedWidth(bits.Len64(deltas)), 2) // code 0 says that there are no bits at all
			code = widthCode(width)
		}
		w.header(3, code, n)
		w.s.buf = binary.AppendUvarint(w.s.buf, w.coded(v[0]))
		w.s.buf = binary.AppendUvarint(w.s.buf, toZigzag(first))
		if !steady {
			w.s.buf = pack(w.s.buf, w.work[:n-2], width)
		}
		return
	}
	if !w.patched(v, least) {
		w.direct(v)
	}
}

func (w *intWriter) direct(v []int64) {
	var all uint64
	out := w.work[:len(v)]
	for i, x := range v {
		out[i] = w.coded(x)
		all |= out[i]
	}
	width := w.packedWidth(bits.Len64(all))
	w.header(1, widthCode(width), len(v))
	w.s.buf = pack(w.s.buf, out, width)
}

// widths counts values by their number of bits.
type widths [65]int

// percentile is the width that all but the greatest skip values fit.
func (h *widths) percentile(skip int) int {
	for i := len(h) - 1; i > 0; i-- {
		if skip -= h[i]; skip < 0 {
			return closestWidth(i)
		}
	}
	return 1
}

// patched writes a run of which few values need many more bits than the rest:
// these are cut off and listed. It reports false where that gains nothing.
func (w *intWriter) patched(v []int64, least int64) bool {
	n := len(v)
	var h widths
	for _, x := range v {
		h[bits.Len64(w.coded(x))]++
	}
	if h.percentile(0)-h.percentile(n/10) <= 1 || least <= -maxPatchBase || least >= maxPatchBase {
		return false
	}
	h = widths{}
	reduced := w.work[:n]
	for i, x := range v {
		reduced[i] = uint64(x - least)
		h[bits.Len64(reduced[i])]++
	}
	most, width := h.percentile(0), h.percentile(n/20)
	if most == width {
		return false
	}
	patchWidth := closestWidth(most - width)
	if patchWidth == 64 { // a gap must fit beside it
		patchWidth, width = 56, 8
	}
	type patch struct{ gap, bits uint64 }
	var list [32]patch
	patches, last, widest := 0, 0, 0
	for i, x := range reduced {
		if x>>width == 0 {
			continue
		}
		gap := i - last
		last = i
		for gap > maxGap {
			list[patches] = patch{maxGap, 0}
			patches++
			widest = maxGap
			gap -= maxGap
		}
		list[patches] = patch{uint64(gap), x >> width}
		patches++
		widest = max(widest, gap)
		reduced[i] = x & (1<<width - 1)
	}
	gapWidth := max(bits.Len(uint(widest)), 1)
	magnitude, sign := uint64(least), uint64(0)
	if least < 0 {
		magnitude, sign = uint64(-least), 1
	}
	baseBytes := bits.Len64(magnitude)/8 + 1 // with the sign
	w.header(2, widthCode(width), n)
	w.s.buf = append(w.s.buf, byte((baseBytes-1)<<5|widthCode(patchWidth)), byte((gapWidth-1)<<5|patches))
	base := magnitude | sign<<(baseBytes*8-1)
	for i := baseBytes - 1; i >= 0; i-- {
		w.s.buf = append(w.s.buf, byte(base>>(8*i)))
	}
	w.s.buf = pack(w.s.buf, reduced, width)
	var entries [32]uint64
	for i, p := range list[:patches] {
		entries[i] = p.gap<<patchWidth | p.bits
	}
	w.s.buf = pack(w.s.buf, entries[:patches], closestWidth(patchWidth+gapWidth))
	return true
}

// pack appends values as big-endian bits of the width 1..64.
func pack(dst []byte, vals []uint64, width int) []byte {
	switch width {
	case 8:
		for _, v := range vals {
			dst = append(dst, byte(v))
		}
		return dst
	case 16:
		for _, v := range vals {
			dst = binary.BigEndian.AppendUint16(dst, uint16(v))
		}
		return dst
	case 24:
		for _, v := range vals {
			dst = append(dst, byte(v>>16), byte(v>>8), byte(v))
		}
		return dst
	case 32:
		for _, v := range vals {
			dst = binary.BigEndian.AppendUint32(dst, uint32(v))
		}
		return dst
	case 40, 48, 56:
		for _, v := range vals {
			var b [8]byte
			binary.BigEndian.PutUint64(b[:], v)
			dst = append(dst, b[8-width/8:]...)
		}
		return dst
	case 64:
		for _, v := range vals {
			dst = binary.BigEndian.AppendUint64(dst, v)
		}
		return dst
	}
	// Up to 32 bits join what is left of the byte before.
	var acc uint64
	have := 0
	for _, v := range vals {
		acc = acc<<width | v
		have += width
		for have >= 8 {
			have -= 8
			dst = append(dst, byte(acc>>have))
		}
	}
	if have > 0 {
		dst = append(dst, byte(acc<<(8-have)))
	}
	return dst
}
