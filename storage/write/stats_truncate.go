package write

import "unicode/utf8"

// truncateMin returns the bound of strings or binaries not less than b that is
// kept of a least value: its first n code points or bytes. ok is false where there is none.
func truncateMin(b []byte, n int, text bool) (out []byte, ok bool) {
	end, ok := prefixEnd(b, n, text)
	return b[:end], ok
}

// truncateMax returns what is kept of a greatest value: b itself where it is
// short, else its first n code points or bytes, the last of which that can be is
// made greater. ok is false where no such bound exists.
func truncateMax(b []byte, n int, text bool) (out []byte, ok bool) {
	end, ok := prefixEnd(b, n, text)
	if !ok || end == len(b) {
		return b, ok
	}
	p := b[:end]
	for len(p) > 0 {
		if !text {
			last := p[len(p)-1]
			p = p[:len(p)-1]
			if last < 0xff {
				return append(append([]byte(nil), p...), last+1), true
			}
			continue
		}
		r, size := utf8.DecodeLastRune(p)
		p = p[:len(p)-size]
		if r++; r == 0xd800 {
			r = 0xe000 // surrogates are no text
		}
		if r <= utf8.MaxRune {
			return utf8.AppendRune(append([]byte(nil), p...), r), true
		}
	}
	return nil, false
}

// prefixEnd returns the length of the first n code points or bytes. Text that
// is not valid UTF-8 has no code points to count: ok is false.
func prefixEnd(b []byte, n int, text bool) (end int, ok bool) {
	if !text {
		return min(n, len(b)), true
	}
	for range n {
		if end == len(b) {
			break
		}
		r, size := utf8.DecodeRune(b[end:])
		if r == utf8.RuneError && size <= 1 {
			return 0, false
		}
		end += size
	}
	return end, true
}
