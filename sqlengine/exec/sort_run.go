package exec

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"

	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
)

// sortKey is an expression to order by. NULL comes before every value, after all where desc.
type sortKey struct {
	x    expr
	desc bool
}

const (
	// maxTopRows is the number of rows up to which a limit is applied while rows come in.
	maxTopRows = 100_000
	// rowBits is the number of bits of a row in a batch.
	rowBits = 12
	// cellBytes is what a stored cell is thought to take besides a text.
	cellBytes = 16
)

// sortRow is a row in a sorter: its first key's null flag and leading bits, and where it is stored.
type sortRow struct {
	norm uint64
	flag uint8
	// at is the batch, shifted by rowBits, and the row in it.
	at uint32
}

// sorter keeps rows, or the first rows by the order.
type sorter struct {
	pipe *pipe
	// top > 0 is the number of rows that are wanted.
	top  int
	rows []sortRow
	// batches hold the outputs, then the keys.
	batches []*column.Batch
	stored  int
	// bound is the last of the wanted rows, where that many are known.
	bound   sortRow
	bounded bool
	sel     []uint16
	account *accountant
}

func newSorter(p *pipe, account *accountant) *sorter {
	s := &sorter{pipe: p, account: account}
	if n := p.limit + p.offset; p.limit >= 0 && n <= maxTopRows {
		s.top = int(n)
	}
	return s
}

// add takes the rows of w's frame.
func (s *sorter) add(w *pipeWorker) error {
	first := s.pipe.order[0]
	v, err := w.ev.eval(first.x)
	if err != nil {
		return err
	}
	if s.bounded {
		// Rows that come after the last wanted one by their first key alone are dropped before anything else is computed.
		s.sel = s.sel[:0]
		for i := range v.N {
			r := normalised(v, i, first, 0)
			if c := compareHeads(r, s.bound); c <= 0 {
				s.sel = append(s.sel, w.row(i))
			}
		}
		if len(s.sel) == 0 {
			return nil
		}
		f := w.ev.frame
		f.sel = s.sel
		w.ev.reset(f)
		if v, err = w.ev.eval(first.x); err != nil {
			return err
		}
	}
	if len(s.batches) >= 1<<(32-rowBits) {
		return errs.Limitf("too many rows to sort")
	}
	b := len(s.batches)
	for i := range v.N {
		s.rows = append(s.rows, normalised(v, i, first, uint32(b<<rowBits|i)))
	}
	out := &column.Batch{N: v.N}
	for _, e := range s.pipe.outs {
		c, err := w.cell(e)
		if err != nil {
			return err
		}
		out.Cols = append(out.Cols, c)
	}
	for _, k := range s.pipe.order {
		c, err := w.cell(k.x)
		if err != nil {
			return err
		}
		out.Cols = append(out.Cols, c)
	}
	s.batches = append(s.batches, out)
	s.stored += out.N
	if err := s.account.add(batchBytes(out)); err != nil {
		return err
	}
	if s.top > 0 && len(s.rows) >= 2*s.top+column.MaxRows {
		s.trim()
	}
	return nil
}

// row is the index of dense row i in the frame.
func (w *pipeWorker) row(i int) uint16 {
	if sel := w.ev.frame.sel; sel != nil {
		return sel[i]
	}
	return uint16(i)
}

// cell evaluates an expression and copies the vector.
func (w *pipeWorker) cell(e expr) (*column.Vector, error) {
	if c, ok := e.(*columnExpr); ok {
		return ownVector(w.ev.frame.cols[c.pos], w.ev.frame.sel), nil
	}
	v, err := w.ev.eval(e)
	if err != nil {
		return nil, err
	}
	return ownVector(stored(v, e), nil), nil
}

func batchBytes(b *column.Batch) int64 {
	n := int64(0)
	for _, v := range b.Cols {
		n += int64(v.N)*cellBytes + int64(len(v.Data))
	}
	return n
}

// normalised makes the head of row i from its first key.
func normalised(v *column.Vector, i int, k sortKey, at uint32) sortRow {
	r := sortRow{at: at}
	if v.IsNull(i) {
		if k.desc {
			r.flag = 1
		}
		return r
	}
	if !k.desc {
		r.flag = 1
	}
	switch v.Kind {
	case column.KindFloat64:
		f := v.F64[i]
		if f == 0 {
			f = 0 // -0 is equal to 0
		}
		if f != f {
			f = math.NaN()
		}
		b := math.Float64bits(f)
		if b>>63 == 1 {
			b = ^b
		} else {
			b |= 1 << 63
		}
		r.norm = b
	case column.KindBytes:
		var buf [8]byte
		copy(buf[:], v.Bytes(i))
		r.norm = binary.BigEndian.Uint64(buf[:])
	case column.KindInt128:
		x := v.I128[i]
		n := int64(x.Lo)
		if !x.IsInt64() {
			n = math.MaxInt64
			if x.Hi < 0 {
				n = math.MinInt64
			}
		}
		r.norm = uint64(n) ^ 1<<63
	default:
		r.norm = uint64(v.I64[i]) ^ 1<<63
	}
	if k.desc {
		r.norm = ^r.norm
	}
	return r
}

func compareHeads(a, b sortRow) int {
	if c := cmp.Compare(a.flag, b.flag); c != 0 {
		return c
	}
	return cmp.Compare(a.norm, b.norm)
}

// compare orders two stored rows; equal ones by their arrival.
func (s *sorter) compare(a, b sortRow) int {
	if c := compareHeads(a, b); c != 0 {
		return c
	}
	const mask = 1<<rowBits - 1
	x, y := s.batches[a.at>>rowBits], s.batches[b.at>>rowBits]
	i, j := int(a.at&mask), int(b.at&mask)
	for k, key := range s.pipe.order {
		c := len(s.pipe.outs) + k
		r := compareCells(x.Cols[c], i, y.Cols[c], j, key.x)
		if r == 0 {
			continue
		}
		if key.desc {
			return -r
		}
		return r
	}
	return cmp.Compare(a.at, b.at)
}

// compareCells orders cells of one expression, NULL first.
func compareCells(a *column.Vector, i int, b *column.Vector, j int, e expr) int {
	if an, bn := a.IsNull(i), b.IsNull(j); an || bn {
		return cmp.Compare(b2i(!an), b2i(!bn))
	}
	switch e.kind() {
	case classDecimal:
		return a.Dec128(i).Cmp(b.Dec128(j))
	case classFloat:
		return types.CompareDoubles(a.Float(i), b.Float(j))
	case classInt:
		return cmp.Compare(a.Int(i), b.Int(j))
	}
	return column.CompareRows(a, i, b, j)
}

// trim keeps the wanted rows only.
func (s *sorter) trim() {
	s.sortRows()
	if len(s.rows) < s.top {
		return
	}
	s.rows = s.rows[:s.top]
	s.bound, s.bounded = s.rows[s.top-1], true
	if s.stored < 4*s.top+4*column.MaxRows {
		return
	}
	var kept []*column.Batch
	for from := 0; from < len(s.rows); from += column.MaxRows {
		to := min(len(s.rows), from+column.MaxRows)
		kept = append(kept, s.collect(s.rows[from:to], len(s.batches[0].Cols)))
		for i := range s.rows[from:to] {
			s.rows[from+i].at = uint32((len(kept)-1)<<rowBits | i)
		}
	}
	freed := int64(0)
	for _, b := range s.batches {
		freed -= batchBytes(b)
	}
	for _, b := range kept {
		freed += batchBytes(b)
	}
	_ = s.account.add(freed) // it only gets less
	s.batches, s.stored = kept, len(s.rows)
}

// collect builds a batch of the first columns of rows.
func (s *sorter) collect(rows []sortRow, columns int) *column.Batch {
	const mask = 1<<rowBits - 1
	out := &column.Batch{N: len(rows)}
	for c := range columns {
		if v := s.gatherCells(rows, c); v != nil {
			out.Cols = append(out.Cols, v)
			continue
		}
		wide := false
		for _, r := range rows {
			wide = wide || s.batches[r.at>>rowBits].Cols[c].Kind == column.KindInt128
		}
		b := column.NewBuilderLike(s.batches[rows[0].at>>rowBits].Cols[c])
		if wide && b.Kind() != column.KindInt128 {
			b = column.NewBuilder(column.KindInt128)
		}
		for _, r := range rows {
			v, i := s.batches[r.at>>rowBits].Cols[c], int(r.at&mask)
			switch {
			case wide && v.IsNull(i):
				b.AppendNull()
			case wide:
				b.AppendInt128(v.Dec128(i))
			default:
				b.Append(v, i)
			}
		}
		out.Cols = append(out.Cols, b.Finish())
	}
	return out
}

// take adds the rows of another sorter.
func (s *sorter) take(o *sorter) {
	base := uint32(len(s.batches)) << rowBits
	for _, r := range o.rows {
		r.at += base
		s.rows = append(s.rows, r)
	}
	s.batches = append(s.batches, o.batches...)
	o.rows, o.batches = nil, nil
}

// openSorted runs a pipe and sorts its rows.
func (p *pipe) openSorted(ctx context.Context, o *Executor) (batchIter, error) {
	account := &accountant{limit: o.memory, what: "the rows of a sort"}
	var sorters []*sorter
	if p.agg != nil {
		s := newSorter(p, account)
		sorters = append(sorters, s)
		groups, err := p.agg.run(ctx, o)
		if err != nil {
			return nil, err
		}
		g := &groupIter{w: newPipeWorker(p), in: groups}
		for {
			err := g.step(ctx, func(w *pipeWorker) error { return s.add(w) })
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, errors.Join(err, g.close())
			}
		}
		if err := g.close(); err != nil {
			return nil, err
		}
	} else {
		plan, err := p.table.Relation().Plan(ctx, p.request())
		if err != nil {
			return nil, err
		}
		n := workersFor(plan.Morsels)
		sorters = make([]*sorter, n)
		for i := range sorters {
			sorters[i] = newSorter(p, account)
		}
		err = scanParallel(ctx, plan.Morsels, n, func(i int) func(*column.Batch) error {
			w := newPipeWorker(p)
			return func(b *column.Batch) error {
				ok, err := w.load(b)
				if err != nil || !ok {
					return err
				}
				return sorters[i].add(w)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	all := sorters[0]
	for _, s := range sorters[1:] {
		all.take(s)
	}
	all.sortRows()
	rows := all.rows[min(p.offset, int64(len(all.rows))):]
	if p.limit >= 0 {
		rows = rows[:min(p.limit, int64(len(rows)))]
	}
	return &sortedIter{s: all, rows: rows}, nil
}

// sortedIter gives sorted rows out.
type sortedIter struct {
	s    *sorter
	rows []sortRow
}

func (t *sortedIter) next(ctx context.Context) (*column.Batch, error) {
	if err := check(ctx); err != nil {
		return nil, err
	}
	if len(t.rows) == 0 {
		return nil, io.EOF
	}
	n := min(len(t.rows), column.MaxRows)
	b := t.s.collect(t.rows[:n], len(t.s.pipe.outs))
	t.rows = t.rows[n:]
	return b, nil
}

func (t *sortedIter) close() error {
	t.s, t.rows = nil, nil
	return nil
}
