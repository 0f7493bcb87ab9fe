package fileindex

import (
	"cmp"
	"encoding/binary"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// keyCode returns the integer that stands for row i's value as an index of the kind
// stores it: the bits of a float, one NaN for all, milliseconds or microseconds of
// a timestamp. The row is not null; texts have no such integer.
func keyCode(v *column.Vector, i int, k keyKind, t *schema.Type) int64 {
	switch k {
	case keyFloat:
		f := float32(v.Float(i))
		if f != f {
			return nanBits32
		}
		return int64(int32(math.Float32bits(f)))
	case keyDouble:
		f := v.Float(i)
		if f != f {
			return nanBits64
		}
		return int64(math.Float64bits(f))
	case keyTime:
		x := v.Int(i)
		if t.Precision > 3 {
			return x
		}
		ms := x / 1000
		if x%1000 < 0 {
			ms--
		}
		return ms
	}
	return v.Int(i)
}

// Java's bits of NaN.
const (
	nanBits32 = 0x7fc00000
	nanBits64 = 0x7ff8000000000000
)

// compareCodes orders the integers of keyCode as the values they stand for.
func compareCodes(k keyKind, a, b int64) int {
	switch k {
	case keyFloat:
		return column.CompareFloat(float64(math.Float32frombits(uint32(a))), float64(math.Float32frombits(uint32(b))))
	case keyDouble:
		return column.CompareFloat(math.Float64frombits(uint64(a)), math.Float64frombits(uint64(b)))
	}
	return cmp.Compare(a, b)
}

// keyWidth is the number of bytes of a stored key, 0 where that varies.
func keyWidth(k keyKind) int {
	switch k {
	case keyBool, keyInt8:
		return 1
	case keyInt16:
		return 2
	case keyInt32, keyFloat:
		return 4
	case keyText:
		return 0
	}
	return 8
}

// appendCode appends the stored form of an integer of keyCode; it is the inverse of buffer.key.
func appendCode(dst []byte, k keyKind, code int64) []byte {
	switch keyWidth(k) {
	case 1:
		return append(dst, byte(code))
	case 2:
		return binary.BigEndian.AppendUint16(dst, uint16(code))
	case 4:
		return binary.BigEndian.AppendUint32(dst, uint32(code))
	}
	return binary.BigEndian.AppendUint64(dst, uint64(code))
}

func appendInt(dst []byte, n int) []byte { return binary.BigEndian.AppendUint32(dst, uint32(n)) }

func appendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// maxUTF is the greatest number of bytes of a text of DataOutput.writeUTF.
const maxUTF = math.MaxUint16

// appendUTF appends a text as Java's DataOutput.writeUTF does; false where it is too long.
func appendUTF(dst []byte, s string) ([]byte, bool) {
	var sb strings.Builder
	unit := func(r rune) {
		sb.WriteByte(byte(0xe0 | r>>12))
		sb.WriteByte(byte(0x80 | r>>6&0x3f))
		sb.WriteByte(byte(0x80 | r&0x3f))
	}
	for _, r := range s {
		switch {
		case r == 0:
			sb.WriteString("\xc0\x80")
		case r > 0xffff:
			r -= 0x10000
			unit(0xd800 | r>>10)
			unit(0xdc00 | r&0x3ff)
		default:
			sb.Write(utf8.AppendRune(nil, r))
		}
	}
	if sb.Len() > maxUTF {
		return dst, false
	}
	dst = binary.BigEndian.AppendUint16(dst, uint16(sb.Len()))
	return append(dst, sb.String()...), true
}
