package exec

import (
	"time"

	"github.com/tributarydb/tributary/storage/column"
)

// caseExpr is CASE WHEN: conditions (truth values) and values of one class; the last value is ELSE.
// COALESCE and IF are made of it.
type caseExpr struct {
	base
	conds, values []expr
	// up are the digits by which decimal values are scaled up.
	up []int
}

func (c *caseExpr) run(ev *evaluator, s *slot) (*column.Vector, error) {
	n := ev.frame.rows()
	which := make([]uint8, n)
	last := uint8(len(c.values) - 1)
	for i := range which {
		which[i] = last
	}
	rest := make([]uint16, n)
	for i := range rest {
		rest[i] = uint16(i)
	}
	for b, cond := range c.conds {
		if len(rest) == 0 {
			break
		}
		var v *column.Vector
		var err error
		part := cond.canFail()
		if part {
			v, err = ev.on(s, cond, rest)
		} else {
			v, err = ev.eval(cond)
		}
		if err != nil {
			return nil, err
		}
		k := 0
		for j, i := range rest {
			at := int(i)
			if part {
				at = j
			}
			if v.I64[at] != 0 && isValid(v.Valid, at) {
				which[i] = uint8(b)
				continue
			}
			rest[k] = i
			k++
		}
		rest = rest[:k]
	}
	return c.pick(ev, s, which, rest[:0])
}

// pick collects row i from value which[i].
func (c *caseExpr) pick(ev *evaluator, s *slot, which []uint8, rows []uint16) (*column.Vector, error) {
	n := len(which)
	var out *column.Vector
	switch c.cls {
	case classFloat:
		out = s.floats(n, nil)
	case classBytes:
		s.vec.Kind, s.vec.N, s.vec.Valid = column.KindBytes, n, nil
		s.vec.Ref, s.vec.Data = sized(s.vec.Ref, n), s.vec.Data[:0]
		out = &s.vec
	default:
		out = s.ints(n, nil)
	}
	valid := s.words(n)
	fill(valid, ^uint64(0))
	nulls := false
	for b, e := range c.values {
		rows = rows[:0]
		for i, w := range which {
			if int(w) == b {
				rows = append(rows, uint16(i))
			}
		}
		if len(rows) == 0 {
			continue
		}
		var v *column.Vector
		var err error
		part := e.canFail()
		if part {
			v, err = ev.on(s, e, rows)
		} else {
			v, err = ev.eval(e)
		}
		if err != nil {
			return nil, err
		}
		for j, i := range rows {
			at := int(i)
			if part {
				at = j
			}
			if !isValid(v.Valid, at) {
				valid[i>>6] &^= 1 << (i & 63)
				nulls = true
				if c.cls == classBytes {
					out.Ref[i] = column.Ref{}
				} else if out.Kind == column.KindInt64 {
					out.I64[i] = 0
				}
				continue
			}
			switch out.Kind {
			case column.KindFloat64:
				out.F64[i] = v.F64[at]
			case column.KindBytes:
				t := v.Bytes(at)
				out.Ref[i] = column.Ref{Off: uint32(len(out.Data)), Len: uint32(len(t))}
				out.Data = append(out.Data, t...)
			case column.KindInt64:
				if c.cls == classInt {
					out.I64[i] = v.I64[at]
					continue
				}
				x, ok := mul128(v.Dec128(at), pow10[c.up[b]])
				if !ok {
					return nil, errWide
				}
				if x.IsInt64() {
					out.I64[i] = int64(x.Lo)
					continue
				}
				out = c.grow(s, out)
				out.I128[i] = x
			default:
				x, ok := mul128(v.Dec128(at), pow10[c.up[b]])
				if !ok {
					return nil, errWide
				}
				out.I128[i] = x
			}
		}
	}
	if nulls {
		out.Valid = valid
	}
	return out, nil
}

// grow goes on in 128 bits with what was computed in 64.
func (c *caseExpr) grow(s *slot, out *column.Vector) *column.Vector {
	old := out.I64
	w := s.wides(out.N, nil)
	for i, x := range old[:out.N] {
		w.I128[i] = column.FromInt64(x)
	}
	return w
}

// datePart is YEAR, MONTH, … of dates (days) or timestamps (microseconds).
type datePart struct {
	base
	micros bool
	part   func(time.Time) int
}

const microsPerDay = 24 * 60 * 60 * 1_000_000

func (d *datePart) run(ev *evaluator, s *slot) (*column.Vector, error) {
	v, err := ev.eval(d.in[0])
	if err != nil {
		return nil, err
	}
	out := s.ints(v.N, v.Valid)
	last, part := int64(-1<<62), 0
	for i, x := range v.I64[:v.N] {
		if d.micros {
			x = floorDiv(x, microsPerDay)
		}
		if x != last {
			last, part = x, d.part(time.Unix(x*86400, 0).UTC())
		}
		out.I64[i] = int64(part)
	}
	return out, nil
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// daysToMicros turns DATE into TIMESTAMP.
type daysToMicros struct{ base }

func (d *daysToMicros) run(ev *evaluator, s *slot) (*column.Vector, error) {
	v, err := ev.eval(d.in[0])
	if err != nil {
		return nil, err
	}
	out := s.ints(v.N, v.Valid)
	for i, x := range v.I64[:v.N] {
		out.I64[i] = x * microsPerDay
	}
	return out, nil
}

// textLength is LENGTH (bytes) or CHAR_LENGTH.
type textLength struct {
	base
	count func([]byte) int
}

func (t *textLength) run(ev *evaluator, s *slot) (*column.Vector, error) {
	v, err := ev.eval(t.in[0])
	if err != nil {
		return nil, err
	}
	out := s.ints(v.N, v.Valid)
	for i := range out.I64 {
		out.I64[i] = 0
		if isValid(v.Valid, i) {
			out.I64[i] = int64(t.count(v.Bytes(i)))
		}
	}
	return out, nil
}
