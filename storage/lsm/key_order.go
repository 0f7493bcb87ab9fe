package lsm

import (
	"bytes"
	"cmp"
	"math/bits"

	"github.com/tributarydb/tributary/storage/column"
)

// compareKeys orders row k of a and row l of b (counted among the rows that count) by key.
func compareKeys(a *cursor, k int, b *cursor, l int) int {
	if a.i64 != nil && b.i64 != nil {
		return cmp.Compare(a.i64[a.at(k)], b.i64[b.at(l)])
	}
	if a.i32 != nil && b.i32 != nil {
		return cmp.Compare(a.i32[a.at(k)], b.i32[b.at(l)])
	}
	i, j := a.at(k), b.at(l)
	if len(a.keys) == 1 && a.keys[0].Kind == column.KindBytes && a.keys[0].Valid == nil && b.keys[0].Valid == nil {
		return bytes.Compare(a.keys[0].Bytes(i), b.keys[0].Bytes(j))
	}
	for c := range a.keys {
		if d := column.CompareRows(a.keys[c], i, b.keys[c], j); d != 0 {
			return d
		}
	}
	return 0
}

// typedKey sets the cursor's plain key slice where its key is one flat integer column without nulls.
func (c *cursor) typedKey() {
	c.i32, c.i64 = nil, nil
	if len(c.keys) != 1 {
		return
	}
	v := c.keys[0]
	if v.Dict != nil || v.Valid != nil || v.Sub != nil {
		return
	}
	switch v.Kind {
	case column.KindInt32:
		c.i32 = v.I32
	case column.KindInt64, column.KindTimestamp:
		c.i64 = v.I64
	}
}

// lowerBound returns the first row of c in [from, to) whose key is not less
// than that of row l of u; to where there is none. It gallops: near answers are cheap.
func lowerBound(c *cursor, from, to int, u *cursor, l int) int {
	if c.sel == nil {
		if c.i64 != nil && u.i64 != nil {
			return gallop(c.i64, from, to, u.i64[u.at(l)])
		}
		if c.i32 != nil && u.i32 != nil {
			return gallop(c.i32, from, to, u.i32[u.at(l)])
		}
	}
	lo, step := from, 4
	for lo < to && compareKeys(c, lo, u, l) < 0 {
		from = lo + 1
		lo += step
		step *= 2
	}
	if lo > to {
		lo = to
	}
	// rows before from are less, row lo is not (or is to)
	for from < lo {
		mid := int(uint(from+lo) / 2)
		if compareKeys(c, mid, u, l) < 0 {
			from = mid + 1
		} else {
			lo = mid
		}
	}
	return lo
}

// gallop is lowerBound on a plain ascending slice.
func gallop[T int32 | int64](s []T, from, to int, x T) int {
	s = s[:to]
	hi, step := from, 8
	for hi < to && s[hi] < x {
		from = hi + 1
		hi += step
		step *= 2
	}
	if hi > to {
		hi = to
	}
	// The answer is in [from, hi]; halve without branches on the data.
	n := hi - from
	for n > 0 {
		half := n / 2
		less := 0
		if s[from+half] < x {
			less = 1
		}
		from += less * (half + 1)
		n = half*(1-less) + (n-half-1)*less
	}
	return from
}

// upperBound returns the first row of c in [from, to) whose key is greater than that of row l of u.
func upperBound(c *cursor, from, to int, u *cursor, l int) int {
	for from < to {
		mid := int(uint(from+to) / 2)
		if compareKeys(c, mid, u, l) <= 0 {
			from = mid + 1
		} else {
			to = mid
		}
	}
	return from
}

// bitset4k marks rows of a batch.
type bitset4k [column.MaxRows / 64]uint64

func (b *bitset4k) set(k int) { b[k>>6] |= 1 << (uint(k) & 63) }

// count counts the marks among the first n rows.
func (b *bitset4k) count(n int) int {
	c := 0
	for _, w := range b[:(n+63)/64] {
		c += bits.OnesCount64(w)
	}
	return c
}
