package planner

import (
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// maxLookupRows bounds the rows that the index of a subquery keeps; a
// greater input is read again for every outer row.
const maxLookupRows = 10_000_000

// LookupNode is a filter in a subquery that runs once for every outer row. Where what is below the filter does not depend
// on the outer row, it is read once for all runs.
type LookupNode struct {
	filter *plan.Filter
	index  *lookupIndex
}

// lookupIndex is what all runs of a LookupNode share.
type lookupIndex struct {
	mu    *sync.Mutex
	ready bool
	// plain: there is no index, the filter runs as it is.
	plain bool
	// width is the number of columns of the outer row.
	width int
	keys  []joinKey
	rest  []sql.Expression
	rows  []sql.Row
	table map[string][]int32
}

var (
	_ sql.Projector          = (*LookupNode)(nil)
	_ sql.CollationCoercible = (*LookupNode)(nil)
	_ Replacement            = (*LookupNode)(nil)
)

// Replaced implements Replacement.
func (n *LookupNode) Replaced() sql.Node { return n.filter }

// Schema implements sql.Node.
func (n *LookupNode) Schema() sql.Schema { return n.filter.Schema() }

// Resolved implements sql.Node.
func (n *LookupNode) Resolved() bool { return true }

// IsReadOnly implements sql.Node.
func (n *LookupNode) IsReadOnly() bool { return true }

// Children implements sql.Node: what is below is run by the node itself.
func (n *LookupNode) Children() []sql.Node { return nil }

// ProjectedExprs implements sql.Projector, which makes go-mysql-server put the outer row before the node's rows.
func (n *LookupNode) ProjectedExprs() []sql.Expression { return nil }

// WithChildren implements sql.Node.
func (n *LookupNode) WithChildren(c ...sql.Node) (sql.Node, error) {
	if len(c) != 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(c), 0)
	}
	return n, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (n *LookupNode) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 7
}

// String implements sql.Node.
func (n *LookupNode) String() string {
	p := sql.NewTreePrinter()
	_ = p.WriteNode("Lookup(%s)", n.filter.Expression)
	_ = p.WriteChildren(n.filter.Child.String())
	return p.String()
}

// runLookup gives the rows of n for an outer row, which is put before them.
func (b *execBuilder) runLookup(ctx *sql.Context, n *LookupNode, outer sql.Row) (sql.RowIter, error) {
	x := n.index
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.ready || x.width != len(outer) {
		*x = lookupIndex{mu: x.mu, ready: true, width: len(outer), table: map[string][]int32{}}
		x.plain = !x.analyze(ctx, n.filter)
		if !x.plain {
			if err := x.fill(ctx, b.base, n.filter, outer); err != nil {
				x.ready = false
				return nil, err
			}
		}
	}
	if x.plain {
		return buildPrefixed(ctx, b.base, n.filter, outer)
	}
	candidates, err := x.find(ctx, outer)
	if err != nil {
		return nil, err
	}
	return &lookupRows{index: x, outer: outer, candidates: candidates}, nil
}

// buildPrefixed runs a node of a subquery; the outer row comes before its rows.
func buildPrefixed(ctx *sql.Context, b sql.NodeExecBuilder, n sql.Node, outer sql.Row) (sql.RowIter, error) {
	q, _, err := transform.Node(n, plan.PrependRowInPlan(outer, false))
	if err != nil {
		return nil, err
	}
	return b.Build(ctx, q, outer)
}

// outerUse says what of rows with an outer row before them an expression reads.
type outerUse struct {
	outer, inner, opaque bool
}

func (x *lookupIndex) use(e sql.Expression) outerUse {
	var u outerUse
	sql.Inspect(e, func(e sql.Expression) bool {
		switch e := e.(type) {
		case *expression.GetField:
			if e.Index() < x.width {
				u.outer = true
			} else {
				u.inner = true
			}
		case *plan.Subquery:
			u.opaque = u.opaque || !e.CanCacheResults()
		case sql.ExpressionWithNodes, *expression.UserVar:
			u.opaque = true
		case sql.NonDeterministicExpression:
			u.opaque = u.opaque || e.IsNonDeterministic()
		case sql.FunctionExpression:
			u.opaque = u.opaque || volatileFunctions[e.FunctionName()]
		}
		return true
	})
	return u
}

// analyze splits the filter; false where what is below it may give other rows for another outer row.
func (x *lookupIndex) analyze(ctx *sql.Context, f *plan.Filter) bool {
	fixed := true
	transform.Inspect(f.Child, func(n sql.Node) bool {
		switch n := n.(type) {
		case *LookupNode:
			fixed = false
		case *plan.SubqueryAlias:
			fixed = fixed && !n.OuterScopeVisibility && !n.IsLateral
		case sql.Expressioner:
			for _, e := range n.Expressions() {
				u := x.use(e)
				fixed = fixed && !u.outer && !u.opaque
			}
		}
		return fixed
	})
	if !fixed {
		return false
	}
	for _, e := range expression.SplitConjunction(f.Expression) {
		if k, ok := x.keyOf(ctx, e); ok {
			x.keys = append(x.keys, k)
		} else {
			x.rest = append(x.rest, e)
		}
	}
	return true
}

// keyOf finds an equality of the outer row (left) and the inner one (right).
func (x *lookupIndex) keyOf(ctx *sql.Context, e sql.Expression) (joinKey, bool) {
	k, ok := equalityKey(ctx, e)
	if !ok {
		return k, false
	}
	l, r := x.use(k.left), x.use(k.right)
	if l.inner && r.outer {
		k.left, k.right = k.right, k.left
		l, r = r, l
	}
	return k, l == outerUse{outer: true} && r == outerUse{inner: true}
}

// fill reads what is below the filter, without the rows that fail conditions on the inner row alone.
func (x *lookupIndex) fill(ctx *sql.Context, b sql.NodeExecBuilder, f *plan.Filter, outer sql.Row) (err error) {
	var local []sql.Expression
	x.rest = slices.DeleteFunc(x.rest, func(e sql.Expression) bool {
		u := x.use(e)
		if u.outer || u.opaque {
			return false
		}
		local = append(local, e)
		return true
	})
	it, err := buildPrefixed(ctx, b, f.Child, outer)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close(ctx)) }()
	var key []byte
	for steps := 1; ; steps++ {
		row, err := it.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if steps%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if ok, err := allTrue(ctx, local, row); err != nil || !ok {
			if err != nil {
				return err
			}
			continue
		}
		k, ok, err := x.key(ctx, key[:0], row, false)
		if err != nil {
			return err
		}
		key = k
		if !ok {
			continue
		}
		if len(x.rows) == maxLookupRows {
			x.rows, x.table, x.plain = nil, nil, true
			return nil
		}
		x.table[string(k)] = append(x.table[string(k)], int32(len(x.rows)))
		x.rows = append(x.rows, slices.Clone(row[x.width:]))
	}
}

// key appends the key of an outer row or of an inner one (with the outer row before it); ok is
// false where a NULL is equal to nothing.
func (x *lookupIndex) key(ctx *sql.Context, dst []byte, row sql.Row, outer bool) (key []byte, ok bool, err error) {
	for _, k := range x.keys {
		e := k.right
		if outer {
			e = k.left
		}
		v, err := evalPlain(ctx, e, row)
		if err != nil {
			return dst, false, err
		}
		if v == nil {
			if !k.nullSafe {
				return dst, false, nil
			}
			dst = append(dst, 'n')
			continue
		}
		if dst, ok = appendKey(append(dst, 'v'), k.class, v); !ok {
			return dst, false, sql.ErrInvalidType.New(v)
		}
	}
	return dst, true, nil
}

func (x *lookupIndex) find(ctx *sql.Context, outer sql.Row) ([]int32, error) {
	var buf [64]byte
	k, ok, err := x.key(ctx, buf[:0], outer, true)
	if err != nil || !ok {
		return nil, err
	}
	return x.table[string(k)], nil
}

func allTrue(ctx *sql.Context, conds []sql.Expression, row sql.Row) (bool, error) {
	for _, e := range conds {
		v, err := sql.EvaluateCondition(ctx, e, row)
		if err != nil || !sql.IsTrue(v) {
			return false, err
		}
	}
	return true, nil
}

// lookupRows gives the candidates that pass the rest of the filter.
type lookupRows struct {
	index      *lookupIndex
	outer      sql.Row
	candidates []int32
	steps      int
}

// Next implements sql.RowIter.
func (r *lookupRows) Next(ctx *sql.Context) (sql.Row, error) {
	for len(r.candidates) > 0 {
		if r.steps++; r.steps%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		inner := r.index.rows[r.candidates[0]]
		r.candidates = r.candidates[1:]
		row := make(sql.Row, 0, len(r.outer)+len(inner))
		row = append(append(row, r.outer...), inner...)
		if ok, err := allTrue(ctx, r.index.rest, row); err != nil {
			return nil, err
		} else if ok {
			return row, nil
		}
	}
	return nil, io.EOF
}

// Close implements sql.RowIter.
func (r *lookupRows) Close(*sql.Context) error { return nil }
