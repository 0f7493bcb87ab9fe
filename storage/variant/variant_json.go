package variant

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
)

// Limits of what is accepted.
const (
	// maxDepth bounds the nesting of objects and arrays.
	maxDepth = 1000
	// maxDecimalScale is the greatest scale of a decimal.
	maxDecimalScale = 38
)

// version is the only version of the metadata format.
const version = 1

// Basic types, the two lowest bits of a value's first byte.
const (
	basicPrimitive = iota
	basicShortString
	basicObject
	basicArray
)

// Primitive type ids.
const (
	primNull = iota
	primTrue
	primFalse
	primInt8
	primInt16
	primInt32
	primInt64
	primDouble
	primDecimal4
	primDecimal8
	primDecimal16
	primDate
	primTimestamp
	primTimestampNTZ
	primFloat
	primBinary
	primString
	primTime
	primTimestampNanos
	primTimestampNTZNanos
	primUUID
)

type decoder struct {
	value []byte
	// names are the offsets of the dictionary's strings, offSize bytes each.
	count   int
	offSize int
	offsets []byte
	strings []byte
	// left is what the values may still occupy: values of a sound VARIANT do not overlap, so that their sizes add up to no more than
	// its length. It stops small inputs that refer to one value many times.
	left int
}

func corrupt(format string, args ...any) error {
	return errs.Corruptf("variant: "+format, args...)
}

func newDecoder(value, metadata []byte) (*decoder, error) {
	d := &decoder{value: value, left: len(value)}
	if len(metadata) < 1 {
		return nil, corrupt("empty metadata")
	}
	h := metadata[0]
	if h&0xf != version {
		return nil, errs.Unsupportedf("variant: metadata version %d, only version %d is known", h&0xf, version)
	}
	d.offSize = int(h>>6) + 1
	rest := metadata[1:]
	n, ok := uintLE(rest, 0, d.offSize)
	if !ok {
		return nil, corrupt("metadata of %d bytes is cut off", len(metadata))
	}
	rest = rest[d.offSize:]
	if uint64(len(rest)) < (uint64(n)+1)*uint64(d.offSize) {
		return nil, corrupt("metadata of %d bytes cannot hold %d names", len(metadata), n)
	}
	d.count = int(n)
	d.offsets = rest[:(d.count+1)*d.offSize]
	d.strings = rest[(d.count+1)*d.offSize:]
	return d, nil
}

func uintLE(b []byte, off, size int) (uint32, bool) {
	if off < 0 || size > len(b) || off > len(b)-size {
		return 0, false
	}
	var v uint32
	for i := size - 1; i >= 0; i-- {
		v = v<<8 | uint32(b[off+i])
	}
	return v, true
}

func (d *decoder) name(id uint32) ([]byte, error) {
	if uint64(id) >= uint64(d.count) {
		return nil, corrupt("key %d of a dictionary of %d", id, d.count)
	}
	from, _ := uintLE(d.offsets, int(id)*d.offSize, d.offSize)
	to, _ := uintLE(d.offsets, (int(id)+1)*d.offSize, d.offSize)
	if from > to || uint64(to) > uint64(len(d.strings)) {
		return nil, corrupt("key %d spans [%d,%d) of %d bytes", id, from, to, len(d.strings))
	}
	return d.strings[from:to], nil
}

// AppendJSON appends the JSON text of a VARIANT given by its value and
// metadata bytes: objects in the encoding's field order (by name), decimals exactly, dates and
// times as strings (instants in UTC with a Z), binary as base64.
func AppendJSON(dst, value, metadata []byte) ([]byte, error) {
	d, err := newDecoder(value, metadata)
	if err != nil {
		return dst, err
	}
	return d.append(dst, 0, 0)
}

// take charges n bytes at off and returns them.
func (d *decoder) take(off, n int) ([]byte, error) {
	if off < 0 || n < 0 || n > len(d.value) || off > len(d.value)-n {
		return nil, corrupt("value at %d of %d bytes is cut off", off, len(d.value))
	}
	if n > d.left {
		return nil, corrupt("values overlap")
	}
	d.left -= n
	return d.value[off : off+n], nil
}

func (d *decoder) append(dst []byte, off, depth int) ([]byte, error) {
	if depth > maxDepth {
		return dst, corrupt("nested deeper than %d", maxDepth)
	}
	b, err := d.take(off, 1)
	if err != nil {
		return dst, err
	}
	head := int(b[0] >> 2)
	switch b[0] & 3 {
	case basicShortString:
		s, err := d.take(off+1, head)
		if err != nil {
			return dst, err
		}
		return appendString(dst, s), nil
	case basicObject:
		return d.appendContainer(dst, off+1, head&3+1, head>>2&3+1, head>>4&1 != 0, depth)
	case basicArray:
		return d.appendContainer(dst, off+1, head&3+1, 0, head>>2&1 != 0, depth)
	}
	return d.appendPrimitive(dst, off+1, head)
}

// appendContainer appends an object (idSize > 0) or an array.
func (d *decoder) appendContainer(dst []byte, off, offSize, idSize int, large bool, depth int) ([]byte, error) {
	countSize := 1
	if large {
		countSize = 4
	}
	b, err := d.take(off, countSize)
	if err != nil {
		return dst, err
	}
	n, _ := uintLE(b, 0, countSize)
	// Compare in 64 bits before any int is made of a foreign number.
	if need := uint64(n)*uint64(idSize) + (uint64(n)+1)*uint64(offSize); need > uint64(len(d.value)) {
		return dst, corrupt("%d elements in %d bytes", n, len(d.value))
	}
	count := int(n)
	ids, err := d.take(off+countSize, count*idSize)
	if err != nil {
		return dst, err
	}
	offs, err := d.take(off+countSize+count*idSize, (count+1)*offSize)
	if err != nil {
		return dst, err
	}
	base := off + countSize + count*idSize + (count+1)*offSize
	brackets := "[]"
	if idSize > 0 {
		brackets = "{}"
	}
	dst = append(dst, brackets[0])
	for i := range count {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if idSize > 0 {
			id, _ := uintLE(ids, i*idSize, idSize)
			name, err := d.name(id)
			if err != nil {
				return dst, err
			}
			dst = append(appendString(dst, name), ": "...)
		}
		o, _ := uintLE(offs, i*offSize, offSize)
		if uint64(o) >= uint64(len(d.value)) {
			return dst, corrupt("offset %d in %d bytes", o, len(d.value))
		}
		if dst, err = d.append(dst, base+int(o), depth+1); err != nil {
			return dst, err
		}
	}
	return append(dst, brackets[1]), nil
}

var primSizes = map[int]int{
	primInt8: 1, primInt16: 2, primInt32: 4, primInt64: 8, primDouble: 8, primDecimal4: 5, primDecimal8: 9,
	primDecimal16: 17, primDate: 4, primTimestamp: 8, primTimestampNTZ: 8, primFloat: 4, primBinary: 4, primString: 4,
	primTime: 8, primTimestampNanos: 8, primTimestampNTZNanos: 8, primUUID: 16, primNull: 0, primTrue: 0, primFalse: 0,
}

func (d *decoder) appendPrimitive(dst []byte, off, kind int) ([]byte, error) {
	size, ok := primSizes[kind]
	if !ok {
		return dst, errs.Unsupportedf("variant: primitive type %d is not known", kind)
	}
	b, err := d.take(off, size)
	if err != nil {
		return dst, err
	}
	switch kind {
	case primNull:
		return append(dst, "null"...), nil
	case primTrue:
		return append(dst, "true"...), nil
	case primFalse:
		return append(dst, "false"...), nil
	case primInt8, primInt16, primInt32, primInt64:
		return strconv.AppendInt(dst, intLE(b), 10), nil
	case primDouble:
		return appendFloat(dst, math.Float64frombits(binary.LittleEndian.Uint64(b)), 64), nil
	case primFloat:
		return appendFloat(dst, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), 32), nil
	case primDecimal4, primDecimal8, primDecimal16:
		scale := int(b[0])
		if scale > maxDecimalScale {
			return dst, corrupt("decimal of scale %d", scale)
		}
		x := column.Int128{}
		if kind == primDecimal16 {
			x.Lo, x.Hi = binary.LittleEndian.Uint64(b[1:]), int64(binary.LittleEndian.Uint64(b[9:]))
		} else {
			x = column.FromInt64(intLE(b[1:]))
		}
		return column.AppendDecimal(dst, x, scale), nil
	case primBinary, primString:
		n := binary.LittleEndian.Uint32(b)
		if uint64(n) > uint64(len(d.value)) {
			return dst, corrupt("%d bytes in %d", n, len(d.value))
		}
		s, err := d.take(off+4, int(n))
		if err != nil {
			return dst, err
		}
		if kind == primString {
			return appendString(dst, s), nil
		}
		dst = append(dst, '"')
		return append(base64.StdEncoding.AppendEncode(dst, s), '"'), nil
	case primUUID:
		h := hex.EncodeToString(b)
		dst = append(dst, '"')
		dst = append(dst, h[:8]+"-"+h[8:12]+"-"+h[12:16]+"-"+h[16:20]+"-"+h[20:]...)
		return append(dst, '"'), nil
	}
	return appendTemporal(dst, kind, intLE(b)), nil
}

func appendTemporal(dst []byte, kind int, v int64) []byte {
	dst = append(dst, '"')
	switch kind {
	case primDate:
		dst = time.Unix(v*86400, 0).UTC().AppendFormat(dst, "2006-01-02")
	case primTime:
		dst = time.UnixMicro(v).UTC().AppendFormat(dst, "15:04:05.999999")
	case primTimestamp:
		dst = time.UnixMicro(v).UTC().AppendFormat(dst, "2006-01-02 15:04:05.999999Z07:00")
	case primTimestampNTZ:
		dst = time.UnixMicro(v).UTC().AppendFormat(dst, "2006-01-02 15:04:05.999999")
	case primTimestampNanos:
		dst = time.Unix(0, v).UTC().AppendFormat(dst, "2006-01-02 15:04:05.999999999Z07:00")
	default:
		dst = time.Unix(0, v).UTC().AppendFormat(dst, "2006-01-02 15:04:05.999999999")
	}
	return append(dst, '"')
}

// intLE reads a two's complement little-endian integer of 1 to 8 bytes.
func intLE(b []byte) int64 {
	v := int64(int8(b[len(b)-1]))
	for i := len(b) - 2; i >= 0; i-- {
		v = v<<8 | int64(b[i])
	}
	return v
}

// appendFloat appends a JSON number, a string where JSON has no number.
func appendFloat(dst []byte, f float64, bits int) []byte {
	switch {
	case f != f:
		return append(dst, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(dst, `"-Infinity"`...)
	}
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-15 || abs >= 1e15) {
		format = 'e'
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, format, -1, bits)
	if format == 'f' {
		for _, c := range dst[start:] {
			if c == '.' {
				return dst
			}
		}
		dst = append(dst, ".0"...)
	}
	return dst
}

func appendString(dst, s []byte) []byte {
	const hexDigits = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRune(s[i:])
			dst = utf8.AppendRune(dst, r)
			i += n
			continue
		}
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			dst = append(dst, c)
		}
		i++
	}
	return append(dst, '"')
}
