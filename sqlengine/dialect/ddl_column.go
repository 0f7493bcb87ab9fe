package dialect

import (
	"strconv"
	"strings"

	"github.com/tributarydb/tributary/storage/schema"
)

// The keys that tableKey tells apart.
const (
	keyPrimary = "PRIMARY KEY"
	keyOther   = "KEY"
)

// columnDefinition reads a column: its name or path, type and attributes.
func (c *cursor) columnDefinition() ColumnDefinition {
	d := ColumnDefinition{Path: c.path()}
	if c.err != nil {
		return d
	}
	d.Field.Name = d.Path[len(d.Path)-1]
	if c.s.is(c.i, "AS") {
		c.err = unsupported("The computed column "+d.Field.Name, "a Paimon table stores columns only; compute it in a query")
		return d
	}
	before := len(c.ignored)
	d.Field.Type = c.columnType()
	for c.err == nil && c.attribute(&d) {
	}
	if c.err == nil && d.nullDefault && d.HasNull && d.Field.Type != nil && d.Field.Type.NotNull {
		c.err = &Error{Number: ErrnoInvalidDefault, State: sqlStateSyntax, Message: "Invalid default value for '" + d.Field.Name + "'"}
	}
	if c.err == nil && d.Field.Type != nil && d.Field.Default != nil {
		d.Field.Default = booleanDefault(d.Field.Type, d.Field.Default)
	}
	for i := before; i < len(c.ignored); i++ {
		c.ignored[i] += " of `" + d.Field.Name + "`"
	}
	return d
}

// booleanDefault is a default of TRUE, FALSE, 0 or 1 as the type has it.
func booleanDefault(t *schema.Type, text *string) *string {
	is := map[schema.Root]map[string]string{
		schema.Boolean: {"0": "false", "1": "true"},
		schema.TinyInt: {"false": "0", "true": "1"}, schema.SmallInt: {"false": "0", "true": "1"},
		schema.Int: {"false": "0", "true": "1"}, schema.BigInt: {"false": "0", "true": "1"},
	}
	if other, ok := is[t.Root][*text]; ok {
		return &other
	}
	return text
}

// path reads a.b.c.
func (c *cursor) path() []string {
	out := []string{c.ident()}
	for c.accept(".") {
		out = append(out, c.ident())
	}
	return out
}

// attribute reads one attribute of a column; false where none comes.
func (c *cursor) attribute(d *ColumnDefinition) bool {
	ignore := func(what string) { c.ignored = append(c.ignored, what) }
	if c.charset() {
		return true
	}
	switch {
	case c.accept("NOT", "NULL"):
		d.Field.Type, d.HasNull = d.Field.Type.WithNotNull(true), true
	case c.accept("NULL"):
		d.Field.Type, d.HasNull = d.Field.Type.WithNotNull(false), true
	case c.accept("DEFAULT"):
		d.HasDefault = true
		literal := !c.s.is(c.i, "(")
		text, constant := c.defaultValue()
		d.nullDefault = literal && constant && text == nil
		if d.Field.Default = text; !constant {
			d.HasDefault = false
			ignore("DEFAULT that is no constant")
		}
	case c.accept("ON", "UPDATE"):
		c.skipFunction()
		ignore("ON UPDATE")
	case c.s.is(c.i, "AUTO_INCREMENT", "AUTOINCREMENT", "IDENTITY"):
		c.err = c.autoIncrement()
	case c.accept("PRIMARY", "KEY"), c.accept("PRIMARY"), c.accept("KEY"):
		d.PrimaryKey = true
		c.enforced()
	case c.accept("UNIQUE"):
		c.accept("KEY")
		c.enforced()
		ignore("UNIQUE")
	case c.accept("COMMENT"):
		d.Field.Description, d.HasComment = c.str(), true
	case c.accept("ASCII"), c.accept("UNICODE"), c.accept("BINARY"), c.accept("BYTE"), c.accept("VISIBLE"):
	case c.accept("INVISIBLE"):
		ignore("INVISIBLE")
	case c.accept("COLUMN_FORMAT"), c.accept("STORAGE"):
		if c.oneOf("FIXED", "DYNAMIC", "DEFAULT", "DISK", "MEMORY", "COMPRESSED") == "" {
			c.fail()
		}
	case c.accept("ENGINE_ATTRIBUTE"), c.accept("SECONDARY_ENGINE_ATTRIBUTE"):
		c.accept("=")
		c.str()
	case c.accept("SRID"):
		c.number()
	case c.s.is(c.i, "CHECK") || c.s.is(c.i, "CONSTRAINT"):
		if c.accept("CONSTRAINT") && !c.s.is(c.i, "CHECK", "PRIMARY", "UNIQUE", "REFERENCES", "NOT") {
			c.ident()
		}
		if c.accept("CHECK") {
			if c.s.is(c.i, "(") {
				c.skipBrackets()
			} else {
				c.fail()
			}
			c.enforced()
			ignore("CHECK")
		}
	case c.s.is(c.i, "REFERENCES"):
		c.references()
		ignore("REFERENCES")
	case c.s.is(c.i, "GENERATED", "AS"):
		c.err = unsupported("The computed column "+d.Field.Name, "a Paimon table stores columns only; compute it in a query")
	case c.s.is(c.i, "METADATA"):
		c.err = unsupported("The metadata column "+d.Field.Name, "")
	case c.accept("FIRST"):
		d.Move = &schema.Move{Column: d.Field.Name}
	case c.accept("AFTER"):
		d.Move = &schema.Move{Column: d.Field.Name, After: c.ident()}
	default:
		return false
	}
	return c.err == nil
}

// defaultValue reads what stands behind DEFAULT. constant is false for what is no literal: its value is not known yet.
func (c *cursor) defaultValue() (text *string, constant bool) {
	some := func(t string) (*string, bool) { return &t, true }
	switch k := c.s.kind(c.i); {
	case c.accept("NULL"):
		return nil, true
	case c.accept("TRUE"):
		return some("true")
	case c.accept("FALSE"):
		return some("false")
	case k == KindString || k == KindNString:
		return some(c.str())
	case c.s.is(c.i, "DATE", "TIME", "TIMESTAMP") && c.s.kind(c.i+1) == KindString:
		c.i++
		return some(c.str())
	case k == KindNumber:
		c.i++
		return some(c.s.text(c.i - 1))
	case c.s.is(c.i, "-", "+") && c.s.kind(c.i+1) == KindNumber:
		c.i += 2
		return some(strings.TrimPrefix(c.s.text(c.i-2)+c.s.text(c.i-1), "+"))
	case k == KindBit:
		c.i++
		return some(bitText(c.s.text(c.i - 1)))
	case k == KindHex:
		c.i++
		return nil, false
	case c.s.kind(c.i) == KindWord && strings.HasPrefix(c.s.text(c.i), "_") && c.s.kind(c.i+1) == KindString: // _utf8mb4'x'
		c.i++
		return some(c.str())
	case c.s.is(c.i, "("):
		end := c.s.match[c.i]
		if end < 0 {
			c.fail()
			return nil, true
		}
		inner := *c
		inner.i++
		if text, constant = inner.defaultValue(); constant && inner.err == nil && inner.i == end {
			c.i = end + 1
			return text, true
		}
		c.skipBrackets()
		return nil, false
	}
	c.skipFunction()
	return nil, false
}

// bitText is the value of b'101' or 0b101.
func bitText(text string) string {
	n := uint64(0)
	for _, d := range []byte(strings.Trim(text[1:], "'b")) {
		n = n<<1 | uint64(d-'0')
	}
	return strconv.FormatUint(n, 10)
}

// skipFunction reads a function's name with its arguments, as CURRENT_TIMESTAMP(6).
func (c *cursor) skipFunction() {
	c.ident()
	if c.err == nil && c.s.is(c.i, "(") {
		c.skipBrackets()
	}
}

// enforced reads [[NOT] ENFORCED] and Flink's other words behind a key.
func (c *cursor) enforced() {
	c.accept("NOT")
	if c.err == nil && c.s.is(c.i-1, "NOT") && !c.s.is(c.i, "ENFORCED") {
		c.i-- // NOT NULL
		return
	}
	c.accept("ENFORCED")
}

// references reads REFERENCES t (a, …) [MATCH x] [ON DELETE x] [ON UPDATE x].
func (c *cursor) references() {
	c.expect("REFERENCES")
	c.name()
	if c.s.is(c.i, "(") {
		c.nameList()
	}
	for c.err == nil {
		switch {
		case c.accept("MATCH"):
			c.ident()
		case c.accept("ON", "DELETE"), c.accept("ON", "UPDATE"):
			if !c.accept("SET", "NULL") && !c.accept("SET", "DEFAULT") && !c.accept("NO", "ACTION") && c.oneOf("RESTRICT", "CASCADE") == "" {
				c.fail()
			}
		default:
			return
		}
	}
}

// tableKey reads a key or constraint of CREATE TABLE, or what stands behind ADD in ALTER TABLE. ok is false
// where a column comes. Only a primary key is kept; the others are noted in c.ignored.
func (c *cursor) tableKey() (kind string, columns []string, ok bool) {
	i := c.i
	named := c.accept("CONSTRAINT")
	name := ""
	if named && !c.s.is(c.i, "PRIMARY", "UNIQUE", "FOREIGN", "CHECK") {
		name = c.ident()
	}
	ignore := func(what string) {
		if name != "" {
			what += " " + quoteName(name)
		}
		c.ignored = append(c.ignored, what)
	}
	keyName := func() {
		if c.err == nil && c.s.name(c.i) && !c.s.is(c.i, "USING") {
			name = c.ident()
		}
	}
	switch {
	case c.accept("PRIMARY", "KEY"):
		c.indexType()
		if c.err == nil && !c.s.is(c.i, "(") {
			c.fail()
		}
		columns = c.keyParts()
		c.indexOptions()
		c.enforced()
		return keyPrimary, columns, true
	case c.s.is(c.i, "UNIQUE") && !c.columnNamed():
		c.i++
		c.oneOf("INDEX", "KEY")
		keyName()
		c.indexType()
		c.keyParts()
		c.indexOptions()
		c.enforced()
		ignore("UNIQUE KEY")
		return keyOther, nil, true
	case c.accept("FOREIGN", "KEY"):
		keyName()
		c.nameList()
		c.references()
		ignore("FOREIGN KEY")
		return keyOther, nil, true
	case c.s.is(c.i, "CHECK") && c.s.is(c.i+1, "("):
		c.i++
		c.skipBrackets()
		c.enforced()
		ignore("CHECK")
		return keyOther, nil, true
	case named:
		c.fail()
		return "", nil, true
	case c.s.is(c.i, "INDEX", "KEY") && !c.columnNamed(),
		c.s.is(c.i, "FULLTEXT", "SPATIAL") && (c.s.is(c.i+1, "INDEX", "KEY") || !c.columnNamed()):
		what := c.s.upper[c.i]
		c.i++
		if what == "FULLTEXT" || what == "SPATIAL" {
			c.oneOf("INDEX", "KEY")
		}
		keyName()
		c.indexType()
		c.keyParts()
		c.indexOptions()
		ignore("KEY")
		return keyOther, nil, true
	}
	c.i = i
	return "", nil, false
}

// columnNamed reports whether the keyword at the current token is the name of a column: it is followed by a type that is not
// followed by a list of columns.
func (c *cursor) columnNamed() bool {
	i := c.i + 1
	switch {
	case c.s.is(i, "(", "USING", "INDEX", "KEY"), c.s.kind(i) == KindQuoted:
		return false
	case c.s.kind(i) != KindWord:
		return true
	case c.s.is(i+1, "(") && c.s.kind(i+2) != KindNumber, c.s.is(i+1, "USING"):
		return false
	}
	return true
}

// indexType reads [USING BTREE | HASH].
func (c *cursor) indexType() {
	if c.accept("USING") {
		c.ident()
	}
}

// keyParts reads (a, b(10), c DESC, (expr), …) and gives the columns.
func (c *cursor) keyParts() []string {
	var out []string
	c.expect("(")
	for c.err == nil {
		if c.s.is(c.i, "(") {
			c.skipBrackets()
		} else {
			out = append(out, c.ident())
			c.parameters(1)
		}
		c.oneOf("ASC", "DESC")
		if !c.accept(",") {
			break
		}
	}
	c.expect(")")
	return out
}

// indexOptions reads what may stand behind the columns of an index.
func (c *cursor) indexOptions() {
	for c.err == nil {
		switch {
		case c.accept("KEY_BLOCK_SIZE"):
			c.accept("=")
			c.number()
		case c.s.is(c.i, "USING"):
			c.indexType()
		case c.accept("WITH", "PARSER"):
			c.ident()
		case c.accept("COMMENT"), c.accept("ENGINE_ATTRIBUTE"), c.accept("SECONDARY_ENGINE_ATTRIBUTE"):
			c.accept("=")
			c.str()
		case c.accept("VISIBLE"), c.accept("INVISIBLE"):
		default:
			return
		}
	}
}
