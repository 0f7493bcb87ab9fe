package planner

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/types"

	"github.com/tributarydb/tributary/sqlengine/dialect"
	"github.com/tributarydb/tributary/sqlengine/types"
)

// WindowFunction is a window function that reaches us through package dialect's tunnel: the ranks, those that
// give the value of another row, and COUNT, MIN and MAX. windowRows computes it.
type WindowFunction struct {
	kind   string
	args   []sql.Expression
	window *sql.WindowDefinition
	id     sql.ColumnId
}

var (
	_ sql.WindowAdaptableExpression = (*WindowFunction)(nil)
	_ sql.FunctionExpression        = (*WindowFunction)(nil)
	_ sql.CollationCoercible        = (*WindowFunction)(nil)
)

// windowArity has the least and the greatest number of arguments of each kind.
var windowArity = map[string][2]int{
	dialect.WindowRowNumber: {0, 0}, dialect.WindowRank: {0, 0}, dialect.WindowDenseRank: {0, 0},
	dialect.WindowPercentRank: {0, 0}, dialect.WindowCumeDist: {0, 0}, dialect.WindowNTile: {1, 1},
	dialect.WindowLead: {1, 3}, dialect.WindowLag: {1, 3},
	dialect.WindowFirstValue: {1, 1}, dialect.WindowLastValue: {1, 1}, dialect.WindowNthValue: {2, 2},
	dialect.WindowCount: {1, 1}, dialect.WindowMin: {1, 1}, dialect.WindowMax: {1, 1},
}

// newWindowFunction makes the function of a kind of the tunnel; ok is false for other kinds.
func newWindowFunction(kind string, args []sql.Expression) (f sql.Expression, ok bool, err error) {
	name, ok := strings.CutPrefix(kind, dialect.WindowPrefix)
	if !ok {
		return nil, false, nil
	}
	n, ok := windowArity[name]
	if !ok {
		return nil, false, nil
	}
	if len(args) < n[0] || len(args) > n[1] {
		return nil, true, sql.ErrInvalidArgumentNumber.New(strings.ToUpper(name), fmt.Sprint(n[0]), len(args))
	}
	return &WindowFunction{kind: name, args: args}, true, nil
}

// Children implements sql.Expression.
func (f *WindowFunction) Children() []sql.Expression {
	out := append([]sql.Expression(nil), f.args...)
	return append(out, f.window.ToExpressions()...)
}

// WithChildren implements sql.Expression.
func (f *WindowFunction) WithChildren(kids ...sql.Expression) (sql.Expression, error) {
	if len(kids) < len(f.args) {
		return nil, sql.ErrInvalidChildrenNumber.New(f, len(kids), len(f.args))
	}
	w, err := f.window.FromExpressions(kids[len(f.args):])
	if err != nil {
		return nil, err
	}
	c := *f
	c.args, c.window = kids[:len(f.args):len(f.args)], w
	return &c, nil
}

// Resolved implements sql.Expression.
func (f *WindowFunction) Resolved() bool { return expression.ExpressionsResolved(f.Children()...) }

// IsNullable implements sql.Expression.
func (f *WindowFunction) IsNullable() bool {
	switch f.kind {
	case dialect.WindowLead, dialect.WindowLag, dialect.WindowFirstValue, dialect.WindowLastValue, dialect.WindowNthValue,
		dialect.WindowMin, dialect.WindowMax:
		return true
	}
	return false
}

// Type implements sql.Expression.
func (f *WindowFunction) Type() sql.Type {
	switch f.kind {
	case dialect.WindowCount:
		return gms.Int64
	case dialect.WindowPercentRank, dialect.WindowCumeDist:
		return gms.Float64
	case dialect.WindowRowNumber, dialect.WindowRank, dialect.WindowDenseRank, dialect.WindowNTile:
		return gms.Uint64
	case dialect.WindowLead, dialect.WindowLag:
		if len(f.args) == 3 {
			return eitherType(f.args[0].Type(), f.args[2].Type())
		}
	}
	return f.args[0].Type()
}

// eitherType is the type of a value that is of one type or of the other.
func eitherType(a, b sql.Type) sql.Type {
	if b == gms.Null || a.Equals(b) {
		return a
	}
	switch ka, kb := kindOfType(a), kindOfType(b); {
	case a == gms.Null:
		return b
	case ka == kindInteger && kb == kindInteger:
		if gms.IsUnsigned(a) && gms.IsUnsigned(b) {
			return gms.Uint64
		}
		return gms.Int64
	case (ka == kindInteger || ka == kindDecimal) && (kb == kindInteger || kb == kindDecimal):
		pa, sa := decimalDigits(a)
		pb, sb := decimalDigits(b)
		s := max(sa, sb)
		return gms.MustCreateDecimalType(uint8(min(max(pa-sa, pb-sb)+s, types.MaxDecimalPrecision)), uint8(s))
	case ka <= kindDouble && kb <= kindDouble && ka != kindOther && kb != kindOther:
		return gms.Float64
	case ka == kb && ka == kindMoment:
		return gms.DatetimeMaxPrecision
	}
	return gms.LongText
}

// decimalDigits is the precision and scale of an exact number's type.
func decimalDigits(t sql.Type) (precision, scale int) {
	if d, ok := t.(sql.DecimalType); ok {
		return int(d.Precision()), int(d.Scale())
	}
	if p, ok := integerDigits[t]; ok {
		return p, 0
	}
	return integerDigits[gms.Uint64], 0
}

// Id implements sql.IdExpression.
func (f *WindowFunction) Id() sql.ColumnId { return f.id }

// WithId implements sql.IdExpression.
func (f *WindowFunction) WithId(id sql.ColumnId) sql.IdExpression {
	c := *f
	c.id = id
	return &c
}

// Window implements sql.WindowAdaptableExpression.
func (f *WindowFunction) Window() *sql.WindowDefinition { return f.window }

// WithWindow implements sql.WindowAdaptableExpression.
func (f *WindowFunction) WithWindow(w *sql.WindowDefinition) sql.WindowAdaptableExpression {
	c := *f
	c.window = w
	return &c
}

// NewWindowFunction implements sql.WindowAdaptableExpression; the nodes that ask for it are replaced.
func (f *WindowFunction) NewWindowFunction() (sql.WindowFunction, error) {
	return nil, fmt.Errorf("window function %s outside of its operator", f)
}

// FunctionName implements sql.FunctionExpression.
func (f *WindowFunction) FunctionName() string { return f.kind }

// Description implements sql.FunctionExpression.
func (f *WindowFunction) Description() string { return "computes " + f.kind + " over a window." }

// CollationCoercibility implements sql.CollationCoercible.
func (f *WindowFunction) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	switch f.kind {
	case dialect.WindowLead, dialect.WindowLag, dialect.WindowFirstValue, dialect.WindowLastValue, dialect.WindowNthValue,
		dialect.WindowMin, dialect.WindowMax:
		return sql.GetCoercibility(ctx, f.args[0])
	}
	return sql.Collation_binary, 5
}

// String implements sql.Expression; equal functions have equal texts.
func (f *WindowFunction) String() string {
	args := make([]string, len(f.args))
	for i, a := range f.args {
		args[i] = a.String()
	}
	return fmt.Sprintf("%s(%s) %s", strings.ToUpper(f.kind), strings.Join(args, ", "), windowText(f.window))
}

// windowText is a window definition with the bounds of its frame, some of which go-mysql-server does not print.
func windowText(w *sql.WindowDefinition) string {
	if w == nil {
		return ""
	}
	s := w.String()
	if f := w.Frame; f != nil {
		s += fmt.Sprint(f.UnboundedPreceding(), f.StartCurrentRow(), f.StartNPreceding(), f.StartNFollowing(),
			f.UnboundedFollowing(), f.EndCurrentRow(), f.EndNPreceding(), f.EndNFollowing())
	}
	return s
}

// DebugString implements sql.DebugStringer.
func (f *WindowFunction) DebugString() string { return f.String() }

// Eval implements sql.Expression; the value of a window function is its operator's.
func (f *WindowFunction) Eval(*sql.Context, sql.Row) (any, error) {
	return nil, fmt.Errorf("window function %s evaluated on a row", f)
}
