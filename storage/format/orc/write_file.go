package orc

import (
	"context"
	"strconv"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/schema"
)

func init() { format.RegisterWriter(Name, Create) }

// What a file says of its writer: that of ORC's Java library, whose rules are followed.
const (
	writerVersion   = 9 // ORC-14
	versionMajor    = 0
	versionMinor    = 12
	softwareVersion = "tributary"
	writerZone      = "UTC"
	// calendarHybrid is what Paimon's files say, although days and times are counted the proleptic way.
	calendarHybrid    = 1
	calendarProleptic = 2
)

// fileWriter writes one ORC file.
type fileWriter struct {
	out   fileio.Writer
	path  string
	opts  *writeOptions
	pack  *compressor
	types []typeNode
	root  *structWriter
	// columns are the root and all columns below it, by id.
	columns []columnWriter
	// sunk is the length of the file so far.
	sunk int64
	// rows of the file, the open stripe and the open row group.
	rows, stripeRows int64
	groupRows        int
	// stripes are the StripeInformation messages, metadata the StripeStatistics ones, as fields of their messages.
	stripes, metadata []byte
	at                []int32
	done              bool
}

// allRows are the rows of a batch without a selection.
var allRows = func() (rows [column.MaxRows]int32) {
	for i := range rows {
		rows[i] = int32(i)
	}
	return rows
}()

// Create starts an ORC file; it is the format.Creator of "orc".
func Create(ctx context.Context, fio fileio.FileIO, path string, o format.WriteOptions) (format.Writer, error) {
	root := &schema.Type{Root: schema.Row, Fields: o.Fields, NotNull: true}
	opts, err := readOptions(o, countTypes(root))
	if err != nil {
		return nil, err
	}
	f := &fileWriter{path: path, opts: opts}
	if f.pack, err = newCompressor(opts); err != nil {
		return nil, err
	}
	if err := f.makeColumns(o.Fields); err != nil {
		return nil, err
	}
	if f.out, err = fio.Create(ctx, path); err != nil {
		return nil, err
	}
	if err := f.emit([]byte(magic)); err != nil {
		f.Abort()
		return nil, err
	}
	return f, nil
}

// makeColumns makes the types and the writers of the columns.
func (f *fileWriter) makeColumns(fields []schema.Field) error {
	b := &schemaBuilder{f: f}
	b.types = append(b.types, typeNode{kind: kindStruct})
	f.root = &structWriter{}
	f.root.init(f, 0, kindStruct, 0, "", true)
	for _, c := range fields {
		b.types[0].names, b.types[0].kids = append(b.types[0].names, c.Name), append(b.types[0].kids, uint64(len(b.types)))
		w, err := b.add(c.Name, c.Type, strconv.Itoa(c.ID), c.ID, 1)
		if err != nil {
			return err
		}
		f.root.kids = append(f.root.kids, w)
	}
	b.types[0].last = len(b.types) - 1
	f.types = b.types
	direct, err := columnsNamed(f.types, optDirectColumns, f.opts.directColumns)
	if err != nil {
		return err
	}
	bloom, err := columnsNamed(f.types, optBloomColumns, f.opts.bloomColumns)
	if err != nil {
		return err
	}
	eachColumn(f.root, func(w columnWriter) {
		c := w.base()
		f.columns = append(f.columns, w)
		if s, ok := w.(*stringWriter); ok {
			if s.threshold = f.opts.threshold; direct[c.id] {
				s.threshold = 0
			}
		}
		if bloom[c.id] && f.opts.stride > 0 && bloomWritten(c.kind) {
			c.bloom = newBloom(f.opts.stride, f.opts.bloomFPP)
		}
		if o, ok := w.(interface{ open() }); ok {
			o.open()
		}
	})
	return nil
}

func (f *fileWriter) wrap(err error) error {
	if err == nil || errs.ClassOf(err) != errs.Unknown {
		return err
	}
	return errs.New(errs.Unknown, "writing ORC file %s: %w", f.path, err)
}

func (f *fileWriter) emit(b []byte) error {
	n, err := f.out.Write(b)
	f.sunk += int64(n)
	return f.wrap(err)
}

// Write implements format.Writer.
func (f *fileWriter) Write(ctx context.Context, b *column.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var at []int32
	if b.Sel == nil && b.N <= len(allRows) {
		at = allRows[:b.N]
	} else {
		f.at = f.at[:0]
		for k := range b.Rows() {
			f.at = append(f.at, int32(b.Row(k)))
		}
		at = f.at
	}
	for len(at) > 0 {
		n := int(min(int64(len(at)), f.opts.stripeRows-f.stripeRows))
		if f.opts.stride > 0 {
			if n = min(n, f.opts.stride-f.groupRows); f.groupRows == 0 {
				for _, c := range f.columns {
					startGroup(c)
				}
			}
		}
		// The root has no nulls of its own.
		f.root.group.count += uint64(n)
		f.root.present.repeat(1, n)
		for i, c := range f.root.kids {
			if err := c.write(b.Cols[i], at[:n]); err != nil {
				return err
			}
		}
		at = at[n:]
		f.groupRows += n
		f.stripeRows += int64(n)
		if f.groupRows == f.opts.stride {
			f.endGroup()
		}
		if f.stripeRows == f.opts.stripeRows {
			if err := f.endStripe(); err != nil {
				return err
			}
		}
	}
	if packed, open := f.memory(); packed+open >= f.opts.stripeSize {
		return f.endStripe()
	}
	return nil
}

func (f *fileWriter) endGroup() {
	for _, c := range f.columns {
		endGroup(c, f.opts.stride > 0)
	}
	f.groupRows = 0
}

func (f *fileWriter) memory() (packed, open int64) {
	for _, c := range f.columns {
		p, o := c.memory()
		packed, open = packed+p, open+o
	}
	return packed, open
}

// endStripe writes the open stripe: index streams, data streams, its footer.
func (f *fileWriter) endStripe() error {
	if f.stripeRows == 0 {
		return nil
	}
	if f.groupRows > 0 {
		f.endGroup()
	}
	start := f.sunk
	var footer, encodings, statistics []byte
	var index, data [][]byte
	list := func(id int, s dataStream) {
		m := appendUint(nil, 1, uint64(s.kind))
		m = appendUint(m, 2, uint64(id))
		footer = appendBytes(footer, 1, appendUint(m, 3, uint64(len(s.b))))
	}
	streams := make([][]dataStream, len(f.columns))
	for id, w := range f.columns {
		streams[id] = finishColumn(w)
		if f.opts.stride > 0 {
			for _, s := range indexStreams(w) {
				list(id, s)
				index = append(index, s.b)
			}
		}
		c := w.base()
		statistics = appendBytes(statistics, 1, c.stripe.append(nil))
		c.file.merge(&c.stripe)
		kind, size := w.encoding()
		m := appendUint(nil, 1, uint64(kind))
		if kind == encodingDictionaryV2 {
			m = appendUint(m, 2, uint64(size))
		}
		if c.bloom != nil {
			m = appendUint(m, 3, 1)
		}
		encodings = appendBytes(encodings, 2, m)
	}
	for id, list1 := range streams {
		for _, s := range list1 {
			list(id, s)
			data = append(data, s.b)
		}
	}
	footer = appendBytes(append(footer, encodings...), 3, []byte(writerZone))
	for _, b := range index {
		if err := f.emit(b); err != nil {
			return err
		}
	}
	indexEnd := f.sunk
	for _, b := range data {
		if err := f.emit(b); err != nil {
			return err
		}
	}
	dataEnd := f.sunk
	if err := f.emit(f.pack.appendAll(nil, footer)); err != nil {
		return err
	}
	info := appendUint(nil, 1, uint64(start))
	info = appendUint(info, 2, uint64(indexEnd-start))
	info = appendUint(info, 3, uint64(dataEnd-indexEnd))
	info = appendUint(info, 4, uint64(f.sunk-dataEnd))
	f.stripes = appendBytes(f.stripes, 3, appendUint(info, 5, uint64(f.stripeRows)))
	f.metadata = appendBytes(f.metadata, 1, statistics)
	for _, w := range f.columns {
		resetColumn(w)
	}
	f.rows += f.stripeRows
	f.stripeRows = 0
	return nil
}

// openRatio is how much smaller values that are not packed yet are expected to become.
const openRatio = 3

// Size implements format.Writer.
func (f *fileWriter) Size() int64 {
	packed, open := f.memory()
	return f.sunk + packed + open/openRatio
}

// Close implements format.Writer.
func (f *fileWriter) Close(ctx context.Context) (size int64, err error) {
	defer func() {
		if err != nil {
			f.Abort()
		}
	}()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := f.endStripe(); err != nil {
		return 0, err
	}
	if err := f.emit(f.tail()); err != nil {
		return 0, err
	}
	if err := f.out.Close(); err != nil {
		return 0, f.wrap(err)
	}
	f.done = true
	return f.sunk, nil
}

// tail is what follows the stripes: stripe statistics, footer, postscript and its length.
func (f *fileWriter) tail() []byte {
	out := f.pack.appendAll(nil, f.metadata)
	metadataLength := len(out)
	footer := appendUint(nil, 1, uint64(len(magic)))
	footer = appendUint(footer, 2, uint64(f.sunk))
	footer = append(footer, f.stripes...)
	for i := range f.types {
		footer = f.types[i].append(footer)
	}
	footer = appendUint(footer, 6, uint64(f.rows))
	for _, w := range f.columns {
		footer = appendBytes(footer, 7, w.base().file.append(nil))
	}
	footer = appendUint(footer, 8, uint64(f.opts.stride))
	footer = appendUint(footer, 9, writerJava)
	calendar := uint64(calendarHybrid)
	if f.opts.proleptic {
		calendar = calendarProleptic
	}
	footer = appendUint(footer, 11, calendar)
	footer = appendBytes(footer, 12, []byte(softwareVersion))
	out = f.pack.appendAll(out, footer)
	ps := appendUint(nil, 1, uint64(len(out)-metadataLength))
	ps = appendUint(ps, 2, uint64(f.opts.codec))
	if f.opts.codec != codecNone {
		ps = appendUint(ps, 3, uint64(f.opts.blockSize))
	}
	ps = appendPacked(ps, 4, []uint64{versionMajor, versionMinor})
	ps = appendUint(ps, 5, uint64(metadataLength))
	ps = appendUint(ps, 6, writerVersion)
	ps = appendBytes(ps, 8000, []byte(magic))
	return append(append(out, ps...), byte(len(ps)))
}

// Abort implements format.Writer.
func (f *fileWriter) Abort() {
	if !f.done {
		f.done = true
		if f.out != nil {
			_ = f.out.Abort()
		}
	}
}
