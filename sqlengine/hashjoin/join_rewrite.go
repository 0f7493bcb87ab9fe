package hashjoin

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// Rewrite replaces the joins of an analysed plan whose field indexes are
// final. Conditions of a Filter above an inner join become the join's, and
// those of one side are moved below it.
func Rewrite(n sql.Node, b sql.NodeExecBuilder) (sql.Node, transform.TreeIdentity, error) {
	return rewrite(n, b)
}

func rewrite(n sql.Node, b sql.NodeExecBuilder) (sql.Node, transform.TreeIdentity, error) {
	switch n := n.(type) {
	case *Join:
		return n, transform.SameTree, nil
	case *plan.Filter:
		if j, ok := n.Child.(*plan.JoinNode); ok && replaceable(j) && isInner(j.Op) && movable(n.Expression) {
			conds := append(conjuncts(n.Expression), conjuncts(j.Filter)...)
			out, err := build(j, conds, b)
			return out, transform.NewTree, err
		}
	case *plan.JoinNode:
		if replaceable(n) {
			out, err := build(n, conjuncts(n.Filter), b)
			return out, transform.NewTree, err
		}
	case *plan.SubqueryAlias:
		child, same, err := rewrite(n.Child, b)
		if err != nil || same == transform.SameTree {
			return n, transform.SameTree, err
		}
		return n.WithChild(child), transform.NewTree, nil
	}
	children := n.Children()
	if len(children) == 0 {
		return n, transform.SameTree, nil
	}
	next := make([]sql.Node, len(children))
	changed := transform.SameTree
	for i, c := range children {
		x, same, err := rewrite(c, b)
		if err != nil {
			return nil, transform.SameTree, err
		}
		next[i] = x
		if same == transform.NewTree {
			changed = transform.NewTree
		}
	}
	if changed == transform.SameTree {
		return n, transform.SameTree, nil
	}
	out, err := n.WithChildren(next...)
	return out, transform.NewTree, err
}

func isInner(op plan.JoinType) bool {
	return op == plan.JoinTypeInner || op == plan.JoinTypeCross
}

func replaceable(j *plan.JoinNode) bool {
	return j.ScopeLen == 0 && (isInner(j.Op) || j.Op == plan.JoinTypeLeftOuter)
}

// movable reports whether an expression may be evaluated at another place of
// the plan: no subquery, whose own indexes count the rows around it.
func movable(e sql.Expression) bool {
	ok := true
	sql.Inspect(e, func(x sql.Expression) bool {
		switch x.(type) {
		case *plan.Subquery, *plan.InSubquery, *plan.ExistsSubquery:
			ok = false
		}
		return ok
	})
	return ok
}

// conjuncts splits a condition at its ANDs; nil and TRUE give none.
func conjuncts(e sql.Expression) []sql.Expression {
	switch x := e.(type) {
	case nil:
		return nil
	case *expression.And:
		return append(conjuncts(x.LeftChild), conjuncts(x.RightChild)...)
	case *expression.Literal:
		if v, ok := x.Value().(bool); ok && v {
			return nil
		}
	}
	return []sql.Expression{e}
}

// side tells which sides of a join an expression looks at: bit 0 left, bit 1 right.
func side(e sql.Expression, left int) int {
	s := 0
	sql.Inspect(e, func(x sql.Expression) bool {
		if f, ok := x.(*expression.GetField); ok {
			if f.Index() < left {
				s |= 1
			} else {
				s |= 2
			}
		}
		return true
	})
	return s
}

// shift moves the field indexes of an expression by -n.
func shift(e sql.Expression, n int) (sql.Expression, error) {
	out, _, err := transform.Expr(e, func(x sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		if f, ok := x.(*expression.GetField); ok {
			return f.WithIndex(f.Index() - n), transform.NewTree, nil
		}
		return x, transform.SameTree, nil
	})
	return out, err
}

func withFilter(n sql.Node, conds []sql.Expression) sql.Node {
	if len(conds) == 0 {
		return n
	}
	return plan.NewFilter(expression.JoinAnd(conds...), n)
}

// build makes the node of a join with the conditions.
func build(j *plan.JoinNode, conds []sql.Expression, b sql.NodeExecBuilder) (sql.Node, error) {
	left := len(j.Left().Schema())
	inner := isInner(j.Op)
	out := &Join{outer: !inner, builder: b}
	var toLeft, toRight, rest []sql.Expression
	for _, c := range conds {
		if !movable(c) {
			rest = append(rest, c)
			continue
		}
		switch side(c, left) {
		case 1:
			if inner {
				toLeft = append(toLeft, c)
				continue
			}
		case 2:
			// A condition on the right side of an outer join decides which rows match,
			// not which rows there are: it may go below as well.
			m, err := shift(c, left)
			if err != nil {
				return nil, err
			}
			toRight = append(toRight, m)
			continue
		case 3:
			if k, ok, err := keyOf(c, left); err != nil {
				return nil, err
			} else if ok {
				out.keys = append(out.keys, k)
			}
		}
		rest = append(rest, c)
	}
	var err error
	if out.left, _, err = rewrite(withFilter(j.Left(), toLeft), b); err != nil {
		return nil, err
	}
	if out.right, _, err = rewrite(withFilter(j.Right(), toRight), b); err != nil {
		return nil, err
	}
	out.cond = expression.JoinAnd(rest...)
	return out, nil
}

// key is an equality between the sides.
type key struct {
	left, right sql.Expression
	family      family
}

// family says how values that may be equal are brought to equal hashes.
type family uint8

const (
	numbers family = iota + 1
	strings
	times
)

// keyOf takes an equality apart, where its sides' types hash alike.
func keyOf(e sql.Expression, left int) (key, bool, error) {
	eq, ok := e.(*expression.Equals)
	if !ok {
		return key{}, false, nil
	}
	l, r := eq.Left(), eq.Right()
	if side(l, left) == 2 {
		l, r = r, l
	}
	if side(l, left) != 1 || side(r, left) != 2 {
		return key{}, false, nil
	}
	f := familyOf(l.Type())
	if f == 0 || f != familyOf(r.Type()) {
		return key{}, false, nil
	}
	r, err := shift(r, left)
	return key{left: l, right: r, family: f}, err == nil, err
}

func familyOf(t sql.Type) family {
	switch {
	case types.IsInteger(t), types.IsDecimal(t), types.IsFloat(t):
		return numbers
	case types.IsText(t):
		if s, ok := t.(sql.StringType); ok && binaryCollation(s.Collation()) {
			return strings
		}
	case types.IsTime(t):
		return times
	}
	return 0
}

func binaryCollation(c sql.CollationID) bool {
	return c == sql.Collation_utf8mb4_0900_bin || c == sql.Collation_utf8mb4_bin || c == sql.Collation_binary
}
