package exec

import (
	"math/big"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// batch builds the rows of the groups [from, to): keys, then results.
// Columns that nobody needs are nil.
func (t *aggregateTable) batch(from, to int, need []bool) (*column.Batch, error) {
	b := &column.Batch{N: to - from}
	for k := range t.spec.keys {
		if !need[k] {
			b.Cols = append(b.Cols, nil)
			continue
		}
		b.Cols = append(b.Cols, t.groups.column(k, from, to))
	}
	for i := range t.spec.results {
		if !need[len(t.spec.keys)+i] {
			b.Cols = append(b.Cols, nil)
			continue
		}
		v, err := t.result(&t.spec.results[i], from, to)
		if err != nil {
			return nil, err
		}
		b.Cols = append(b.Cols, v)
	}
	return b, nil
}

func (t *aggregateTable) result(r *resultSpec, from, to int) (*column.Vector, error) {
	spec, s := t.spec.slots[r.slot], &t.states[r.slot]
	b := column.NewBuilder(schema.KindOf(r.typ))
	if r.typ.Root == schema.Decimal {
		b = column.NewBuilder(column.KindInt128)
	}
	for g := from; g < to; g++ {
		switch {
		case r.kind != resultSlot:
			n := t.states[r.count].counts[g]
			if n == 0 {
				b.AppendNull()
				continue
			}
			if err := appendSum(b, r, spec, s, g, n); err != nil {
				return nil, err
			}
		case spec.kind == slotMin || spec.kind == slotMax || spec.kind == slotFirst:
			if !s.seen[g] {
				b.AppendNull()
				continue
			}
			switch spec.arg.kind() {
			case classFloat:
				b.AppendFloat(s.floats[g])
			case classBytes:
				b.AppendBytes(s.texts[g])
			case classDecimal:
				b.AppendInt128(s.sums[g])
			default:
				b.AppendInt(s.ints[g])
			}
		default:
			b.AppendInt(s.counts[g])
		}
	}
	return b.Finish(), nil
}

func appendSum(b *column.Builder, r *resultSpec, spec slotSpec, s *slotState, g int, n int64) error {
	if spec.kind == slotSumFloat {
		x := s.floats[g]
		if r.kind == resultAvg {
			x /= float64(n)
		}
		b.AppendFloat(x)
		return nil
	}
	x := s.sums[g]
	if r.kind == resultAvg {
		var ok bool
		if x, ok = average(x, n, r.typ.Scale-spec.arg.typ().Scale); !ok {
			return errWide
		}
	}
	b.AppendInt128(x)
	return nil
}

// average is sum*10^up/n, rounded half away from zero.
func average(sum column.Int128, n int64, up int) (column.Int128, bool) {
	x := sum.Big()
	x.Mul(x, pow10[up].Big())
	q, rem := new(big.Int).QuoRem(x, big.NewInt(n), new(big.Int))
	if rem.Abs(rem).Lsh(rem, 1).Cmp(big.NewInt(n)) >= 0 {
		q.Add(q, big.NewInt(int64(x.Sign())))
	}
	return column.FromBig(q)
}

// maxParts bounds the groups of a table whose batches are put in the order of the groups.
const maxParts = 64

// part is a range of rows of one group.
type part struct {
	group    uint32
	from, to int
}

// partition puts a batch's rows in the order of their groups where there are few groups.
type partition struct {
	parts []part
	count [maxParts]int32
	rows  []uint16
}

// one is a batch of one group.
func (p *partition) one(n int) { p.parts = append(p.parts[:0], part{to: n}) }

// reset orders the rows of sel (nil = all), whose groups are gids; total is the number of groups so far. It reports
// whether there are few.
func (p *partition) reset(gids []uint32, total int, sel []uint16) bool {
	if total > maxParts {
		return false
	}
	clear(p.count[:total])
	for _, g := range gids {
		p.count[g&(maxParts-1)]++
	}
	p.parts = p.parts[:0]
	at := int32(0)
	for g, n := range p.count[:total] {
		p.count[g] = at
		if n > 0 {
			p.parts = append(p.parts, part{group: uint32(g), from: int(at), to: int(at + n)})
			at += n
		}
	}
	p.rows = sized(p.rows, len(gids))
	for i, g := range gids {
		k := p.count[g&(maxParts-1)]
		p.count[g&(maxParts-1)] = k + 1
		if sel == nil {
			p.rows[k] = uint16(i)
		} else {
			p.rows[k] = sel[i]
		}
	}
	return true
}
