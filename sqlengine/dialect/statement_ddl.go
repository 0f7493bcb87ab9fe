package dialect

import (
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/tributarydb/tributary/storage/schema"
)

// ColumnDefinition is a column of CREATE or ALTER TABLE. Field.Name is the last
// name of Path; the field's id is 0.
type ColumnDefinition struct {
	// Path names the column, or a nested field from the column down.
	Path  []string
	Field schema.Field
	// HasNull, HasDefault and HasComment tell what is written from what is assumed.
	HasNull, HasDefault, HasComment bool
	PrimaryKey                      bool
	// nullDefault: DEFAULT NULL is written, without parentheses.
	nullDefault bool
	// Move is the place: FIRST, AFTER x; nil where none is given. Its Column is Field.Name.
	Move *schema.Move
}

// Action is one action of an ALTER TABLE.
type Action interface {
	alterAction()
}

// The statements that change tables and databases. Ignored, where there is one,
// names what was read and has no counterpart in Paimon, for warnings.
type (
	// CreateTable is CREATE TABLE. At most one of Like and Query is set. The query's
	// children are one subquery expression: [CreateTable] has it as child.
	CreateTable struct {
		Table       Name
		IfNotExists bool
		Definition  schema.Definition
		Ignored     []string
		// Like is the table that columns, keys and options are copied from, except what
		// LikeExcluding names in upper case (OPTIONS, CONSTRAINTS, PARTITIONS, ALL).
		Like          *Name
		LikeExcluding []string
		// HasQuery is CREATE TABLE … AS SELECT.
		HasQuery bool
	}
	// DropTables is DROP TABLE. Temporary tables do not exist.
	DropTables struct {
		Tables    []Name
		IfExists  bool
		Temporary bool
	}
	// DropViews is DROP VIEW.
	DropViews struct {
		Views    []Name
		IfExists bool
	}
	// RenameTables is RENAME TABLE a TO b, c TO d: pairs of old and new names.
	RenameTables struct {
		Pairs [][2]Name
	}
	// TruncateTable is TRUNCATE TABLE [PARTITION (…)].
	TruncateTable struct {
		Table      Name
		Partitions []map[string]*string
	}
	// AlterTable is ALTER TABLE. Its actions are in the order of the statement.
	AlterTable struct {
		Table    Name
		IfExists bool
		Actions  []Action
		Ignored  []string
		// Keys is set for DISABLE | ENABLE KEYS, which MySQL answers with a note where an
		// engine has no such thing.
		Keys bool
	}
	// CreateIndex is CREATE INDEX: no index is made.
	CreateIndex struct {
		Table   Name
		Index   string
		Columns []string
		Unique  bool
	}
	// DropIndex is DROP INDEX i ON t.
	DropIndex struct {
		Table Name
		Index string
	}
	// CreateDatabase is CREATE DATABASE.
	CreateDatabase struct {
		Database    string
		IfNotExists bool
		Ignored     []string
	}
	// DropDatabase is DROP DATABASE; as in MySQL the tables go with it, unless RESTRICT is said.
	DropDatabase struct {
		Database string
		IfExists bool
		Restrict bool
	}
	// AlterDatabase is ALTER DATABASE with a character set or collation, which are fixed.
	AlterDatabase struct {
		Database string // "" is the current one
	}
	// AnalyzeTable is ANALYZE TABLE … COMPUTE STATISTICS.
	AnalyzeTable struct {
		Table     Name
		Partition []PartitionValue
		Columns   []string
		All       bool // FOR ALL COLUMNS
	}
	// Call is CALL [db.]name(…).
	Call struct {
		Procedure Name
		Args      []CallArg
	}
)

// CallArg is an argument of CALL.
type CallArg struct {
	// Name is the name of name => value, "" for a positional argument.
	Name string
	// Text is the value of a literal, as written; nil is NULL.
	Text *string
	// Child is the index of the value among the statement's children where it is no
	// literal, else -1.
	Child int
}

// The actions of ALTER TABLE.
type (
	// AddColumns is ADD [COLUMN].
	AddColumns struct {
		Column      ColumnDefinition
		IfNotExists bool
	}
	// ModifyColumn is MODIFY and CHANGE: the column Path becomes Column, under the new name
	// Column.Field.Name. As in MySQL what Column does not say is taken away.
	ModifyColumn struct {
		Path   []string
		Column ColumnDefinition
	}
	// DropColumn is DROP [COLUMN].
	DropColumn struct {
		Path     []string
		IfExists bool
	}
	// Change is a change that needs nothing else.
	Change struct {
		Change schema.Change
	}
	// AddPrimaryKey is ADD PRIMARY KEY.
	AddPrimaryKey struct {
		Columns []string
	}
	// RenameTo is RENAME TO.
	RenameTo struct {
		To Name
	}
	// AddPartitions is ADD [IF NOT EXISTS] PARTITION (…) ….
	AddPartitions struct {
		Specs       []map[string]*string
		IfNotExists bool
	}
	// DropPartitions is DROP [IF EXISTS] PARTITION (…), ….
	DropPartitions struct {
		Specs    []map[string]*string
		IfExists bool
	}
	// TagAction is a tag statement of Spark, as a procedure whose first argument is the table.
	TagAction struct {
		Procedure   string
		Args        []CallArg
		IfNotExists bool // an existing tag is no error
		IfExists    bool // a missing tag is no error
	}
)

func (AddColumns) alterAction()     {}
func (ModifyColumn) alterAction()   {}
func (DropColumn) alterAction()     {}
func (Change) alterAction()         {}
func (AddPrimaryKey) alterAction()  {}
func (RenameTo) alterAction()       {}
func (AddPartitions) alterAction()  {}
func (DropPartitions) alterAction() {}
func (TagAction) alterAction()      {}

func (CreateTable) dialectStatement()    {}
func (DropTables) dialectStatement()     {}
func (DropViews) dialectStatement()      {}
func (RenameTables) dialectStatement()   {}
func (TruncateTable) dialectStatement()  {}
func (AlterTable) dialectStatement()     {}
func (CreateIndex) dialectStatement()    {}
func (DropIndex) dialectStatement()      {}
func (CreateDatabase) dialectStatement() {}
func (DropDatabase) dialectStatement()   {}
func (AlterDatabase) dialectStatement()  {}
func (AnalyzeTable) dialectStatement()   {}
func (Call) dialectStatement()           {}

// definitionStatement parses the statements that define data and CALL; nil for others.
func (p *Parser) definitionStatement(c *cursor) (stmt Statement, children []sqlparser.Expr) {
	s := c.s
	switch {
	case s.is(0, "CREATE"):
		return p.create(c)
	case c.accept("REPLACE", "TABLE"):
		c.err = unsupported("REPLACE TABLE", "drop the table and create it, or use INSERT OVERWRITE")
	case s.is(0, "DROP"):
		return c.drop(), nil
	case s.seq(0, "ALTER", "TABLE"):
		c.i = 2
		return c.alterTable(), nil
	case s.seq(0, "ALTER", "IGNORE", "TABLE"):
		c.i = 3
		return c.alterTable(), nil
	case s.is(0, "ALTER") && s.is(1, "DATABASE", "SCHEMA"):
		c.i = 2
		return c.alterDatabase(), nil
	case s.is(0, "RENAME") && s.is(1, "TABLE", "TABLES"):
		c.i = 2
		return c.renameTables(), nil
	case c.accept("TRUNCATE"):
		c.accept("TABLE")
		st := TruncateTable{Table: c.name()}
		for c.accept("PARTITION") {
			st.Partitions = append(st.Partitions, c.partitionMap())
			c.accept(",")
		}
		return st, nil
	case c.accept("COMMENT", "ON", "TABLE"):
		st := AlterTable{Table: c.name()}
		c.expect("IS")
		var comment *string
		if !c.accept("NULL") {
			text := c.str()
			comment = &text
		}
		st.Actions = []Action{Change{schema.SetComment{Comment: comment}}}
		return st, nil
	case s.seq(0, "ANALYZE", "TABLE") && s.find(2, "COMPUTE", "STATISTICS") > 0:
		c.i = 2
		return c.analyze(), nil
	case c.accept("CALL"):
		return c.call()
	}
	return nil, nil
}

// create parses CREATE DATABASE, TABLE and INDEX.
func (p *Parser) create(c *cursor) (Statement, []sqlparser.Expr) {
	s := c.s
	switch {
	case s.is(1, "DATABASE", "SCHEMA"):
		c.i = 2
		return c.createDatabase(), nil
	case s.seq(1, "OR", "REPLACE", "TABLE"):
		c.err = unsupported("CREATE OR REPLACE TABLE", "drop the table and create it, or use INSERT OVERWRITE")
	case s.is(1, "TEMPORARY", "TEMP") && s.is(2, "TABLE"):
		c.err = unsupported("CREATE TEMPORARY TABLE", "")
	case s.is(1, "TABLE"):
		c.i = 2
		return p.createTable(c)
	case s.seq(1, "EXTERNAL", "TABLE"):
		c.i = 3
		return p.createTable(c)
	case s.is(1, "INDEX"), s.is(1, "UNIQUE", "FULLTEXT", "SPATIAL") && s.is(2, "INDEX"):
		st := CreateIndex{Unique: s.is(1, "UNIQUE")}
		if c.i = 2; !s.is(1, "INDEX") {
			c.i = 3
		}
		st.Index = c.ident()
		if c.accept("USING") {
			c.ident()
		}
		c.expect("ON")
		st.Table = c.name()
		st.Columns = c.keyParts()
		c.indexOptions()
		for c.err == nil && c.oneOf("ALGORITHM", "LOCK") != "" {
			c.accept("=")
			c.ident()
		}
		return st, nil
	}
	return nil, nil
}

// drop parses DROP TABLE, VIEW, DATABASE and INDEX.
func (c *cursor) drop() Statement {
	switch {
	case c.s.is(1, "TABLE", "TABLES"), c.s.is(1, "TEMPORARY") && c.s.is(2, "TABLE", "TABLES"):
		st := DropTables{Temporary: c.s.is(1, "TEMPORARY")}
		if c.i = 2; st.Temporary {
			c.i = 3
		}
		st.IfExists = c.accept("IF", "EXISTS")
		st.Tables = c.names()
		c.oneOf("RESTRICT", "CASCADE")
		c.accept("PURGE")
		return st
	case c.accept("DROP", "VIEW"):
		st := DropViews{IfExists: c.accept("IF", "EXISTS")}
		st.Views = c.names()
		c.oneOf("RESTRICT", "CASCADE")
		return st
	case c.accept("DROP", "DATABASE"), c.accept("DROP", "SCHEMA"):
		st := DropDatabase{IfExists: c.accept("IF", "EXISTS")}
		st.Database = c.ident()
		st.Restrict = c.oneOf("CASCADE", "RESTRICT") == "RESTRICT"
		return st
	case c.accept("DROP", "INDEX"):
		st := DropIndex{Index: c.ident()}
		c.expect("ON")
		st.Table = c.name()
		for c.err == nil && c.oneOf("ALGORITHM", "LOCK") != "" {
			c.accept("=")
			c.ident()
		}
		return st
	}
	return nil
}

// names reads name, name, ….
func (c *cursor) names() []Name {
	out := []Name{c.name()}
	for c.accept(",") {
		out = append(out, c.name())
	}
	return out
}

func (c *cursor) renameTables() Statement {
	var st RenameTables
	for c.err == nil {
		from := c.name()
		c.expect("TO")
		st.Pairs = append(st.Pairs, [2]Name{from, c.name()})
		if !c.accept(",") {
			break
		}
	}
	return st
}

func (c *cursor) createDatabase() Statement {
	st := CreateDatabase{IfNotExists: c.accept("IF", "NOT", "EXISTS")}
	st.Database = c.ident()
	for c.err == nil && c.i < len(c.s.toks) {
		switch {
		case c.charset():
		case c.accept("ENCRYPTION"), c.accept("DEFAULT", "ENCRYPTION"):
			c.accept("=")
			c.str()
		case c.accept("COMMENT"):
			c.accept("=")
			c.str()
			st.Ignored = append(st.Ignored, "COMMENT")
		case c.s.is(c.i, "LOCATION"):
			c.err = unsupported("CREATE DATABASE … LOCATION", "a database lies in the warehouse's folder")
		case c.accept("WITH", "DBPROPERTIES"), c.accept("WITH"):
			if keys, _ := c.options(); len(keys) > 0 {
				st.Ignored = append(st.Ignored, "WITH")
			}
		default:
			c.fail()
		}
	}
	return st
}

func (c *cursor) alterDatabase() Statement {
	var st AlterDatabase
	if !c.s.is(c.i, "CHARACTER", "CHARSET", "COLLATE", "DEFAULT", "ENCRYPTION", "READ") {
		st.Database = c.ident()
	}
	if c.s.is(c.i, "SET", "UNSET", "READ") {
		c.err = unsupported("ALTER DATABASE … "+c.s.upper[c.i], "")
		return st
	}
	if c.err == nil && c.i >= len(c.s.toks) {
		c.fail()
	}
	for c.err == nil && c.i < len(c.s.toks) {
		switch {
		case c.charset():
		case c.accept("ENCRYPTION"), c.accept("DEFAULT", "ENCRYPTION"):
			c.accept("=")
			c.str()
		default:
			c.fail()
		}
	}
	return st
}

// charset reads [DEFAULT] {CHARACTER SET | CHARSET | COLLATE} [=] name, which
// changes nothing: strings are UTF-8, compared by their bytes.
func (c *cursor) charset() bool {
	switch {
	case c.accept("DEFAULT", "CHARACTER", "SET"), c.accept("CHARACTER", "SET"), c.accept("DEFAULT", "CHARSET"), c.accept("CHARSET"),
		c.accept("DEFAULT", "COLLATE"), c.accept("COLLATE"), c.accept("CHAR", "SET"):
	default:
		return false
	}
	c.accept("=")
	if c.s.kind(c.i) == KindString {
		c.str()
	} else {
		c.ident()
	}
	return true
}

// partitionMap reads (p = v, …) as a partition's spec.
func (c *cursor) partitionMap() map[string]*string {
	out := map[string]*string{}
	for _, v := range c.partitionSpec() {
		if v.Null {
			out[v.Column] = nil
		} else {
			text := v.Value
			out[v.Column] = &text
		}
	}
	return out
}

func (c *cursor) analyze() Statement {
	st := AnalyzeTable{Table: c.name()}
	if c.accept("PARTITION") {
		st.Partition = c.partitionSpec()
	}
	c.expect("COMPUTE", "STATISTICS")
	c.accept("NOSCAN")
	switch {
	case c.accept("FOR", "ALL", "COLUMNS"):
		st.All = true
	case c.accept("FOR", "COLUMNS"):
		st.Columns = []string{c.ident()}
		for c.accept(",") {
			st.Columns = append(st.Columns, c.ident())
		}
	}
	return st
}
