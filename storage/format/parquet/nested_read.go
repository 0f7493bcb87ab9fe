package parquet

import (
	"fmt"
	"io"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// Limits of nested columns.
const (
	// maxBatchElements bounds the elements of one nested column of a batch.
	maxBatchElements = 1 << 26
	// levelChunk is the number of level entries decoded at a time.
	levelChunk = 1024
)

// nestedLeaf reads a leaf below nested columns: it collects the levels and the
// present values of a number of rows.
type nestedLeaf struct {
	pageReader
	// reps and defs are the levels of the rows asked for.
	reps, defs []uint8
	// dense holds their present values; nil where only levels are wanted.
	dense  *column.Builder
	values *column.Vector
	vec    column.Vector
	s      scratch
	lvl    [levelChunk]uint32
	// pendingRep and pendingDef are decoded level entries of the current page
	// (look-ahead); taken of them belong to rows that have been read.
	pendingRep, pendingDef []uint8
	taken                  int
	typ                    *schema.Type
	convWanted             conversion
}

// open starts on a chunk.
func (l *nestedLeaf) open(f *File, group int) {
	l.pageReader.open(f, group, l.n, l.convWanted, l.typ)
	l.pendingRep, l.pendingDef, l.taken = l.pendingRep[:0], l.pendingDef[:0], 0
}

func newNestedLeaf(n *node, conv conversion, t *schema.Type) *nestedLeaf {
	l := &nestedLeaf{typ: t, convWanted: conv}
	l.n = n
	if t != nil {
		l.dense = column.NewBuilder(schema.KindOf(t))
	}
	return l
}

// read collects the next rows rows (skip: passes over them).
func (l *nestedLeaf) read(rows int, keep bool) error {
	l.reps, l.defs = l.reps[:0], l.defs[:0]
	if l.dense != nil {
		l.dense.Reset()
	}
	for {
		// Take entries of the look-ahead up to the start of row rows+1.
		done := false
		i := l.taken
		for ; i < len(l.pendingRep); i++ {
			if l.pendingRep[i] == 0 {
				if rows == 0 {
					done = true
					break
				}
				rows--
			}
		}
		if err := l.consume(i, keep); err != nil {
			return err
		}
		if done {
			return l.finish(keep)
		}
		more, err := l.ahead()
		if err != nil {
			return err
		}
		if !more {
			if rows > 0 {
				return errValues
			}
			return l.finish(keep)
		}
	}
}

// skipTo passes over n rows, up to row.
func (l *nestedLeaf) skipTo(row, n int64) error {
	if l.locs != nil {
		if i := l.locs.pageOf(row); i >= 0 && l.locs.offset[i] >= l.offset {
			l.jump(i)
			l.pendingRep, l.pendingDef, l.taken = l.pendingRep[:0], l.pendingDef[:0], 0
			n = row - l.locs.firstRow[i]
		}
	}
	if n == 0 {
		return nil
	}
	return l.read(int(n), false)
}

// consume moves look-ahead entries [taken, to) to the row's levels and takes their values.
func (l *nestedLeaf) consume(to int, keep bool) error {
	present := 0
	for _, d := range l.pendingDef[l.taken:to] {
		if d == l.n.maxDef {
			present++
		}
	}
	if keep {
		if len(l.reps)+to-l.taken > maxBatchElements {
			return errs.Limitf("column %s has more than %d elements in a batch", l.n.path, maxBatchElements)
		}
		l.reps = append(l.reps, l.pendingRep[l.taken:to]...)
		l.defs = append(l.defs, l.pendingDef[l.taken:to]...)
	}
	l.taken = to
	if l.conv == convNone {
		return nil
	}
	if !keep {
		return l.vals.skip(present)
	}
	for present > 0 {
		n := min(present, column.MaxRows)
		l.vec = column.Vector{Kind: l.kind, N: n}
		if err := l.take(n, &l.vec, &l.s); err != nil {
			return err
		}
		appendDense(l.dense, &l.vec)
		present -= n
	}
	return nil
}

func (l *nestedLeaf) finish(keep bool) error {
	if keep && l.dense != nil {
		l.values = l.dense.Finish()
	}
	return nil
}

// appendDense appends the rows of v, none of them null.
func appendDense(b *column.Builder, v *column.Vector) {
	if v.Dict == nil && v.Kind != column.KindBytes && v.Kind != column.KindTimestamp {
		b.AppendRange(v, 0, v.N)
		return
	}
	for i := range v.N {
		b.Append(v, i)
	}
}

// ahead decodes the next level entries; false behind the last.
func (l *nestedLeaf) ahead() (bool, error) {
	l.taken = 0
	l.pendingRep, l.pendingDef = l.pendingRep[:0], l.pendingDef[:0]
	if l.left() == 0 {
		if err := l.advance(); err == io.EOF {
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	if err := l.load(); err != nil {
		return false, err
	}
	n := min(l.left(), levelChunk)
	var err error
	if l.pendingRep, err = l.levels(&l.repl, l.n.maxRep, n, l.pendingRep); err != nil {
		return false, err
	}
	if l.pendingDef, err = l.levels(&l.defl, l.n.maxDef, n, l.pendingDef); err != nil {
		return false, err
	}
	l.pos += n
	return true, nil
}

func (l *nestedLeaf) levels(h *hybrid, maxLevel uint8, n int, dst []uint8) ([]uint8, error) {
	if maxLevel == 0 {
		for range n {
			dst = append(dst, 0)
		}
		return dst, nil
	}
	if err := h.decode(l.lvl[:n]); err != nil {
		return dst, err
	}
	for _, x := range l.lvl[:n] {
		if x > uint32(maxLevel) {
			return dst, fmt.Errorf("a level of %d exceeds the column's %d", x, maxLevel)
		}
		dst = append(dst, uint8(x))
	}
	return dst, nil
}

// errLevels is reported where the levels of columns of one group disagree.
var errLevels = fmt.Errorf("the repetition levels of its columns disagree")

// assemble builds the vector of p for the slots of the surrounding list
// element or row: the level entries with a repetition level of at most rep and
// a definition level of at least def. n is the number of slots.
func (p *plan) assemble(rep, def uint8, n int) (*column.Vector, error) {
	switch p.kind {
	case planMissing:
		return p.missing(n), nil
	case planLeaf:
		return p.assembleLeaf(rep, def, n)
	case planVariant:
		return p.assembleVariant(rep, def, n)
	case planStruct:
		v := &column.Vector{Kind: column.KindStruct, N: n}
		if p.leaf == nil {
			return p.missing(n), nil
		}
		if err := p.validity(v, rep, def); err != nil {
			return nil, err
		}
		for _, c := range p.children {
			cv, err := c.assemble(rep, def, n)
			if err != nil {
				return nil, err
			}
			v.Children = append(v.Children, cv)
		}
		return v, nil
	}
	// List or map.
	v := &column.Vector{Kind: schema.KindOf(p.typ), N: n, Offsets: make([]int32, 1, n+1)}
	if p.leaf == nil {
		return p.missing(n), nil
	}
	if err := p.validity(v, rep, def); err != nil {
		return nil, err
	}
	elements := int32(0)
	slots := 0
	for i, d := range p.leaf.defs {
		r := p.leaf.reps[i]
		if r <= rep && d >= def {
			if slots > 0 {
				v.Offsets = append(v.Offsets, elements)
			}
			slots++
		}
		if d >= p.inner.maxDef && r <= p.inner.maxRep {
			elements++
		}
	}
	if slots > 0 {
		v.Offsets = append(v.Offsets, elements)
	}
	if len(v.Offsets) != n+1 {
		return nil, errLevels
	}
	for _, c := range p.children {
		cv, err := c.assemble(p.inner.maxRep, p.inner.maxDef, int(elements))
		if err != nil {
			return nil, err
		}
		v.Children = append(v.Children, cv)
	}
	return v, nil
}

// validity sets v's bitmap from the levels of p's carrier.
func (p *plan) validity(v *column.Vector, rep, def uint8) error {
	if p.node == nil || p.node.maxDef <= def {
		return p.countSlots(rep, def, v.N)
	}
	i := 0
	for k, d := range p.leaf.defs {
		if p.leaf.reps[k] > rep || d < def {
			continue
		}
		if i == v.N {
			return errLevels
		}
		if d < p.node.maxDef {
			v.SetNull(i)
		}
		i++
	}
	if i != v.N {
		return errLevels
	}
	return nil
}

func (p *plan) countSlots(rep, def uint8, n int) error {
	for k, d := range p.leaf.defs {
		if p.leaf.reps[k] <= rep && d >= def {
			n--
		}
	}
	if n != 0 {
		return errLevels
	}
	return nil
}

// assembleLeaf spreads the present values over the slots.
func (p *plan) assembleLeaf(rep, def uint8, n int) (*column.Vector, error) {
	out := *p.leaf.values
	dense := out.N
	out.N = n
	if p.node.maxDef <= def {
		if dense != n {
			return nil, errLevels
		}
		return &out, nil
	}
	valid := make([]uint64, (n+63)/64)
	i, present := 0, 0
	for k, d := range p.leaf.defs {
		if p.leaf.reps[k] > rep || d < def {
			continue
		}
		if i == n {
			return nil, errLevels
		}
		if d == p.node.maxDef {
			valid[i>>6] |= 1 << (uint(i) & 63)
			present++
		}
		i++
	}
	if i != n || present != dense {
		return nil, errLevels
	}
	if present < n {
		spreadVector(&out, valid, n, new(scratch))
	}
	return &out, nil
}
