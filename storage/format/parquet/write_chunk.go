package parquet

import (
	"encoding/binary"
	"math/bits"
	"strconv"

	pq "github.com/apache/arrow-go/v18/parquet"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
)

// leafChunk is values and levels of one leaf, in memory of its own.
type leafChunk struct {
	round *round
	leaf  *leafWriter
	def   []int16
	rep   []int16
	bools []bool
	i32   []int32
	i64   []int64
	f32   []float32
	f64   []float64
	i96   []pq.Int96
	// data are the bytes of byte arrays, which end at ends, or of values of a fixed length.
	data []byte
	ends []uint32
	// compressed and open are what the column writer has got since the row group began, after this chunk: bytes of
	// finished pages, and about how many bytes of values wait for the end of a page.
	compressed, open int64
}

func (c *leafChunk) reset() {
	c.def, c.rep, c.bools, c.i32, c.i64, c.f32, c.f64, c.i96 = c.def[:0], c.rep[:0], c.bools[:0], c.i32[:0], c.i64[:0], c.f32[:0], c.f64[:0], c.i96[:0]
	c.data, c.ends = c.data[:0], c.ends[:0]
}

// presentLevels are definition levels of values that are not null.
var presentLevels = func() (out [column.MaxRows]int16) {
	for i := range out {
		out[i] = 1
	}
	return out
}()

func hasNull(v *column.Vector, sel []uint16) bool {
	if sel == nil {
		return v.NullCount() > 0
	}
	for _, i := range sel {
		if v.IsNull(int(i)) {
			return true
		}
	}
	return false
}

func nullIn(p *place) error {
	return errs.Invalidf("Cannot write null to non-null column(%s)", p.path)
}

// addFlat appends n rows of a column that is a leaf, those of sel or all, and returns about how many bytes of values they are.
func (c *leafChunk) addFlat(p *place, v *column.Vector, sel []uint16, n int) (size int64, err error) {
	if !p.required {
		if v.Valid == nil && n <= len(presentLevels) {
			c.def = append(c.def, presentLevels[:n]...)
		} else {
			for k := range n {
				i := k
				if sel != nil {
					i = int(sel[k])
				}
				level := int16(1)
				if v.IsNull(i) {
					level = 0
				}
				c.def = append(c.def, level)
			}
		}
	}
	base := v
	if v.Dict != nil {
		base = v.Dict
	}
	switch p.stored {
	case storedBool:
		return c.pushed(p, func() { c.bools = appendPresent(c.bools, base.I32, v, sel, n, func(x int32) bool { return x != 0 }) })
	case storedInt32:
		return c.pushed(p, func() { c.i32 = appendSame(c.i32, base.I32, v, sel, n) })
	case storedInt32FromInt64:
		return c.pushed(p, func() { c.i32 = appendPresent(c.i32, base.I64, v, sel, n, func(x int64) int32 { return int32(x) }) })
	case storedInt64, storedMicros:
		return c.pushed(p, func() { c.i64 = appendSame(c.i64, base.I64, v, sel, n) })
	case storedMillis:
		return c.pushed(p, func() { c.i64 = appendPresent(c.i64, base.I64, v, sel, n, millisOf) })
	case storedFloat:
		return c.pushed(p, func() { c.f32 = appendSame(c.f32, base.F32, v, sel, n) })
	case storedDouble:
		return c.pushed(p, func() { c.f64 = appendSame(c.f64, base.F64, v, sel, n) })
	case storedBytes:
		return c.pushed(p, func() { c.addBytes(base, v, sel, n) })
	}
	// The rest is rare.
	s := &slots{}
	for k := range n {
		i := k
		if sel != nil {
			i = int(sel[k])
		}
		if v.IsNull(i) {
			i = -1
		}
		s.at = append(s.at, int32(i))
	}
	return c.values(p, v, s.at)
}

func millisOf(micros int64) int64 { return floorDiv(micros, 1000) }

// pushed returns about how many bytes of values f has added.
func (c *leafChunk) pushed(p *place, f func()) (int64, error) {
	before := c.bytes(p)
	f()
	return c.bytes(p) - before, nil
}

// bytes is about how many bytes the values take.
func (c *leafChunk) bytes(p *place) int64 {
	switch p.stored {
	case storedBool:
		return int64(len(c.bools)) / 8
	case storedInt32, storedInt32FromInt64:
		return 4 * int64(len(c.i32))
	case storedInt64, storedMicros, storedMillis:
		return 8 * int64(len(c.i64))
	case storedFloat:
		return 4 * int64(len(c.f32))
	case storedDouble:
		return 8 * int64(len(c.f64))
	case storedInt96:
		return 12 * int64(len(c.i96))
	}
	return int64(len(c.data)) + 4*int64(len(c.ends))
}

// bytesOf is bytes of a stretch of the chunk.
func (c *leafChunk) bytesOf(p *place, s span) int64 {
	n := s.valueEnd - s.value
	if n == 0 {
		return 0
	}
	if len(c.ends) > 0 {
		from := uint32(0)
		if s.value > 0 {
			from = c.ends[s.value-1]
		}
		return int64(c.ends[s.valueEnd-1]-from) + 4*int64(n)
	}
	return c.bytes(p) * int64(n) / int64(c.count())
}

// count is the number of values that are not null.
func (c *leafChunk) count() int {
	n := max(len(c.bools), len(c.i32), len(c.i64), len(c.f32), len(c.f64), len(c.i96), len(c.ends))
	if n == 0 && c.leaf.p.width > 0 {
		n = len(c.data) / c.leaf.p.width
	}
	return n
}

// appendSame appends the values of rows that are not null as they are. v may be coded: values are those of its dictionary then.
func appendSame[T any](dst, values []T, v *column.Vector, sel []uint16, n int) []T {
	if v.Valid == nil && v.Dict == nil && sel == nil {
		return append(dst, values[:n]...)
	}
	return appendPresent(dst, values, v, sel, n, func(x T) T { return x })
}

// appendPresent appends the values of rows that are not null, converted.
func appendPresent[T, U any](dst []U, values []T, v *column.Vector, sel []uint16, n int, convert func(T) U) []U {
	for k := range n {
		i := k
		if sel != nil {
			i = int(sel[k])
		}
		if v.Valid != nil && v.IsNull(i) {
			continue
		}
		if v.Dict != nil {
			i = int(v.Codes[i])
		}
		dst = append(dst, convert(values[i]))
	}
	return dst
}

func (c *leafChunk) addBytes(base, v *column.Vector, sel []uint16, n int) {
	data, ends := c.data, c.ends
	for k := range n {
		i := k
		if sel != nil {
			i = int(sel[k])
		}
		if v.Valid != nil && v.IsNull(i) {
			continue
		}
		if v.Dict != nil {
			i = int(v.Codes[i])
		}
		r := base.Ref[i]
		data = append(data, base.Data[r.Off:r.Off+r.Len]...)
		ends = append(ends, uint32(len(data)))
	}
	c.data, c.ends = data, ends
}

// add appends the slots' levels and values of a leaf anywhere, and returns about how many bytes of values they are.
func (c *leafChunk) add(p *place, v *column.Vector, s *slots) (size int64, err error) {
	if p.def > 0 {
		c.def = append(c.def, s.def...)
	}
	if p.rep > 0 {
		c.rep = append(c.rep, s.rep...)
	}
	return c.values(p, v, s.at)
}

// values appends the values at positions of a vector, -1 for none.
func (c *leafChunk) values(p *place, v *column.Vector, positions []int32) (size int64, err error) {
	before := c.bytes(p)
	base := v
	if v.Dict != nil {
		base = v.Dict
	}
	for _, at := range positions {
		if at < 0 {
			continue
		}
		i := int(at)
		if v.Dict != nil {
			i = int(v.Codes[i])
		}
		switch p.stored {
		case storedBool:
			c.bools = append(c.bools, base.I32[i] != 0)
		case storedInt32:
			c.i32 = append(c.i32, base.I32[i])
		case storedInt32FromInt64:
			c.i32 = append(c.i32, int32(base.I64[i]))
		case storedInt64, storedMicros:
			c.i64 = append(c.i64, base.I64[i])
		case storedMillis:
			c.i64 = append(c.i64, millisOf(base.I64[i]))
		case storedFloat:
			c.f32 = append(c.f32, base.F32[i])
		case storedDouble:
			c.f64 = append(c.f64, base.F64[i])
		case storedBytes:
			r := base.Ref[i]
			c.data = append(c.data, base.Data[r.Off:r.Off+r.Len]...)
			c.ends = append(c.ends, uint32(len(c.data)))
		case storedFixed:
			var b [16]byte
			x := base.I128[i]
			binary.BigEndian.PutUint64(b[:8], uint64(x.Hi))
			binary.BigEndian.PutUint64(b[8:], x.Lo)
			c.data = append(c.data, b[16-p.width:]...)
		case storedInt96:
			c.i96 = append(c.i96, int96(base.I64[i], base.SubNanos(i)))
		default:
			return 0, errs.New(errs.Unknown, "column '%s' has no form of storage (%s)", p.path, strconv.Itoa(int(p.stored)))
		}
	}
	return c.bytes(p) - before, nil
}

// leafWriter writes the values of one column chunk after the other. Only one goroutine at a time encodes.
type leafWriter struct {
	p   *place
	out pqfile.ColumnChunkWriter
	// queue are the chunks that wait, busy says that the leaf is on the list of those that have some.
	queue []*leafChunk
	busy  bool

	bytes []pq.ByteArray
	fixed []pq.FixedLenByteArray

	// pageRows is the most rows of a page, 0 = no bound but the page's size; rows counts those of the row group.
	pageRows, rows int
	// values counts those of the row group, judged says that it is decided whether a dictionary pays, plain that it does not.
	values        int
	raw           int64
	judged, plain bool
}

// dictionaryTrial is the number of values after which it is decided whether a column's dictionary pays: as many as the first page of
// parquet-mr has, which decides then.
const dictionaryTrial = 20_000

// opened begins a row group. A column whose values did not repeat in the group before is not expected to begin with it.
func (l *leafWriter) opened() {
	l.values, l.raw, l.judged, l.rows = 0, 0, l.plain, 0
	if l.plain {
		l.out.FallbackToPlain()
	}
}

// judge gives a dictionary up where it and the codes are no smaller than the values, before it grows to its bound.
func (l *leafWriter) judge(values int, raw int64) {
	l.values += values
	l.raw += raw
	if l.judged || l.values < dictionaryTrial {
		return
	}
	l.judged = true
	var current any = l.out.CurrentEncoder()
	d, ok := current.(interface {
		DictEncodedSize() int
		NumEntries() int
	})
	if !ok {
		return
	}
	codes := int64(l.values) * int64(bits.Len(uint(d.NumEntries()))) / 8
	if int64(d.DictEncodedSize())+codes >= l.raw {
		l.plain = true
		l.out.FallbackToPlain()
	}
}

// span is a stretch of a chunk: levels [level, levelEnd) and the values [value, valueEnd) that belong to them.
type span struct{ level, levelEnd, value, valueEnd int }

// levels is the number of levels of a chunk; without definition levels each value has one.
func (l *leafWriter) levels(c *leafChunk) int {
	if l.p.def > 0 {
		return len(c.def)
	}
	return c.count()
}

// cut takes from rest the levels and values of at most rows rows, and returns how many there are.
func (l *leafWriter) cut(c *leafChunk, rest *span, rows int) (part span, n int) {
	part = *rest
	at, value := rest.level, rest.value
	for ; at < rest.levelEnd; at++ {
		if l.p.rep == 0 || c.rep[at] == 0 {
			if n == rows {
				break
			}
			n++
		}
		if l.p.def == 0 || c.def[at] == int16(l.p.def) {
			value++
		}
	}
	part.levelEnd, part.valueEnd = at, value
	rest.level, rest.value = at, value
	return part, n
}

// encode gives a chunk to the column writer, and ends pages at every pageRows rows.
func (l *leafWriter) encode(c *leafChunk) (err error) {
	rest := span{levelEnd: l.levels(c), valueEnd: c.count()}
	if l.pageRows == 0 {
		if err = l.write(c, rest); err == nil {
			l.judge(c.count(), c.bytes(l.p))
		}
	}
	for l.pageRows > 0 && rest.level < rest.levelEnd && err == nil {
		part, n := l.cut(c, &rest, l.pageRows-l.rows%l.pageRows)
		if err = l.write(c, part); err != nil {
			break
		}
		l.judge(part.valueEnd-part.value, c.bytesOf(l.p, part))
		if l.rows += n; l.rows%l.pageRows == 0 {
			err = l.endPage()
		}
	}
	c.compressed = l.out.TotalCompressedBytes()
	if e, ok := l.out.(interface{ EstimatedBufferedValueBytes() int64 }); ok {
		c.open = e.EstimatedBufferedValueBytes()
	}
	return err
}

// endPage ends the open page, if it has values. Among a dictionary's first rows, where it is open whether it pays, none is ended:
// what is in pages stays coded.
func (l *leafWriter) endPage() error {
	if d, ok := any(l.out.CurrentEncoder()).(interface{ ObservedRawSize() int64 }); ok {
		w, ok := l.out.(interface{ FlushCurrentPage() error })
		if !ok || !l.judged && l.rows < dictionaryTrial || d.ObservedRawSize() == 0 {
			return nil
		}
		return w.FlushCurrentPage()
	}
	if w, ok := l.out.(interface{ FlushBufferedDataPages() error }); ok {
		return w.FlushBufferedDataPages()
	}
	return nil
}

// write gives a stretch of a chunk to the column writer.
func (l *leafWriter) write(c *leafChunk, s span) (err error) {
	var def, rep []int16
	if l.p.def > 0 {
		def = c.def[s.level:s.levelEnd]
	}
	if l.p.rep > 0 {
		rep = c.rep[s.level:s.levelEnd]
	}
	switch out := l.out.(type) {
	case *pqfile.BooleanColumnChunkWriter:
		_, err = out.WriteBatch(c.bools[s.value:s.valueEnd], def, rep)
	case *pqfile.Int32ColumnChunkWriter:
		_, err = out.WriteBatch(c.i32[s.value:s.valueEnd], def, rep)
	case *pqfile.Int64ColumnChunkWriter:
		_, err = out.WriteBatch(c.i64[s.value:s.valueEnd], def, rep)
	case *pqfile.Float32ColumnChunkWriter:
		_, err = out.WriteBatch(c.f32[s.value:s.valueEnd], def, rep)
	case *pqfile.Float64ColumnChunkWriter:
		_, err = out.WriteBatch(c.f64[s.value:s.valueEnd], def, rep)
	case *pqfile.Int96ColumnChunkWriter:
		_, err = out.WriteBatch(c.i96[s.value:s.valueEnd], def, rep)
	case *pqfile.ByteArrayColumnChunkWriter:
		l.bytes = l.bytes[:0]
		from := uint32(0)
		if s.value > 0 {
			from = c.ends[s.value-1]
		}
		for _, to := range c.ends[s.value:s.valueEnd] {
			l.bytes = append(l.bytes, pq.ByteArray(c.data[from:to:to]))
			from = to
		}
		_, err = out.WriteBatch(l.bytes, def, rep)
	case *pqfile.FixedLenByteArrayColumnChunkWriter:
		l.fixed = l.fixed[:0]
		for i := s.value; i < s.valueEnd; i++ {
			l.fixed = append(l.fixed, pq.FixedLenByteArray(c.data[i*l.p.width:(i+1)*l.p.width]))
		}
		_, err = out.WriteBatch(l.fixed, def, rep)
	default:
		err = errs.New(errs.Unknown, "column '%s' is written by a %T", l.p.path, out)
	}
	return err
}
