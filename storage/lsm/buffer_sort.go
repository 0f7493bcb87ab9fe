package lsm

import (
	"cmp"
	"math"
	"slices"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
)

// radixMin is the number of rows from which keys are sorted by the bytes of their norms, not by comparing.
const radixMin = 128

// Buffer is the rows of a write buffer, in the order of their arrival: one
// batch with a run's columns, of any number of rows and without a selection, whose columns are
// not dictionary-coded. Several goroutines may use one Buffer, with a SortSpace and readers of their own.
type Buffer struct {
	e *Engine
	m *merger
	c *cursor
	b *column.Batch
}

// NewBuffer looks at a write buffer through a layout, which must have Seq and Kind.
func NewBuffer(e *Engine, l Layout, b *column.Batch) (*Buffer, error) {
	if l.Seq < 0 || l.Kind < 0 {
		return nil, errs.Invalidf("a write buffer needs sequence numbers and row kinds")
	}
	if b.Sel != nil || b.N > math.MaxUint32 {
		return nil, errs.Invalidf("a write buffer has a selection or more than %d rows", uint32(math.MaxUint32))
	}
	m, err := newMerger(e, l, nil, MergeOptions{KeepDeletes: true})
	if err != nil {
		return nil, err
	}
	if len(b.Cols) < m.width {
		return nil, errs.Invalidf("a write buffer has %d columns, its layout needs %d", len(b.Cols), m.width)
	}
	c := &cursor{b: b, n: b.N}
	c.keys = dropValidity(pick(nil, b, m.layout.Keys))
	c.vals = pick(nil, b, m.layout.Values)
	c.seq, c.kind = b.Cols[l.Seq].I64, b.Cols[l.Kind].I32
	c.typedKey()
	return &Buffer{e: e, m: m, c: c, b: b}, nil
}

// SortSpace is memory that sorting uses again.
type SortSpace struct {
	norms, spareNorms []uint64
	spareRows         []uint32
}

// Sort orders rows, which are in the order of arrival, by key, then by
// sequence.field, then by arrival: from oldest to newest.
func (b *Buffer) Sort(rows []uint32, s *SortSpace) {
	if len(rows) < 2 {
		return
	}
	if len(rows) < radixMin {
		slices.SortStableFunc(rows, func(x, y uint32) int { return b.compareKey(x, y) })
	} else {
		b.sortKeys(rows, s)
	}
	if len(b.m.seqs) > 0 {
		b.eachKey(rows, func(same []uint32) {
			if len(same) > 1 {
				slices.SortStableFunc(same, b.compareAge)
			}
		})
	}
}

// eachKey calls f with the rows of each key, which are adjacent.
func (b *Buffer) eachKey(rows []uint32, f func(same []uint32)) {
	for i := 0; i < len(rows); {
		j := b.keyEnd(rows, i)
		f(rows[i:j])
		i = j
	}
}

// keyEnd returns the end of the rows that have the key of rows[i].
func (b *Buffer) keyEnd(rows []uint32, i int) int {
	j := i + 1
	switch {
	case b.c.i64 != nil:
		for j < len(rows) && b.c.i64[rows[j]] == b.c.i64[rows[i]] {
			j++
		}
	case b.c.i32 != nil:
		for j < len(rows) && b.c.i32[rows[j]] == b.c.i32[rows[i]] {
			j++
		}
	default:
		for j < len(rows) && b.compareKey(rows[i], rows[j]) == 0 {
			j++
		}
	}
	return j
}

func (b *Buffer) compareKey(x, y uint32) int {
	switch {
	case b.c.i64 != nil:
		return cmp.Compare(b.c.i64[x], b.c.i64[y])
	case b.c.i32 != nil:
		return cmp.Compare(b.c.i32[x], b.c.i32[y])
	}
	for _, v := range b.c.keys {
		if d := column.CompareRows(v, int(x), v, int(y)); d != 0 {
			return d
		}
	}
	return 0
}

// compareAge orders two records of a key by the columns of sequence.field.
func (b *Buffer) compareAge(x, y uint32) int {
	for _, s := range b.m.seqs {
		v := b.c.vals[s.value]
		d := column.CompareRows(v, int(x), v, int(y))
		if d == 0 {
			continue
		}
		if s.desc && !v.IsNull(int(x)) && !v.IsNull(int(y)) {
			d = -d
		}
		return d
	}
	return 0
}

// sortKeys sorts by the norms of the key columns, from the last to the first
// where norms say all, else by the first column's and then by comparing ties.
func (b *Buffer) sortKeys(rows []uint32, s *SortSpace) {
	s.grow(len(rows))
	exact := true
	for _, v := range b.c.keys {
		exact = exact && v.Valid == nil && v.Kind != column.KindBytes && exactKeys(v)
	}
	if exact {
		for _, v := range slices.Backward(b.c.keys) {
			fillNorms(s.norms, v, rows, 0)
			s.radix(rows)
		}
		return
	}
	first := b.c.keys[0]
	skip := 0
	if first.Kind == column.KindBytes && first.Valid == nil {
		skip = sharedPrefix(first, rows)
	}
	fillNorms(s.norms, first, rows, skip)
	s.radix(rows)
	for i := 0; i < len(rows); {
		j := i + 1
		for j < len(rows) && s.norms[j] == s.norms[i] {
			j++
		}
		if tie := rows[i:j]; len(tie) > 1 {
			slices.SortStableFunc(tie, b.compareKey)
		}
		i = j
	}
}

// sharedPrefix returns the length of the prefix that all rows of a column without nulls share.
func sharedPrefix(v *column.Vector, rows []uint32) int {
	first := v.Bytes(int(rows[0]))
	n := len(first)
	for _, r := range rows[1:] {
		if n == 0 {
			break
		}
		n = commonPrefix(first[:n], v.Bytes(int(r)))
	}
	return n
}

// fillNorms writes the order-preserving norms of the rows of a flat key column.
func fillNorms(dst []uint64, v *column.Vector, rows []uint32, skip int) {
	dst = dst[:len(rows)]
	switch v.Kind {
	case column.KindInt32:
		normsOf(dst, v.I32, rows, encInt32)
	case column.KindInt64, column.KindTimestamp:
		normsOf(dst, v.I64, rows, encInt64)
	case column.KindInt128:
		normsOf(dst, v.I128, rows, encInt128)
	case column.KindFloat32:
		normsOf(dst, v.F32, rows, func(f float32) uint64 { return encFloat(float64(f)) })
	case column.KindFloat64:
		normsOf(dst, v.F64, rows, encFloat)
	case column.KindBytes:
		data := v.Data
		normsOf(dst, v.Ref, rows, func(r column.Ref) uint64 { return encBytes(data[r.Off:r.Off+r.Len], skip) })
	}
	if v.Valid != nil {
		for k, r := range rows {
			if v.IsNull(int(r)) {
				dst[k] = 0
			}
		}
	}
}

func normsOf[T any](dst []uint64, values []T, rows []uint32, enc func(T) uint64) {
	for k, r := range rows {
		dst[k] = enc(values[r])
	}
}

func (s *SortSpace) grow(n int) {
	if cap(s.norms) < n {
		s.norms, s.spareNorms, s.spareRows = make([]uint64, n), make([]uint64, n), make([]uint32, n)
	}
	s.norms, s.spareNorms, s.spareRows = s.norms[:n], s.spareNorms[:n], s.spareRows[:n]
}

// radix sorts rows, stably, by s.norms, which it sorts too: byte by byte from the
// least significant one, leaving out bytes that are the same everywhere.
func (s *SortSpace) radix(rows []uint32) {
	var counts [8][256]uint32
	sorted := true
	prev := uint64(0)
	for _, x := range s.norms {
		sorted = sorted && prev <= x
		prev = x
		counts[0][byte(x)]++
		counts[1][byte(x>>8)]++
		counts[2][byte(x>>16)]++
		counts[3][byte(x>>24)]++
		counts[4][byte(x>>32)]++
		counts[5][byte(x>>40)]++
		counts[6][byte(x>>48)]++
		counts[7][byte(x>>56)]++
	}
	if sorted {
		return
	}
	norms, spare := s.norms, s.spareNorms
	from, to := rows, s.spareRows
	for d := range counts {
		shift := uint(8 * d)
		at := &counts[d]
		if at[byte(norms[0]>>shift)] == uint32(len(norms)) {
			continue
		}
		sum := uint32(0)
		for i, n := range at {
			at[i] = sum
			sum += n
		}
		for k, x := range norms {
			p := &at[byte(x>>shift)]
			spare[*p], to[*p] = x, from[k]
			*p++
		}
		norms, spare = spare, norms
		from, to = to, from
	}
	if &from[0] != &rows[0] {
		copy(rows, from)
	}
	s.norms, s.spareNorms = norms, spare
}
