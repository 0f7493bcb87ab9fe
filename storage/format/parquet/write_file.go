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
	// optPageRows bounds the rows of a page, as parquet-mr has it.
	optPageRows = "parquet.page.row.count.limit"
	createdBy   = "tributary"
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
	enc    encoders
	// cur takes the rows of Write.
	cur  *round
	sunk *counter
	// raw is about how many bytes of values the open row group holds.
	raw   int64
	block int64
	done  bool
	// scratch are the slots of a column.
	scratch slots
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
	pageRows := o.PageRows
	if v, ok := o.Options[optPageRows]; ok {
		if pageRows, err = strconv.Atoi(strings.TrimSpace(v)); err != nil || pageRows <= 0 {
			return nil, errs.Invalidf("option '%s' has the value '%s', which is no number of rows", optPageRows, v)
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
		f.cols = append(f.cols, &leafWriter{p: p, pageRows: pageRows})
	}
	f.enc.free = make(chan *round, roundsAhead)
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
		if err := f.openGroup(); err != nil {
			return f.wrap(err)
		}
	}
	if f.cur == nil {
		if f.cur, err = f.enc.take(ctx, f.cols); err != nil {
			return f.wrap(err)
		}
	}
	for i, p := range f.places {
		size, err := f.addColumn(p, b.Cols[i], b.Sel, n)
		if err != nil {
			return f.wrap(err)
		}
		f.cur.raw += size
		f.raw += size
	}
	f.cur.rows += n
	if f.raw >= f.block {
		return f.closeGroup()
	}
	if f.cur.rows >= roundRows || f.cur.raw >= roundBytes {
		f.enc.start(f.cur)
		f.cur = nil
	}
	return nil
}

// addColumn adds the rows of a column to the current round and returns about how many bytes of values they are.
func (f *fileWriter) addColumn(p *place, v *column.Vector, sel []uint16, n int) (size int64, err error) {
	if p.leaf >= 0 {
		if p.required && v.Valid != nil && hasNull(v, sel) {
			return 0, nullIn(p)
		}
		return f.cur.chunks[p.leaf].addFlat(p, v, sel, n)
	}
	s := &f.scratch
	s.reset(n)
	for k := range n {
		s.at[k] = int32(k)
	}
	for k, i := range sel {
		s.at[k] = int32(i)
	}
	err = descend(p, v, s, func(p *place, v *column.Vector, s *slots) error {
		n, err := f.cur.chunks[p.leaf].add(p, v, s)
		size += n
		return err
	})
	return size, err
}

func (f *fileWriter) openGroup() (err error) {
	if f.group, err = f.w.AppendBufferedRowGroupChecked(); err != nil {
		return err
	}
	for i, c := range f.cols {
		if c.out, err = f.group.Column(i); err != nil {
			return err
		}
		c.opened()
	}
	return nil
}

func (f *fileWriter) closeGroup() error {
	if f.group == nil {
		return nil
	}
	if f.cur != nil {
		f.enc.start(f.cur)
		f.cur = nil
	}
	err := f.enc.wait()
	if err == nil {
		err = f.group.Close()
	}
	f.group, f.raw = nil, 0
	f.enc.newGroup()
	return f.wrap(err)
}

// openRatio is how much smaller values that are not compressed yet are expected to become.
const openRatio = 3

// Size implements format.Writer. It depends on what was written only, not on how far the encoders are.
func (f *fileWriter) Size() int64 {
	return f.sunk.n + f.enc.compressed + (f.enc.open+max(0, f.raw-f.enc.raw))/openRatio
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
		f.enc.cancel()
		_ = f.out.Abort()
	}
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
