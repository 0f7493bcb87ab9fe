package orc

import (
	"fmt"
	"math/bits"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

const (
	// maxDecimalPrecision is the precision of the widest decimal.
	maxDecimalPrecision = 38
	// maxVarint128 is the length of the longest 128-bit varint.
	maxVarint128 = 19
)

var powersOf10 = func() (p [maxDecimalPrecision + 1]column.Int128) {
	p[0] = column.FromInt64(1)
	for i := 1; i < len(p); i++ {
		p[i] = mul64(p[i-1], 10)
	}
	return p
}()

// mul64 multiplies a magnitude below 2^127 by m; the caller knows it fits.
func mul64(a column.Int128, m uint64) column.Int128 {
	hi, lo := bits.Mul64(a.Lo, m)
	return column.Int128{Hi: int64(hi + uint64(a.Hi)*m), Lo: lo}
}

// rescale multiplies v by 10^n; ok is false where the result has more than 38 digits.
func rescale(v column.Int128, n int) (r column.Int128, ok bool) {
	neg := v.Hi < 0
	if neg {
		v = v.Neg()
	}
	for range n {
		if v.Hi < 0 || v.Cmp(powersOf10[maxDecimalPrecision-1]) >= 0 {
			return v, false
		}
		v = mul64(v, 10)
	}
	if neg {
		v = v.Neg()
	}
	return v, true
}

// decimalColumn reads DECIMAL: zigzag varints of any length with a scale each, or, in
// files of version 2, runs of 64-bit integers in the column's scale.
type decimalColumn struct {
	colBase
	wide   bool // the output is 128 bits
	in     rawData
	scales intReader
	// narrow says that in's place is taken by runs of 64-bit integers.
	narrow bool
	ints64 intReader
}

func (c *decimalColumn) start() error {
	if err := c.startBase(); err != nil {
		return err
	}
	c.narrow = c.env.file.version2 && c.typ.precision <= schema.MaxCompactPrecision
	if c.narrow {
		c.ints(&c.ints64, streamData, true)
		c.ints64.v2 = true
		c.data = append(c.data, &c.ints64)
		return nil
	}
	c.in.in = c.stream(c.in.in, streamData)
	c.ints(&c.scales, streamSecondary, true)
	c.data = append(c.data, &c.in, &c.scales)
	return nil
}

func (c *decimalColumn) read(n int, parent []uint64, count int) (*column.Vector, error) {
	k, err := c.mask(n, parent, count)
	if err != nil {
		return nil, c.wrap(err)
	}
	if c.wide {
		c.vec.I128 = grow(c.vec.I128, n)
	} else {
		c.vec.I64 = grow(c.vec.I64, n)
	}
	for at := 0; at < k; {
		m := min(k-at, len(c.env.wide))
		if c.narrow {
			if err := c.ints64.read(c.env.ints[:m]); err != nil {
				return nil, c.wrap(err)
			}
			if c.wide {
				for i, v := range c.env.ints[:m] {
					c.vec.I128[at+i] = column.FromInt64(v)
				}
			} else {
				copy(c.vec.I64[at:], c.env.ints[:m])
			}
			at += m
			continue
		}
		if err := c.unscaled(c.env.wide[:m]); err != nil {
			return nil, c.wrap(err)
		}
		scales := c.env.ints[:m]
		if err := c.scales.read(scales); err != nil {
			return nil, c.wrap(err)
		}
		for i, v := range c.env.wide[:m] {
			if s := scales[i]; s != int64(c.typ.scale) {
				if v, err = c.toScale(v, s); err != nil {
					return nil, err
				}
			}
			if c.wide {
				c.vec.I128[at+i] = v
				continue
			}
			if !v.IsInt64() {
				return nil, c.corrupt("a value with more digits than %s has", c.typ)
			}
			c.vec.I64[at+i] = int64(v.Lo)
		}
		at += m
	}
	if c.wide {
		spread(c.vec.I128, c.vec.Valid, k)
	} else {
		spread(c.vec.I64, c.vec.Valid, k)
	}
	return &c.vec, nil
}

// toScale brings a value that is stored with scale s to the column's scale.
func (c *decimalColumn) toScale(v column.Int128, s int64) (column.Int128, error) {
	if s >= 0 && s <= int64(c.typ.scale) {
		if r, ok := rescale(v, c.typ.scale-int(s)); ok {
			return r, nil
		}
	}
	if v.Sign() == 0 && s >= 0 && s <= maxDecimalPrecision {
		return v, nil
	}
	return v, c.corrupt("a value with scale %d in %s", s, c.typ)
}

// unscaled reads varints.
func (c *decimalColumn) unscaled(dst []column.Int128) error {
	for len(dst) > 0 {
		w, err := c.in.in.fill(maxVarint128)
		if err != nil {
			return err
		}
		used := 0
		for len(dst) > 0 {
			v, n, err := varint128(w[used:])
			if n == 0 && used > 0 && err == nil {
				break // cut off by the window's end
			}
			if err != nil {
				return err
			}
			if n == 0 {
				return errTruncated
			}
			used += n
			dst[0] = v
			dst = dst[1:]
		}
		c.in.in.take(used)
	}
	return nil
}

// varint128 reads a zigzag varint; n is 0 where it is cut off.
func varint128(b []byte) (v column.Int128, n int, err error) {
	var lo, hi uint64
	for i, x := range b {
		if i >= maxVarint128 || i == maxVarint128-1 && x > 3 {
			return v, 0, fmt.Errorf("a decimal of more than 128 bits")
		}
		d := uint64(x & 0x7f)
		switch shift := uint(i) * 7; {
		case shift < 57:
			lo |= d << shift
		case shift < 64:
			lo |= d << shift
			hi |= d >> (64 - shift)
		default:
			hi |= d << (shift - 64)
		}
		if x < 0x80 {
			neg := -(lo & 1)
			lo = lo>>1 | hi<<63
			hi >>= 1
			return column.Int128{Hi: int64(hi ^ neg), Lo: lo ^ neg}, i + 1, nil
		}
	}
	return v, 0, nil
}
