package fileindex

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"github.com/tributarydb/tributary/storage/errs"
)

const (
	containerMagic   = 1493475289347502
	containerVersion = 1
	// emptyStart marks an index of a column that has no value but null.
	emptyStart = -1
	// maxColumns and maxIndexes bound what a container may declare.
	maxColumns = 100_000
	maxIndexes = 1000
)

// The kinds of indexes that are evaluated.
const (
	BloomFilter = "bloom-filter"
	Bitmap      = "bitmap"
	BSI         = "bsi"
	RangeBitmap = "range-bitmap"
)

// Index is one index of one column.
type Index struct {
	// Column is the column's name in the file's schema, `m[key]` for the
	// values under a key of a map.
	Column string
	Type   string
	// Empty says that every value of the column is null; Data is nil then.
	Empty bool
	Data  []byte
}

// Container is a parsed file index container.
type Container struct {
	name    string
	indexes []Index
}

// Indexes lists the container's indexes.
func (c *Container) Indexes() []Index { return c.indexes }

// buffer reads big-endian values with bounds checks; bad is sticky.
type buffer struct {
	b   []byte
	bad bool
}

func (r *buffer) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.bad = true
		return nil
	}
	out := r.b[:n:n]
	r.b = r.b[n:]
	return out
}

func (r *buffer) u8() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *buffer) i32() int {
	if b := r.take(4); b != nil {
		return int(int32(binary.BigEndian.Uint32(b)))
	}
	return 0
}

func (r *buffer) i64() int64 {
	if b := r.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// utf reads a text of Java's DataOutput.writeUTF.
func (r *buffer) utf() string {
	n := 0
	if b := r.take(2); b != nil {
		n = int(binary.BigEndian.Uint16(b))
	}
	return modifiedUTF8(r.take(n))
}

// modifiedUTF8 decodes Java's modified UTF-8: C0 80 for NUL, surrogates coded
// one by one.
func modifiedUTF8(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	var out []byte
	unit := func(i int) (rune, int) {
		switch c := b[i]; {
		case c < 0x80:
			return rune(c), 1
		case c&0xe0 == 0xc0 && i+1 < len(b):
			return rune(c&0x1f)<<6 | rune(b[i+1]&0x3f), 2
		case c&0xf0 == 0xe0 && i+2 < len(b):
			return rune(c&0x0f)<<12 | rune(b[i+1]&0x3f)<<6 | rune(b[i+2]&0x3f), 3
		}
		return utf8.RuneError, 1
	}
	for i := 0; i < len(b); {
		r, n := unit(i)
		i += n
		if r >= 0xd800 && r < 0xdc00 && i < len(b) {
			if lo, m := unit(i); lo >= 0xdc00 && lo < 0xe000 {
				r = (r-0xd800)<<10 | (lo - 0xdc00) + 0x10000
				i += m
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}

// Parse parses a container: the bytes of an `.index` file or of an entry's
// embedded index. name is the file's, for messages. The result shares data.
func Parse(name string, data []byte) (*Container, error) {
	c := &Container{name: name}
	r := buffer{b: data}
	if magic := r.i64(); r.bad || magic != containerMagic {
		return nil, errs.Corruptf("file index %s is damaged: it does not begin as a file index", name)
	}
	if v := r.i32(); v != containerVersion && !r.bad {
		return nil, errs.Unsupportedf("file index %s has version %d, only %d can be read", name, v, containerVersion)
	}
	head := r.i32()
	cols := r.i32()
	if r.bad || head < 0 || head > len(data) || cols < 0 || cols > maxColumns {
		return nil, errs.Corruptf("file index %s is damaged: its head is cut off or wrong", name)
	}
	for range cols {
		col := r.utf()
		n := r.i32()
		if n < 0 || n > maxIndexes {
			r.bad = true
		}
		for range n {
			if r.bad {
				break
			}
			ix := Index{Column: col, Type: r.utf()}
			start, size := r.i32(), r.i32()
			switch {
			case r.bad:
			case start == emptyStart:
				ix.Empty = true
			case start < 0 || size < 0 || start > len(data) || size > len(data)-start:
				return nil, errs.Corruptf("file index %s is damaged: the %s index of column '%s' lies outside", name, ix.Type, col)
			default:
				ix.Data = data[start : start+size : start+size]
			}
			c.indexes = append(c.indexes, ix)
		}
		if r.bad {
			return nil, errs.Corruptf("file index %s is damaged: its head is cut off or wrong", name)
		}
	}
	return c, nil
}

// fail names the index in an error.
func (c *Container) fail(ix *Index, err error) error {
	return errs.Corruptf("file index %s is damaged: the %s index of column '%s': %w", c.name, ix.Type, ix.Column, err)
}

var errShort = fmt.Errorf("it is cut off")
