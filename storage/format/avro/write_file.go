package avro

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"math"
	"strings"

	"github.com/tributarydb/tributary/storage/avrofile"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/format"
)

func init() { format.RegisterWriter("avro", Create) }

// fileWriter writes one Avro data file.
type fileWriter struct {
	out      fileio.Writer
	w        *avrofile.Writer
	encoders []encoder
	done     bool
}

// writeCodecs are the names of options file.compression and avro.codec.
var writeCodecs = map[string]string{
	"": "zstandard", "zstd": "zstandard", "zstandard": "zstandard", "none": "null", "null": "null", "uncompressed": "null",
	"gzip": "deflate", "deflate": "deflate", "snappy": "snappy",
}

// Create starts an Avro data file; it is the format.Creator of "avro".
func Create(ctx context.Context, fio fileio.FileIO, path string, o format.WriteOptions) (format.Writer, error) {
	text, encoders, err := recordSchema("record", "", o.Fields)
	if err != nil {
		return nil, err
	}
	name := o.Compression
	if v, ok := o.Options["avro.codec"]; ok {
		name = v
	}
	codec, ok := writeCodecs[strings.ToLower(name)]
	if !ok {
		codec = name // refused by avrofile, which names what it knows
	}
	out, err := fio.Create(ctx, path)
	if err != nil {
		return nil, err
	}
	w, err := avrofile.NewWriter(out, text, codec, o.ZstdLevel, rand.Reader)
	if err != nil {
		_ = out.Abort()
		return nil, err
	}
	return &fileWriter{out: out, w: w, encoders: encoders}, nil
}

// Write implements format.Writer.
func (f *fileWriter) Write(ctx context.Context, b *column.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	cols := make([]*column.Vector, len(b.Cols))
	for i, c := range b.Cols {
		cols[i] = plainNested(c)
	}
	for k := range b.Rows() {
		i := b.Row(k)
		var bad error
		err := f.w.Append(func(dst []byte) []byte {
			start := len(dst)
			for c, enc := range f.encoders {
				next, err := enc(dst, cols[c], i)
				if err != nil {
					bad = err
					return dst[:start]
				}
				dst = next
			}
			return dst
		})
		if bad != nil {
			return bad
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// plainNested takes nested vectors out of their dictionary: their spans are looked at directly.
func plainNested(v *column.Vector) *column.Vector {
	switch v.Kind {
	case column.KindList, column.KindMap, column.KindStruct:
		if v.Dict != nil {
			return column.Flatten(v)
		}
	}
	return v
}

// Size implements format.Writer.
func (f *fileWriter) Size() int64 { return f.w.Size() }

// Close implements format.Writer.
func (f *fileWriter) Close(ctx context.Context) (int64, error) {
	if err := ctx.Err(); err != nil {
		f.Abort()
		return 0, err
	}
	size, err := f.w.Close()
	if err == nil {
		err = f.out.Close()
	}
	if err != nil {
		f.Abort()
		return 0, err
	}
	f.done = true
	return size, nil
}

// Abort implements format.Writer.
func (f *fileWriter) Abort() {
	if !f.done {
		f.done = true
		_ = f.out.Abort()
	}
}

func appendFloat(dst []byte, f float32) []byte {
	return binary.LittleEndian.AppendUint32(dst, math.Float32bits(f))
}

func appendDouble(dst []byte, f float64) []byte {
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(f))
}

// minimal is the shortest big-endian two's complement of an integer.
func minimal(x column.Int128) []byte {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(x.Hi))
	binary.BigEndian.PutUint64(b[8:], x.Lo)
	i := 0
	for i < 15 && (b[i] == 0 && b[i+1] < 0x80 || b[i] == 0xff && b[i+1] >= 0x80) {
		i++
	}
	return b[i:]
}
