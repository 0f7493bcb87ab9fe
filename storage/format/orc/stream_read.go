package orc

import (
	"context"
	"errors"
	"io"

	"github.com/tributarydb/tributary/storage/errs"
)

// piece is a part of the file in memory.
type piece struct {
	offset int64
	data   []byte
}

func (p piece) holds(offset int64, n int) bool {
	return offset >= p.offset && offset-p.offset <= int64(len(p.data)) && int64(n) <= int64(len(p.data))-(offset-p.offset)
}

// readRange reads exactly len(buf) bytes at off, from the tail where it has them.
func (f *file) readRange(ctx context.Context, buf []byte, off int64) error {
	if f.tail.holds(off, len(buf)) {
		copy(buf, f.tail.data[off-f.tail.offset:])
		return nil
	}
	if err := ctx.Err(); err != nil {
		return ioError{err}
	}
	n, err := f.f.ReadAt(buf, off)
	if n == len(buf) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errs.Corruptf("file %s ends at byte %d, inside a part that should have bytes up to %d", f.path, off+int64(n), off+int64(len(buf)))
	}
	return ioError{err}
}

// stream gives the decoded bytes of one stream of a stripe, block by block.
// The window holds decoded bytes that are not consumed yet; decoders ask for as many
// bytes as their next unit can have, and so need no care at block borders.
type stream struct {
	env    *readEnv
	offset int64 // in the file
	length int64
	// at is the next stored byte, relative to offset.
	at  int64
	win []byte
	// buf is the memory behind win where blocks were decompressed or joined.
	buf []byte
	// lazy is what was read outside of the pieces planned.
	lazy piece
}

// stored returns n bytes of the file at at, which must lie in the stream,
// without a copy. They are valid until the next call.
func (s *stream) stored(at int64, n int) ([]byte, error) {
	if int64(n) > s.length-at {
		return nil, errTruncated
	}
	off := s.offset + at
	for _, p := range s.env.pieces {
		if p.holds(off, n) {
			return p.data[off-p.offset:][:n], nil
		}
	}
	if !s.lazy.holds(off, n) {
		want := max(int64(n), min(s.length-at, int64(s.env.pieceBytes)))
		if int64(cap(s.lazy.data)) < want {
			s.lazy.data = make([]byte, want)
		}
		s.lazy.data = s.lazy.data[:want]
		s.lazy.offset = off
		if err := s.env.file.readRange(s.env.ctx, s.lazy.data, off); err != nil {
			s.lazy.data = s.lazy.data[:0]
			return nil, err
		}
	}
	return s.lazy.data[off-s.lazy.offset:][:n], nil
}

// more decodes the next block behind the window; ok is false at the end.
func (s *stream) more() (ok bool, err error) {
	if s.at >= s.length {
		return false, nil
	}
	// What is left moves to own memory: it may lie in a piece about to go.
	left := len(s.win)
	if left > 0 {
		if cap(s.buf) < left {
			s.buf = make([]byte, 0, left+s.env.file.blockSize)
		}
		s.buf = s.buf[:left]
		copy(s.buf, s.win)
	} else {
		s.buf = s.buf[:0]
	}
	var block []byte
	c := s.env.file.codec
	if c == codecNone {
		n := int(min(s.length-s.at, int64(s.env.pieceBytes)))
		if block, err = s.stored(s.at, n); err != nil {
			return false, err
		}
		s.at += int64(n)
	} else {
		h, err := s.stored(s.at, blockHeaderBytes)
		if err != nil {
			return false, err
		}
		n, original := blockHeader(h)
		if n > s.env.file.blockSize {
			return false, errBlockTooLarge
		}
		if block, err = s.stored(s.at+blockHeaderBytes, n); err != nil {
			return false, err
		}
		s.at += blockHeaderBytes + int64(n)
		if !original {
			if block, err = c.decompress(s.env.scratchBlock(), block); err != nil {
				return false, err
			}
			s.buf = append(s.buf, block...)
			s.win = s.buf
			return true, nil
		}
	}
	if left == 0 {
		s.win = block
		return true, nil
	}
	s.buf = append(s.buf, block...)
	s.win = s.buf
	return true, nil
}

// fill makes the window at least n bytes long, or as long as the rest of the
// stream, and returns it.
func (s *stream) fill(n int) ([]byte, error) {
	for len(s.win) < n {
		ok, err := s.more()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
	}
	return s.win, nil
}

// take consumes n bytes of the window.
func (s *stream) take(n int) { s.win = s.win[n:] }

// readFull fills dst.
func (s *stream) readFull(dst []byte) error {
	for len(dst) > 0 {
		w, err := s.fill(1)
		if err != nil {
			return err
		}
		if len(w) == 0 {
			return errTruncated
		}
		n := copy(dst, w)
		s.take(n)
		dst = dst[n:]
	}
	return nil
}

// appendTo appends n bytes to dst. Memory grows only with bytes that are there.
func (s *stream) appendTo(dst []byte, n int) ([]byte, error) {
	for n > 0 {
		w, err := s.fill(1)
		if err != nil {
			return dst, err
		}
		if len(w) == 0 {
			return dst, errTruncated
		}
		m := min(n, len(w))
		dst = append(dst, w[:m]...)
		s.take(m)
		n -= m
	}
	return dst, nil
}

// discard drops n bytes.
func (s *stream) discard(n int) error {
	for n > 0 {
		w, err := s.fill(1)
		if err != nil {
			return err
		}
		if len(w) == 0 {
			return errTruncated
		}
		m := min(n, len(w))
		s.take(m)
		n -= m
	}
	return nil
}

// positions is how many positions of a row index entry the stream has.
func (s *stream) positions() int {
	if s.env.file.codec == codecNone {
		return 1
	}
	return 2
}

// seek moves to where the positions say: stored byte, and decoded byte in its block.
func (s *stream) seek(p []uint64) error {
	s.win = nil
	if p[0] > uint64(s.length) {
		return errTruncated
	}
	s.at = int64(p[0])
	if len(p) > 1 {
		if p[1] > uint64(s.env.file.blockSize) {
			return errTruncated
		}
		return s.discard(int(p[1]))
	}
	return nil
}
