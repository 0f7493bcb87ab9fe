package planner

import (
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	gms "github.com/dolthub/go-mysql-server/sql/types"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
)

// condition is a conjunct that every row of the result has passed or will pass.
type condition struct {
	expr sql.Expression
	// rejects: the condition stands above an outer join that may extend the
	// table's rows with NULLs. Then skipping rows is right only where the condition is
	// not true for NULLs: the NULL row that appears instead of a skipped row is dropped, too.
	rejects bool
}

// pushdown puts filters, limits and counts into the tables of one plan. The
// nodes above stay as they are: what is pushed only lets tables skip.
type pushdown struct {
	ctx   *sql.Context
	zone  *time.Location
	build sql.NodeExecBuilder
	// count allows to answer COUNT(*) from metadata.
	count bool
	// shared are columns that more than one table of the plan has (a node used twice).
	shared sql.ColSet
}

func newPushdown(ctx *sql.Context, root sql.Node, build sql.NodeExecBuilder, count bool) *pushdown {
	p := &pushdown{ctx: ctx, zone: SessionZone(ctx), build: build, count: count}
	var seen sql.ColSet
	inspectTables(root, func(rt *plan.ResolvedTable) {
		cols := rt.Columns()
		p.shared.UnionWith(seen.Intersection(cols))
		seen.UnionWith(cols)
	})
	return p
}

func inspectTables(n sql.Node, f func(*plan.ResolvedTable)) {
	if rt, ok := n.(*plan.ResolvedTable); ok {
		f(rt)
	}
	for _, c := range n.Children() {
		inspectTables(c, f)
	}
}

// visit rewrites n; conds hold for (or are about) the rows that n gives.
func (p *pushdown) visit(n sql.Node, conds []condition) (sql.Node, error) {
	switch n := n.(type) {
	case *plan.ResolvedTable:
		return p.table(n, conds)
	case *plan.Filter:
		return p.children(n, conjuncts(conds, n.Expression))
	case *plan.TableAlias, *plan.Project, *plan.Sort, *plan.Distinct:
		return p.children(n, conds)
	case *plan.Limit:
		out, err := p.children(n, nil)
		if err != nil {
			return nil, err
		}
		return p.limit(out.(*plan.Limit))
	case *plan.GroupBy:
		out, err := p.children(n, nil)
		if err != nil {
			return nil, err
		}
		return p.countStar(out.(*plan.GroupBy))
	case *plan.JoinNode:
		return p.join(n, conds)
	}
	return p.children(n, nil)
}

func (p *pushdown) children(n sql.Node, conds []condition) (sql.Node, error) {
	old := n.Children()
	if len(old) == 0 {
		return n, nil
	}
	changed := false
	kids := make([]sql.Node, len(old))
	for i, c := range old {
		k, err := p.visit(c, conds)
		if err != nil {
			return nil, err
		}
		kids[i] = k
		changed = changed || !sameNode(k, c)
	}
	if !changed {
		return n, nil
	}
	return n.WithChildren(kids...)
}

// conjuncts appends the conjuncts of e.
func conjuncts(conds []condition, e sql.Expression) []condition {
	out := conds[:len(conds):len(conds)]
	for _, c := range expression.SplitConjunction(e) {
		out = append(out, condition{expr: c})
	}
	return out
}

func rejecting(conds []condition) []condition {
	out := make([]condition, len(conds))
	for i, c := range conds {
		out[i] = condition{expr: c.expr, rejects: true}
	}
	return out
}

func (p *pushdown) join(n *plan.JoinNode, conds []condition) (sql.Node, error) {
	var on []condition
	if n.Filter != nil {
		on = conjuncts(nil, n.Filter)
	}
	var left, right []condition
	switch {
	case n.Op.IsPartial() || n.Op.IsAnti():
		left = conds
	case n.Op.IsSemi():
		left, right = append(conds[:len(conds):len(conds)], on...), on
	case n.Op.IsFullOuter():
		left, right = rejecting(conds), rejecting(conds)
	case n.Op.IsLeftOuter():
		left, right = conds, append(rejecting(conds), on...)
	case n.Op.IsRightOuter():
		left, right = append(rejecting(conds), on...), conds
	case n.Op.IsInner() || n.Op.IsCross():
		both := append(conds[:len(conds):len(conds)], on...)
		left, right = both, both
	}
	l, err := p.visit(n.Left(), left)
	if err != nil {
		return nil, err
	}
	r, err := p.visit(n.Right(), right)
	if err != nil || sameNode(l, n.Left()) && sameNode(r, n.Right()) {
		return n, err
	}
	return n.WithChildren(l, r)
}

// tableOf returns our table under a resolved table.
func tableOf(rt *plan.ResolvedTable) (*Table, bool) {
	t, ok := sql.GetUnderlyingTable(rt.Table).(*Table)
	return t, ok
}

// table pushes the conditions that concern rt alone.
func (p *pushdown) table(rt *plan.ResolvedTable, conds []condition) (sql.Node, error) {
	t, ok := tableOf(rt)
	if !ok || len(conds) == 0 || t.filter != nil {
		return rt, nil
	}
	cols := rt.Columns()
	if cols.Intersects(p.shared) {
		return rt, nil
	}
	b := PredicateBuilder{Column: t.comparable(t.columnFinder(cols)), Fields: t.fields, Zone: p.zone}
	var parts []predicate.Predicate
	none, exact := false, true
	for _, c := range conds {
		q, e, ok := b.Build(p.ctx, c.expr)
		if ok && c.rejects && acceptsNulls(q, t.fields) {
			ok = false
		}
		if !ok {
			exact = false
			continue
		}
		exact = exact && e && !c.rejects
		none = none || isNever(q)
		parts = append(parts, q)
	}
	q := predicate.NewAnd(parts...)
	if none {
		q = never()
	}
	if q == nil {
		return rt, nil
	}
	return rt.WithTable(t.withFilter(q, exact))
}

// acceptsNulls reports whether p is true for a row of NULLs.
func acceptsNulls(p predicate.Predicate, fields []schema.Field) bool {
	return predicate.Matches(p, func(i int) column.Scalar { return column.NullScalar(schema.KindOf(fields[i].Type)) })
}

// columnFinder finds a table's field by the binder's column id and, to be sure, its name.
func (t *Table) columnFinder(cols sql.ColSet) func(*expression.GetField) (int, bool) {
	return func(g *expression.GetField) (int, bool) {
		if !cols.Contains(g.Id()) {
			return 0, false
		}
		return t.fieldNamed(g.Name())
	}
}

// comparable leaves out columns whose texts are not compared by their bytes.
func (t *Table) comparable(find func(*expression.GetField) (int, bool)) func(*expression.GetField) (int, bool) {
	v, ok := t.rel.(*virtualRelation)
	if !ok {
		return find
	}
	return func(g *expression.GetField) (int, bool) {
		f, ok := find(g)
		return f, ok && !v.caseless(f)
	}
}

// fieldNamed finds a field by name: the exact one, else the only one that differs in case.
func (t *Table) fieldNamed(name string) (int, bool) {
	found, n := 0, 0
	for i := range t.fields {
		if t.fields[i].Name == name {
			return i, true
		}
		if strings.EqualFold(t.fields[i].Name, name) {
			found = i
			n++
		}
	}
	return found, n == 1
}

// scanBelow returns the table scan under projections and aliases only.
func scanBelow(n sql.Node) (*plan.ResolvedTable, bool) {
	for {
		switch x := n.(type) {
		case *plan.ResolvedTable:
			_, ok := tableOf(x)
			return x, ok
		case *plan.TableAlias:
			n = x.Child
		case *plan.Project:
			n = x.Child
		default:
			return nil, false
		}
	}
}

// constantCount evaluates a LIMIT or OFFSET; ok is false for what is not a plain number.
func constantCount(e sql.Expression) (int64, bool) {
	l, ok := e.(*expression.Literal)
	if !ok {
		return 0, false
	}
	v, _, err := gms.Int64.Convert(sql.NewEmptyContext(), l.Value())
	n, isInt := v.(int64)
	return n, err == nil && isInt && n >= 0
}

// limit tells a table without filters how many rows are wanted.
func (p *pushdown) limit(n *plan.Limit) (sql.Node, error) {
	want, ok := constantCount(n.Limit)
	if !ok || n.CalcFoundRows || want == 0 {
		return n, nil
	}
	child := n.Child
	if o, isOffset := child.(*plan.Offset); isOffset {
		skip, ok := constantCount(o.Offset)
		if !ok || want+skip < want {
			return n, nil
		}
		want += skip
		child = o.Child
	}
	rt, ok := scanBelow(child)
	if !ok {
		return n, nil
	}
	out, err := replaceTable(n, rt, func(t *Table) *Table { return t.withLimit(want) })
	return out, err
}

// replaceTable rewrites the table of node rt below n.
func replaceTable(n sql.Node, rt *plan.ResolvedTable, f func(*Table) *Table) (sql.Node, error) {
	if sameNode(n, rt) {
		t, _ := tableOf(rt)
		return rt.WithTable(f(t))
	}
	kids := n.Children()
	out := make([]sql.Node, len(kids))
	for i, k := range kids {
		c, err := replaceTable(k, rt, f)
		if err != nil {
			return nil, err
		}
		out[i] = c
	}
	if len(out) == 0 {
		return n, nil
	}
	return n.WithChildren(out...)
}

// countStar replaces SELECT COUNT(*) FROM t [WHERE …] where the table can count by itself.
func (p *pushdown) countStar(n *plan.GroupBy) (sql.Node, error) {
	if !p.count || len(n.GroupByExprs) != 0 || len(n.SelectedExprs) != 1 || !isCountStar(n.SelectedExprs[0]) {
		return n, nil
	}
	child := n.Child
	f, filtered := child.(*plan.Filter)
	if filtered {
		child = f.Child
	}
	rt, ok := scanBelow(child)
	if !ok {
		return n, nil
	}
	t, _ := tableOf(rt)
	node := &countNode{table: t, sch: n.Schema(), build: p.build}
	if filtered {
		if t.filter == nil || !t.filterExact {
			return n, nil
		}
		node.slow = n
	}
	return node, nil
}

// isCountStar recognises COUNT(*) and COUNT of a constant that is not NULL.
func isCountStar(e sql.Expression) bool {
	if a, ok := e.(*expression.Alias); ok {
		e = a.Child
	}
	c, ok := e.(*aggregation.Count)
	if !ok {
		return false
	}
	switch x := c.Child.(type) {
	case *expression.Star:
		return true
	case *expression.Literal:
		return x.Value() != nil
	}
	return false
}

// streamScan turns a plan that is a table scan with plain columns, an offset and a limit into
// a ScanNode; other plans are returned as they are.
func streamScan(root sql.Node) sql.Node {
	switch n := root.(type) {
	case *insertNode, *changeNode, *createSelect: // the query that gives the rows
		child := n.Children()[0]
		if s := streamScan(child); !sameNode(s, child) {
			if out, err := n.WithChildren(s); err == nil {
				return out
			}
		}
		return root
	}
	n := root
	limit, offset := int64(-1), int64(0)
	if l, ok := n.(*plan.Limit); ok {
		if limit, ok = constantCount(l.Limit); !ok || l.CalcFoundRows {
			return root
		}
		n = l.Child
	}
	if o, ok := n.(*plan.Offset); ok {
		if offset, ok = constantCount(o.Offset); !ok {
			return root
		}
		n = o.Child
	}
	sch := root.Schema()
	var exprs []sql.Expression
	if pr, ok := n.(*plan.Project); ok {
		exprs = pr.Projections
		n = pr.Child
	}
	if a, ok := n.(*plan.TableAlias); ok {
		n = a.Child
	}
	rt, ok := n.(*plan.ResolvedTable)
	if !ok {
		return root
	}
	t, ok := tableOf(rt)
	if !ok {
		return root
	}
	fields := t.columns()
	if exprs != nil {
		find := t.columnFinder(rt.Columns())
		fields = make([]int, 0, len(exprs))
		for _, e := range exprs {
			if a, ok := e.(*expression.Alias); ok {
				e = a.Child
			}
			g, ok := e.(*expression.GetField)
			if !ok {
				return root
			}
			f, ok := find(g)
			if !ok {
				return root
			}
			fields = append(fields, f)
		}
	}
	s := newScanNode(t, fields, sch)
	s.limit, s.offset = limit, offset
	return s
}
