package planner

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	gms "github.com/dolthub/go-mysql-server/sql/types"
)

// Choice is IF, IFNULL or COALESCE: one of several values, in the type that holds all of them. go-mysql-server takes the
// type of the first one, and rounds the others to it.
type Choice struct {
	name string
	args []sql.Expression
}

var (
	_ sql.FunctionExpression = (*Choice)(nil)
	_ sql.CollationCoercible = (*Choice)(nil)
)

// choiceFunctions are the functions that choose a value.
func choiceFunctions() []sql.Function {
	choose := func(name string, least, most int) sql.Function {
		return sql.FunctionN{Name: name, Fn: func(args ...sql.Expression) (sql.Expression, error) {
			if len(args) < least || most > 0 && len(args) > most {
				return nil, sql.ErrInvalidArgumentNumber.New(strings.ToUpper(name), least, len(args))
			}
			return &Choice{name: name, args: args}, nil
		}}
	}
	return []sql.Function{choose("if", 3, 3), choose("ifnull", 2, 2), choose("coalesce", 1, 0)}
}

// Condition is what IF asks; nil where the first value that is not NULL is chosen.
func (c *Choice) Condition() sql.Expression {
	if c.name == "if" {
		return c.args[0]
	}
	return nil
}

// Values are the expressions of which one is chosen.
func (c *Choice) Values() []sql.Expression {
	if c.name == "if" {
		return c.args[1:]
	}
	return c.args
}

// FunctionName implements sql.FunctionExpression.
func (c *Choice) FunctionName() string { return c.name }

// Description implements sql.FunctionExpression.
func (c *Choice) Description() string { return "chooses one of its arguments." }

// Children implements sql.Expression.
func (c *Choice) Children() []sql.Expression { return c.args }

// WithChildren implements sql.Expression.
func (c *Choice) WithChildren(kids ...sql.Expression) (sql.Expression, error) {
	if len(kids) != len(c.args) {
		return nil, sql.ErrInvalidChildrenNumber.New(c, len(kids), len(c.args))
	}
	return &Choice{name: c.name, args: kids}, nil
}

// Resolved implements sql.Expression.
func (c *Choice) Resolved() bool { return expression.ExpressionsResolved(c.args...) }

// IsNullable implements sql.Expression.
func (c *Choice) IsNullable() bool {
	for _, v := range c.Values() {
		if n := v.IsNullable(); n == (c.name == "if") {
			return n
		}
	}
	return c.name != "if"
}

// Type implements sql.Expression.
func (c *Choice) Type() sql.Type { return choiceType(c.Values()) }

// choiceType is the type of a value that is one of several.
func choiceType(values []sql.Expression) sql.Type {
	t := sql.Type(gms.Null)
	for _, v := range values {
		vt := v.Type()
		if k := kindOfType(vt); vt != gms.Null && k != kindInteger && k != kindDecimal && k != kindDouble {
			if c, err := function.NewCoalesce(values...); err == nil {
				return c.Type()
			}
			return gms.LongText
		}
		t = eitherType(t, vt)
	}
	return t
}

// CollationCoercibility implements sql.CollationCoercible.
func (c *Choice) CollationCoercibility(ctx *sql.Context) (collation sql.CollationID, coercibility byte) {
	collation, coercibility = sql.Collation_binary, 6
	for _, v := range c.Values() {
		vc, vo := sql.GetCoercibility(ctx, v)
		collation, coercibility = sql.ResolveCoercibility(collation, coercibility, vc, vo)
	}
	return collation, coercibility
}

// String implements sql.Expression.
func (c *Choice) String() string {
	args := make([]string, len(c.args))
	for i, a := range c.args {
		args[i] = a.String()
	}
	return c.name + "(" + strings.Join(args, ",") + ")"
}

// Eval implements sql.Expression.
func (c *Choice) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	if cond := c.Condition(); cond != nil {
		v, err := truth(cond).Eval(ctx, row)
		if err != nil {
			return nil, err
		}
		yes := false
		if v != nil {
			if yes, err = sql.ConvertToBool(ctx, v); err != nil {
				return nil, err
			}
		}
		if yes {
			return c.value(ctx, row, c.args[1])
		}
		return c.value(ctx, row, c.args[2])
	}
	for _, a := range c.args {
		if v, err := c.value(ctx, row, a); v != nil || err != nil {
			return v, err
		}
	}
	return nil, nil
}

func (c *Choice) value(ctx *sql.Context, row sql.Row, e sql.Expression) (any, error) {
	v, err := evalPlain(ctx, e, row)
	if err != nil || v == nil {
		return nil, err
	}
	return inType(ctx, v, e, c.Type())
}

// inType is a value of an expression in the common type of several.
func inType(ctx *sql.Context, v any, e sql.Expression, t sql.Type) (any, error) {
	if e.Type().Equals(t) {
		return withScale(t, v), nil
	}
	if gms.IsTextOnly(t) {
		return momentPrinter(e, false)(v), nil
	}
	v, _, err := t.Convert(ctx, v)
	if err != nil {
		return nil, err
	}
	return withScale(t, v), nil
}

// caseValue gives the decimals of a CASE the scale of its type, for go-mysql-server's has none of its own.
type caseValue struct {
	*expression.Case
	typ sql.Type
}

// caseType is the type of a CASE; go-mysql-server's has the greatest scale where values are of different types.
func caseType(c *expression.Case) sql.Type {
	var values []sql.Expression
	for _, b := range c.Branches {
		values = append(values, b.Value)
	}
	if c.Else != nil {
		values = append(values, c.Else)
	}
	if t := choiceType(values); gms.IsDecimal(t) {
		return t
	}
	return c.Type()
}

// newCase repairs a CASE: texts as conditions, and the values of decimal ones; nil where there is nothing to repair.
func newCase(c *expression.Case) sql.Expression {
	changed := false
	n := *c
	n.Branches = append([]expression.CaseBranch(nil), c.Branches...)
	for i := range n.Branches {
		b := &n.Branches[i]
		if t := truth(b.Cond); c.Expr == nil && t != b.Cond {
			b.Cond, changed = t, true
		}
	}
	if gms.IsTextOnly(c.Type()) { // dates become texts as they are shown
		shown := func(e sql.Expression) sql.Expression {
			if k := kindOfType(e.Type()); k == kindMoment || k == kindTimeOfDay {
				changed = true
				return textOf(e, false)
			}
			return e
		}
		for i := range n.Branches {
			n.Branches[i].Value = shown(n.Branches[i].Value)
		}
		if c.Else != nil {
			n.Else = shown(c.Else)
		}
	}
	if t := caseType(c); gms.IsDecimal(t) {
		return &caseValue{Case: &n, typ: t}
	}
	if changed {
		return &n
	}
	return nil
}

// Type implements sql.Expression.
func (c *caseValue) Type() sql.Type { return c.typ }

// WithChildren implements sql.Expression.
func (c *caseValue) WithChildren(kids ...sql.Expression) (sql.Expression, error) {
	n, err := c.Case.WithChildren(kids...)
	if err != nil {
		return nil, err
	}
	return &caseValue{Case: n.(*expression.Case), typ: c.typ}, nil
}

// Eval implements sql.Expression.
func (c *caseValue) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := c.Case.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	if v, _, err = c.typ.Convert(ctx, v); err != nil {
		return nil, err
	}
	return withScale(c.typ, v), nil
}
