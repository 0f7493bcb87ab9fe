package table

import (
	"math"
	"math/bits"
)

const (
	// exactDistinct is the number of distinct hashes up to which they are counted exactly.
	exactDistinct = 1 << 16
	// registerBits is the logarithm of the number of registers of the estimate beyond: its standard error is 0.8 %.
	registerBits = 14
)

// distinctCounter counts distinct values by their 64-bit hashes: exactly while there are few, then by HyperLogLog.
type distinctCounter struct {
	// set is an open-addressing table, a power of two long; 0 marks a free place.
	set   []uint64
	n     int
	zero  bool
	ranks []uint8
}

// add takes a hash, whose bits must be evenly mixed.
func (d *distinctCounter) add(h uint64) {
	if d.ranks != nil {
		d.rank(h)
		return
	}
	if h == 0 {
		d.zero = true
		return
	}
	if 2*d.n >= len(d.set) {
		d.grow()
	}
	mask := uint64(len(d.set) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		switch d.set[i] {
		case h:
			return
		case 0:
			d.set[i] = h
			if d.n++; d.n > exactDistinct {
				d.estimate()
			}
			return
		}
	}
}

func (d *distinctCounter) grow() {
	old := d.set
	d.set = make([]uint64, max(64, 2*len(old)))
	mask := uint64(len(d.set) - 1)
	for _, h := range old {
		if h == 0 {
			continue
		}
		i := h & mask
		for d.set[i] != 0 {
			i = (i + 1) & mask
		}
		d.set[i] = h
	}
}

// estimate turns the set into registers.
func (d *distinctCounter) estimate() {
	d.ranks = make([]uint8, 1<<registerBits)
	for _, h := range d.set {
		if h != 0 {
			d.rank(h)
		}
	}
	if d.zero {
		d.rank(0)
	}
	d.set = nil
}

func (d *distinctCounter) rank(h uint64) {
	i := h >> (64 - registerBits)
	r := uint8(bits.LeadingZeros64(h<<registerBits|1<<(registerBits-1))) + 1
	if r > d.ranks[i] {
		d.ranks[i] = r
	}
}

// merge adds what o has counted.
func (d *distinctCounter) merge(o *distinctCounter) {
	if o.ranks == nil {
		if o.zero {
			d.add(0)
		}
		for _, h := range o.set {
			if h != 0 {
				d.add(h)
			}
		}
		return
	}
	if d.ranks == nil {
		d.estimate()
	}
	for i, r := range o.ranks {
		d.ranks[i] = max(d.ranks[i], r)
	}
}

// count is the number of distinct values.
func (d *distinctCounter) count() int64 {
	if d.ranks == nil {
		n := int64(d.n)
		if d.zero {
			n++
		}
		return n
	}
	const m = 1 << registerBits
	sum, free := 0.0, 0
	for _, r := range d.ranks {
		sum += math.Ldexp(1, -int(r))
		if r == 0 {
			free++
		}
	}
	e := 0.7213 / (1 + 1.079/m) * m * m / sum
	if e <= 2.5*m && free > 0 {
		e = m * math.Log(float64(m)/float64(free))
	}
	return int64(math.Round(e))
}

// mix spreads the bits of a number (the finaliser of SplitMix64).
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
