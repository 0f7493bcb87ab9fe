package parquet

import (
	"io"

	"github.com/tributarydb/tributary/storage/column"
)

// flatColumn reads a top-level column without nesting: one level entry a row.
type flatColumn struct {
	pageReader
	vec     column.Vector
	valid   []uint64
	dense   scratch
	spreadS scratch
}

// pageRows returns the number of rows left in the current page, moving to the
// next page where there is none.
func (f *flatColumn) pageRows() (int, error) {
	if n := f.left(); n > 0 {
		return n, nil
	}
	if err := f.advance(); err != nil {
		if err == io.EOF {
			return 0, errValues
		}
		return 0, err
	}
	return f.left(), nil
}

// skip passes over n rows.
func (f *flatColumn) skip(n int64) error {
	if f.locs != nil && n > int64(f.left()) {
		row := f.seen + n // of the row group: one level entry a row
		if f.hasPage {
			row += int64(f.pos)
		}
		if i := f.locs.pageOf(row); i >= 0 && f.locs.offset[i] >= f.offset {
			f.jump(i)
			n = row - f.seen
		}
	}
	for n > 0 {
		left, err := f.pageRows()
		if err != nil {
			return err
		}
		k := int(min(int64(left), n))
		if f.loaded {
			nn := k
			if f.n.maxDef == 1 {
				if nn, err = f.defl.countOnes(k); err != nil {
					return err
				}
			}
			if f.hdr.values-f.pos > k { // nothing of a finished page is wanted
				if err := f.vals.skip(nn); err != nil {
					return err
				}
			}
		}
		f.pos += k
		n -= int64(k)
	}
	return nil
}

// read returns the next n rows, which must lie in the current page. The vector
// is valid until the next call.
func (f *flatColumn) read(n int) (*column.Vector, error) {
	if err := f.load(); err != nil {
		return nil, err
	}
	f.pos += n
	f.vec = column.Vector{Kind: f.kind, N: n}
	v := &f.vec
	if f.n.maxDef == 0 || f.defl.allOnes(n) {
		return v, f.take(n, v, &f.dense)
	}
	words := (n + 63) / 64
	valid := grow(&f.valid, words)
	ones, err := f.defl.decodeBits(valid, n)
	if err != nil {
		return nil, err
	}
	if err := f.take(ones, v, &f.dense); err != nil {
		return nil, err
	}
	if ones < n {
		spreadVector(v, valid, n, &f.spreadS)
	}
	return v, nil
}
