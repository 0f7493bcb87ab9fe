package sketch

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/tributarydb/tributary/storage/errs"
)

// Theta sketches (org.apache.datasketches.theta, serial version 3).
const (
	thetaSerial       = 3
	thetaCompact      = 3 // family
	thetaMinFamily    = 1 // Alpha
	thetaSeedHash     = 0x93cc
	thetaNominal      = 4096                  // default nominal entries of a union
	thetaRebuildAbove = thetaNominal * 15 / 8 // 15/16 of a table of twice the nominal entries

	thetaFlagCompact = 8
	thetaFlagOrdered = 16
	thetaFlagSingle  = 32
	// thetaCompactFlags are read-only, compact, ordered.
	thetaCompactFlags = 2 | thetaFlagCompact | thetaFlagOrdered
)

var emptyTheta = []byte{1, thetaSerial, thetaCompact, 0, 0, 0x1e, 0, 0}

// thetaUnion is the state of a union: the hashes below theta, and the least
// theta of the sketches fed.
type thetaUnion struct {
	hashes     map[int64]struct{}
	table      int64 // theta of the table: hashes at or above are not taken
	theta      int64
	tableEmpty bool
	empty      bool
}

// put adds a hash; when the table is full it keeps the least 4096 hashes.
func (u *thetaUnion) put(h int64) error {
	if h < 0 {
		return errs.Corruptf("theta sketch: negative hash")
	}
	u.tableEmpty = false
	if h == 0 || h >= u.table {
		return nil
	}
	u.hashes[h] = struct{}{}
	if len(u.hashes) > thetaRebuildAbove {
		u.table = u.sorted()[thetaNominal]
		for h := range u.hashes {
			if h >= u.table {
				delete(u.hashes, h)
			}
		}
	}
	return nil
}

func (u *thetaUnion) sorted() []int64 {
	out := make([]int64, 0, len(u.hashes))
	for h := range u.hashes {
		out = append(out, h)
	}
	slices.Sort(out)
	return out
}

// tableTheta is the table's theta as other parts see it.
func (u *thetaUnion) tableTheta() int64 {
	if u.tableEmpty {
		return math.MaxInt64
	}
	return u.table
}

// add feeds a serialised sketch (UnionImpl.union(Memory)).
func (u *thetaUnion) add(b []byte) error {
	if len(b) < 16 {
		return nil // empty or garbage: nothing changes
	}
	pre, serial, family, flags := int(b[0]&0x3f), b[1], b[2], b[5]
	if serial != thetaSerial {
		return errs.Unsupportedf("theta sketch of serial version %d is not read here (only %d)", serial, thetaSerial)
	}
	if family < thetaMinFamily || family > thetaCompact {
		return errs.Corruptf("theta sketch: family %d", family)
	}
	hash := func(i int) (int64, error) {
		at := 8 * (pre + i)
		if at+8 > len(b) {
			return 0, errs.Corruptf("theta sketch: cut off after %d hashes", i)
		}
		return int64(binary.LittleEndian.Uint64(b[at:])), nil
	}
	if pre == 1 {
		if family == thetaCompact && flags&0x1f == thetaCompactFlags || flags&thetaFlagSingle != 0 {
			return u.put(int64(binary.LittleEndian.Uint64(b[8:])))
		}
		return nil
	}
	if pre > 3 || pre == 0 || len(b) < 8*pre {
		return errs.Corruptf("theta sketch: preamble of %d longs", pre)
	}
	if seed := binary.LittleEndian.Uint16(b[6:]); seed != thetaSeedHash {
		return errs.Invalidf("theta sketch: made with another hash seed (%04x, not %04x)", seed, thetaSeedHash)
	}
	count, theta := int(int32(binary.LittleEndian.Uint32(b[8:]))), int64(math.MaxInt64)
	if count < 0 {
		return errs.Corruptf("theta sketch: %d hashes", count)
	}
	if pre == 2 && count == 0 {
		return nil
	}
	if pre == 3 {
		theta = int64(binary.LittleEndian.Uint64(b[16:]))
	}
	u.theta = min(u.theta, theta, u.tableTheta())
	u.empty = false
	ordered := flags&thetaFlagOrdered != 0
	n := count
	if !ordered && flags&thetaFlagCompact == 0 {
		if b[4] > 26 {
			return errs.Corruptf("theta sketch: a table of 2^%d hashes", b[4])
		}
		n = 1 << b[4]
	}
	for i := range n {
		h, err := hash(i)
		if err != nil {
			return err
		}
		if h >= u.theta && ordered {
			break
		}
		if !ordered && (h <= 0 || h >= u.theta) {
			continue
		}
		if err := u.put(h); err != nil {
			return err
		}
	}
	u.theta = min(u.theta, u.tableTheta())
	return nil
}

// result is the compact ordered form of the union.
func (u *thetaUnion) result() []byte {
	hashes := u.sorted()
	theta := min(u.tableTheta(), u.theta)
	if len(hashes) > thetaNominal {
		theta = min(theta, hashes[thetaNominal])
	}
	n, _ := slices.BinarySearch(hashes, theta)
	hashes = hashes[:n]
	if u.tableEmpty && u.empty || n == 0 && theta == math.MaxInt64 {
		return slices.Clone(emptyTheta)
	}
	pre, flags := 2, byte(thetaCompactFlags)
	switch {
	case theta < math.MaxInt64:
		pre = 3
	case n == 1:
		pre, flags = 1, thetaCompactFlags|thetaFlagSingle
	}
	out := []byte{byte(pre), thetaSerial, thetaCompact, 0, 0, flags, thetaSeedHash & 0xff, thetaSeedHash >> 8}
	if pre > 1 {
		out = binary.LittleEndian.AppendUint32(out, uint32(n))
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(1))
	}
	if pre > 2 {
		out = binary.LittleEndian.AppendUint64(out, uint64(theta))
	}
	for _, h := range hashes {
		out = binary.LittleEndian.AppendUint64(out, uint64(h))
	}
	return out
}

// UnionTheta unites two theta sketches (aggregate function theta_sketch).
func UnionTheta(a, b []byte) ([]byte, error) {
	u := &thetaUnion{hashes: map[int64]struct{}{}, table: math.MaxInt64, theta: math.MaxInt64, tableEmpty: true, empty: true}
	for _, s := range [][]byte{a, b} {
		if err := u.add(s); err != nil {
			return nil, err
		}
	}
	return u.result(), nil
}
