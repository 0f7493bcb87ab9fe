package avrofile

import (
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

const codecNames = "null, deflate, snappy, zstandard, bzip2"

func knownCodec(c string) bool {
	switch c {
	case "null", "deflate", "snappy", "zstandard", "bzip2":
		return true
	}
	return false
}

var (
	errTooBig = errors.New("it is too big")
	errCRC    = errors.New("its checksum is wrong")
)

// zstdDecoder is shared: DecodeAll is safe for concurrent calls.
var zstdDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(MaxBlockBytes))
})

func decompress(codec string, src []byte) ([]byte, error) {
	switch codec {
	case "deflate":
		return readAll(flate.NewReader(bytes.NewReader(src)))
	case "bzip2":
		return readAll(bzip2.NewReader(bytes.NewReader(src)))
	case "snappy":
		if len(src) < 4 {
			return nil, io.ErrUnexpectedEOF
		}
		body, sum := src[:len(src)-4], binary.BigEndian.Uint32(src[len(src)-4:])
		n, err := snappy.DecodedLen(body)
		if err != nil {
			return nil, err
		}
		// Snappy cannot expand more than this; a greater length is a lie.
		if n > MaxBlockBytes || n > 64*len(body)+64 {
			return nil, errTooBig
		}
		out, err := snappy.Decode(nil, body)
		if err != nil {
			return nil, err
		}
		if crc32.ChecksumIEEE(out) != sum {
			return nil, errCRC
		}
		return out, nil
	case "zstandard":
		d, err := zstdDecoder()
		if err != nil {
			return nil, err
		}
		return d.DecodeAll(src, nil)
	}
	return src, nil
}

func readAll(r io.Reader) ([]byte, error) {
	out, err := io.ReadAll(io.LimitReader(r, MaxBlockBytes+1))
	if err == nil && len(out) > MaxBlockBytes {
		err = errTooBig
	}
	return out, err
}
