package parquet

import (
	"errors"
	"sort"
)

// Limits of page indexes.
const (
	// maxIndexBytes bounds a page index that is read.
	maxIndexBytes = 64 << 20
	// indexSpan is the distance up to which the indexes of several columns are
	// read at once.
	indexSpan = 1 << 20
)

var errIndex = errors.New("its page index is damaged")

// pageLocations is OffsetIndex: where the pages of a chunk are.
type pageLocations struct {
	offset   []int64
	firstRow []int64
}

// pageOf returns the page that holds a row of the row group.
func (p *pageLocations) pageOf(row int64) int {
	return sort.Search(len(p.firstRow), func(i int) bool { return p.firstRow[i] > row }) - 1
}

// end returns the row behind page i of a row group of rows.
func (p *pageLocations) end(i int, rows int64) int64 {
	if i+1 < len(p.firstRow) {
		return p.firstRow[i+1]
	}
	return rows
}

// pageBounds is ColumnIndex: the statistics of the pages of a chunk.
type pageBounds struct {
	nullPage   []bool
	min, max   [][]byte
	nullCounts []int64 // nil = unknown
}

// readMeta reads metadata; what the open file has of its tail is not read again.
func (f *File) readMeta(off int64, n int) ([]byte, error) {
	if off < magicLen || n < 0 || n > maxIndexBytes || off > f.size-int64(n) {
		return nil, errIndex
	}
	if from := off - f.tailOff; from >= 0 && from+int64(n) <= int64(len(f.tail)) {
		return f.tail[from : from+int64(n)], nil
	}
	b := make([]byte, n)
	return b, readAt(f.src, b, off)
}

// readSpans reads several spans, at once where they lie near each other. A
// span of length 0 gives nil.
func (f *File) readSpans(offs []int64, lens []int32) ([][]byte, error) {
	lo, hi := int64(1<<62), int64(0)
	for i, off := range offs {
		if lens[i] > 0 {
			lo, hi = min(lo, off), max(hi, off+int64(lens[i]))
		}
	}
	out := make([][]byte, len(offs))
	var all []byte
	var err error
	if hi > lo && hi-lo <= indexSpan {
		if all, err = f.readMeta(lo, int(hi-lo)); err != nil {
			return nil, err
		}
	}
	for i, off := range offs {
		switch {
		case lens[i] <= 0:
		case all != nil:
			out[i] = all[off-lo : off-lo+int64(lens[i])]
		default:
			if out[i], err = f.readMeta(off, int(lens[i])); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// parseLocations decodes an OffsetIndex and checks it against its chunk.
func parseLocations(b []byte, ch *chunk, rows int64) (*pageLocations, error) {
	r := &thriftReader{b: b}
	p := &pageLocations{}
	r.fields(func(id int16, typ byte) {
		if id != 1 {
			r.skip(typ)
			return
		}
		if !r.want(typ, thriftList) {
			return
		}
		n := r.structList()
		for i := 0; i < n && r.err == nil; i++ {
			var off, row int64
			r.fields(func(id int16, typ byte) {
				switch id {
				case 1:
					off = r.int64Field(typ)
				case 3:
					row = r.int64Field(typ)
				default:
					r.skip(typ)
				}
			})
			p.offset = append(p.offset, off)
			p.firstRow = append(p.firstRow, row)
		}
	})
	if r.err != nil {
		return nil, r.err
	}
	for i := range p.offset {
		prevOff, prevRow := ch.start()-1, int64(-1)
		if i > 0 {
			prevOff, prevRow = p.offset[i-1], p.firstRow[i-1]
		}
		if p.offset[i] <= prevOff || p.offset[i] >= ch.start()+ch.compressed || p.firstRow[i] < prevRow || p.firstRow[i] > rows {
			return nil, errIndex
		}
	}
	if len(p.firstRow) == 0 || p.firstRow[0] != 0 {
		return nil, errIndex
	}
	return p, nil
}

// parseBounds decodes a ColumnIndex of pages pages.
func parseBounds(b []byte, pages int) (*pageBounds, error) {
	r := &thriftReader{b: b}
	p := &pageBounds{}
	r.fields(func(id int16, typ byte) {
		switch id {
		case 1:
			if !r.want(typ, thriftList) {
				return
			}
			_, n := r.list()
			for i := 0; i < n && r.err == nil; i++ {
				p.nullPage = append(p.nullPage, r.byte() == thriftTrue)
			}
		case 2, 3:
			if !r.want(typ, thriftList) {
				return
			}
			elem, n := r.list()
			if n > 0 && elem != thriftBinary {
				r.fail()
			}
			var vals [][]byte
			for i := 0; i < n && r.err == nil; i++ {
				vals = append(vals, r.binary())
			}
			if id == 2 {
				p.min = vals
			} else {
				p.max = vals
			}
		case 5:
			if !r.want(typ, thriftList) {
				return
			}
			elem, n := r.list()
			if n > 0 && elem != thriftI64 {
				r.fail()
			}
			p.nullCounts = []int64{}
			for i := 0; i < n && r.err == nil; i++ {
				p.nullCounts = append(p.nullCounts, r.i64())
			}
		default:
			r.skip(typ)
		}
	})
	if r.err != nil {
		return nil, r.err
	}
	if len(p.nullPage) != pages || len(p.min) != pages || len(p.max) != pages || p.nullCounts != nil && len(p.nullCounts) != pages {
		return nil, errIndex
	}
	return p, nil
}

// loadLocations reads the page locations of the chunks that columns need. A
// column without an index, or with one that makes no sense, gets none: the
// index only saves work.
func (f *File) loadLocations(cols []*columnReader, g *rowGroup) error {
	var offs []int64
	var lens []int32
	var to []*pageReader
	for _, c := range cols {
		c.eachPageReader(func(p *pageReader) {
			ch := &g.chunks[p.n.leaf]
			if !p.locsTried && ch.offsetIndexLength > 0 {
				p.locsTried = true
				offs, lens, to = append(offs, ch.offsetIndexOffset), append(lens, ch.offsetIndexLength), append(to, p)
			}
		})
	}
	spans, err := f.readSpans(offs, lens)
	if err != nil {
		return unlessIndex(err)
	}
	for i, p := range to {
		if locs, err := parseLocations(spans[i], &g.chunks[p.n.leaf], g.rows); err == nil {
			p.locs = locs
		}
	}
	return nil
}

// unlessIndex returns err where it is a failure of storage.
func unlessIndex(err error) error {
	if errors.Is(err, errIndex) {
		return nil
	}
	return err
}

// loadBounds reads the page statistics of flat columns; nil where there are none.
func (f *File) loadBounds(cols []*columnReader, g *rowGroup) ([]*pageBounds, error) {
	offs, lens := make([]int64, len(cols)), make([]int32, len(cols))
	for i, c := range cols {
		if c != nil && c.flat != nil && c.flat.locs != nil {
			ch := &g.chunks[c.p.node.leaf]
			offs[i], lens[i] = ch.columnIdxOffset, ch.columnIdxLength
		}
	}
	out := make([]*pageBounds, len(cols))
	spans, err := f.readSpans(offs, lens)
	if err != nil {
		return out, unlessIndex(err)
	}
	for i, b := range spans {
		if b == nil {
			continue
		}
		if bounds, err := parseBounds(b, len(cols[i].flat.locs.offset)); err == nil {
			out[i] = bounds
		}
	}
	return out, nil
}
