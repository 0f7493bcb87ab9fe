package write

import (
	"bytes"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
)

// columnStats collects the statistics of one column of a file from what is written.
type columnStats struct {
	typ  *schema.Type
	mode statsMode
	// bounds says that least and greatest values are kept, counted that nulls are.
	bounds, counted bool
	// longest bounds the bytes of a text that is kept, 0 = any; trim cuts spaces off its end.
	longest int
	trim    bool

	nulls    int64
	has, nan bool
	least    column.Scalar
	greatest column.Scalar
}

// longestOrcText is the length of the longest text that the statistics of ORC files hold whole;
// Paimon takes the table's from there and has no bound where it is longer.
const longestOrcText = 1024

// newColumnStats decides what a format's statistics hold of a column (section
// 7.6): nested columns have no bounds, and in Parquet nothing at all; neither have times that Parquet
// stores as INT96, and binaries in ORC. ORC gives CHAR back without the spaces at its end: bounds are of
// that (Paimon's are padded, and leave out files that have the value asked for).
func newColumnStats(t *schema.Type, mode statsMode, format string) *columnStats {
	c := &columnStats{typ: t, mode: mode, counted: mode.kind != statsNone, bounds: mode.kind >= statsTruncate}
	switch {
	case t.IsNested() || t.Root == schema.Blob || t.Root == schema.Geometry || t.Root == schema.Geography:
		c.bounds = false
		c.counted = c.counted && format != "parquet"
	case (t.Root == schema.Timestamp || t.Root == schema.TimestampLTZ) && t.Precision > 6 && format == "parquet":
		c.bounds = false
	case format == "orc":
		switch t.Root {
		case schema.Binary, schema.Varbinary:
			c.bounds = false
		case schema.Char, schema.Varchar:
			c.longest, c.trim = longestOrcText, t.Root == schema.Char
		}
	}
	return c
}

// empty reports whether nothing is known of the column.
func (c *columnStats) empty() bool { return !c.counted }

// add takes the rows of a vector that count; nil sel = all.
func (c *columnStats) add(v *column.Vector, sel []uint16) {
	if !c.counted {
		return
	}
	if v.Valid != nil {
		if sel == nil {
			c.nulls += int64(v.NullCount())
		} else {
			for _, i := range sel {
				if v.IsNull(int(i)) {
					c.nulls++
				}
			}
		}
	}
	if !c.bounds || c.nan {
		return
	}
	if v.Dict != nil {
		c.addCoded(v, sel)
		return
	}
	c.addFlat(v, sel)
}

// addCoded looks at the dictionary's values that occur.
func (c *columnStats) addCoded(v *column.Vector, sel []uint16) {
	d := v.Dict
	used := make([]uint64, (d.N+63)/64)
	mark := func(i int) {
		if !v.IsNull(i) {
			used[v.Codes[i]>>6] |= 1 << (v.Codes[i] & 63)
		}
	}
	if sel == nil {
		for i := range v.N {
			mark(i)
		}
	} else {
		for _, i := range sel {
			mark(int(i))
		}
	}
	// Rows that do not occur count as null here.
	w := *d
	w.Valid = used
	c.addFlat(&w, nil)
}

func (c *columnStats) addFlat(v *column.Vector, sel []uint16) {
	switch v.Kind {
	case column.KindInt32:
		if lo, hi, ok := extremes(v, v.I32, sel); ok {
			c.merge(column.IntScalar(v.Kind, int64(lo)), column.IntScalar(v.Kind, int64(hi)))
		}
	case column.KindInt64:
		if lo, hi, ok := extremes(v, v.I64, sel); ok {
			c.merge(column.IntScalar(v.Kind, lo), column.IntScalar(v.Kind, hi))
		}
	case column.KindTimestamp:
		if v.Sub == nil {
			if lo, hi, ok := extremes(v, v.I64, sel); ok {
				c.merge(column.IntScalar(v.Kind, lo), column.IntScalar(v.Kind, hi))
			}
			return
		}
		c.addScalars(v, sel)
	case column.KindFloat32:
		c.addFloats(v, sel, func(i int) float64 { return float64(v.F32[i]) })
	case column.KindFloat64:
		c.addFloats(v, sel, func(i int) float64 { return v.F64[i] })
	case column.KindBytes:
		c.addBytes(v, sel)
	default:
		c.addScalars(v, sel)
	}
}

// extremes returns the least and greatest value of the rows that count and are not null.
func extremes[T int32 | int64](v *column.Vector, values []T, sel []uint16) (lo, hi T, ok bool) {
	if sel == nil && v.Valid == nil {
		values = values[:v.N]
		if len(values) == 0 {
			return 0, 0, false
		}
		lo, hi = values[0], values[0]
		for _, x := range values {
			lo, hi = min(lo, x), max(hi, x)
		}
		return lo, hi, true
	}
	eachValue(v, sel, func(i int) {
		x := values[i]
		if !ok {
			lo, hi, ok = x, x, true
		}
		lo, hi = min(lo, x), max(hi, x)
	})
	return lo, hi, ok
}

// eachValue calls f for the rows that count and are not null.
func eachValue(v *column.Vector, sel []uint16, f func(i int)) {
	if sel != nil {
		for _, i := range sel {
			if !v.IsNull(int(i)) {
				f(int(i))
			}
		}
		return
	}
	for i := range v.N {
		if !v.IsNull(i) {
			f(i)
		}
	}
}

func (c *columnStats) addScalars(v *column.Vector, sel []uint16) {
	eachValue(v, sel, func(i int) {
		s := column.ScalarAt(v, i)
		c.merge(s, s)
	})
}

func (c *columnStats) addFloats(v *column.Vector, sel []uint16, at func(int) float64) {
	lo, hi, ok := 0.0, 0.0, false
	eachValue(v, sel, func(i int) {
		x := at(i)
		switch {
		case x != x:
			c.nan = true
		case !ok:
			lo, hi, ok = x, x, true
		default:
			lo, hi = min(lo, x), max(hi, x)
		}
	})
	if ok {
		c.merge(column.Scalar{Kind: v.Kind, F: lo}, column.Scalar{Kind: v.Kind, F: hi})
	}
}

func (c *columnStats) addBytes(v *column.Vector, sel []uint16) {
	var lo, hi []byte
	ok := false
	eachValue(v, sel, func(i int) {
		b := v.Bytes(i)
		if c.trim {
			b = bytes.TrimRight(b, " ")
		}
		switch {
		case !ok:
			lo, hi, ok = b, b, true
		case bytes.Compare(b, lo) < 0:
			lo = b
		case bytes.Compare(b, hi) > 0:
			hi = b
		}
	})
	if !ok {
		return
	}
	if !c.has || bytes.Compare(lo, c.least.B) < 0 {
		c.least = column.BytesScalar(bytes.Clone(lo))
	}
	if !c.has || bytes.Compare(hi, c.greatest.B) > 0 {
		c.greatest = column.BytesScalar(bytes.Clone(hi))
	}
	c.has = true
}

func (c *columnStats) merge(lo, hi column.Scalar) {
	if !c.has || lo.Compare(c.least) < 0 {
		c.least = lo
	}
	if !c.has || hi.Compare(c.greatest) > 0 {
		c.greatest = hi
	}
	c.has = true
}

// result returns the bounds, null where there are none, and the null count, -1 unknown.
func (c *columnStats) result() (lo, hi column.Scalar, nulls int64) {
	kind := schema.KindOf(c.typ)
	lo, hi = column.NullScalar(kind), column.NullScalar(kind)
	if !c.counted {
		return lo, hi, -1
	}
	if !c.bounds || !c.has || c.nan {
		return lo, hi, c.nulls
	}
	least, greatest := c.least, c.greatest
	switch kind {
	case column.KindBytes:
		if c.mode.kind == statsTruncate {
			text := c.typ.Root == schema.Char || c.typ.Root == schema.Varchar
			a, ok1 := truncateMin(least.B, c.mode.length, text)
			b, ok2 := truncateMax(greatest.B, c.mode.length, text)
			if !ok1 || !ok2 {
				return lo, hi, c.nulls
			}
			least, greatest = column.BytesScalar(a), column.BytesScalar(b)
		}
		// In truncate(n), no greatest value means no bounds at all (TruncateSimpleColStatsCollector.convert).
		switch long := func(b []byte) bool { return c.longest > 0 && len(b) > c.longest }; {
		case long(c.greatest.B) && c.mode.kind == statsTruncate:
			return lo, hi, c.nulls
		case long(c.greatest.B) && long(c.least.B):
			return lo, hi, c.nulls
		case long(c.greatest.B):
			return least, hi, c.nulls
		case long(c.least.B):
			return lo, greatest, c.nulls
		}
	}
	return least, greatest, c.nulls
}

// fileStats collects the statistics of a file's columns.
type fileStats []*columnStats

// newFileStats collects for fields with a mode each.
func newFileStats(fields []schema.Field, modes []statsMode, format string) fileStats {
	out := make(fileStats, len(fields))
	for i, f := range fields {
		out[i] = newColumnStats(f.Type, modes[i], format)
	}
	return out
}

func (s fileStats) add(cols []*column.Vector, sel []uint16) {
	for i, c := range s {
		c.add(cols[i], sel)
	}
}

// simple encodes the statistics. dense leaves out columns of which nothing is
// known and returns the names of the rest, nil where all are there.
func (s fileStats) simple(fields []schema.Field, dense bool) (manifest.SimpleStats, []string) {
	var types []*schema.Type
	var lo, hi []column.Scalar
	nulls, names, left := []int64{}, []string{}, false
	for i, c := range s {
		if dense && c.empty() {
			left = true
			continue
		}
		a, b, n := c.result()
		types, names = append(types, c.typ), append(names, fields[i].Name)
		lo, hi, nulls = append(lo, a), append(hi, b), append(nulls, n)
	}
	if !left {
		names = nil
	}
	return manifest.SimpleStats{Min: binrow.EncodeRow(types, lo), Max: binrow.EncodeRow(types, hi), Nulls: nulls}, names
}
