package dialect

import (
	"sort"
	"strings"
)

// script is one statement as tokens, with the edits that rewriting rules lay
// on them. Rules never change tokens, so that all of them see the user's text.
type script struct {
	src    string
	mode   Mode
	toks   []Token // without trivia
	match  []int   // index of the bracket that closes or opens this one, -1
	upper  []string
	edits  map[int]*edit
	taken  map[int]bool // hints that a rule has read
	params int
	depth  int // recursion of operandEnd

	isQuery bool // see query
}

// edit is what becomes of one token.
type edit struct {
	pre, post string
	replaced  bool
	text      string
	end       int // source offset where the replaced span ends, 0 for the token's own
}

// newScript lexes src and pairs its brackets. It fails with MySQL's syntax
// error at the first text that is no token.
func newScript(src string, mode Mode) (*script, error) {
	s := &script{src: src, mode: mode, edits: map[int]*edit{}, taken: map[int]bool{}}
	for _, t := range Lex(src, mode) {
		if t.Trivia() {
			continue
		}
		if t.Kind == KindInvalid {
			return nil, syntaxErrorAt(src, t.Start)
		}
		if t.Kind == KindParam {
			s.params++
		}
		s.toks = append(s.toks, t)
	}
	if err := s.checkDepth(); err != nil {
		return nil, err
	}
	s.match = make([]int, len(s.toks))
	s.upper = make([]string, len(s.toks))
	var open []int
	for i, t := range s.toks {
		s.match[i] = -1
		text := src[t.Start:t.End]
		switch {
		case t.Kind == KindWord:
			s.upper[i] = strings.ToUpper(text)
		case t.Kind == KindOp:
			s.upper[i] = text
			switch text {
			case "(", "[", "{":
				open = append(open, i)
			case ")", "]", "}":
				if len(open) > 0 {
					j := open[len(open)-1]
					open = open[:len(open)-1]
					if strings.Contains("()[]{}", s.upper[j]+text) {
						s.match[i], s.match[j] = j, i
					}
				}
			}
		}
	}
	return s, nil
}

// Limits of the recursion over a statement's tree, which the parser and the
// binder go down on the stack: MySQL has such limits in thread_stack.
const (
	maxNesting   = 2000  // brackets in brackets
	maxOperators = 20000 // operators in one expression, set operations and joins in one statement
)

// checkDepth refuses statements whose tree would be too deep.
func (s *script) checkDepth() error {
	levels := []int{0} // operators since the last comma, by bracket level
	links := 0
	for _, t := range s.toks {
		text := s.src[t.Start:t.End]
		top := &levels[len(levels)-1]
		switch t.Kind {
		case KindOp:
			switch text {
			case "(", "[", "{":
				levels = append(levels, 0)
			case ")", "]", "}":
				if len(levels) > 1 {
					levels = levels[:len(levels)-1]
				}
			case ",", ";":
				*top = 0
			case ".":
			default:
				*top++
			}
		case KindWord:
			if len(text) > len("INTERSECT") {
				continue
			}
			switch strings.ToUpper(text) {
			case "AND", "OR", "XOR", "NOT", "BINARY", "DIV", "MOD", "IS", "COLLATE":
				*top++
			case "CASE", "UNION", "EXCEPT", "INTERSECT", "JOIN":
				links++
			}
		}
		if len(levels) > maxNesting || *top > maxOperators || links > maxOperators {
			return &Error{Number: ErrnoStackOverrun, State: sqlStateGeneral,
				Message: "The statement is nested too deeply or has too many operators in one expression"}
		}
	}
	return nil
}

// kind returns the kind of token i, KindEOF outside the script.
func (s *script) kind(i int) Kind {
	if i < 0 || i >= len(s.toks) {
		return KindEOF
	}
	return s.toks[i].Kind
}

// text returns the source of token i.
func (s *script) text(i int) string {
	if i < 0 || i >= len(s.toks) {
		return ""
	}
	return s.src[s.toks[i].Start:s.toks[i].End]
}

// is reports whether token i is one of the given keywords (upper case) or
// operators. Quoted names are never keywords.
func (s *script) is(i int, words ...string) bool {
	if i < 0 || i >= len(s.toks) || s.upper[i] == "" {
		return false
	}
	for _, w := range words {
		if s.upper[i] == w {
			return true
		}
	}
	return false
}

// seq reports whether the tokens from i on are the given words and operators.
func (s *script) seq(i int, words ...string) bool {
	for k, w := range words {
		if !s.is(i+k, w) {
			return false
		}
	}
	return true
}

// name reports whether token i can be a name.
func (s *script) name(i int) bool {
	k := s.kind(i)
	return k == KindWord || k == KindQuoted
}

// errAt makes a syntax error at token i, or at the end of the text.
func (s *script) errAt(i int) *Error {
	if i >= 0 && i < len(s.toks) {
		return syntaxErrorAt(s.src, s.toks[i].Start)
	}
	return syntaxErrorAt(s.src, len(s.src))
}

func (s *script) edit(i int) *edit {
	e := s.edits[i]
	if e == nil {
		e = &edit{}
		s.edits[i] = e
	}
	return e
}

// replace puts text in the place of token i.
func (s *script) replace(i int, text string) {
	e := s.edit(i)
	e.replaced, e.text = true, text
}

// replaceSpan puts text in the place of the tokens i to j inclusive.
func (s *script) replaceSpan(i, j int, text string) {
	s.replace(i, text)
	s.edit(i).end = s.toks[j].End
	for k := i + 1; k <= j; k++ {
		s.replace(k, "")
	}
}

// wrap puts before and after around the tokens i to j. Outer wraps are laid
// before inner ones.
func (s *script) wrap(i, j int, before, after string) {
	e := s.edit(i)
	e.pre += before
	e = s.edit(j)
	e.post = after + e.post
}

// part says where a piece of rewritten text came from.
type part struct {
	outStart, outEnd int
	srcStart, srcEnd int
}

// rewritten is the text given to vitess, with the way back to the source.
type rewritten struct {
	src   string
	text  string
	parts []part // in order of both texts
	s     *script
}

// render lays the edits on the text. Comments become spaces.
func (s *script) render() *rewritten {
	r := &rewritten{src: s.src, s: s, parts: make([]part, 0, len(s.toks))}
	var b strings.Builder
	b.Grow(len(s.src) + 64)
	prevEnd := -1
	put := func(text string, from, to int) {
		if text == "" {
			return
		}
		start := b.Len()
		b.WriteString(text)
		r.parts = append(r.parts, part{start, b.Len(), from, to})
	}
	for i, t := range s.toks {
		e := s.edits[i]
		if prevEnd >= 0 && (t.Start > prevEnd || e != nil || s.glues(i)) {
			b.WriteByte(' ')
		}
		prevEnd = t.End
		if e == nil {
			put(s.src[t.Start:t.End], t.Start, t.End)
			continue
		}
		put(e.pre, t.Start, t.Start)
		if e.replaced {
			put(e.text, t.Start, max(t.End, e.end))
		} else {
			put(s.src[t.Start:t.End], t.Start, t.End)
		}
		put(e.post, t.End, t.End)
	}
	r.text = b.String()
	return r
}

// glues reports whether token i must be kept apart from the one before it:
// vitess would read the two as the start of a comment, or loses the first quote
// of a literal right behind a keyword when it cuts out the column header.
func (s *script) glues(i int) bool {
	if k := s.kind(i); s.kind(i-1) == KindWord && (k == KindString || k == KindQuoted) {
		return true
	}
	return i > 0 && (s.is(i-1, "-") && s.is(i, "-", "->", "->>") || s.is(i-1, "/") && s.is(i, "/", "*"))
}

// span maps a span of the rewritten text to the source; ok is false when no
// token lies in it. What was deleted around the span is left out.
func (r *rewritten) span(outStart, outEnd int) (from, to int, ok bool) {
	i, j := r.partsIn(outStart, outEnd)
	if i >= j {
		return 0, 0, false
	}
	from = r.parts[i].srcStart
	for _, p := range r.parts[i:j] {
		to = max(to, p.srcEnd)
	}
	return from, to, true
}

// spanWithDeleted is span with what was deleted behind the span.
func (r *rewritten) spanWithDeleted(outStart, outEnd int) (from, to int, ok bool) {
	from, _, ok = r.span(outStart, outEnd)
	if _, j := r.partsIn(outStart, outEnd); j < len(r.parts) {
		to = len(strings.TrimRight(r.src[:r.parts[j].srcStart], " \t\r\n"))
	} else {
		to = len(r.src)
	}
	return from, max(from, to), ok
}

// partsIn returns the range of the parts that lie in a span of the rewritten
// text.
func (r *rewritten) partsIn(outStart, outEnd int) (i, j int) {
	i = sort.Search(len(r.parts), func(i int) bool { return r.parts[i].outEnd > outStart })
	j = sort.Search(len(r.parts), func(j int) bool { return r.parts[j].outStart >= outEnd })
	return i, j
}
