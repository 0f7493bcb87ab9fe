package planner

import (
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/types"

	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
)

// PredicateBuilder turns SQL conditions into predicates of one relation.
//
// The rule: a row for which the SQL condition is true is never excluded by the
// predicate. Where the predicate also excludes every other row it is exact.
type PredicateBuilder struct {
	// Column finds the field that an expression names; ok is false where it is
	// not a column of the relation.
	Column func(*expression.GetField) (field int, ok bool)
	// Fields are the relation's fields.
	Fields []schema.Field
	// Zone is the session's zone, for TIMESTAMP_LTZ literals.
	Zone *time.Location

	ctx *sql.Context
}

// never is true for no row.
func never() predicate.Predicate { return &predicate.Or{} }

func isNever(p predicate.Predicate) bool {
	o, ok := p.(*predicate.Or)
	return ok && len(o.Children) == 0
}

// Build converts a condition. ok is false where nothing can be said; then every
// row may match. exact says that the predicate is true for the same rows as the condition.
func (b *PredicateBuilder) Build(ctx *sql.Context, e sql.Expression) (p predicate.Predicate, exact, ok bool) {
	b.ctx = ctx
	return b.cond(e, false)
}

// cond converts e, or NOT e where neg. Unknown counts as false in both.
func (b *PredicateBuilder) cond(e sql.Expression, neg bool) (predicate.Predicate, bool, bool) {
	if rows := expandRows(e); rows != nil {
		e = rows
	}
	switch e := e.(type) {
	case *expression.And:
		return b.logic(e.LeftChild, e.RightChild, neg, !neg)
	case *expression.Or:
		return b.logic(e.LeftChild, e.RightChild, neg, neg)
	case *expression.Not:
		return b.cond(e.Child, !neg)
	case *expression.IsNull:
		f, ok := b.field(e.Child)
		if !ok {
			return nil, false, false
		}
		if neg {
			return &predicate.Leaf{Op: predicate.IsNotNull, Column: f}, true, true
		}
		return &predicate.Leaf{Op: predicate.IsNull, Column: f}, true, true
	case *expression.Equals:
		return b.compare(e.LeftChild, e.RightChild, predicate.Eq, neg)
	case *expression.LessThan:
		return b.compare(e.LeftChild, e.RightChild, predicate.Lt, neg)
	case *expression.LessThanOrEqual:
		return b.compare(e.LeftChild, e.RightChild, predicate.Le, neg)
	case *expression.GreaterThan:
		return b.compare(e.LeftChild, e.RightChild, predicate.Gt, neg)
	case *expression.GreaterThanOrEqual:
		return b.compare(e.LeftChild, e.RightChild, predicate.Ge, neg)
	case *expression.NullSafeEquals:
		return b.nullSafe(e.LeftChild, e.RightChild, neg)
	case *expression.Between:
		return b.between(e, neg)
	case *expression.InTuple:
		return b.inList(e.LeftChild, e.RightChild, neg)
	case *expression.HashInTuple:
		return b.inList(e.Left(), e.Right(), neg)
	case *expression.Like:
		return b.like(e, neg)
	case *expression.GetField:
		return b.truth(e, neg)
	}
	if v, ok := b.constant(e); ok {
		return b.constantTruth(v, neg)
	}
	return nil, false, false
}

// logic joins two conditions by AND (and) or OR, negated already where neg.
func (b *PredicateBuilder) logic(l, r sql.Expression, neg, and bool) (predicate.Predicate, bool, bool) {
	lp, le, lok := b.cond(l, neg)
	rp, re, rok := b.cond(r, neg)
	if !and {
		if !lok || !rok {
			return nil, false, false
		}
		return newOr(lp, rp), le && re, true
	}
	switch {
	case lok && rok:
		if isNever(lp) || isNever(rp) {
			return never(), isNever(lp) && le || isNever(rp) && re, true
		}
		return predicate.NewAnd(lp, rp), le && re, true
	case lok:
		return lp, false, true
	case rok:
		return rp, false, true
	}
	return nil, false, false
}

// newOr joins by OR; nil is true.
func newOr(ps ...predicate.Predicate) predicate.Predicate {
	out := &predicate.Or{}
	for _, p := range ps {
		switch p := p.(type) {
		case nil:
			return nil
		case *predicate.Or:
			out.Children = append(out.Children, p.Children...)
		default:
			out.Children = append(out.Children, p)
		}
	}
	if len(out.Children) == 1 {
		return out.Children[0]
	}
	return out
}

// constantTruth is a condition without columns.
func (b *PredicateBuilder) constantTruth(v any, neg bool) (predicate.Predicate, bool, bool) {
	if v == nil {
		return never(), true, true
	}
	t, err := sql.ConvertToBool(b.ctx, v)
	if err != nil {
		return nil, false, false
	}
	if t != neg {
		return nil, true, true
	}
	return never(), true, true
}

// truth is a bare column as a condition: true where it is not zero.
func (b *PredicateBuilder) truth(e *expression.GetField, neg bool) (predicate.Predicate, bool, bool) {
	f, ok := b.field(e)
	if !ok {
		return nil, false, false
	}
	switch b.Fields[f].Type.Root {
	case schema.Boolean, schema.TinyInt, schema.SmallInt, schema.Int, schema.BigInt:
		op := predicate.Ne
		if neg {
			op = predicate.Eq
		}
		return b.leaf(f, op, literal{value: int64(0)})
	}
	return nil, false, false
}

func (b *PredicateBuilder) field(e sql.Expression) (int, bool) {
	if g, ok := e.(*expression.GetField); ok {
		return b.Column(g)
	}
	return 0, false
}

// literal is the value of an expression without columns.
type literal struct {
	value any
	typ   sql.Type
}

// lit evaluates an expression without columns.
func (b *PredicateBuilder) lit(e sql.Expression) (literal, bool) {
	v, ok := b.constant(e)
	return literal{value: v, typ: e.Type()}, ok
}

// volatileFunctions give another value at each call, or do something.
var volatileFunctions = map[string]bool{
	"rand": true, "uuid": true, "uuid_short": true, "sleep": true, "random_bytes": true, "benchmark": true, "get_lock": true,
	"release_lock": true, "release_all_locks": true, "is_free_lock": true, "is_used_lock": true, "load_file": true, "row_count": true,
	"found_rows": true, "last_insert_id": true, "sysdate": true, "values": true,
}

// constant evaluates e where it depends on nothing but the statement.
func (b *PredicateBuilder) constant(e sql.Expression) (any, bool) {
	if !e.Resolved() {
		return nil, false
	}
	fixed := true
	sql.Inspect(e, func(x sql.Expression) bool {
		switch x := x.(type) {
		case nil:
			return false
		case *expression.Literal, *expression.Convert, *expression.UnaryMinus, *expression.Arithmetic, *expression.Interval, *expression.SystemVar, *expression.Alias:
		case sql.FunctionExpression:
			if volatileFunctions[x.FunctionName()] {
				fixed = false
			}
			if nd, ok := x.(sql.NonDeterministicExpression); ok && nd.IsNonDeterministic() {
				fixed = false
			}
			if _, ok := x.(sql.Aggregation); ok {
				fixed = false
			}
		default:
			fixed = false
		}
		return fixed
	})
	if !fixed {
		return nil, false
	}
	v, err := e.Eval(b.ctx, nil)
	if err != nil {
		return nil, false
	}
	v, err = sql.UnwrapAny(b.ctx, v)
	return v, err == nil
}

var negated = map[predicate.Op]predicate.Op{
	predicate.Eq: predicate.Ne, predicate.Ne: predicate.Eq, predicate.Lt: predicate.Ge, predicate.Ge: predicate.Lt,
	predicate.Gt: predicate.Le, predicate.Le: predicate.Gt,
}

// mirrored exchanges the sides: 5 < c is c > 5.
var mirrored = map[predicate.Op]predicate.Op{
	predicate.Eq: predicate.Eq, predicate.Ne: predicate.Ne, predicate.Lt: predicate.Gt, predicate.Gt: predicate.Lt,
	predicate.Le: predicate.Ge, predicate.Ge: predicate.Le,
}

func (b *PredicateBuilder) compare(l, r sql.Expression, op predicate.Op, neg bool) (predicate.Predicate, bool, bool) {
	if neg {
		op = negated[op]
	}
	f, ok := b.field(l)
	other := r
	if !ok {
		if f, ok = b.field(r); !ok {
			return nil, false, false
		}
		other, op = l, mirrored[op]
	}
	v, ok := b.lit(other)
	if !ok {
		return nil, false, false
	}
	return b.leaf(f, op, v)
}

// leaf converts column op literal.
func (b *PredicateBuilder) leaf(f int, op predicate.Op, v literal) (predicate.Predicate, bool, bool) {
	if v.value == nil {
		return never(), true, true // a comparison with NULL is never true
	}
	return compareLiteral(f, b.Fields[f].Type, op, v, b.Zone)
}

func (b *PredicateBuilder) nullSafe(l, r sql.Expression, neg bool) (predicate.Predicate, bool, bool) {
	f, ok := b.field(l)
	other := r
	if !ok {
		if f, ok = b.field(r); !ok {
			return nil, false, false
		}
		other = l
	}
	v, ok := b.lit(other)
	if !ok {
		return nil, false, false
	}
	null := &predicate.Leaf{Op: predicate.IsNull, Column: f}
	if v.value == nil {
		if neg {
			null.Op = predicate.IsNotNull
		}
		return null, true, true
	}
	if !neg {
		return b.leaf(f, predicate.Eq, v)
	}
	p, exact, ok := b.leaf(f, predicate.Ne, v)
	if !ok {
		return nil, false, false
	}
	return newOr(null, p), exact, true
}

func (b *PredicateBuilder) between(e *expression.Between, neg bool) (predicate.Predicate, bool, bool) {
	f, ok := b.field(e.Val)
	if !ok {
		return nil, false, false
	}
	lo, lok := b.lit(e.Lower)
	hi, hok := b.lit(e.Upper)
	if !lok || !hok {
		return nil, false, false
	}
	if neg {
		lp, le, lok := b.leaf(f, predicate.Lt, lo)
		hp, he, hok := b.leaf(f, predicate.Gt, hi)
		if !lok || !hok {
			return nil, false, false
		}
		return newOr(lp, hp), le && he, true
	}
	lp, le, lok := b.leaf(f, predicate.Ge, lo)
	hp, he, hok := b.leaf(f, predicate.Le, hi)
	switch {
	case lok && hok:
		if isNever(lp) || isNever(hp) {
			return never(), le && he, true
		}
		return predicate.NewAnd(lp, hp), le && he, true
	case lok:
		return lp, false, true
	case hok:
		return hp, false, true
	}
	return nil, false, false
}

func (b *PredicateBuilder) inList(l, r sql.Expression, neg bool) (predicate.Predicate, bool, bool) {
	if rows := expandRowList(l, r); rows != nil {
		return b.cond(rows, neg)
	}
	return b.in(l, r, neg)
}

func (b *PredicateBuilder) in(l, r sql.Expression, neg bool) (predicate.Predicate, bool, bool) {
	f, ok := b.field(l)
	list, isTuple := r.(expression.Tuple)
	if !ok || !isTuple {
		return nil, false, false
	}
	in := &predicate.Leaf{Op: predicate.In, Column: f}
	var others []predicate.Predicate
	exact := true
	for _, e := range list {
		v, ok := b.lit(e)
		if ok && v.value == nil {
			if neg {
				return never(), true, true // x NOT IN (…, NULL) is never true
			}
			continue
		}
		var p predicate.Predicate
		e := false
		if ok {
			op := predicate.Eq
			if neg {
				op = predicate.Ne
			}
			p, e, ok = b.leaf(f, op, v)
		}
		if !ok {
			if !neg {
				return nil, false, false
			}
			exact = false // the rest of the list still excludes its values
			continue
		}
		exact = exact && e
		leaf, isLeaf := p.(*predicate.Leaf)
		switch {
		case !neg && isNever(p):
		case isLeaf && (leaf.Op == predicate.Eq || leaf.Op == predicate.In || leaf.Op == predicate.Ne || leaf.Op == predicate.NotIn):
			in.Literals = append(in.Literals, leaf.Literals...)
		case p != nil:
			others = append(others, p)
		}
	}
	if neg {
		in.Op = predicate.NotIn
		if len(in.Literals) > 0 {
			others = append(others, in)
		}
		return predicate.NewAnd(others...), exact, true
	}
	if len(in.Literals) > 0 {
		others = append(others, in)
	}
	return newOr(others...), exact, true
}

// like converts LIKE with a constant pattern on a string column, by what
// the pattern says before its first and after its last wildcard.
func (b *PredicateBuilder) like(e *expression.Like, neg bool) (predicate.Predicate, bool, bool) {
	f, ok := b.field(e.LeftChild)
	if !ok || e.Escape != nil {
		return nil, false, false
	}
	if r := b.Fields[f].Type.Root; r != schema.Char && r != schema.Varchar {
		return nil, false, false
	}
	v, ok := b.lit(e.RightChild)
	if !ok {
		return nil, false, false
	}
	if v.value == nil {
		return never(), true, true
	}
	pattern, ok := v.value.(string)
	if !ok || gms.IsBinaryType(v.typ) {
		return nil, false, false
	}
	return likePredicate(f, pattern, neg)
}
