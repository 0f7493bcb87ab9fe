package orc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	lzo "github.com/anchore/go-lzo"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// codec is a compression kind, by its number in the postscript.
type codec uint8

const (
	codecNone codec = iota
	codecZlib
	codecSnappy
	codecLZO
	codecLZ4
	codecZstd
	codecCount
)

// blockHeaderBytes is the length of the header of a compression block.
const blockHeaderBytes = 3

var (
	errBlockTooLarge = errors.New("a compression block is larger than the block size of the file")
	errTruncated     = errors.New("a stream ends too early")
)

var zstdDecoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true),
		zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxMemory(maxCompressionBlock+1))
	if err != nil {
		panic(err) // the options are constants
	}
	return d
})

// inflater is a raw deflate reader with its input.
type inflater struct {
	in bytes.Reader
	r  io.ReadCloser
}

var inflaters = sync.Pool{New: func() any {
	z := &inflater{}
	z.r = flate.NewReader(&z.in)
	return z
}}

// decompress decodes one block into dst, an empty slice whose capacity bounds the
// result, and returns the bytes.
func (c codec) decompress(dst, src []byte) ([]byte, error) {
	limit := cap(dst)
	full := dst[:limit]
	switch c {
	case codecZlib:
		z := inflaters.Get().(*inflater)
		defer inflaters.Put(z)
		z.in.Reset(src)
		if err := z.r.(flate.Resetter).Reset(&z.in, nil); err != nil {
			return nil, err
		}
		n := 0
		for {
			m, err := z.r.Read(full[n:])
			n += m
			if err == io.EOF {
				return full[:n], nil
			}
			if err != nil {
				return nil, err
			}
			if n == limit {
				var one [1]byte
				if m, err := z.r.Read(one[:]); m > 0 || err != io.EOF {
					return nil, errBlockTooLarge
				}
				return full, nil
			}
		}
	case codecSnappy:
		n, err := snappy.DecodedLen(src)
		if err != nil {
			return nil, err
		}
		if n > limit {
			return nil, errBlockTooLarge
		}
		return snappy.Decode(full[:n], src)
	case codecLZO:
		n, err := lzo.Decompress(src, full)
		return full[:n], err
	case codecLZ4:
		n, err := lz4.UncompressBlock(src, full)
		if err != nil {
			return nil, err
		}
		return full[:n], nil
	case codecZstd:
		out, err := zstdDecoder().DecodeAll(src, dst)
		if errors.Is(err, zstd.ErrDecoderSizeExceeded) {
			err = errBlockTooLarge
		}
		return out, err
	}
	return nil, fmt.Errorf("compression %d", c)
}

// blockHeader splits the header of a compression block.
func blockHeader(h []byte) (length int, original bool) {
	v := int(h[0]) | int(h[1])<<8 | int(h[2])<<16
	return v >> 1, v&1 != 0
}

// decompressAll decodes a whole section (a footer, an index stream) of blocks; the
// result has at most limit bytes.
func (c codec) decompressAll(b []byte, blockSize, limit int) ([]byte, error) {
	if c == codecNone {
		if len(b) > limit {
			return nil, fmt.Errorf("%d bytes, the limit is %d", len(b), limit)
		}
		return b, nil
	}
	var out, scratch []byte
	for len(b) > 0 {
		if len(b) < blockHeaderBytes {
			return nil, errTruncated
		}
		n, original := blockHeader(b)
		b = b[blockHeaderBytes:]
		if n > len(b) {
			return nil, errTruncated
		}
		if n > blockSize {
			return nil, errBlockTooLarge
		}
		block := b[:n]
		b = b[n:]
		if !original {
			if scratch == nil {
				scratch = make([]byte, 0, blockSize)
			}
			var err error
			if block, err = c.decompress(scratch, block); err != nil {
				return nil, err
			}
		}
		if len(out)+len(block) > limit {
			return nil, fmt.Errorf("more than %d bytes", limit)
		}
		if len(b) == 0 && len(out) == 0 && original {
			return block, nil
		}
		out = append(out, block...)
	}
	return out, nil
}
