package exec

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"github.com/tributarydb/tributary/sqlengine/planner"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
)

// outColumn is what a plan above knows of a pipe's column.
type outColumn struct {
	id   sql.ColumnId
	name string
}

// filter is a condition of a pipe: a predicate over the source's fields, or an expression.
type filter struct {
	pred predicate.Predicate
	cond expr
	text string
}

// pipe is a source, conditions, and what is given out of the rows that pass.
type pipe struct {
	build *exprBuilder
	// One of the two.
	table *planner.Table
	agg   *aggregate

	filters []filter
	outs    []expr
	cols    []outColumn
	// inner is that of the compiler.
	inner bool
	// order sorts the rows; ordered by nothing where it is empty.
	order []sortKey
	// offset rows are skipped, then at most limit are given; limit < 0 = all.
	offset, limit int64
	// fields are the source's columns that are read, in the order of frames.
	fields []int
}

// aggregate groups the rows of a pipe. Its columns are the keys, then the results.
type aggregate struct {
	in   *pipe
	spec aggregateSpec
	// need says which of the columns are read.
	need []bool
}

// compiler turns plan nodes into pipes.
type compiler struct {
	ctx *sql.Context
	// inner is a subquery's plan: there indexes of fields count from the outer row's first column.
	inner bool
}

// compile returns nil for what is not translated.
func (c *compiler) compile(n sql.Node) *pipe {
	switch n := n.(type) {
	case *plan.ResolvedTable:
		return c.scan(n)
	case *plan.TableAlias:
		return c.compile(n.Child)
	case *plan.SubqueryAlias:
		return c.derived(n)
	case *plan.Filter:
		return c.filter(n.Child, n.Expression)
	case *plan.Having:
		return c.filter(n.Child, n.Cond)
	case *plan.Project:
		return c.project(n)
	case *plan.GroupBy:
		return c.groupBy(n)
	case *plan.Distinct:
		return c.distinct(n)
	case *plan.Limit:
		return c.limit(n)
	case *plan.Sort:
		return c.sort(n.Child, n.SortFields)
	case *plan.TopN:
		return c.topN(n)
	}
	if g, ok := planner.CountPlan(n); ok {
		return c.groupBy(g)
	}
	return nil
}

func (c *compiler) newPipe() *pipe {
	p := &pipe{build: newExprBuilder(c.ctx), limit: -1, inner: c.inner}
	p.build.field = p.resolve
	return p
}

// resolve finds the output column that an expression names: by the binder's id, and by the name to be sure.
func (p *pipe) resolve(g *expression.GetField) (expr, bool) {
	for i, col := range p.cols {
		if col.id == g.Id() && strings.EqualFold(col.name, g.Name()) {
			return p.outs[i], true
		}
	}
	if i := g.Index(); !p.inner && i >= 0 && i < len(p.cols) && strings.EqualFold(p.cols[i].name, g.Name()) {
		return p.outs[i], true
	}
	return nil, false
}

func (c *compiler) scan(n *plan.ResolvedTable) *pipe {
	t, ok := planner.TableUnder(n)
	if !ok {
		return nil
	}
	p := c.newPipe()
	p.table = t
	ids := make(map[int]sql.ColumnId)
	n.Columns().ForEach(func(id sql.ColumnId) { ids[len(ids)] = id })
	fields, cols := t.Fields(), t.Columns()
	for i, f := range cols {
		p.outs = append(p.outs, p.build.column(f, fields[f].Type))
		col := outColumn{name: fields[f].Name}
		if len(ids) == len(fields) {
			col.id = ids[f]
		} else if len(ids) == len(cols) {
			col.id = ids[i]
		}
		p.cols = append(p.cols, col)
	}
	// Ids that do not fit the names are not used.
	p.build.field = func(g *expression.GetField) (expr, bool) {
		if f, ok := t.FindColumn(n, g); ok {
			return p.build.column(f, fields[f].Type), true
		}
		return p.resolve(g)
	}
	return p
}

func (c *compiler) derived(n *plan.SubqueryAlias) *pipe {
	if n.IsLateral || n.OuterScopeVisibility || !n.Correlated.Empty() {
		return nil
	}
	p := c.compile(n.Child)
	if p == nil {
		return nil
	}
	var ids []sql.ColumnId
	n.Columns().ForEach(func(id sql.ColumnId) { ids = append(ids, id) })
	sch := n.Schema()
	if len(ids) != len(p.cols) || len(sch) != len(p.cols) {
		return nil
	}
	for i := range p.cols {
		p.cols[i] = outColumn{id: ids[i], name: sch[i].Name}
	}
	p.build.field = p.resolve
	return p
}

func (c *compiler) filter(child sql.Node, cond sql.Expression) *pipe {
	p := c.compile(child)
	if p == nil || !p.asSet() {
		return nil
	}
	for _, e := range expression.SplitConjunction(cond) {
		f := filter{text: e.String()}
		if p.table != nil {
			if pred, ok := planner.ExactPredicate(c.ctx, e, p.table.Fields(), p.bareField, planner.SessionZone(c.ctx)); ok {
				f.pred = pred
				p.filters = append(p.filters, f)
				continue
			}
		}
		x, ok := p.build.truth(e)
		if !ok {
			return nil
		}
		f.cond = x
		p.filters = append(p.filters, f)
	}
	return p
}

// bareField finds the table's field that an expression names.
func (p *pipe) bareField(g *expression.GetField) (int, bool) {
	e, ok := p.build.field(g)
	if !ok {
		return 0, false
	}
	col, ok := e.(*columnExpr)
	if !ok {
		return 0, false
	}
	return col.field, true
}

func columnOf(e sql.Expression) outColumn {
	var col outColumn
	if n, ok := e.(sql.Nameable); ok {
		col.name = n.Name()
	} else {
		col.name = e.String()
	}
	if n, ok := e.(sql.IdExpression); ok {
		col.id = n.Id()
	} else if g, ok := e.(*expression.GetField); ok {
		col.id = g.Id()
	}
	return col
}

func (c *compiler) project(n *plan.Project) *pipe {
	p := c.compile(n.Child)
	if p == nil {
		return nil
	}
	var outs []expr
	var cols []outColumn
	for _, e := range n.Projections {
		x, ok := p.build.compile(e)
		if !ok || isNullConst(x) {
			return nil
		}
		outs = append(outs, x)
		cols = append(cols, columnOf(e))
	}
	p.outs, p.cols = outs, cols
	p.build.field = p.resolve
	return p
}

func (c *compiler) limit(n *plan.Limit) *pipe {
	limit, ok := countOf(n.Limit)
	if !ok || n.CalcFoundRows {
		return nil
	}
	child, offset := n.Child, int64(0)
	if o, isOffset := child.(*plan.Offset); isOffset {
		if offset, ok = countOf(o.Offset); !ok {
			return nil
		}
		child = o.Child
	}
	p := c.compile(child)
	if p == nil {
		return nil
	}
	p.cut(offset, limit)
	return p
}

// cut applies an offset and a limit above those that the pipe has.
func (p *pipe) cut(offset, limit int64) {
	if p.limit >= 0 {
		limit = min(limit, max(p.limit-offset, 0))
	}
	p.offset, p.limit = p.offset+offset, limit
}

// asSet forgets the order of the rows, for operators to which it means nothing; false where it decides which rows there are.
func (p *pipe) asSet() bool {
	if p.limit >= 0 || p.offset > 0 {
		return false
	}
	p.order = nil
	return true
}

func (c *compiler) topN(n *plan.TopN) *pipe {
	v, ok := planner.ConstantValue(c.ctx, n.Limit)
	if !ok || n.CalcFoundRows {
		return nil
	}
	limit, ok := integerOf(v)
	if !ok || limit < 0 {
		return nil
	}
	p := c.sort(n.Child, n.Fields)
	if p != nil {
		p.cut(0, limit)
	}
	return p
}

func (c *compiler) sort(child sql.Node, fields sql.SortFields) *pipe {
	p := c.compile(child)
	if p == nil || !p.asSet() {
		return nil
	}
	for _, f := range fields {
		x, ok := p.build.compile(f.Column)
		if !ok || x.kind() == classOpaque || isNullConst(x) {
			return nil
		}
		if x.kind() == classBytes && isText(x) && !planner.ComparedAsBytes(c.ctx, f.Column, f.Column) {
			return nil
		}
		if f.NullOrdering != sql.NullsFirst {
			return nil
		}
		p.order = append(p.order, sortKey{x: x, desc: f.Order == sql.Descending})
	}
	return p
}

// countOf reads a LIMIT or OFFSET that is a plain number.
func countOf(e sql.Expression) (int64, bool) {
	l, ok := e.(*expression.Literal)
	if !ok {
		return 0, false
	}
	n, ok := integerOf(l.Value())
	return n, ok && n >= 0
}

// wide reports whether a decimal of the pipe may outgrow 128 bits.
func (p *pipe) wide() bool {
	for _, e := range p.roots() {
		if e.wide() {
			return true
		}
	}
	if p.agg == nil {
		return false
	}
	for _, k := range p.agg.spec.keys {
		if k.wide() {
			return true
		}
	}
	for _, s := range p.agg.spec.slots {
		if s.arg == nil {
			continue
		}
		if s.arg.wide() || s.kind == slotSum && s.arg.kind() == classDecimal && s.arg.typ().Precision > safeSumDigits {
			return true
		}
	}
	for i, r := range p.agg.spec.results {
		if p.agg.need[len(p.agg.spec.keys)+i] && r.kind == resultAvg && r.typ.Root == schema.Decimal && p.agg.spec.slots[r.slot].arg.typ().Precision > safeSumDigits-averageDigits {
			return true
		}
	}
	return p.agg.in.wide()
}

// roots are the expressions that a pipe evaluates itself.
func (p *pipe) roots() []expr {
	var out []expr
	for _, f := range p.filters {
		if f.cond != nil {
			out = append(out, f.cond)
		}
	}
	for _, k := range p.order {
		out = append(out, k.x)
	}
	return append(out, p.outs...)
}

// place decides which columns of the source are read, and where they stand in frames. reads are the expressions
// evaluated on the pipe's source.
func (p *pipe) place(reads []expr) {
	at := map[int]int{}
	use := func(field int) int {
		k, ok := at[field]
		if !ok {
			k = len(p.fields)
			at[field] = k
			p.fields = append(p.fields, field)
		}
		return k
	}
	seen := map[expr]bool{}
	var walk func(e expr)
	walk = func(e expr) {
		if seen[e] {
			return
		}
		seen[e] = true
		if c, ok := e.(*columnExpr); ok {
			c.pos = use(c.field)
		}
		for _, a := range e.args() {
			walk(a)
		}
	}
	for _, f := range p.filters {
		if f.cond != nil {
			walk(f.cond)
		}
	}
	for _, k := range p.order {
		walk(k.x)
	}
	for _, e := range reads {
		walk(e)
	}
	for i, f := range p.filters {
		if f.pred != nil {
			p.filters[i].pred = predicate.RemapColumns(f.pred, use)
		}
	}
}

// finish places the columns of the pipe and of those below it.
func (p *pipe) finish(reads []expr) {
	p.place(reads)
	if p.agg == nil {
		return
	}
	p.agg.prune(p.fields)
	below := append([]expr{}, p.agg.spec.keys...)
	for _, s := range p.agg.spec.slots {
		if s.arg != nil {
			below = append(below, s.arg)
		}
	}
	p.agg.in.finish(below)
}

// prune leaves out what nobody reads.
func (a *aggregate) prune(fields []int) {
	a.need = make([]bool, len(a.spec.keys)+len(a.spec.results))
	for _, f := range fields {
		a.need[f] = true
	}
	old := a.spec.slots
	a.spec.slots = nil
	for i := range a.spec.results {
		if r := &a.spec.results[i]; a.need[len(a.spec.keys)+i] {
			if r.kind != resultSlot {
				r.count = a.slot(old[r.count].kind, old[r.count].arg)
			}
			r.slot = a.slot(old[r.slot].kind, old[r.slot].arg)
		}
	}
}
