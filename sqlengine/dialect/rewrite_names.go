package dialect

// nameWords are names in MySQL that vitess takes for keywords only. In queries
// they are quoted unless a parenthesis follows.
var nameWords = wordSet("BIT_AND", "BIT_OR", "BIT_XOR", "CLONE_ADMIN", "COPY", "ENCRYPTED", "EXCLUSIVE", "GROUP_CONCAT",
	"INPLACE", "ITEF_QUOTES", "JSON_ARRAYAGG", "JSON_OBJECTAGG", "NEXT", "NOW", "OFF", "PAGE_CHECKSUM",
	"PAGE_COMPRESSED", "PAGE_COMPRESSION_LEVEL", "PLAN", "SHARED", "SQL_CACHE", "SQL_NO_CACHE", "STD", "STDDEV",
	"STDDEV_POP", "STDDEV_SAMP", "SUBSTR", "SUBSTRING", "SYSTEM_TIME", "TRANSACTIONAL", "VARIANCE", "VAR_POP",
	"VAR_SAMP", "VECTOR", "VERSIONING", "YES")

// aliasWords are names in MySQL that vitess refuses as an alias.
var aliasWords = wordSet("ACCOUNT", "ATTRIBUTE", "COMMENT", "CONTAINED", "EXECUTE", "EXTRACT", "FILE", "FIRST", "FORMAT",
	"GET_FORMAT", "IDENTIFIED", "NONE", "PASSWORD", "PROCESS", "RELOAD", "SHUTDOWN", "SUPER", "TIMESTAMPADD",
	"TIMESTAMPDIFF", "VERSIONS", "VIEW")

// qualifiedWords are names in MySQL that vitess refuses behind a dot.
var qualifiedWords = wordSet("AVG", "CAST", "COUNT", "ESCAPE", "EVENT", "MAX", "MIN", "POSITION", "SUM", "TRIM")

func wordSet(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

// query reports whether the statement is a query or a change of rows, where the
// words of nameWords are no keywords.
func (s *script) query() bool {
	return s.is(0, "SELECT", "WITH", "VALUES", "TABLE", "(", "INSERT", "REPLACE", "UPDATE", "DELETE", "EXPLAIN", "DESCRIBE", "DESC") ||
		s.is(0, "CREATE") && s.find(1, "VIEW") > 0
}

// mustQuote reports whether the word at token i is a name that vitess would
// take for a keyword.
func (s *script) mustQuote(i int) bool {
	word := s.upper[i]
	switch {
	case s.is(i+1, "("):
		return false
	case nameWords[word]:
		return s.isQuery && !(word == "PLAN" && s.is(0, "EXPLAIN", "DESCRIBE", "DESC") && i < 4)
	case qualifiedWords[word]:
		return s.isQuery && s.is(i-1, ".")
	case aliasWords[word]:
		return s.isQuery && s.is(i-1, "AS")
	}
	return false
}
