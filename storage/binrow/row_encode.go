package binrow

import (
	"encoding/binary"
	"math"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// writer builds one row or array: a fixed part, then variable data that slots
// point to, relative to start.
type writer struct {
	buf   []byte
	start int
}

func (w *writer) pad8() {
	for (len(w.buf)-w.start)%8 != 0 {
		w.buf = append(w.buf, 0)
	}
}

// slotRef writes (offset << 32) | low for variable data that follows now.
func (w *writer) slotRef(slot int, low uint32) {
	binary.LittleEndian.PutUint64(w.buf[slot:], uint64(len(w.buf)-w.start)<<32|uint64(low))
}

// reserveNull makes the slot of a null as Java does: decimals that are not
// compact and timestamps above milliseconds keep their variable bytes.
func (w *writer) reserveNull(slot int, t *schema.Type) {
	switch {
	case t.Root == schema.Decimal && t.Precision > schema.MaxCompactPrecision:
		w.slotRef(slot, 0)
		w.buf = append(w.buf, make([]byte, maxDecimalBytes)...)
	case (t.Root == schema.Timestamp || t.Root == schema.TimestampLTZ) && t.Precision > 3:
		w.slotRef(slot, 0)
		w.buf = append(w.buf, make([]byte, 8)...)
	}
}

// value writes a not-null scalar into a slot of the given width.
func (w *writer) value(slot int, t *schema.Type, s column.Scalar) {
	switch t.Root {
	case schema.Boolean, schema.TinyInt:
		w.buf[slot] = byte(s.I)
	case schema.SmallInt:
		binary.LittleEndian.PutUint16(w.buf[slot:], uint16(s.I))
	case schema.Int, schema.Date, schema.Time:
		binary.LittleEndian.PutUint32(w.buf[slot:], uint32(s.I))
	case schema.Float:
		binary.LittleEndian.PutUint32(w.buf[slot:], math.Float32bits(float32(s.F)))
	case schema.Double:
		binary.LittleEndian.PutUint64(w.buf[slot:], math.Float64bits(s.F))
	case schema.BigInt:
		binary.LittleEndian.PutUint64(w.buf[slot:], uint64(s.I))
	case schema.Decimal:
		if t.Precision <= schema.MaxCompactPrecision {
			binary.LittleEndian.PutUint64(w.buf[slot:], uint64(s.I))
			return
		}
		b := minimalBigEndian(s.D)
		w.slotRef(slot, uint32(len(b)))
		w.buf = append(w.buf, b...)
		w.buf = append(w.buf, make([]byte, maxDecimalBytes-len(b))...)
	case schema.Timestamp, schema.TimestampLTZ:
		millis := s.I / 1000
		if s.I%1000 < 0 {
			millis--
		}
		if t.Precision <= 3 {
			binary.LittleEndian.PutUint64(w.buf[slot:], uint64(millis))
			return
		}
		nanos := (s.I-millis*1000)*1000 + int64(s.Sub)
		w.slotRef(slot, uint32(nanos))
		w.buf = binary.LittleEndian.AppendUint64(w.buf, uint64(millis))
	default:
		if len(s.B) <= 7 {
			copy(w.buf[slot:], s.B)
			w.buf[slot+7] = 0x80 | byte(len(s.B))
			return
		}
		w.slotRef(slot, uint32(len(s.B)))
		w.buf = append(w.buf, s.B...)
		w.pad8()
	}
}

// minimalBigEndian returns d's shortest two's complement bytes.
func minimalBigEndian(d column.Int128) []byte {
	b := make([]byte, 16)
	binary.BigEndian.PutUint64(b, uint64(d.Hi))
	binary.BigEndian.PutUint64(b[8:], d.Lo)
	for len(b) > 1 && (b[0] == 0 && b[1]&0x80 == 0 || b[0] == 0xff && b[1]&0x80 != 0) {
		b = b[1:]
	}
	return b
}

// EncodeRow encodes a row of non-nested types with its arity prefix.
func EncodeRow(types []*schema.Type, vals []column.Scalar) []byte {
	dst := binary.BigEndian.AppendUint32(nil, uint32(len(types)))
	return AppendRow(dst, types, vals)
}

// AppendRow appends the bytes of a row of non-nested types, without prefix:
// what bucket hashes are computed over.
func AppendRow(dst []byte, types []*schema.Type, vals []column.Scalar) []byte {
	n := len(types)
	w := writer{start: len(dst)}
	w.buf = append(dst, make([]byte, nullBytes(n)+8*n)...)
	for i, t := range types {
		slot := w.start + nullBytes(n) + 8*i
		if vals[i].Null {
			w.buf[w.start+(i+8)/8] |= 1 << ((i + 8) % 8)
			w.reserveNull(slot, t)
			continue
		}
		w.value(slot, t, vals[i])
	}
	return w.buf
}

// AppendRowOf appends the bytes of row i of columns of any types, without prefix.
func AppendRowOf(dst []byte, types []*schema.Type, cols []*column.Vector, i int) []byte {
	n := len(types)
	w := writer{start: len(dst)}
	w.buf = append(dst, make([]byte, nullBytes(n)+8*n)...)
	for c, t := range types {
		slot := w.start + nullBytes(n) + 8*c
		if cols[c].IsNull(i) {
			w.buf[w.start+(c+8)/8] |= 1 << ((c + 8) % 8)
			w.reserveNull(slot, t)
			continue
		}
		w.any(slot, t, cols[c], i)
	}
	return w.buf
}

// any writes a not-null value of any type.
func (w *writer) any(slot int, t *schema.Type, v *column.Vector, i int) {
	if !t.IsNested() {
		if v.Kind == column.KindBytes {
			w.value(slot, t, column.BytesScalar(v.Bytes(i))) // not a copy
			return
		}
		w.value(slot, t, column.ScalarAt(v, i))
		return
	}
	v, i = v.At(i)
	var b []byte
	switch t.Root {
	case schema.Row:
		b = AppendRowOf(nil, schema.ChildTypes(t), v.Children, i)
	case schema.Variant:
		val := v.Children[0].Bytes(i)
		b = binary.LittleEndian.AppendUint32(nil, uint32(len(val)))
		b = append(append(b, val...), v.Children[1].Bytes(i)...)
	case schema.Array:
		b = encodeArray(t.Elem, v.Children[0], int(v.Offsets[i]), int(v.Offsets[i+1]))
	case schema.VectorType:
		from, to := int(v.Offsets[i]), int(v.Offsets[i+1])
		width := elementWidth(t.Elem)
		e := writer{buf: make([]byte, 4+width*(to-from))}
		binary.LittleEndian.PutUint32(e.buf, uint32(to-from))
		for j := from; j < to; j++ {
			e.value(4+width*(j-from), t.Elem, column.ScalarAt(v.Children[0], j))
		}
		b = e.buf
	case schema.Map, schema.Multiset:
		kids := schema.ChildTypes(t)
		from, to := int(v.Offsets[i]), int(v.Offsets[i+1])
		keys := encodeArray(kids[0], v.Children[0], from, to)
		b = binary.LittleEndian.AppendUint32(nil, uint32(len(keys)))
		b = append(append(b, keys...), encodeArray(kids[1], v.Children[1], from, to)...)
	}
	w.slotRef(slot, uint32(len(b)))
	w.buf = append(w.buf, b...)
	w.pad8()
}

func encodeArray(elem *schema.Type, v *column.Vector, from, to int) []byte {
	n, width := to-from, elementWidth(elem)
	head := arrayHeader(n)
	w := writer{buf: make([]byte, (head+n*width+7)/8*8)}
	binary.LittleEndian.PutUint32(w.buf, uint32(n))
	for j := range n {
		slot := head + j*width
		if v.IsNull(from + j) {
			w.buf[4+j/8] |= 1 << (j % 8)
			w.reserveNull(slot, elem)
			continue
		}
		w.any(slot, elem, v, from+j)
	}
	return w.buf
}
