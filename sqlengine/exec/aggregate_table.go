package exec

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/cespare/xxhash/v2"

	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

type slotKind uint8

const (
	// slotCountAll counts rows, slotCount values that are not NULL.
	slotCountAll slotKind = iota
	slotCount
	// slotSum adds integers or decimals in 128 bits, slotSumFloat doubles.
	slotSum
	slotSumFloat
	// slotFirst keeps any value that is not NULL.
	slotMin
	slotMax
	slotFirst
	// slotDistinct counts different values that are not NULL.
	slotDistinct
)

// slotSpec is something that is kept per group.
type slotSpec struct {
	kind slotKind
	arg  expr
}

type resultKind uint8

const (
	// resultSlot gives a slot as it is, resultSum a sum that is NULL where its count is 0, resultAvg their quotient.
	resultSlot resultKind = iota
	resultSum
	resultAvg
)

// resultSpec is an output column of an aggregate after the keys.
type resultSpec struct {
	kind  resultKind
	slot  int
	count int
	typ   *schema.Type
	// name is for EXPLAIN.
	name string
}

// aggregateSpec describes a grouping.
type aggregateSpec struct {
	keys    []expr
	slots   []slotSpec
	results []resultSpec
}

// slotState holds a slot of all groups.
type slotState struct {
	counts []int64
	sums   []column.Int128
	floats []float64
	ints   []int64
	texts  [][]byte
	seen   []bool
	// distinct holds group and value of what was counted.
	distinct *groupTable
}

// aggregateTable collects groups; one a worker.
type aggregateTable struct {
	spec   *aggregateSpec
	groups *groupTable
	states []slotState
	gids   []uint32
	n      int
	texts  int64
	key    []byte
	parts  partition
	// reads says that a slot has an argument.
	reads bool
}

func newAggregateTable(spec *aggregateSpec) *aggregateTable {
	t := &aggregateTable{spec: spec, states: make([]slotState, len(spec.slots))}
	for _, s := range spec.slots {
		t.reads = t.reads || s.arg != nil
	}
	if len(spec.keys) > 0 {
		t.groups = newGroupTable(spec.keys)
	} else {
		t.grow(1)
	}
	return t
}

// bytes is the memory in use.
func (t *aggregateTable) bytes() int64 {
	n := t.texts
	if t.groups != nil {
		n += t.groups.bytes()
	}
	for i := range t.states {
		s := &t.states[i]
		n += int64(8*cap(s.counts) + 16*cap(s.sums) + 8*cap(s.floats) + 8*cap(s.ints) + 24*cap(s.texts) + cap(s.seen))
		if s.distinct != nil {
			n += s.distinct.bytes()
		}
	}
	return n
}

// grow makes room for n groups.
func (t *aggregateTable) grow(n int) {
	if n <= t.n {
		return
	}
	t.n = n
	for i, spec := range t.spec.slots {
		s := &t.states[i]
		switch spec.kind {
		case slotCountAll, slotCount, slotDistinct:
			s.counts = slabsInt.extend(s.counts, n)
			if spec.kind == slotDistinct && s.distinct == nil {
				s.distinct = newDistinctTable(spec.arg)
			}
		case slotSum:
			s.sums = slabsSum.extend(s.sums, n)
		case slotSumFloat:
			s.floats = slabsF64.extend(s.floats, n)
		default:
			s.seen = extend(s.seen, n)
			switch spec.arg.kind() {
			case classFloat:
				s.floats = slabsF64.extend(s.floats, n)
			case classBytes:
				s.texts = extend(s.texts, n)
			case classDecimal:
				s.sums = slabsSum.extend(s.sums, n)
			default:
				s.ints = slabsInt.extend(s.ints, n)
			}
		}
	}
}

// release gives the memory back; the table must not be used any more.
func (t *aggregateTable) release() {
	if t.groups != nil {
		t.groups.release()
	}
	for i := range t.states {
		s := &t.states[i]
		slabsInt.put(s.counts)
		slabsSum.put(s.sums)
		slabsF64.put(s.floats)
		slabsInt.put(s.ints)
		if s.distinct != nil {
			s.distinct.release()
		}
		*s = slotState{}
	}
	t.n = 0
}

func extend[T any](b []T, n int) []T {
	if cap(b) < n {
		c := make([]T, n, max(2*cap(b), n))
		copy(c, b)
		return c
	}
	return b[:n]
}

// add takes the rows of ev's frame.
func (t *aggregateTable) add(ev *evaluator) error {
	n := ev.frame.rows()
	if n == 0 {
		return nil
	}
	var gids []uint32
	t.parts.one(n)
	if t.groups != nil {
		t.gids = sized(t.gids, n)
		gids = t.gids
		if err := t.groups.assign(ev, gids); err != nil {
			return err
		}
		t.grow(t.groups.n)
		if f := ev.frame; t.reads && t.parts.reset(gids, t.n, f.sel) {
			// The rows of a group side by side: each is summed as if it were alone.
			f.sel = t.parts.rows
			ev.reset(f)
			gids = nil
		}
	}
	for i, spec := range t.spec.slots {
		s := &t.states[i]
		if spec.arg == nil {
			t.countAll(s, gids)
			continue
		}
		v, err := ev.eval(spec.arg)
		if err != nil {
			return err
		}
		if gids != nil {
			err = t.scatter(s, spec, gids, v)
		} else {
			err = t.ranges(ev, s, spec, v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *aggregateTable) countAll(s *slotState, gids []uint32) {
	for _, g := range gids {
		s.counts[g]++
	}
	if gids == nil {
		for _, p := range t.parts.parts {
			s.counts[p.group] += int64(p.to - p.from)
		}
	}
}

// ranges updates a slot from rows that lie together by group.
func (t *aggregateTable) ranges(ev *evaluator, s *slotState, spec slotSpec, v *column.Vector) error {
	for _, p := range t.parts.parts {
		switch {
		case (spec.kind == slotMin || spec.kind == slotMax) && v.Valid == nil && v.Kind == column.KindInt64:
			// Of the rows of a group one counts.
			best := p.from
			for i := p.from + 1; i < p.to; i++ {
				if x := v.I64[i]; x < v.I64[best] && spec.kind == slotMin || x > v.I64[best] && spec.kind == slotMax {
					best = i
				}
			}
			t.extreme(s, spec, p.group, v, best)
		case v.Valid != nil || v.Kind == column.KindInt128 || spec.kind >= slotMin:
			if err := t.update(s, spec, p, v); err != nil {
				return err
			}
		case spec.kind == slotCount:
			s.counts[p.group] += int64(p.to - p.from)
		case spec.kind == slotSumFloat:
			sum := s.floats[p.group]
			for _, x := range v.F64[p.from:p.to] {
				sum += x
			}
			s.floats[p.group] = sum
		case bits.Len64(ev.magnitude(spec.arg, v, false)) <= 63-maxRowBits:
			addTo(&s.sums[p.group], sum64(v.I64[p.from:p.to]))
		default:
			addSum(&s.sums[p.group], v.I64[p.from:p.to])
		}
	}
	return nil
}

// maxRowBits is the number of bits of a batch's row count.
const maxRowBits = 13

// sum64 adds numbers that cannot overflow.
func sum64(vals []int64) int64 {
	var a, b, c, d int64
	for len(vals) >= 4 {
		a += vals[0]
		b += vals[1]
		c += vals[2]
		d += vals[3]
		vals = vals[4:]
	}
	for _, x := range vals {
		a += x
	}
	return a + b + c + d
}

// scatter updates a slot from rows of mixed groups.
func (t *aggregateTable) scatter(s *slotState, spec slotSpec, gids []uint32, v *column.Vector) error {
	switch {
	case v.Valid == nil && spec.kind == slotCount:
		t.countAll(s, gids)
		return nil
	case v.Valid == nil && spec.kind == slotSum && v.Kind == column.KindInt64:
		for i, g := range gids {
			addTo(&s.sums[g], v.I64[i])
		}
		return nil
	}
	for i, g := range gids {
		if err := t.update(s, spec, part{group: g, from: i, to: i + 1}, v); err != nil {
			return err
		}
	}
	return nil
}

// update updates a slot from the rows of one group.
func (t *aggregateTable) update(s *slotState, spec slotSpec, p part, v *column.Vector) error {
	g := p.group
	for i := p.from; i < p.to; i++ {
		if !isValid(v.Valid, i) {
			continue
		}
		switch spec.kind {
		case slotCount:
			s.counts[g]++
		case slotSum:
			if v.Kind == column.KindInt64 {
				addTo(&s.sums[g], v.I64[i])
				continue
			}
			z, ok := add128(s.sums[g], v.I128[i])
			if !ok {
				return errWide
			}
			s.sums[g] = z
		case slotSumFloat:
			s.floats[g] += v.F64[i]
		case slotDistinct:
			t.distinct(s, spec.arg, g, v, i)
		default:
			t.extreme(s, spec, g, v, i)
		}
	}
	return nil
}

// addTo adds x to a sum.
func addTo(sum *column.Int128, x int64) {
	lo, carry := bits.Add64(sum.Lo, uint64(x), 0)
	sum.Lo = lo
	sum.Hi += x>>63 + int64(carry)
}

func addSum(sum *column.Int128, vals []int64) {
	lo, hi := sum.Lo, sum.Hi
	for _, x := range vals {
		var c uint64
		lo, c = bits.Add64(lo, uint64(x), 0)
		hi += x>>63 + int64(c)
	}
	sum.Lo, sum.Hi = lo, hi
}

// extreme compares row i, not null, with the value that is kept.
func (t *aggregateTable) extreme(s *slotState, spec slotSpec, g uint32, v *column.Vector, i int) {
	fresh := !s.seen[g]
	if spec.kind == slotFirst && !fresh {
		return
	}
	least := spec.kind == slotMin
	switch spec.arg.kind() {
	case classFloat:
		if x := v.F64[i]; fresh || beats(types.CompareDoubles(x, s.floats[g]), least) {
			s.floats[g] = x
		}
	case classBytes:
		if b := v.Bytes(i); fresh || beats(bytes.Compare(b, s.texts[g]), least) {
			t.texts += int64(len(b) - len(s.texts[g]))
			s.texts[g] = append(s.texts[g][:0], b...)
		}
	case classDecimal:
		if x := v.Dec128(i); fresh || beats(x.Cmp(s.sums[g]), least) {
			s.sums[g] = x
		}
	default:
		if x := v.I64[i]; fresh || x < s.ints[g] && least || x > s.ints[g] && !least {
			s.ints[g] = x
		}
	}
	s.seen[g] = true
}

// beats reports whether a value that compares c with the present extreme replaces it.
func beats(c int, least bool) bool {
	if least {
		return c < 0
	}
	return c > 0
}

// newDistinctTable holds a group and a value per entry: as words where values have a fixed width.
func newDistinctTable(e expr) *groupTable {
	t := &groupTable{slots: slabs64.get(firstSlots)}
	if e.kind() != classBytes {
		t.fixed, t.width = true, 3
		t.wkey = make([]uint64, t.width)
	}
	return t
}

// distinct counts row i, not null, where its value is new in the group.
func (t *aggregateTable) distinct(s *slotState, e expr, g uint32, v *column.Vector, i int) {
	d := s.distinct
	if !d.fixed {
		t.key = append(binary.LittleEndian.AppendUint32(t.key[:0], g), v.Bytes(i)...)
		s.countDistinct(t.key, g)
		return
	}
	k := d.wkey
	k[0], k[2] = uint64(g), 0
	switch e.kind() {
	case classFloat:
		k[1] = floatWord(v.F64[i])
	case classDecimal:
		x := v.Dec128(i)
		k[1], k[2] = x.Lo, uint64(x.Hi)
	default:
		k[1] = uint64(v.I64[i])
	}
	s.countWords(k, g)
}

func (s *slotState) countWords(key []uint64, g uint32) {
	before := s.distinct.n
	s.distinct.findWords(key, hashWords(key))
	if s.distinct.n > before {
		s.counts[g]++
	}
}

func (s *slotState) countDistinct(key []byte, g uint32) {
	before := s.distinct.n
	s.distinct.findBytes(key, xxhash.Sum64(key))
	if s.distinct.n > before {
		s.counts[g]++
	}
}

// merge takes the groups of o for which want is true.
func (t *aggregateTable) merge(o *aggregateTable, want func(hash uint64) bool) error {
	target := make([]uint32, o.n)
	const skip = ^uint32(0)
	for g := range o.n {
		switch {
		case t.groups == nil:
			target[g] = 0
		case want == nil || want(o.groups.hashes[g]):
			target[g] = t.groups.take(o.groups, g)
		default:
			target[g] = skip
		}
	}
	if t.groups != nil {
		t.grow(t.groups.n)
	}
	for i, spec := range t.spec.slots {
		s, os := &t.states[i], &o.states[i]
		if spec.kind == slotDistinct {
			if os.distinct == nil {
				continue
			}
			for k := range os.distinct.n {
				if w := os.distinct; w.fixed {
					key := w.words[k*w.width:][:w.width]
					if to := target[key[0]]; to != skip {
						copy(s.distinct.wkey, key)
						s.distinct.wkey[0] = uint64(to)
						s.countWords(s.distinct.wkey, to)
					}
					continue
				}
				key := os.distinct.keyBytes(k)
				to := target[binary.LittleEndian.Uint32(key)]
				if to == skip {
					continue
				}
				t.key = append(binary.LittleEndian.AppendUint32(t.key[:0], to), key[4:]...)
				s.countDistinct(t.key, to)
			}
			continue
		}
		for g, to := range target {
			if to == skip {
				continue
			}
			if err := t.mergeGroup(spec, s, os, g, to); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *aggregateTable) mergeGroup(spec slotSpec, s, os *slotState, g int, to uint32) error {
	switch spec.kind {
	case slotCountAll, slotCount:
		s.counts[to] += os.counts[g]
	case slotSum:
		z, ok := add128(s.sums[to], os.sums[g])
		if !ok {
			return errWide
		}
		s.sums[to] = z
	case slotSumFloat:
		s.floats[to] += os.floats[g]
	default:
		if !os.seen[g] {
			return nil
		}
		least, first := spec.kind == slotMin, !s.seen[to]
		if spec.kind == slotFirst && !first {
			return nil
		}
		s.seen[to] = true
		switch spec.arg.kind() {
		case classFloat:
			if first || beats(types.CompareDoubles(os.floats[g], s.floats[to]), least) {
				s.floats[to] = os.floats[g]
			}
		case classBytes:
			if first || beats(bytes.Compare(os.texts[g], s.texts[to]), least) {
				t.texts += int64(len(os.texts[g]))
				s.texts[to] = os.texts[g]
			}
		case classDecimal:
			if first || beats(os.sums[g].Cmp(s.sums[to]), least) {
				s.sums[to] = os.sums[g]
			}
		default:
			if x := os.ints[g]; first || x < s.ints[to] && least || x > s.ints[to] && !least {
				s.ints[to] = x
			}
		}
	}
	return nil
}
