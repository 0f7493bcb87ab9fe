package orc

import (
	"math"
	"math/big"
	"strings"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/predicate"
)

// columnStats are the statistics of a column over a file, stripe or row group.
type columnStats struct {
	values  uint64 // not null
	hasNull bool
	ints    *[2]int64
	floats  *[2]float64
	// sum of the doubles; NaN where a NaN is among them.
	sum    float64
	hasSum bool
	// strings: nil where unknown; lower and upper need not occur.
	lower, upper []byte
	bools        *[2]uint64 // unused slot, count of true
	decimals     *[2]string
	millis       *[2]int64
	// bytes is the length of all strings or binaries.
	bytes uint64
}

// parseColumnStats parses a ColumnStatistics message. Bounds that are not
// complete are left out.
func parseColumnStats(b []byte) (s columnStats, err error) {
	s.hasNull = true // older writers do not say
	var seen [2]bool
	bound := func(i int) bool { seen[i] = true; return seen[0] && seen[1] }
	err = eachField(b, func(f protoField) error {
		seen = [2]bool{}
		switch f.num {
		case 1:
			s.values = f.v
		case 10:
			s.hasNull = f.v != 0
		case 2, 7:
			var v [2]int64
			return eachField(f.p, func(f protoField) error {
				if f.num == 1 || f.num == 2 {
					v[f.num-1] = zigzag(f.v)
					if bound(int(f.num - 1)) {
						s.ints = &v
					}
				}
				return nil
			})
		case 3:
			var v [2]float64
			return eachField(f.p, func(f protoField) error {
				switch f.num {
				case 1, 2:
					v[f.num-1] = math.Float64frombits(f.v)
					if bound(int(f.num - 1)) {
						s.floats = &v
					}
				case 3:
					s.sum, s.hasSum = math.Float64frombits(f.v), true
				}
				return nil
			})
		case 4:
			return eachField(f.p, func(f protoField) error {
				switch f.num {
				case 1, 4:
					s.lower = f.p
				case 2, 5:
					s.upper = f.p
				case 3:
					s.bytes = uint64(max(zigzag(f.v), 0))
				}
				return nil
			})
		case 5:
			return eachField(f.p, func(f protoField) error {
				if f.num == 1 {
					counts, err := f.uints(nil, 1)
					if err == nil && len(counts) == 1 {
						s.bools = &[2]uint64{0, counts[0]}
					}
					return err
				}
				return nil
			})
		case 6:
			var v [2]string
			return eachField(f.p, func(f protoField) error {
				if f.num == 1 || f.num == 2 {
					v[f.num-1] = string(f.p)
					if bound(int(f.num - 1)) {
						s.decimals = &v
					}
				}
				return nil
			})
		case 8:
			return eachField(f.p, func(f protoField) error {
				if f.num == 1 {
					s.bytes = uint64(max(zigzag(f.v), 0))
				}
				return nil
			})
		case 9:
			var v [2]int64
			return eachField(f.p, func(f protoField) error {
				// 1 and 2 are in the writer's zone, and are not used.
				if f.num == 3 || f.num == 4 {
					v[f.num-3] = zigzag(f.v)
					if bound(int(f.num - 3)) {
						s.millis = &v
					}
				}
				return nil
			})
		}
		return nil
	})
	return s, err
}

const (
	// firstGregorianMillis is 1582-10-15 00:00:00: bounds of earlier times do
	// not say what is read (format section 7.4).
	firstGregorianMillis = -12219292800000
	// timeSlackMillis widens bounds of times: the writer's cut toward zero
	// moves values before 1970 by up to a second, and bounds have milliseconds only.
	timeSlackMillis = 2000
	// zoneSlackMillis widens them where a zone's offset is applied to them.
	zoneSlackMillis = 86_400_000
)

// predicateStats converts the statistics of a column read by c over rows rows.
func (s *columnStats) predicateStats(c columnReader, rows int64) predicate.Stats {
	base := c.base()
	out := predicate.Stats{Rows: rows, Nulls: -1}
	if n := uint64(rows) - s.values; s.values <= uint64(rows) && (s.hasNull || n == 0) {
		out.Nulls = int64(n)
	}
	k := base.vec.Kind
	bounds := func(lo, hi column.Scalar) {
		out.HasBounds, out.Min, out.Max = true, lo, hi
	}
	switch base.typ.kind {
	case kindByte, kindShort, kindInt, kindLong, kindDate:
		if s.ints != nil {
			bounds(column.IntScalar(k, s.ints[0]), column.IntScalar(k, s.ints[1]))
		}
	case kindBoolean:
		if s.bools != nil && s.bools[1] <= s.values {
			lo, hi := int64(0), int64(1)
			if s.bools[1] == s.values {
				lo = 1
			}
			if s.bools[1] == 0 {
				hi = 0
			}
			bounds(column.IntScalar(k, lo), column.IntScalar(k, hi))
		}
	case kindFloat, kindDouble:
		if s.floats != nil {
			lo, hi := s.floats[0], s.floats[1]
			if lo != lo || hi != hi {
				break
			}
			// Writers compare by <, which takes -0 and 0 as equal and never sees a NaN.
			if lo == 0 {
				lo = math.Copysign(0, -1)
			}
			if hi == 0 {
				hi = 0
			}
			if !s.hasSum || s.sum != s.sum {
				hi = math.NaN() // the greatest value
			}
			bounds(column.Scalar{Kind: k, F: lo}, column.Scalar{Kind: k, F: hi})
		}
	case kindString, kindVarchar, kindChar:
		if s.lower != nil && s.upper != nil {
			lower := s.lower
			if base.typ.kind == kindChar {
				lower = charLowerBound(lower)
			}
			bounds(column.BytesScalar(lower), column.BytesScalar(s.upper))
		}
	case kindDecimal:
		if s.decimals != nil {
			lo, ok1 := parseDecimal(s.decimals[0], base.typ.scale)
			hi, ok2 := parseDecimal(s.decimals[1], base.typ.scale)
			if ok1 && ok2 {
				if k == column.KindInt128 {
					bounds(column.Scalar{Kind: k, D: lo}, column.Scalar{Kind: k, D: hi})
				} else if lo.IsInt64() && hi.IsInt64() {
					bounds(column.IntScalar(k, int64(lo.Lo)), column.IntScalar(k, int64(hi.Lo)))
				}
			}
		}
	case kindTimestamp, kindTimestampInstant:
		if t, ok := c.(*timeColumn); ok && s.millis != nil {
			lo, hi, ok := t.boundMillis(s.millis[0], s.millis[1])
			if ok {
				bounds(column.IntScalar(k, lo*1000), column.IntScalar(k, hi*1000))
			}
		}
	}
	if out.HasBounds && out.Min.Compare(out.Max) > 0 {
		out.HasBounds = false
	}
	return out
}

// boundMillis turns bounds of the stored times into bounds of the times read.
func (c *timeColumn) boundMillis(lo, hi int64) (int64, int64, bool) {
	if lo < firstGregorianMillis || hi > maxSeconds*1000 {
		return 0, 0, false
	}
	slack := int64(timeSlackMillis)
	if c.typ.kind == kindTimestampInstant && c.ltz && c.env.legacyTZ {
		slack = zoneSlackMillis
	}
	return lo - slack, hi + slack, true
}

// charLowerBound turns the least padded CHAR into a lower bound of the values
// without padding: a value may end where the padded ones have spaces, and
// characters below the space sort before them.
func charLowerBound(b []byte) []byte {
	for i, c := range b {
		if c < ' ' {
			b = b[:i]
			break
		}
	}
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	return b
}

// parseDecimal reads plain decimal text as an unscaled number of the scale; ok
// is false for anything else.
func parseDecimal(s string, scale int) (v column.Int128, ok bool) {
	whole, frac, _ := strings.Cut(s, ".")
	if len(s) > 2*maxDecimalPrecision || len(frac) > scale || whole+frac == "" {
		return v, false
	}
	x, ok := new(big.Int).SetString(whole+frac+strings.Repeat("0", scale-len(frac)), 10)
	if !ok {
		return v, false
	}
	return column.FromBig(x)
}
