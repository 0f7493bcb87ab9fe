package dialect

import (
	"strconv"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// cursor reads a statement by recursive descent. The first token that does not
// fit is kept in err; after it every method fails.
type cursor struct {
	s   *script
	i   int
	err error
	// half is set when the first > of a >> has been read.
	half bool
	// ignored names what was read and has no counterpart.
	ignored []string
}

// fail records a syntax error at the current token.
func (c *cursor) fail() {
	if c.err == nil {
		c.err = c.s.errAt(c.i)
	}
}

// accept reads the words if they come next.
func (c *cursor) accept(words ...string) bool {
	if c.err != nil || !c.s.seq(c.i, words...) {
		return false
	}
	c.i += len(words)
	return true
}

// oneOf reads one of the words and returns it, "" if none comes next.
func (c *cursor) oneOf(words ...string) string {
	if c.err != nil || !c.s.is(c.i, words...) {
		return ""
	}
	c.i++
	return c.s.upper[c.i-1]
}

func (c *cursor) expect(words ...string) {
	if !c.accept(words...) {
		c.fail()
	}
}

// end expects the end of the statement.
func (c *cursor) end() {
	if c.err == nil && c.i < len(c.s.toks) {
		c.fail()
	}
}

// ident reads a name.
func (c *cursor) ident() string {
	if c.err != nil || !c.s.name(c.i) {
		c.fail()
		return ""
	}
	c.i++
	return c.s.value(c.i - 1)
}

// name reads name or db.name.
func (c *cursor) name() Name {
	n := Name{Name: c.ident()}
	if c.accept(".") {
		n.DB, n.Name = n.Name, c.ident()
	}
	return n
}

// str reads a string literal.
func (c *cursor) str() string {
	if k := c.s.kind(c.i); c.err != nil || k != KindString && k != KindNString {
		c.fail()
		return ""
	}
	c.i++
	return c.s.value(c.i - 1)
}

// number reads an unsigned integer.
func (c *cursor) number() uint64 {
	n, err := strconv.ParseUint(c.s.text(c.i), 10, 64)
	if c.err != nil || c.s.kind(c.i) != KindNumber || err != nil {
		c.fail()
		return 0
	}
	c.i++
	return n
}

// account reads 'user'@'host', user@host or a name alone.
func (c *cursor) account() Account {
	a := Account{Host: "%"}
	if k := c.s.kind(c.i); k == KindString {
		a.Name = c.str()
	} else {
		a.Name = c.ident()
	}
	if c.err == nil && c.s.kind(c.i) == KindUserVar {
		a.Host = userVarName(c.s.text(c.i))
		c.i++
	}
	return a
}

// filter reads [LIKE 'x' | WHERE expr] up to the end of the statement.
func (c *cursor) filter() Filter {
	var f Filter
	switch {
	case c.accept("LIKE"):
		like := c.str()
		f.Like = &like
	case c.accept("WHERE"):
		exprs := c.expressions()
		if len(exprs) == 1 {
			f.Where = exprs[0]
		} else {
			c.fail()
		}
	}
	return f
}

// expressions parses the rest of the statement as a list of expressions.
func (c *cursor) expressions() []sqlparser.Expr {
	if c.err != nil {
		return nil
	}
	if c.i >= len(c.s.toks) {
		c.fail()
		return nil
	}
	start := c.s.toks[c.i].Start
	// The same offsets as in the statement, so that errors point into it.
	blank := strings.Repeat(" ", start)
	const verb = "SELECT"
	var text string
	if start >= len(verb) {
		text = verb + blank[len(verb):] + c.s.src[start:]
	} else {
		text = verb + " " + c.s.src[start:]
	}
	out := c.selected(text)
	if c.err == nil {
		c.i = len(c.s.toks)
	}
	return out
}

// parseOwn parses the statements that are this package's own. It returns nil
// for every other.
func (p *Parser) parseOwn(s *script) (sqlparser.Statement, error) {
	if err := s.refuse(); err != nil {
		return nil, err
	}
	c := &cursor{s: s}
	var stmt Statement
	var children []sqlparser.Expr
	switch {
	case c.accept("SHOW"):
		stmt = c.show()
	case s.is(0, "CHECK", "CHECKSUM", "OPTIMIZE", "REPAIR"), s.is(0, "ANALYZE") && s.find(1, "HISTOGRAM") < 0 && s.find(1, "COMPUTE") < 0:
		stmt = c.admin()
	case c.accept("DO"):
		stmt = Do{}
		children = c.expressions()
	case c.accept("HELP"):
		if s.kind(c.i) == KindString {
			stmt = Help{Topic: c.str()}
		} else {
			stmt = Help{Topic: c.ident()}
		}
	case c.accept("XA"):
		verb := c.oneOf("START", "BEGIN", "END", "PREPARE", "COMMIT", "ROLLBACK", "RECOVER")
		if verb == "" {
			c.fail()
		}
		if verb != "RECOVER" {
			return nil, unsupported("XA "+verb, "")
		}
		if c.accept("CONVERT", "XID") {
			c.i = len(s.toks)
		}
		stmt = XA{Verb: verb}
	case c.accept("SET", "ROLE"):
		stmt = c.setRole()
	case s.is(0, "EXPLAIN", "DESCRIBE", "DESC"):
		c.i = 1
		return p.explain(c)
	}
	if stmt == nil && c.err == nil {
		if stmt, children = p.definitionStatement(c); stmt == nil && c.err == nil {
			return nil, nil
		}
	}
	c.end()
	if c.err != nil {
		return nil, c.err
	}
	return p.inject(s, stmt, children...), nil
}

// show parses behind SHOW. It returns nil for forms that vitess knows.
func (c *cursor) show() Statement {
	switch {
	case c.accept("PARTITIONS"):
		st := ShowPartitions{Table: c.name()}
		if c.accept("PARTITION") {
			st.Spec = c.partitionSpec()
		}
		return st
	case c.accept("TAGS"):
		if !c.accept("FROM") {
			c.accept("IN")
		}
		return ShowTags{Table: c.name()}
	case c.accept("ENGINE"):
		st := ShowEngine{Engine: c.ident()}
		if st.What = c.oneOf("STATUS", "MUTEX", "LOGS"); st.What == "" {
			c.fail()
		}
		return st
	case c.accept("OPEN", "TABLES"):
		var st ShowOpenTables
		if c.oneOf("FROM", "IN") != "" {
			st.DB = c.ident()
		}
		st.Filter = c.filter()
		return st
	case c.accept("ERRORS"):
		c.limit()
		return ShowErrors{}
	case c.accept("COUNT", "(", "*", ")"):
		which := c.oneOf("WARNINGS", "ERRORS")
		if which == "" {
			c.fail()
		}
		return ShowCount{Errors: which == "ERRORS"}
	case c.accept("CREATE", "USER"):
		if c.accept("CURRENT_USER") {
			if c.accept("(") {
				c.expect(")")
			}
			return ShowCreateUser{Current: true}
		}
		a := c.account()
		return ShowCreateUser{User: a.Name, Host: a.Host}
	case c.accept("PROFILES"):
		return ShowProfiles{}
	case c.accept("PROFILE"):
		c.i = len(c.s.toks) // types, FOR QUERY n, LIMIT: nothing is recorded to choose from
		return ShowProfiles{One: true}
	case c.accept("BINLOG", "EVENTS"):
		return c.logEvents(false)
	case c.accept("RELAYLOG", "EVENTS"):
		return c.logEvents(true)
	case c.accept("SLAVE", "HOSTS"), c.accept("REPLICAS"):
		return ShowReplicas{}
	}
	return nil
}

func (c *cursor) logEvents(relay bool) Statement {
	st := ShowLogEvents{Relay: relay}
	if c.accept("IN") {
		st.Log = c.str()
	}
	if c.accept("FROM") {
		st.From = c.number()
	}
	c.limit()
	if relay && c.accept("FOR", "CHANNEL") {
		c.str()
	}
	return st
}

// limit reads [LIMIT n[, m]].
func (c *cursor) limit() {
	if c.accept("LIMIT") {
		c.number()
		if c.oneOf(",", "OFFSET") != "" {
			c.number()
		}
	}
}

// partitionSpec reads (p = v, …).
func (c *cursor) partitionSpec() []PartitionValue {
	var out []PartitionValue
	c.expect("(")
	for {
		v := PartitionValue{Column: c.ident()}
		c.expect("=")
		if text := c.partitionLiteral(); text != nil {
			v.Value = *text
		} else {
			v.Null = true
		}
		out = append(out, v)
		if c.err != nil || !c.accept(",") {
			break
		}
	}
	c.expect(")")
	return out
}

// partitionLiteral reads the value of a partition column; nil is NULL.
func (c *cursor) partitionLiteral() *string {
	var text string
	switch k := c.s.kind(c.i); {
	case c.accept("NULL"):
		return nil
	case c.accept("DATE"), c.accept("TIMESTAMP"), c.accept("TIME"):
		text = c.str()
	case c.accept("TRUE"):
		text = "true"
	case c.accept("FALSE"):
		text = "false"
	case c.s.is(c.i, "-") && c.s.kind(c.i+1) == KindNumber:
		text = "-" + c.s.text(c.i+1)
		c.i += 2
	case k == KindNumber:
		text = c.s.text(c.i)
		c.i++
	default:
		text = c.str()
	}
	return &text
}

// admin parses ANALYZE | CHECK | CHECKSUM | OPTIMIZE | REPAIR TABLE.
func (c *cursor) admin() Statement {
	st := AdminTables{Verb: c.oneOf("ANALYZE", "CHECK", "CHECKSUM", "OPTIMIZE", "REPAIR")}
	c.oneOf("NO_WRITE_TO_BINLOG", "LOCAL")
	if c.oneOf("TABLE", "TABLES") == "" {
		c.fail()
	}
	for {
		st.Tables = append(st.Tables, c.name())
		if c.err != nil || !c.accept(",") {
			break
		}
	}
	for c.err == nil {
		o := c.oneOf("QUICK", "FAST", "MEDIUM", "EXTENDED", "CHANGED", "USE_FRM")
		if o == "" && c.accept("FOR", "UPGRADE") {
			o = "FOR UPGRADE"
		}
		if o == "" {
			break
		}
		st.Options = append(st.Options, o)
	}
	return st
}

func (c *cursor) setRole() Statement {
	switch {
	case c.accept("DEFAULT"):
		return SetRole{Mode: "DEFAULT"}
	case c.accept("NONE"):
		return SetRole{Mode: "NONE"}
	}
	st := SetRole{Mode: "LIST"}
	if c.accept("ALL") {
		if !c.accept("EXCEPT") {
			return SetRole{Mode: "ALL"}
		}
		st.Mode = "EXCEPT"
	}
	for {
		st.Roles = append(st.Roles, c.account())
		if c.err != nil || !c.accept(",") {
			return st
		}
	}
}

// explain parses behind EXPLAIN the forms with a format that go-mysql-server
// does not know.
func (p *Parser) explain(c *cursor) (sqlparser.Statement, error) {
	s := c.s
	st := Explain{}
	if c.accept("FOR", "CONNECTION") {
		return nil, unsupported("EXPLAIN FOR CONNECTION", "")
	}
	st.Analyze = c.accept("ANALYZE")
	if !c.accept("FORMAT") {
		return nil, nil
	}
	c.expect("=")
	if s.kind(c.i) == KindString {
		st.Format = strings.ToUpper(c.str())
	} else {
		st.Format = strings.ToUpper(c.ident())
	}
	if c.err != nil {
		return nil, c.err
	}
	switch st.Format {
	case "JSON", "TRADITIONAL":
	case "TREE":
		if !st.Analyze && s.kind(c.i-1) == KindWord {
			return nil, nil // vitess and the planner know it
		}
	default:
		if strings.HasPrefix(st.Format, "DEBUG") || strings.HasPrefix(st.Format, "TREE") || strings.HasPrefix(st.Format, "ESTIMATES") {
			return nil, nil
		}
		return nil, &Error{Number: ErrnoExplainFormat, State: sqlStateGeneral, Message: "Unknown EXPLAIN format name: '" + st.Format + "'"}
	}
	if c.i >= len(s.toks) {
		return nil, s.errAt(c.i)
	}
	st.Text = s.src[s.toks[c.i].Start:]
	inner, err := p.ParseStatement(st.Text, s.mode)
	if err != nil {
		return nil, err
	}
	st.Statement = inner.Statement
	return p.inject(s, st), nil
}
