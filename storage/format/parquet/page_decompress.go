package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/anchore/go-lzo"
	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Limits of a page.
const (
	// maxPageBytes bounds a page's decompressed size.
	maxPageBytes = 1 << 30
	// pagePadding is spare memory behind every page buffer: the vectorised
	// bit-unpacking may read some bytes of it, and the zstd decoder takes its fast
	// path only where a whole block more than the page would fit.
	pagePadding = 128<<10 + 64
	// unpackPadding is the part of it that bit-unpacking needs.
	unpackPadding = 64
	// ratioSlack is added to the greatest size that a codec can make of a page.
	ratioSlack = 1 << 16
)

// maxRatio is the greatest factor by which each codec can enlarge: a page that
// claims more is corrupt, and its claim is not believed with memory.
func (c codec) maxRatio() int {
	switch c {
	case codecNone:
		return 1
	case codecSnappy:
		return 32
	case codecGzip:
		return 1040
	case codecLZ4, codecLZ4Raw, codecLZO:
		return 260
	}
	return 1 << 17 // zstd: blocks of 128 KiB in 4 bytes; brotli
}

var errPageSize = errors.New("the page's decompressed size does not fit its stored size")

// checkUncompressed checks a page's claimed sizes before memory is taken.
func (c codec) checkUncompressed(compressed, uncompressed int) error {
	if uncompressed > maxPageBytes {
		return fmt.Errorf("a page of %d bytes is larger than the limit of %d", uncompressed, maxPageBytes)
	}
	if uncompressed/c.maxRatio() > compressed+ratioSlack {
		return errPageSize
	}
	return nil
}

var zstdPool = sync.Pool{New: func() any {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPageBytes+1<<20), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return err
	}
	return d
}}

var gzipPool = sync.Pool{New: func() any { return new(gzip.Reader) }}

// decompress fills dst, whose length is the page's decompressed size. dst
// has spare capacity, which may be overwritten.
func (c codec) decompress(dst, src []byte) error {
	switch c {
	case codecNone:
		if len(src) != len(dst) {
			return errPageSize
		}
		copy(dst, src)
		return nil
	case codecSnappy:
		n, err := s2.DecodedLen(src)
		if err != nil {
			return err
		}
		if n != len(dst) {
			return errPageSize
		}
		_, err = s2.Decode(dst, src)
		return err
	case codecZstd:
		d, ok := zstdPool.Get().(*zstd.Decoder)
		if !ok {
			return errors.New("the zstd decoder could not be made")
		}
		out, err := d.DecodeAll(src, dst[:0])
		zstdPool.Put(d)
		if err != nil {
			return err
		}
		if len(out) != len(dst) {
			return errPageSize
		}
		return nil
	case codecGzip:
		z := gzipPool.Get().(*gzip.Reader)
		defer gzipPool.Put(z)
		if err := z.Reset(bytes.NewReader(src)); err != nil {
			return err
		}
		return readExactly(z, dst)
	case codecBrotli:
		return readExactly(brotli.NewReader(bytes.NewReader(src)), dst)
	case codecLZ4Raw:
		return wholeBlock(dst, src, lz4Chunk)
	case codecLZ4:
		if err := hadoopBlocks(dst, src, lz4Chunk); err == nil {
			return nil
		}
		if len(src) >= 4 && binary.LittleEndian.Uint32(src) == lz4FrameMagic {
			return readExactly(lz4.NewReader(bytes.NewReader(src)), dst)
		}
		return wholeBlock(dst, src, lz4Chunk)
	case codecLZO:
		if err := hadoopBlocks(dst, src, lzoChunk); err == nil {
			return nil
		}
		return wholeBlock(dst, src, lzoChunk)
	}
	return fmt.Errorf("unknown compression %s", c)
}

const lz4FrameMagic = 0x184D2204

func readExactly(r io.Reader, dst []byte) error {
	if _, err := io.ReadFull(r, dst); err != nil {
		return err
	}
	var one [1]byte
	if n, _ := r.Read(one[:]); n != 0 {
		return errPageSize
	}
	return nil
}

func lz4Chunk(dst, src []byte) (int, error) { return lz4.UncompressBlock(src, dst) }

func lzoChunk(dst, src []byte) (int, error) { return lzo.Decompress(src, dst) }

// wholeBlock decompresses src, which must fill dst.
func wholeBlock(dst, src []byte, chunk func(dst, src []byte) (int, error)) error {
	if len(dst) == 0 {
		return nil
	}
	n, err := chunk(dst, src)
	if err != nil {
		return err
	}
	if n != len(dst) {
		return errPageSize
	}
	return nil
}

// hadoopBlocks undoes the framing of Hadoop's block codecs: big-endian
// decompressed length of a block, then chunks of it, each with its big-endian
// compressed length, until the block is full.
func hadoopBlocks(dst, src []byte, chunk func(dst, src []byte) (int, error)) error {
	for len(src) > 0 || len(dst) > 0 {
		if len(src) < 4 {
			return errPageSize
		}
		want := uint64(binary.BigEndian.Uint32(src))
		src = src[4:]
		if want > uint64(len(dst)) {
			return errPageSize
		}
		part := dst[:want]
		dst = dst[want:]
		for len(part) > 0 {
			if len(src) < 4 {
				return errPageSize
			}
			size := uint64(binary.BigEndian.Uint32(src))
			src = src[4:]
			if size > uint64(len(src)) {
				return errPageSize
			}
			n, err := chunk(part, src[:size])
			if err != nil {
				return err
			}
			if n <= 0 || n > len(part) {
				return errPageSize
			}
			src, part = src[size:], part[n:]
		}
	}
	return nil
}
