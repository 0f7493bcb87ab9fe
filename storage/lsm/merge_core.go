package lsm

import (
	"context"
	"errors"

	"github.com/tributarydb/tributary/storage/column"
)

// sink receives what the merge of the keys decides.
type sink interface {
	// lone takes rows [from, to) of a cursor whose keys no other run has.
	lone(c *cursor, from, to int) error
	// group takes the records of one key, one a cursor, each at its pos.
	// The cursors are in key order ties: by run, not by age.
	group(cs []*cursor) error
	// full reports that what was taken must be handed on before more comes.
	full() bool
}

// merger walks the runs in key order.
type merger struct {
	layout Layout
	width  int
	order  *keyOrder
	// live are all cursors, by run; heap holds those with rows left, ascending
	// by (key, run); spent those whose batch is used up and not yet replaced.
	live  []*cursor
	ready []*cursor
	spent []*cursor
	seqs  []seqField
	out   sink
}

// seqField is a column of sequence.field.
type seqField struct {
	value int // index into Layout.Values
	desc  bool
}

func newMerger(e *Engine, l Layout, runs []RunReader) (*merger, error) {
	l, err := l.check(e)
	if err != nil {
		return nil, err
	}
	m := &merger{layout: l, width: l.columns()}
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

// refill loads the next batch of every spent cursor.
func (m *merger) refill(ctx context.Context) error {
	for len(m.spent) > 0 {
		c := m.spent[len(m.spent)-1]
		if err := m.load(ctx, c); err != nil {
			return err
		}
		m.spent = m.spent[:len(m.spent)-1]
		if c.b != nil {
			m.insert(c)
		}
	}
	return nil
}

// insert puts a cursor into its place in ready.
func (m *merger) insert(c *cursor) {
	lo, hi := 0, len(m.ready)
	for lo < hi {
		mid := (lo + hi) / 2
		if m.before(m.ready[mid], c) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	m.ready = append(m.ready, nil)
	copy(m.ready[lo+1:], m.ready[lo:])
	m.ready[lo] = c
}

// before orders the heads of two cursors by key, then run.
func (m *merger) before(a, b *cursor) bool {
	if a.head != b.head {
		return a.head < b.head
	}
	if !m.order.exact {
		if c := m.order.compare(a.keys, a.at(a.pos), b.keys, b.at(b.pos)); c != 0 {
			return c < 0
		}
	}
	return a.run < b.run
}

// settle moves ready[0], whose pos has advanced, to its place, or to spent.
func (m *merger) settle() {
	c := m.ready[0]
	if c.pos == c.n {
		m.ready = m.ready[:copy(m.ready, m.ready[1:])]
		m.spent = append(m.spent, c)
		return
	}
	c.head = c.norm[c.pos]
	i := 1
	for i < len(m.ready) && m.before(m.ready[i], c) {
		m.ready[i-1] = m.ready[i]
		i++
	}
	m.ready[i-1] = c
}

// run merges until a batch is spent or the sink is full; done says that all
// runs have ended.
func (m *merger) run() (done bool, err error) {
	for len(m.spent) == 0 && !m.out.full() {
		switch len(m.ready) {
		case 0:
			return true, nil
		case 1:
			c := m.ready[0]
			from := c.pos
			c.pos = c.n
			if err := m.out.lone(c, from, c.n); err != nil {
				return false, err
			}
			m.settle()
			continue
		}
		c, u := m.ready[0], m.ready[1]
		end := m.gallop(c, u)
		if end > c.pos {
			from := c.pos
			c.pos = end
			if err := m.out.lone(c, from, end); err != nil {
				return false, err
			}
			m.settle()
			continue
		}
		// c and u share a key.
		g := 2
		for g < len(m.ready) && m.sameKey(c, m.ready[g]) {
			g++
		}
		if err := m.out.group(m.ready[:g]); err != nil {
			return false, err
		}
		m.advance(g)
	}
	return false, nil
}

func (m *merger) sameKey(a, b *cursor) bool {
	return a.head == b.head && (m.order.exact || m.order.compare(a.keys, a.at(a.pos), b.keys, b.at(b.pos)) == 0)
}

// advance moves the first g cursors of ready one row on.
func (m *merger) advance(g int) {
	if g == len(m.ready) && g == 2 { // the common case: two runs
		a, b := m.ready[0], m.ready[1]
		a.pos++
		b.pos++
		if a.pos < a.n && b.pos < b.n {
			a.head, b.head = a.norm[a.pos], b.norm[b.pos]
			if !m.before(a, b) {
				m.ready[0], m.ready[1] = b, a
			}
			return
		}
		a.pos--
		b.pos--
	}
	var buf [8]*cursor
	moved := append(buf[:0], m.ready[:g]...)
	m.ready = m.ready[:copy(m.ready, m.ready[g:])]
	for _, c := range moved {
		c.pos++
		if c.pos == c.n {
			m.spent = append(m.spent, c)
			continue
		}
		c.head = c.norm[c.pos]
		m.insert(c)
	}
}

// gallop returns the first row of c, from pos on, whose key is not less than u's.
func (m *merger) gallop(c, u *cursor) int {
	norm, target := c.norm, u.head
	lo := c.pos
	if norm[lo] > target || norm[lo] == target && (m.order.exact || !m.less(c, lo, u)) {
		return lo
	}
	// norm[lo] is less; double the step until a row is not.
	step, n := 1, c.n
	hi := lo + 1
	for hi < n && (norm[hi] < target || norm[hi] == target && !m.order.exact && m.less(c, hi, u)) {
		lo = hi
		step *= 2
		hi = lo + step
	}
	if hi > n {
		hi = n
	}
	// the answer is in (lo, hi]
	lo++
	if m.order.exact {
		for lo < hi {
			mid := int(uint(lo+hi) / 2)
			if norm[mid] < target {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		return lo
	}
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if norm[mid] < target || norm[mid] == target && m.less(c, mid, u) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// less compares row k of c with the head of u in full.
func (m *merger) less(c *cursor, k int, u *cursor) bool {
	return m.order.compare(c.keys, c.at(k), u.keys, u.at(u.pos)) < 0
}

// older reports whether a's record comes before b's, both of one key.
func (m *merger) older(a, b *cursor) bool {
	for _, s := range m.seqs {
		va, vb := a.vals[s.value], b.vals[s.value]
		i, j := a.at(a.pos), b.at(b.pos)
		c := column.CompareRows(va, i, vb, j)
		if c == 0 {
			continue
		}
		if s.desc && !va.IsNull(i) && !vb.IsNull(j) {
			c = -c
		}
		return c < 0
	}
	if sa, sb := a.seqAt(a.pos), b.seqAt(b.pos); sa != sb {
		return sa < sb
	}
	if ra, rb := IsRetract(a.kindAt(a.pos)), IsRetract(b.kindAt(b.pos)); ra != rb {
		return ra
	}
	return a.run < b.run
}

// sortByAge orders the records of one key from oldest to newest.
func (m *merger) sortByAge(cs []*cursor) {
	for i := 1; i < len(cs); i++ {
		c := cs[i]
		j := i
		for j > 0 && m.older(c, cs[j-1]) {
			cs[j] = cs[j-1]
			j--
		}
		cs[j] = c
	}
}

func (m *merger) close() error {
	var all []error
	for _, c := range m.live {
		all = append(all, c.rd.Close())
	}
	return errors.Join(all...)
}
