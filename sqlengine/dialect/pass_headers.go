package dialect

import (
	"sort"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// restorePositions puts column headers (AliasedExpr.InputExpression) and the
// positions of statements inside DDL back to the user's own text.
func restorePositions(stmt sqlparser.Statement, r *rewritten) {
	v := &visitor{
		column: func(col *sqlparser.AliasedExpr) {
			if _, ok := col.Expr.(*sqlparser.ColName); ok || col.EndParsePos <= col.StartParsePos {
				return
			}
			from, to, ok := r.span(col.StartParsePos, col.EndParsePos)
			if !ok {
				return
			}
			col.InputExpression = r.s.header(from, to)
			col.StartParsePos, col.EndParsePos = from, to
		},
		ddl: func(d *sqlparser.DDL) {
			if d.SubStatementPositionEnd <= d.SubStatementPositionStart {
				return
			}
			if from, to, ok := r.spanWithDeleted(d.SubStatementPositionStart, d.SubStatementPositionEnd); ok {
				d.SubStatementPositionStart, d.SubStatementPositionEnd = from, to
			}
		},
	}
	// The hooks return no errors, and a tree too deep for the walk fails in the
	// passes that follow.
	_, _ = walk(stmt, v)
}

// header returns the column name MySQL gives to the expression in the source
// span: its text, for a string literal its value.
func (s *script) header(from, to int) string {
	// vitess notes a start before the comma or the keywords of SELECT.
	i := sort.Search(len(s.toks), func(i int) bool { return s.toks[i].Start >= from })
	for s.is(i, ",", "SELECT", "ALL", "DISTINCT", "DISTINCTROW", "STRAIGHT_JOIN", "SQL_CALC_FOUND_ROWS") || s.kind(i) == KindHint {
		i++
	}
	if i < len(s.toks) && s.toks[i].Start < to {
		from = s.toks[i].Start
	}
	text := s.src[from:to]
	first := -1
	for ; i < len(s.toks) && s.toks[i].Start < to; i++ {
		if t := s.toks[i]; t.End <= to {
			if first < 0 {
				first = i
			}
			if t.Kind != KindString && t.Kind != KindNString {
				return text
			}
		}
	}
	if first < 0 {
		return text
	}
	return s.value(first)
}
