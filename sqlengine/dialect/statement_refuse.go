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

// refuse returns an error for statements that are understood and not served.
func (s *script) refuse() error {
	for _, words := range refused {
		if s.seq(0, words...) && !s.is(len(words), ".", "=") {
			return unsupported(strings.Join(words, " "), "")
		}
	}
	if s.is(0, "CREATE") && s.find(1, "VIEW", "IF", "NOT", "EXISTS") > 0 { // vitess has no grammar for it
		return unsupported("CREATE VIEW", "a warehouse of files keeps no views; begin the query with WITH name AS (SELECT …), or keep its rows with CREATE TABLE … AS SELECT")
	}
	if s.seq(0, "MERGE", "INTO") {
		return unsupported("MERGE INTO", "use INSERT, UPDATE and DELETE")
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
