package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/tributarydb/tributary/storage/column"
)

// Basic types of the Variant encoding: the two low bits of a value's first byte.
const (
	variantBasicPrimitive = 0
	variantBasicShort     = 1
	variantBasicObject    = 2
	variantBasicArray     = 3
	// maxShortString is the greatest length of a string that has its length in the first byte.
	maxShortString = 63
)

var errVariant = errors.New("a shredded VARIANT value is malformed")

// variantBuilder rebuilds values against one metadata dictionary at a time.
type variantBuilder struct {
	metadata []byte
	ids      map[string]uint32
}

// setMetadata parses a metadata dictionary: the names of object fields.
func (b *variantBuilder) setMetadata(m []byte) error {
	if b.ids != nil && bytes.Equal(m, b.metadata) {
		return nil
	}
	if len(m) < 2 || m[0]&0xf != 1 {
		return errVariant
	}
	size := int(m[0]>>6) + 1
	n, ok := readLE(m, 1, size)
	if !ok || n > len(m) {
		return errVariant
	}
	b.metadata = append(b.metadata[:0], m...)
	b.ids = make(map[string]uint32, n)
	start := 1 + size*(n+2)
	for i := range n {
		from, ok1 := readLE(m, 1+size*(i+1), size)
		to, ok2 := readLE(m, 1+size*(i+2), size)
		if !ok1 || !ok2 || from > to || start > len(m)-to {
			return errVariant
		}
		b.ids[string(m[start+from:start+to])] = uint32(i)
	}
	return nil
}

// name returns the name of a field id.
func (b *variantBuilder) name(id int) (string, bool) {
	m := b.metadata
	size := int(m[0]>>6) + 1
	n, _ := readLE(m, 1, size)
	if id >= n {
		return "", false
	}
	start := 1 + size*(n+2)
	from, _ := readLE(m, 1+size*(id+1), size)
	to, _ := readLE(m, 1+size*(id+2), size)
	return string(m[start+from : start+to]), true
}

// readLE reads a little-endian integer of size 1 to 4 bytes.
func readLE(b []byte, at, size int) (int, bool) {
	if at < 0 || at > len(b)-size {
		return 0, false
	}
	x := 0
	for i := size - 1; i >= 0; i-- {
		x = x<<8 | int(b[at+i])
	}
	return x, true
}

func appendLE(dst []byte, x, size int) []byte {
	for range size {
		dst = append(dst, byte(x))
		x >>= 8
	}
	return dst
}

// rebuild appends the value of row i of v, a vector of s's group; present is
// false where there is none.
func (b *variantBuilder) rebuild(dst []byte, s *shredNode, v *column.Vector, i int) (out []byte, present bool, err error) {
	var value []byte
	hasValue := s.value >= 0 && !v.Children[s.value].IsNull(i)
	if hasValue {
		value = v.Children[s.value].Bytes(i)
	}
	if s.typed < 0 || v.Children[s.typed].IsNull(i) {
		if hasValue && len(value) == 0 {
			return nil, false, errVariant
		}
		return append(dst, value...), hasValue, nil
	}
	typed := v.Children[s.typed]
	switch {
	case s.object:
		out, err = b.object(dst, s, typed, i, value)
	case hasValue:
		err = errVariant
	case s.elem != nil:
		out, err = b.array(dst, s.elem, typed, i)
	default:
		out, err = appendVariantPrimitive(dst, s, typed, i)
	}
	return out, true, err
}

func (b *variantBuilder) array(dst []byte, elem *shredNode, v *column.Vector, i int) ([]byte, error) {
	var data []byte
	ends := []int{0}
	for j := v.Offsets[i]; j < v.Offsets[i+1]; j++ {
		out, present, err := b.rebuild(data, elem, v.Children[0], int(j))
		if err != nil {
			return nil, err
		}
		if data = out; !present {
			data = append(data, byte(variantNull)<<2)
		}
		ends = append(ends, len(data))
	}
	n := len(ends) - 1
	size := leSize(len(data))
	large, countSize := 0, 1
	if n > math.MaxUint8 {
		large, countSize = 1, 4
	}
	dst = append(dst, byte(large<<2|(size-1))<<2|variantBasicArray)
	dst = appendLE(dst, n, countSize)
	for _, e := range ends {
		dst = appendLE(dst, e, size)
	}
	return append(dst, data...), nil
}

// leSize returns the number of bytes that hold x.
func leSize(x int) int {
	switch {
	case x < 1<<8:
		return 1
	case x < 1<<16:
		return 2
	case x < 1<<24:
		return 3
	}
	return 4
}

// variantField is a field of an object that is put together.
type variantField struct {
	name string
	id   uint32
	data []byte
}

// object joins the shredded fields with those of rest, an object that holds
// the others, empty for none.
func (b *variantBuilder) object(dst []byte, s *shredNode, v *column.Vector, i int, rest []byte) ([]byte, error) {
	var fields []variantField
	for k, f := range s.fields {
		if v.Children[k].IsNull(i) {
			continue
		}
		data, present, err := b.rebuild(nil, f.node, v.Children[k], i)
		if err != nil {
			return nil, err
		}
		if !present {
			continue
		}
		id, ok := b.ids[f.name]
		if !ok {
			return nil, errVariant
		}
		fields = append(fields, variantField{f.name, id, data})
	}
	if len(rest) > 0 {
		var err error
		if fields, err = b.addFields(fields, rest); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(fields, func(a, b variantField) int { return bytes.Compare([]byte(a.name), []byte(b.name)) })
	total, maxID := 0, 0
	for k, f := range fields {
		if k > 0 && f.name == fields[k-1].name {
			return nil, errVariant
		}
		total += len(f.data)
		maxID = max(maxID, int(f.id))
	}
	offSize, idSize := leSize(total), leSize(maxID)
	large, countSize := 0, 1
	if len(fields) > math.MaxUint8 {
		large, countSize = 1, 4
	}
	dst = append(dst, byte(large<<4|(idSize-1)<<2|(offSize-1))<<2|variantBasicObject)
	dst = appendLE(dst, len(fields), countSize)
	for _, f := range fields {
		dst = appendLE(dst, int(f.id), idSize)
	}
	at := 0
	for _, f := range fields {
		dst = appendLE(dst, at, offSize)
		at += len(f.data)
	}
	dst = appendLE(dst, at, offSize)
	for _, f := range fields {
		dst = append(dst, f.data...)
	}
	return dst, nil
}

// addFields appends the fields of an encoded object.
func (b *variantBuilder) addFields(fields []variantField, obj []byte) ([]variantField, error) {
	if obj[0]&3 != variantBasicObject {
		return nil, errVariant
	}
	head := obj[0] >> 2
	offSize, idSize, countSize := int(head&3)+1, int(head>>2&3)+1, 1
	if head>>4&1 != 0 {
		countSize = 4
	}
	n, ok := readLE(obj, 1, countSize)
	if !ok || n > len(obj) {
		return nil, errVariant
	}
	ids := 1 + countSize
	offs := ids + n*idSize
	data := offs + (n+1)*offSize
	if data > len(obj) {
		return nil, errVariant
	}
	for i := range n {
		id, _ := readLE(obj, ids+i*idSize, idSize)
		off, _ := readLE(obj, offs+i*offSize, offSize)
		name, ok := b.name(id)
		if !ok || off > len(obj)-data {
			return nil, errVariant
		}
		size, ok := variantSize(obj[data+off:])
		if !ok {
			return nil, errVariant
		}
		fields = append(fields, variantField{name, uint32(id), obj[data+off : data+off+size]})
	}
	return fields, nil
}

// variantFixedSize holds the lengths of the primitives behind their first byte, -1 for those with a length.
var variantFixedSize = [...]int{0, 0, 0, 1, 2, 4, 8, 8, 5, 9, 17, 4, 8, 8, 4, -1, -1, 8, 8, 8, 16}

// variantSize returns the encoded length of the value at the start of b.
func variantSize(b []byte) (int, bool) {
	if len(b) == 0 {
		return 0, false
	}
	size := 0
	head := int(b[0] >> 2)
	switch b[0] & 3 {
	case variantBasicShort:
		size = 1 + head
	case variantBasicPrimitive:
		if head >= len(variantFixedSize) {
			return 0, false
		}
		if size = 1 + variantFixedSize[head]; size == 0 {
			n, ok := readLE(b, 1, 4)
			if !ok {
				return 0, false
			}
			size = 5 + n
		}
	default:
		offSize, idSize, large := head&3+1, 0, head>>2&1
		if b[0]&3 == variantBasicObject {
			idSize, large = head>>2&3+1, head>>4&1
		}
		countSize := 1 + 3*large
		n, ok := readLE(b, 1, countSize)
		if !ok || n > len(b) {
			return 0, false
		}
		offs := 1 + countSize + n*idSize
		end, ok := readLE(b, offs+n*offSize, offSize)
		if !ok {
			return 0, false
		}
		size = offs + (n+1)*offSize + end
	}
	return size, size <= len(b)
}

// appendVariantPrimitive encodes row i of a typed_value column.
func appendVariantPrimitive(dst []byte, s *shredNode, v *column.Vector, i int) ([]byte, error) {
	head := func(p variantPrimitive) { dst = append(dst, byte(p)<<2) }
	v, i = v.At(i)
	switch p := s.prim; p {
	case variantTrue:
		if v.I32[i] == 0 {
			p = variantFalse
		}
		head(p)
	case variantInt8:
		head(p)
		dst = append(dst, byte(v.I32[i]))
	case variantInt16:
		head(p)
		dst = binary.LittleEndian.AppendUint16(dst, uint16(v.I32[i]))
	case variantInt32, variantDate:
		head(p)
		dst = binary.LittleEndian.AppendUint32(dst, uint32(v.I32[i]))
	case variantInt64:
		head(p)
		dst = binary.LittleEndian.AppendUint64(dst, uint64(v.I64[i]))
	case variantFloat:
		head(p)
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v.F32[i]))
	case variantDouble:
		head(p)
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.F64[i]))
	case variantDecimal4, variantDecimal8, variantDecimal16:
		head(p)
		dst = append(dst, byte(s.scale))
		x := v.Dec128(i)
		dst = appendLE(dst, int(int64(x.Lo)), min(8, 4<<(p-variantDecimal4)))
		if p == variantDecimal16 {
			dst = binary.LittleEndian.AppendUint64(dst, uint64(x.Hi))
		}
	case variantTimestamp, variantTimestampNTZ:
		head(p)
		dst = binary.LittleEndian.AppendUint64(dst, uint64(v.I64[i]))
	case variantTimestampNanos, variantTimestampNTZNs:
		head(p)
		dst = binary.LittleEndian.AppendUint64(dst, uint64(v.I64[i]*1000+int64(v.SubNanos(i))))
	case variantUUID:
		if len(v.Bytes(i)) != 16 {
			return nil, errVariant
		}
		head(p)
		dst = append(dst, v.Bytes(i)...)
	case variantString, variantBinary:
		b := v.Bytes(i)
		if p == variantString && len(b) <= maxShortString {
			dst = append(dst, byte(len(b))<<2|variantBasicShort)
		} else {
			head(p)
			dst = binary.LittleEndian.AppendUint32(dst, uint32(len(b)))
		}
		dst = append(dst, b...)
	default:
		return nil, errVariant
	}
	return dst, nil
}
