package binrow

import (
	"encoding/binary"
	"math"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// arityBytes is the length of the big-endian arity before a row in Avro bytes.
const arityBytes = 4

// maxDecimalBytes is the greatest length of a DECIMAL's magnitude.
const maxDecimalBytes = 16

// maxElements bounds the elements of one level of a column: elements may share
// bytes, so that few bytes can say a lot.
const maxElements = 1 << 22

// maxDepth bounds the nesting of rows that are decoded.
const maxDepth = schema.MaxTypeDepth

// Empty is the framed row without fields: the partition of an unpartitioned table.
var Empty = []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

// nullBytes is the length of a row's null-bit area.
func nullBytes(arity int) int { return (arity + 63 + 8) / 64 * 8 }

// Row is a row's bytes, without arity prefix, checked to hold its fixed part.
type Row struct {
	b     []byte
	arity int
}

// Parse checks framed bytes (section 5.1) and returns the row.
func Parse(framed []byte) (Row, error) {
	if len(framed) < arityBytes {
		return Row{}, errs.Corruptf("a row of %d bytes is too short", len(framed))
	}
	n := int32(binary.BigEndian.Uint32(framed))
	if n < 0 || int(n) > len(framed) {
		return Row{}, errs.Corruptf("a row says it has %d fields in %d bytes", n, len(framed))
	}
	return NewRow(framed[arityBytes:], int(n))
}

// NewRow checks the bytes of a row of arity fields, without prefix.
func NewRow(b []byte, arity int) (Row, error) {
	if len(b) < nullBytes(arity)+8*arity {
		return Row{}, errs.Corruptf("a row of %d fields has only %d bytes", arity, len(b))
	}
	return Row{b: b, arity: arity}, nil
}

// Arity is the number of fields.
func (r Row) Arity() int { return r.arity }

// Bytes are the row's bytes without prefix.
func (r Row) Bytes() []byte { return r.b }

// IsNull reports whether field i is null.
func (r Row) IsNull(i int) bool { return r.b[(i+8)/8]&(1<<((i+8)%8)) != 0 }

func (r Row) slot(i int) []byte {
	o := nullBytes(r.arity) + 8*i
	return r.b[o : o+8]
}

// field is a value's slot and what its offsets are relative to.
type field struct {
	slot, base []byte
}

// span resolves a variable-length slot.
func (f field) span() ([]byte, error) {
	v := binary.LittleEndian.Uint64(f.slot)
	return sub(f.base, v>>32, v&math.MaxUint32)
}

func sub(base []byte, off, n uint64) ([]byte, error) {
	if off > uint64(len(base)) || n > uint64(len(base))-off {
		return nil, errs.Corruptf("a row points to %d bytes at %d of %d", n, off, len(base))
	}
	return base[off : off+n : off+n], nil
}

// bytes returns a text or binary value, inline or not.
func (f field) bytes() ([]byte, error) {
	if mark := f.slot[7]; mark&0x80 != 0 {
		n := int(mark & 0x7f)
		if n > 7 {
			return nil, errs.Corruptf("a row holds %d bytes inline", n)
		}
		return f.slot[:n:n], nil
	}
	return f.span()
}

func (f field) decimal() (column.Int128, error) {
	b, err := f.span()
	if err != nil {
		return column.Int128{}, err
	}
	if len(b) > maxDecimalBytes {
		return column.Int128{}, errs.Corruptf("a row holds a decimal of %d bytes", len(b))
	}
	d, ok := column.FromBigEndian(b)
	if !ok {
		return d, errs.Corruptf("a row holds a decimal that does not fit 128 bits")
	}
	return d, nil
}

// timestamp returns microseconds and nanoseconds of the microsecond.
func (f field) timestamp(precision int) (int64, uint16, error) {
	v := binary.LittleEndian.Uint64(f.slot)
	millis, nanos := int64(v), int64(0)
	if precision > 3 {
		b, err := sub(f.base, v>>32, 8)
		if err != nil {
			return 0, 0, err
		}
		millis, nanos = int64(binary.LittleEndian.Uint64(b)), int64(v&math.MaxUint32)
	}
	if nanos > 999_999 || millis > math.MaxInt64/1000-1 || millis < math.MinInt64/1000+1 {
		return 0, 0, errs.Corruptf("a row holds a timestamp out of range: %d ms and %d ns", millis, nanos)
	}
	return millis*1000 + nanos/1000, uint16(nanos % 1000), nil
}

// scalar decodes a not-null value of a non-nested type.
func (f field) scalar(t *schema.Type) (column.Scalar, error) {
	s := column.Scalar{Kind: schema.KindOf(t)}
	var err error
	switch t.Root {
	case schema.Boolean:
		if f.slot[0] != 0 {
			s.I = 1
		}
	case schema.TinyInt:
		s.I = int64(int8(f.slot[0]))
	case schema.SmallInt:
		s.I = int64(int16(binary.LittleEndian.Uint16(f.slot)))
	case schema.Int, schema.Date, schema.Time:
		s.I = int64(int32(binary.LittleEndian.Uint32(f.slot)))
	case schema.BigInt:
		s.I = int64(binary.LittleEndian.Uint64(f.slot))
	case schema.Float:
		s.F = float64(math.Float32frombits(binary.LittleEndian.Uint32(f.slot)))
	case schema.Double:
		s.F = math.Float64frombits(binary.LittleEndian.Uint64(f.slot))
	case schema.Decimal:
		if t.Precision <= schema.MaxCompactPrecision {
			s.I = int64(binary.LittleEndian.Uint64(f.slot))
		} else {
			s.D, err = f.decimal()
		}
	case schema.Timestamp, schema.TimestampLTZ:
		s.I, s.Sub, err = f.timestamp(t.Precision)
	case schema.Char, schema.Varchar, schema.Binary, schema.Varbinary, schema.Blob, schema.Geometry, schema.Geography:
		s.B, err = f.bytes()
	default:
		return s, errs.Unsupportedf("a value of type %s cannot be a single value", t)
	}
	return s, err
}

// Scalar decodes field i of a non-nested type; bytes are shared, not copied.
func (r Row) Scalar(i int, t *schema.Type) (column.Scalar, error) {
	if i >= r.arity {
		return column.Scalar{}, errs.Corruptf("a row has %d fields, field %d is wanted", r.arity, i)
	}
	if r.IsNull(i) {
		return column.NullScalar(schema.KindOf(t)), nil
	}
	return field{r.slot(i), r.b}.scalar(t)
}

// DecodeRow decodes framed bytes of a row whose types are all non-nested:
// partitions, keys. The number of fields must be that of the types. Bytes are shared, not copied.
func DecodeRow(types []*schema.Type, framed []byte) ([]column.Scalar, error) {
	r, err := Parse(framed)
	if err != nil {
		return nil, err
	}
	return r.Decode(types)
}

// Decode decodes all fields, whose types are non-nested.
func (r Row) Decode(types []*schema.Type) ([]column.Scalar, error) {
	if r.arity != len(types) {
		return nil, errs.Corruptf("a row has %d fields, its schema %d", r.arity, len(types))
	}
	out := make([]column.Scalar, len(types))
	for i, t := range types {
		var err error
		if out[i], err = r.Scalar(i, t); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Append decodes all fields, of any types, into builders (schema.NewBuilder of each type).
func (r Row) Append(types []*schema.Type, dst []*column.Builder) error {
	if r.arity != len(types) {
		return errs.Corruptf("a row has %d fields, its schema %d", r.arity, len(types))
	}
	return r.append(types, dst, 0)
}

func (r Row) append(types []*schema.Type, dst []*column.Builder, depth int) error {
	for i, t := range types {
		if r.IsNull(i) {
			dst[i].AppendNull()
			continue
		}
		if err := (field{r.slot(i), r.b}).append(t, dst[i], depth); err != nil {
			return err
		}
	}
	return nil
}

// append decodes a not-null value of any type.
func (f field) append(t *schema.Type, dst *column.Builder, depth int) error {
	if !t.IsNested() {
		s, err := f.scalar(t)
		if err != nil {
			return err
		}
		dst.AppendScalar(s)
		return nil
	}
	if depth > maxDepth {
		return errs.Corruptf("a row is nested deeper than %d levels", maxDepth)
	}
	b, err := f.span()
	if err != nil {
		return err
	}
	switch t.Root {
	case schema.Row:
		types := schema.ChildTypes(t)
		r, err := NewRow(b, len(types))
		if err != nil {
			return err
		}
		kids := make([]*column.Builder, len(types))
		for i := range kids {
			kids[i] = dst.Child(i)
		}
		if err := r.append(types, kids, depth+1); err != nil {
			return err
		}
		dst.EndStruct()
	case schema.Variant:
		if len(b) < 4 {
			return errs.Corruptf("a VARIANT of %d bytes is too short", len(b))
		}
		n := uint64(binary.LittleEndian.Uint32(b))
		v, err := sub(b[4:], 0, n)
		if err != nil {
			return err
		}
		dst.Child(0).AppendBytes(v)
		dst.Child(1).AppendBytes(b[4+n:])
		dst.EndStruct()
	case schema.VectorType:
		if len(b) < 4 {
			return errs.Corruptf("a VECTOR of %d bytes is too short", len(b))
		}
		if err := appendElements(b, b[4:], nil, int(int32(binary.LittleEndian.Uint32(b))), t.Elem, dst.Child(0), depth); err != nil {
			return err
		}
		dst.EndList()
	case schema.Array:
		if err := appendArray(b, t.Elem, dst.Child(0), depth); err != nil {
			return err
		}
		dst.EndList()
	case schema.Map, schema.Multiset:
		kids := schema.ChildTypes(t)
		key := kids[0]
		if len(b) < 4 {
			return errs.Corruptf("a MAP of %d bytes is too short", len(b))
		}
		n := uint64(binary.LittleEndian.Uint32(b))
		keys, err := sub(b[4:], 0, n)
		if err != nil {
			return err
		}
		if err := appendArray(keys, key, dst.Child(0), depth); err != nil {
			return err
		}
		if err := appendArray(b[4+n:], kids[1], dst.Child(1), depth); err != nil {
			return err
		}
		if dst.Child(0).Len() != dst.Child(1).Len() {
			return errs.Corruptf("a MAP has %d keys and %d values", dst.Child(0).Len(), dst.Child(1).Len())
		}
		dst.EndList()
	}
	return nil
}

// elementWidth is the width of an element's slot in an array.
func elementWidth(t *schema.Type) int {
	switch t.Root {
	case schema.Boolean, schema.TinyInt:
		return 1
	case schema.SmallInt:
		return 2
	case schema.Int, schema.Date, schema.Time, schema.Float:
		return 4
	}
	return 8
}

// arrayHeader is the length of an array's count and null bits.
func arrayHeader(n int) int { return 4 + (n+31)/32*4 }

func appendArray(b []byte, elem *schema.Type, dst *column.Builder, depth int) error {
	if len(b) < 4 {
		return errs.Corruptf("an ARRAY of %d bytes is too short", len(b))
	}
	n := int(int32(binary.LittleEndian.Uint32(b)))
	if n < 0 || n > 8*len(b) || arrayHeader(n) > len(b) {
		return errs.Corruptf("an ARRAY says it has %d elements in %d bytes", n, len(b))
	}
	return appendElements(b, b[arrayHeader(n):], b[4:arrayHeader(n)], n, elem, dst, depth)
}

// appendElements decodes n elements whose slots begin with slots; nulls may be nil.
func appendElements(base, slots, nulls []byte, n int, elem *schema.Type, dst *column.Builder, depth int) error {
	w := elementWidth(elem)
	if n < 0 || n > len(slots)/w || n > maxElements-dst.Len() {
		return errs.Corruptf("an ARRAY says it has %d elements in %d bytes", n, len(base))
	}
	var pad [8]byte
	for i := range n {
		if nulls != nil && nulls[i/8]&(1<<(i%8)) != 0 {
			dst.AppendNull()
			continue
		}
		slot := slots[i*w : i*w+w]
		if w < 8 {
			pad = [8]byte{}
			copy(pad[:], slot)
			slot = pad[:]
		}
		if err := (field{slot, base}).append(elem, dst, depth+1); err != nil {
			return err
		}
	}
	return nil
}
