package parquet

import (
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
)

// slots are the rows of one level of a column, or the entries below: for
// each the position in the vector, -1 where something above is null or empty, and its
// levels.
type slots struct {
	at  []int32
	def []int16
	rep []int16
}

// reset makes room for n slots without levels.
func (s *slots) reset(n int) {
	if cap(s.at) < n {
		s.at, s.def, s.rep = make([]int32, n), make([]int16, n), make([]int16, n)
	}
	s.at, s.def, s.rep = s.at[:n], s.def[:n], s.rep[:n]
	clear(s.def)
	clear(s.rep)
}

func (s *slots) push(at int32, def, rep int16) {
	s.at = append(s.at, at)
	s.def = append(s.def, def)
	s.rep = append(s.rep, rep)
}

// descend walks a column down to its leaves, giving each its slots.
func descend(p *place, v *column.Vector, in *slots, leaf func(p *place, v *column.Vector, s *slots) error) error {
	if v.Dict != nil && p.leaf < 0 {
		v = column.Flatten(v)
	}
	if p.required {
		for _, at := range in.at {
			if at >= 0 && v.IsNull(int(at)) {
				return nullIn(p)
			}
		}
	} else {
		// The slots are the caller's only where it has no use for them any more.
		for i, at := range in.at {
			if at < 0 {
				continue
			}
			if v.IsNull(int(at)) {
				in.at[i] = -1
			} else {
				in.def[i]++
			}
		}
	}
	if p.leaf >= 0 {
		return leaf(p, v, in)
	}
	switch v.Kind {
	case column.KindStruct:
		for j, c := range p.children {
			child := slots{at: append([]int32(nil), in.at...), def: append([]int16(nil), in.def...), rep: append([]int16(nil), in.rep...)}
			if err := descend(c, v.Children[j], &child, leaf); err != nil {
				return err
			}
		}
		return nil
	case column.KindList, column.KindMap:
		for j, c := range p.children {
			var child slots
			for i, at := range in.at {
				if at < 0 {
					child.push(-1, in.def[i], in.rep[i])
					continue
				}
				from, to := v.Offsets[at], v.Offsets[at+1]
				if from == to {
					child.push(-1, in.def[i], in.rep[i])
					continue
				}
				for k := from; k < to; k++ {
					rep := p.rep
					if k == from {
						rep = in.rep[i]
					}
					child.push(k, in.def[i]+1, rep)
				}
			}
			if err := descend(c, v.Children[j], &child, leaf); err != nil {
				return err
			}
		}
		return nil
	}
	return errs.Invalidf("column '%s' is of type %s, its values are of another kind", p.path, p.typ)
}
