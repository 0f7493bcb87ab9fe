package parquet

import (
	"math"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/predicate"
)

// boundsUsable reports whether statistics of column n are ordered as the
// vector's values are. legacy says that they are the deprecated min and max,
// whose order was the signed one; typeOrder that the footer declares the order.
func boundsUsable(n *node, c conversion, legacy, typeOrder bool) bool {
	switch c {
	case convBool, convInt32, convInt32To64, convInt64, convInt32To128, convInt64To128, convFloat, convDouble,
		convMillis, convMicros, convNanos, convTimeMicros, convTimeNanos:
		return true
	case convUint32To64, convUint64To128, convFixedDec64, convFixedDec128, convBytesDec64, convBytesDec128:
		return !legacy
	case convBytes, convFixedBytes:
		return !legacy && typeOrder
	}
	return false
}

// boundScalar converts a plain-encoded statistics value; ok is false where it
// cannot be used.
func boundScalar(n *node, c conversion, kind column.Kind, b []byte) (s column.Scalar, ok bool) {
	s.Kind = kind
	switch c {
	case convBytes, convFixedBytes:
		s.B = b
		return s, true
	case convBool:
		if len(b) != 1 {
			return s, false
		}
		s.I = int64(b[0] & 1)
		return s, true
	case convFixedDec64, convBytesDec64:
		s.I, ok = bigEndian64(b)
		return s, ok && len(b) > 0
	case convFixedDec128, convBytesDec128:
		s.D, ok = column.FromBigEndian(b)
		return s, ok && len(b) > 0
	}
	width := fixedWidth(n)
	if len(b) != width || width == 0 {
		return s, false
	}
	var v column.Vector
	if convertFixed(c, b, 1, width, &v, new(scratch)) != nil {
		return s, false
	}
	v.Kind, v.N = kind, 1
	s = column.ScalarAt(&v, 0)
	return s, !math.IsNaN(s.F)
}

// boundStats converts bounds and counts to what predicates are checked with.
func boundStats(n *node, c conversion, kind column.Kind, rows, nulls int64, minB, maxB []byte, has bool) predicate.Stats {
	s := predicate.Stats{Rows: rows, Nulls: nulls}
	if !has {
		return s
	}
	lo, ok1 := boundScalar(n, c, kind, minB)
	hi, ok2 := boundScalar(n, c, kind, maxB)
	if !ok1 || !ok2 || lo.Compare(hi) > 0 {
		return s
	}
	// A zero bound stands for zeros of both signs.
	if lo.F == 0 {
		lo.F = math.Copysign(0, -1)
	}
	hi.F += 0 // makes -0 a +0
	if c == convFloat || c == convDouble {
		// Writers differ on whether NaN, which orders above all, counts: take it as present.
		hi.F = math.NaN()
	}
	s.HasBounds, s.Min, s.Max = true, lo, hi
	return s
}

// groupStats returns the statistics of a flat column in a row group.
func (f *File) groupStats(c *columnReader, g *rowGroup) predicate.Stats {
	n := c.p.node
	ch := &g.chunks[n.leaf]
	order := n.leaf < len(f.meta.typeOrder) && f.meta.typeOrder[n.leaf]
	has := ch.stats.hasBounds && boundsUsable(n, c.p.conv, ch.stats.legacyBounds, order)
	nulls := ch.stats.nulls
	if n.maxDef == 0 {
		nulls = 0
	}
	return boundStats(n, c.p.conv, c.kind, g.rows, nulls, ch.stats.min, ch.stats.max, has)
}
