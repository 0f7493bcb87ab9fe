package sketch

import (
	"math"

	"github.com/tributarydb/tributary/storage/errs"
)

// HLL sketches (org.apache.datasketches.hll): a list of coupons that becomes a
// hash set, then an array of 2^lgK registers.
type hllMode byte

const (
	hllList  hllMode = 0
	hllSet   hllMode = 1
	hllArray hllMode = 2
)

// hllType is the width of a register: 4, 6 or 8 bits.
type hllType byte

const (
	hll4 hllType = 0
	hll6 hllType = 1
	hll8 hllType = 2
)

const (
	hllSerial = 1
	hllFamily = 7

	hllMinLgK = 4
	hllMaxLgK = 21

	hllLgList = 3
	hllLgSet  = 5
	// hllSetMinLgK is the least lgK of sketches that go through a hash set.
	hllSetMinLgK = 8

	hllFlagEmpty      = 4
	hllFlagCompact    = 8
	hllFlagOutOfOrder = 16
	hllFlagRebuild    = 32

	hllListStart  = 8
	hllSetStart   = 12
	hllArrayStart = 40
	hllPreInts    = 10

	couponBits = 26
	couponMask = 1<<couponBits - 1
	// auxToken is the 4-bit register that says: look into the table of exceptions.
	auxToken = 15
)

// lgAuxInts is the first size of the table of exceptions by lgK.
var lgAuxInts = [...]int{0, 2, 2, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6, 7, 8, 9, 10, 11, 12, 13}

// hll is a sketch on the heap. Registers are kept one a byte whatever the type.
type hll struct {
	lgK  int
	mode hllMode
	typ  hllType

	coupons []uint32 // list or hash table, 0 = free
	count   int

	slots               []byte
	outOfOrder, rebuild bool
	curMin, numAtCurMin int
	hip, kxq0, kxq1     float64
}

func newHLL(lgK int, typ hllType) *hll {
	return &hll{lgK: lgK, typ: typ, coupons: make([]uint32, 1<<hllLgList)}
}

func newHLLArray(lgK int, typ hllType) *hll {
	return &hll{lgK: lgK, mode: hllArray, typ: typ, slots: make([]byte, 1<<lgK), numAtCurMin: 1 << lgK, kxq0: float64(int(1) << lgK)}
}

func (h *hll) empty() bool { return h.mode != hllArray && h.count == 0 }

func couponSlot(c uint32, lgK int) int { return int(c) & (1<<lgK - 1) }
func couponValue(c uint32) byte        { return byte(c >> couponBits) }
func coupon(slot int, value byte) uint32 {
	return uint32(value)<<couponBits | uint32(slot)&couponMask
}

// findCoupon returns a coupon's place in a hash table, or the free place for it.
func findCoupon(table []uint32, c uint32) (at int, found bool, err error) {
	mask, lg := len(table)-1, 0
	for 1<<lg < len(table) {
		lg++
	}
	probe := int(c) & mask
	start := probe
	for {
		switch table[probe] {
		case 0:
			return probe, false, nil
		case c:
			return probe, true, nil
		}
		probe = (probe + (int(c&couponMask)>>lg | 1)) & mask
		if probe == start {
			return 0, false, errs.Corruptf("HLL sketch: hash set is full")
		}
	}
}

// update adds a coupon, promoting the sketch to the next mode where it is full.
func (h *hll) update(c uint32) error {
	if c == 0 {
		return nil
	}
	switch h.mode {
	case hllArray:
		h.raise(couponSlot(c, h.lgK), couponValue(c))
		return nil
	case hllList:
		for i, x := range h.coupons {
			if x == c {
				return nil
			}
			if x == 0 {
				h.coupons[i] = c
				h.count++
				if h.count < len(h.coupons) {
					return nil
				}
				if h.lgK < hllSetMinLgK {
					return h.toArray()
				}
				return h.toSet()
			}
		}
		return errs.Corruptf("HLL sketch: coupon list is full")
	}
	at, found, err := findCoupon(h.coupons, c)
	if err != nil || found {
		return err
	}
	h.coupons[at] = c
	h.count++
	if 4*h.count <= 3*len(h.coupons) {
		return nil
	}
	if len(h.coupons) == 1<<(h.lgK-3) {
		return h.toArray()
	}
	grown := make([]uint32, 2*len(h.coupons))
	for _, x := range h.coupons {
		if x != 0 {
			at, _, err := findCoupon(grown, x)
			if err != nil {
				return err
			}
			grown[at] = x
		}
	}
	h.coupons = grown
	return nil
}

// toSet turns the full list into a hash set.
func (h *hll) toSet() error {
	list := h.coupons
	h.mode, h.coupons, h.count = hllSet, make([]uint32, 1<<hllLgSet), 0
	for _, c := range list {
		if err := h.update(c); err != nil {
			return err
		}
	}
	return nil
}

// toArray turns coupons into registers.
func (h *hll) toArray() error {
	a := newHLLArray(h.lgK, h.typ)
	for _, c := range h.coupons {
		if c != 0 {
			a.raise(couponSlot(c, a.lgK), couponValue(c))
		}
	}
	a.hip = couponEstimate(h.count)
	*h = *a
	return nil
}

// raise sets a register to value if that is greater, and keeps the estimators (Hll8Array.updateSlotWithKxQ).
func (h *hll) raise(slot int, value byte) {
	old := h.slots[slot]
	if value <= old {
		return
	}
	h.slots[slot] = value
	h.estimate(old, value)
	if old == 0 {
		h.numAtCurMin--
	}
}

func (h *hll) estimate(old, value byte) {
	h.hip += float64(int(1)<<h.lgK) / (h.kxq0 + h.kxq1)
	if old < 32 {
		h.kxq0 -= invPow2(old)
	} else {
		h.kxq1 -= invPow2(old)
	}
	if value < 32 {
		h.kxq0 += invPow2(value)
	} else {
		h.kxq1 += invPow2(value)
	}
}

func invPow2(e byte) float64 { return math.Ldexp(1, -int(e)) }

func (h *hll) putOutOfOrder(x bool) {
	if x {
		h.hip = 0
	}
	h.outOfOrder = x
}

// as8 copies the sketch with 8-bit registers (copyAs(HLL_8)).
func (h *hll) as8() *hll {
	out := *h
	out.coupons = append([]uint32(nil), h.coupons...)
	out.typ = hll8
	if h.mode != hllArray {
		return &out
	}
	if h.typ == hll8 {
		out.slots = append([]byte(nil), h.slots...)
		return &out
	}
	a := newHLLArray(h.lgK, hll8)
	a.putOutOfOrder(h.outOfOrder)
	zeros := 1 << h.lgK
	for i, v := range h.slots {
		if v != 0 {
			zeros--
			a.raise(i, v)
		}
	}
	a.numAtCurMin, a.hip = zeros, h.hip
	return a
}

// downsample folds the registers into fewer (Union.downsample).
func (h *hll) downsample(lgK int) *hll {
	a := newHLLArray(lgK, hll8)
	for i, v := range h.slots {
		if v != 0 {
			a.raise(i&(1<<lgK-1), v)
		}
	}
	a.hip = h.hip
	a.putOutOfOrder(h.outOfOrder)
	return a
}

// mergeCoupons feeds h's coupons to another sketch.
func (h *hll) mergeCoupons(to *hll) error {
	for _, c := range h.coupons {
		if err := to.update(c); err != nil {
			return err
		}
	}
	return nil
}

// mergeRegisters takes the greater of the registers; h has at least as many as to.
func (h *hll) mergeRegisters(to *hll) {
	mask := 1<<to.lgK - 1
	for i, v := range h.slots {
		to.slots[i&mask] = max(to.slots[i&mask], v)
	}
	to.rebuild = true
}

// rebuildEstimators recomputes what mergeRegisters left behind (Union.checkRebuildCurMinNumKxQ).
func (h *hll) rebuildEstimators() {
	if !h.rebuild || h.mode != hllArray || h.typ != hll8 {
		return
	}
	h.curMin, h.numAtCurMin = h.least()
	h.kxq0, h.kxq1 = float64(int(1)<<h.lgK), 0
	for _, v := range h.slots {
		switch {
		case v == 0:
		case v < 32:
			h.kxq0 += invPow2(v) - 1
		default:
			h.kxq1 += invPow2(v) - 1
		}
	}
	h.rebuild = false
}

// least returns the least register and how many registers have it.
func (h *hll) least() (v, n int) {
	v = 64
	for _, x := range h.slots {
		if int(x) < v {
			v, n = int(x), 0
		}
		if int(x) == v {
			n++
		}
	}
	return v, n
}

// UnionHLL unites two HLL sketches (aggregate function hll_sketch): b is the
// union's first sketch and decides the greatest lgK, as in Paimon's HllSketchUtil.
func UnionHLL(a, b []byte) ([]byte, error) {
	first, err := parseHLL(b)
	if err != nil {
		return nil, err
	}
	second, err := parseHLL(a)
	if err != nil {
		return nil, err
	}
	second.rebuildEstimators()
	gadget := newHLL(first.lgK, hll8)
	for _, s := range []*hll{first, second} {
		if gadget, err = unionInto(gadget, s, first.lgK); err != nil {
			return nil, err
		}
	}
	gadget.rebuildEstimators()
	return gadget.append4(nil), nil
}

// unionInto unites src into the gadget and returns what is the gadget now (Union.unionImpl).
func unionInto(gadget, src *hll, maxLgK int) (*hll, error) {
	if src.empty() {
		return gadget, nil
	}
	switch {
	case src.mode == hllSet && gadget.empty() && src.lgK == gadget.lgK:
		return src.as8(), nil
	case src.mode != hllArray:
		return gadget, src.mergeCoupons(gadget)
	case gadget.mode == hllArray:
		if src.lgK < gadget.lgK {
			gadget = gadget.downsample(src.lgK)
		}
		src.mergeRegisters(gadget)
		gadget.putOutOfOrder(true)
		return gadget, nil
	}
	var out *hll
	if src.lgK > maxLgK {
		out = src.downsample(maxLgK)
	} else {
		out = src.as8()
	}
	return out, gadget.mergeCoupons(out)
}

// The coupon estimator: the number of distinct items that give x distinct
// coupons of 26 bits is interpolated between these points.
var (
	couponX = [...]float64{0, 1, 20, 400, 8000, 160000, 300000, 600000}
	couponY = [...]float64{0, 1, 20.0000009437402611, 400.0003963713384110, 8000.1589294602090376,
		160063.6067763759638183, 300223.7071597663452849, 600895.5933856170158833}
)

// couponEstimate is AbstractCoupons.getEstimate.
func couponEstimate(count int) float64 {
	x := float64(count)
	at := 0
	for at < len(couponX)-2 && couponX[at+1] <= x {
		at++
	}
	at = min(max(at-1, 0), len(couponX)-4)
	x0, x1, x2, x3 := couponX[at], couponX[at+1], couponX[at+2], couponX[at+3]
	l0 := float64(float64((x-x1)*(x-x2)) * (x - x3))
	l1 := float64(float64((x-x0)*(x-x2)) * (x - x3))
	l2 := float64(float64((x-x0)*(x-x1)) * (x - x3))
	l3 := float64(float64((x-x0)*(x-x1)) * (x - x2))
	d0 := float64(float64((x0-x1)*(x0-x2)) * (x0 - x3))
	d1 := float64(float64((x1-x0)*(x1-x2)) * (x1 - x3))
	d2 := float64(float64((x2-x0)*(x2-x1)) * (x2 - x3))
	d3 := float64(float64((x3-x0)*(x3-x1)) * (x3 - x2))
	t0 := float64(couponY[at]*l0) / d0
	t1 := float64(couponY[at+1]*l1) / d1
	t2 := float64(couponY[at+2]*l2) / d2
	t3 := float64(couponY[at+3]*l3) / d3
	return max(t0+t1+t2+t3, x)
}
