package table

import (
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"github.com/tributarydb/tributary/storage/cast"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// columnCollector gathers the statistics of one column. Values are hashed by a salted mix, lengths are those that Flink
// counts: characters of texts, bytes of others.
type columnCollector struct {
	typ  *schema.Type
	kind column.Kind
	// rows are those that are not null.
	nulls, rows      int64
	lengths, longest int64
	bounded, text    bool
	min, max         column.Scalar
	distinct         distinctCounter
	// seen counts the rows of each code of a dictionary.
	seen []int32
}

func newColumnCollector(t *schema.Type) *columnCollector {
	c := &columnCollector{typ: t, kind: schema.KindOf(t)}
	c.text = t.Root == schema.Char || t.Root == schema.Varchar
	c.min, c.max = column.NullScalar(c.kind), column.NullScalar(c.kind)
	switch t.Root {
	case schema.TinyInt, schema.SmallInt, schema.Int, schema.BigInt, schema.Decimal, schema.Float, schema.Double,
		schema.Date, schema.Time, schema.Timestamp, schema.TimestampLTZ:
		c.bounded = true
	}
	return c
}

// measured reports whether values of the type are more than counted: nested ones are not.
func (c *columnCollector) measured() bool {
	switch c.kind {
	case column.KindInt32, column.KindInt64, column.KindInt128, column.KindFloat32, column.KindFloat64, column.KindTimestamp, column.KindBytes:
		return true
	}
	return false
}

// add takes the rows of a batch that count.
func (c *columnCollector) add(b *column.Batch, v *column.Vector) {
	n := b.Rows()
	if !c.measured() {
		for k := range n {
			if v.IsNull(b.Row(k)) {
				c.nulls++
			} else {
				c.rows++
			}
		}
		return
	}
	if v.Dict != nil {
		c.addCoded(b, v)
		return
	}
	for k := range n {
		i := b.Row(k)
		if v.IsNull(i) {
			c.nulls++
			continue
		}
		c.value(v, i, 1)
	}
}

// addCoded looks at each value of a dictionary once.
func (c *columnCollector) addCoded(b *column.Batch, v *column.Vector) {
	if len(c.seen) < v.Dict.N {
		c.seen = make([]int32, v.Dict.N)
	}
	seen := c.seen[:v.Dict.N]
	clear(seen)
	for k := range b.Rows() {
		i := b.Row(k)
		if v.IsNull(i) {
			c.nulls++
			continue
		}
		seen[v.Codes[i]]++
	}
	for code, times := range seen {
		if times > 0 {
			c.value(v.Dict, code, int64(times))
		}
	}
}

// value takes a value that occurs so many times.
func (c *columnCollector) value(v *column.Vector, i int, times int64) {
	c.rows += times
	var h uint64
	switch c.kind {
	case column.KindInt32:
		x := int64(v.I32[i])
		h = mix(uint64(x) + 1)
		c.bound(x)
	case column.KindInt64:
		h = mix(uint64(v.I64[i]) + 1)
		c.bound(v.I64[i])
	case column.KindTimestamp:
		h = mix(uint64(v.I64[i])*1000 + uint64(v.SubNanos(i)) + 1)
		c.boundScalar(column.Scalar{Kind: c.kind, I: v.I64[i], Sub: v.SubNanos(i)})
	case column.KindInt128:
		h = mix(mix(uint64(v.I128[i].Hi)+1) + v.I128[i].Lo)
		c.boundScalar(column.Scalar{Kind: c.kind, D: v.I128[i]})
	case column.KindFloat32:
		c.float(float64(v.F32[i]))
		return
	case column.KindFloat64:
		c.float(v.F64[i])
		return
	case column.KindBytes:
		p := v.Bytes(i)
		h = xxhash.Sum64(p)
		n := int64(len(p))
		if c.text {
			n = int64(utf8.RuneCount(p))
		}
		c.lengths += n * times
		c.longest = max(c.longest, n)
	}
	c.distinct.add(h)
}

func (c *columnCollector) float(f float64) {
	c.distinct.add(mix(math.Float64bits(f) + 1))
	if f == f { // NaN has no place between a minimum and a maximum
		c.boundScalar(column.Scalar{Kind: c.kind, F: f})
	}
}

func (c *columnCollector) bound(x int64) {
	if c.min.Null {
		c.min, c.max = column.IntScalar(c.kind, x), column.IntScalar(c.kind, x)
		return
	}
	c.min.I, c.max.I = min(c.min.I, x), max(c.max.I, x)
}

func (c *columnCollector) boundScalar(s column.Scalar) {
	if c.min.Null || s.Compare(c.min) < 0 {
		c.min = s
	}
	if c.max.Null || s.Compare(c.max) > 0 {
		c.max = s
	}
}

// merge adds what o has gathered of other rows.
func (c *columnCollector) merge(o *columnCollector) {
	c.nulls += o.nulls
	c.rows += o.rows
	c.lengths += o.lengths
	c.longest = max(c.longest, o.longest)
	if !o.min.Null {
		c.boundScalar(o.min)
		c.boundScalar(o.max)
	}
	c.distinct.merge(&o.distinct)
}

// statistics is what was gathered of a field.
func (c *columnCollector) statistics(f *schema.Field) snapshot.ColumnStatistics {
	out := snapshot.ColumnStatistics{Column: f.Name, ColumnID: int64(f.ID), NullCount: &c.nulls}
	if !c.measured() {
		return out
	}
	n := c.distinct.count()
	out.DistinctCount = &n
	if c.kind == column.KindBytes && c.rows > 0 {
		avg, longest := c.lengths/c.rows, c.longest
		out.AvgLength, out.MaxLength = &avg, &longest
	}
	if c.bounded && !c.min.Null {
		lo, hi := boundText(c.typ, c.min), boundText(c.typ, c.max)
		out.Min, out.Max = &lo, &hi
	}
	return out
}

// boundText is a bound as Paimon's serializers print it: DATE as days, TIME as milliseconds, others as CAST does.
func boundText(t *schema.Type, s column.Scalar) string {
	if t.Root == schema.Date || t.Root == schema.Time {
		return strconv.FormatInt(s.I, 10)
	}
	return string(cast.AppendScalar(nil, t, s))
}
