package predicate

import (
	"math"

	"github.com/tributarydb/tributary/storage/column"
)

// Selector evaluates a predicate on batches. It keeps what it learnt of
// dictionaries between batches, by their address: a dictionary vector must not
// be changed once it has been handed out. A Selector is not safe for concurrent use.
//
// The rows it selects are those for which Matches is true, except that
// floating point zeros of both signs count as equal where equality selects,
// and that a leaf whose literals are of another kind than its column selects
// everything: a Selector never drops a row that a reader of the predicate might want.
type Selector struct {
	root selector
	all  [column.MaxRows]uint16
	free [][]uint16
}

// selector is a node of a compiled predicate. run appends to out the rows of
// sel that match, in order; out may share memory with sel (out's length is never ahead of what has been read).
type selector interface {
	run(s *Selector, b *column.Batch, sel, out []uint16) []uint16
}

// NewSelector compiles p; nil selects everything.
func NewSelector(p Predicate) *Selector {
	s := &Selector{}
	for i := range s.all {
		s.all[i] = uint16(i)
	}
	if p != nil {
		s.root = compile(p)
	}
	return s
}

// Select returns the rows of b that match p among sel (nil: among b's rows), in
// the order of sel. The result uses the memory of out where that is large enough; out may be sel.
// b has at most column.MaxRows rows.
func (s *Selector) Select(b *column.Batch, sel, out []uint16) []uint16 {
	if sel == nil {
		if sel = b.Sel; sel == nil {
			sel = s.all[:b.N]
		}
	}
	if cap(out) < len(sel) {
		out = make([]uint16, 0, column.MaxRows)
	}
	if s.root == nil {
		return append(out[:0], sel...)
	}
	return s.root.run(s, b, sel, out[:0])
}

// Select evaluates p on the rows of b among sel (nil: all of b's rows). Use a
// Selector for more than one batch.
func Select(p Predicate, b *column.Batch, sel []uint16) []uint16 {
	return NewSelector(p).Select(b, sel, nil)
}

func (s *Selector) scratch() []uint16 {
	if n := len(s.free); n > 0 {
		x := s.free[n-1]
		s.free = s.free[:n-1]
		return x[:0]
	}
	return make([]uint16, 0, column.MaxRows)
}

func (s *Selector) giveBack(x []uint16) { s.free = append(s.free, x) }

type andSelector struct{ children []selector }

func (a *andSelector) run(s *Selector, b *column.Batch, sel, out []uint16) []uint16 {
	for i, c := range a.children {
		if i == 0 {
			out = c.run(s, b, sel, out)
		} else {
			out = c.run(s, b, out, out[:0])
		}
		if len(out) == 0 {
			return out
		}
	}
	if len(a.children) == 0 {
		out = append(out, sel...)
	}
	return out
}

type orSelector struct{ children []selector }

func (o *orSelector) run(s *Selector, b *column.Batch, sel, out []uint16) []uint16 {
	var hit [column.MaxRows / 64]uint64
	rest := append(s.scratch(), sel...)
	part := s.scratch()
	for _, c := range o.children {
		part = c.run(s, b, rest, part[:0])
		for _, i := range part {
			hit[i>>6] |= 1 << (i & 63)
		}
		k := 0
		for _, i := range rest {
			rest[k] = i
			k += int(^hit[i>>6] >> (i & 63) & 1)
		}
		if rest = rest[:k]; k == 0 {
			break
		}
	}
	n := len(sel)
	if cap(out) < n {
		out = make([]uint16, 0, n)
	}
	out = out[:n]
	k := 0
	for _, i := range sel {
		out[k] = i
		k += int(hit[i>>6] >> (i & 63) & 1)
	}
	s.giveBack(rest)
	s.giveBack(part)
	return out[:k]
}

func compile(p Predicate) selector {
	switch p := p.(type) {
	case *And:
		a := &andSelector{}
		ranges := map[int]*leafSelector{}
		for _, c := range Conjuncts(p) {
			n := compile(c)
			// Two ranges of one column become one.
			if l, ok := n.(*leafSelector); ok && l.isRange {
				if r := ranges[l.leaf.Column]; r != nil && r.kind == l.kind {
					r.lo, r.hi = max(r.lo, l.lo), min(r.hi, l.hi)
					r.also = append(r.also, l.leaf)
					continue
				}
				ranges[l.leaf.Column] = l
			}
			a.children = append(a.children, n)
		}
		if len(a.children) == 1 {
			return a.children[0]
		}
		return a
	case *Or:
		o := &orSelector{}
		for _, c := range p.Children {
			o.children = append(o.children, compile(c))
		}
		return o
	case *Leaf:
		return compileLeaf(p)
	case *Keys:
		return compileKeys(p)
	}
	return &andSelector{}
}

// leafSelector evaluates one leaf, or several ranges of one column at once.
type leafSelector struct {
	leaf *Leaf
	also []*Leaf
	kind column.Kind // of the literals; KindInvalid without literals
	// isRange says that the leaf is lo <= x <= hi on KindInt32 or KindInt64.
	isRange bool
	lo, hi  int64
	// set holds the integers of a long In or NotIn, texts its byte strings.
	set   map[int64]struct{}
	texts map[string]struct{}

	// dict is the dictionary that mask was computed for: mask[code] is 1 where
	// the value matches; hits is the number of ones.
	dict *column.Vector
	mask []uint8
	hits int
}

// setThreshold is the number of literals from which a set is looked up.
const setThreshold = 8

func compileLeaf(l *Leaf) selector {
	s := &leafSelector{leaf: l}
	if len(l.Literals) == 0 {
		return s
	}
	s.kind = l.Literals[0].Kind
	for _, x := range l.Literals {
		if x.Kind != s.kind || x.Null {
			s.kind = column.KindInvalid // never equal to a column's kind
		}
	}
	x := l.Literals[0].I
	if s.kind == column.KindInt32 || s.kind == column.KindInt64 {
		s.lo, s.hi = math.MinInt64, math.MaxInt64
		s.isRange = true
		switch l.Op {
		case Eq:
			s.lo, s.hi = x, x
		case Lt:
			if s.hi = x - 1; x == math.MinInt64 {
				s.lo, s.hi = 1, 0
			}
		case Le:
			s.hi = x
		case Gt:
			if s.lo = x + 1; x == math.MaxInt64 {
				s.lo, s.hi = 1, 0
			}
		case Ge:
			s.lo = x
		case In:
			if s.isRange = len(l.Literals) == 1; s.isRange {
				s.lo, s.hi = x, x
			}
		default:
			s.isRange = false
		}
	}
	if (l.Op == In || l.Op == NotIn) && len(l.Literals) >= setThreshold {
		switch s.kind {
		case column.KindInt32, column.KindInt64:
			s.set = make(map[int64]struct{}, len(l.Literals))
			for _, x := range l.Literals {
				s.set[x.I] = struct{}{}
			}
		case column.KindBytes:
			s.texts = make(map[string]struct{}, len(l.Literals))
			for _, x := range l.Literals {
				s.texts[string(x.B)] = struct{}{}
			}
		}
	}
	return s
}

func (l *leafSelector) run(s *Selector, b *column.Batch, sel, out []uint16) []uint16 {
	if l.leaf.Column < 0 || l.leaf.Column >= len(b.Cols) {
		return append(out, sel...)
	}
	v := b.Cols[l.leaf.Column]
	switch l.leaf.Op {
	case IsNull:
		return selectNulls(v, sel, out, true)
	case IsNotNull:
		return selectNulls(v, sel, out, false)
	}
	if l.kind != v.Kind || v.Kind >= column.KindList {
		// Not comparable here; but no comparison is true for a null.
		return selectNulls(v, sel, out, false)
	}
	n := len(sel)
	if cap(out) < n {
		out = make([]uint16, 0, n)
	}
	out = out[:n]
	if v.Dict != nil {
		l.prepare(v.Dict)
		switch {
		case l.hits == 0:
			return out[:0]
		case l.hits == v.Dict.N:
			return selectNulls(v, sel, out[:0], false)
		case v.Valid != nil:
			return out[:selectCodesValid(l.mask, v.Codes, v.Valid, sel, out)]
		case s.isDense(sel):
			return out[:denseCodes(l.mask, v.Codes[:n], out)]
		}
		return out[:selectCodes(l.mask, v.Codes, sel, out)]
	}
	switch {
	case v.Valid != nil:
		out = selectNulls(v, sel, out[:0], false)
		sel = out
	case l.isRange && s.isDense(sel) && v.Kind == column.KindInt32:
		return out[:denseRange(v.I32[:n], l.lo, l.hi, out)]
	case l.isRange && s.isDense(sel) && v.Kind == column.KindInt64:
		return out[:denseRange(v.I64[:n], l.lo, l.hi, out)]
	}
	return out[:l.flat(v, sel, out)]
}

// prepare computes the mask of a dictionary.
func (l *leafSelector) prepare(dict *column.Vector) {
	if l.dict == dict {
		return
	}
	if cap(l.mask) < dict.N {
		l.mask = make([]uint8, dict.N)
	}
	l.mask = l.mask[:dict.N]
	l.hits = 0
	var sel, out [256]uint16
	for from := 0; from < dict.N; from += len(sel) {
		n := min(len(sel), dict.N-from)
		for i := range n {
			sel[i] = uint16(i)
		}
		clear(l.mask[from : from+n])
		k := l.flat(column.Slice(dict, from, from+n), sel[:n], out[:n])
		for _, i := range out[:k] {
			l.mask[from+int(i)] = 1
		}
		l.hits += k
	}
	l.dict = dict
}

// selectNulls selects the rows that are null, or those that are not.
func selectNulls(v *column.Vector, sel, out []uint16, null bool) []uint16 {
	if v.Valid == nil {
		if null {
			return out[:0]
		}
		return append(out, sel...)
	}
	n := len(sel)
	if cap(out) < n {
		out = make([]uint16, 0, n)
	}
	out = out[:n]
	flip := uint64(0)
	if null {
		flip = 1
	}
	k := 0
	for _, i := range sel {
		out[k] = i
		k += int(v.Valid[i>>6]>>(i&63)&1 ^ flip)
	}
	return out[:k]
}
