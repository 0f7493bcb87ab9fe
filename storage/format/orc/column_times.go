package orc

import (
	"github.com/tributarydb/tributary/storage/column"
)

const (
	nanosPerSecond = 1_000_000_000
	// maxSeconds bounds a time so that its microseconds fit 64 bits.
	maxSeconds = 1 << 42
)

// timeRule says what the seconds of a TIMESTAMP or TIMESTAMP_LTZ column mean.
type timeRule struct {
	// base is added to the stored seconds.
	base int64
	// zone, where set, gives the offset that is added to the instant: the result is the text in the zone.
	zone *zone
}

// timeColumn reads TIMESTAMP and TIMESTAMP_LTZ: seconds from 2015, and
// nanoseconds without their trailing zeros.
type timeColumn struct {
	colBase
	ltz   bool // the column asked for is TIMESTAMP_LTZ
	secs  intReader
	nanos intReader
	rule  timeRule
	cur   zoneCursor
	sub   []uint16
}

// ruleFor returns how a column's times are to be read in a stripe (format section 7.4).
func (c *timeColumn) ruleFor() (timeRule, error) {
	z, err := loadZone(c.env.stripe.footer.zone)
	if err != nil {
		return timeRule{}, err
	}
	if c.typ.kind == kindTimestamp {
		// Text without a zone, stored as the instant it is in the writer's zone. Files up to Paimon 0.6
		// have TIMESTAMP_LTZ in this form: the UTC text of the instant.
		return timeRule{base: z.base2015, zone: z}, nil
	}
	if c.ltz && c.env.legacyTZ && c.env.file.footer.writer == writerJava {
		// The instant's UTC text was taken as local time of the writer (orc.timestamp-ltz.legacy.type).
		return timeRule{base: epoch2015, zone: z}, nil
	}
	return timeRule{base: epoch2015}, nil
}

func (c *timeColumn) start() error {
	if err := c.startBase(); err != nil {
		return err
	}
	var err error
	if c.rule, err = c.ruleFor(); err != nil {
		return c.wrap(err)
	}
	if c.rule.zone != nil && c.rule.zone.fixed {
		c.cur = zoneCursor{z: &zone{fixed: true, standard: c.rule.zone.standard}}
	} else {
		c.cur = zoneCursor{z: c.rule.zone}
	}
	c.ints(&c.secs, streamData, true)
	c.ints(&c.nanos, streamSecondary, false)
	c.data = append(c.data, &c.secs, &c.nanos)
	return nil
}

var nanoFactors = [8]int64{1, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000}

func (c *timeColumn) read(n int, parent []uint64, count int) (*column.Vector, error) {
	k, err := c.mask(n, parent, count)
	if err != nil {
		return nil, c.wrap(err)
	}
	out := grow(c.vec.I64, n)
	c.vec.I64 = out
	c.sub = grow(c.sub, n)
	var anySub uint16
	for at := 0; at < k; {
		m := min(k-at, len(c.env.nanos))
		secs, nanos := c.env.ints[:m], c.env.nanos[:m]
		if err := c.secs.read(secs); err != nil {
			return nil, c.wrap(err)
		}
		if err := c.nanos.read(nanos); err != nil {
			return nil, c.wrap(err)
		}
		for i, s := range secs {
			// Nanoseconds are signed: the C++ writer stores times before 1970 that way.
			coded := nanos[i]
			nano := coded >> 3 * nanoFactors[coded&7]
			if s < -maxSeconds || s > maxSeconds || nano <= -nanosPerSecond || nano >= nanosPerSecond {
				return nil, c.corrupt("a time out of range: %d seconds, %d nanoseconds", s, coded)
			}
			s += c.rule.base
			if s < 0 && nano > 999_999 {
				s-- // the Java writer cut the seconds toward zero
			}
			if c.rule.zone != nil {
				s += c.cur.offset(s)
			}
			if nano < 0 {
				s--
				nano += nanosPerSecond
			}
			micros := nano / 1000
			sub := uint16(nano - micros*1000)
			out[at+i] = s*1_000_000 + micros
			c.sub[at+i] = sub
			anySub |= sub
		}
		at += m
	}
	spread(out, c.vec.Valid, k)
	c.vec.Sub = nil
	if anySub != 0 {
		spread(c.sub, c.vec.Valid, k)
		c.vec.Sub = c.sub
	}
	return &c.vec, nil
}
