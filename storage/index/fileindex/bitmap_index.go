package fileindex

import (
	"bytes"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
)

// readRoaring reads a portable Roaring bitmap whose positions are below rows,
// and returns what follows it.
func readRoaring(b []byte, rows int64) (*roaring.Bitmap, []byte, error) {
	out := roaring.New()
	n, err := out.ReadFrom(bytes.NewReader(b))
	if err != nil {
		return nil, nil, fmt.Errorf("a bitmap is wrong: %w", err)
	}
	if n < 0 || n > int64(len(b)) {
		return nil, nil, errShort
	}
	if !out.IsEmpty() {
		if err := out.Validate(); err != nil {
			return nil, nil, fmt.Errorf("a bitmap is wrong: %w", err)
		}
		if int64(out.Maximum()) >= rows {
			return nil, nil, fmt.Errorf("a bitmap has row %d of %d", out.Maximum(), rows)
		}
	}
	return out, b[n:], nil
}

// checkRows compares an index's row count with the file's.
func checkRows(got int, want int64) error {
	if int64(got) != want {
		return fmt.Errorf("it covers %d rows, the file has %d", got, want)
	}
	return nil
}

// bitmapIndex is the bitmap index of version 1 or 2: a bitmap of rows for
// every value.
type bitmapIndex struct {
	t    *schema.Type
	k    keyKind
	rows int64
	// hasNull and null say where the rows of null are.
	hasNull bool
	null    bitmapRef
	// values are the entries of version 1; blocks the ones of version 2.
	values map[string]bitmapRef
	blocks []bitmapBlock
	index  []byte // blocks
	body   []byte // bitmaps
}

// bitmapRef is an offset into the bitmaps, or -1-row for a single row.
type bitmapRef struct{ offset, length int }

type bitmapBlock struct {
	first  column.Scalar
	offset int
}

// mapKey makes a key comparable: its bits, so that equal means the same value.
func mapKey(k column.Scalar) string {
	if k.Kind == column.KindBytes {
		return string(k.B)
	}
	return fmt.Sprint(k.I, k.F)
}

func openBitmap(data []byte, t *schema.Type, rows int64) (reader, error) {
	r := buffer{b: data}
	version := r.u8()
	if r.bad {
		return nil, errShort
	}
	x := &bitmapIndex{t: t, k: keyOf(t), rows: rows}
	switch version {
	case 1, 2:
	default:
		return nil, fmt.Errorf("version %d is unknown", version)
	}
	if err := checkRows(r.i32(), rows); err != nil {
		return nil, err
	}
	distinct := r.i32()
	x.hasNull = r.u8() != 0
	x.null.length = -1
	if x.hasNull {
		x.null.offset = r.i32()
		if version == 2 {
			x.null.length = r.i32()
		}
	}
	if r.bad || distinct < 0 || distinct > len(data) {
		return nil, errShort
	}
	if version == 1 {
		x.values = make(map[string]bitmapRef, distinct)
		for range distinct {
			k := r.key(x.k)
			x.values[mapKey(k)] = bitmapRef{r.i32(), -1}
			if r.bad {
				return nil, errShort
			}
		}
		x.body = r.b
		return x, nil
	}
	n := r.i32()
	if r.bad || n < 0 || n > len(data) {
		return nil, errShort
	}
	for range n {
		b := bitmapBlock{first: r.key(x.k), offset: r.i32()}
		if r.bad {
			return nil, errShort
		}
		x.blocks = append(x.blocks, b)
	}
	size := r.i32()
	x.index = r.take(size)
	if r.bad {
		return nil, errShort
	}
	x.body = r.b
	return x, nil
}

func (x *bitmapIndex) rowCount() int64 { return x.rows }

// read returns the rows of an entry.
func (x *bitmapIndex) read(ref bitmapRef) (*roaring.Bitmap, error) {
	if ref.offset < 0 {
		row := int64(-1 - ref.offset)
		if row >= x.rows {
			return nil, fmt.Errorf("a value has row %d of %d", row, x.rows)
		}
		return roaring.BitmapOf(uint32(row)), nil
	}
	if ref.offset > len(x.body) || ref.length > len(x.body)-ref.offset {
		return nil, errShort
	}
	b := x.body[ref.offset:]
	if ref.length >= 0 {
		b = b[:ref.length]
	}
	out, _, err := readRoaring(b, x.rows)
	return out, err
}

func (x *bitmapIndex) eq(k column.Scalar) (*roaring.Bitmap, error) {
	if x.values != nil {
		ref, ok := x.values[mapKey(k)]
		if !ok {
			return roaring.New(), nil
		}
		return x.read(ref)
	}
	// The last block whose first value is not above k.
	lo, hi := 0, len(x.blocks)
	for lo < hi {
		mid := (lo + hi) / 2
		if x.blocks[mid].first.Compare(k) <= 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return roaring.New(), nil
	}
	off := x.blocks[lo-1].offset
	if off < 0 || off > len(x.index) {
		return nil, errShort
	}
	r := buffer{b: x.index[off:]}
	for range r.i32() {
		v := r.key(x.k)
		ref := bitmapRef{r.i32(), r.i32()}
		if r.bad {
			return nil, errShort
		}
		if c := v.Compare(k); c == 0 {
			return x.read(ref)
		} else if c > 0 {
			break
		}
	}
	if r.bad {
		return nil, errShort
	}
	return roaring.New(), nil
}

// less cannot be told without reading every bitmap.
func (x *bitmapIndex) less(column.Scalar, bool) (*roaring.Bitmap, error) { return nil, nil }

func (x *bitmapIndex) notNull() (*roaring.Bitmap, error) {
	null := roaring.New()
	if x.hasNull {
		var err error
		if null, err = x.read(x.null); err != nil {
			return nil, err
		}
	}
	return roaring.Flip(null, 0, uint64(x.rows)), nil
}

func (x *bitmapIndex) leaf(l *predicate.Leaf) (*roaring.Bitmap, error) { return answer(x, l, x.t) }
