package parquet

import (
	"context"
	"errors"
	"fmt"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/format"
)

// Limits of a file.
const (
	// tailGuess is how much of the file's end is read at first.
	tailGuess = 64 << 10
	// maxFooter bounds the footer.
	maxFooter = 256 << 20
	// maxGroupRows bounds the rows of a row group.
	maxGroupRows = 1 << 31
	// magicLen is the length of the magic at both ends of a file.
	magicLen = 4
	// sectionRows is about the number of rows of a section: row groups that are
	// larger are split, so that they can be read in parallel.
	sectionRows = 250000
	// sectionUnit divides the first row of every section in a row group: the
	// greatest number of rows that Paimon's writer puts in a page, so that pages
	// are not cut.
	sectionUnit = 20000
)

func init() { format.Register("parquet", Open) }

// File is an open Parquet file.
type File struct {
	path   string
	src    fileio.File
	size   int64
	meta   *footer
	root   *node
	leaves []*node
	// tail is the end of the file as first read, from tailOff on: footer and
	// often page indexes.
	tail     []byte
	tailOff  int64
	sections []groupRows
	dicts    dictCache
}

// groupRows is a range of rows of a row group.
type groupRows struct {
	group    int
	from, to int64
}

// Open opens a Parquet file; it is the format.Opener of "parquet".
func Open(ctx context.Context, fio fileio.FileIO, path string, size int64) (format.File, error) {
	src, err := fio.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	f, err := open(src, path, size)
	if err != nil {
		src.Close()
		return nil, err
	}
	return f, nil
}

func open(src fileio.File, path string, size int64) (f *File, err error) {
	f = &File{path: path, src: src, size: src.Size()}
	defer func() {
		if r := recover(); r != nil {
			f, err = nil, errs.Corruptf("parquet file %s is corrupt: %v", path, r)
		}
	}()
	if size >= 0 && size != f.size {
		return nil, errs.Corruptf("parquet file %s is corrupt: it has %d bytes, the manifest says %d", path, f.size, size)
	}
	if err := f.readFooter(); err != nil {
		return nil, f.wrap(err)
	}
	return f, nil
}

// wrap classifies an error of the file's content and names the file.
func (f *File) wrap(err error) error {
	var st *storageError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &st):
		return fmt.Errorf("parquet file %s cannot be read: %w", f.path, st.err)
	case errors.Is(err, errEncrypted):
		return errs.Unsupportedf("parquet file %s cannot be read: %w", f.path, err)
	case errs.ClassOf(err) != errs.Unknown:
		return errs.New(errs.ClassOf(err), "parquet file %s cannot be read: %w", f.path, err)
	}
	return errs.Corruptf("parquet file %s is corrupt: %w", f.path, err)
}

func (f *File) readFooter() error {
	if f.size < 2*magicLen+4 {
		return fmt.Errorf("it has only %d bytes", f.size)
	}
	tail := make([]byte, min(f.size, tailGuess))
	if err := readAt(f.src, tail, f.size-int64(len(tail))); err != nil {
		return err
	}
	n, err := footerTail(tail[len(tail)-8:])
	if err != nil {
		return err
	}
	if n > maxFooter || n > f.size-8-magicLen {
		return fmt.Errorf("its footer of %d bytes does not fit its %d bytes", n, f.size)
	}
	var b []byte
	if have := int64(len(tail) - 8); n <= have {
		b = tail[have-n : have]
	} else {
		b = make([]byte, n)
		if err := readAt(f.src, b, f.size-8-n); err != nil {
			return err
		}
	}
	f.tail, f.tailOff = tail, f.size-int64(len(tail))
	f.meta, err = parseFooter(b)
	if err != nil {
		return fmt.Errorf("its footer is damaged: %w", err)
	}
	f.root, f.leaves, err = buildTree(f.meta.elements)
	if err != nil {
		return err
	}
	if err := f.checkGroups(f.size - 8 - n); err != nil {
		return err
	}
	f.split()
	return nil
}

// split makes the sections: row groups, or parts of large ones that have a
// page index, with which a reader finds its pages without reading those before.
func (f *File) split() {
	for i := range f.meta.groups {
		g := &f.meta.groups[i]
		size := g.rows
		if parts := (g.rows + sectionRows/2) / sectionRows; parts > 1 && g.indexed() {
			size = (g.rows/parts + sectionUnit - 1) / sectionUnit * sectionUnit
			g.split = size < g.rows
		}
		for from := int64(0); from < g.rows; from += size {
			f.sections = append(f.sections, groupRows{i, from, min(from+size, g.rows)})
		}
	}
}

// indexed reports whether every column has a page index.
func (g *rowGroup) indexed() bool {
	for i := range g.chunks {
		if g.chunks[i].offsetIndexLength <= 0 {
			return false
		}
	}
	return len(g.chunks) > 0
}

// checkGroups checks the row groups against the schema and the file; data
// pages must end before limit.
func (f *File) checkGroups(limit int64) error {
	rows := int64(0)
	for gi := range f.meta.groups {
		g := &f.meta.groups[gi]
		if g.rows < 0 || g.rows > maxGroupRows {
			return fmt.Errorf("row group %d claims %d rows", gi, g.rows)
		}
		if len(g.chunks) != len(f.leaves) {
			return fmt.Errorf("row group %d has %d columns, the schema %d", gi, len(g.chunks), len(f.leaves))
		}
		g.firstRow = rows
		rows += g.rows
		g.bytes = 0
		for i := range g.chunks {
			c, n := &g.chunks[i], f.leaves[i]
			switch {
			case c.otherFile:
				return fmt.Errorf("column %s of row group %d lies in another file", n.path, gi)
			case c.encrypted:
				return errEncrypted
			case c.typ != n.typ:
				return fmt.Errorf("column %s of row group %d has the type %s, the schema says %s", n.path, gi, c.typ, n.typ)
			case c.numValues < 0 || n.maxRep == 0 && c.numValues != g.rows:
				return fmt.Errorf("column %s of row group %d has %d values in %d rows", n.path, gi, c.numValues, g.rows)
			case c.compressed < 0 || c.start() < magicLen || c.dataOffset > limit || c.compressed > limit-c.start():
				return fmt.Errorf("column %s of row group %d lies outside the file", n.path, gi)
			}
			g.bytes += c.compressed
		}
	}
	if rows != f.meta.rows {
		return fmt.Errorf("its row groups have %d rows, its footer says %d", rows, f.meta.rows)
	}
	return nil
}

// Rows is the number of rows in the file.
func (f *File) Rows() int64 { return f.meta.rows }

// Sections lists the row groups, large ones in parts.
func (f *File) Sections() []format.Section {
	out := make([]format.Section, len(f.sections))
	for i, s := range f.sections {
		g := &f.meta.groups[s.group]
		rows := s.to - s.from
		out[i] = format.Section{FirstRow: g.firstRow + s.from, Rows: rows, Bytes: int64(float64(g.bytes) * float64(rows) / float64(g.rows))}
	}
	return out
}

// HasColumn reports whether the file holds a top-level column.
func (f *File) HasColumn(name string) bool { return f.root.child(name) != nil }

// Close closes the file.
func (f *File) Close() error { return f.src.Close() }
