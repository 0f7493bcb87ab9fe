package exec

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	gms "github.com/dolthub/go-mysql-server/sql/types"

	"github.com/tributarydb/tributary/sqlengine/dialect"
	"github.com/tributarydb/tributary/sqlengine/planner"
	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/column"
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
	p := &pipe{build: newExprBuilder(c.ctx), limit: -1}
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
	if i := g.Index(); i >= 0 && i < len(p.cols) && strings.EqualFold(p.cols[i].name, g.Name()) {
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
	for i, e := range in.outs {
		k, ok := a.key(e, false)
		if !ok {
			return nil
		}
		place[i] = k
	}
	p := c.above(a)
	return p.reorder(place, cols)
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

// key adds a grouping key, or finds it. Texts must be equal by their bytes: columns are, others where binary says so.
func (a *aggregate) key(e expr, binary bool) (int, bool) {
	for i, k := range a.spec.keys {
		if k == e {
			return i, true
		}
	}
	if e.kind() == classOpaque || isNullConst(e) {
		return 0, false
	}
	if _, bare := e.(*columnExpr); e.kind() == classBytes && !bare && !binary {
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

func neverNull(e expr) bool {
	switch e := e.(type) {
	case *constExpr:
		return !e.value.Null
	case *columnExpr:
		return e.t.NotNull
	case *isNullExpr:
		return true
	case *arithExpr, *castExpr:
		for _, x := range e.args() {
			if !neverNull(x) {
				return false
			}
		}
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

// describe lists the operators, the outermost first.
func (p *pipe) describe(notes func(*planner.Table, []int) []string) (string, []string) {
	var name string
	var lines []string
	if p.agg != nil {
		name = "Aggregate"
		var keys, results []string
		for _, k := range p.agg.spec.keys {
			keys = append(keys, p.agg.in.nameOf(k))
		}
		for i, r := range p.agg.spec.results {
			if p.agg.need[len(p.agg.spec.keys)+i] {
				results = append(results, r.name)
			}
		}
		if len(keys) > 0 {
			lines = append(lines, "group by: "+strings.Join(keys, ", "))
		}
		if len(results) > 0 {
			lines = append(lines, "compute: "+strings.Join(results, ", "))
		}
	} else {
		name = "Scan"
		lines = append(lines, "table: "+p.table.DatabaseName()+"."+p.table.Name())
		var cols []string
		for _, f := range p.fields {
			cols = append(cols, p.table.Fields()[f].Name)
		}
		lines = append(lines, "columns: ["+strings.Join(cols, " ")+"]")
		lines = append(lines, notes(p.table, p.fields)...)
	}
	for _, f := range p.filters {
		lines = append(lines, "filter: "+f.text)
	}
	if len(p.order) > 0 {
		var keys []string
		for _, k := range p.order {
			name := p.nameOf(k.x)
			if k.desc {
				name += " DESC"
			}
			keys = append(keys, name)
		}
		lines = append(lines, "order by: "+strings.Join(keys, ", "))
	}
	if p.limit >= 0 {
		lines = append(lines, fmt.Sprintf("limit: %d, offset: %d", p.limit, p.offset))
	}
	if p.agg != nil {
		child, inner := p.agg.in.describe(notes)
		tree := sql.NewTreePrinter()
		_ = tree.WriteNode("%s", child)
		_ = tree.WriteChildren(inner...)
		lines = append(lines, tree.String())
	}
	return name, lines
}

// nameOf names an expression of the pipe for EXPLAIN.
func (p *pipe) nameOf(e expr) string {
	for i, o := range p.outs {
		if o == e {
			return p.cols[i].name
		}
	}
	if c, ok := e.(*columnExpr); ok && p.table != nil {
		return p.table.Fields()[c.field].Name
	}
	return "expression"
}

// sqlTypeOf is the type of an output column; old is what the replaced plan says. A column that is passed on keeps its type;
// go-mysql-server's types of computed ones may differ from MySQL's.
func sqlTypeOf(e expr, old sql.Type) sql.Type {
	keep := false
	switch {
	case e.kind() == classOpaque:
		keep = true
	case isInteger(e):
		_, bare := e.(*columnExpr)
		keep = gms.IsInteger(old) && (bare || e.typ().Root == schema.Boolean)
	case e.kind() == classFloat:
		keep = gms.IsFloat(old)
	case e.kind() == classBytes:
		keep = gms.IsText(old) || gms.IsBinaryType(old)
	case e.kind() == classInt:
		keep = gms.IsTime(old) || gms.IsTimespan(old)
	}
	if keep {
		return old
	}
	return types.SQLType(e.typ())
}
