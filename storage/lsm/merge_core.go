package lsm

import (
	"context"
	"errors"
	"sort"

	"github.com/tributarydb/tributary/storage/column"
)

// dominance is how many times the rows of all others a run must have in a
// round so that the others' keys are searched in it, and it is not merged row by row.
const dominance = 8

// sink receives what the merge of the keys decides, in key order. An
// unordered merge does not report lone rows.
type sink interface {
	// lone takes rows [from, to) of a cursor whose keys no other run has.
	lone(c *cursor, from, to int) error
	// group takes the records of one key, one a cursor, in any order, which it may change.
	group(rs []rec) error
}

// merger merges runs in rounds. A round takes the rows, of all runs' present
// batches, whose keys are at most the least of the batches' last keys: at least one batch is used up by it.
type merger struct {
	layout      Layout
	width       int
	kinds       []column.Kind
	unordered   bool
	keepDeletes bool
	// live are all cursors, by run; spent those whose batch is used up and not yet replaced.
	live  []*cursor
	spent []*cursor
	seqs  []seqField
	out   sink

	norm   keyNorm
	parts  []*part
	pool   []part
	list   keyList
	group  []rec
	others []*part
}

// part is a cursor's share of a round: rows [from, to).
type part struct {
	c        *cursor
	from, to int
}

// seqField is a column of sequence.field.
type seqField struct {
	value int // index into Layout.Values
	desc  bool
}

func newMerger(e *Engine, l Layout, runs []RunReader, o MergeOptions) (*merger, error) {
	l, err := l.check(e)
	if err != nil {
		return nil, err
	}
	m := &merger{layout: l, width: l.columns(), unordered: o.Unordered, keepDeletes: o.KeepDeletes, pool: make([]part, len(runs))}
	for _, f := range e.sequence {
		v := l.valueOf(f)
		if v < 0 {
			return nil, missingColumn(e, f)
		}
		m.seqs = append(m.seqs, seqField{value: v, desc: e.sequenceDesc})
	}
	for i, rd := range runs {
		c := &cursor{run: i, rd: rd}
		m.live = append(m.live, c)
		m.spent = append(m.spent, c)
	}
	return m, nil
}

// refill loads the next batch of every spent cursor; runs that have ended are no longer live.
func (m *merger) refill(ctx context.Context) error {
	ended := false
	for len(m.spent) > 0 {
		c := m.spent[len(m.spent)-1]
		if err := m.load(ctx, c); err != nil {
			return err
		}
		m.spent = m.spent[:len(m.spent)-1]
		ended = ended || c.b == nil
	}
	if ended {
		left := m.live[:0]
		for _, c := range m.live {
			if c.b != nil {
				left = append(left, c)
			} else if err := c.rd.Close(); err != nil {
				return err
			}
		}
		m.live = left
	}
	return nil
}

// round merges one round; done says that all runs have ended. Cursors must have been refilled.
func (m *merger) round() (done bool, err error) {
	m.parts = m.parts[:0]
	if len(m.live) == 0 {
		return true, nil
	}
	// The cursor with the least last key bounds the round.
	bound := m.live[0]
	for _, c := range m.live[1:] {
		if compareKeys(c, c.n-1, bound, bound.n-1) < 0 {
			bound = c
		}
	}
	for _, c := range m.live {
		if c != bound && compareKeys(c, c.pos, bound, bound.n-1) > 0 {
			continue
		}
		p := &m.pool[len(m.parts)]
		*p = part{c: c, from: c.pos, to: c.n}
		if c != bound {
			p.to = upperBound(c, c.pos, c.n, bound, bound.n-1)
		}
		m.parts = append(m.parts, p)
	}
	if len(m.parts) == 1 {
		err = m.lone(bound, bound.pos, bound.n)
	} else {
		err = m.merge(bound)
	}
	if err != nil {
		return false, err
	}
	for _, p := range m.parts {
		p.c.pos = p.to
		if p.to == p.c.n {
			m.spent = append(m.spent, p.c)
		}
	}
	return false, nil
}

func (m *merger) lone(c *cursor, from, to int) error {
	if m.unordered || from == to {
		return nil
	}
	return m.out.lone(c, from, to)
}

// merge merges the parts of a round.
func (m *merger) merge(bound *cursor) error {
	base, rows := m.parts[0], 0
	least := m.parts[0]
	for _, p := range m.parts {
		rows += p.to - p.from
		if p.to-p.from > base.to-base.from {
			base = p
		}
		if compareKeys(p.c, p.from, least.c, least.from) < 0 {
			least = p
		}
	}
	merged := m.parts
	if n := base.to - base.from; n >= dominance*(rows-n) {
		m.others = m.others[:0]
		for _, p := range m.parts {
			if p != base {
				m.others = append(m.others, p)
			}
		}
		merged = m.others
	} else {
		base = nil
	}
	m.newKeyNorm(merged, rec{least.c, least.from}, rec{bound, bound.n - 1})
	if err := m.list.build(&m.norm, merged); err != nil {
		return err
	}
	m.sortTies(merged)
	return m.walk(merged, base)
}

// walk goes through the merged list, key by key, and searches the base for each key where there is one.
func (m *merger) walk(merged []*part, base *part) error {
	keys, tags := m.list.keys, m.list.tags
	at := 0 // base rows before are done
	if base != nil {
		at = base.from
	}
	if m.unordered && base == nil && len(keys) > 0 {
		// Only keys that repeat matter: skip the others in a tight loop.
		return m.walkRepeats(merged)
	}
	for i := 0; i < len(keys); {
		first := recOf(merged, tags[i])
		j := i + 1
		for j < len(keys) && keys[j] == keys[i] {
			if !m.norm.exact {
				if r := recOf(merged, tags[j]); compareKeys(first.c, first.k, r.c, r.k) != 0 {
					break
				}
			}
			j++
		}
		same := at // base rows [at, same) are less, [same, end) have the key
		end := at
		if base != nil {
			same = lowerBound(base.c, at, base.to, first.c, first.k)
			if err := m.lone(base.c, at, same); err != nil {
				return err
			}
			end = same
			for end < base.to && compareKeys(base.c, end, first.c, first.k) == 0 {
				end++
			}
			at = end
		}
		if j == i+1 && same == end {
			if err := m.lone(first.c, first.k, first.k+1); err != nil {
				return err
			}
			i = j
			continue
		}
		m.group = m.group[:0]
		for k := same; k < end; k++ {
			m.group = append(m.group, rec{base.c, k})
		}
		for ; i < j; i++ {
			m.group = append(m.group, recOf(merged, tags[i]))
		}
		if err := m.groups(m.group); err != nil {
			return err
		}
	}
	if base != nil {
		return m.lone(base.c, at, base.to)
	}
	return nil
}

// walkRepeats is walk for an unordered merge without base.
func (m *merger) walkRepeats(merged []*part) error {
	keys, tags := m.list.keys, m.list.tags
	for i := 1; i < len(keys); i++ {
		if keys[i] != keys[i-1] {
			continue
		}
		first := recOf(merged, tags[i-1])
		m.group = append(m.group[:0], first)
		for ; i < len(keys) && keys[i] == keys[i-1]; i++ {
			r := recOf(merged, tags[i])
			if !m.norm.exact && compareKeys(first.c, first.k, r.c, r.k) != 0 {
				break
			}
			m.group = append(m.group, r)
		}
		if len(m.group) > 1 {
			if err := m.groups(m.group); err != nil {
				return err
			}
			i--
		}
	}
	return nil
}

// groups hands on the records of a key. Where a run holds the key more than
// once, its records go into different groups, first with first, as in Paimon.
func (m *merger) groups(rs []rec) error {
	if !repeats(rs) {
		return m.out.group(rs)
	}
	for len(rs) > 0 {
		var now, later []rec
		for _, r := range rs {
			if r.in(now) {
				later = append(later, r)
			} else {
				now = append(now, r)
			}
		}
		var err error
		if len(now) == 1 {
			err = m.lone(now[0].c, now[0].k, now[0].k+1)
		} else {
			err = m.out.group(now)
		}
		if err != nil {
			return err
		}
		rs = later
	}
	return nil
}

func (r rec) in(rs []rec) bool {
	for _, o := range rs {
		if o.c == r.c {
			return true
		}
	}
	return false
}

func repeats(rs []rec) bool {
	for i, r := range rs {
		if r.in(rs[:i]) {
			return true
		}
	}
	return false
}

// sortTies brings rows of equal norms into key order where norms do not say all.
func (m *merger) sortTies(parts []*part) {
	if m.norm.exact {
		return
	}
	keys, tags := m.list.keys, m.list.tags
	for i := 0; i < len(keys); {
		j := i + 1
		for j < len(keys) && keys[j] == keys[i] {
			j++
		}
		if j > i+1 {
			tie := tags[i:j]
			less := func(x, y int) bool {
				a, b := recOf(parts, tie[x]), recOf(parts, tie[y])
				return compareKeys(a.c, a.k, b.c, b.k) < 0
			}
			if len(tie) > 2 || less(1, 0) {
				sort.SliceStable(tie, less)
			}
		}
		i = j
	}
}

// older reports whether a's record comes before b's, both of one key.
func (m *merger) older(a, b rec) bool {
	for _, s := range m.seqs {
		va, vb := a.c.vals[s.value], b.c.vals[s.value]
		i, j := a.row(), b.row()
		c := column.CompareRows(va, i, vb, j)
		if c == 0 {
			continue
		}
		if s.desc && !va.IsNull(i) && !vb.IsNull(j) {
			c = -c
		}
		return c < 0
	}
	if sa, sb := a.seq(), b.seq(); sa != sb {
		return sa < sb
	}
	if ra, rb := a.retract(), b.retract(); ra != rb {
		return ra
	}
	return a.c.run < b.c.run
}

// sortByAge orders the records of one key from oldest to newest.
func (m *merger) sortByAge(rs []rec) {
	for i := 1; i < len(rs); i++ {
		r := rs[i]
		j := i
		for j > 0 && m.older(r, rs[j-1]) {
			rs[j] = rs[j-1]
			j--
		}
		rs[j] = r
	}
}

// close closes the runs that have not ended.
func (m *merger) close() error {
	var all []error
	for _, c := range m.live {
		all = append(all, c.rd.Close())
	}
	m.live = nil
	return errors.Join(all...)
}
