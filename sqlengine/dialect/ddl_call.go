package dialect

import (
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// call parses behind CALL. An argument that is a literal is taken as it is written; the others are children.
func (c *cursor) call() (Statement, []sqlparser.Expr) {
	st := Call{Procedure: c.name()}
	if c.accept(".") { // catalog.sys.procedure
		st.Procedure = Name{DB: st.Procedure.Name, Name: c.ident()}
	}
	if c.err != nil || c.i >= len(c.s.toks) {
		return st, nil
	}
	if !c.s.is(c.i, "(") || c.s.match[c.i] < 0 {
		c.fail()
		return nil, nil
	}
	open, end := c.i, c.s.match[c.i]
	c.i++
	// The expressions, each at its own place so that errors and parameters are where they were.
	list := []byte(strings.Repeat(" ", len(c.s.src)))
	computed := 0
	for c.i < end {
		arg := CallArg{Child: -1}
		if c.s.name(c.i) && c.s.is(c.i+1, "=>") {
			arg.Name = c.ident()
			c.i++
		}
		start := c.i
		c.skipExpression()
		if c.err == nil && c.i == start {
			c.fail()
		}
		if c.err != nil {
			return nil, nil
		}
		if text, ok := c.literal(start, c.i-1); ok {
			arg.Text = text
		} else {
			arg.Child = computed
			if computed++; computed > 1 {
				// In the gap before the expression there is at least the comma of the list.
				list[c.s.toks[start-1].Start] = ','
			}
			from, to := c.s.toks[start].Start, c.s.toks[c.i-1].End
			copy(list[from:to], c.s.src[from:to])
		}
		st.Args = append(st.Args, arg)
		if c.i == end {
			break
		}
		c.expect(",")
		if c.err == nil && c.i == end {
			c.fail()
		}
		if c.err != nil {
			return nil, nil
		}
	}
	var children []sqlparser.Expr
	if computed > 0 {
		const verb = "SELECT"
		copy(list[:c.s.toks[open].Start], verb) // CALL and a name take as much room
		children = c.selected(strings.TrimRight(string(list), " "))
		if c.err == nil && len(children) != computed {
			c.err = c.s.errAt(open + 1)
		}
	}
	c.i = end + 1
	return st, children
}

// selected parses a text that is SELECT and a list of expressions.
func (c *cursor) selected(text string) []sqlparser.Expr {
	parsed, err := (&Parser{}).ParseStatement(text, c.s.mode)
	if err != nil {
		c.err = err
		return nil
	}
	sel, ok := parsed.Statement.(*sqlparser.Select)
	if !ok || len(sel.From) > 0 || sel.Where != nil || sel.Limit != nil {
		c.fail()
		return nil
	}
	var out []sqlparser.Expr
	for _, e := range sel.SelectExprs {
		ae, ok := e.(*sqlparser.AliasedExpr)
		if !ok || !ae.As.IsEmpty() {
			c.fail()
			return nil
		}
		out = append(out, ae.Expr)
	}
	return out
}

// literal returns the text of the tokens from i to j where they are one literal; nil is NULL.
func (c *cursor) literal(i, j int) (text *string, ok bool) {
	s := c.s
	some := func(t string) (*string, bool) { return &t, true }
	switch j - i {
	case 0:
		switch s.kind(i) {
		case KindString, KindNString:
			return some(s.value(i))
		case KindNumber:
			return some(s.text(i))
		case KindQuoted:
			if s.text(i)[0] == '"' { // with ANSI_QUOTES: no column can be meant
				return some(s.value(i))
			}
		}
		switch {
		case s.is(i, "NULL"):
			return nil, true
		case s.is(i, "TRUE", "FALSE"):
			return some(strings.ToLower(s.text(i)))
		}
	case 1:
		switch {
		case s.is(i, "-") && s.kind(j) == KindNumber:
			return some("-" + s.text(j))
		case s.is(i, "DATE", "TIMESTAMP", "TIME") && s.kind(j) == KindString:
			return some(s.value(j))
		}
	}
	return nil, false
}
