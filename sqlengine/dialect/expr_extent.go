package dialect

// maxOperandDepth bounds the recursion over unary operators and assignments.
const maxOperandDepth = 500

// operandEnd returns the index of the last token of the operand (an expression
// without binary operators) that starts at token i, or -1 when none does.
func (s *script) operandEnd(i int) int {
	if s.depth >= maxOperandDepth {
		return -1
	}
	s.depth++
	defer func() { s.depth-- }()
	end := -1
	switch s.kind(i) {
	case KindString, KindNString:
		for end = i; s.kind(end+1) == KindString; {
			end++
		}
	case KindNumber, KindHex, KindBit, KindParam, KindSysVar:
		end = i
	case KindUserVar:
		end = i
		if s.is(i+1, ":=") {
			return s.exprEnd(i + 2)
		}
	case KindOp:
		switch {
		case s.is(i, "+", "-", "!", "~"):
			return s.operandEnd(i + 1)
		case s.is(i, "(", "{"):
			end = s.match[i]
		}
	case KindWord, KindQuoted:
		switch {
		case s.is(i, "NOT", "BINARY", "EXISTS", "ROW", "DISTINCT") && s.operandEnd(i+1) >= 0:
			return s.operandEnd(i + 1)
		case s.is(i, "INTERVAL"):
			if e := s.exprEnd(i + 1); e >= 0 && s.kind(e+1) == KindWord {
				return e + 1
			}
			return -1
		case s.is(i, "CASE"):
			end = s.caseEnd(i)
		case s.kind(i+1) == KindString && s.kind(i) == KindWord && (s.is(i, "DATE", "TIME", "TIMESTAMP") || s.text(i)[0] == '_'):
			end = i + 1
		default:
			for end = i; s.is(end+1, ".") && (s.name(end+2) || s.is(end+2, "*")); {
				end += 2
			}
			if s.is(end+1, "(") {
				end = s.match[end+1]
				if end >= 0 && s.is(end+1, "OVER") {
					if s.is(end+2, "(") {
						end = s.match[end+2]
					} else if s.name(end + 2) {
						end += 2
					}
				}
			}
		}
	}
	for end >= 0 && s.is(end+1, "COLLATE") && s.kind(end+2) != KindEOF {
		end += 2
	}
	return end
}

// caseEnd returns the END of the CASE at token i, or -1.
func (s *script) caseEnd(i int) int {
	depth := 0
	for ; i < len(s.toks); i++ {
		switch {
		case s.is(i, "CASE"):
			depth++
		case s.is(i, "END"):
			if depth--; depth == 0 {
				return i
			}
		case s.is(i, "(") && s.match[i] > i:
			i = s.match[i]
		case s.is(i, ")"):
			return -1
		}
	}
	return -1
}

// exprEnd returns the index of the last token of the longest expression that
// starts at token i, or -1 when none does.
func (s *script) exprEnd(i int) int {
	end := s.operandEnd(i)
	for end >= 0 {
		j := end + 1
		switch {
		case s.is(j, "+", "-", "*", "/", "%", "^", "&", "|", "<<", ">>", "<", ">", "<=", ">=", "<>", "!=", "=", "<=>",
			"&&", "||", "->", "->>", "AND", "OR", "XOR", "DIV", "MOD", "LIKE", "REGEXP", "RLIKE", "IN", "BETWEEN", "ESCAPE"):
			j++
		case s.is(j, "IS"):
			if j++; s.is(j, "NOT") {
				j++
			}
			if s.is(j, "NULL", "TRUE", "FALSE", "UNKNOWN") {
				end = j
				continue
			}
			return end
		case s.is(j, "NOT") && s.is(j+1, "LIKE", "REGEXP", "RLIKE", "IN", "BETWEEN"):
			j += 2
		case s.seq(j, "SOUNDS", "LIKE"):
			j += 2
		case s.seq(j, "MEMBER", "OF"):
			j += 2
		default:
			return end
		}
		next := s.operandEnd(j)
		if next < 0 {
			return end
		}
		end = next
	}
	return end
}
