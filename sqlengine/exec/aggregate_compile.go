package exec

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"github.com/tributarydb/tributary/sqlengine/dialect"
	"github.com/tributarydb/tributary/sqlengine/planner"
	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// above starts a pipe over the groups of an aggregate.
func (c *compiler) above(a *aggregate) *pipe {
	p := c.newPipe()
	p.agg = a
	i := 0
	for _, k := range a.spec.keys {
		t := k.typ()
		if k.kind() == classFloat && vectorKind(k) == column.KindFloat64 {
			t = doubleType
		}
		p.outs = append(p.outs, p.build.column(i, t))
		i++
	}
	for _, r := range a.spec.results {
		p.outs = append(p.outs, p.build.column(i, r.typ))
		i++
	}
	return p
}

func (c *compiler) distinct(n *plan.Distinct) *pipe {
	in := c.compile(n.Child)
	if in == nil || !in.asSet() {
		return nil
	}
	a := &aggregate{in: in}
	cols := in.cols
	place := make([]int, len(in.outs))
	sch := n.Schema()
	if len(sch) != len(in.outs) {
		return nil
	}
	for i, e := range in.outs {
		k, ok := a.key(e, equalAsBytes(sch[i].Type))
		if !ok {
			return nil
		}
		place[i] = k
	}
	p := c.above(a)
	return p.reorder(place, cols)
}

// equalAsBytes reports whether texts of a type are equal where their bytes are.
func equalAsBytes(t sql.Type) bool {
	s, ok := t.(sql.StringType)
	return ok && (s.Collation() == types.Collation || s.Collation() == sql.Collation_binary)
}

// reorder gives the columns of an aggregate out in another order.
func (p *pipe) reorder(place []int, cols []outColumn) *pipe {
	all := p.outs
	p.outs = nil
	for _, k := range place {
		p.outs = append(p.outs, all[k])
	}
	p.cols = cols
	return p
}

// key adds a grouping key, or finds it. binary says that texts are equal by their bytes, without which they are no keys here.
func (a *aggregate) key(e expr, binary bool) (int, bool) {
	for i, k := range a.spec.keys {
		if k == e {
			return i, true
		}
	}
	if e.kind() == classOpaque || isNullConst(e) {
		return 0, false
	}
	if e.kind() == classBytes && !binary {
		return 0, false
	}
	a.spec.keys = append(a.spec.keys, e)
	return len(a.spec.keys) - 1, true
}

func (c *compiler) groupBy(n *plan.GroupBy) *pipe {
	in := c.compile(n.Child)
	if in == nil || !in.asSet() {
		return nil
	}
	a := &aggregate{in: in}
	for _, e := range n.GroupByExprs {
		x, ok := in.build.compile(e)
		if !ok {
			return nil
		}
		if isConst(x) && !isNullConst(x) {
			return nil // a position, or a group of all rows
		}
		if _, ok := a.key(x, planner.ComparedAsBytes(c.ctx, e, e)); !ok {
			return nil
		}
	}
	place := make([]int, len(n.SelectedExprs))
	cols := make([]outColumn, len(n.SelectedExprs))
	for i, e := range n.SelectedExprs {
		cols[i] = columnOf(e)
		if al, ok := e.(*expression.Alias); ok {
			e = al.Child
		}
		if g, ok := e.(sql.Aggregation); ok {
			k, ok := a.result(c.ctx, g)
			if !ok {
				return nil
			}
			place[i] = -1 - k
			continue
		}
		x, ok := in.build.compile(e)
		if !ok {
			return nil
		}
		found := false
		for k, key := range a.spec.keys {
			if key == x {
				place[i], found = k, true
				break
			}
		}
		if !found {
			// A value that depends on the keys: that of any row.
			if x.kind() == classOpaque || isNullConst(x) {
				return nil
			}
			a.spec.results = append(a.spec.results, resultSpec{typ: x.typ().WithNotNull(false), slot: a.slot(slotFirst, x), name: "ANY_VALUE(" + e.String() + ")"})
			place[i] = -len(a.spec.results)
		}
	}
	for i, k := range place {
		if k < 0 {
			place[i] = len(a.spec.keys) - 1 - k
		}
	}
	p := c.above(a).reorder(place, cols)
	p.build.whole = a.wholeKey(p)
	return p
}

// wholeKey finds expressions above a grouping that are one of its keys, e.g. YEAR(d) of GROUP BY YEAR(d).
func (a *aggregate) wholeKey(p *pipe) func(sql.Expression) (expr, bool) {
	return func(e sql.Expression) (expr, bool) {
		switch e.(type) {
		case *expression.GetField, *expression.Literal, *expression.Alias:
			return nil, false
		}
		for _, k := range a.spec.keys {
			if _, bare := k.(*columnExpr); bare {
				continue
			}
			x, ok := a.in.build.compile(e)
			if !ok {
				return nil, false
			}
			for i, k := range a.spec.keys {
				if k == x {
					return p.build.column(i, k.typ()), true
				}
			}
			return nil, false
		}
		return nil, false
	}
}

// slot adds something to keep per group, or finds it.
func (a *aggregate) slot(kind slotKind, arg expr) int {
	for i, s := range a.spec.slots {
		if s.kind == kind && s.arg == arg {
			return i
		}
	}
	a.spec.slots = append(a.spec.slots, slotSpec{kind, arg})
	return len(a.spec.slots) - 1
}

// countSlot counts the values of e that are not NULL.
func (a *aggregate) countSlot(e expr) int {
	if neverNull(e) {
		return a.slot(slotCountAll, nil)
	}
	return a.slot(slotCount, e)
}

// neverNull does not trust NOT NULL of columns: files may hold nulls all the same.
func neverNull(e expr) bool {
	switch e := e.(type) {
	case *constExpr:
		return !e.value.Null
	case *isNullExpr:
		return true
	}
	return false
}

// result adds an aggregate function.
func (a *aggregate) result(ctx *sql.Context, g sql.Aggregation) (int, bool) {
	r := resultSpec{name: g.String()}
	if g.Window() != nil {
		return 0, false
	}
	arg := func(e sql.Expression) (expr, bool) {
		x, ok := a.in.build.compile(e)
		return x, ok && !isNullConst(x)
	}
	switch g := g.(type) {
	case *aggregation.Count:
		r.typ = bigIntType
		if _, star := g.Child.(*expression.Star); star {
			r.slot = a.slot(slotCountAll, nil)
			break
		}
		x, ok := arg(g.Child)
		if !ok {
			return 0, false
		}
		r.slot = a.countSlot(x)
	case *aggregation.CountDistinct:
		k := g.Children()
		if len(k) != 1 {
			return 0, false
		}
		x, ok := arg(k[0])
		if !ok || x.kind() == classOpaque || isText(x) && !planner.ComparedAsBytes(ctx, k[0], k[0]) {
			return 0, false
		}
		r.typ, r.slot = bigIntType, a.slot(slotDistinct, x)
	case *aggregation.Min:
		if ok := a.extreme(&r, slotMin, g.Child); !ok {
			return 0, false
		}
	case *aggregation.Max:
		if ok := a.extreme(&r, slotMax, g.Child); !ok {
			return 0, false
		}
	case *planner.Aggregate:
		x, ok := arg(g.Child())
		if !ok || g.Distinct() || !isNumber(x) {
			return 0, false
		}
		switch g.Kind() {
		case dialect.KindSum:
			r.kind = resultSum
		case dialect.KindAvg:
			r.kind = resultAvg
		default:
			return 0, false
		}
		if r.typ, ok = sumType(r.kind, x, g.Type()); !ok {
			return 0, false
		}
		kind := slotSum
		if x.kind() == classFloat {
			kind = slotSumFloat
		}
		r.slot, r.count = a.slot(kind, x), a.countSlot(x)
	default:
		return 0, false
	}
	a.spec.results = append(a.spec.results, r)
	return len(a.spec.results) - 1, true
}

func (a *aggregate) extreme(r *resultSpec, kind slotKind, e sql.Expression) bool {
	x, ok := a.in.build.compile(e)
	if !ok || x.kind() == classOpaque || isNullConst(x) || x.typ().Root == schema.Boolean {
		return false
	}
	if x.kind() == classBytes {
		// The order of the text's own collation counts.
		if !isText(x) || !planner.ComparedAsBytes(a.in.build.ctx, e, e) {
			return false
		}
	}
	r.typ, r.slot = x.typ().WithNotNull(false), a.slot(kind, x)
	return true
}

// sumType is the type of SUM or AVG of x; t is what go-mysql-server's side says for integers.
func sumType(kind resultKind, x expr, t sql.Type) (*schema.Type, bool) {
	switch x.kind() {
	case classFloat:
		return doubleType, true
	case classInt:
		d, ok := t.(sql.DecimalType)
		if !ok {
			return nil, false
		}
		return &schema.Type{Root: schema.Decimal, Precision: int(d.Precision()), Scale: int(d.Scale())}, true
	}
	p, s := x.typ().Precision+sumDigits, x.typ().Scale
	if kind == resultAvg {
		p, s = x.typ().Precision+averageDigits, min(s+averageDigits, types.MaxDecimalScale)
	}
	return &schema.Type{Root: schema.Decimal, Precision: min(p, types.MaxDecimalPrecision), Scale: s}, true
}

const (
	// sumDigits is what SUM adds to the precision of its argument.
	sumDigits = 22
	// averageDigits is what AVG adds to its argument's precision and scale (div_precision_increment).
	averageDigits = 4
	// safeSumDigits is the precision up to which sums cannot outgrow 128 bits: 10^10 rows of the greatest values.
	safeSumDigits = 28
)
