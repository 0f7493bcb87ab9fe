package planner

import (
	"slices"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	gms "github.com/dolthub/go-mysql-server/sql/types"
)

// rowMatcher compares rows of values column by column, in MySQL's way.
type rowMatcher struct {
	classes []compareClass
	// equals compares columns of classOther: fields 0 and 1 of a row.
	equals []sql.Expression
	// keyable: all columns have keys.
	keyable bool
}

func newRowMatcher(ctx *sql.Context, left, right []sql.Expression) *rowMatcher {
	m := &rowMatcher{keyable: true}
	for i, l := range left {
		c := classOf(ctx, l, right[i])
		m.classes = append(m.classes, c)
		var eq sql.Expression
		m.keyable = m.keyable && c.hasKeys()
		if c == classOther {
			eq = expression.NewEquals(
				expression.NewGetField(0, l.Type(), "left", true), expression.NewGetField(1, right[i].Type(), "right", true))
		}
		m.equals = append(m.equals, eq)
	}
	return m
}

// equal is what l = r is: true, false or unknown (nil).
func (m *rowMatcher) equal(ctx *sql.Context, l, r []any) (any, error) {
	var out any = true
	for i, class := range m.classes {
		if l[i] == nil || r[i] == nil {
			out = nil
			continue
		}
		if class != classOther {
			if c, ok := compareValues(class, l[i], r[i]); ok {
				if c != 0 {
					return false, nil
				}
				continue
			}
		}
		eq := m.equals[i]
		if eq == nil {
			return nil, sql.ErrInvalidType.New(r[i])
		}
		v, err := eq.Eval(ctx, sql.NewRow(l[i], r[i]))
		if err != nil {
			return nil, err
		}
		if v == nil {
			out = nil
		} else if !sql.IsTrue(v) {
			return false, nil
		}
	}
	return out, nil
}

// key appends the key of a row; ok is false where a value has none. NULLs have a key of their own.
func (m *rowMatcher) key(dst []byte, row []any) (key []byte, null, ok bool) {
	for i, class := range m.classes {
		if row[i] == nil {
			null = true
			dst = append(dst, 'n')
			continue
		}
		if dst, ok = appendKey(append(dst, 'v'), class, row[i]); !ok {
			return dst, false, false
		}
	}
	return dst, null, true
}

// rowSet is a set of rows that one row is looked up in.
type rowSet struct {
	*rowMatcher
	// keys are those of rows without NULLs.
	keys map[string]struct{}
	// slow are rows that must be compared one by one: those with NULLs, and all rows where a column has no keys.
	slow [][]any
	// rows are all distinct rows; kept where the left side may have NULLs in some of several columns.
	rows  [][]any
	empty bool
}

func newRowSet(m *rowMatcher, rows [][]any) *rowSet {
	s := &rowSet{rowMatcher: m, keys: map[string]struct{}{}, empty: len(rows) == 0}
	if !m.keyable {
		s.slow, s.rows = rows, rows
		return s
	}
	nulls := map[string]struct{}{}
	var buf []byte
	for _, r := range rows {
		k, null, ok := m.key(buf[:0], r)
		buf = k
		set := s.keys
		switch {
		case !ok:
			s.slow = append(s.slow, r)
			s.rows = append(s.rows, r)
			continue
		case null:
			set = nulls
		}
		if _, seen := set[string(k)]; seen {
			continue
		}
		set[string(k)] = struct{}{}
		if null {
			s.slow = append(s.slow, r)
		}
		if len(m.classes) > 1 {
			s.rows = append(s.rows, r)
		}
	}
	return s
}

// contains is what `left IN (rows)` is: true, false or unknown (nil).
func (s *rowSet) contains(ctx *sql.Context, left []any) (any, error) {
	if s.empty {
		return false, nil
	}
	list := s.slow
	if slices.Contains(left, nil) {
		if len(left) == 1 {
			return nil, nil
		}
		list = s.rows
	} else if s.keyable {
		var buf [64]byte
		k, _, ok := s.key(buf[:0], left)
		if !ok {
			return nil, sql.ErrInvalidType.New(left)
		}
		if _, found := s.keys[string(k)]; found {
			return true, nil
		}
	}
	var out any = false
	for _, r := range list {
		v, err := s.equal(ctx, left, r)
		if err != nil || v == true {
			return v, err
		}
		if v == nil {
			out = nil
		}
	}
	return out, nil
}

// InRows is IN with a subquery, or with a list of constant rows.
type InRows struct {
	left sql.Expression
	// query gives the rows looked up; nil for a list.
	query *plan.Subquery
	list  []sql.Expression
	orig  sql.Expression
	match *rowMatcher

	// set are the rows of a list, or those of a query that does not depend on the outer row.
	mu  *sync.Mutex
	set *rowSet
}

var (
	_ sql.Expression         = (*InRows)(nil)
	_ sql.CollationCoercible = (*InRows)(nil)
	_ sql.Disposable         = (*InRows)(nil)
)

// columnsOfRow returns the columns of an expression that is a row, or the expression itself.
func columnsOfRow(e sql.Expression) []sql.Expression {
	if t, ok := e.(expression.Tuple); ok && len(t) > 1 {
		return t
	}
	t, ok := e.Type().(gms.TupleType)
	if !ok {
		return []sql.Expression{e}
	}
	out := make([]sql.Expression, len(t))
	for i, c := range t {
		out[i] = expression.NewGetField(i, c, "column", true)
	}
	return out
}

// newInSubquery replaces IN with a subquery; nil where the columns do not fit.
func newInSubquery(ctx *sql.Context, e *plan.InSubquery) sql.Expression {
	q, ok := e.RightChild.(*plan.Subquery)
	if !ok {
		return nil
	}
	left, right := columnsOfRow(e.LeftChild), columnsOfRow(q)
	if len(left) != len(right) {
		return nil
	}
	return &InRows{left: e.LeftChild, query: q, orig: e, match: newRowMatcher(ctx, left, right), mu: &sync.Mutex{}}
}

// newInRowList replaces IN with a list of rows; nil where it is none or the columns do not fit.
func newInRowList(ctx *sql.Context, left, right, orig sql.Expression) sql.Expression {
	list, ok := right.(expression.Tuple)
	if !ok || len(columnsOfRow(left)) == 1 {
		return nil
	}
	if n := newInConstantRows(ctx, left, list, orig); n != nil {
		return n
	}
	return repairRows(ctx, expandRowList(left, right))
}

// newInConstantRows is IN with rows of literals whose columns are compared in the same way in all rows.
func newInConstantRows(ctx *sql.Context, left sql.Expression, list []sql.Expression, orig sql.Expression) sql.Expression {
	cols := columnsOfRow(left)
	var m *rowMatcher
	var rows [][]any
	for _, e := range list {
		t, ok := e.(expression.Tuple)
		if !ok || len(t) != len(cols) {
			return nil
		}
		right := make([]sql.Expression, len(t))
		row := make([]any, len(t))
		for i, c := range t {
			right[i] = readMoment(c, cols[i])
			l, ok := right[i].(*expression.Literal)
			if !ok || l.Value() == nil {
				return nil
			}
			row[i] = l.Value()
		}
		next := newRowMatcher(ctx, cols, right)
		if !next.keyable || m != nil && !slices.Equal(m.classes, next.classes) {
			return nil
		}
		m = next
		rows = append(rows, row)
	}
	if m == nil {
		return nil
	}
	return &InRows{left: left, list: list, orig: orig, match: m, set: newRowSet(m, rows)}
}

// Children implements sql.Expression.
func (n *InRows) Children() []sql.Expression {
	if n.query != nil {
		return []sql.Expression{n.left, n.query}
	}
	return append([]sql.Expression{n.left}, n.list...)
}

// WithChildren implements sql.Expression.
func (n *InRows) WithChildren(kids ...sql.Expression) (sql.Expression, error) {
	if len(kids) != len(n.Children()) {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(kids), len(n.Children()))
	}
	c := *n
	c.left = kids[0]
	right := kids[1]
	if n.query == nil {
		right, c.list = expression.NewTuple(kids[1:]...), kids[1:]
	} else {
		q, ok := right.(*plan.Subquery)
		if !ok {
			return nil, expression.ErrUnsupportedInOperand.New(right)
		}
		c.query, c.set, c.mu = q, nil, &sync.Mutex{}
	}
	var err error
	c.orig, err = n.orig.WithChildren(kids[0], right)
	return &c, err
}

// Resolved implements sql.Expression.
func (n *InRows) Resolved() bool { return expression.ExpressionsResolved(n.Children()...) }

// Type implements sql.Expression.
func (n *InRows) Type() sql.Type { return gms.Boolean }

// IsNullable implements sql.Expression.
func (n *InRows) IsNullable() bool { return true }

// CollationCoercibility implements sql.CollationCoercible.
func (n *InRows) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// String implements sql.Expression.
func (n *InRows) String() string { return n.orig.String() }

// Dispose implements sql.Disposable.
func (n *InRows) Dispose() {
	if n.query != nil {
		n.query.Dispose()
	}
}

// Eval implements sql.Expression.
func (n *InRows) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := evalPlain(ctx, n.left, row)
	if err != nil {
		return nil, err
	}
	left, err := rowValues(ctx, v, len(n.match.classes))
	if err != nil {
		return nil, err
	}
	set, err := n.rows(ctx, row)
	if err != nil {
		return nil, err
	}
	return set.contains(ctx, left)
}

// rowValues are the values of a row of n columns; a subquery without a row is a row of NULLs.
func rowValues(ctx *sql.Context, v any, n int) ([]any, error) {
	if n == 1 {
		return []any{v}, nil
	}
	if v == nil {
		return make([]any, n), nil
	}
	in, ok := v.([]any)
	if !ok || len(in) != n {
		return nil, sql.ErrInvalidType.New(v)
	}
	out := make([]any, n)
	for i := range in {
		var err error
		if out[i], err = sql.UnwrapAny(ctx, in[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (n *InRows) rows(ctx *sql.Context, row sql.Row) (*rowSet, error) {
	if n.query == nil {
		return n.set, nil
	}
	if !n.query.CanCacheResults() {
		return n.read(ctx, row)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.set == nil {
		s, err := n.read(ctx, row)
		if err != nil {
			return nil, err
		}
		n.set = s
	}
	return n.set, nil
}

func (n *InRows) read(ctx *sql.Context, row sql.Row) (*rowSet, error) {
	values, err := n.query.EvalMultiple(ctx, row)
	if err != nil {
		return nil, err
	}
	rows := make([][]any, len(values))
	for i, v := range values {
		if v, err = sql.UnwrapAny(ctx, v); err != nil {
			return nil, err
		}
		if rows[i], err = rowValues(ctx, v, len(n.match.classes)); err != nil {
			return nil, err
		}
	}
	return newRowSet(n.match, rows), nil
}

// expandRows makes comparisons of columns of a comparison of rows; nil for anything else.
func expandRows(e sql.Expression) sql.Expression {
	b, ok := e.(expression.BinaryExpression)
	if !ok {
		return nil
	}
	l, lok := b.Left().(expression.Tuple)
	r, rok := b.Right().(expression.Tuple)
	if !lok || !rok || len(l) != len(r) || len(l) < 2 {
		return nil
	}
	each := func(compare func(l, r sql.Expression) sql.Expression) []sql.Expression {
		out := make([]sql.Expression, len(l))
		for i := range l {
			out[i] = compare(l[i], r[i])
			if rows := expandRows(out[i]); rows != nil {
				out[i] = rows
			}
		}
		return out
	}
	equals := func(l, r sql.Expression) sql.Expression { return expression.NewEquals(l, r) }
	less := func(l, r sql.Expression) sql.Expression { return expression.NewLessThan(l, r) }
	greater := func(l, r sql.Expression) sql.Expression { return expression.NewGreaterThan(l, r) }
	last, before := less, less
	switch e.(type) {
	case *expression.Equals:
		return expression.JoinAnd(each(equals)...)
	case *expression.NullSafeEquals:
		return expression.JoinAnd(each(func(l, r sql.Expression) sql.Expression { return expression.NewNullSafeEquals(l, r) })...)
	case *expression.LessThan:
	case *expression.GreaterThan:
		last, before = greater, greater
	case *expression.LessThanOrEqual:
		last = func(l, r sql.Expression) sql.Expression { return expression.NewLessThanOrEqual(l, r) }
	case *expression.GreaterThanOrEqual:
		last, before = func(l, r sql.Expression) sql.Expression { return expression.NewGreaterThanOrEqual(l, r) }, greater
	default:
		return nil
	}
	eqs, befores := each(equals), each(before)
	out := each(last)[len(l)-1]
	for i := len(l) - 2; i >= 0; i-- {
		out = expression.NewOr(befores[i], expression.NewAnd(eqs[i], out))
	}
	return out
}

// expandRowList makes comparisons of columns of IN with a list of rows; nil for anything else.
func expandRowList(left, right sql.Expression) sql.Expression {
	list, ok := right.(expression.Tuple)
	if l, isRow := left.(expression.Tuple); !ok || !isRow || len(l) < 2 {
		return nil
	}
	or := make([]sql.Expression, len(list))
	for i, r := range list {
		if or[i] = expandRows(expression.NewEquals(left, r)); or[i] == nil {
			return nil
		}
	}
	return expression.JoinOr(or...)
}
