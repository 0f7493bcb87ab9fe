package exec

import "github.com/tributarydb/tributary/storage/column"

// lifted is an expression of one column, computed for the entries of the column's dictionary.
type lifted struct {
	dict *column.Vector
	sub  *evaluator
	vals *column.Vector
	// null is the value for a null row, of one row; nil where it was not needed yet.
	subNull *evaluator
	null    *column.Vector
	mag     uint64
	// failed says that an entry's value is an error: rows decide.
	failed bool
}

// overDictionary evaluates an expression of one column over its dictionary; nil where that is not possible or not worth it.
func (ev *evaluator) overDictionary(e expr, s *slot) (*column.Vector, error) {
	c := e.lone()
	if c == nil || len(e.args()) == 0 {
		return nil, nil
	}
	v := ev.frame.cols[c.pos]
	d := v.Dict
	if d == nil || d.N == 0 || d.N > column.MaxRows {
		return nil, nil
	}
	l := s.lift
	if l == nil {
		l = &lifted{sub: newEvaluator(len(ev.slots))}
		s.lift = l
	}
	if l.dict != d {
		if d.N > ev.frame.rows() {
			return nil, nil
		}
		l.compute(e, c, d, len(ev.frame.cols))
	}
	if l.failed {
		return nil, nil
	}
	if v.Valid != nil && l.null == nil {
		if l.subNull == nil {
			l.subNull = newEvaluator(len(ev.slots))
		}
		one := *d
		one.N, one.Valid = 1, []uint64{0}
		null, err := l.subNull.over(e, c, &one, len(ev.frame.cols))
		if err != nil {
			l.failed = true
			return nil, nil
		}
		l.null = null
	}
	return l.spread(ev, e, s, v)
}

// over evaluates e with column c being v.
func (ev *evaluator) over(e expr, c *columnExpr, v *column.Vector, columns int) (*column.Vector, error) {
	cols := make([]*column.Vector, columns)
	cols[c.pos] = v
	ev.reset(frame{cols: cols, n: v.N})
	out, err := ev.eval(e)
	if err != nil {
		return nil, err
	}
	return column.Flatten(out), nil
}

func (l *lifted) compute(e expr, c *columnExpr, d *column.Vector, columns int) {
	v, err := l.sub.over(e, c, d, columns)
	if err == nil && v.Kind == column.KindBytes {
		// Given out as a dictionary, which must never change.
		b := column.NewBuilder(column.KindBytes)
		b.AppendRange(v, 0, v.N)
		v = b.Finish()
	}
	l.dict, l.vals, l.failed = d, v, err != nil
	if !l.failed && v.Kind == column.KindInt64 {
		l.mag = magnitude(v.I64[:v.N])
	}
}

// spread gives each row of the frame its entry's value.
func (l *lifted) spread(ev *evaluator, e expr, s *slot, v *column.Vector) (*column.Vector, error) {
	sel := ev.frame.sel
	n := ev.frame.rows()
	if v.Valid != nil && l.null.Kind != l.vals.Kind {
		return nil, nil // one in 64 bits, one in 128
	}
	var out *column.Vector
	switch l.vals.Kind {
	case column.KindInt64:
		out = s.ints(n, nil)
		spread(out.I64, l.vals.I64, v.Codes, sel)
		s.mag, s.magEpoch, s.tight = l.mag, ev.epoch, false
	case column.KindInt128:
		out = s.wides(n, nil)
		spread(out.I128, l.vals.I128, v.Codes, sel)
	case column.KindFloat64:
		out = s.floats(n, nil)
		spread(out.F64, l.vals.F64, v.Codes, sel)
	case column.KindBytes:
		if v.Valid != nil && !l.null.IsNull(0) {
			return nil, nil
		}
		s.vec.Codes = sized(s.vec.Codes, n)
		spread(s.vec.Codes, v.Codes, nil, sel)
		s.view = column.Vector{Kind: column.KindBytes, N: n, Dict: l.vals, Codes: s.vec.Codes}
		if sel == nil {
			copy(s.vec.Codes, v.Codes)
		}
		if l.vals.Valid != nil {
			plain := *l.vals
			plain.Valid = nil
			s.view.Dict = &plain
		}
		out = &s.view
	default:
		return nil, nil
	}
	if v.Valid == nil && l.vals.Valid == nil {
		return out, nil
	}
	valid := s.words(n)
	clear(valid)
	for k := range n {
		i := k
		if sel != nil {
			i = int(sel[k])
		}
		ok := false
		if isValid(v.Valid, i) {
			ok = isValid(l.vals.Valid, int(v.Codes[i]))
		} else if ok = !l.null.IsNull(0); ok {
			switch out.Kind {
			case column.KindInt64:
				out.I64[k] = l.null.I64[0]
				s.mag |= uint64(l.null.I64[0] ^ l.null.I64[0]>>63)
			case column.KindInt128:
				out.I128[k] = l.null.I128[0]
			case column.KindFloat64:
				out.F64[k] = l.null.F64[0]
			}
		}
		if ok {
			valid[k>>6] |= 1 << (uint(k) & 63)
		}
	}
	out.Valid = valid
	return out, nil
}
