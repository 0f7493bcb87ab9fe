package lsm

import (
	"context"
	"errors"
	"math/bits"

	"github.com/tributarydb/tributary/storage/errs"
)

// maxPosition bounds the positions of rows that Survivors accepts: a bitset of 1 GiB a run.
const maxPosition = int64(1) << 33

// Bitset is a set of row positions: bit p%64 of word p/64. Positions beyond its end are not in it.
type Bitset []uint64

// Contains reports whether position pos is in the set.
func (b Bitset) Contains(pos int64) bool {
	return pos >= 0 && pos>>6 < int64(len(b)) && b[pos>>6]>>(uint(pos)&63)&1 == 1
}

// Count returns the number of positions in the set.
func (b Bitset) Count() int64 {
	var n int
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return int64(n)
}

// Select lists, in dst (reused), the rows i of a batch of n rows at positions
// base+i that are in the set, and in sel where that is not nil. all says that
// these are all rows (of sel); then out need not be looked at.
func (b Bitset) Select(base int64, n int, sel, dst []uint16) (out []uint16, all bool) {
	out = dst[:0]
	if sel != nil {
		for _, i := range sel {
			if b.Contains(base + int64(i)) {
				out = append(out, i)
			}
		}
		return out, len(out) == len(sel)
	}
	for i := 0; i < n; {
		pos := base + int64(i)
		word := uint64(0)
		if pos>>6 < int64(len(b)) {
			word = b[pos>>6] >> (uint(pos) & 63)
		}
		end := min(n, i+64-int(pos&63))
		if rest := end - i; rest < 64 {
			word &= 1<<uint(rest) - 1
		}
		for word != 0 {
			out = append(out, uint16(i+bits.TrailingZeros64(word)))
			word &= word - 1
		}
		i = end
	}
	return out, len(out) == n
}

// grow makes room for positions below n.
func (b *Bitset) grow(n int64) {
	words := int((n + 63) / 64)
	if words > len(*b) {
		if words > cap(*b) {
			next := make(Bitset, words, max(words, 2*cap(*b)))
			copy(next, *b)
			*b = next
		} else {
			*b = (*b)[:words]
		}
	}
}

// setRange adds positions [from, to); the set has room for them.
func (b Bitset) setRange(from, to int64) {
	if from >= to {
		return
	}
	fw, tw := from>>6, (to-1)>>6
	first := ^uint64(0) << (uint(from) & 63)
	last := ^uint64(0) >> (63 - uint(to-1)&63)
	if fw == tw {
		b[fw] |= first & last
		return
	}
	b[fw] |= first
	for w := fw + 1; w < tw; w++ {
		b[w] = ^uint64(0)
	}
	b[tw] |= last
}

// Survivors merges the keys of sorted runs, given oldest first, with an engine
// that picks rows, and returns for each run the positions of the rows that
// stand for their key. Retracts among these are left out unless
// MergeOptions.KeepDeletes is set; the other options mean nothing here. The
// position of a row is Batch.Base + its index; the caller numbers the rows of a
// run through (over its files) without repeats. Runs need the key, sequence and kind
// columns and those of sequence.field only. The runs are closed.
func Survivors(ctx context.Context, e *Engine, l Layout, runs []RunReader, o MergeOptions) ([]Bitset, error) {
	o.Unordered = true
	m, err := newMerger(e, l, runs, o)
	if err == nil && !e.PicksRows() {
		err = errs.Invalidf("merge engine '%s' makes rows of its own, it has no survivors", e.kind)
	}
	if err != nil {
		for _, rd := range runs {
			rd.Close()
		}
		return nil, err
	}
	sets, err := m.survivors(ctx, e, o, len(runs))
	return sets, errors.Join(err, m.close())
}

// survivors merges to the end and collects the positions that are not lost.
func (m *merger) survivors(ctx context.Context, e *Engine, o MergeOptions, runs int) ([]Bitset, error) {
	m.out = &inPlaceReader{mergeReader: mergeReader{m: m, e: e, o: o}}
	sets := make([]Bitset, runs)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := m.refill(ctx); err != nil {
			return nil, err
		}
		done, err := m.round()
		if err != nil {
			return nil, err
		}
		if done {
			return sets, nil
		}
		for _, c := range m.spent {
			top := c.b.Base + int64(c.b.N)
			if c.b.Base < 0 || top > maxPosition {
				return nil, errs.Limitf("a run has rows at positions beyond %d", maxPosition)
			}
			sets[c.run].grow(top)
			sets[c.run].keep(c)
		}
	}
}

// keep adds the positions of the cursor's rows that are not lost; the set has room for them.
func (b Bitset) keep(c *cursor) {
	if c.sel == nil && c.lost.count(c.n) == 0 {
		b.setRange(c.b.Base, c.b.Base+int64(c.n))
		return
	}
	for from := 0; from < c.n; from += 64 {
		keep := ^c.lost[from>>6]
		if n := c.n - from; n < 64 {
			keep &= 1<<uint(n) - 1
		}
		if c.sel == nil {
			pos := c.b.Base + int64(from)
			w, s := pos>>6, uint(pos)&63
			b[w] |= keep << s
			if over := keep >> (64 - s); over != 0 {
				b[w+1] |= over
			}
			continue
		}
		for ; keep != 0; keep &= keep - 1 {
			pos := c.b.Base + int64(c.sel[from+bits.TrailingZeros64(keep)])
			b[pos>>6] |= 1 << (uint(pos) & 63)
		}
	}
}
