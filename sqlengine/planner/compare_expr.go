package planner

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/types"

	"github.com/tributarydb/tributary/storage/predicate"
)

func appendInt(dst []byte, i int64) []byte {
	return binary.LittleEndian.AppendUint64(append(dst, 'i'), uint64(i))
}

func appendDouble(dst []byte, f float64) []byte {
	if f == 0 {
		f = 0 // -0 is equal to 0
	}
	if f != f {
		f = math.NaN()
	}
	return binary.LittleEndian.AppendUint64(append(dst, 'f'), math.Float64bits(f))
}

func appendText(dst []byte, s string) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s)))
	return append(dst, s...)
}

// Comparison is a comparison in MySQL's way, in the place of go-mysql-server's,
// which rounds doubles to decimals and decodes every character of a text.
type Comparison struct {
	expression.BinaryExpressionStub
	op       predicate.Op
	nullSafe bool
	class    compareClass
	// orig answers for values that do not belong to the class.
	orig sql.Expression
}

var (
	_ sql.Expression         = (*Comparison)(nil)
	_ sql.CollationCoercible = (*Comparison)(nil)
)

// newComparison replaces a comparison of go-mysql-server; nil where ours has nothing better.
func newComparison(ctx *sql.Context, e sql.Expression) sql.Expression {
	c := &Comparison{orig: e}
	switch e := e.(type) {
	case *expression.Equals:
		c.op, c.LeftChild, c.RightChild = predicate.Eq, e.LeftChild, e.RightChild
	case *expression.NullSafeEquals:
		c.op, c.LeftChild, c.RightChild, c.nullSafe = predicate.Eq, e.LeftChild, e.RightChild, true
	case *expression.LessThan:
		c.op, c.LeftChild, c.RightChild = predicate.Lt, e.LeftChild, e.RightChild
	case *expression.LessThanOrEqual:
		c.op, c.LeftChild, c.RightChild = predicate.Le, e.LeftChild, e.RightChild
	case *expression.GreaterThan:
		c.op, c.LeftChild, c.RightChild = predicate.Gt, e.LeftChild, e.RightChild
	case *expression.GreaterThanOrEqual:
		c.op, c.LeftChild, c.RightChild = predicate.Ge, e.LeftChild, e.RightChild
	default:
		return nil
	}
	c.LeftChild, c.RightChild = momentLiterals(c.LeftChild, c.RightChild)
	c.class = classOf(ctx, c.LeftChild, c.RightChild)
	if c.class == classOther {
		return nil
	}
	return c
}

// momentLiterals reads a literal that is compared with a date or a time once, not for every row.
func momentLiterals(l, r sql.Expression) (sql.Expression, sql.Expression) {
	return bytesNumber(readMoment(l, r), r), bytesNumber(readMoment(r, l), l)
}

func readMoment(e, other sql.Expression) sql.Expression {
	lit, ok := e.(*expression.Literal)
	if !ok {
		return e
	}
	if n, ok := asInt64(lit.Value()); ok && kindOfType(lit.Type()) == kindInteger && kindOfType(other.Type()) == kindMoment {
		if t, ok := numberMoment(n); ok {
			return expression.NewLiteral(t, gms.DatetimeMaxPrecision)
		}
		return e
	}
	text, ok := lit.Value().(string)
	if !ok || kindOfType(lit.Type()) != kindText {
		return e
	}
	switch kindOfType(other.Type()) {
	case kindMoment:
		if m, ok := literalMicros(literal{value: text}); ok {
			return expression.NewLiteral(time.UnixMicro(m).UTC(), gms.DatetimeMaxPrecision)
		}
	case kindTimeOfDay:
		if m, ok := parseTimeText(text); ok {
			return expression.NewLiteral(gms.Timespan(m), gms.Time)
		}
	}
	return e
}

// Type implements sql.Expression.
func (c *Comparison) Type() sql.Type { return gms.Boolean }

// IsNullable implements sql.Expression.
func (c *Comparison) IsNullable() bool {
	return !c.nullSafe && c.BinaryExpressionStub.IsNullable()
}

// CollationCoercibility implements sql.CollationCoercible.
func (c *Comparison) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// String implements sql.Expression.
func (c *Comparison) String() string { return c.orig.String() }

// WithChildren implements sql.Expression.
func (c *Comparison) WithChildren(kids ...sql.Expression) (sql.Expression, error) {
	if len(kids) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(c, len(kids), 2)
	}
	o, err := c.orig.WithChildren(kids...)
	if err != nil {
		return nil, err
	}
	n := *c
	n.LeftChild, n.RightChild, n.orig = kids[0], kids[1], o
	return &n, nil
}

// Eval implements sql.Expression.
func (c *Comparison) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	l, err := evalPlain(ctx, c.LeftChild, row)
	if err != nil || l == nil && !c.nullSafe {
		return nil, err
	}
	r, err := evalPlain(ctx, c.RightChild, row)
	if err != nil {
		return nil, err
	}
	if l == nil || r == nil {
		if c.nullSafe {
			return l == nil && r == nil, nil
		}
		return nil, nil
	}
	x, ok := compareValues(c.class, l, r)
	if !ok {
		return c.orig.Eval(ctx, row)
	}
	return c.op.Holds(x), nil
}

func evalPlain(ctx *sql.Context, e sql.Expression, row sql.Row) (any, error) {
	v, err := e.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	return sql.UnwrapAny(ctx, v)
}

// InList is IN with a list of expressions. Each element is compared as MySQL compares
// its type with the left side's; constants are found by their keys.
type InList struct {
	left sql.Expression
	list []sql.Expression
	// classes of the elements.
	classes []compareClass
	orig    sql.Expression
	// sets hold the keys of constant elements by class; rest are the elements to compare one by one.
	sets    map[compareClass]map[string]struct{}
	rest    []int
	hasNull bool
}

var (
	_ sql.Expression         = (*InList)(nil)
	_ sql.CollationCoercible = (*InList)(nil)
)

// newInList replaces IN; nil where an element cannot be compared by us.
func newInList(ctx *sql.Context, left, right, orig sql.Expression) sql.Expression {
	list, ok := right.(expression.Tuple)
	if !ok || gms.NumColumns(left.Type()) != 1 {
		return nil
	}
	list = slices.Clone(list)
	n := &InList{left: left, list: list, orig: orig, sets: map[compareClass]map[string]struct{}{}}
	for i, e := range list {
		if gms.IsNull(e) {
			n.hasNull = true
			n.classes = append(n.classes, classOther)
			continue
		}
		e = readMoment(e, left)
		list[i] = e
		c := classOf(ctx, left, e)
		if c == classOther {
			return nil
		}
		n.classes = append(n.classes, c)
		if l, ok := e.(*expression.Literal); ok && n.addKey(c, l.Value()) {
			continue
		}
		n.rest = append(n.rest, i)
	}
	return n
}

func (n *InList) addKey(c compareClass, v any) bool {
	if v == nil {
		n.hasNull = true
		return true
	}
	k, ok := appendKey(nil, c, v)
	if !ok {
		return false
	}
	if n.sets[c] == nil {
		n.sets[c] = map[string]struct{}{}
	}
	n.sets[c][string(k)] = struct{}{}
	return true
}

// Children implements sql.Expression.
func (n *InList) Children() []sql.Expression {
	return append([]sql.Expression{n.left}, n.list...)
}

// WithChildren implements sql.Expression.
func (n *InList) WithChildren(kids ...sql.Expression) (sql.Expression, error) {
	if len(kids) != 1+len(n.list) {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(kids), 1+len(n.list))
	}
	o, err := n.orig.WithChildren(kids[0], expression.NewTuple(kids[1:]...))
	if err != nil {
		return nil, err
	}
	c := *n
	c.left, c.list, c.orig = kids[0], kids[1:], o
	return &c, nil
}

// Resolved implements sql.Expression.
func (n *InList) Resolved() bool { return expression.ExpressionsResolved(n.Children()...) }

// Type implements sql.Expression.
func (n *InList) Type() sql.Type { return gms.Boolean }

// IsNullable implements sql.Expression.
func (n *InList) IsNullable() bool { return true }

// CollationCoercibility implements sql.CollationCoercible.
func (n *InList) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// String implements sql.Expression.
func (n *InList) String() string { return fmt.Sprint(n.orig) }

// Eval implements sql.Expression.
func (n *InList) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	l, err := evalPlain(ctx, n.left, row)
	if err != nil || l == nil {
		return nil, err
	}
	var buf [32]byte
	for class, set := range n.sets {
		k, ok := appendKey(buf[:0], class, l)
		if !ok {
			return n.orig.Eval(ctx, row)
		}
		if _, found := set[string(k)]; found {
			return true, nil
		}
	}
	null := n.hasNull
	for _, i := range n.rest {
		r, err := evalPlain(ctx, n.list[i], row)
		if err != nil {
			return nil, err
		}
		if r == nil {
			null = true
			continue
		}
		c, ok := compareValues(n.classes[i], l, r)
		if !ok {
			return n.orig.Eval(ctx, row)
		}
		if c == 0 {
			return true, nil
		}
	}
	if null {
		return nil, nil
	}
	return false, nil
}
