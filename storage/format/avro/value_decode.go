package avro

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Limits of values.
const (
	// maxDepth bounds the nesting of values that are passed over.
	maxDepth = 200
	// maxElements bounds the elements of one column's arrays and maps in a batch.
	maxElements = 1 << 26
)

var (
	errShort = errors.New("a value reaches beyond the end of its block")
	errForm  = errors.New("a value is malformed")
)

// decoder reads Avro's binary encoding.
type decoder struct {
	b   []byte
	pos int
	// elements counts array and map entries since it was last reset.
	elements int
}

func (d *decoder) long() (int64, error) {
	if d.pos < len(d.b) && d.b[d.pos] < 0x80 {
		c := d.b[d.pos]
		d.pos++
		return int64(c>>1) ^ -int64(c&1), nil
	}
	u, n := binary.Uvarint(d.b[d.pos:])
	if n <= 0 {
		if n == 0 {
			return 0, errShort
		}
		return 0, errForm
	}
	d.pos += n
	return int64(u>>1) ^ -int64(u&1), nil
}

func (d *decoder) int() (int32, error) {
	x, err := d.long()
	if err != nil {
		return 0, err
	}
	if x < math.MinInt32 || x > math.MaxInt32 {
		return 0, errForm
	}
	return int32(x), nil
}

// take returns the next n bytes, not a copy.
func (d *decoder) take(n int) ([]byte, error) {
	if n < 0 || n > len(d.b)-d.pos {
		return nil, errShort
	}
	b := d.b[d.pos : d.pos+n : d.pos+n]
	d.pos += n
	return b, nil
}

// bytes reads a length and that many bytes.
func (d *decoder) bytes() ([]byte, error) {
	n, err := d.long()
	if err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, errForm
	}
	if n > int64(len(d.b)-d.pos) {
		return nil, errShort
	}
	return d.take(int(n))
}

// blockCount reads the head of a block of array or map entries; 0 ends them.
func (d *decoder) blockCount() (int64, error) {
	n, err := d.long()
	if err != nil {
		return 0, err
	}
	if n < 0 {
		if n == math.MinInt64 {
			return 0, errForm
		}
		n = -n
		if _, err := d.long(); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// count adds array or map entries to what the batch has.
func (d *decoder) count(n int64) error {
	if n > maxElements || d.elements+int(n) > maxElements {
		return fmt.Errorf("a batch has more than %d array or map entries", maxElements)
	}
	d.elements += int(n)
	return nil
}

// blockHeader reads the head of a file block: records and stored bytes.
func (d *decoder) blockHeader() (rows, size int64, err error) {
	if rows, err = d.long(); err != nil {
		return 0, 0, err
	}
	if size, err = d.long(); err != nil {
		return 0, 0, err
	}
	if rows < 0 || rows > maxBlockBytes || size < 0 || size > maxBlockBytes {
		return 0, 0, fmt.Errorf("it claims %d records in %d bytes", rows, size)
	}
	return rows, size, nil
}

// branch reads the index of a union's branch.
func (d *decoder) branch(t *typ) (*typ, error) {
	i, err := d.long()
	if err != nil {
		return nil, err
	}
	if i < 0 || i >= int64(len(t.branches)) {
		return nil, errForm
	}
	return t.branches[i], nil
}

// skip passes over a value.
func (d *decoder) skip(t *typ, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("a value is nested deeper than %d levels", maxDepth)
	}
	var err error
	switch t.shape {
	case shapeNull:
	case shapeBoolean:
		_, err = d.take(1)
	case shapeInt, shapeLong, shapeEnum:
		_, err = d.long()
	case shapeFloat:
		_, err = d.take(4)
	case shapeDouble:
		_, err = d.take(8)
	case shapeBytes, shapeString:
		_, err = d.bytes()
	case shapeFixed:
		_, err = d.take(t.size)
	case shapeUnion:
		var b *typ
		if b, err = d.branch(t); err == nil {
			err = d.skip(b, depth+1)
		}
	case shapeRecord:
		for i := range t.fields {
			if err = d.skip(t.fields[i].typ, depth+1); err != nil {
				return err
			}
		}
	case shapeArray, shapeMap:
		for {
			n, err := d.blockCount()
			if err != nil || n == 0 {
				return err
			}
			if err := d.count(n); err != nil {
				return err
			}
			for ; n > 0; n-- {
				if t.shape == shapeMap {
					if _, err := d.bytes(); err != nil {
						return err
					}
				}
				if err := d.skip(t.elem, depth+1); err != nil {
					return err
				}
			}
		}
	}
	return err
}
