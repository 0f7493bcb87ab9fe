package parquet

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/parquet-go/bitpack"
)

var (
	errRunEnd  = errors.New("the page's encoded runs end early")
	errRunForm = errors.New("the page has a malformed run")
)

// hybrid decodes the RLE / bit-packed hybrid encoding of levels, dictionary
// codes and booleans, any number of values at a time.
type hybrid struct {
	src   []byte // what follows the current run
	width uint
	// rle is the number of values left in the current repeated run.
	rle   int
	value uint32
	// packed is the number of values left in the current bit-packed run;
	// pos values of run have been taken.
	packed, pos int
	run         []byte
}

// reset starts decoding src, values of width bits (0..32).
func (h *hybrid) reset(src []byte, width uint) {
	*h = hybrid{src: src, width: width}
}

// resetPacked starts decoding plain LSB-first bits: one packed run of the whole of src.
func (h *hybrid) resetPacked(src []byte, width uint) {
	*h = hybrid{width: width, run: src, packed: len(src) * 8 / int(width)}
}

// load reads the next run's header.
func (h *hybrid) load() error {
	for {
		if len(h.src) == 0 {
			if h.width == 0 {
				h.rle, h.value = 1<<30, 0
				return nil
			}
			return errRunEnd
		}
		x, n := binary.Uvarint(h.src)
		if n <= 0 || x > 1<<33 {
			return errRunForm
		}
		h.src = h.src[n:]
		if x&1 == 0 {
			size := int(h.width+7) / 8
			if len(h.src) < size {
				return errRunEnd
			}
			v := uint32(0)
			for i := size - 1; i >= 0; i-- {
				v = v<<8 | uint32(h.src[i])
			}
			if h.width < 32 && v>>h.width != 0 {
				return errRunForm
			}
			h.src = h.src[size:]
			h.rle, h.value = int(x>>1), v
		} else {
			groups := int(x >> 1)
			size := groups * int(h.width)
			h.packed = groups * 8
			if size > len(h.src) {
				// Writers may cut the padding of the last group.
				size = len(h.src)
				if h.width > 0 {
					h.packed = size * 8 / int(h.width)
				}
			}
			h.run, h.pos = h.src[:size], 0
			h.src = h.src[size:]
			if h.width == 0 {
				h.rle, h.value, h.packed = h.packed, 0, 0
			}
		}
		if h.rle > 0 || h.packed > 0 {
			return nil
		}
	}
}

// decode fills dst.
func (h *hybrid) decode(dst []uint32) error {
	for len(dst) > 0 {
		switch {
		case h.rle > 0:
			n := min(h.rle, len(dst))
			fill(dst[:n], h.value)
			h.rle -= n
			dst = dst[n:]
		case h.packed > 0:
			n := min(h.packed, len(dst))
			unpackBits(dst[:n], h.run, h.pos, h.width)
			h.packed -= n
			h.pos += n
			dst = dst[n:]
		default:
			if err := h.load(); err != nil {
				return err
			}
		}
	}
	return nil
}

func fill(dst []uint32, v uint32) {
	for i := range dst {
		dst[i] = v
	}
}

// skip passes over n values.
func (h *hybrid) skip(n int) error {
	for n > 0 {
		switch {
		case h.rle > 0:
			k := min(h.rle, n)
			h.rle -= k
			n -= k
		case h.packed > 0:
			k := min(h.packed, n)
			h.packed -= k
			h.pos += k
			n -= k
		default:
			if err := h.load(); err != nil {
				return err
			}
		}
	}
	return nil
}

// allOnes consumes n values of width 1 if they are known to be ones without
// looking at each, which is how a column without nulls has its levels.
func (h *hybrid) allOnes(n int) bool {
	if h.rle == 0 && h.packed == 0 && h.load() != nil {
		return false
	}
	if h.rle < n || h.value != 1 {
		return false
	}
	h.rle -= n
	return true
}

// decodeBits decodes n values of width 1 to the bits of dst and returns the
// number of ones. Bits of dst from n on are zero in the last word.
func (h *hybrid) decodeBits(dst []uint64, n int) (ones int, err error) {
	words := (n + 63) / 64
	clear(dst[:words])
	at := 0
	for at < n {
		switch {
		case h.rle > 0:
			k := min(h.rle, n-at)
			if h.value != 0 {
				setBits(dst, at, k)
			}
			h.rle -= k
			at += k
		case h.packed > 0:
			k := min(h.packed, n-at)
			copyBits(dst, at, h.run, h.pos, k)
			h.packed -= k
			h.pos += k
			at += k
		default:
			if err := h.load(); err != nil {
				return 0, err
			}
		}
	}
	for _, w := range dst[:words] {
		ones += bits.OnesCount64(w)
	}
	return ones, nil
}

// countOnes passes over n values of width 1 and counts the ones.
func (h *hybrid) countOnes(n int) (ones int, err error) {
	var buf [16]uint64
	for n > 0 {
		k := min(n, len(buf)*64)
		if h.rle > 0 {
			k = min(n, h.rle)
			if h.value != 0 {
				ones += k
			}
			h.rle -= k
			n -= k
			continue
		}
		c, err := h.decodeBits(buf[:], k)
		if err != nil {
			return 0, err
		}
		ones += c
		n -= k
	}
	return ones, nil
}

// setBits sets n bits of dst from bit at.
func setBits(dst []uint64, at, n int) {
	for n > 0 {
		off := at & 63
		k := min(64-off, n)
		dst[at>>6] |= (^uint64(0) >> (64 - uint(k))) << uint(off)
		at += k
		n -= k
	}
}

// copyBits ors n bits of src from bit from into dst from bit at.
func copyBits(dst []uint64, at int, src []byte, from, n int) {
	for n > 0 {
		off := at & 63
		k := min(64-off, n, 57)
		w := loadBits(src, from) & (^uint64(0) >> (64 - uint(k)))
		dst[at>>6] |= w << uint(off)
		at += k
		from += k
		n -= k
	}
}

// loadBits returns at least 57 bits of src from bit from; bits behind the end are zero.
func loadBits(src []byte, from int) uint64 {
	i := from >> 3
	if i+8 <= len(src) {
		return binary.LittleEndian.Uint64(src[i:]) >> (uint(from) & 7)
	}
	var w uint64
	for j := len(src) - 1; j >= i; j-- {
		w = w<<8 | uint64(src[j])
	}
	return w >> (uint(from) & 7)
}

// unpackBits decodes len(dst) values of width bits (1..32) of run, from value pos.
func unpackBits(dst []uint32, run []byte, pos int, width uint) {
	// Values before the next group of eight, which starts at a byte.
	if head := -pos & 7; head > 0 {
		head = min(head, len(dst))
		unpackScalar(dst[:head], run, pos, width)
		dst = dst[head:]
		pos += head
	}
	if len(dst) == 0 {
		return
	}
	from := pos * int(width) / 8
	need := bitpack.ByteCount(width*uint(len(dst)) + 8*bitpack.PaddingInt32)
	if width < 32 && cap(run)-from >= need {
		bitpack.Unpack(dst, run[from:], width)
		return
	}
	unpackScalar(dst, run, pos, width)
}

func unpackScalar(dst []uint32, run []byte, pos int, width uint) {
	mask := uint64(1)<<width - 1
	at := pos * int(width)
	for i := range dst {
		dst[i] = uint32(loadBits(run, at) & mask)
		at += int(width)
	}
}

// codesBelow reports whether every code is below limit.
func codesBelow(codes []uint32, limit int) bool {
	if uint64(limit) >= 1<<31 {
		return slices.Max(codes) < uint32(min(uint64(limit), math.MaxUint32))
	}
	// Two codes a step: adding makes bit 31 of each half a sign that its code
	// is too great. Codes with that bit of their own are caught as well.
	add := uint64(1<<31-limit) * (1<<32 + 1)
	var over uint64
	if canView && len(codes) >= 8 {
		pairs := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(codes))), len(codes)/2)
		codes = codes[len(pairs)*2:]
		for len(pairs) >= 4 {
			q := pairs[:4:4]
			over |= (q[0]&lowHalves + add) | (q[1]&lowHalves + add) | (q[2]&lowHalves + add) | (q[3]&lowHalves + add) | q[0] | q[1] | q[2] | q[3]
			pairs = pairs[4:]
		}
		for _, p := range pairs {
			over |= (p&lowHalves + add) | p
		}
	}
	for _, c := range codes {
		p := uint64(c)
		over |= (p&lowHalves + add) | p
	}
	return over&signHalves == 0
}

const (
	lowHalves  = 0x7fffffff7fffffff
	signHalves = 0x8000000080000000
)
