package planner

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/types"

	"github.com/tributarydb/tributary/sqlengine/errmap"
)

// Limits of regular expressions.
const (
	maxPattern = 64 << 10
	// maxPatterns bounds the patterns that are kept compiled.
	maxPatterns = 256
)

// patterns keeps compiled expressions: a condition meets the same one for every row.
type patterns struct {
	mu   sync.Mutex
	made map[string]*regexp.Regexp
}

var compiled = patterns{made: map[string]*regexp.Regexp{}}

// compile compiles an ICU pattern with MySQL's match type. Go's engine runs in linear time and
// knows neither look-around nor back references: these are refused.
func (p *patterns) compile(pattern, flags string, caseless bool) (*regexp.Regexp, error) {
	if len(pattern) > maxPattern {
		return nil, errmap.New(3699, "HY000", "Timeout exceeded in regular expression match: the pattern has more than %d bytes", maxPattern)
	}
	multi, dotAll := false, false
	for _, f := range flags {
		switch f {
		case 'c':
			caseless = false
		case 'i':
			caseless = true
		case 'm':
			multi = true
		case 'n':
			dotAll = true
		case 'u':
		default:
			return nil, errmap.New(1210, "HY000", "Incorrect arguments to regexp_like")
		}
	}
	goFlags := ""
	if caseless {
		goFlags += "i"
	}
	if multi {
		goFlags += "m"
	}
	if dotAll {
		goFlags += "s"
	}
	src := pattern
	if goFlags != "" {
		src = "(?" + goFlags + ")" + pattern
	}
	p.mu.Lock()
	re, ok := p.made[src]
	p.mu.Unlock()
	if ok {
		return re, nil
	}
	if pattern == "" {
		return nil, errmap.New(3685, "HY000", "Illegal argument to a regular expression.")
	}
	re, err := compileICU(src, dotAll)
	if err != nil {
		return nil, errmap.Wrap(err, 3686, "HY000", "Syntax error in regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	p.mu.Lock()
	if len(p.made) >= maxPatterns {
		clear(p.made)
	}
	p.made[src] = re
	p.mu.Unlock()
	return re, nil
}

// compileICU compiles a pattern of ICU.
func compileICU(src string, dotAll bool) (*regexp.Regexp, error) {
	text, err := goPattern(src, dotAll)
	if err != nil {
		return nil, err
	}
	return regexp.Compile(text)
}

// anyICU is what the dot of ICU stands for: everything but the ends of lines.
const anyICU = `[^\n\r\x{85}\x{2028}\x{2029}]`

// goPattern rewrites what ICU writes otherwise: \h (horizontal space), \R (line end), \Z, the dot, word boundaries of old
// MySQL. It refuses what Go would take for something else: \1 is a back reference, (?P is nothing in ICU.
func goPattern(s string, dotAll bool) (string, error) {
	if !strings.ContainsAny(s, `\.`) && !strings.Contains(s, "[[:") && !strings.Contains(s, "(?P") {
		return s, nil
	}
	s = strings.NewReplacer("[[:<:]]", `\b`, "[[:>:]]", `\b`).Replace(s)
	dot := anyICU
	if dotAll || strings.Contains(s, "(?") && strings.Contains(s, "s") {
		dot = "." // the pattern may say so itself, in part
	}
	var b strings.Builder
	inClass := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && i+1 < len(s):
			i++
			switch {
			case s[i] == 'h' && !inClass:
				b.WriteString(`[ \t]`)
			case s[i] == 'R' && !inClass:
				b.WriteString(`(?:\r\n|\n|\r)`)
			case s[i] == 'Z':
				b.WriteString(`\z`)
			case s[i] >= '1' && s[i] <= '9':
				return "", fmt.Errorf("back references such as `\\%c` are not supported", s[i])
			default:
				b.WriteByte('\\')
				b.WriteByte(s[i])
			}
			continue
		case c == '.' && !inClass:
			b.WriteString(dot)
			continue
		case c == '(' && strings.HasPrefix(s[i:], "(?P"):
			return "", errors.New("invalid syntax: `(?P`")
		case c == '[':
			inClass = true
		case c == ']':
			inClass = false
		}
		b.WriteByte(c)
	}
	return b.String(), nil
}

// caselessArgs reports whether the collation of the compared texts makes upper and lower case equal.
func caselessArgs(ctx *sql.Context, args []sql.Expression) bool {
	lc, lo := sql.GetCoercibility(ctx, args[0])
	rc, ro := sql.GetCoercibility(ctx, args[1])
	c, _ := sql.ResolveCoercibility(lc, lo, rc, ro)
	name := c.Name()
	return strings.HasSuffix(name, "_ci") || strings.Contains(name, "_ai_ci")
}

// regexpFunction declares a function of a text and a pattern; flagArg is the place of the match type.
func regexpFunction(name string, minArgs, maxArgs, flagArg int, typ sql.Type, eval func(ctx *sql.Context, re *regexp.Regexp, a []any) (any, error)) sql.Function {
	return sql.FunctionN{Name: name, Fn: func(args ...sql.Expression) (sql.Expression, error) {
		if len(args) < minArgs || len(args) > maxArgs {
			return nil, sql.ErrInvalidArgumentNumber.New(strings.ToUpper(name), minArgs, len(args))
		}
		f := &scalarFunction{name: name, args: args, typ: always(typ), strict: true}
		f.eval = func(ctx *sql.Context, a []any) (any, error) {
			flags := ""
			if len(a) > flagArg {
				flags = valueText(a[flagArg])
			}
			re, err := compiled.compile(valueText(a[1]), flags, caselessArgs(ctx, args))
			if err != nil {
				return nil, err
			}
			return eval(ctx, re, a)
		}
		return f, nil
	}}
}

func regexpFunctions() []sql.Function {
	return []sql.Function{
		regexpFunction("regexp_like", 2, 3, 2, gms.Boolean, func(_ *sql.Context, re *regexp.Regexp, a []any) (any, error) {
			return re.MatchString(valueText(a[0])), nil
		}),
		regexpFunction("regexp_substr", 2, 5, 4, gms.LongText, func(ctx *sql.Context, re *regexp.Regexp, a []any) (any, error) {
			s, loc, err := findMatch(ctx, "regexp_substr", re, a, 2, 3)
			if err != nil || loc == nil {
				return nil, err
			}
			return s[loc[0]:loc[1]], nil
		}),
		regexpFunction("regexp_instr", 2, 6, 5, gms.Int64, func(ctx *sql.Context, re *regexp.Regexp, a []any) (any, error) {
			s, loc, err := findMatch(ctx, "regexp_instr", re, a, 2, 3)
			if err != nil || loc == nil {
				return int64(0), err
			}
			at := loc[0]
			if len(a) > 4 && valueInt(ctx, a[4]) == 1 {
				at = loc[1]
			}
			return int64(utf8.RuneCountInString(s[:at]) + 1), nil
		}),
		regexpFunction("regexp_replace", 3, 6, 5, gms.LongText, regexpReplace),
	}
}

// startOf returns the byte position that argument pos (a character position from 1) names.
func startOf(ctx *sql.Context, name, s string, a []any, pos int) (int, error) {
	if len(a) <= pos {
		return 0, nil
	}
	n := valueInt(ctx, a[pos])
	if n < 1 || n > int64(utf8.RuneCountInString(s))+1 {
		return 0, errmap.New(3686, "HY000", "Index out of bounds in regular expression search (%s).", name)
	}
	at := 0
	for range n - 1 {
		_, w := utf8.DecodeRuneInString(s[at:])
		at += w
	}
	return at, nil
}

// findMatch finds the occurrence-th match from a position on.
func findMatch(ctx *sql.Context, name string, re *regexp.Regexp, a []any, pos, occurrence int) (string, []int, error) {
	s := valueText(a[0])
	at, err := startOf(ctx, name, s, a, pos)
	if err != nil {
		return s, nil, err
	}
	n := int64(1)
	if len(a) > occurrence {
		n = max(1, valueInt(ctx, a[occurrence]))
	}
	all := re.FindAllStringIndex(s[at:], int(min(n, int64(len(s))+1)))
	if int64(len(all)) < n {
		return s, nil, nil
	}
	loc := all[n-1]
	return s, []int{loc[0] + at, loc[1] + at}, nil
}

// regexpReplace is REGEXP_REPLACE(text, pattern, with[, position[, occurrence[, match type]]]); occurrence 0 is all.
func regexpReplace(ctx *sql.Context, re *regexp.Regexp, a []any) (any, error) {
	s, with := valueText(a[0]), valueText(a[2])
	at, err := startOf(ctx, "regexp_replace", s, a, 3)
	if err != nil {
		return nil, err
	}
	n := int64(0)
	if len(a) > 4 {
		n = max(0, valueInt(ctx, a[4]))
	}
	var b strings.Builder
	b.WriteString(s[:at])
	last := at
	for i, m := range re.FindAllStringSubmatchIndex(s[at:], -1) {
		if n > 0 && int64(i+1) != n {
			continue
		}
		b.WriteString(s[last : at+m[0]])
		b.Write(re.ExpandString(nil, goTemplate(with), s[at:], m))
		last = at + m[1]
	}
	b.WriteString(s[last:])
	return b.String(), nil
}

// goTemplate rewrites ICU's $1 and \$ for Go: ${1} and $$.
func goTemplate(s string) string {
	if !strings.ContainsAny(s, `$\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			if s[i] == '$' {
				b.WriteByte('$')
			}
			b.WriteByte(s[i])
		case s[i] == '$' && i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9':
			j := i + 1
			for j < len(s) && s[j] >= '0' && s[j] <= '9' {
				j++
			}
			b.WriteString("${" + s[i+1:j] + "}")
			i = j - 1
		case s[i] == '$':
			b.WriteString("$$")
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
