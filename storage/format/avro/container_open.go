package avro

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/format"
)

// Limits of a file.
const (
	// headerGuess is how much of the file's start is read at first.
	headerGuess = 64 << 10
	// maxHeaderBytes bounds the file header.
	maxHeaderBytes = 32 << 20
	// maxBlockBytes bounds a block, stored and decompressed.
	maxBlockBytes = 1 << 30
	// maxEmptyRows bounds the records of a block whose schema lets a record take no bytes.
	maxEmptyRows = 1 << 20
	// sectionBytes is the stored size from which blocks make a section of their own.
	sectionBytes = 8 << 20
	// blockPeek is what is read to learn the size of the next block: two varints, after a sync marker.
	blockPeek = syncLen + 2*binary.MaxVarintLen64
	// scanWindow is how much is read at a time while block headers are looked for.
	scanWindow = 64 << 10
	syncLen    = 16
)

var magic = []byte{'O', 'b', 'j', 1}

func init() { format.Register("avro", Open) }

// section is a run of blocks.
type section struct {
	format.Section
	from, to int64 // offsets in the file
}

// File is an open Avro container file.
type File struct {
	path     string
	src      fileio.File
	size     int64
	codec    string
	root     *typ // the record, or the union around it
	record   *typ
	sync     [syncLen]byte
	sections []section
	rows     int64
}

// Open opens an Avro data file; it is the format.Opener of "avro".
func Open(ctx context.Context, fio fileio.FileIO, path string, size int64) (format.File, error) {
	src, err := fio.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	f, err := open(ctx, src, path, size)
	if err != nil {
		src.Close()
		return nil, err
	}
	return f, nil
}

func open(ctx context.Context, src fileio.File, path string, size int64) (f *File, err error) {
	f = &File{path: path, src: src, size: src.Size(), codec: "null"}
	defer func() {
		if r := recover(); r != nil {
			f, err = nil, errs.Corruptf("avro file %s is corrupt: %v", path, r)
		}
	}()
	if size >= 0 && size != f.size {
		return nil, errs.Corruptf("avro file %s is corrupt: it has %d bytes, the manifest says %d", path, f.size, size)
	}
	at, err := f.readHeader()
	if err == nil {
		err = f.scanBlocks(ctx, at)
	}
	if err != nil {
		return nil, f.wrap(err)
	}
	return f, nil
}

// storageError is a failure of storage, not of the file's content.
type storageError struct{ err error }

func (e *storageError) Error() string { return e.err.Error() }
func (e *storageError) Unwrap() error { return e.err }

// wrap classifies an error of the file's content and names the file.
func (f *File) wrap(err error) error {
	var st *storageError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &st):
		return fmt.Errorf("avro file %s cannot be read: %w", f.path, st.err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errs.ClassOf(err) != errs.Unknown:
		return errs.New(errs.ClassOf(err), "avro file %s cannot be read: %w", f.path, err)
	}
	return errs.Corruptf("avro file %s is corrupt: %w", f.path, err)
}

// readAt reads up to n bytes at off; fewer only at the end of the file.
func (f *File) readAt(buf []byte, off int64, n int) ([]byte, error) {
	if int64(n) > f.size-off {
		n = int(f.size - off)
	}
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	m, err := f.src.ReadAt(buf, off)
	if m == n {
		return buf, nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return nil, errors.New("the file ends early")
	}
	return nil, &storageError{err}
}

// readHeader reads magic, metadata and sync marker, and returns the offset of the first block.
func (f *File) readHeader() (int64, error) {
	var buf []byte
	for guess := headerGuess; ; guess *= 16 {
		var err error
		if buf, err = f.readAt(buf, 0, guess); err != nil {
			return 0, err
		}
		if !bytes.HasPrefix(buf, magic) {
			return 0, errors.New("it does not begin with the Avro magic")
		}
		n, err := f.parseHeader(buf)
		if err == nil {
			return n, nil
		}
		if !errors.Is(err, errShort) || int64(len(buf)) == f.size || guess > maxHeaderBytes {
			return 0, fmt.Errorf("its header is damaged: %w", err)
		}
	}
}

func (f *File) parseHeader(b []byte) (int64, error) {
	d := decoder{b: b, pos: len(magic)}
	var schemaText []byte
	codec := "null"
	for {
		n, err := d.blockCount()
		if err != nil {
			return 0, err
		}
		if n == 0 {
			break
		}
		for ; n > 0; n-- {
			k, err := d.bytes()
			if err != nil {
				return 0, err
			}
			v, err := d.bytes()
			if err != nil {
				return 0, err
			}
			switch string(k) {
			case "avro.schema":
				schemaText = v
			case "avro.codec":
				codec = string(v)
			}
		}
	}
	mark, err := d.take(syncLen)
	if err != nil {
		return 0, err
	}
	copy(f.sync[:], mark)
	if schemaText == nil {
		return 0, errors.New("it has no schema")
	}
	if _, ok := codecs[codec]; !ok {
		return 0, errs.Unsupportedf("the codec %q is not read here", codec)
	}
	f.codec = codec
	if f.root, err = parseSchema(schemaText); err != nil {
		return 0, err
	}
	f.record = f.root
	if f.root.shape == shapeUnion {
		_, f.record, err = nullable(f.root)
		if err != nil {
			return 0, err
		}
	}
	if f.record == nil || f.record.shape != shapeRecord {
		return 0, fmt.Errorf("its schema is %s, not a record", f.root)
	}
	return int64(d.pos), nil
}

// scanBlocks finds the blocks by their headers and checks the sync markers.
func (f *File) scanBlocks(ctx context.Context, at int64) error {
	cur := section{from: at}
	var buf []byte
	var bufOff int64
	for at < f.size {
		if err := ctx.Err(); err != nil {
			return err
		}
		peek := min(int64(blockPeek), f.size-at)
		if at < bufOff || at+peek > bufOff+int64(len(buf)) {
			var err error
			if buf, err = f.readAt(buf, at, scanWindow); err != nil {
				return err
			}
			bufOff = at
		}
		d := decoder{b: buf[at-bufOff:]}
		rows, size, err := d.blockHeader()
		if err != nil {
			return fmt.Errorf("the block at byte %d is damaged: %w", at, err)
		}
		next := at + int64(d.pos) + size + syncLen
		if next > f.size {
			return fmt.Errorf("the block at byte %d reaches beyond the end of the file", at)
		}
		// The marker is looked at with the next block's header.
		mark := next - syncLen
		if mark < bufOff || next > bufOff+int64(len(buf)) {
			if buf, err = f.readAt(buf, mark, scanWindow); err != nil {
				return err
			}
			bufOff = mark
		}
		if !bytes.Equal(buf[mark-bufOff:next-bufOff], f.sync[:]) {
			return fmt.Errorf("the block at byte %d does not end with the sync marker", at)
		}
		cur.Rows += rows
		f.rows += rows
		at = next
		if at-cur.from >= sectionBytes || at == f.size {
			cur.to, cur.Bytes = at, at-cur.from
			if cur.Rows > 0 {
				f.sections = append(f.sections, cur)
			}
			cur = section{from: at}
			cur.FirstRow = f.rows
		}
	}
	return nil
}

// Rows is the number of rows in the file.
func (f *File) Rows() int64 { return f.rows }

// Sections lists runs of blocks.
func (f *File) Sections() []format.Section {
	var out []format.Section
	for _, s := range f.sections {
		out = append(out, s.Section)
	}
	return out
}

// HasColumn reports whether the file holds a top-level column.
func (f *File) HasColumn(name string) bool { return f.record.field(name) != nil }

// Close closes the file.
func (f *File) Close() error { return f.src.Close() }
