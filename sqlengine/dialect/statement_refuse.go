package dialect

import "strings"

// refused are statements of MySQL, by their first words, that are recognised
// and not served.
var refused = [...][]string{
	{"HANDLER"}, {"RESET", "MASTER"}, {"RESET", "BINARY"}, {"RESET", "PERSIST"}, {"PURGE"}, {"CACHE", "INDEX"},
	{"LOAD", "INDEX"}, {"LOAD", "XML"}, {"INSTALL"}, {"UNINSTALL"}, {"CLONE"}, {"RESTART"}, {"SHUTDOWN"}, {"BINLOG"},
	{"CHANGE", "MASTER"}, {"IMPORT", "TABLE"}, {"ALTER", "INSTANCE"}, {"ALTER", "SERVER"}, {"ALTER", "TABLESPACE"},
	{"CREATE", "SERVER"}, {"CREATE", "TABLESPACE"}, {"CREATE", "UNDO"}, {"CREATE", "LOGFILE"}, {"CREATE", "RESOURCE"},
	{"DROP", "SERVER"}, {"DROP", "TABLESPACE"}, {"DROP", "RESOURCE"}, {"LOCK", "INSTANCE"}, {"UNLOCK", "INSTANCE"},
	{"GET", "DIAGNOSTICS"}, {"SET", "RESOURCE", "GROUP"}, {"SET", "DEFAULT", "ROLE"}, {"SET", "PASSWORD", "FOR"},
	{"SHOW", "PROCEDURE", "CODE"}, {"SHOW", "FUNCTION", "CODE"}, {"SHOW", "CREATE", "FUNCTION"},
	{"CREATE", "CATALOG"}, {"DROP", "CATALOG"}, {"USE", "CATALOG"}, {"SHOW", "CATALOGS"},
}

// refuse returns an error for statements that are understood and not served:
// the writing statements of the Paimon dialect and some of MySQL.
func (s *script) refuse() error {
	for _, words := range refused {
		if s.seq(0, words...) && !s.is(len(words), ".", "=") {
			return unsupported(strings.Join(words, " "), "")
		}
	}
	if what := s.writeDialect(); what != "" {
		return unsupportedWrite(what)
	}
	return nil
}

// find returns the first token from i on, outside brackets, where the words
// come, or -1.
func (s *script) find(i int, words ...string) int {
	for ; i < len(s.toks); i++ {
		if s.seq(i, words...) {
			return i
		}
		if s.match[i] > i {
			i = s.match[i]
		}
	}
	return -1
}

// nameEnd returns the token behind the name at i.
func (s *script) nameEnd(i int) int {
	if !s.name(i) {
		return i
	}
	for i++; s.is(i, ".") && s.name(i+1); {
		i += 2
	}
	return i
}

// writeDialect names the writing statement of the Paimon dialect, "" if it is
// none.
func (s *script) writeDialect() string {
	switch {
	case s.seq(0, "MERGE", "INTO"):
		return "MERGE INTO"
	case s.is(0, "CALL"):
		for i := range s.toks {
			if s.is(i, "=>") {
				return "CALL with named arguments"
			}
		}
	case s.is(0, "TRUNCATE") && s.find(1, "PARTITION", "(") > 0:
		return "TRUNCATE of a partition"
	case s.seq(0, "ANALYZE", "TABLE") && s.find(2, "COMPUTE", "STATISTICS") > 0:
		return "ANALYZE TABLE … COMPUTE STATISTICS"
	case s.is(0, "CREATE") && s.is(1, "DATABASE", "SCHEMA") && s.find(2, "WITH", "(") > 0:
		return "CREATE DATABASE with options"
	case s.is(0, "DROP") && s.is(1, "DATABASE", "SCHEMA") && s.is(len(s.toks)-1, "CASCADE", "RESTRICT"):
		return "DROP DATABASE … " + s.upper[len(s.toks)-1]
	case s.seq(0, "CREATE", "TABLE"), s.seq(0, "CREATE", "TEMPORARY", "TABLE"):
		return s.createDialect()
	case s.seq(0, "ALTER", "TABLE"):
		return s.alterDialect()
	}
	return ""
}

// createDialect finds what CREATE TABLE has of the Paimon dialect.
func (s *script) createDialect() string {
	i := 2
	if s.is(1, "TEMPORARY") {
		i++
	}
	if s.seq(i, "IF", "NOT", "EXISTS") {
		i += 3
	}
	i = s.nameEnd(i)
	switch {
	case s.find(i, "PARTITIONED", "BY") > 0:
		return "CREATE TABLE … PARTITIONED BY"
	case s.find(i, "WITH", "(") > 0:
		return "CREATE TABLE … WITH"
	}
	if !s.is(i, "(") || s.match[i] < 0 {
		return ""
	}
	end := s.match[i]
	for column := true; i < end; i++ {
		switch {
		case column && s.name(i+1) && s.kind(i+2) == KindWord:
			if typ := s.upper[i+2]; lakeTypes[typ] {
				return "The type " + typ + " in CREATE TABLE"
			}
		case s.seq(i, "NOT", "ENFORCED") && s.is(i-1, ")"):
			return "PRIMARY KEY … NOT ENFORCED"
		}
		if column = s.is(i+1, ","); s.match[i+1] > i+1 {
			i = s.match[i+1] - 1
		}
	}
	return ""
}

// lakeTypes are types of Paimon that MySQL does not have.
var lakeTypes = wordSet("STRING", "BYTES", "ARRAY", "MAP", "MULTISET", "ROW", "TIMESTAMP_LTZ", "VARIANT", "VECTOR")

// alterDialect finds what ALTER TABLE has of the Paimon dialect.
func (s *script) alterDialect() string {
	i := s.nameEnd(2)
	switch {
	case s.is(i, "SET", "RESET") && s.is(i+1, "("):
		return "ALTER TABLE … " + s.upper[i]
	case s.is(i, "CREATE", "DELETE", "RENAME", "REPLACE") && s.find(i, "TAG") > 0:
		return "ALTER TABLE … " + s.upper[i] + " TAG"
	case s.is(i, "DROP") && s.find(i, "PARTITION", "(") > 0:
		return "ALTER TABLE … DROP PARTITION"
	case s.is(i, "ADD") && s.find(i, "PARTITION", "(") > 0 && s.is(s.find(i, "PARTITION", "(")+3, "="):
		return "ALTER TABLE … ADD PARTITION"
	case s.is(i, "ADD", "MODIFY", "CHANGE", "ALTER"):
		for j := i + 1; j < len(s.toks); j++ {
			if s.name(j) && s.kind(j+1) == KindWord && lakeTypes[s.upper[j+1]] && (s.is(j-1, "COLUMN", "ADD", "MODIFY", "(", ",") || s.name(j-1)) {
				return "The type " + s.upper[j+1] + " in ALTER TABLE"
			}
		}
	}
	return ""
}
