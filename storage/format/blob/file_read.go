package blob

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/schema"
)

const (
	recordMagic = 1481511375
	// recordHead is the magic, recordTail the length and the checksum around a value.
	recordHead = 4
	recordTail = 12
	recordLen  = recordHead + recordTail
	// footerLen is the length of the index and the version.
	footerLen   = 5
	fileVersion = 1
	// nullLength and placeholderLength stand for rows without a record.
	nullLength        = -1
	placeholderLength = -2

	// maxIndexBytes bounds the list of record lengths.
	maxIndexBytes = 256 << 20
	// maxValueBytes bounds one value.
	maxValueBytes = 1 << 30
	// batchBytes is the size of values at which a batch ends.
	batchBytes = 16 << 20
)

func init() { format.Register("blob", Open) }

// File is an open blob file.
type File struct {
	path    string
	src     fileio.File
	lengths []int64
}

// Open opens a blob file; it is the format.Opener of "blob".
func Open(ctx context.Context, fio fileio.FileIO, path string, size int64) (format.File, error) {
	src, err := fio.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	f := &File{path: path, src: src}
	if err := f.readIndex(size); err != nil {
		src.Close()
		return nil, f.wrap(err)
	}
	return f, nil
}

// storageError is a failure of storage, not of the file's content.
type storageError struct{ err error }

func (e *storageError) Error() string { return e.err.Error() }
func (e *storageError) Unwrap() error { return e.err }

func (f *File) wrap(err error) error {
	var st *storageError
	switch {
	case errors.As(err, &st):
		return fmt.Errorf("blob file %s cannot be read: %w", f.path, st.err)
	case errs.ClassOf(err) != errs.Unknown:
		return errs.New(errs.ClassOf(err), "blob file %s cannot be read: %w", f.path, err)
	}
	return errs.Corruptf("blob file %s is corrupt: %w", f.path, err)
}

func (f *File) readAt(b []byte, off int64) error {
	n, err := f.src.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return errors.New("the file ends early")
	}
	return &storageError{err}
}

// readIndex reads the record lengths at the end of the file.
func (f *File) readIndex(size int64) error {
	have := f.src.Size()
	if size >= 0 && size != have {
		return fmt.Errorf("it has %d bytes, the manifest says %d", have, size)
	}
	if have < footerLen {
		return fmt.Errorf("it has only %d bytes", have)
	}
	var tail [footerLen]byte
	if err := f.readAt(tail[:], have-footerLen); err != nil {
		return err
	}
	if tail[4] != fileVersion {
		return errs.Unsupportedf("version %d of the format is not read here", tail[4])
	}
	n := int64(int32(binary.LittleEndian.Uint32(tail[:])))
	if n < 0 || n > have-footerLen || n > maxIndexBytes {
		return fmt.Errorf("its index of %d bytes does not fit", n)
	}
	index := make([]byte, n)
	if err := f.readAt(index, have-footerLen-n); err != nil {
		return err
	}
	last, end, limit := int64(0), int64(0), have-footerLen-n
	for len(index) > 0 {
		d, k := binary.Varint(index)
		if k <= 0 {
			return errors.New("its index is malformed")
		}
		index = index[k:]
		last += d
		switch {
		case last == nullLength, last == placeholderLength:
		case last < recordLen || last > limit-end:
			return fmt.Errorf("its index claims a record of %d bytes", last)
		default:
			end += last
		}
		f.lengths = append(f.lengths, last)
	}
	if end != limit {
		return fmt.Errorf("its index covers %d of %d bytes", end, limit)
	}
	return nil
}

// Rows is the number of rows in the file.
func (f *File) Rows() int64 { return int64(len(f.lengths)) }

// Sections lists one section with every row.
func (f *File) Sections() []format.Section {
	if len(f.lengths) == 0 {
		return nil
	}
	return []format.Section{{Rows: f.Rows(), Bytes: f.src.Size()}}
}

// HasColumn is true for every name: a blob file's column has none.
func (f *File) HasColumn(string) bool { return true }

// Close closes the file.
func (f *File) Close() error { return f.src.Close() }

// reader yields the values.
type reader struct {
	f      *File
	cols   int
	row    int
	off    int64
	buf    []byte
	batch  column.Batch
	failed error
}

// Read starts reading; see format.File. Every requested column must be stored as bytes.
func (f *File) Read(ctx context.Context, opts format.ReadOptions) (format.Reader, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, c := range opts.Columns {
		if schema.KindOf(c.Type) != column.KindBytes {
			return nil, f.wrap(fmt.Errorf("column %s is not of a type that blob files hold", c.Name))
		}
	}
	r := &reader{f: f, cols: len(opts.Columns)}
	if opts.FromSection > 0 {
		r.row = len(f.lengths)
	}
	r.batch.Cols = make([]*column.Vector, r.cols)
	return r, nil
}

// Next returns the next batch; see format.Reader.
func (r *reader) Next(ctx context.Context) (*column.Batch, error) {
	if r.failed != nil {
		return nil, r.failed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.row >= len(r.f.lengths) {
		r.failed = io.EOF
		return nil, io.EOF
	}
	if err := r.next(); err != nil {
		r.failed = r.f.wrap(err)
		return nil, r.failed
	}
	return &r.batch, nil
}

func (r *reader) next() error {
	n, size := 0, int64(0)
	for _, l := range r.f.lengths[r.row:] {
		if l == placeholderLength && r.cols > 0 {
			return errs.Unsupportedf("row %d is a placeholder for a value of another file", r.row+n)
		}
		if l-recordLen > maxValueBytes {
			return errs.Limitf("row %d has %d bytes, the limit is %d", r.row+n, l-recordLen, maxValueBytes)
		}
		if n == column.MaxRows || n > 0 && size+max(l, 0) > batchBytes {
			break
		}
		size += max(l, 0)
		n++
	}
	lengths := r.f.lengths[r.row : r.row+n]
	r.batch.N, r.batch.Base = n, int64(r.row)
	off := r.off
	r.row += n
	r.off += size
	if r.cols == 0 {
		return nil
	}
	if int64(cap(r.buf)) < size {
		r.buf = make([]byte, size)
	}
	buf := r.buf[:size]
	if err := r.f.readAt(buf, off); err != nil {
		return err
	}
	v := &column.Vector{Kind: column.KindBytes, N: n, Ref: make([]column.Ref, n), Data: buf}
	at := int64(0)
	for i, l := range lengths {
		if l < 0 {
			v.SetNull(i)
			continue
		}
		rec := buf[at : at+l]
		body := rec[:l-4]
		switch {
		case binary.LittleEndian.Uint32(rec) != recordMagic,
			binary.LittleEndian.Uint64(rec[l-recordTail:]) != uint64(l):
			return fmt.Errorf("the record of row %d is damaged", r.batch.Base+int64(i))
		case binary.LittleEndian.Uint32(rec[l-4:]) != crc32.ChecksumIEEE(body):
			return fmt.Errorf("the checksum of row %d is wrong", r.batch.Base+int64(i))
		}
		v.Ref[i] = column.Ref{Off: uint32(at + recordHead), Len: uint32(l - recordLen)}
		at += l
	}
	for i := range r.batch.Cols {
		r.batch.Cols[i] = v
	}
	return nil
}

// Close ends reading.
func (r *reader) Close() error {
	r.failed, r.buf = io.EOF, nil
	return nil
}
