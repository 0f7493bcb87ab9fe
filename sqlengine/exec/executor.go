package exec

import (
	"reflect"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	gms "github.com/dolthub/go-mysql-server/sql/types"

	"github.com/tributarydb/tributary/sqlengine/planner"
)

// Variable is the session variable that turns the vector executor off (0) and on (1, the default).
const Variable = "tributary_vectorized"

// DefaultMemory is the memory that the groups of one query may take where Options say nothing.
const DefaultMemory = 4 << 30

// Options make an Executor.
type Options struct {
	// Memory bounds the memory of one query's groups, in bytes; 0 is DefaultMemory.
	Memory int64
}

// Executor takes parts of plans over. Use Replace as planner.Options.Replace, and Bind once the engine exists.
type Executor struct {
	memory  int64
	builder sql.NodeExecBuilder
}

var defineOnce sync.Once

// New makes an executor.
func New(o Options) *Executor {
	defineOnce.Do(func() {
		sql.SystemVariables.AddSystemVariables([]sql.SystemVariable{&sql.MysqlSystemVariable{
			Name: Variable, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: true, SetVarHintApplies: true,
			Type: gms.NewSystemBoolType(Variable), Default: int8(1),
		}})
	})
	if o.Memory <= 0 {
		o.Memory = DefaultMemory
	}
	return &Executor{memory: o.Memory}
}

// Bind gives the executor the engine's row executor, which answers where a part must be given back.
func (x *Executor) Bind(e *planner.Engine) { x.builder = e.Analyzer.ExecBuilder }

// build runs replaced nodes as rows.
func (x *Executor) build(ctx *sql.Context, n sql.Node, row sql.Row) (sql.RowIter, error) {
	n, err := planner.Repaired(ctx, n)
	if err != nil {
		return nil, err
	}
	return x.builder.Build(ctx, n, row)
}

// enabled reads the session variable.
func enabled(ctx *sql.Context) bool {
	v, err := ctx.GetSessionVariable(ctx, Variable)
	if err != nil {
		return true
	}
	on, ok := v.(int8)
	return !ok || on != 0
}

// Replace takes over what it can of a statement's plan: the greatest parts that can be translated.
func (x *Executor) Replace(ctx *sql.Context, n sql.Node) (out sql.Node, err error) {
	if !enabled(ctx) || x.builder == nil || !reads(n) {
		return n, nil
	}
	v := &visitor{exec: x, ctx: ctx}
	return v.visit(n)
}

// reads reports whether a plan only reads.
func reads(n sql.Node) bool {
	switch n.(type) {
	case *plan.InsertInto, *plan.Update, *plan.DeleteFrom, *plan.Into, *plan.CreateTable, *plan.CreateView, *plan.TriggerExecutor:
		return false
	}
	for _, c := range n.Children() {
		if !reads(c) {
			return false
		}
	}
	return true
}

// visitor replaces parts of one plan.
type visitor struct {
	exec *Executor
	ctx  *sql.Context
	// inner is the plan of a subquery expression.
	inner bool
}

func (v *visitor) visit(n sql.Node) (sql.Node, error) {
	switch n := n.(type) {
	case *rowsNode, *batchNode, *plan.ResolvedTable, *plan.TableAlias:
		return n, nil
	case *plan.JoinNode:
		if n.Op.IsLateral() || n.Op.IsLookup() {
			return n, nil
		}
	}
	if out := v.translate(n); out != nil {
		return out, nil
	}
	if s, ok := n.(*plan.SubqueryAlias); ok {
		if s.IsLateral || s.OuterScopeVisibility || !s.Correlated.Empty() {
			return n, nil
		}
		child, err := v.visit(s.Child)
		if err != nil || sameNode(child, s.Child) {
			return n, err
		}
		return s.WithChild(child), nil
	}
	n, err := v.subqueries(n)
	if err != nil {
		return nil, err
	}
	old := n.Children()
	kids := make([]sql.Node, len(old))
	changed := false
	for i, c := range old {
		k, err := v.visit(c)
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

// subqueries visits the subquery expressions of one node that run once a statement; others would start anew for every row.
func (v *visitor) subqueries(n sql.Node) (sql.Node, error) {
	out, _, err := transform.OneNodeExprsWithNode(n, func(_ sql.Node, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		s, ok := e.(*plan.Subquery)
		if !ok || !s.Correlated().Empty() || !s.CanCacheResults() {
			return e, transform.SameTree, nil
		}
		in := visitor{exec: v.exec, ctx: v.ctx, inner: true}
		q, err := in.visit(s.Query)
		if err != nil || sameNode(q, s.Query) {
			return e, transform.SameTree, err
		}
		return s.WithQuery(q), transform.NewTree, nil
	})
	return out, err
}

// sameNode compares nodes by identity; nodes that are not comparable are never the same.
func sameNode(a, b sql.Node) bool {
	t := reflect.TypeOf(a)
	return t == reflect.TypeOf(b) && t != nil && t.Comparable() && a == b
}

// translate makes a node of ours of n and everything below; nil where that is not possible or brings nothing.
func (v *visitor) translate(n sql.Node) (out sql.Node) {
	switch n.(type) {
	case *plan.Filter, *plan.Having, *plan.Project, *plan.GroupBy, *plan.Distinct, *plan.Limit, *plan.Sort, *plan.TopN:
	default:
		if _, ok := planner.CountPlan(n); !ok {
			return nil
		}
	}
	c := &compiler{ctx: v.ctx, inner: v.inner}
	p := c.compile(n)
	if p == nil || p.plain() {
		return nil
	}
	sch := n.Schema()
	if len(sch) != len(p.outs) || len(sch) == 0 {
		return nil
	}
	p.finish(p.outs)
	wide := p.wide()
	if wide && p.agg == nil {
		return nil
	}
	node := rowsNode{exec: v.exec, pipe: p, orig: n, wide: wide, sch: make(sql.Schema, len(sch))}
	for i, col := range sch {
		s := *col
		s.Type = sqlTypeOf(p.outs[i], col.Type)
		node.sch[i] = &s
	}
	if wide {
		return &node
	}
	return &batchNode{node}
}

// plain reports whether the pipe is a scan of columns, which the planner streams itself.
func (p *pipe) plain() bool {
	if p.agg != nil || len(p.filters) > 0 || len(p.order) > 0 {
		return false
	}
	for _, e := range p.outs {
		if _, ok := e.(*columnExpr); !ok {
			return false
		}
	}
	return true
}
