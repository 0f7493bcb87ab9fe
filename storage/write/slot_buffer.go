package write

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/lsm"
	"github.com/tributarydb/tributary/storage/schema"
)

// slotBuffer holds the rows of all slots in the order of their arrival: the
// table's columns and, in primary-key tables, sequence number (within the slot) and row kind.
type slotBuffer struct {
	w     *Writer
	keyed bool
	// unsorted rows stay in the order of their arrival: postponed ones.
	unsorted bool
	rows     *rowBuffer
	// slotOf is the slot of each row, counts the rows of each slot.
	slotOf []uint32
	counts []uint32
	seqs   []int64
	kinds  []int32
	// reserved says that there is room for all rows that the buffer may take.
	reserved bool
}

// reserveShare is the part of its memory from which a buffer makes room for all of it at once: growing
// step by step would copy every row several times.
const reserveShare = 16

// reserve makes room for the rest of limit bytes where the rows so far let expect that it is needed.
func (b *slotBuffer) reserve(limit int64) {
	used := b.bytes()
	if b.reserved || used == 0 || used < limit/reserveShare {
		return
	}
	b.reserved = true
	times := int(limit/used) + 2
	for _, c := range b.rows.cols {
		if c.nested == nil {
			c.reserve(times)
		}
	}
	b.slotOf, b.seqs, b.kinds = grown(b.slotOf, times), grown(b.seqs, times), grown(b.kinds, times)
}

func newSlotBuffer(w *Writer, keyed bool) *slotBuffer {
	return &slotBuffer{w: w, keyed: keyed, unsorted: w.opts.postponed, rows: newRowBuffer(w.fields)}
}

// add appends rows of one slot.
func (b *slotBuffer) add(s *slot, rows Rows, sel []uint16) {
	b.rows.add(rows.Cols, sel, rows.N)
	for len(b.counts) <= int(s.id) {
		b.counts = append(b.counts, 0)
	}
	each(sel, rows.N, func(i int) {
		b.slotOf = append(b.slotOf, s.id)
		if !b.keyed {
			return
		}
		b.seqs = append(b.seqs, s.next)
		s.next++
		kind := lsm.Insert
		if rows.Kinds != nil {
			kind = rows.Kinds[i]
		}
		b.kinds = append(b.kinds, kind)
	})
	n := rows.N
	if sel != nil {
		n = len(sel)
	}
	b.counts[s.id] += uint32(n)
}

func (b *slotBuffer) bytes() int64 {
	return b.rows.bytes() + 4*int64(len(b.slotOf)) + 12*int64(len(b.seqs))
}

func (b *slotBuffer) reset() {
	b.rows.reset()
	clear(b.counts)
	b.slotOf, b.seqs, b.kinds = b.slotOf[:0], b.seqs[:0], b.kinds[:0]
}

// view looks at the rows by slot.
type view struct {
	batch *column.Batch
	keyed *lsm.Buffer
	// rows are the rows of all slots, those of a slot together and in order.
	rows []uint32
	from []uint32
}

// runLayout is the layout of runs: the table's columns, sequence number, kind.
func (w *Writer) runLayout() lsm.Layout {
	n := len(w.fields)
	l := lsm.Layout{Keys: w.keys, Seq: n, Kind: n + 1}
	for i := range n {
		l.Values, l.Fields = append(l.Values, i), append(l.Fields, i)
	}
	return l
}

// view sorts the row numbers by slot.
func (b *slotBuffer) view() (*view, error) {
	v := &view{batch: &column.Batch{N: b.rows.n, Cols: b.rows.vectors()}, rows: make([]uint32, b.rows.n), from: make([]uint32, len(b.counts)+1)}
	for i, n := range b.counts {
		v.from[i+1] = v.from[i] + n
	}
	at := append([]uint32(nil), v.from...)
	for r, s := range b.slotOf {
		v.rows[at[s]] = uint32(r)
		at[s]++
	}
	if !b.keyed {
		return v, nil
	}
	v.batch.Cols = append(v.batch.Cols,
		&column.Vector{Kind: column.KindInt64, N: b.rows.n, I64: b.seqs},
		&column.Vector{Kind: column.KindInt32, N: b.rows.n, I32: b.kinds})
	if b.unsorted {
		return v, nil
	}
	var err error
	v.keyed, err = lsm.NewBuffer(b.w.engine, b.w.runLayout(), v.batch)
	return v, err
}

// slotRows are the rows of a slot; of a primary-key table still unsorted.
func (v *view) slotRows(s *slot) []uint32 {
	if int(s.id)+1 >= len(v.from) {
		return nil
	}
	return v.rows[v.from[s.id]:v.from[s.id+1]]
}

// spill moves all rows of the slots to a temporary file: of primary-key tables a sorted run
// a slot, merged, and the unmerged rows as well where changelog files need them.
func (b *slotBuffer) spill(ctx context.Context, slots []*slot, file *spillFile) (err error) {
	defer errs.Recover(&err, "moving rows of "+b.w.t.Label+" out of memory")
	v, err := b.view()
	if err != nil {
		return err
	}
	space := &lsm.SortSpace{}
	for _, s := range slots {
		rows := v.slotRows(s)
		if len(rows) == 0 {
			continue
		}
		if v.keyed == nil {
			seg, err := b.w.spillRun(ctx, file, lsm.ReadRows(v.batch, rows))
			if err != nil {
				return err
			}
			s.runs = append(s.runs, seg)
			continue
		}
		v.keyed.Sort(rows, space)
		r, err := v.keyed.Read(rows, true)
		if err != nil {
			return err
		}
		seg, err := b.w.spillRun(ctx, file, r)
		if err != nil {
			return err
		}
		s.runs = append(s.runs, seg)
		if b.w.writesChangelog() {
			if r, err = v.keyed.Read(rows, false); err != nil {
				return err
			}
			if seg, err = b.w.spillRun(ctx, file, r); err != nil {
				return err
			}
			s.changes = append(s.changes, seg)
		}
	}
	b.reset()
	return nil
}

// spilling is a buffer that is being moved out of memory while another one fills.
type spilling struct {
	buf  *slotBuffer
	done chan error
}

// spillFull begins to move the rows out of memory where they take half of what they may. While they go, rows
// are collected in the other half.
func (w *Writer) spillFull(ctx context.Context) error {
	if w.buf == nil {
		return nil
	}
	if w.buf.bytes() < w.opts.bufferBytes/2 {
		w.buf.reserve(w.opts.bufferBytes / 2)
		return nil
	}
	next, err := w.spilled()
	if err != nil {
		return err
	}
	file, err := w.newSpill()
	if err != nil {
		return err
	}
	if next == nil {
		next = newSlotBuffer(w, w.schema.HasPrimaryKey())
	}
	full, slots := w.buf, slices.Clone(w.slots)
	w.buf, w.going = next, &spilling{full, make(chan error, 1)}
	done := w.going.done
	go func() { done <- full.spill(ctx, slots, file) }()
	return nil
}

// spilled waits until the buffer that is being moved is empty, and returns it; nil where there is none.
func (w *Writer) spilled() (*slotBuffer, error) {
	if w.going == nil {
		return nil, nil
	}
	err := <-w.going.done
	buf := w.going.buf
	w.going = nil
	return buf, err
}

// spillRun copies a run to a temporary file.
func (w *Writer) spillRun(ctx context.Context, f *spillFile, r lsm.RunReader) (spillSegment, error) {
	seg := spillSegment{file: f, at: f.end, shapes: w.shapes()}
	for {
		b, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			seg.end = f.end
			return seg, nil
		}
		if err == nil {
			err = f.append(b)
		}
		if err != nil {
			return seg, err
		}
	}
}

// shapes are the shapes of a run's columns.
func (w *Writer) shapes() []*column.Vector {
	var out []*column.Vector
	for _, f := range w.fields {
		out = append(out, schema.NewBuilder(f.Type).Finish())
	}
	if w.schema.HasPrimaryKey() {
		out = append(out, &column.Vector{Kind: column.KindInt64}, &column.Vector{Kind: column.KindInt32})
	}
	return shapesOf(out)
}
