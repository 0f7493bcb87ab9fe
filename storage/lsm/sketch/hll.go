package sketch

import (
	"encoding/binary"
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

// parseHLL reads a serialised sketch, compact or updatable.
func parseHLL(b []byte) (*hll, error) {
	if len(b) < 8 {
		return nil, errs.Corruptf("HLL sketch: %d bytes", len(b))
	}
	pre, lgK, lgArr, flags := int(b[0]&0x3f), int(b[3]), int(b[4]), b[5]
	mode, typ := hllMode(b[7]&3), hllType(b[7]>>2&3)
	if b[1] != hllSerial || b[2] != hllFamily || mode > hllArray || typ > hll8 ||
		pre != map[hllMode]int{hllList: 2, hllSet: 3, hllArray: hllPreInts}[mode] {
		return nil, errs.Corruptf("HLL sketch: invalid preamble % x", b[:8])
	}
	if lgK < hllMinLgK || lgK > hllMaxLgK {
		return nil, errs.Corruptf("HLL sketch: lgK %d is not in %d..%d", lgK, hllMinLgK, hllMaxLgK)
	}
	compact := flags&hllFlagCompact != 0
	ints := func(at, n int) ([]uint32, error) {
		if n < 0 || at+4*n > len(b) {
			return nil, errs.Corruptf("HLL sketch: cut off, %d coupons in %d bytes", n, len(b))
		}
		out := make([]uint32, n)
		for i := range out {
			out[i] = binary.LittleEndian.Uint32(b[at+4*i:])
		}
		return out, nil
	}
	switch mode {
	case hllList:
		h := newHLL(lgK, typ)
		h.count = int(b[6])
		if h.count > len(h.coupons) {
			return nil, errs.Corruptf("HLL sketch: a list of %d coupons", h.count)
		}
		list, err := ints(hllListStart, h.count)
		copy(h.coupons, list)
		return h, err
	case hllSet:
		if lgK < hllSetMinLgK || len(b) < hllSetStart {
			return nil, errs.Corruptf("HLL sketch: a hash set with lgK %d in %d bytes", lgK, len(b))
		}
		count := int(int32(binary.LittleEndian.Uint32(b[8:])))
		h := &hll{lgK: lgK, mode: hllSet, typ: typ, coupons: make([]uint32, 1<<hllLgSet)}
		if count < 0 || 4*count > 3<<(lgK-3) {
			return nil, errs.Corruptf("HLL sketch: a hash set of %d coupons with lgK %d", count, lgK)
		}
		if !compact {
			if lgArr < hllLgSet || lgArr > lgK-3 {
				return nil, errs.Corruptf("HLL sketch: a hash set of 2^%d places with lgK %d", lgArr, lgK)
			}
			var err error
			h.count = count
			h.coupons, err = ints(hllSetStart, 1<<lgArr)
			return h, err
		}
		list, err := ints(hllSetStart, count)
		for _, c := range list {
			if err == nil {
				err = h.update(c)
			}
		}
		return h, err
	}
	return parseHLLArray(b, lgK, lgArr, typ, flags)
}

func parseHLLArray(b []byte, lgK, lgArr int, typ hllType, flags byte) (*hll, error) {
	k := 1 << lgK
	size := map[hllType]int{hll4: k / 2, hll6: k*3/4 + 1, hll8: k}[typ]
	if len(b) < hllArrayStart+size {
		return nil, errs.Corruptf("HLL sketch: cut off, %d bytes with lgK %d", len(b), lgK)
	}
	h := newHLLArray(lgK, typ)
	h.putOutOfOrder(flags&hllFlagOutOfOrder != 0)
	h.rebuild = flags&hllFlagRebuild != 0
	h.curMin = int(b[6])
	h.hip = math.Float64frombits(binary.LittleEndian.Uint64(b[8:]))
	h.kxq0 = math.Float64frombits(binary.LittleEndian.Uint64(b[16:]))
	h.kxq1 = math.Float64frombits(binary.LittleEndian.Uint64(b[24:]))
	h.numAtCurMin = int(int32(binary.LittleEndian.Uint32(b[32:])))
	p := b[hllArrayStart : hllArrayStart+size]
	switch typ {
	case hll8:
		for i, v := range p {
			h.slots[i] = v & 63
		}
		return h, nil
	case hll6:
		for i := range h.slots {
			bit := 6 * i
			h.slots[i] = byte(binary.LittleEndian.Uint16(p[bit/8:])>>(bit%8)) & 63
		}
		return h, nil
	}
	if h.curMin > 63 {
		return nil, errs.Corruptf("HLL sketch: least register %d", h.curMin)
	}
	count := int(int32(binary.LittleEndian.Uint32(b[36:])))
	n := count
	if flags&hllFlagCompact == 0 && count > 0 {
		if lgArr > lgK {
			return nil, errs.Corruptf("HLL sketch: a table of 2^%d exceptions", lgArr)
		}
		n = 1 << lgArr
	}
	aux := b[hllArrayStart+size:]
	if n < 0 || 4*n > len(aux) {
		return nil, errs.Corruptf("HLL sketch: cut off, %d exceptions in %d bytes", n, len(aux))
	}
	values := map[int]byte{}
	for i := range n {
		if c := binary.LittleEndian.Uint32(aux[4*i:]); c != 0 {
			values[couponSlot(c, lgK)] = couponValue(c)
		}
	}
	for i := range h.slots {
		nib := p[i/2] >> (4 * (i & 1)) & 15
		if nib != auxToken {
			h.slots[i] = nib + byte(h.curMin)
			continue
		}
		v, ok := values[i]
		if !ok {
			return nil, errs.Corruptf("HLL sketch: register %d has no exception", i)
		}
		h.slots[i] = v
	}
	return h, nil
}

// append4 appends the compact form with 4-bit registers (copyAs(HLL_4).toCompactByteArray).
func (h *hll) append4(out []byte) []byte {
	if h.mode != hllArray {
		pre, lgArr := byte(2), hllLgList
		listCount := byte(h.count)
		if h.mode == hllSet {
			pre, listCount = 3, 0
			for 1<<lgArr < len(h.coupons) {
				lgArr++
			}
		}
		flags := byte(hllFlagCompact)
		if h.count == 0 {
			flags |= hllFlagEmpty
		}
		out = append(out, pre, hllSerial, hllFamily, byte(h.lgK), byte(lgArr), flags, listCount, byte(h.mode))
		if h.mode == hllSet {
			out = binary.LittleEndian.AppendUint32(out, uint32(h.count))
		}
		for _, c := range h.coupons {
			if c != 0 {
				out = binary.LittleEndian.AppendUint32(out, c)
			}
		}
		return out
	}
	// Conversions.convertToHll4: the estimators are built anew in register order.
	a := newHLLArray(h.lgK, hll4)
	curMin, numAtCurMin := h.least()
	nibbles := make([]byte, 1<<(h.lgK-1))
	var aux *auxTable
	for i, v := range h.slots {
		if v == 0 {
			continue
		}
		a.estimate(0, v)
		nib := byte(int(v) - curMin)
		if nib >= auxToken {
			nib = auxToken
			if aux == nil {
				aux = &auxTable{lgK: h.lgK, table: make([]uint32, 1<<lgAuxInts[h.lgK])}
			}
			aux.add(coupon(i, v))
		}
		nibbles[i/2] |= nib << (4 * (i & 1))
	}
	flags, lgArr, count := byte(hllFlagCompact), byte(0), 0
	if h.outOfOrder {
		flags |= hllFlagOutOfOrder
	}
	if aux != nil {
		count = aux.count
		for 1<<lgArr < len(aux.table) {
			lgArr++
		}
	}
	out = append(out, hllPreInts, hllSerial, hllFamily, byte(h.lgK), lgArr, flags, byte(curMin), byte(hllArray))
	for _, f := range []float64{h.hip, a.kxq0, a.kxq1} {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(f))
	}
	out = binary.LittleEndian.AppendUint32(out, uint32(numAtCurMin))
	out = binary.LittleEndian.AppendUint32(out, uint32(count))
	out = append(out, nibbles...)
	if aux != nil {
		for _, c := range aux.table {
			if c != 0 {
				out = binary.LittleEndian.AppendUint32(out, c)
			}
		}
	}
	return out
}

// auxTable is the hash table of registers that do not fit 4 bits (HeapAuxHashMap).
type auxTable struct {
	lgK   int
	table []uint32
	count int
}

// add adds a register that is not there.
func (t *auxTable) add(c uint32) {
	t.table[t.free(t.table, c)] = c
	t.count++
	if 4*t.count > 3*len(t.table) {
		grown := make([]uint32, 2*len(t.table))
		for _, x := range t.table {
			if x != 0 {
				grown[t.free(grown, x)] = x
			}
		}
		t.table = grown
	}
}

// free finds the free place for a register. The table is never full, and the odd stride reaches every place.
func (t *auxTable) free(table []uint32, c uint32) int {
	mask, lg := len(table)-1, 0
	for 1<<lg < len(table) {
		lg++
	}
	slot := couponSlot(c, t.lgK)
	probe := slot & mask
	for table[probe] != 0 {
		probe = (probe + (slot>>lg | 1)) & mask
	}
	return probe
}
