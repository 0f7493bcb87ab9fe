package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"unsafe"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// conversion says how a stored value becomes a vector's value.
type conversion int8

const (
	convNone conversion = iota
	convBool
	convInt32         // 4 bytes -> int32
	convInt32To64     // sign-extended
	convUint32To64    // zero-extended
	convInt64         // 8 bytes -> int64
	convInt32To128    // decimals
	convInt64To128    // decimals
	convUint64To128   // UINT_64 as DECIMAL
	convTimeMicros    // int64 -> milliseconds of the day
	convTimeNanos     //
	convFloat         //
	convDouble        //
	convMillis        // int64 -> timestamp
	convMicros        //
	convNanos         //
	convInt96         //
	convFixedDec64    // big-endian
	convFixedDec128   //
	convBytesDec64    //
	convBytesDec128   //
	convBytes         //
	convFixedBytes    //
	julianEpochDay    = 2440588
	microsPerDay      = 86400 * 1000000
	maxMillisInMicros = math.MaxInt64 / 1000
)

var errDecimalRange = errors.New("a decimal value does not fit the column's precision")

// conversionOf finds how column n can be read as t. ok is false where it cannot.
func conversionOf(n *node, t *schema.Type) (c conversion, ok bool) {
	l := n.logical
	switch t.Root {
	case schema.Boolean:
		return convBool, n.typ == typeBoolean
	case schema.TinyInt, schema.SmallInt, schema.Int, schema.Date:
		return convInt32, n.typ == typeInt32 && (l.kind == logicalNone || (l.kind == logicalInteger && t.Root != schema.Date) || (l.kind == logicalDate && t.Root == schema.Date))
	case schema.Time:
		switch {
		case n.typ == typeInt32 && (l.kind == logicalNone || l.kind == logicalTime):
			return convInt32, true
		case n.typ == typeInt64 && l.kind == logicalTime && l.unit == unitNanos:
			return convTimeNanos, true
		case n.typ == typeInt64 && l.kind == logicalTime:
			return convTimeMicros, true
		}
	case schema.BigInt:
		switch {
		case n.typ == typeInt64 && (l.kind == logicalNone || l.kind == logicalInteger):
			return convInt64, true
		case n.typ == typeInt32 && l.kind == logicalInteger && l.unsigned:
			return convUint32To64, true
		case n.typ == typeInt32 && (l.kind == logicalNone || l.kind == logicalInteger):
			return convInt32To64, true
		}
	case schema.Decimal:
		switch {
		case l.kind == logicalDecimal && int(l.scale) != t.Scale,
			l.kind != logicalDecimal && l.kind != logicalNone && l.kind != logicalInteger:
			return 0, false
		}
		wide := t.Precision > schema.MaxCompactPrecision
		switch n.typ {
		case typeInt32:
			if wide {
				return convInt32To128, true
			}
			return convInt32To64, true
		case typeInt64:
			if wide && l.kind == logicalInteger && l.unsigned {
				return convUint64To128, true
			}
			if wide {
				return convInt64To128, true
			}
			return convInt64, true
		case typeFixed:
			if wide {
				return convFixedDec128, true
			}
			return convFixedDec64, true
		case typeByteArray:
			if wide {
				return convBytesDec128, true
			}
			return convBytesDec64, true
		}
	case schema.Float:
		return convFloat, n.typ == typeFloat
	case schema.Double:
		return convDouble, n.typ == typeDouble
	case schema.Timestamp, schema.TimestampLTZ:
		if n.typ == typeInt96 {
			return convInt96, true
		}
		if n.typ != typeInt64 {
			return 0, false
		}
		switch {
		case l.kind == logicalTimestamp && l.unit == unitMillis:
			return convMillis, true
		case l.kind == logicalTimestamp && l.unit == unitMicros:
			return convMicros, true
		case l.kind == logicalTimestamp && l.unit == unitNanos:
			return convNanos, true
		case l.kind != logicalNone && (l.kind != logicalInteger || l.unsigned):
			return 0, false
		case t.Precision <= 3: // an integer: releases up to 0.6
			return convMillis, true
		case t.Precision <= 6:
			return convMicros, true
		}
		return convNanos, true
	case schema.Char, schema.Varchar, schema.Binary, schema.Varbinary, schema.Blob, schema.Geometry, schema.Geography:
		if n.typ == typeFixed {
			return convFixedBytes, true
		}
		return convBytes, n.typ == typeByteArray
	}
	return 0, false
}

// canView says that little-endian bytes may be looked at as integers in place;
// both architectures allow unaligned loads.
const canView = runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64"

type fixedValue interface {
	int32 | int64 | uint32 | uint64 | float32 | float64
}

// view returns b as n values, in place or, where the machine forbids it,
// copied by load to scratch.
func view[T fixedValue](b []byte, n int, scratch *[]T, load func([]byte) T) []T {
	if n == 0 {
		return nil
	}
	if canView {
		return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
	}
	out := grow(scratch, n)
	size := int(unsafe.Sizeof(out[0]))
	for i := range out {
		out[i] = load(b[i*size:])
	}
	return out
}

func loadInt32(b []byte) int32     { return int32(binary.LittleEndian.Uint32(b)) }
func loadInt64(b []byte) int64     { return int64(binary.LittleEndian.Uint64(b)) }
func loadFloat32(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }
func loadFloat64(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }

// grow returns *s with length n, with new memory where it is too small.
func grow[T any](s *[]T, n int) []T {
	if cap(*s) < n {
		*s = make([]T, n, max(n, column.MaxRows))
	}
	*s = (*s)[:n]
	return *s
}

// scratch is the reusable memory of one column's conversions.
type scratch struct {
	i32  []int32
	i64  []int64
	i128 []column.Int128
	f32  []float32
	f64  []float64
	sub  []uint16
	refs []column.Ref
	u32  []uint32
}

// convertFixed sets the value slices of out to the n values of raw, each of
// width bytes. Slices are views of raw or of s.
func convertFixed(c conversion, raw []byte, n, width int, out *column.Vector, s *scratch) error {
	switch c {
	case convInt32:
		out.I32 = view(raw, n, &s.i32, loadInt32)
	case convInt64, convMicros:
		out.I64 = view(raw, n, &s.i64, loadInt64)
	case convFloat:
		out.F32 = view(raw, n, &s.f32, loadFloat32)
	case convDouble:
		out.F64 = view(raw, n, &s.f64, loadFloat64)
	case convInt32To64:
		out.I64 = grow(&s.i64, n)
		for i := range out.I64 {
			out.I64[i] = int64(loadInt32(raw[i*4:]))
		}
	case convUint32To64:
		out.I64 = grow(&s.i64, n)
		for i := range out.I64 {
			out.I64[i] = int64(binary.LittleEndian.Uint32(raw[i*4:]))
		}
	case convInt32To128:
		out.I128 = grow(&s.i128, n)
		for i := range out.I128 {
			out.I128[i] = column.FromInt64(int64(loadInt32(raw[i*4:])))
		}
	case convInt64To128:
		out.I128 = grow(&s.i128, n)
		for i := range out.I128 {
			out.I128[i] = column.FromInt64(loadInt64(raw[i*8:]))
		}
	case convUint64To128:
		out.I128 = grow(&s.i128, n)
		for i := range out.I128 {
			out.I128[i] = column.Int128{Lo: binary.LittleEndian.Uint64(raw[i*8:])}
		}
	case convTimeMicros, convTimeNanos:
		unit := int64(1000)
		if c == convTimeNanos {
			unit = 1000000
		}
		out.I32 = grow(&s.i32, n)
		for i := range out.I32 {
			out.I32[i] = int32(floorDiv(loadInt64(raw[i*8:]), unit))
		}
	case convMillis:
		out.I64 = grow(&s.i64, n)
		for i := range out.I64 {
			x := loadInt64(raw[i*8:])
			if x > maxMillisInMicros || x < -maxMillisInMicros {
				return errs.Unsupportedf("a timestamp of %d milliseconds is beyond what is represented here", x)
			}
			out.I64[i] = x * 1000
		}
	case convNanos:
		out.I64, out.Sub = grow(&s.i64, n), grow(&s.sub, n)
		var any uint16
		for i := range out.I64 {
			x := loadInt64(raw[i*8:])
			us := floorDiv(x, 1000)
			sub := uint16(x - us*1000)
			out.I64[i], out.Sub[i] = us, sub
			any |= sub
		}
		if any == 0 {
			out.Sub = nil
		}
	case convInt96:
		out.I64, out.Sub = grow(&s.i64, n), grow(&s.sub, n)
		var any uint16
		for i := range out.I64 {
			b := raw[i*12 : i*12+12]
			nanos := loadInt64(b)
			day := int64(loadInt32(b[8:])) - julianEpochDay
			us := floorDiv(nanos, 1000)
			sub := uint16(nanos - us*1000)
			hi, lo := bits.Mul64(uint64(abs(day)), microsPerDay)
			if hi != 0 || lo > math.MaxInt64/2 || us > math.MaxInt64/2 || us < -math.MaxInt64/2 {
				return errs.Unsupportedf("an INT96 timestamp of Julian day %d is beyond what is represented here", day+julianEpochDay)
			}
			out.I64[i], out.Sub[i] = day*microsPerDay+us, sub
			any |= sub
		}
		if any == 0 {
			out.Sub = nil
		}
	case convFixedDec64:
		out.I64 = grow(&s.i64, n)
		for i := range out.I64 {
			x, ok := bigEndian64(raw[i*width : (i+1)*width])
			if !ok {
				return errDecimalRange
			}
			out.I64[i] = x
		}
	case convFixedDec128:
		out.I128 = grow(&s.i128, n)
		for i := range out.I128 {
			x, ok := column.FromBigEndian(raw[i*width : (i+1)*width])
			if !ok {
				return errDecimalRange
			}
			out.I128[i] = x
		}
	case convFixedBytes:
		out.Ref, out.Data = grow(&s.refs, n), raw
		for i := range out.Ref {
			out.Ref[i] = column.Ref{Off: uint32(i * width), Len: uint32(width)}
		}
	default:
		return fmt.Errorf("conversion %d does not take fixed-width values", c)
	}
	return nil
}

// convertBytes is convertFixed for values given as spans.
func convertBytes(c conversion, refs []column.Ref, data []byte, out *column.Vector, s *scratch) error {
	switch c {
	case convBytes:
		out.Ref, out.Data = refs, data
	case convBytesDec64:
		out.I64 = grow(&s.i64, len(refs))
		for i, r := range refs {
			x, ok := bigEndian64(data[r.Off : r.Off+r.Len])
			if !ok {
				return errDecimalRange
			}
			out.I64[i] = x
		}
	case convBytesDec128:
		out.I128 = grow(&s.i128, len(refs))
		for i, r := range refs {
			x, ok := column.FromBigEndian(data[r.Off : r.Off+r.Len])
			if !ok {
				return errDecimalRange
			}
			out.I128[i] = x
		}
	default:
		return fmt.Errorf("conversion %d does not take values of variable length", c)
	}
	return nil
}

// bigEndian64 reads a big-endian two's complement integer; ok is false where
// it does not fit 64 bits.
func bigEndian64(b []byte) (int64, bool) {
	if len(b) > 8 {
		x, ok := column.FromBigEndian(b)
		return int64(x.Lo), ok && x.IsInt64()
	}
	if len(b) == 0 {
		return 0, true
	}
	x := int64(int8(b[0]))
	for _, c := range b[1:] {
		x = x<<8 | int64(c)
	}
	return x, true
}

func floorDiv(x, d int64) int64 {
	q := x / d
	if x%d < 0 {
		q--
	}
	return q
}

func abs(x int64) int64 {
	if x < 0 {
		return -x
	}
	return x
}

// spread moves the dense values to the rows that valid marks; the other rows
// hold some value of dense, or the zero value.
func spread[T any](dense []T, valid []uint64, n int, buf *[]T) []T {
	out := grow(buf, n)
	if len(dense) == 0 {
		clear(out)
		return out
	}
	k := 0
	for w, word := range valid {
		base := w * 64
		end := min(base+64, n)
		if word == ^uint64(0) && end-base == 64 {
			k += copy(out[base:end], dense[k:k+64])
			continue
		}
		if k+64 < len(dense) {
			for i := range out[base:end] {
				out[base+i] = dense[k]
				k += int(word & 1)
				word >>= 1
			}
			continue
		}
		for i := range out[base:end] {
			out[base+i] = dense[min(k, len(dense)-1)]
			k += int(word & 1)
			word >>= 1
		}
	}
	return out
}

// spreadVector moves the dense value slices of v (which may be views of
// anything but t) to n rows.
func spreadVector(v *column.Vector, valid []uint64, n int, t *scratch) {
	v.N, v.Valid = n, valid
	switch {
	case v.Dict != nil:
		v.Codes = spread(v.Codes, valid, n, &t.u32)
	case v.Kind == column.KindInt32:
		v.I32 = spread(v.I32, valid, n, &t.i32)
	case v.Kind == column.KindInt64:
		v.I64 = spread(v.I64, valid, n, &t.i64)
	case v.Kind == column.KindTimestamp:
		v.I64 = spread(v.I64, valid, n, &t.i64)
		if v.Sub != nil {
			v.Sub = spread(v.Sub, valid, n, &t.sub)
		}
	case v.Kind == column.KindInt128:
		v.I128 = spread(v.I128, valid, n, &t.i128)
	case v.Kind == column.KindFloat32:
		v.F32 = spread(v.F32, valid, n, &t.f32)
	case v.Kind == column.KindFloat64:
		v.F64 = spread(v.F64, valid, n, &t.f64)
	case v.Kind == column.KindBytes:
		v.Ref = spread(v.Ref, valid, n, &t.refs)
	}
}
