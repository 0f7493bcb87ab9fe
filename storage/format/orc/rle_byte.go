package orc

import (
	"encoding/binary"
	"math/bits"
)

// byteReader decodes byte run lengths: a control byte n, then for n >= 0 a
// byte that counts n+3 times, for n < 0 -n bytes.
type byteReader struct {
	s *stream
	// left values of the run are to come; value where it repeats.
	left   int
	repeat bool
	value  byte
}

func (r *byteReader) read(dst []byte) error {
	for len(dst) > 0 {
		if r.left == 0 {
			w, err := r.s.fill(2)
			if err != nil {
				return err
			}
			if len(w) < 2 {
				return errTruncated
			}
			if c := int8(w[0]); c >= 0 {
				r.left, r.repeat, r.value = int(c)+3, true, w[1]
				r.s.take(2)
			} else {
				r.left, r.repeat = -int(c), false
				r.s.take(1)
			}
		}
		n := min(r.left, len(dst))
		if r.repeat {
			for i := range dst[:n] {
				dst[i] = r.value
			}
		} else if err := r.s.readFull(dst[:n]); err != nil {
			return err
		}
		r.left -= n
		dst = dst[n:]
	}
	return nil
}

func (r *byteReader) skip(n int) error {
	var buf [256]byte
	for n > 0 {
		m := min(n, len(buf))
		if err := r.read(buf[:m]); err != nil {
			return err
		}
		n -= m
	}
	return nil
}

func (r *byteReader) positions() int { return r.s.positions() + 1 }

func (r *byteReader) seek(p []uint64) error {
	k := r.s.positions()
	r.left = 0
	if err := r.s.seek(p[:k]); err != nil {
		return err
	}
	if p[k] > maxRunValues {
		return errTruncated
	}
	return r.skip(int(p[k]))
}

func (r *byteReader) source() *stream { return r.s }

// bitReader decodes booleans: bits of run-length coded bytes, the highest first.
type bitReader struct {
	b byteReader
	// cur has left unread bits, in its high end.
	cur  byte
	left int
	tmp  []byte
}

// read sets bit i of dst (lowest first, as in validity bitmaps) to value i for
// n values and clears the rest of the last word; it returns the number of ones.
func (r *bitReader) read(dst []uint64, n int) (ones int, err error) {
	if need := (n - r.left + 7) / 8; n > r.left {
		if cap(r.tmp) < need+8 {
			r.tmp = make([]byte, need+8)
		}
		r.tmp = r.tmp[:need+8]
		clear(r.tmp[need:])
		if err := r.b.read(r.tmp[:need]); err != nil {
			return 0, err
		}
	}
	words := (n + 63) / 64
	if r.left == 0 {
		for i := range words {
			var v uint64
			if p := r.tmp[i*8:]; len(p) >= 8 {
				v = binary.BigEndian.Uint64(p)
			}
			dst[i] = bits.Reverse64(v)
		}
		if k := n & 7; k != 0 {
			r.cur, r.left = r.tmp[n>>3]<<k, 8-k
		}
	} else {
		clear(dst[:words])
		next := 0
		for i := range n {
			if r.left == 0 {
				r.cur, r.left = r.tmp[next], 8
				next++
			}
			dst[i>>6] |= uint64(r.cur>>7) << (uint(i) & 63)
			r.cur <<= 1
			r.left--
		}
	}
	if k := uint(n) & 63; k != 0 {
		dst[words-1] &= 1<<k - 1
	}
	for _, w := range dst[:words] {
		ones += bits.OnesCount64(w)
	}
	return ones, nil
}

func (r *bitReader) positions() int { return r.b.positions() + 1 }

func (r *bitReader) seek(p []uint64) error {
	k := r.b.positions()
	r.left = 0
	if err := r.b.seek(p[:k]); err != nil {
		return err
	}
	if p[k] > 8 {
		return errTruncated
	}
	if p[k] > 0 {
		var b [1]byte
		if err := r.b.read(b[:]); err != nil {
			return err
		}
		r.cur, r.left = b[0]<<p[k], 8-int(p[k])
	}
	return nil
}

func (r *bitReader) source() *stream { return r.b.s }
