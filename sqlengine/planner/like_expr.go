package planner

import (
	"fmt"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/types"
)

// defaultEscape is LIKE's escape character where none is given.
const defaultEscape = '\\'

// Like is LIKE on texts of a binary collation.
type Like struct {
	expression.BinaryExpressionStub
	orig *expression.Like
	// fixed is the pattern where it is a constant.
	fixed *likePattern
	esc   rune
}

var (
	_ sql.Expression         = (*Like)(nil)
	_ sql.CollationCoercible = (*Like)(nil)
)

// newLike replaces LIKE; nil where ours has nothing better.
func newLike(ctx *sql.Context, e *expression.Like) sql.Expression {
	l := &Like{orig: e, esc: defaultEscape}
	l.LeftChild, l.RightChild = e.LeftChild, e.RightChild
	if k := kindOfType(l.LeftChild.Type()); k != kindText || kindOfType(l.RightChild.Type()) != kindText {
		return nil
	}
	if c := textClass(ctx, l.LeftChild, l.RightChild); c != classBytes && c != classPadded {
		return nil
	}
	if e.Escape != nil {
		lit, ok := e.Escape.(*expression.Literal)
		if !ok {
			return nil
		}
		s, ok := lit.Value().(string)
		if !ok || utf8.RuneCountInString(s) > 1 {
			return nil
		}
		l.esc = 0
		if s != "" {
			l.esc, _ = utf8.DecodeRuneInString(s)
		}
	}
	if lit, ok := l.RightChild.(*expression.Literal); ok {
		if s, ok := lit.Value().(string); ok {
			l.fixed = parseLike(s, l.esc)
		}
	}
	return l
}

// Type implements sql.Expression.
func (l *Like) Type() sql.Type { return gms.Boolean }

// CollationCoercibility implements sql.CollationCoercible.
func (l *Like) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// String implements sql.Expression.
func (l *Like) String() string { return fmt.Sprint(l.orig) }

// WithChildren implements sql.Expression.
func (l *Like) WithChildren(kids ...sql.Expression) (sql.Expression, error) {
	if len(kids) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(l, len(kids), 2)
	}
	n := *l
	n.LeftChild, n.RightChild = kids[0], kids[1]
	return &n, nil
}

// Eval implements sql.Expression.
func (l *Like) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := evalPlain(ctx, l.LeftChild, row)
	if err != nil || v == nil {
		return nil, err
	}
	s, ok := toText(v)
	if !ok {
		return l.orig.Eval(ctx, row)
	}
	p := l.fixed
	if p == nil {
		r, err := evalPlain(ctx, l.RightChild, row)
		if err != nil || r == nil {
			return nil, err
		}
		t, ok := toText(r)
		if !ok {
			return l.orig.Eval(ctx, row)
		}
		p = parseLike(t, l.esc)
	}
	return p.match(s), nil
}

// likePattern is a parsed pattern: characters, anyRune for _, anyRunes for %.
type likePattern struct{ items []rune }

const (
	anyRune  rune = -1
	anyRunes rune = -2
)

func parseLike(s string, esc rune) *likePattern {
	p := &likePattern{}
	escaped := false
	for _, r := range s {
		switch {
		case escaped:
			escaped = false
		case r == esc && esc != 0:
			escaped = true
			continue
		case r == '_':
			r = anyRune
		case r == '%':
			if n := len(p.items); n > 0 && p.items[n-1] == anyRunes {
				continue
			}
			r = anyRunes
		}
		p.items = append(p.items, r)
	}
	if escaped { // an escape at the end stands for itself
		p.items = append(p.items, esc)
	}
	return p
}

// match runs the pattern, going back to the last % where it fails.
func (p *likePattern) match(s string) bool {
	i, pos := 0, 0
	star, starPos := -1, 0
	for pos < len(s) {
		r, n := utf8.DecodeRuneInString(s[pos:])
		switch {
		case i < len(p.items) && p.items[i] == anyRunes:
			star, starPos = i, pos
			i++
			continue
		case i < len(p.items) && (p.items[i] == anyRune || p.items[i] == r):
			i++
			pos += n
			continue
		case star >= 0:
			_, m := utf8.DecodeRuneInString(s[starPos:])
			starPos += m
			i, pos = star+1, starPos
			continue
		}
		return false
	}
	for i < len(p.items) && p.items[i] == anyRunes {
		i++
	}
	return i == len(p.items)
}
