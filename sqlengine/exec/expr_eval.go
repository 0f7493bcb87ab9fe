package exec

import (
	"errors"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// errWide says that a decimal does not fit 128 bits.
var errWide = errors.New("a decimal result needs more than 128 bits")

// class is the form of an expression's vectors: always without dictionary except classBytes.
type class uint8

const (
	// classInt: KindInt64. Integers, truth values, DATE (days), TIME (milliseconds), TIMESTAMP (microseconds).
	classInt class = iota
	// classDecimal: KindInt64 or, by batch, KindInt128, unscaled.
	classDecimal
	// classFloat: KindFloat64.
	classFloat
	// classBytes: KindBytes, possibly dictionary-coded.
	classBytes
	// classOpaque: only passed on and tested for NULL.
	classOpaque
)

// expr is a compiled expression. It is immutable; equal ones are the same pointer within a pipe.
type expr interface {
	// slot is the expression's index in an evaluator.
	slot() int
	// kind is the form of the vectors.
	kind() class
	// typ is the type of the values; the scale of decimals is exact.
	typ() *schema.Type
	// args are the expressions it reads.
	args() []expr
	// canFail reports whether evaluation may end in an error on some row, also below.
	canFail() bool
	// wide reports whether a decimal in it may outgrow 128 bits.
	wide() bool
	// lone is the only column that it reads; nil where there are none or more.
	lone() *columnExpr
	// run computes the dense vector of the frame's rows.
	run(ev *evaluator, s *slot) (*column.Vector, error)
}

// base holds what every expression has.
type base struct {
	id   int
	cls  class
	t    *schema.Type
	in   []expr
	fail bool
	big  bool
	// only is the result of lone, many says that more than one column is read.
	only *columnExpr
	many bool
}

func (b *base) slot() int         { return b.id }
func (b *base) kind() class       { return b.cls }
func (b *base) typ() *schema.Type { return b.t }
func (b *base) args() []expr      { return b.in }
func (b *base) canFail() bool     { return b.fail }
func (b *base) wide() bool        { return b.big }
func (b *base) lone() *columnExpr { return b.only }

// frame is the rows that expressions are evaluated on.
type frame struct {
	cols []*column.Vector
	n    int
	// sel lists the rows; nil = all n.
	sel []uint16
}

func (f *frame) rows() int {
	if f.sel != nil {
		return len(f.sel)
	}
	return f.n
}

// slot holds the buffers of one expression in one evaluator.
type slot struct {
	epoch uint64
	out   *column.Vector
	vec   column.Vector
	valid []uint64
	// view is a vector that shares memory with others.
	view column.Vector
	// mag is a magnitude of out in epoch magEpoch; tight where it was taken from the values.
	mag      uint64
	magEpoch uint64
	tight    bool
	// lift holds what was computed for a dictionary, dictMag the magnitude of dictionary magDict.
	lift    *lifted
	magDict *column.Vector
	dictMag uint64
	// sub evaluates parts of the rows.
	sub    *evaluator
	subSel []uint16
	rows   []uint16
}

// evaluator evaluates the expressions of a pipe in one goroutine.
type evaluator struct {
	frame frame
	epoch uint64
	slots []slot
}

func newEvaluator(n int) *evaluator { return &evaluator{slots: make([]slot, n)} }

// reset gives the evaluator new rows; what was computed for others is forgotten.
func (ev *evaluator) reset(f frame) {
	ev.frame = f
	ev.epoch++
}

// eval computes e for the frame. The vector is valid until the next reset.
func (ev *evaluator) eval(e expr) (*column.Vector, error) {
	s := &ev.slots[e.slot()]
	if s.epoch == ev.epoch && s.out != nil {
		return s.out, nil
	}
	v, err := ev.overDictionary(e, s)
	if v == nil && err == nil {
		v, err = e.run(ev, s)
	}
	if err != nil {
		return nil, err
	}
	s.out, s.epoch = v, ev.epoch
	return v, nil
}

// on evaluates e on the rows of the frame that which lists (indexes of dense rows), with buffers of its own.
func (ev *evaluator) on(s *slot, e expr, which []uint16) (*column.Vector, error) {
	if s.sub == nil {
		s.sub = newEvaluator(len(ev.slots))
	}
	f := ev.frame
	s.subSel = s.subSel[:0]
	for _, k := range which {
		if f.sel != nil {
			k = f.sel[k]
		}
		s.subSel = append(s.subSel, k)
	}
	f.sel = s.subSel
	s.sub.reset(f)
	return s.sub.eval(e)
}

// ints returns the slot's vector of n integers, values undefined.
func (s *slot) ints(n int, valid []uint64) *column.Vector {
	s.vec.Kind, s.vec.N, s.vec.Valid = column.KindInt64, n, valid
	s.vec.I64 = sized(s.vec.I64, n)
	return &s.vec
}

func (s *slot) floats(n int, valid []uint64) *column.Vector {
	s.vec.Kind, s.vec.N, s.vec.Valid = column.KindFloat64, n, valid
	s.vec.F64 = sized(s.vec.F64, n)
	return &s.vec
}

func (s *slot) wides(n int, valid []uint64) *column.Vector {
	s.vec.Kind, s.vec.N, s.vec.Valid = column.KindInt128, n, valid
	s.vec.I128 = sized(s.vec.I128, n)
	return &s.vec
}

func sized[T any](b []T, n int) []T {
	if cap(b) < n {
		return make([]T, n, max(n, column.MaxRows))
	}
	return b[:n]
}

// words returns the slot's bitmap for n rows, contents undefined.
func (s *slot) words(n int) []uint64 {
	s.valid = sized(s.valid, (n+63)/64)
	return s.valid
}

// both returns the rows that are valid in a and b.
func (s *slot) both(n int, a, b []uint64) []uint64 {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	w := s.words(n)
	for i := range w {
		w[i] = a[i] & b[i]
	}
	return w
}

// gatherValid is the bitmap of the rows that sel lists; nil where all are valid.
func (s *slot) gatherValid(valid []uint64, sel []uint16) []uint64 {
	if valid == nil || sel == nil {
		return valid
	}
	w := s.words(len(sel))
	clear(w)
	all := uint64(1)
	for k, i := range sel {
		bit := valid[i>>6] >> (i & 63) & 1
		all &= bit
		w[k>>6] |= bit << (uint(k) & 63)
	}
	if all == 1 {
		return nil
	}
	return w
}

func isValid(valid []uint64, i int) bool {
	return valid == nil || valid[i>>6]>>(uint(i)&63)&1 == 1
}

// columnExpr is a column of the source.
type columnExpr struct {
	base
	// field is the column in the source's numbering, pos its place in a frame.
	field, pos int
}

func (c *columnExpr) run(ev *evaluator, s *slot) (*column.Vector, error) {
	v, sel := ev.frame.cols[c.pos], ev.frame.sel
	n := ev.frame.rows()
	valid := s.gatherValid(v.Valid, sel)
	d := v
	if v.Dict != nil {
		d = v.Dict
	}
	switch c.cls {
	case classInt, classDecimal:
		switch d.Kind {
		case column.KindInt128:
			out := s.wides(n, valid)
			spread(out.I128, d.I128, v.Codes, sel)
			return out, nil
		case column.KindInt32:
			out := s.ints(n, valid)
			widen(out.I64, d.I32, v.Codes, sel)
			return out, nil
		}
		if v.Dict == nil && sel == nil {
			s.view = column.Vector{Kind: column.KindInt64, N: n, Valid: valid, I64: d.I64[:n]}
			return &s.view, nil
		}
		out := s.ints(n, valid)
		spread(out.I64, d.I64, v.Codes, sel)
		return out, nil
	case classFloat:
		out := s.floats(n, valid)
		if d.Kind == column.KindFloat32 {
			widenFloat(out.F64, d.F32, v.Codes, sel)
		} else {
			spread(out.F64, d.F64, v.Codes, sel)
		}
		return out, nil
	}
	if sel == nil {
		return v, nil
	}
	if v.Kind != column.KindBytes {
		return column.Gather(v, sel), nil
	}
	s.view = column.Vector{Kind: column.KindBytes, N: n, Valid: valid}
	if v.Dict != nil {
		s.vec.Codes = sized(s.vec.Codes, n)
		spread(s.vec.Codes, v.Codes, nil, sel)
		s.view.Dict, s.view.Codes = v.Dict, s.vec.Codes
		return &s.view, nil
	}
	s.vec.Ref = sized(s.vec.Ref, n)
	spread(s.vec.Ref, v.Ref, nil, sel)
	s.view.Ref, s.view.Data = s.vec.Ref, v.Data
	return &s.view, nil
}

// spread writes the values of the rows that sel lists (nil = all), through codes where there are any.
func spread[T any](out, vals []T, codes []uint32, sel []uint16) {
	switch {
	case codes == nil && sel == nil:
		copy(out, vals)
	case codes == nil:
		out = out[:len(sel)]
		for k, i := range sel {
			out[k] = vals[i]
		}
	case sel == nil:
		codes = codes[:len(out)]
		for k, c := range codes {
			out[k] = vals[c]
		}
	default:
		out = out[:len(sel)]
		for k, i := range sel {
			out[k] = vals[codes[i]]
		}
	}
}

func widen(out []int64, vals []int32, codes []uint32, sel []uint16) {
	switch {
	case codes == nil && sel == nil:
		vals = vals[:len(out)]
		for k, x := range vals {
			out[k] = int64(x)
		}
	case codes == nil:
		out = out[:len(sel)]
		for k, i := range sel {
			out[k] = int64(vals[i])
		}
	case sel == nil:
		codes = codes[:len(out)]
		for k, c := range codes {
			out[k] = int64(vals[c])
		}
	default:
		out = out[:len(sel)]
		for k, i := range sel {
			out[k] = int64(vals[codes[i]])
		}
	}
}

func widenFloat(out []float64, vals []float32, codes []uint32, sel []uint16) {
	for k := range out {
		i := k
		if sel != nil {
			i = int(sel[k])
		}
		if codes != nil {
			i = int(codes[i])
		}
		out[k] = float64(vals[i])
	}
}

// constExpr is a constant; null where its value's Valid says so.
type constExpr struct {
	base
	value column.Scalar
	// one is a text as a dictionary of one entry.
	one *column.Vector
}

func (c *constExpr) run(ev *evaluator, s *slot) (*column.Vector, error) {
	n := ev.frame.rows()
	var valid []uint64
	if c.value.Null {
		valid = s.words(n)
		clear(valid)
	}
	switch c.cls {
	case classFloat:
		out := s.floats(n, valid)
		fill(out.F64, c.value.F)
		return out, nil
	case classBytes:
		s.vec.Codes = sized(s.vec.Codes, n)
		clear(s.vec.Codes)
		s.view = column.Vector{Kind: column.KindBytes, N: n, Valid: valid, Dict: c.one, Codes: s.vec.Codes}
		return &s.view, nil
	}
	if c.value.Kind == column.KindInt128 {
		out := s.wides(n, valid)
		fill(out.I128, c.value.D)
		return out, nil
	}
	out := s.ints(n, valid)
	fill(out.I64, c.value.I)
	return out, nil
}

func fill[T any](out []T, x T) {
	for i := range out {
		out[i] = x
	}
}
