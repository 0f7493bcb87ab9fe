package avro

import (
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

const (
	// zstdRatio is the greatest factor by which zstd can enlarge: blocks of
	// 128 KiB in four bytes.
	zstdRatio = 1 << 15
	// snappyRatio is the same of snappy.
	snappyRatio = 32
	ratioSlack  = 1 << 16
)

var errBlockSize = errors.New("a block's decompressed size does not fit its stored size")

// codecs maps the names of header entry avro.codec to functions that
// decompress src, using the memory of dst where it can.
var codecs = map[string]func(dst, src []byte) ([]byte, error){
	"null":      func(_, src []byte) ([]byte, error) { return src, nil },
	"deflate":   inflate,
	"snappy":    unsnappy,
	"zstandard": unzstd,
	"bzip2":     func(dst, src []byte) ([]byte, error) { return readAll(dst, bzip2.NewReader(bytes.NewReader(src))) },
}

var flatePool = sync.Pool{New: func() any { return flate.NewReader(bytes.NewReader(nil)) }}

func inflate(dst, src []byte) ([]byte, error) {
	r := flatePool.Get().(io.ReadCloser)
	defer flatePool.Put(r)
	if err := r.(flate.Resetter).Reset(bytes.NewReader(src), nil); err != nil {
		return nil, err
	}
	return readAll(dst, r)
}

// readAll reads r to its end into dst's memory, up to maxBlockBytes.
func readAll(dst []byte, r io.Reader) ([]byte, error) {
	buf := bytes.NewBuffer(dst[:0])
	n, err := buf.ReadFrom(io.LimitReader(r, maxBlockBytes+1))
	if err != nil {
		return nil, err
	}
	if n > maxBlockBytes {
		return nil, errBlockSize
	}
	return buf.Bytes(), nil
}

// unsnappy undoes snappy, which Avro follows by the big-endian CRC-32 of the content.
func unsnappy(dst, src []byte) ([]byte, error) {
	if len(src) < 4 {
		return nil, errBlockSize
	}
	body, sum := src[:len(src)-4], binary.BigEndian.Uint32(src[len(src)-4:])
	n, err := s2.DecodedLen(body)
	if err != nil {
		return nil, err
	}
	if n > maxBlockBytes || n/snappyRatio > len(body)+ratioSlack {
		return nil, errBlockSize
	}
	out, err := s2.Decode(dst[:cap(dst)], body)
	if err != nil {
		return nil, err
	}
	if crc32.ChecksumIEEE(out) != sum {
		return nil, errors.New("the checksum of a block is wrong")
	}
	return out, nil
}

var zstdPool = sync.Pool{New: func() any {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBlockBytes))
	if err != nil {
		return err
	}
	return d
}}

func unzstd(dst, src []byte) ([]byte, error) {
	var h zstd.Header
	if err := h.Decode(src); err != nil {
		return nil, err
	}
	if h.HasFCS && (h.FrameContentSize > maxBlockBytes || h.FrameContentSize/zstdRatio > uint64(len(src)+ratioSlack)) {
		return nil, errBlockSize
	}
	d, ok := zstdPool.Get().(*zstd.Decoder)
	if !ok {
		return nil, fmt.Errorf("the zstd decoder could not be made")
	}
	defer zstdPool.Put(d)
	return d.DecodeAll(src, dst[:0])
}
