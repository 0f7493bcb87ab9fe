package orc

const (
	// maxByteRepeat and maxByteLiterals bound the runs of bytes.
	maxByteRepeat   = 127 + minRepeat
	maxByteLiterals = 128
)

// byteWriter encodes runs of bytes. Values wait until their run is complete.
type byteWriter struct {
	s *outStream
	// n values wait; the last rep of them are equal. Where rep is minRepeat or more, all of them are.
	n, rep int
	wait   [maxByteLiterals]byte
}

func (w *byteWriter) add(b byte) {
	if w.rep >= minRepeat {
		if b == w.wait[0] {
			w.n++
			w.rep++
			if w.n == maxByteRepeat {
				w.flush()
			}
			return
		}
		w.flush()
	}
	if w.n > 0 && b == w.wait[w.n-1] {
		w.rep++
		if w.rep == minRepeat {
			if w.n >= minRepeat {
				w.n -= minRepeat - 1
				w.rep = 1
				w.flush()
			}
			w.wait[0] = b
			w.n, w.rep = minRepeat, minRepeat
			return
		}
	} else {
		w.rep = 1
	}
	w.wait[w.n] = b
	w.n++
	if w.n == maxByteLiterals {
		w.flush()
	}
}

// repeat writes b count times.
func (w *byteWriter) repeat(b byte, count int) {
	for count > 0 {
		if w.rep < minRepeat || w.wait[0] != b {
			w.add(b)
			count--
			continue
		}
		k := min(count, maxByteRepeat-w.n)
		w.n, w.rep, count = w.n+k, w.rep+k, count-k
		if w.n == maxByteRepeat {
			w.flush()
		}
	}
}

// flush ends the run.
func (w *byteWriter) flush() {
	switch {
	case w.rep >= minRepeat:
		w.s.buf = append(w.s.buf, byte(w.n-minRepeat), w.wait[0])
	case w.n > 0:
		w.s.buf = append(w.s.buf, byte(-w.n))
		w.s.buf = append(w.s.buf, w.wait[:w.n]...)
	}
	w.n, w.rep = 0, 0
}

func (w *byteWriter) position(dst []uint64) []uint64 {
	w.s.settle()
	return append(w.s.position(dst), uint64(w.n))
}

// bitWriter encodes booleans: bits of run-length coded bytes, the highest first.
type bitWriter struct {
	b byteWriter
	// cur has used bits, in its high end.
	cur  byte
	used int
}

func (w *bitWriter) add(bit byte) {
	w.cur |= bit << (7 - w.used)
	w.used++
	if w.used == 8 {
		w.b.add(w.cur)
		w.cur, w.used = 0, 0
	}
}

// repeat writes a bit count times.
func (w *bitWriter) repeat(bit byte, count int) {
	for ; count > 0 && w.used != 0; count-- {
		w.add(bit)
	}
	if whole := count >> 3; whole > 0 {
		w.b.repeat(-bit, whole)
		count &= 7
	}
	for ; count > 0; count-- {
		w.add(bit)
	}
}

func (w *bitWriter) flush() {
	if w.used > 0 {
		w.b.add(w.cur)
		w.cur, w.used = 0, 0
	}
	w.b.flush()
}

func (w *bitWriter) position(dst []uint64) []uint64 {
	return append(w.b.position(dst), uint64(w.used))
}
