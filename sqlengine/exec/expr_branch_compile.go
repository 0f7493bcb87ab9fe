package exec

import (
	"bytes"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	gms "github.com/dolthub/go-mysql-server/sql/types"

	"github.com/tributarydb/tributary/sqlengine/planner"
	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

func (b *exprBuilder) like(e *expression.Like) (expr, bool) {
	x, ok := b.compile(e.LeftChild)
	if !ok || !isText(x) || e.Escape != nil || !planner.ComparedAsBytes(b.ctx, e.LeftChild, e.RightChild) {
		return nil, false
	}
	p, ok := b.compile(e.RightChild)
	c, isC := p.(*constExpr)
	if !ok || !isC || !isText(c) || c.value.Null {
		return nil, false
	}
	return b.intern(&textTest{base: base{cls: classInt, t: boolType, in: []expr{x}}, test: likeTest(string(c.value.B))}, "like", string(c.value.B)), true
}

func (b *exprBuilder) caseWhen(e *expression.Case) (expr, bool) {
	conds, values := make([]sql.Expression, len(e.Branches)), make([]sql.Expression, len(e.Branches))
	for i, br := range e.Branches {
		conds[i], values[i] = br.Cond, br.Value
		if e.Expr != nil {
			conds[i] = expression.NewEquals(e.Expr, br.Cond)
		}
	}
	other := e.Else
	if other == nil {
		other = expression.NewLiteral(nil, gms.Null)
	}
	return b.branches(conds, values, other)
}

func (b *exprBuilder) branches(conds, values []sql.Expression, other sql.Expression) (expr, bool) {
	c := &caseExpr{}
	for _, e := range conds {
		x, ok := b.truth(e)
		if !ok {
			return nil, false
		}
		c.conds = append(c.conds, x)
	}
	for _, e := range append(values[:len(values):len(values)], other) {
		x, ok := b.compile(e)
		if !ok {
			return nil, false
		}
		c.values = append(c.values, x)
	}
	return b.choose(c)
}

// coalesce is the first value that is not NULL.
func (b *exprBuilder) coalesce(list []sql.Expression) (expr, bool) {
	c := &caseExpr{}
	for i, e := range list {
		x, ok := b.compile(e)
		if !ok {
			return nil, false
		}
		if i < len(list)-1 {
			c.conds = append(c.conds, b.not(b.isNull(x)))
		}
		c.values = append(c.values, x)
	}
	return b.choose(c)
}

// choose gives the values of a CASE one class.
func (b *exprBuilder) choose(c *caseExpr) (expr, bool) {
	if len(c.values) > maxCaseValues || len(c.values) == 0 {
		return nil, false
	}
	var kinds [classOpaque + 1]bool
	var t *schema.Type
	scale, whole := 0, 0
	for _, v := range c.values {
		if isNullConst(v) {
			continue
		}
		switch {
		case isNumber(v):
			p, s := digits(v)
			scale, whole = max(scale, s), max(whole, p-s)
		case isText(v):
		default:
			if t != nil && t.Root != v.typ().Root || v.typ().Root == schema.Time || v.kind() != classInt || v.typ().Root == schema.TimestampLTZ {
				return nil, false
			}
			if t != nil && t.Precision != v.typ().Precision {
				return nil, false
			}
		}
		kinds[v.kind()] = true
		if t != nil && isNumberRoot(t.Root) != isNumber(v) {
			return nil, false
		}
		if t == nil || t.Root != v.typ().Root {
			if t == nil {
				t = v.typ()
			} else if isNumber(v) {
				t = bigIntType
			}
		}
	}
	if t == nil {
		return nil, false
	}
	c.up = make([]int, len(c.values))
	if kinds[classBytes] && (kinds[classInt] || kinds[classDecimal] || kinds[classFloat]) {
		return nil, false
	}
	switch {
	case kinds[classBytes]:
		c.cls, t = classBytes, textType
	case kinds[classFloat]:
		c.cls, t = classFloat, doubleType
	case kinds[classDecimal]:
		c.cls, t = classDecimal, &schema.Type{Root: schema.Decimal, Precision: min(whole+scale, types.MaxDecimalPrecision), Scale: scale}
	default:
		c.cls = classInt
	}
	for i, v := range c.values {
		switch {
		case isNullConst(v):
			n := &constExpr{base: base{cls: c.cls, t: t}, value: column.NullScalar(column.KindInt64)}
			if c.cls == classBytes {
				n.one = &column.Vector{Kind: column.KindBytes, N: 1, Ref: []column.Ref{{}}}
			}
			c.values[i] = b.intern(n, "null", c.cls)
		case c.cls == classFloat:
			c.values[i] = b.toFloat(v)
		case c.cls == classDecimal:
			c.values[i] = b.toDecimal(v)
			c.up[i] = scale - c.values[i].typ().Scale
		}
	}
	c.t = t.WithNotNull(false)
	c.in = append(append([]expr{}, c.conds...), c.values...)
	return b.intern(c, "case", len(c.conds)), true
}

func isNumberRoot(r schema.Root) bool {
	switch r {
	case schema.Boolean, schema.TinyInt, schema.SmallInt, schema.Int, schema.BigInt, schema.Decimal, schema.Float, schema.Double:
		return true
	}
	return false
}

func (b *exprBuilder) datePart(args []sql.Expression, name string, part func(time.Time) int) (expr, bool) {
	if len(args) != 1 {
		return nil, false
	}
	x, ok := b.compile(args[0])
	if !ok || !isMoment(x) || isConst(x) {
		return nil, false
	}
	return b.intern(&datePart{base: base{cls: classInt, t: intType, in: []expr{x}}, micros: x.typ().Root == schema.Timestamp, part: part}, name), true
}

func (b *exprBuilder) extract(e *function.Extract) (expr, bool) {
	u, ok := e.LeftChild.(*expression.Literal)
	if !ok {
		return nil, false
	}
	unit, _ := u.Value().(string)
	arg := []sql.Expression{e.RightChild}
	switch strings.ToUpper(unit) {
	case "YEAR":
		return b.datePart(arg, "year", func(t time.Time) int { return t.Year() })
	case "MONTH":
		return b.datePart(arg, "month", func(t time.Time) int { return int(t.Month()) })
	case "DAY":
		return b.datePart(arg, "day", func(t time.Time) int { return t.Day() })
	}
	return nil, false
}

func (b *exprBuilder) length(e *function.Length) (expr, bool) {
	x, ok := b.compile(e.Child)
	if !ok || !isText(x) || isConst(x) {
		return nil, false
	}
	n := &textLength{base: base{cls: classInt, t: intType, in: []expr{x}}}
	switch e.CountType {
	case function.NumBytes:
		n.count = func(t []byte) int { return len(t) }
	case function.NumChars:
		n.count = utf8.RuneCount
	default:
		return nil, false
	}
	return b.intern(n, "length", e.CountType), true
}

// likeTest compiles a LIKE pattern: a fixed text with % at the ends by a search, others by the matcher.
func likeTest(pattern string) func([]byte) bool {
	body := strings.TrimPrefix(strings.TrimSuffix(pattern, "%"), "%")
	if len(pattern) >= 2 && !strings.ContainsAny(body, `%_\`) {
		begins, ends := strings.HasPrefix(pattern, "%"), strings.HasSuffix(pattern, "%")
		want := []byte(body)
		switch {
		case begins && ends:
			return func(t []byte) bool { return bytes.Contains(t, want) }
		case ends:
			return func(t []byte) bool { return bytes.HasPrefix(t, want) }
		case begins:
			return func(t []byte) bool { return bytes.HasSuffix(t, want) }
		}
	}
	match := planner.LikeMatcher(pattern, '\\')
	return func(t []byte) bool { return match(string(t)) }
}
