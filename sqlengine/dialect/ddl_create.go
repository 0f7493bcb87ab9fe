package dialect

import (
	"strconv"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// createTable parses behind CREATE TABLE.
func (p *Parser) createTable(c *cursor) (Statement, []sqlparser.Expr) {
	st := CreateTable{IfNotExists: c.accept("IF", "NOT", "EXISTS")}
	st.Table = c.name()
	st.Definition.Options = map[string]string{}
	t := &tableParser{cursor: c, st: &st}
	defined := false
	switch {
	case c.s.is(c.i, "(") && c.s.is(c.i+1, "LIKE") && !c.s.is(c.i+2, ",", "("):
		c.i += 2
		t.like()
		c.expect(")")
	case c.s.is(c.i, "(") && !c.queryAt(c.i+1):
		defined = true
		t.elements()
	}
	for c.err == nil && c.i < len(c.s.toks) && !c.queryAt(c.i) && t.option() {
	}
	if st.Like == nil && c.accept("LIKE") {
		t.like()
		for c.err == nil && c.i < len(c.s.toks) && t.option() {
		}
	}
	var children []sqlparser.Expr
	if c.err == nil && st.Like == nil && c.i < len(c.s.toks) {
		c.oneOf("IGNORE", "REPLACE")
		c.accept("AS")
		if !c.queryAt(c.i) {
			c.fail()
			return nil, nil
		}
		children = []sqlparser.Expr{p.subquery(c)}
		st.HasQuery = true
	}
	if c.err == nil && c.i < len(c.s.toks) {
		c.fail()
	}
	if c.err == nil && len(st.Definition.Fields) == 0 && st.Like == nil && !st.HasQuery {
		if !defined {
			c.fail()
		} else {
			c.err = &Error{Number: ErrnoNoColumns, State: "42000", Message: "A table must have at least 1 column"}
		}
	}
	if c.err == nil {
		blobColumns(&st.Definition)
		t.watermark()
	}
	st.Ignored = c.ignored
	return st, children
}

// queryAt reports whether a query starts at token i.
func (c *cursor) queryAt(i int) bool {
	for c.s.is(i, "(") {
		i++
	}
	return c.s.is(i, "SELECT", "VALUES", "TABLE") || c.s.is(i, "WITH") && !c.s.is(i+1, "(")
}

// subquery parses the rest of the statement as a query.
func (p *Parser) subquery(c *cursor) sqlparser.Expr {
	start := c.s.toks[c.i].Start
	parsed, err := p.ParseStatement(strings.Repeat(" ", start)+c.s.src[start:], c.s.mode)
	if err != nil {
		c.err = err
		return nil
	}
	q, ok := parsed.Statement.(sqlparser.SelectStatement)
	if !ok {
		c.fail()
		return nil
	}
	c.i = len(c.s.toks)
	return &sqlparser.Subquery{Select: q}
}

// tableParser reads the parts of CREATE TABLE.
type tableParser struct {
	*cursor
	st *CreateTable
	// names are the columns so far, in lower case.
	names map[string]bool
	// rowtime and watermarkExpr are those of WATERMARK FOR rowtime AS expr.
	rowtime, watermarkExpr string
}

// like reads the table behind LIKE, and what Flink says is left out.
func (t *tableParser) like() {
	n := t.name()
	t.st.Like = &n
	if !t.s.is(t.i, "(") {
		return
	}
	t.i++
	for t.err == nil && !t.accept(")") {
		how := t.oneOf("INCLUDING", "EXCLUDING", "OVERWRITING")
		what := t.oneOf("ALL", "CONSTRAINTS", "DISTRIBUTION", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS", "WATERMARKS")
		if how == "" || what == "" {
			t.fail()
		}
		if how == "EXCLUDING" {
			t.st.LikeExcluding = append(t.st.LikeExcluding, what)
		}
	}
}

// elements reads the columns and keys in parentheses.
func (t *tableParser) elements() {
	t.expect("(")
	if t.accept(")") {
		return
	}
	for t.err == nil {
		t.element()
		if !t.accept(",") {
			break
		}
	}
	t.expect(")")
}

func (t *tableParser) element() {
	if t.accept("WATERMARK", "FOR") {
		t.watermarkClause()
		return
	}
	if t.accept("PERIOD", "FOR") {
		t.err = unsupported("PERIOD FOR", "")
		return
	}
	key, columns, ok := t.tableKey()
	switch {
	case !ok:
		t.addColumn(t.columnDefinition())
	case key == keyPrimary:
		t.primaryKey(columns)
	}
}

func (t *tableParser) primaryKey(columns []string) {
	if t.err == nil && len(t.st.Definition.PrimaryKeys) > 0 {
		t.err = &Error{Number: ErrnoMultipleKey, State: "42000", Message: "Multiple primary key defined"}
	}
	t.st.Definition.PrimaryKeys = columns
}

func (t *tableParser) addColumn(d ColumnDefinition) {
	if t.err != nil {
		return
	}
	if t.names == nil {
		t.names = map[string]bool{}
	}
	if len(d.Path) > 1 {
		t.fail()
		return
	}
	if t.names[strings.ToLower(d.Field.Name)] {
		t.err = duplicateColumn(d.Field.Name)
		return
	}
	if d.Move != nil {
		t.fail()
		return
	}
	t.names[strings.ToLower(d.Field.Name)] = true
	if d.PrimaryKey {
		t.primaryKey([]string{d.Field.Name})
	}
	t.st.Definition.Fields = append(t.st.Definition.Fields, d.Field)
}

// watermarkClause reads WATERMARK FOR rowtime AS expr.
func (t *tableParser) watermarkClause() {
	if t.err == nil && t.rowtime != "" {
		t.fail()
		return
	}
	t.rowtime = t.ident()
	t.expect("AS")
	start := t.i
	t.skipExpression()
	if t.err == nil && t.i == start {
		t.fail()
	}
	if t.err == nil {
		t.watermarkExpr = t.s.src[t.s.toks[start].Start:t.s.toks[t.i-1].End]
	}
}

// watermark keeps the watermark as Flink does: in options that change nothing here.
func (t *tableParser) watermark() {
	if t.rowtime == "" {
		return
	}
	def := &t.st.Definition
	for _, f := range def.Fields {
		if f.Name == t.rowtime {
			t.setOption("schema.watermark.0.rowtime", t.rowtime)
			t.setOption("schema.watermark.0.strategy.expr", t.watermarkExpr)
			t.setOption("schema.watermark.0.strategy.data-type", f.Type.String())
			return
		}
	}
	t.err = &Error{Number: ErrnoBadField, State: "42S22", Message: "Unknown column '" + t.rowtime + "' in 'watermark'"}
}

// skipExpression goes to the comma or bracket that ends an expression.
func (c *cursor) skipExpression() {
	for c.err == nil && c.i < len(c.s.toks) && !c.s.is(c.i, ",", ")", "]", "}") {
		if c.s.is(c.i, "(", "[", "{") {
			c.skipBrackets()
			continue
		}
		c.i++
	}
}

// skipBrackets goes behind the bracket that closes the one at the current token.
func (c *cursor) skipBrackets() {
	if c.err != nil {
		return
	}
	if end := c.s.match[c.i]; end > c.i {
		c.i = end + 1
		return
	}
	c.fail()
}

func (t *tableParser) setOption(key, value string) {
	def := &t.st.Definition
	if _, ok := def.Options[key]; !ok {
		def.OptionKeys = append(def.OptionKeys, key)
	}
	def.Options[key] = value
}

// tableOptions are options of MySQL's CREATE TABLE that say how an engine stores a table.
var tableOptions = wordSet("ENGINE", "TYPE", "AVG_ROW_LENGTH", "CHECKSUM", "TABLE_CHECKSUM", "COMPRESSION", "CONNECTION", "DELAY_KEY_WRITE", "ENCRYPTION",
	"ENGINE_ATTRIBUTE", "SECONDARY_ENGINE_ATTRIBUTE", "SECONDARY_ENGINE", "INSERT_METHOD", "KEY_BLOCK_SIZE", "MAX_ROWS", "MIN_ROWS", "PACK_KEYS",
	"PASSWORD", "ROW_FORMAT", "STATS_AUTO_RECALC", "STATS_PERSISTENT", "STATS_SAMPLE_PAGES", "TABLESPACE", "AUTOEXTEND_SIZE", "AUTO_INCREMENT",
	"PAGE_CHECKSUM", "TRANSACTIONAL")

// engineOption reads an option of tableOptions, or the character set, of CREATE and ALTER TABLE.
func (c *cursor) engineOption() bool {
	if c.charset() {
		return true
	}
	switch {
	case c.s.is(c.i, "DATA", "INDEX") && c.s.is(c.i+1, "DIRECTORY"):
		c.i += 2
		c.accept("=")
		c.str()
		return true
	case c.s.is(c.i, "UNION") && (c.s.is(c.i+1, "=") || c.s.is(c.i+1, "(")):
		c.err = unsupported("The table option UNION", "")
		return true
	}
	if c.err != nil || c.s.kind(c.i) != KindWord || !tableOptions[c.s.upper[c.i]] {
		return false
	}
	c.i++
	c.accept("=")
	switch c.s.kind(c.i) {
	case KindString, KindNumber, KindWord, KindQuoted:
		c.i++
	default:
		c.fail()
	}
	return true
}

// option reads one clause behind the columns; false where none comes.
func (t *tableParser) option() bool {
	def := &t.st.Definition
	if t.accept(",") {
		return true
	}
	if t.engineOption() {
		return t.err == nil
	}
	switch {
	case t.accept("COMMENT"):
		t.accept("=")
		def.Comment, def.HasComment = t.str(), true
	case t.accept("PARTITIONED", "BY"):
		t.partitionedBy()
	case t.s.seq(t.i, "PARTITION", "BY"):
		t.err = unsupported("PARTITION BY "+strings.ToUpper(t.s.text(t.i+2)), "write PARTITIONED BY (column, …): every value of the columns is a partition")
	case t.accept("USING"):
		if what := t.ident(); t.err == nil && !strings.EqualFold(what, "paimon") {
			t.err = unsupported("USING "+what, "tables are Paimon tables")
		}
	case t.accept("LOCATION"):
		t.setOption("path", t.str())
	case t.s.is(t.i, "WITH", "TBLPROPERTIES", "OPTIONS") && t.s.is(t.i+1, "("):
		t.i++
		keys, values := t.options()
		for i, k := range keys {
			t.setOption(k, values[i])
		}
	case t.accept("CLUSTERED", "BY"):
		columns := t.nameList()
		if t.accept("SORTED", "BY") {
			t.err = unsupported("SORTED BY", "")
		}
		t.expect("INTO")
		n := t.number()
		t.expect("BUCKETS")
		t.setOption("bucket", strconv.FormatUint(n, 10))
		t.setOption("bucket-key", strings.Join(columns, ","))
	case t.s.is(t.i, "DISTRIBUTED") && t.s.is(t.i+1, "BY", "INTO"):
		t.err = unsupported("DISTRIBUTED BY", "set the options 'bucket' and 'bucket-key'")
	default:
		return false
	}
	return t.err == nil
}

// partitionedBy reads the columns of PARTITIONED BY, which may be defined there.
func (t *tableParser) partitionedBy() {
	def := &t.st.Definition
	if t.err == nil && len(def.PartitionKeys) > 0 {
		t.fail()
	}
	t.expect("(")
	for t.err == nil {
		if t.s.name(t.i) && t.s.is(t.i+1, "(") {
			t.err = unsupported("PARTITIONED BY "+t.s.text(t.i)+"(…)", "Paimon's partitions are columns; set the options 'bucket' and 'bucket-key' for buckets")
			return
		}
		if t.s.name(t.i) && t.s.is(t.i+1, ",", ")") {
			def.PartitionKeys = append(def.PartitionKeys, t.ident())
		} else {
			d := t.columnDefinition()
			t.addColumn(d)
			def.PartitionKeys = append(def.PartitionKeys, d.Field.Name)
		}
		if !t.accept(",") {
			break
		}
	}
	t.expect(")")
}

// nameList reads (a, b, …).
func (c *cursor) nameList() []string {
	c.expect("(")
	out := []string{c.ident()}
	for c.accept(",") {
		out = append(out, c.ident())
	}
	c.expect(")")
	return out
}

// options reads ('k' = 'v', …). Keys may be names with dots, values numbers and booleans, as Spark has them.
func (c *cursor) options() (keys, values []string) {
	c.expect("(")
	if c.accept(")") {
		return nil, nil
	}
	for c.err == nil {
		keys = append(keys, c.optionKey())
		c.accept("=")
		values = append(values, c.optionValue())
		if !c.accept(",") {
			break
		}
	}
	c.expect(")")
	return keys, values
}

// optionKey reads 'k' or a name such as file.format.
func (c *cursor) optionKey() string {
	if c.s.kind(c.i) == KindString || c.s.kind(c.i) == KindQuoted && c.s.text(c.i)[0] == '"' {
		c.i++
		return c.s.value(c.i - 1)
	}
	key := c.ident()
	for c.err == nil && c.s.is(c.i, ".", "-") && c.s.name(c.i+1) {
		key += c.s.text(c.i) + c.s.value(c.i+1)
		c.i += 2
	}
	return key
}

func (c *cursor) optionValue() string {
	switch c.s.kind(c.i) {
	case KindString, KindNString:
		return c.str()
	case KindQuoted:
		if c.s.text(c.i)[0] == '"' {
			c.i++
			return c.s.value(c.i - 1)
		}
	case KindNumber:
		c.i++
		return c.s.text(c.i - 1)
	}
	switch {
	case c.accept("TRUE"):
		return "true"
	case c.accept("FALSE"):
		return "false"
	case c.s.is(c.i, "-") && c.s.kind(c.i+1) == KindNumber:
		c.i += 2
		return "-" + c.s.text(c.i-1)
	}
	c.fail()
	return ""
}
