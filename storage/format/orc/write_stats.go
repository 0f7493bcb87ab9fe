package orc

import (
	"bytes"
	"math"
	"math/bits"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tributarydb/tributary/storage/column"
)

// maxStatsBytes is the length of the longest string that statistics keep whole
// (org.apache.orc.impl.ColumnStatisticsImpl.StringStatisticsImpl).
const maxStatsBytes = 1024

// totals are the statistics of a column that is being written, over a row
// group, a stripe or the file. What is set goes by the column's kind.
type totals struct {
	kind    kind
	scale   int
	count   uint64 // not null
	hasNull bool
	// some says that bounds are set.
	some bool
	// ints, days; elements of lists and maps (least, most, sum); trues (sum).
	least, most, sum int64
	overflow         bool
	fleast, fmost    float64
	fsum             float64
	// strings; a cut bound need not occur.
	sleast, smost       []byte
	leastCut, mostCut   bool
	dleast, dmost, dsum column.Int128
	// times: microseconds in least and most, and the nanoseconds of each.
	leastSub, mostSub uint16
	onDisk            int64
}

func (t *totals) reset() {
	*t = totals{kind: t.kind, scale: t.scale, sleast: t.sleast[:0], smost: t.smost[:0]}
}

// addSum adds to sum, which is given up where it overflows.
func (t *totals) addSum(x int64) {
	s := t.sum + x
	if (t.sum^s)&(x^s) < 0 {
		t.overflow = true
	}
	t.sum = s
}

func (t *totals) addInts(vals []int64) {
	if len(vals) == 0 {
		return
	}
	if !t.some {
		t.some, t.least, t.most = true, vals[0], vals[0]
	}
	least, most := t.least, t.most
	for _, v := range vals {
		least, most = min(least, v), max(most, v)
	}
	t.least, t.most = least, most
	if bits.Len64(uint64(least^least>>63))+bits.Len(uint(len(vals))) < 63 && bits.Len64(uint64(most^most>>63))+bits.Len(uint(len(vals))) < 63 {
		var s int64
		for _, v := range vals {
			s += v
		}
		t.addSum(s)
		return
	}
	for _, v := range vals {
		t.addSum(v)
	}
}

// addFloat keeps bounds of the numbers; a NaN shows in the sum, where readers look for it.
func (t *totals) addFloat(v float64) {
	t.fsum += v
	if v != v {
		return
	}
	if !t.some {
		t.some, t.fleast, t.fmost = true, v, v
		return
	}
	t.fleast, t.fmost = min(t.fleast, v), max(t.fmost, v)
}

// addString takes a text as it is stored. Of CHAR, which some readers give back padded and
// some not, the least value is kept without padding and the greatest one with it.
func (t *totals) addString(b []byte) {
	low := b
	if t.kind == kindChar {
		low = bytes.TrimRight(b, " ")
	}
	if !t.some {
		t.some = true
		t.setLeast(low)
		t.setMost(b)
		return
	}
	if bytes.Compare(low, t.sleast) < 0 {
		t.setLeast(low)
	}
	if bytes.Compare(b, t.smost) > 0 {
		t.setMost(b)
	}
}

func (t *totals) setLeast(b []byte) {
	t.leastCut = len(b) > maxStatsBytes
	if t.leastCut {
		b = cutText(b, maxStatsBytes)
	}
	t.sleast = append(t.sleast[:0], b...)
}

func (t *totals) setMost(b []byte) {
	t.mostCut = len(b) > maxStatsBytes
	if !t.mostCut {
		t.smost = append(t.smost[:0], b...)
		return
	}
	t.smost = appendAbove(t.smost[:0], cutText(b, maxStatsBytes))
}

// cutText cuts text to at most n bytes before a character.
func cutText(b []byte, n int) []byte {
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return b[:n]
}

// appendAbove appends a text greater than all that begin with b: b with its last character raised.
func appendAbove(dst, b []byte) []byte {
	for len(b) > 0 {
		r, n := utf8.DecodeLastRune(b)
		b = b[:len(b)-n]
		switch {
		case r == utf8.RuneError || r == utf8.MaxRune:
			continue
		case r == 0xd7ff:
			r = 0xe000 // over the surrogates
		default:
			r++
		}
		return utf8.AppendRune(append(dst, b...), r)
	}
	return append(dst, bytes.Repeat([]byte{0xff}, maxStatsBytes)...)
}

func (t *totals) addDecimal(x column.Int128) {
	if !t.some {
		t.some, t.dleast, t.dmost = true, x, x
	} else if x.Cmp(t.dleast) < 0 {
		t.dleast = x
	} else if x.Cmp(t.dmost) > 0 {
		t.dmost = x
	}
	var over bool
	t.dsum, over = t.dsum.Add(x)
	t.overflow = t.overflow || over
}

func (t *totals) addTime(micros int64, sub uint16) {
	if !t.some {
		t.some, t.least, t.most, t.leastSub, t.mostSub = true, micros, micros, sub, sub
		return
	}
	if micros < t.least || micros == t.least && sub < t.leastSub {
		t.least, t.leastSub = micros, sub
	}
	if micros > t.most || micros == t.most && sub > t.mostSub {
		t.most, t.mostSub = micros, sub
	}
}

// merge adds the statistics of more rows of the column.
func (t *totals) merge(o *totals) {
	t.count += o.count
	t.hasNull = t.hasNull || o.hasNull
	t.onDisk += o.onDisk
	t.overflow = t.overflow || o.overflow
	t.addSum(o.sum)
	t.fsum += o.fsum
	var over bool
	t.dsum, over = t.dsum.Add(o.dsum)
	t.overflow = t.overflow || over
	if !o.some {
		return
	}
	switch t.kind {
	case kindFloat, kindDouble:
		if t.some {
			t.fleast, t.fmost = min(t.fleast, o.fleast), max(t.fmost, o.fmost)
		} else {
			t.fleast, t.fmost = o.fleast, o.fmost
		}
	case kindString, kindVarchar, kindChar:
		if !t.some || bytes.Compare(o.sleast, t.sleast) < 0 {
			t.sleast, t.leastCut = append(t.sleast[:0], o.sleast...), o.leastCut
		}
		if !t.some || bytes.Compare(o.smost, t.smost) > 0 {
			t.smost, t.mostCut = append(t.smost[:0], o.smost...), o.mostCut
		}
	case kindDecimal:
		if !t.some || o.dleast.Cmp(t.dleast) < 0 {
			t.dleast = o.dleast
		}
		if !t.some || o.dmost.Cmp(t.dmost) > 0 {
			t.dmost = o.dmost
		}
	case kindTimestamp, kindTimestampInstant:
		t.addTime(o.least, o.leastSub)
		t.addTime(o.most, o.mostSub)
	default:
		if t.some {
			t.least, t.most = min(t.least, o.least), max(t.most, o.most)
		} else {
			t.least, t.most = o.least, o.most
		}
	}
	t.some = true
}

// Field numbers of ColumnStatistics.
const (
	fieldIntStats     = 2
	fieldDoubleStats  = 3
	fieldStringStats  = 4
	fieldBucketStats  = 5
	fieldDecimalStats = 6
	fieldDateStats    = 7
	fieldBinaryStats  = 8
	fieldTimeStats    = 9
	fieldCollection   = 12
	// defaultMostNanos is the greatest time's part below a millisecond that is not written.
	defaultMostNanos = 999_999
)

// append appends the ColumnStatistics message.
func (t *totals) append(dst []byte) []byte {
	dst = appendUint(dst, 1, t.count)
	var m []byte
	after := func() []byte { return nil }
	field := 0
	switch t.kind {
	case kindByte, kindShort, kindInt, kindLong:
		field = fieldIntStats
		if t.some {
			m = appendSint(appendSint(m, 1, t.least), 2, t.most)
		}
		if !t.overflow {
			m = appendSint(m, 3, t.sum)
		}
	case kindFloat, kindDouble:
		field = fieldDoubleStats
		switch {
		case t.some:
			m = appendDouble(appendDouble(m, 1, t.fleast), 2, t.fmost)
		case t.count > 0: // NaN only
			m = appendDouble(appendDouble(m, 1, math.NaN()), 2, math.NaN())
		}
		m = appendDouble(m, 3, t.fsum)
	case kindString, kindVarchar, kindChar:
		field = fieldStringStats
		if t.some {
			for _, b := range []struct {
				at   int
				text []byte
				cut  bool
			}{{1, t.sleast, t.leastCut}, {2, t.smost, t.mostCut}} {
				if !b.cut {
					m = appendBytes(m, protowire.Number(b.at), b.text)
				}
			}
			m = appendSint(m, 3, t.sum)
			if t.leastCut {
				m = appendBytes(m, 4, t.sleast)
			}
			if t.mostCut {
				m = appendBytes(m, 5, t.smost)
			}
		}
	case kindBoolean:
		field = fieldBucketStats
		m = appendPacked(m, 1, []uint64{uint64(t.sum)})
	case kindDecimal:
		field = fieldDecimalStats
		if t.some {
			m = appendBytes(m, 1, appendPlain(nil, t.dleast, t.scale))
			m = appendBytes(m, 2, appendPlain(nil, t.dmost, t.scale))
		}
		limit := powersOf10[maxDecimalPrecision]
		if !t.overflow && t.dsum.Cmp(limit) < 0 && t.dsum.Cmp(limit.Neg()) > 0 {
			m = appendBytes(m, 3, appendPlain(nil, t.dsum, t.scale))
		}
	case kindDate:
		field = fieldDateStats
		if t.some {
			m = appendSint(appendSint(m, 1, t.least), 2, t.most)
		}
	case kindBinary:
		field = fieldBinaryStats
		m = appendSint(m, 1, t.sum)
	case kindTimestamp, kindTimestampInstant:
		field = fieldTimeStats
		if t.some {
			lo, hi := floorDiv(t.least, 1000), floorDiv(t.most, 1000)
			m = appendSint(appendSint(m, 3, lo), 4, hi)
			if n := (t.least-lo*1000)*1000 + int64(t.leastSub); n != 0 {
				m = appendUint(m, 5, uint64(n+1))
			}
			if n := (t.most-hi*1000)*1000 + int64(t.mostSub); n != defaultMostNanos {
				m = appendUint(m, 6, uint64(n+1))
			}
		}
	case kindList, kindMap:
		after = func() []byte {
			var c []byte
			if t.some {
				c = appendUint(appendUint(c, 1, uint64(t.least)), 2, uint64(t.most))
			}
			if t.sum != 0 {
				c = appendUint(c, 3, uint64(t.sum))
			}
			return c
		}
	}
	if field != 0 {
		dst = appendBytes(dst, protowire.Number(field), m)
	}
	hasNull := uint64(0)
	if t.hasNull {
		hasNull = 1
	}
	dst = appendUint(dst, 10, hasNull)
	if t.onDisk != 0 {
		dst = appendUint(dst, 11, uint64(t.onDisk))
	}
	if t.kind == kindList || t.kind == kindMap {
		dst = appendBytes(dst, fieldCollection, after())
	}
	return dst
}

// appendPlain appends a decimal without zeros at the end of its fraction, as Java's HiveDecimal prints it.
func appendPlain(dst []byte, x column.Int128, scale int) []byte {
	start := len(dst)
	dst = column.AppendDecimal(dst, x, scale)
	if scale == 0 {
		return dst
	}
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	if dst[len(dst)-1] == '.' {
		dst = dst[:len(dst)-1]
	}
	if string(dst[start:]) == "-0" {
		dst = append(dst[:start], '0')
	}
	return dst
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
