package fileindex

import (
	"fmt"
	"math/bits"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
)

// rangeBitmap maps values to their ranks by a dictionary, and ranks to rows by
// bit slices.
type rangeBitmap struct {
	t           *schema.Type
	k           keyKind
	rows        int64
	cardinality int
	min, max    column.Scalar

	chunkCount      int
	offsets, chunks []byte
	keys            []byte
	slices          *sliceSet
}

func openRange(data []byte, t *schema.Type, rows int64) (reader, error) {
	x := &rangeBitmap{t: t, k: keyOf(t), rows: rows}
	all := buffer{b: data}
	head := buffer{b: all.take(all.i32())}
	if all.bad {
		return nil, errShort
	}
	if v := head.u8(); v != 1 && !head.bad {
		return nil, fmt.Errorf("version %d is unknown", v)
	}
	if err := checkRows(head.i32(), rows); err != nil {
		return nil, err
	}
	x.cardinality = head.i32()
	if x.cardinality > 0 {
		x.min, x.max = head.key(x.k), head.key(x.k)
	}
	dict := buffer{b: all.take(head.i32())}
	if head.bad || all.bad || x.cardinality < 0 || int64(x.cardinality) > rows {
		return nil, errShort
	}
	if x.cardinality == 0 {
		return x, nil
	}
	if err := x.openDictionary(&dict); err != nil {
		return nil, err
	}
	return x, x.openSlices(&all)
}

func (x *rangeBitmap) openDictionary(dict *buffer) error {
	head := buffer{b: dict.take(dict.i32())}
	if v := head.u8(); v != 1 && !head.bad {
		return fmt.Errorf("dictionary version %d is unknown", v)
	}
	x.chunkCount = head.i32()
	offsets, chunks := head.i32(), head.i32()
	x.offsets, x.chunks = dict.take(offsets), dict.take(chunks)
	x.keys = dict.b
	if head.bad || dict.bad || x.chunkCount < 1 || x.chunkCount > len(x.offsets)/4 {
		return errShort
	}
	return nil
}

func (x *rangeBitmap) openSlices(r *buffer) error {
	head := buffer{b: r.take(r.i32())}
	if v := head.u8(); v != 1 && !head.bad {
		return fmt.Errorf("slice version %d is unknown", v)
	}
	n := int(head.u8())
	exists := r.take(head.i32())
	index := buffer{b: head.take(head.i32())}
	if head.bad || r.bad || n < 1 || n > 31 || n < bits.Len(uint(x.cardinality-1)) || len(index.b) < 8*n {
		return errShort
	}
	s := &sliceSet{max: int64(x.cardinality - 1), bits: make([]*roaring.Bitmap, n)}
	var err error
	if s.exists, _, err = readRoaring(exists, x.rows); err != nil {
		return err
	}
	for j := range n {
		off, size := index.i32(), index.i32()
		if off < 0 || size < 0 || off > len(r.b) || size > len(r.b)-off {
			return errShort
		}
		if s.bits[j], _, err = readRoaring(r.b[off:off+size], x.rows); err != nil {
			return err
		}
	}
	x.slices = s
	return nil
}

// chunk is one part of the dictionary: a first key with its rank, and the keys
// that follow.
type chunk struct {
	first column.Scalar
	code  int
	n     int
	keys  []byte
	// offsets are those of the keys in keys, for variable-length keys.
	offsets []byte
	width   int
}

func (x *rangeBitmap) chunk(i int) (c chunk, err error) {
	off := buffer{b: x.offsets[4*i:]}
	at := off.i32()
	if at < 0 || at > len(x.chunks) {
		return c, errShort
	}
	r := buffer{b: x.chunks[at:]}
	if v := r.u8(); v != 1 && !r.bad {
		return c, fmt.Errorf("chunk version %d is unknown", v)
	}
	c.first = r.key(x.k)
	c.code = r.i32()
	start := r.i32()
	c.n = r.i32()
	area := buffer{b: x.keys}
	area.take(start)
	if x.k == keyText {
		offsets, keys := r.i32(), r.i32()
		c.offsets, c.keys = area.take(offsets), area.take(keys)
		if !r.bad && !area.bad && (c.n < 0 || c.n > len(c.offsets)/4) {
			return c, errShort
		}
	} else {
		keys := r.i32()
		c.width = r.i32()
		c.keys = area.take(keys)
		if !r.bad && !area.bad && (c.n < 0 || c.width < 1 || c.n > len(c.keys)/c.width) {
			return c, errShort
		}
	}
	if r.bad || area.bad || c.code < 0 || c.code+c.n >= x.cardinality {
		return c, errShort
	}
	return c, nil
}

// key returns key j after the chunk's first.
func (x *rangeBitmap) key(c *chunk, j int) (column.Scalar, error) {
	at := j * c.width
	if c.offsets != nil {
		o := buffer{b: c.offsets[4*j:]}
		at = o.i32()
	}
	if at < 0 || at > len(c.keys) {
		return column.Scalar{}, errShort
	}
	r := buffer{b: c.keys[at:]}
	k := r.key(x.k)
	if r.bad {
		return k, errShort
	}
	return k, nil
}

// rank returns the number of keys below k, and whether k is one.
func (x *rangeBitmap) rank(k column.Scalar) (code int, found bool, err error) {
	lo, hi := 0, x.chunkCount // the last chunk that does not begin above k
	for lo < hi {
		mid := (lo + hi) / 2
		c, err := x.chunk(mid)
		if err != nil {
			return 0, false, err
		}
		if c.first.Compare(k) <= 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return 0, false, nil
	}
	c, err := x.chunk(lo - 1)
	if err != nil {
		return 0, false, err
	}
	if c.first.Compare(k) == 0 {
		return c.code, true, nil
	}
	a, b := 0, c.n
	for a < b {
		mid := (a + b) / 2
		v, err := x.key(&c, mid)
		if err != nil {
			return 0, false, err
		}
		switch cmp := v.Compare(k); {
		case cmp == 0:
			return c.code + 1 + mid, true, nil
		case cmp < 0:
			a = mid + 1
		default:
			b = mid
		}
	}
	return c.code + 1 + a, false, nil
}

func (x *rangeBitmap) rowCount() int64 { return x.rows }

func (x *rangeBitmap) notNull() (*roaring.Bitmap, error) {
	if x.cardinality == 0 {
		return roaring.New(), nil
	}
	return x.slices.exists.Clone(), nil
}

func (x *rangeBitmap) eq(k column.Scalar) (*roaring.Bitmap, error) {
	if x.cardinality == 0 || k.Compare(x.min) < 0 || k.Compare(x.max) > 0 {
		return roaring.New(), nil
	}
	code, found, err := x.rank(k)
	if err != nil || !found {
		return roaring.New(), err
	}
	return x.slices.eq(int64(code)), nil
}

func (x *rangeBitmap) less(k column.Scalar, orEqual bool) (*roaring.Bitmap, error) {
	if x.cardinality == 0 {
		return roaring.New(), nil
	}
	code, found, err := x.rank(k)
	if err != nil {
		return nil, err
	}
	return x.slices.less(int64(code), orEqual && found), nil
}

func (x *rangeBitmap) leaf(l *predicate.Leaf) (*roaring.Bitmap, error) { return answer(x, l, x.t) }
