package dialect

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// Marker functions: what has no place in vitess's grammar travels through it as
// a call of one of these and becomes AST afterwards (pass_markers.go).
const (
	markerAsOf        = "tributary_as_of"        // (carrier, kind, expr)
	markerAssign      = "tributary_assign"       // (name, expr): @name := expr
	markerCastBoolean = "tributary_cast_boolean" // (expr)
	markerRollup      = "tributary_rollup"       // (): last item of GROUP BY
	markerAny         = "tributary_any"          // (subquery): operand of a comparison
	markerAll         = "tributary_all"          // (subquery)
	markerBitNot      = "tributary_bit_not"      // (expr): ~expr
	markerMember      = "tributary_member"       // (array): right side of x MEMBER OF (array), behind =
	markerSounds      = "tributary_sounds"       // (expr): right side of x SOUNDS LIKE expr, behind =
	markerConcat      = "tributary_pipe"         // (): a ^ marker ^ b stands for a || b
)

// rewriteTokens lays the edits for everything that vitess reads differently.
func (s *script) rewriteTokens() error {
	s.isQuery = s.query()
	if err := s.rewriteTableClauses(); err != nil {
		return err
	}
	for i := range s.toks {
		if err := s.rewriteToken(i); err != nil {
			return err
		}
	}
	return nil
}

func (s *script) rewriteToken(i int) error {
	if e := s.edits[i]; e != nil && e.replaced {
		return nil // taken by a rule further left
	}
	switch s.kind(i) {
	case KindWord:
		return s.rewriteWord(i)
	case KindQuoted:
		if s.text(i)[0] == '"' {
			s.replace(i, quoteName(s.value(i)))
		}
	case KindNString:
		s.replace(i, quoteString(s.value(i)))
	case KindString:
		text := s.text(i)
		if strings.IndexByte(text, '\\') >= 0 && (s.mode.NoBackslashEscapes ||
			strings.Contains(text, `\%`) || strings.Contains(text, `\_`)) {
			s.replace(i, quoteString(s.value(i))) // vitess drops the backslash of \% and \_
		}
	case KindNumber:
		if text := s.text(i); strings.ContainsAny(text, "eE") {
			if _, err := strconv.ParseFloat(text, 64); errors.Is(err, strconv.ErrRange) {
				return &Error{Number: ErrnoIllegalNumber, State: "22007", Message: "Illegal double '" + text + "' value found during parsing"}
			}
		}
	case KindBit:
		s.replace(i, bitsToHex(s.text(i)))
	case KindUserVar:
		if s.is(i+1, ":=") && !s.inSet(i) {
			return s.rewriteAssignment(i)
		}
	case KindHint:
		if !s.is(i-1, "SELECT", "INSERT", "UPDATE", "DELETE", "REPLACE") {
			s.replace(i, "") // vitess knows hints behind the verb only
		}
	case KindOp:
		return s.rewriteOperator(i)
	}
	return nil
}

// bitsToHex writes b'…' or 0b… as a hexadecimal literal: both are bytes in texts and
// a number in arithmetic, but vitess makes a number of bits everywhere.
func bitsToHex(text string) string {
	bits := strings.Trim(text[1:], "'b")
	if text[0] == '0' {
		bits = text[2:]
	}
	n, ok := new(big.Int).SetString(bits, 2)
	if !ok {
		return text
	}
	digits := n.Text(16)
	if n.Sign() == 0 {
		digits = ""
	}
	for len(digits) < (len(bits)+7)/8*2 {
		digits = "0" + digits
	}
	return "x'" + digits + "'"
}

// topComma reports whether the parentheses that open at token i hold a list.
func topComma(s *script, i int) bool {
	for j := i + 1; j < s.match[i]; j++ {
		if s.is(j, ",") {
			return true
		}
		if s.match[j] > j {
			j = s.match[j]
		}
	}
	return false
}

func (s *script) rewriteOperator(i int) error {
	switch {
	case s.is(i, "~"):
		end := s.operandEnd(i + 1)
		if end < 0 {
			return s.errAt(i + 1)
		}
		s.replace(i, markerBitNot+"(")
		s.wrap(end, end, "", ")")
	case s.is(i, "("):
		// FROM ((SELECT …)) t: vitess wants single parentheses.
		for j := i; s.is(i-1, "FROM", "JOIN", ",", "LATERAL") && s.is(j+1, "(") && s.match[j] > 0 &&
			s.match[j+1] == s.match[j]-1 && s.is(j+2, "SELECT", "WITH", "VALUES", "TABLE", "("); j++ {
			s.replace(j+1, "")
			s.replace(s.match[j+1], "")
		}
	case s.is(i, "||") && s.mode.PipesAsConcat:
		s.replace(i, "^ "+markerConcat+"() ^")
	case s.is(i, "{"):
		return s.rewriteBraces(i)
	}
	return nil
}

// rewriteBraces handles the ODBC escapes {d '…'}, {t '…'}, {ts '…'}, {fn f()}
// and {oj …}.
func (s *script) rewriteBraces(i int) error {
	end := s.match[i]
	if end < 0 || s.kind(i+1) != KindWord {
		return s.errAt(i)
	}
	typed := map[string]string{"D": "DATE", "T": "TIME", "TS": "TIMESTAMP"}[s.upper[i+1]]
	if typed != "" && end == i+3 && s.kind(i+2) == KindString {
		text, err := typedLiteral(typed, s.value(i+2))
		if err != nil {
			return err
		}
		s.replaceSpan(i, end, text)
		return nil
	}
	if !s.is(i+1, "D", "T", "TS", "FN", "OJ") {
		return s.errAt(i)
	}
	s.replace(i, "(")
	s.replace(i+1, "")
	s.replace(end, ")")
	return nil
}

func (s *script) rewriteWord(i int) error {
	word := s.text(i)
	if !plainName(word) {
		s.replace(i, quoteName(word))
		return nil
	}
	if s.mustQuote(i) {
		s.replace(i, quoteName(word))
		return nil
	}
	if s.is(i-1, ".") {
		return nil // part of a name
	}
	switch s.upper[i] {
	case "DATE", "TIME", "TIMESTAMP":
		if k := s.kind(i + 1); k == KindString && !s.is(i-1, "AS") {
			text, err := typedLiteral(s.upper[i], s.value(i+1))
			if err != nil {
				return err
			}
			s.replaceSpan(i, i+1, text)
		}
	case "CAST", "TRY_CAST":
		if s.is(i+1, "(") {
			return s.rewriteCast(i)
		}
	case "CONVERT":
		if s.is(i+1, "(") {
			return s.rewriteConvert(i)
		}
	case "ANY", "SOME", "ALL":
		if s.is(i-1, "=", "<", ">", "<=", ">=", "<>", "!=") && s.is(i+1, "(") && s.is(i+2, "SELECT", "WITH", "TABLE", "VALUES", "(") && s.match[i+1] > 0 {
			marker := markerAny
			if s.is(i, "ALL") {
				marker = markerAll
			}
			s.replace(i, marker+"(")
			s.wrap(s.match[i+1], s.match[i+1], "", ")")
		}
	case "WITH":
		if s.is(i+1, "ROLLUP") && i > 0 {
			if !s.grouped(i) {
				return s.errAt(i)
			}
			if i+2 < len(s.toks) && !s.is(i+2, ")", "HAVING", "WINDOW", "ORDER", "LIMIT", "UNION", "EXCEPT", "INTERSECT", "INTO", "FOR", "LOCK", "ON") {
				return s.errAt(i + 2)
			}
			s.replaceSpan(i, i+1, ", "+markerRollup+"()")
		}
	case "SELECT":
		s.rewriteSelectOptions(i)
	case "SUBSTRING", "SUBSTR", "MID":
		if s.is(i+1, "(") && s.match[i+1] > 0 {
			for j := i + 2; j < s.match[i+1]; j++ {
				if s.match[j] > j {
					j = s.match[j]
				} else if s.is(j, "FROM", "FOR") {
					s.replace(j, ",")
				}
			}
		}
	case "TRIM":
		if s.is(i+1, "(") && s.is(i+2, "LEADING", "TRAILING", "BOTH") && s.is(i+3, "FROM") {
			s.wrap(i+2, i+2, "", " ' '")
		}
	case "INTERVAL":
		if end := s.match[max(min(i+1, len(s.match)-1), 0)]; s.is(i+1, "(") && end > 0 && topComma(s, i+1) {
			s.replace(i, IntervalFunction)
			return nil
		}
		if k := s.kind(i + 1); (k == KindString || k == KindNumber) && s.kind(i+2) == KindWord {
			if text, unit, ok := compoundInterval(s.value(i+1), s.upper[i+2]); ok {
				s.replace(i+1, text)
				s.replace(i+2, unit)
			}
		}
	case "PRECEDING", "FOLLOWING":
		// vitess takes integers and intervals.
		if k := s.kind(i - 1); (k == KindParam || k == KindNumber && strings.ContainsAny(s.text(i-1), ".eE")) &&
			s.is(i-2, "BETWEEN", "AND", "ROWS", "RANGE") {
			s.wrap(i-1, i-1, "INTERVAL ", " "+boundUnit)
		}
	case "MEMBER":
		if s.seq(i+1, "OF", "(") && s.match[i+2] > 0 {
			s.replaceSpan(i, i+1, "= "+markerMember)
		}
	case "SOUNDS":
		if end := s.operandEnd(i + 2); s.is(i+1, "LIKE") && end > 0 {
			s.replaceSpan(i, i+1, "= "+markerSounds+"(")
			s.wrap(end, end, "", ")")
		}
	case "JSON_VALUE":
		s.rewriteReturning(i)
	case "UNKNOWN":
		if s.is(i-1, "IS") || s.is(i-1, "NOT") && s.is(i-2, "IS") {
			s.replace(i, "NULL")
		}
	case "ROW":
		if s.is(i+1, "(") && i > 0 && !s.is(i-1, "EACH") {
			s.replace(i, "") // a row constructor needs no word in vitess
		}
	case "RESPECT":
		if s.is(i+1, "NULLS") && s.is(i-1, ")") {
			s.replaceSpan(i, i+1, "")
		}
	case "FROM":
		if s.is(i+1, "FIRST") && s.is(i-1, ")") && s.is(i+2, "OVER", "RESPECT") {
			s.replaceSpan(i, i+1, "")
		}
	case "FOR":
		s.dropLock(i)
	case "LOCK":
		if s.seq(i+1, "IN", "SHARE", "MODE") {
			s.replaceSpan(i, i+3, "")
		}
	case "DISTINCTROW":
		if s.is(i-1, "SELECT", "SQL_NO_CACHE") {
			s.replace(i, "DISTINCT")
		}
	case "USE", "FORCE", "IGNORE":
		if s.is(i+1, "INDEX", "KEY") && i > 0 {
			s.dropIndexHint(i)
		}
	}
	return nil
}

// grouped reports whether the clause at token i stands behind a GROUP BY of its query.
func (s *script) grouped(i int) bool {
	for i--; i > 0; i-- {
		switch {
		case s.is(i, ")") && s.match[i] >= 0:
			i = s.match[i]
		case s.is(i, "BY") && s.is(i-1, "GROUP"):
			return true
		case s.is(i, "SELECT", "(", "FROM", "WHERE", "HAVING", "ORDER"):
			return false
		}
	}
	return false
}

// rewriteSelectOptions drops the modifiers of SELECT that mean nothing here and
// that vitess takes in some orders only.
func (s *script) rewriteSelectOptions(i int) {
	for j := i + 1; ; j++ {
		switch {
		case s.is(j, "SQL_CACHE", "SQL_NO_CACHE", "HIGH_PRIORITY", "SQL_SMALL_RESULT", "SQL_BIG_RESULT", "SQL_BUFFER_RESULT"):
			if !s.is(j+1, ",", ".", "(") {
				s.replace(j, "")
			}
		case s.is(j, "ALL", "DISTINCT", "DISTINCTROW", "STRAIGHT_JOIN", "SQL_CALC_FOUND_ROWS"):
		case s.kind(j) == KindHint:
		default:
			return
		}
	}
}

// dropIndexHint removes USE|FORCE|IGNORE INDEX|KEY [FOR …] (…): there are no
// indexes to choose.
func (s *script) dropIndexHint(i int) {
	j := i + 2
	if s.is(j, "FOR") {
		switch {
		case s.is(j+1, "JOIN"):
			j += 2
		case s.is(j+1, "ORDER", "GROUP") && s.is(j+2, "BY"):
			j += 3
		}
	}
	if s.is(j, "(") && s.match[j] > 0 {
		s.replaceSpan(i, s.match[j], "")
		if s.is(s.match[j]+1, ",") && s.is(s.match[j]+2, "USE", "FORCE", "IGNORE") {
			s.replace(s.match[j]+1, "")
		}
	}
}

// dropLock removes FOR UPDATE|SHARE [OF t, …] [NOWAIT | SKIP LOCKED]: reads
// take no locks.
func (s *script) dropLock(i int) {
	if !s.is(i+1, "UPDATE", "SHARE") || i == 0 || s.is(i-1, "INDEX", "KEY") {
		return
	}
	j := i + 2
	if s.is(j, "OF") {
		for j = s.nameEnd(j + 1); s.is(j, ","); {
			j = s.nameEnd(j + 1)
		}
	}
	switch {
	case s.is(j, "NOWAIT"):
		j++
	case s.seq(j, "SKIP", "LOCKED"):
		j += 2
	}
	s.replaceSpan(i, j-1, "")
}

// rewriteReturning turns JSON_VALUE(doc, path RETURNING type) into a cast.
func (s *script) rewriteReturning(i int) {
	if !s.is(i+1, "(") || s.match[i+1] < 0 {
		return
	}
	end := s.match[i+1]
	r := -1
	for j := i + 2; j < end; j++ {
		if s.match[j] > j {
			j = s.match[j]
		} else if s.is(j, "RETURNING") {
			r = j
		}
	}
	if r < 0 || r+1 >= end || s.find(r, "ON") > 0 && s.find(r, "ON") < end {
		return
	}
	text, ok := s.castType(r+1, end-1)
	if !ok {
		text = s.src[s.toks[r+1].Start:s.toks[end-1].End]
	}
	s.replaceSpan(r, end-1, "")
	s.wrap(i, end, "CAST(", " AS "+text+")")
}

// inSet reports whether token i is the target of an assignment of a SET
// statement, which vitess knows.
func (s *script) inSet(i int) bool {
	if !s.is(0, "SET") {
		return false
	}
	for j := i - 1; j >= 0; j-- {
		if s.is(j, ")") && s.match[j] >= 0 {
			j = s.match[j]
			continue
		}
		if s.is(j, "(") {
			return false
		}
	}
	return s.is(i-1, "SET", ",")
}

// rewriteAssignment turns @v := expr inside an expression into a marker call.
func (s *script) rewriteAssignment(i int) error {
	end := s.exprEnd(i + 2)
	if end < 0 {
		return s.errAt(i + 2)
	}
	s.replace(i, fmt.Sprintf("%s(%s,", markerAssign, quoteString(userVarName(s.text(i)))))
	s.replace(i+1, "")
	s.wrap(end, end, "", ")")
	return nil
}

// userVarName returns the name in a token such as @x or @`a b`.
func userVarName(text string) string {
	name := strings.TrimPrefix(text, "@")
	if len(name) >= 2 && strings.IndexByte("`'\"", name[0]) >= 0 {
		q := name[:1]
		name = strings.ReplaceAll(name[1:len(name)-1], q+q, q)
	}
	return strings.ToLower(name)
}
