package orc

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
)

// boolWriter writes BOOLEAN.
type boolWriter struct {
	colWriter
	stream outStream
	bits   bitWriter
}

func (w *boolWriter) open() { w.bits.b.s = w.newStream(&w.stream, streamData) }

func (w *boolWriter) write(v *column.Vector, at []int32) error {
	v, at, err := w.values(v, at)
	if err != nil {
		return err
	}
	for _, i := range at {
		bit := byte(0)
		if v.I32[i] != 0 {
			bit = 1
		}
		w.bits.add(bit)
		w.group.sum += int64(bit)
	}
	w.stream.settle()
	return nil
}

func (w *boolWriter) position(dst []uint64) []uint64 { return w.bits.position(dst) }
func (w *boolWriter) finish()                        { w.bits.flush() }
func (w *boolWriter) encoding() (encodingKind, int)  { return encodingDirect, 0 }

// tinyWriter writes TINYINT.
type tinyWriter struct {
	colWriter
	stream outStream
	bytes  byteWriter
	vals   []int64
}

func (w *tinyWriter) open() { w.bytes.s = w.newStream(&w.stream, streamData) }

func (w *tinyWriter) write(v *column.Vector, at []int32) error {
	v, at, err := w.values(v, at)
	if err != nil {
		return err
	}
	w.vals = slices.Grow(w.vals[:0], len(at))[:len(at)]
	for k, i := range at {
		x := v.I32[i]
		w.bytes.add(byte(x))
		w.vals[k] = int64(x)
	}
	w.stream.settle()
	w.group.addInts(w.vals)
	w.hashInts(w.vals)
	return nil
}

func (w *tinyWriter) position(dst []uint64) []uint64 { return w.bytes.position(dst) }
func (w *tinyWriter) finish()                        { w.bytes.flush() }
func (w *tinyWriter) encoding() (encodingKind, int)  { return encodingDirect, 0 }

// hashInts puts integers into the Bloom filter.
func (c *colWriter) hashInts(vals []int64) {
	if c.bloom != nil {
		for _, v := range vals {
			c.bloom.add(hashLong(v))
		}
	}
}

// numberWriter writes SMALLINT, INT, TIME, DATE and BIGINT.
type numberWriter struct {
	colWriter
	stream outStream
	ints   intWriter
	vals   []int64
}

func (w *numberWriter) open() { w.newInts(&w.ints, &w.stream, streamData, true) }

func (w *numberWriter) write(v *column.Vector, at []int32) error {
	v, at, err := w.values(v, at)
	if err != nil {
		return err
	}
	w.vals = slices.Grow(w.vals[:0], len(at))[:len(at)]
	if v.Kind == column.KindInt64 {
		for k, i := range at {
			w.vals[k] = v.I64[i]
		}
	} else {
		for k, i := range at {
			w.vals[k] = int64(v.I32[i])
		}
	}
	w.ints.write(w.vals)
	w.group.addInts(w.vals)
	w.hashInts(w.vals)
	return nil
}

func (w *numberWriter) position(dst []uint64) []uint64 { return w.ints.position(dst) }
func (w *numberWriter) finish()                        { w.ints.flush() }

// floatWriter writes FLOAT and DOUBLE.
type floatWriter struct {
	colWriter
	stream outStream
}

func (w *floatWriter) open() { w.newStream(&w.stream, streamData) }

func (w *floatWriter) write(v *column.Vector, at []int32) error {
	v, at, err := w.values(v, at)
	if err != nil {
		return err
	}
	buf := w.stream.buf
	if v.Kind == column.KindFloat32 {
		for _, i := range at {
			x := v.F32[i]
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x))
			w.group.addFloat(float64(x))
		}
	} else {
		for _, i := range at {
			x := v.F64[i]
			buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(x))
			w.group.addFloat(x)
		}
	}
	w.stream.buf = buf
	w.stream.settle()
	if w.bloom != nil {
		for _, i := range at {
			x := v.Float(int(i))
			h := int64(math.Float64bits(x))
			if x != x {
				h = javaNaN
			}
			w.bloom.add(hashLong(h))
		}
	}
	return nil
}

// javaNaN are the bits of Java's one NaN (Double.doubleToLongBits).
const javaNaN = 0x7ff8000000000000

func (w *floatWriter) position(dst []uint64) []uint64 { return w.stream.position(dst) }
func (w *floatWriter) encoding() (encodingKind, int)  { return encodingDirect, 0 }

// decimalWriter writes DECIMAL: zigzag varints, and a scale each, which is the column's.
type decimalWriter struct {
	colWriter
	stream, second outStream
	scales         intWriter
	scale          int
	text           []byte
}

func (w *decimalWriter) open() {
	w.newStream(&w.stream, streamData)
	w.newInts(&w.scales, &w.second, streamSecondary, true)
}

func (w *decimalWriter) write(v *column.Vector, at []int32) error {
	v, at, err := w.values(v, at)
	if err != nil {
		return err
	}
	buf := w.stream.buf
	if v.Kind == column.KindInt128 {
		for _, i := range at {
			x := v.I128[i]
			buf = appendVarint128(buf, x)
			w.group.addDecimal(x)
		}
	} else {
		for _, i := range at {
			x := v.I64[i]
			buf = binary.AppendUvarint(buf, toZigzag(x))
			w.group.addDecimal(column.FromInt64(x))
		}
	}
	w.stream.buf = buf
	w.stream.settle()
	w.scales.repeat(int64(w.scale), len(at))
	if w.bloom != nil {
		for _, i := range at {
			w.text = appendPlain(w.text[:0], v.Dec128(int(i)), w.scale)
			w.bloom.add(murmur64(w.text))
		}
	}
	return nil
}

// appendVarint128 appends the zigzag coding of x in groups of 7 bits.
func appendVarint128(dst []byte, x column.Int128) []byte {
	neg := uint64(x.Hi >> 63)
	hi := (uint64(x.Hi)<<1 | x.Lo>>63) ^ neg
	lo := x.Lo<<1 ^ neg
	for hi != 0 || lo >= 0x80 {
		dst = append(dst, byte(lo)|0x80)
		lo = lo>>7 | hi<<57
		hi >>= 7
	}
	return append(dst, byte(lo))
}

func (w *decimalWriter) position(dst []uint64) []uint64 {
	return w.scales.position(w.stream.position(dst))
}
func (w *decimalWriter) finish() { w.scales.flush() }

// timeWriter writes TIMESTAMP and TIMESTAMP_LTZ in the zone UTC: seconds from 2015, and
// nanoseconds without their trailing zeros.
type timeWriter struct {
	colWriter
	stream, second outStream
	secs, nanos    intWriter
	svals, nvals   []int64
}

func (w *timeWriter) open() {
	w.newInts(&w.secs, &w.stream, streamData, true)
	w.newInts(&w.nanos, &w.second, streamSecondary, false)
}

func (w *timeWriter) write(v *column.Vector, at []int32) error {
	v, at, err := w.values(v, at)
	if err != nil {
		return err
	}
	w.svals = slices.Grow(w.svals[:0], len(at))[:len(at)]
	w.nvals = slices.Grow(w.nvals[:0], len(at))[:len(at)]
	for k, i := range at {
		micros := v.I64[i]
		var sub uint16
		if v.Sub != nil {
			sub = v.Sub[i]
		}
		w.group.addTime(micros, sub)
		sec := floorDiv(micros, 1_000_000)
		nano := (micros-sec*1_000_000)*1000 + int64(sub)
		if sec < 0 && nano > defaultMostNanos {
			// Readers take a second off where milliseconds are set before 1970, as writers
			// cut seconds toward zero; in the last second before 1970 they cannot tell.
			if sec++; sec == 0 {
				return errs.Unsupportedf("column '%s': ORC files cannot hold times from 1969-12-31 23:59:59.001 to 23:59:59.999; use 'file.format' = 'parquet'", w.path)
			}
		}
		sec -= epoch2015
		if sec < -maxSeconds || sec > maxSeconds {
			return errs.Invalidf("column '%s': a time is out of range", w.path)
		}
		w.svals[k], w.nvals[k] = sec, codedNanos(nano)
		if w.bloom != nil {
			w.bloom.add(hashLong(floorDiv(micros, 1000)))
		}
	}
	w.secs.write(w.svals)
	w.nanos.write(w.nvals)
	return nil
}

// codedNanos puts nanoseconds without trailing zeros, where there are two or more, above their number less one.
func codedNanos(n int64) int64 {
	if n%100 != 0 || n == 0 {
		return n << 3
	}
	n /= 100
	zeros := int64(1)
	for n%10 == 0 && zeros < 7 {
		n /= 10
		zeros++
	}
	return n<<3 | zeros
}

func (w *timeWriter) position(dst []uint64) []uint64 {
	return w.nanos.position(w.secs.position(dst))
}

func (w *timeWriter) finish() {
	w.secs.flush()
	w.nanos.flush()
}
