package sketch

import (
	"encoding/binary"
	"math"

	"github.com/tributarydb/tributary/storage/errs"
)

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
