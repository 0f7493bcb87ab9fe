package exec

import (
	"context"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/predicate"
)

// pipeWorker runs a pipe's conditions and expressions in one goroutine.
type pipeWorker struct {
	pipe  *pipe
	ev    *evaluator
	steps []step
	bufs  [2][]uint16
	in    column.Batch
}

// step is a filter, compiled for one goroutine; neighbouring predicates are one step.
type step struct {
	sel  *predicate.Selector
	cond expr
}

func newPipeWorker(p *pipe) *pipeWorker {
	w := &pipeWorker{pipe: p, ev: newEvaluator(p.build.n)}
	var preds []predicate.Predicate
	flush := func() {
		if len(preds) > 0 {
			w.steps = append(w.steps, step{sel: predicate.NewSelector(predicate.NewAnd(preds...))})
			preds = nil
		}
	}
	for _, f := range p.filters {
		if f.cond != nil {
			flush()
			w.steps = append(w.steps, step{cond: f.cond})
		} else if f.pred != nil {
			preds = append(preds, f.pred)
		}
	}
	flush()
	return w
}

// load points the worker at a batch and applies the filters; false where no row is left.
func (w *pipeWorker) load(b *column.Batch) (bool, error) {
	f := frame{cols: b.Cols, n: b.N, sel: b.Sel}
	for i := range w.steps {
		if f.rows() == 0 {
			return false, nil
		}
		buf := &w.bufs[i&1]
		if cap(*buf) < column.MaxRows {
			*buf = make([]uint16, 0, column.MaxRows)
		}
		s := &w.steps[i]
		if s.sel != nil {
			w.in = column.Batch{N: b.N, Cols: b.Cols, Sel: f.sel}
			*buf = s.sel.Select(&w.in, f.sel, (*buf)[:0])
			f.sel = *buf
		} else {
			w.ev.reset(f)
			v, err := w.ev.eval(s.cond)
			if err != nil {
				return false, err
			}
			*buf = keepTrue(v, f.sel, (*buf)[:0])
			f.sel = *buf
		}
		if len(f.sel) == b.N {
			f.sel = nil
		}
	}
	w.ev.reset(f)
	return f.rows() > 0, nil
}

// keepTrue lists the rows of sel (nil = all) where the truth value is 1.
func keepTrue(v *column.Vector, sel, out []uint16) []uint16 {
	out = out[:v.N]
	k := 0
	for i, x := range v.I64[:v.N] {
		row := uint16(i)
		if sel != nil {
			row = sel[i]
		}
		out[k] = row
		if v.Valid != nil {
			x &= int64(v.Valid[i>>6] >> (uint(i) & 63) & 1)
		}
		k += int(x & 1)
	}
	return out[:k]
}

// output evaluates the outputs. Vectors are valid until the next load; they may carry the source's memory.
func (w *pipeWorker) output() (*column.Batch, error) {
	out := &column.Batch{N: w.ev.frame.rows()}
	bare := true
	for _, e := range w.pipe.outs {
		if _, ok := e.(*columnExpr); !ok {
			bare = false
		}
	}
	if bare {
		// Columns are passed on as they are.
		out.N, out.Sel = w.ev.frame.n, w.ev.frame.sel
		for _, e := range w.pipe.outs {
			out.Cols = append(out.Cols, w.ev.frame.cols[e.(*columnExpr).pos])
		}
		return out, nil
	}
	for _, e := range w.pipe.outs {
		if c, ok := e.(*columnExpr); ok {
			v := w.ev.frame.cols[c.pos]
			if w.ev.frame.sel != nil {
				v = column.Gather(v, w.ev.frame.sel)
			}
			out.Cols = append(out.Cols, v)
			continue
		}
		v, err := w.ev.eval(e)
		if err != nil {
			return nil, err
		}
		out.Cols = append(out.Cols, stored(v, e))
	}
	return out, nil
}

// ownOutput is output in memory of its own.
func (w *pipeWorker) ownOutput() (*column.Batch, error) {
	out := &column.Batch{N: w.ev.frame.rows()}
	for _, e := range w.pipe.outs {
		v, err := w.cell(e)
		if err != nil {
			return nil, err
		}
		out.Cols = append(out.Cols, v)
	}
	return out, nil
}

// stored gives an expression's vector the kind that its type is stored in.
func stored(v *column.Vector, e expr) *column.Vector {
	if v.Kind != column.KindInt64 {
		return v
	}
	switch vectorKind(e) {
	case column.KindInt32:
		out := &column.Vector{Kind: column.KindInt32, N: v.N, Valid: v.Valid, I32: make([]int32, v.N)}
		for i, x := range v.I64[:v.N] {
			out.I32[i] = int32(x)
		}
		return out
	case column.KindTimestamp:
		out := *v
		out.Kind = column.KindTimestamp
		return &out
	}
	return v
}

// ownBatch copies the rows of b that count, so that they outlive their producer. Dictionaries are kept: they are not changed
// once handed out.
func ownBatch(b *column.Batch) *column.Batch {
	out := &column.Batch{N: b.Rows(), Cols: make([]*column.Vector, len(b.Cols))}
	for c, v := range b.Cols {
		out.Cols[c] = ownVector(v, b.Sel)
	}
	return out
}

func ownVector(v *column.Vector, sel []uint16) *column.Vector {
	if v.Dict != nil && v.Dict.N <= column.MaxRows || v.Kind < column.KindBytes {
		if sel == nil {
			return cloneVector(v)
		}
		return column.Gather(v, sel)
	}
	b := column.NewBuilderLike(v)
	if sel == nil {
		b.AppendRange(v, 0, v.N)
	} else {
		for _, i := range sel {
			b.Append(v, int(i))
		}
	}
	return b.Finish()
}

func cloneVector(v *column.Vector) *column.Vector {
	out := *v
	out.Valid = clone(v.Valid)
	out.Codes = clone(v.Codes)
	out.I32, out.I64, out.I128 = clone(v.I32), clone(v.I64), clone(v.I128)
	out.F32, out.F64, out.Sub = clone(v.F32), clone(v.F64), clone(v.Sub)
	return &out
}

func clone[T any](s []T) []T {
	if s == nil {
		return nil
	}
	return append(make([]T, 0, len(s)), s...)
}

// check ends a loop whose context has ended.
func check(ctx context.Context) error { return ctx.Err() }
