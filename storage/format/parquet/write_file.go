package parquet

import (
	"context"
	"encoding/binary"
	"io"
	"strconv"
	"strings"

	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/schema"
)

const (
	// defaultBlockSize is the size of a row group before compression (parquet.block.size).
	defaultBlockSize = 128 << 20
	// defaultPageSize is the size of a page before compression (parquet.page.size).
	defaultPageSize = 1 << 20
	// defaultDictSize bounds a dictionary page (parquet.dictionary.page.size).
	defaultDictSize = 1 << 20
	createdBy       = "tributary"
)

func init() { format.RegisterWriter("parquet", Create) }

// codecs are the names of option file.compression.
var codecs = map[string]compress.Compression{
	"": compress.Codecs.Zstd, "zstd": compress.Codecs.Zstd, "snappy": compress.Codecs.Snappy, "gzip": compress.Codecs.Gzip,
	"lz4": compress.Codecs.Lz4Raw, "lz4_raw": compress.Codecs.Lz4Raw, "brotli": compress.Codecs.Brotli,
	"none": compress.Codecs.Uncompressed, "uncompressed": compress.Codecs.Uncompressed, "null": compress.Codecs.Uncompressed,
}

// fileWriter writes one Parquet file.
type fileWriter struct {
	out    fileio.Writer
	path   string
	w      *pqfile.Writer
	group  pqfile.BufferedRowGroupWriter
	places []*place
	cols   []*leafWriter
	sunk   *counter
	// raw is about how many bytes of values the open row group holds.
	raw   int64
	block int64
	done  bool
}

// counter counts what goes out.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// Create starts a Parquet file; it is the format.Creator of "parquet".
func Create(ctx context.Context, fio fileio.FileIO, path string, o format.WriteOptions) (w format.Writer, err error) {
	root, places, b, err := fileSchema(o.Fields)
	if err != nil {
		return nil, err
	}
	codec, ok := codecs[strings.ToLower(o.Compression)]
	if !ok {
		return nil, errs.Unsupportedf("Parquet files cannot be written with 'file.compression' = '%s' here (known: zstd, snappy, gzip, lz4, brotli, none)", o.Compression)
	}
	sizes := map[string]int64{"parquet.block.size": defaultBlockSize, "parquet.page.size": defaultPageSize, "parquet.dictionary.page.size": defaultDictSize}
	for k := range sizes {
		if v, ok := o.Options[k]; ok {
			if sizes[k], err = schema.ParseMemorySize(v); err != nil || sizes[k] <= 0 {
				return nil, errs.Invalidf("option '%s' has the value '%s', which is no size", k, v)
			}
		}
	}
	dict := true
	if v, ok := o.Options["parquet.enable.dictionary"]; ok {
		if dict, err = schema.ParseBool(v); err != nil {
			return nil, errs.Invalidf("option 'parquet.enable.dictionary' has the value '%s', which is no truth value", v)
		}
	}
	props := []pq.WriterProperty{
		pq.WithVersion(pq.V1_0), pq.WithDataPageVersion(pq.DataPageV1), pq.WithCreatedBy(createdBy), pq.WithRootName("paimon_schema"), pq.WithRootRepetition(pq.Repetitions.Required),
		pq.WithCompression(codec), pq.WithDictionaryDefault(dict), pq.WithDictionaryPageSizeLimit(sizes["parquet.dictionary.page.size"]),
		pq.WithDataPageSize(sizes["parquet.page.size"]), pq.WithStats(true), pq.WithMaxRowGroupLength(1 << 40), pq.WithBatchSize(column.MaxRows), pq.WithPageIndexEnabled(true),
	}
	if codec == compress.Codecs.Zstd {
		props = append(props, pq.WithCompressionLevel(max(o.ZstdLevel, 1)))
	}
	out, err := fio.Create(ctx, path)
	if err != nil {
		return nil, err
	}
	f := &fileWriter{out: out, path: path, places: places, sunk: &counter{w: out}, block: o.BlockSize}
	if f.block <= 0 {
		f.block = sizes["parquet.block.size"]
	}
	for _, p := range b.leaves {
		f.cols = append(f.cols, &leafWriter{p: p})
	}
	defer func() {
		if err != nil {
			f.Abort()
		}
	}()
	f.w, err = pqfile.NewParquetWriterWithError(f.sunk, root, pqfile.WithWriterProps(pq.NewWriterProperties(props...)))
	if err != nil {
		return nil, f.wrap(err)
	}
	return f, nil
}

func (f *fileWriter) wrap(err error) error {
	if err == nil || errs.ClassOf(err) != errs.Unknown {
		return err
	}
	return errs.New(errs.ClassOf(err), "writing parquet file %s: %w", f.path, err)
}

// Write implements format.Writer.
func (f *fileWriter) Write(ctx context.Context, b *column.Batch) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	defer func() {
		if r := recover(); r != nil {
			err = errs.New(errs.Unknown, "writing parquet file %s: %v", f.path, r)
		}
	}()
	n := b.Rows()
	if n == 0 {
		return nil
	}
	if f.group == nil {
		if f.group, err = f.w.AppendBufferedRowGroupChecked(); err != nil {
			return f.wrap(err)
		}
		for i, c := range f.cols {
			if c.out, err = f.group.Column(i); err != nil {
				return f.wrap(err)
			}
		}
	}
	for i, p := range f.places {
		s := slots{at: make([]int32, n), def: make([]int16, n), rep: make([]int16, n)}
		for k := range n {
			s.at[k] = int32(b.Row(k))
		}
		err := descend(p, b.Cols[i], &s, func(p *place, v *column.Vector, s *slots) error {
			size, err := f.cols[p.leaf].write(v, s)
			f.raw += size
			return err
		})
		if err != nil {
			return f.wrap(err)
		}
	}
	if f.raw >= f.block {
		return f.closeGroup()
	}
	return nil
}

func (f *fileWriter) closeGroup() error {
	if f.group == nil {
		return nil
	}
	err := f.group.Close()
	f.group, f.raw = nil, 0
	return f.wrap(err)
}

// openRatio is how much smaller values of an open page are expected to become.
const openRatio = 3

// Size implements format.Writer.
func (f *fileWriter) Size() int64 {
	n := f.sunk.n
	if f.group != nil {
		done := f.group.TotalCompressedBytes()
		pages := f.group.TotalBytesWritten()
		n += done + max(0, f.raw-pages)/openRatio
	}
	return n
}

// Close implements format.Writer.
func (f *fileWriter) Close(ctx context.Context) (size int64, err error) {
	if err := ctx.Err(); err != nil {
		f.Abort()
		return 0, err
	}
	defer func() {
		if r := recover(); r != nil {
			err = errs.New(errs.Unknown, "writing parquet file %s: %v", f.path, r)
		}
		if err != nil {
			f.Abort()
		}
	}()
	if err := f.closeGroup(); err != nil {
		return 0, err
	}
	if err := f.w.FlushWithFooter(); err != nil {
		return 0, f.wrap(err)
	}
	if err := f.out.Close(); err != nil {
		return 0, f.wrap(err)
	}
	f.done = true
	return f.sunk.n, nil
}

// Abort implements format.Writer.
func (f *fileWriter) Abort() {
	if !f.done {
		f.done = true
		_ = f.out.Abort()
	}
}

// leafWriter converts and writes the values of one column chunk.
type leafWriter struct {
	p     *place
	out   pqfile.ColumnChunkWriter
	bools []bool
	i32   []int32
	i64   []int64
	f32   []float32
	f64   []float64
	bytes []pq.ByteArray
	fixed []pq.FixedLenByteArray
	i96   []pq.Int96
	buf   []byte
}

// write writes the slots' levels and values and returns about how many bytes the values take.
func (l *leafWriter) write(v *column.Vector, s *slots) (size int64, err error) {
	def, rep := s.def, s.rep
	if l.p.def == 0 {
		def = nil
	}
	if l.p.rep == 0 {
		rep = nil
	}
	base, at := v, func(i int32) int32 { return i }
	if v.Dict != nil {
		base, at = v.Dict, func(i int32) int32 { return int32(v.Codes[i]) }
	}
	switch l.p.stored {
	case storedBool:
		l.bools = l.bools[:0]
		for _, i := range s.at {
			if i >= 0 {
				l.bools = append(l.bools, base.I32[at(i)] != 0)
			}
		}
		_, err = l.out.(*pqfile.BooleanColumnChunkWriter).WriteBatch(l.bools, def, rep)
		return int64(len(l.bools)) / 8, err
	case storedInt32:
		l.i32 = l.i32[:0]
		for _, i := range s.at {
			if i >= 0 {
				l.i32 = append(l.i32, base.I32[at(i)])
			}
		}
		_, err = l.out.(*pqfile.Int32ColumnChunkWriter).WriteBatch(l.i32, def, rep)
		return 4 * int64(len(l.i32)), err
	case storedInt32FromInt64:
		l.i32 = l.i32[:0]
		for _, i := range s.at {
			if i >= 0 {
				l.i32 = append(l.i32, int32(base.I64[at(i)]))
			}
		}
		_, err = l.out.(*pqfile.Int32ColumnChunkWriter).WriteBatch(l.i32, def, rep)
		return 4 * int64(len(l.i32)), err
	case storedInt64, storedMicros, storedMillis:
		l.i64 = l.i64[:0]
		for _, i := range s.at {
			if i >= 0 {
				l.i64 = append(l.i64, base.I64[at(i)])
			}
		}
		if l.p.stored == storedMillis {
			for i, x := range l.i64 {
				l.i64[i] = floorDiv(x, 1000)
			}
		}
		_, err = l.out.(*pqfile.Int64ColumnChunkWriter).WriteBatch(l.i64, def, rep)
		return 8 * int64(len(l.i64)), err
	case storedFloat:
		l.f32 = l.f32[:0]
		for _, i := range s.at {
			if i >= 0 {
				l.f32 = append(l.f32, base.F32[at(i)])
			}
		}
		_, err = l.out.(*pqfile.Float32ColumnChunkWriter).WriteBatch(l.f32, def, rep)
		return 4 * int64(len(l.f32)), err
	case storedDouble:
		l.f64 = l.f64[:0]
		for _, i := range s.at {
			if i >= 0 {
				l.f64 = append(l.f64, base.F64[at(i)])
			}
		}
		_, err = l.out.(*pqfile.Float64ColumnChunkWriter).WriteBatch(l.f64, def, rep)
		return 8 * int64(len(l.f64)), err
	case storedBytes:
		l.bytes = l.bytes[:0]
		for _, i := range s.at {
			if i >= 0 {
				r := base.Ref[at(i)]
				l.bytes = append(l.bytes, pq.ByteArray(base.Data[r.Off:r.Off+r.Len]))
				size += 4 + int64(r.Len)
			}
		}
		_, err = l.out.(*pqfile.ByteArrayColumnChunkWriter).WriteBatch(l.bytes, def, rep)
		return size, err
	case storedFixed:
		l.fixed, l.buf = l.fixed[:0], l.buf[:0]
		w := l.p.width
		n := 0
		for _, i := range s.at {
			if i >= 0 {
				n++
			}
		}
		if cap(l.buf) < n*w {
			l.buf = make([]byte, 0, n*w)
		}
		for _, i := range s.at {
			if i >= 0 {
				var b [16]byte
				x := base.I128[at(i)]
				binary.BigEndian.PutUint64(b[:8], uint64(x.Hi))
				binary.BigEndian.PutUint64(b[8:], x.Lo)
				l.buf = append(l.buf, b[16-w:]...)
				l.fixed = append(l.fixed, l.buf[len(l.buf)-w:])
			}
		}
		_, err = l.out.(*pqfile.FixedLenByteArrayColumnChunkWriter).WriteBatch(l.fixed, def, rep)
		return int64(len(l.buf)), err
	case storedInt96:
		l.i96 = l.i96[:0]
		for _, i := range s.at {
			if i >= 0 {
				k := at(i)
				var sub uint16
				if base.Sub != nil {
					sub = base.Sub[k]
				}
				l.i96 = append(l.i96, int96(base.I64[k], sub))
			}
		}
		_, err = l.out.(*pqfile.Int96ColumnChunkWriter).WriteBatch(l.i96, def, rep)
		return 12 * int64(len(l.i96)), err
	}
	return 0, errs.New(errs.Unknown, "column '%s' has no form of storage (%s)", l.p.path, strconv.Itoa(int(l.p.stored)))
}

const (
	microsOfDay = 86_400_000_000
	julianEpoch = 2440588
)

// int96 makes nanoseconds of the day and the Julian day.
func int96(micros int64, sub uint16) (out pq.Int96) {
	day := floorDiv(micros, microsOfDay)
	nanos := (micros-day*microsOfDay)*1000 + int64(sub)
	binary.LittleEndian.PutUint64(out[:8], uint64(nanos))
	binary.LittleEndian.PutUint32(out[8:], uint32(day+julianEpoch))
	return out
}
