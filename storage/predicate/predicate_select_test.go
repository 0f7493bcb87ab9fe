package predicate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
)

var selectKinds = []column.Kind{column.KindInt32, column.KindInt64, column.KindInt128, column.KindFloat32, column.KindFloat64, column.KindTimestamp, column.KindBytes}

func randomScalar(r *rand.Rand, k column.Kind) column.Scalar {
	x := int64(r.IntN(20) - 10)
	if r.IntN(20) == 0 && k == column.KindInt64 {
		x = []int64{math.MinInt64, math.MaxInt64}[r.IntN(2)]
	}
	s := column.Scalar{Kind: k}
	switch k {
	case column.KindInt128:
		s.D = column.MulInt64(x, math.MaxInt64)
	case column.KindFloat32, column.KindFloat64:
		s.F = float64(x)
		if r.IntN(30) == 0 {
			s.F = math.NaN()
		}
		if s.F == 0 {
			s.F = 1 // zeros are looked at in TestSelectZeros
		}
	case column.KindTimestamp:
		s.I, s.Sub = x, uint16(r.IntN(3))
	case column.KindBytes:
		s.B = fmt.Append(nil, x)
	default:
		s.I = x
	}
	return s
}

// randomBatch makes a batch of one column a kind, some dictionary-coded, some with nulls.
func randomBatch(r *rand.Rand, n int) *column.Batch {
	b := &column.Batch{N: n}
	for _, k := range selectKinds {
		nulls, coded := r.IntN(2) == 0, r.IntN(2) == 0
		bld := column.NewBuilder(k)
		rows := n
		if coded {
			rows = 1 + r.IntN(30)
		}
		for range rows {
			if nulls && !coded && r.IntN(4) == 0 {
				bld.AppendNull()
			} else {
				bld.AppendScalar(randomScalar(r, k))
			}
		}
		v := bld.Finish()
		if coded {
			v = &column.Vector{Kind: k, N: n, Dict: v}
			for range n {
				v.Codes = append(v.Codes, uint32(r.IntN(rows)))
			}
			for i := range n {
				if nulls && r.IntN(4) == 0 {
					v.SetNull(i)
				}
			}
		}
		b.Cols = append(b.Cols, v)
	}
	return b
}

func randomPredicate(r *rand.Rand, depth int) Predicate {
	if depth > 0 && r.IntN(2) == 0 {
		var ch []Predicate
		for range r.IntN(4) {
			ch = append(ch, randomPredicate(r, depth-1))
		}
		if r.IntN(2) == 0 {
			return &And{Children: ch}
		}
		return &Or{Children: ch}
	}
	col := r.IntN(len(selectKinds))
	l := &Leaf{Op: Op(r.IntN(int(Contains) + 1)), Column: col}
	if l.Op >= StartsWith {
		l.Column = len(selectKinds) - 1
	}
	n := 1
	switch l.Op {
	case IsNull, IsNotNull:
		n = 0
	case In, NotIn:
		n = 1 + r.IntN(12)
	}
	for range n {
		l.Literals = append(l.Literals, randomScalar(r, selectKinds[l.Column]))
	}
	return l
}

func TestSelectAgreesWithMatches(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for round := range 3000 {
		p := randomPredicate(r, 3)
		s := NewSelector(p)
		var out []uint16
		for range 2 {
			b := randomBatch(r, 1+r.IntN(200))
			var in []uint16
			if r.IntN(2) == 0 {
				in = []uint16{}
				for i := range b.N {
					if r.IntN(3) > 0 {
						in = append(in, uint16(i))
					}
				}
			}
			var want []uint16
			for i := range b.N {
				if in != nil && !slices.Contains(in, uint16(i)) {
					continue
				}
				if Matches(p, func(c int) column.Scalar { return column.ScalarAt(b.Cols[c], i) }) {
					want = append(want, uint16(i))
				}
			}
			out = s.Select(b, in, out)
			if !slices.Equal(out, want) {
				t.Fatalf("round %d: selected %v, want %v", round, out, want)
			}
			if got := Select(p, b, in); !slices.Equal(got, want) {
				t.Fatalf("round %d: Select gave %v, want %v", round, got, want)
			}
		}
	}
}

func TestSelectZeros(t *testing.T) {
	bld := column.NewBuilder(column.KindFloat64)
	for _, x := range []float64{math.Copysign(0, -1), 0, 1, -1} {
		bld.AppendFloat(x)
	}
	b := &column.Batch{N: 4, Cols: []*column.Vector{bld.Finish()}}
	for op, want := range map[Op][]uint16{Eq: {0, 1}, In: {0, 1}, Le: {0, 1, 3}, Ge: {0, 1, 2}, Lt: {0, 3}, Gt: {2}, Ne: {0, 2, 3}} {
		p := &Leaf{Op: op, Literals: []column.Scalar{{Kind: column.KindFloat64}}}
		if got := Select(p, b, nil); !slices.Equal(got, want) {
			t.Errorf("op %d: %v, want %v", op, got, want)
		}
	}
}

func TestSelectOtherKind(t *testing.T) {
	bld := column.NewBuilder(column.KindInt64)
	bld.AppendInt(1)
	bld.AppendNull()
	b := &column.Batch{N: 2, Cols: []*column.Vector{bld.Finish()}}
	p := &Leaf{Op: Eq, Literals: []column.Scalar{column.BytesScalar([]byte("x"))}}
	if got := Select(p, b, nil); !slices.Equal(got, []uint16{0}) {
		t.Errorf("a leaf of another kind selected %v", got)
	}
}

func BenchmarkSelectRange(b *testing.B) {
	bld := column.NewBuilder(column.KindInt64)
	r := rand.New(rand.NewPCG(1, 1))
	for range column.MaxRows {
		bld.AppendInt(int64(r.IntN(100)))
	}
	batch := &column.Batch{N: column.MaxRows, Cols: []*column.Vector{bld.Finish()}}
	s := NewSelector(&Leaf{Op: Lt, Literals: []column.Scalar{column.IntScalar(column.KindInt64, 50)}})
	out := make([]uint16, 0, column.MaxRows)
	for b.Loop() {
		out = s.Select(batch, nil, out)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/column.MaxRows, "ns/row")
}
