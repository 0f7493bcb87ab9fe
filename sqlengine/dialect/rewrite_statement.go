package dialect

// rewriteStatement lays the edits that depend on the kind of statement, then
// those of single tokens.
func (s *script) rewriteStatement() error {
	switch {
	case s.is(0, "SHOW"):
		s.rewriteShow()
	case s.is(0, "SET"):
		s.rewriteSet()
	case s.is(0, "INSERT", "REPLACE"):
		if err := s.rewriteInsert(0); err != nil {
			return err
		}
	case s.is(0, "DESC", "DESCRIBE", "EXPLAIN"):
		if s.is(1, "INSERT", "REPLACE") && !s.is(2, ".") && len(s.toks) > 2 {
			if err := s.rewriteInsert(1); err != nil {
				return err
			}
		} else {
			s.rewriteDescribe()
		}
	case s.seq(0, "START", "TRANSACTION"):
		s.rewriteStart()
	case s.is(0, "LOCK", "UNLOCK") && s.is(1, "TABLE"):
		s.replace(1, "TABLES")
	case s.is(0, "ANALYZE") && s.is(1, "LOCAL", "NO_WRITE_TO_BINLOG"):
		s.replace(1, "")
	case s.is(0, "ALTER") && s.find(1, "VIEW") > 0 && s.find(1, "VIEW") <= maxProgramHead && !s.is(1, "TABLE", "DATABASE", "USER"):
		s.replace(0, "CREATE OR REPLACE")
	case s.is(0, "CREATE"):
		s.stripCreateParens()
	case s.is(0, "("):
		s.stripOuterParens()
	}
	return s.rewriteTokens()
}

// rewriteShow maps spellings of SHOW that vitess lacks.
func (s *script) rewriteShow() {
	i := 1
	if s.is(i, "EXTENDED", "STORAGE") {
		s.replace(i, "")
		i++
	}
	if s.is(i, "FULL") {
		i++
	}
	switch {
	case s.is(i, "LOCAL"):
		s.replace(i, "SESSION")
	case s.is(i, "SCHEMAS"):
		s.replace(i, "DATABASES")
	case s.seq(i, "MASTER", "LOGS"):
		s.replace(i, "BINARY")
	case s.is(i, "COLUMNS", "FIELDS", "INDEX", "INDEXES", "KEYS") && s.is(i+1, "FROM", "IN"):
		if s.is(i, "FIELDS") {
			s.replace(i, "COLUMNS")
		}
		s.replace(i+1, "FROM")
		if j := s.nameEnd(i + 2); s.is(j, "IN") {
			s.replace(j, "FROM")
		}
	}
}

// rewriteSet maps forms of SET that vitess lacks.
func (s *script) rewriteSet() {
	switch {
	case s.is(1, "LOCAL") && s.is(2, "TRANSACTION"):
		s.replace(1, "SESSION")
	case s.seq(1, "SESSION", "CHARACTERISTICS", "AS", "TRANSACTION"):
		s.replaceSpan(2, 3, "")
	case s.is(1, "NAMES") && s.is(3, "COLLATE"):
		// vitess drops the collation.
		s.replace(3, ", collation_connection =")
		if s.kind(4) == KindWord {
			s.replace(4, quoteString(s.text(4)))
		}
	}
	for i := 1; i < len(s.toks); i++ {
		if s.is(i, "BINARY") && s.is(i-1, "=", ":=") && (i+1 == len(s.toks) || s.is(i+1, ",")) {
			s.replace(i, "'binary'")
		}
	}
}

// rewriteDescribe turns DESC t col and DESC t 'pattern' into SHOW COLUMNS.
func (s *script) rewriteDescribe() {
	i := 1
	if s.is(1, "EXTENDED", "FORMATTED", "PARTITIONS") && i+1 < len(s.toks) && !s.is(2, ".") {
		s.replace(1, "")
		i++
	}
	end := s.nameEnd(i)
	if end == i || end != len(s.toks)-1 || s.is(i, "SELECT", "TABLE", "FORMAT", "ANALYZE", "VALUES", "WITH") {
		return
	}
	if k := s.kind(end); k == KindWord || k == KindQuoted || k == KindString {
		s.replace(0, "SHOW COLUMNS FROM")
		s.replace(end, "LIKE "+quoteString(s.value(end)))
	}
}

// rewriteStart reduces the characteristics of START TRANSACTION to the one that
// vitess keeps.
func (s *script) rewriteStart() {
	if i := s.find(2, "WITH", "CONSISTENT", "SNAPSHOT"); i > 0 && s.find(2, ",") > 0 {
		s.replaceSpan(i, i+2, "")
		if s.is(i+3, ",") {
			s.replace(i+3, "")
		} else if s.is(i-1, ",") {
			s.replace(i-1, "")
		}
	}
}

// stripCreateParens drops the parentheses of CREATE VIEW … AS (SELECT …).
func (s *script) stripCreateParens() {
	i := s.find(1, "AS")
	if i < 0 || s.find(1, "VIEW") < 0 {
		return
	}
	i++
	end := len(s.toks) - 1
	if s.is(i, "(") && s.match[i] == end && s.is(i+1, "SELECT", "WITH", "(") {
		s.replace(i, "")
		s.replace(end, "")
	}
}

// stripOuterParens drops the parentheses around a whole query, which vitess
// takes in set operations only.
func (s *script) stripOuterParens() {
	i, end := 0, len(s.toks)-1
	for s.is(i, "(") && s.match[i] == end && s.is(i+1, "SELECT", "WITH", "TABLE", "VALUES", "(") {
		s.replace(i, "")
		s.replace(end, "")
		i++
		end--
	}
	if !s.is(i, "(") || s.match[i] < 0 {
		return
	}
	next := s.match[i] + 1
	if !s.is(next, "ORDER", "LIMIT") || !s.is(i+1, "SELECT", "WITH", "TABLE", "VALUES", "(") {
		return
	}
	for s.is(i+1, "(") && s.match[i+1] == next-2 { // ((…))
		s.replace(i, "")
		s.replace(next-1, "")
		i++
		next--
	}
	tail := next - 1
	limited := s.is(i+1, "(")
	for j := i + 1; j < next-1; j++ {
		if s.match[j] > j {
			j = s.match[j]
		}
		limited = limited || s.is(j, "LIMIT") || s.seq(j, "ORDER", "BY")
	}
	if limited {
		s.wrap(i, i, "SELECT * FROM ", "")
		s.wrap(tail, tail, "", " tributary_q")
		return
	}
	s.replace(i, "")
	s.replace(tail, "")
}
