package planner

import (
	"context"
	"errors"
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/predicate"
)

// maxJoinRows bounds the rows that a join keeps in memory.
const maxJoinRows = 50_000_000

// checkEvery is the number of rows after which a loop looks at its context.
const checkEvery = 1024

// execBuilder runs nodes that go-mysql-server's executor runs wrongly or slowly; it returns nil for
// all others.
type execBuilder struct {
	base   sql.NodeExecBuilder
	engine *Engine
}

// Build implements sql.NodeExecBuilder.
func (b *execBuilder) Build(ctx *sql.Context, n sql.Node, row sql.Row) (sql.RowIter, error) {
	switch n := n.(type) {
	case *plan.JoinNode:
		if joinable(n) {
			return newJoinRows(ctx, b.base, n, row)
		}
	case *plan.PrependNode:
		if l, ok := n.Child.(*LookupNode); ok {
			return b.runLookup(ctx, l, n.Row)
		}
	case *LookupNode:
		return b.base.Build(ctx, n.filter, row)
	case *plan.Window:
		return newWindowRows(ctx, b.base, n, row)
	case *plan.DescribeQuery:
		return b.explain(ctx, n)
	}
	return nil, nil
}

// explain is EXPLAIN in the forms that go-mysql-server knows.
func (b *execBuilder) explain(ctx *sql.Context, n *plan.DescribeQuery) (sql.RowIter, error) {
	if n.Format.Analyze {
		if _, _, err := b.engine.runPlan(ctx, n.Child); err != nil {
			return nil, err
		}
	}
	if n.Format.Plan {
		return sql.RowsToRowIter(explainTree(ctx, n.Child, n.Format)...), nil
	}
	return sql.RowsToRowIter(explainTable(ctx, n.Child)...), nil
}

// joinable reports whether the right side does not depend on the left one and the kind of join is one of ours.
func joinable(j *plan.JoinNode) bool {
	switch j.Op {
	case plan.JoinTypeInner, plan.JoinTypeCross, plan.JoinTypeLeftOuter, plan.JoinTypeFullOuter:
		return true
	}
	return false
}

// joinKey is a pair of expressions that must be equal, one of each side.
type joinKey struct {
	left, right sql.Expression
	class       compareClass
	nullSafe    bool
}

// joinRows joins by a hash table of the right side's rows; rows without
// keys in the condition share one bucket. Rows come in the order of the left side.
type joinRows struct {
	join  *plan.JoinNode
	outer sql.Row
	// scope is the number of columns of outer that stay in the result.
	scope                 int
	leftWidth, rightWidth int
	keepLeft, keepRight   bool
	keys                  []joinKey
	// rest are the conjuncts that are not keys.
	rest []sql.Expression

	left    sql.RowIter
	rows    []sql.Row
	matched []bool
	table   map[string][]int32
	all     []int32
	// current left row, its candidates and the next of them.
	row        sql.Row
	found      bool
	candidates []int32
	next       int
	leftDone   bool
	unmatched  int
	key        []byte
	steps      int
}

// hasKeys reports whether values of the class have keys, see appendKey.
func (c compareClass) hasKeys() bool {
	switch c {
	case classInteger, classExact, classDouble, classBytes, classPadded, classMoment, classTimeOfDay:
		return true
	}
	return false
}

func newJoinRows(ctx *sql.Context, b sql.NodeExecBuilder, j *plan.JoinNode, outer sql.Row) (sql.RowIter, error) {
	it := &joinRows{
		join: j, outer: outer, scope: j.ScopeLen, leftWidth: len(j.Left().Schema()), rightWidth: len(j.Right().Schema()),
		keepLeft:  j.Op == plan.JoinTypeLeftOuter || j.Op == plan.JoinTypeFullOuter,
		keepRight: j.Op == plan.JoinTypeFullOuter,
	}
	it.findKeys(ctx)
	if err := it.readRight(ctx, b); err != nil {
		return nil, err
	}
	if len(it.rows) == 0 && !it.keepLeft {
		return sql.RowsToRowIter(), nil
	}
	left, err := b.Build(ctx, j.Left(), outer)
	if err != nil {
		return nil, err
	}
	it.left = left
	return it, nil
}

// side says which sides an expression reads: 1 left, 2 right, 3 both; 4 is what cannot be told.
func (j *joinRows) side(e sql.Expression) int {
	s := 0
	base := len(j.outer)
	sql.Inspect(e, func(x sql.Expression) bool {
		switch x := x.(type) {
		case *expression.GetField:
			switch i := x.Index(); {
			case i < base:
			case i < base+j.leftWidth:
				s |= 1
			default:
				s |= 2
			}
		case sql.ExpressionWithNodes:
			s |= 4
		case sql.NonDeterministicExpression:
			if x.IsNonDeterministic() {
				s |= 4
			}
		}
		return true
	})
	return s
}

func (j *joinRows) findKeys(ctx *sql.Context) {
	if j.join.Filter == nil {
		return
	}
	for _, e := range expression.SplitConjunction(j.join.Filter) {
		if k, ok := j.keyOf(ctx, e); ok {
			j.keys = append(j.keys, k)
			continue
		}
		j.rest = append(j.rest, e)
	}
}

// equalityKey makes a key of an equality whose values can be hashed.
func equalityKey(ctx *sql.Context, e sql.Expression) (joinKey, bool) {
	c, ok := e.(*Comparison)
	if !ok {
		if c, ok = newComparison(ctx, e).(*Comparison); !ok {
			return joinKey{}, false
		}
	}
	if c.op != predicate.Eq || !c.class.hasKeys() {
		return joinKey{}, false
	}
	return joinKey{left: c.LeftChild, right: c.RightChild, class: c.class, nullSafe: c.nullSafe}, true
}

func (j *joinRows) keyOf(ctx *sql.Context, e sql.Expression) (joinKey, bool) {
	k, ok := equalityKey(ctx, e)
	if !ok {
		return k, false
	}
	ls, rs := j.side(k.left), j.side(k.right)
	if ls == 2 && rs == 1 {
		k.left, k.right = k.right, k.left
		return k, true
	}
	return k, ls == 1 && rs == 2
}

// readRight fills the hash table.
func (j *joinRows) readRight(ctx *sql.Context, b sql.NodeExecBuilder) error {
	// The right side's expressions see the outer row and the left row before their own; none reads the left row.
	prefix := make(sql.Row, len(j.outer)+j.leftWidth)
	copy(prefix, j.outer)
	right, err := b.Build(ctx, j.join.Right(), prefix)
	if err != nil {
		return err
	}
	err = j.fill(ctx, right, prefix)
	return errors.Join(err, right.Close(ctx))
}

func (j *joinRows) fill(ctx *sql.Context, right sql.RowIter, prefix sql.Row) error {
	j.table = map[string][]int32{}
	row := make(sql.Row, len(prefix)+j.rightWidth)
	copy(row, prefix)
	for {
		r, err := right.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if len(j.rows) >= maxJoinRows {
			return errs.Limitf("a join would keep more than %d rows in memory; put the greater table first, or filter the other one", maxJoinRows)
		}
		if err := j.check(ctx); err != nil {
			return err
		}
		i := int32(len(j.rows))
		j.rows = append(j.rows, r)
		if len(j.keys) == 0 {
			j.all = append(j.all, i)
			continue
		}
		copy(row[len(prefix):], r)
		ok, err := j.makeKey(ctx, row, false)
		if err != nil {
			return err
		}
		if ok {
			j.table[string(j.key)] = append(j.table[string(j.key)], i)
		}
	}
	if j.keepRight {
		j.matched = make([]bool, len(j.rows))
	}
	return nil
}

// makeKey puts the key of a row into j.key; false where a NULL prevents any match.
func (j *joinRows) makeKey(ctx *sql.Context, row sql.Row, left bool) (bool, error) {
	j.key = j.key[:0]
	for _, k := range j.keys {
		e := k.right
		if left {
			e = k.left
		}
		v, err := evalPlain(ctx, e, row)
		if err != nil {
			return false, err
		}
		if v == nil {
			if !k.nullSafe {
				return false, nil
			}
			j.key = append(j.key, 'n')
			continue
		}
		var ok bool
		if j.key, ok = appendKey(append(j.key, 'v'), k.class, v); !ok {
			return false, errs.Invalidf("join condition %s: a value of type %T cannot be compared", j.join.Filter, v)
		}
	}
	return true, nil
}

func (j *joinRows) check(ctx context.Context) error {
	j.steps++
	if j.steps%checkEvery == 0 {
		return ctx.Err()
	}
	return nil
}

// Next implements sql.RowIter.
func (j *joinRows) Next(ctx *sql.Context) (sql.Row, error) {
	for !j.leftDone {
		if j.row == nil {
			if err := j.nextLeft(ctx); err != nil {
				return nil, err
			}
			continue
		}
		for j.next < len(j.candidates) {
			i := j.candidates[j.next]
			j.next++
			if err := j.check(ctx); err != nil {
				return nil, err
			}
			row := j.combine(j.row, j.rows[i])
			ok, err := j.passes(ctx, row)
			if err != nil {
				return nil, err
			}
			if ok {
				j.found = true
				if j.matched != nil {
					j.matched[i] = true
				}
				return j.result(row), nil
			}
		}
		row, found := j.row, j.found
		j.row = nil
		if !found && j.keepLeft {
			return j.result(j.combine(row, nil)), nil
		}
	}
	for ; j.keepRight && j.unmatched < len(j.rows); j.unmatched++ {
		if !j.matched[j.unmatched] {
			row := j.combine(nil, j.rows[j.unmatched])
			j.unmatched++
			return j.result(row), nil
		}
	}
	return nil, io.EOF
}

func (j *joinRows) nextLeft(ctx *sql.Context) error {
	r, err := j.left.Next(ctx)
	if errors.Is(err, io.EOF) {
		j.leftDone = true
		return nil
	}
	if err != nil {
		return err
	}
	j.row, j.found, j.next, j.candidates = r, false, 0, j.all
	if len(j.keys) == 0 {
		return nil
	}
	ok, err := j.makeKey(ctx, j.combine(r, nil), true)
	if err != nil {
		return err
	}
	j.candidates = nil
	if ok {
		j.candidates = j.table[string(j.key)]
	}
	return nil
}

// combine makes the row that conditions see: outer row, left row, right row; nil sides are NULLs.
func (j *joinRows) combine(left, right sql.Row) sql.Row {
	row := make(sql.Row, len(j.outer)+j.leftWidth+j.rightWidth)
	copy(row, j.outer)
	copy(row[len(j.outer):], left)
	copy(row[len(j.outer)+j.leftWidth:], right)
	return row
}

func (j *joinRows) passes(ctx *sql.Context, row sql.Row) (bool, error) {
	return allTrue(ctx, j.rest, row)
}

// result takes from the outer row what does not belong to the result.
func (j *joinRows) result(row sql.Row) sql.Row {
	if len(j.outer) == j.scope {
		return row
	}
	copy(row[j.scope:], row[len(j.outer):])
	return row[:len(row)-len(j.outer)+j.scope]
}

// Close implements sql.RowIter.
func (j *joinRows) Close(ctx *sql.Context) error {
	j.rows, j.table, j.all = nil, nil, nil
	if j.left == nil {
		return nil
	}
	return j.left.Close(ctx)
}
