package orc

import (
	"bytes"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/tributarydb/tributary/storage/errs"
)

// compressor packs compression blocks of one file. It is for one goroutine.
type compressor struct {
	codec     codec
	blockSize int
	zstd      *zstd.Encoder
	zlib      *flate.Writer
	packed    bytes.Buffer // of zlib
	lz4       lz4.Compressor
	scratch   []byte
}

// zlibLevel is the level of blocks (org.apache.orc.impl.ZlibCodec at speed FAST).
const zlibLevel = flate.BestSpeed + 1

// zstdEncoders are shared by all files, one for each level.
var zstdEncoders struct {
	sync.Mutex
	m map[zstd.EncoderLevel]*zstd.Encoder
}

func zstdEncoder(level int) (*zstd.Encoder, error) {
	l := zstd.EncoderLevelFromZstd(level)
	zstdEncoders.Lock()
	defer zstdEncoders.Unlock()
	if e := zstdEncoders.m[l]; e != nil {
		return e, nil
	}
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(l), zstd.WithEncoderCRC(false), zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err
	}
	if zstdEncoders.m == nil {
		zstdEncoders.m = map[zstd.EncoderLevel]*zstd.Encoder{}
	}
	zstdEncoders.m[l] = e
	return e, nil
}

func newCompressor(o *writeOptions) (*compressor, error) {
	c := &compressor{codec: o.codec, blockSize: o.blockSize}
	var err error
	switch o.codec {
	case codecZstd:
		c.zstd, err = zstdEncoder(o.zstdLevel)
	case codecZlib:
		level := zlibLevel
		if o.compressHard {
			level = flate.DefaultCompression
		}
		c.zlib, err = flate.NewWriter(nil, level)
	}
	if err != nil {
		return nil, errs.New(errs.Unknown, "the codec of an ORC file: %w", err)
	}
	return c, nil
}

// appendBlock appends src, at most a block, with its header: packed, or as it is where that is no longer.
func (c *compressor) appendBlock(dst, src []byte) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0)
	body := len(dst)
	switch c.codec {
	case codecZstd:
		dst = c.zstd.EncodeAll(src, dst)
	case codecZlib:
		c.packed.Reset()
		c.zlib.Reset(&c.packed)
		// A buffer in memory takes everything.
		_, _ = c.zlib.Write(src)
		_ = c.zlib.Close()
		dst = append(dst, c.packed.Bytes()...)
	case codecSnappy:
		if n := snappy.MaxEncodedLen(len(src)); len(c.scratch) < n {
			c.scratch = make([]byte, n)
		}
		dst = append(dst, snappy.Encode(c.scratch, src)...)
	case codecLZ4:
		if n := lz4.CompressBlockBound(len(src)); len(c.scratch) < n {
			c.scratch = make([]byte, n)
		}
		n, err := c.lz4.CompressBlock(src, c.scratch)
		if err != nil || n == 0 { // it would not become shorter
			n = len(src)
		}
		dst = append(dst, c.scratch[:n]...)
	}
	n, original := len(dst)-body, 0
	if n >= len(src) {
		dst = append(dst[:body], src...)
		n, original = len(src), 1
	}
	v := n<<1 | original
	dst[start], dst[start+1], dst[start+2] = byte(v), byte(v>>8), byte(v>>16)
	return dst
}

// appendAll appends src in blocks.
func (c *compressor) appendAll(dst, src []byte) []byte {
	if c.codec == codecNone {
		return append(dst, src...)
	}
	for len(src) > c.blockSize {
		dst = c.appendBlock(dst, src[:c.blockSize])
		src = src[c.blockSize:]
	}
	if len(src) > 0 {
		dst = c.appendBlock(dst, src)
	}
	return dst
}

// outStream is a stream of a column in the stripe that is being written: encoders append
// to buf and call settle.
type outStream struct {
	c    *compressor
	kind streamKind
	// buf is what is not packed yet, out the blocks.
	buf, out []byte
}

func (c *compressor) stream(kind streamKind) outStream { return outStream{c: c, kind: kind} }

// settle packs full blocks. A block that is just full waits, as positions name its end then.
func (s *outStream) settle() {
	if len(s.buf) <= s.c.blockSize || s.c.codec == codecNone {
		return
	}
	rest := s.buf
	for len(rest) > s.c.blockSize {
		s.out = s.c.appendBlock(s.out, rest[:s.c.blockSize])
		rest = rest[s.c.blockSize:]
	}
	s.buf = s.buf[:copy(s.buf, rest)]
}

// position appends the stream's position, as row index entries have it.
func (s *outStream) position(dst []uint64) []uint64 {
	if s.c.codec == codecNone {
		return append(dst, uint64(len(s.buf)))
	}
	return append(dst, uint64(len(s.out)), uint64(len(s.buf)))
}

// finish packs the rest and returns the stream; it is valid until reset.
func (s *outStream) finish() []byte {
	if s.c.codec == codecNone {
		return s.buf
	}
	s.settle()
	if len(s.buf) > 0 {
		s.out = s.c.appendBlock(s.out, s.buf)
		s.buf = s.buf[:0]
	}
	return s.out
}

// keptStreamBytes is the memory of a stream that is kept for the next stripe.
const keptStreamBytes = 1 << 20

func (s *outStream) reset() {
	s.buf, s.out = s.buf[:0], s.out[:0]
	if cap(s.buf) > keptStreamBytes {
		s.buf = nil
	}
	if cap(s.out) > keptStreamBytes {
		s.out = nil
	}
}
