package dialect

import (
	"maps"
	"strings"
)

// The points a temporal clause may name, as stored in a Carrier.
const (
	pointVersion   = "version"
	pointTimestamp = "timestamp"
	pointAsOf      = "asof"
)

// temporal describes a clause such as [FOR] VERSION AS OF expr.
type temporal struct {
	start      int // first token: FOR, VERSION, … or AS
	expr, last int // first and last token of the expression
	point      string
}

// temporalAt reads a temporal clause that starts at token i.
func (s *script) temporalAt(i int) (t temporal, ok bool, err error) {
	t = temporal{start: i, point: pointAsOf}
	isFor := s.is(i, "FOR")
	if isFor {
		i++
	}
	switch {
	case s.is(i, "VERSION", "SYSTEM_VERSION"):
		t.point = pointVersion
		i++
	case s.is(i, "TIMESTAMP", "SYSTEM_TIME"):
		t.point = pointTimestamp
		i++
	case isFor:
		return t, false, nil
	}
	if !s.seq(i, "AS", "OF") {
		if isFor && t.point != pointAsOf && s.is(i, "BETWEEN", "FROM", "ALL", "CONTAINED") {
			return t, false, unsupported("FOR SYSTEM_TIME "+s.upper[i], "read the changes between two snapshots with the hint OPTIONS('incremental-between' = 'a,b')")
		}
		return t, false, nil
	}
	t.expr = i + 2
	t.last = s.exprEnd(t.expr)
	if t.last < 0 {
		return t, false, s.errAt(t.expr)
	}
	return t, true, nil
}

// literalPoint returns the text of an AS OF expression that is a literal or a
// bare name; ok is false for anything that must be computed.
func (s *script) literalPoint(t temporal) (text string, ok bool, err error) {
	i := t.expr
	switch t.last - t.expr {
	case 0:
		switch s.kind(i) {
		case KindString, KindNString, KindQuoted:
			return s.value(i), true, nil
		case KindNumber:
			return s.text(i), true, nil
		case KindWord:
			switch s.upper[i] {
			case "CURRENT_TIMESTAMP", "CURRENT_DATE", "LOCALTIME", "LOCALTIMESTAMP", "UTC_TIMESTAMP", "UTC_DATE", "NULL":
				return "", false, nil
			}
			return s.text(i), true, nil
		}
	case 1:
		switch {
		case s.is(i, "-") && s.kind(i+1) == KindNumber:
			return "-" + s.text(i+1), true, nil
		case s.is(i, "TIMESTAMP") && s.kind(i+1) == KindString:
			if text, _, ok := parseTimestamp(strings.TrimSpace(s.value(i + 1))); ok {
				return text, true, nil
			}
			return "", false, wrongValue("DATETIME", s.value(i+1))
		case s.is(i, "DATE") && s.kind(i+1) == KindString:
			if text, ok := parseDate(strings.TrimSpace(s.value(i + 1))); ok {
				return text, true, nil
			}
			return "", false, wrongValue("DATE", s.value(i+1))
		}
	}
	return "", false, nil
}

// with sets the point of the carrier.
func (c *Carrier) with(point, value string) {
	switch point {
	case pointVersion:
		c.Version = value
	case pointTimestamp:
		c.Timestamp = value
	default:
		c.AsOf = value
	}
}

// optionsHint reads /*+ OPTIONS('k'='v', …) */ at token i; ok is false for
// another hint.
func (s *script) optionsHint(i int) (options map[string]string, ok bool, err error) {
	if s.kind(i) != KindHint {
		return nil, false, nil
	}
	text := s.text(i)
	inner := text[3 : len(text)-2]
	base := s.toks[i].Start + 3
	h, err := newScript(inner, s.mode)
	if err != nil || !h.seq(0, "OPTIONS", "(") {
		return nil, false, nil
	}
	bad := func(j int) error {
		if j < len(h.toks) {
			return syntaxErrorAt(s.src, base+h.toks[j].Start)
		}
		return syntaxErrorAt(s.src, base+len(inner))
	}
	options = map[string]string{}
	j := 2
	for first := true; !h.is(j, ")"); first = false {
		if !first {
			if !h.is(j, ",") {
				return nil, true, bad(j)
			}
			j++
		}
		if h.kind(j) != KindString || !h.is(j+1, "=") || h.kind(j+2) != KindString {
			return nil, true, bad(j)
		}
		options[h.value(j)] = h.value(j + 2)
		j += 3
	}
	if j+1 != len(h.toks) {
		return nil, true, bad(j + 1)
	}
	return options, true, nil
}

// introducesTable reports whether the name behind token i is a table.
func (s *script) introducesTable(i int) bool {
	return s.is(i, "FROM", "JOIN", "STRAIGHT_JOIN", ",", "(", "INTO", "UPDATE", "TABLE", "OVERWRITE", "DESCRIBE", "DESC", "EXPLAIN", "USING")
}

// rewriteTableClauses turns time travel and OPTIONS hints behind table names
// into AS OF carriers.
func (s *script) rewriteTableClauses() error {
	used := s.taken
	for i := 0; i < len(s.toks); i++ {
		if !s.name(i) && !s.is(i, "TABLES") || s.is(i+1, ".", "(") {
			continue
		}
		start := i
		for s.is(start-1, ".") && s.name(start-2) {
			start -= 2
		}
		if start == i && s.kind(i) == KindWord && s.is(i, "SELECT", "FOR", "AS", "OF", "INSERT", "REPLACE", "DELETE") {
			continue
		}
		if err := s.tableClause(start, i, used); err != nil {
			return err
		}
	}
	for i := range s.toks {
		if used[i] {
			continue
		}
		if _, ok, err := s.optionsHint(i); err != nil {
			return err
		} else if ok {
			return s.errAt(i) // it would be ignored, and the answer be another
		}
	}
	return nil
}

// tableClause handles the clauses behind the table name of tokens start to end.
func (s *script) tableClause(start, end int, used map[int]bool) error {
	var c Carrier
	var point *temporal
	j, found := end+1, false
	take := func() error {
		for {
			options, ok, err := s.optionsHint(j)
			if err != nil {
				return err
			}
			if ok && !used[j] {
				used[j], found = true, true
				if c.Options == nil {
					c.Options = map[string]string{}
				}
				maps.Copy(c.Options, options)
				j++
				continue
			}
			if point != nil {
				return nil
			}
			if s.is(start, "VERSION", "TIMESTAMP", "SYSTEM_TIME", "SYSTEM_VERSION") && start == end && !s.introducesTable(start-1) {
				return nil // the clause's own keyword, not a table
			}
			t, ok, err := s.temporalAt(j)
			if err != nil || !ok {
				return err
			}
			point, found = &t, true
			j = t.last + 1
		}
	}
	if err := take(); err != nil {
		return err
	}
	clauseEnd := j - 1
	// An alias may stand before the hint.
	if s.introducesTable(start - 1) {
		k := j
		if s.is(k, "AS") && !s.is(k+1, "OF") {
			k++
		}
		if s.name(k) {
			if _, ok, err := s.optionsHint(k + 1); err != nil {
				return err
			} else if ok && !used[k+1] && !s.introducesTable(k) {
				j = k + 1
				if err := take(); err != nil {
					return err
				}
				s.replaceSpan(k+1, j-1, "")
			}
		}
	}
	if !found {
		return nil
	}
	if s.is(start-1, "INTO", "OVERWRITE", "UPDATE") || s.is(start-1, "FROM") && s.is(start-2, "DELETE") {
		return unsupported("A hint or AS OF on the table that is written", "")
	}
	if end+1 <= clauseEnd {
		s.replaceSpan(end+1, clauseEnd, "")
	}
	clause := s.edit(end)
	if point == nil {
		clause.post = " AS OF " + quoteString(c.Encode()) + clause.post
		return nil
	}
	text, literal, err := s.literalPoint(*point)
	if err != nil {
		return err
	}
	if literal && text == "" {
		return s.errAt(point.expr)
	}
	if literal {
		c.with(point.point, text)
		clause.post = " AS OF " + quoteString(c.Encode()) + clause.post
		return nil
	}
	clause.post = " AS OF " + markerAsOf + "(" + quoteString(c.Encode()) + ", '" + point.point + "', " + clause.post
	for k := point.expr; k <= point.last; k++ {
		delete(s.edits, k)
	}
	s.wrap(point.last, point.last, "", ")")
	return nil
}
