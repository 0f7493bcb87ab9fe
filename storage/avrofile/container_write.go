package avrofile

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"

	"github.com/tributarydb/tributary/storage/errs"
)

// blockBytes is the size from which a block is closed (DataFileConstants.DEFAULT_SYNC_INTERVAL is 64000).
const blockBytes = 64000

// Writer writes a container file. It is for one goroutine.
type Writer struct {
	out     io.Writer
	codec   string
	level   int
	sync    [syncBytes]byte
	block   []byte
	records int64
	written int64
	packed  []byte
	err     error
}

// NewWriter writes the header: the schema's JSON text and the codec (null,
// deflate, snappy, zstandard; others are errs.Unsupported). level is zstandard's, 0 = 1. random gives the sync marker.
func NewWriter(out io.Writer, schemaText, codec string, level int, random io.Reader) (*Writer, error) {
	switch codec {
	case "null", "deflate", "snappy", "zstandard":
	default:
		return nil, errs.Unsupportedf("Avro files cannot be written with the compression '%s' here (known: null, deflate, snappy, zstandard)", codec)
	}
	w := &Writer{out: out, codec: codec, level: max(level, 1)}
	if _, err := io.ReadFull(random, w.sync[:]); err != nil {
		return nil, err
	}
	h := append([]byte(nil), magic...)
	h = AppendLong(h, 2)
	h = AppendString(h, "avro.schema")
	h = AppendString(h, schemaText)
	h = AppendString(h, "avro.codec")
	h = AppendString(h, codec)
	h = append(h, 0)
	h = append(h, w.sync[:]...)
	return w, w.write(h)
}

func (w *Writer) write(b []byte) error {
	if w.err == nil {
		var n int
		n, w.err = w.out.Write(b)
		w.written += int64(n)
	}
	return w.err
}

// Append adds a record: encode appends its binary form and returns the result.
func (w *Writer) Append(encode func(dst []byte) []byte) error {
	if w.err != nil {
		return w.err
	}
	w.block = encode(w.block)
	w.records++
	if len(w.block) >= blockBytes {
		return w.flush()
	}
	return nil
}

// Size is the length of the file so far, with the open block uncompressed.
func (w *Writer) Size() int64 { return w.written + int64(len(w.block)) }

func (w *Writer) flush() error {
	if w.records == 0 || w.err != nil {
		return w.err
	}
	if w.packed, w.err = compress(w.codec, w.level, w.packed[:0], w.block); w.err != nil {
		return w.err
	}
	head := AppendLong(nil, w.records)
	head = AppendLong(head, int64(len(w.packed)))
	w.block, w.records = w.block[:0], 0
	if err := w.write(head); err != nil {
		return err
	}
	if err := w.write(w.packed); err != nil {
		return err
	}
	return w.write(w.sync[:])
}

// Close writes the last block and returns the file's length. The caller closes what is below.
func (w *Writer) Close() (int64, error) {
	if err := w.flush(); err != nil {
		return 0, err
	}
	return w.written, nil
}

// zstdEncoders are shared by level: EncodeAll is safe for concurrent calls.
var zstdEncoders struct {
	sync.Mutex
	m map[int]*zstd.Encoder
}

func zstdEncoder(level int) (*zstd.Encoder, error) {
	zstdEncoders.Lock()
	defer zstdEncoders.Unlock()
	if e := zstdEncoders.m[level]; e != nil {
		return e, nil
	}
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(level)), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, err
	}
	if zstdEncoders.m == nil {
		zstdEncoders.m = map[int]*zstd.Encoder{}
	}
	zstdEncoders.m[level] = e
	return e, nil
}

// compress appends the compressed src to dst.
func compress(codec string, level int, dst, src []byte) ([]byte, error) {
	switch codec {
	case "deflate":
		buf := bytes.NewBuffer(dst)
		f, err := flate.NewWriter(buf, flate.DefaultCompression)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(src); err != nil {
			return nil, err
		}
		err = f.Close()
		return buf.Bytes(), err
	case "snappy":
		out := snappy.Encode(nil, src)
		dst = append(dst, out...)
		return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(src)), nil
	case "zstandard":
		e, err := zstdEncoder(level)
		if err != nil {
			return nil, err
		}
		return e.EncodeAll(src, dst), nil
	}
	return append(dst, src...), nil
}

// AppendLong appends an int or long.
func AppendLong(dst []byte, x int64) []byte { return binary.AppendVarint(dst, x) }

// AppendBytes appends bytes.
func AppendBytes(dst, b []byte) []byte {
	return append(AppendLong(dst, int64(len(b))), b...)
}

// AppendString appends a string.
func AppendString(dst []byte, s string) []byte {
	return append(AppendLong(dst, int64(len(s))), s...)
}
