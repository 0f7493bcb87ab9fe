package orc

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/format"
)

// Name is the identifier of the format.
const Name = "orc"

func init() { format.Register(Name, Open) }

const magic = "ORC"

// file is an open ORC file. All but the metadata is read-only once it is open.
type file struct {
	f         fileio.File
	path      string
	codec     codec
	blockSize int
	version2  bool
	// trusted says that the writer's statistics can be used to skip rows.
	trusted  bool
	footer   footer
	columns  map[string]int // top-level name to type id
	sections []format.Section
	// tail are the last bytes, which opening has read: all of a small file.
	tail piece

	metadataOffset, metadataLength int64
	metadataOnce                   sync.Mutex
	metadata                       [][][]byte
	metadataRead                   bool
}

// Open opens an ORC file; it is a format.Opener.
func Open(ctx context.Context, fio fileio.FileIO, path string, size int64) (format.File, error) {
	f, err := fio.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	out, err := open(ctx, f, path, size)
	if err != nil {
		f.Close()
		return nil, err
	}
	return out, nil
}

func open(ctx context.Context, f fileio.File, path string, want int64) (*file, error) {
	size := f.Size()
	if want >= 0 && size != want {
		return nil, errs.Corruptf("file %s has %d bytes, the manifest says %d", path, size, want)
	}
	if size < int64(2*len(magic)+1) {
		return nil, errs.Corruptf("file %s is not an ORC file: it has %d bytes", path, size)
	}
	bad := func(format string, args ...any) error {
		return errs.Corruptf("file %s is not a valid ORC file: %w", path, fmt.Errorf(format, args...))
	}
	out := &file{f: f, path: path}
	tail := make([]byte, min(size, tailReadBytes))
	if err := out.readRange(ctx, tail, size-int64(len(tail))); err != nil {
		return nil, err
	}
	out.tail = piece{offset: size - int64(len(tail)), data: tail}
	head := make([]byte, len(magic))
	if err := out.readRange(ctx, head, 0); err != nil {
		return nil, err
	}
	if string(head) != magic {
		return nil, bad("it starts with %q", head)
	}
	psLength := int(tail[len(tail)-1])
	if psLength == 0 || psLength+1 > len(tail) {
		return nil, bad("a postscript of %d bytes in %d", psLength, size)
	}
	ps, err := parsePostscript(tail[len(tail)-1-psLength : len(tail)-1])
	if err != nil {
		return nil, bad("postscript: %w", err)
	}
	if ps.magic != magic {
		return nil, bad("its postscript has the magic %q; it may be cut off", ps.magic)
	}
	out.codec, out.trusted = codec(ps.compression), ps.writerVersion >= writerVersionTrusted
	if ps.compression >= uint64(codecCount) {
		return nil, errs.Unsupportedf("file %s: ORC compression %d is not known", path, ps.compression)
	}
	if len(ps.version) > 0 {
		switch major, minor := ps.version[0], uint64(0); {
		case major > 2:
			return nil, errs.Unsupportedf("file %s: ORC version %d is not known", path, major)
		default:
			if len(ps.version) > 1 {
				minor = ps.version[1]
			}
			// 1.9999 is the preview of version 2.
			out.version2 = major == 2 || major == 1 && minor >= 9999
		}
	}
	switch {
	case out.codec == codecNone || ps.blockSize == 0:
		out.blockSize = defaultCompressionBlock
	case ps.blockSize > maxCompressionBlock:
		return nil, bad("compression blocks of %d bytes", ps.blockSize)
	default:
		out.blockSize = int(ps.blockSize)
	}
	end := uint64(size) - 1 - uint64(psLength) // of the footer
	if ps.footerLength > end || ps.metadataLength > end-ps.footerLength {
		return nil, bad("a footer of %d bytes and metadata of %d in %d", ps.footerLength, ps.metadataLength, size)
	}
	footerAt := int64(end - ps.footerLength)
	out.metadataOffset, out.metadataLength = footerAt-int64(ps.metadataLength), int64(ps.metadataLength)
	raw, err := out.section(ctx, footerAt, int64(ps.footerLength), maxFooterBytes)
	if err != nil {
		return nil, asCorrupt(err, path, "footer")
	}
	if out.footer, err = parseFooter(raw); err != nil {
		return nil, bad("footer: %w", err)
	}
	if out.footer.encrypted {
		return nil, errs.Unsupportedf("file %s is encrypted, which is not supported", path)
	}
	if err := checkTypes(out.footer.types); err != nil {
		return nil, bad("footer: %w", err)
	}
	if err := out.checkStripes(uint64(out.metadataOffset)); err != nil {
		return nil, bad("footer: %w", err)
	}
	root := &out.footer.types[0]
	out.columns = make(map[string]int, len(root.names))
	for i, name := range root.names {
		if _, ok := out.columns[name]; ok {
			return nil, bad("two columns are named %q", name)
		}
		out.columns[name] = root.children[i]
	}
	return out, nil
}

// ioError marks an error of reading a file, so that it is not taken for damage of its content.
type ioError struct{ error }

func (e ioError) Unwrap() error { return e.error }

// isDecoding reports whether err came from the bytes of a file rather than from reading them, and has no class yet.
func isDecoding(err error) bool {
	var io ioError
	return err != nil && errs.ClassOf(err) == errs.Unknown && !errors.As(err, &io)
}

// asCorrupt classifies an error of decoding a part of a file.
func asCorrupt(err error, path, what string) error {
	if !isDecoding(err) {
		return err
	}
	return errs.Corruptf("file %s is not a valid ORC file: %s: %w", path, what, err)
}

// section reads and decompresses a part of the file.
func (f *file) section(ctx context.Context, at, length int64, limit int) ([]byte, error) {
	raw := make([]byte, length)
	if err := f.readRange(ctx, raw, at); err != nil {
		return nil, err
	}
	return f.codec.decompressAll(raw, f.blockSize, limit)
}

// checkStripes checks that the stripes lie one behind the other before end, and fills in the sections.
func (f *file) checkStripes(end uint64) error {
	rows, at := uint64(0), uint64(0)
	for i := range f.footer.stripes {
		s := &f.footer.stripes[i]
		left := end
		for _, n := range []uint64{s.offset, s.indexLength, s.dataLength, s.footerLength} {
			if n > left {
				return fmt.Errorf("stripe %d ends beyond the stripes' part of the file", i)
			}
			left -= n
		}
		if s.offset < at {
			return fmt.Errorf("stripe %d starts inside the one before", i)
		}
		at = end - left
		s.firstRow = int64(rows)
		if s.rows > 1<<62-rows {
			return fmt.Errorf("stripe %d has %d rows", i, s.rows)
		}
		rows += s.rows
		f.sections = append(f.sections, format.Section{FirstRow: s.firstRow, Rows: int64(s.rows), Bytes: int64(at - s.offset)})
	}
	if rows != f.footer.rows {
		return fmt.Errorf("%d rows in the stripes, %d in all", rows, f.footer.rows)
	}
	return nil
}

// Rows implements format.File.
func (f *file) Rows() int64 { return int64(f.footer.rows) }

// Sections implements format.File.
func (f *file) Sections() []format.Section { return f.sections }

// HasColumn implements format.File.
func (f *file) HasColumn(name string) bool {
	_, ok := f.columns[name]
	return ok
}

// Close implements format.File.
func (f *file) Close() error { return f.f.Close() }

// stripeStats returns the statistics of a stripe's columns, nil where the
// file has none. They are read at the first use.
func (f *file) stripeStats(ctx context.Context, stripe int) ([][]byte, error) {
	f.metadataOnce.Lock()
	defer f.metadataOnce.Unlock()
	if !f.metadataRead && f.metadataLength > 0 {
		raw, err := f.section(ctx, f.metadataOffset, f.metadataLength, maxMetadataBytes)
		if err == nil {
			f.metadata, err = parseStripeStatistics(raw, len(f.footer.stripes), len(f.footer.types))
		}
		if err != nil {
			return nil, asCorrupt(err, f.path, "stripe statistics")
		}
	}
	f.metadataRead = true
	if stripe >= len(f.metadata) {
		return nil, nil
	}
	return f.metadata[stripe], nil
}
