package dialect

import (
	"fmt"
	"strings"

	"github.com/tributarydb/tributary/storage/schema"
)

// Limits of types.
const (
	maxDecimalPrecision = 38
	maxFraction         = 9
	// maxFloatBits is the greatest p of FLOAT(p) that is a FLOAT; a greater one is a DOUBLE, up to maxDoubleBits.
	maxFloatBits  = 24
	maxDoubleBits = 53
	// maxBits is the greatest n of BIT(n), maxSignedBits the greatest that fits BIGINT.
	maxBits, maxSignedBits = 64, 63
)

var (
	stringType = &schema.Type{Root: schema.Varchar, Length: schema.MaxLength}
	bytesType  = &schema.Type{Root: schema.Varbinary, Length: schema.MaxLength}
	bigNumber  = &schema.Type{Root: schema.Decimal, Precision: 20}
)

// plainTypes are the types that are one word. MySQL's texts of any size are STRING, its JSON is
// kept as the text it came as.
var plainTypes = map[string]*schema.Type{
	"STRING": stringType, "TINYTEXT": stringType, "MEDIUMTEXT": stringType, "LONGTEXT": stringType, "CLOB": stringType, "JSON": stringType,
	"BYTES": bytesType, "TINYBLOB": bytesType, "MEDIUMBLOB": bytesType, "LONGBLOB": bytesType,
	"BOOL": {Root: schema.Boolean}, "BOOLEAN": {Root: schema.Boolean},
	"DATE": {Root: schema.Date}, "VARIANT": {Root: schema.Variant},
	"BYTE": {Root: schema.TinyInt}, "SHORT": {Root: schema.SmallInt}, "YEAR": {Root: schema.Int},
}

// integerType is an integer type: itself and what holds it UNSIGNED.
type integerType struct{ signed, unsigned *schema.Type }

var (
	tinyInt  = &schema.Type{Root: schema.TinyInt}
	smallInt = &schema.Type{Root: schema.SmallInt}
	intType  = &schema.Type{Root: schema.Int}
	bigInt   = &schema.Type{Root: schema.BigInt}
)

// integers are the integer types. An UNSIGNED one is the next wider type, so that every value fits.
var integers = map[string]integerType{
	"TINYINT": {tinyInt, smallInt}, "INT1": {tinyInt, smallInt},
	"SMALLINT": {smallInt, intType}, "INT2": {smallInt, intType},
	"MEDIUMINT": {intType, intType}, "INT3": {intType, intType}, "MIDDLEINT": {intType, intType},
	"INT": {intType, bigInt}, "INTEGER": {intType, bigInt}, "INT4": {intType, bigInt},
	"BIGINT": {bigInt, bigNumber}, "INT8": {bigInt, bigNumber},
}

// unknownTypes are types of MySQL, Flink and Spark that Paimon has no counterpart of.
var unknownTypes = wordSet("POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON", "GEOMETRYCOLLECTION", "GEOMCOLLECTION",
	"INTERVAL", "RAW", "NULL", "SYMBOL", "UUID", "INET4", "INET6", "VOID")

// ParseType reads the text of a column type in any of the dialect's spellings.
func ParseType(text string) (*schema.Type, error) {
	s, err := newScript(text, Mode{})
	if err != nil {
		return nil, err
	}
	c := &cursor{s: s}
	t := c.columnType()
	c.end()
	if c.err != nil {
		return nil, c.err
	}
	return t, nil
}

// columnType reads a type, without NOT NULL behind it.
func (c *cursor) columnType() *schema.Type {
	return c.typeAt(0)
}

func (c *cursor) typeAt(depth int) *schema.Type {
	if depth > schema.MaxTypeDepth {
		c.tooDeep()
	}
	t := c.baseType(depth)
	for c.err == nil {
		root := schema.Array
		if c.accept("MULTISET") { // the suffix forms INT ARRAY, INT MULTISET
			root = schema.Multiset
		} else if !c.accept("ARRAY") {
			break
		}
		if depth++; depth > schema.MaxTypeDepth {
			c.tooDeep()
		}
		t = &schema.Type{Root: root, Elem: t}
	}
	if c.err != nil {
		return nil
	}
	return t
}

func (c *cursor) tooDeep() {
	if c.err == nil {
		c.err = &Error{Number: ErrnoStackOverrun, State: sqlStateGeneral, Message: fmt.Sprintf("A type is nested deeper than %d levels", schema.MaxTypeDepth)}
	}
}

// nestedType reads a type inside another one, with NOT NULL or NULL.
func (c *cursor) nestedType(depth int) *schema.Type {
	t := c.typeAt(depth + 1)
	if c.err != nil {
		return nil
	}
	switch {
	case c.accept("NOT", "NULL"):
		t = t.WithNotNull(true)
	case c.accept("NULL"):
	}
	return t
}

// wrongType makes an error about the parameters of a type.
func (c *cursor) wrongType(format string, args ...any) *schema.Type {
	if c.err == nil {
		c.err = &Error{Number: ErrnoTooBigPrecision, State: sqlStateSyntax, Message: fmt.Sprintf(format, args...)}
	}
	return nil
}

// parameters reads [(n[, m])]; got is how many there were.
func (c *cursor) parameters(most int) (n, m uint64, got int) {
	if !c.accept("(") {
		return 0, 0, 0
	}
	n, got = c.number(), 1
	if most > 1 && c.accept(",") {
		m, got = c.number(), 2
	}
	c.expect(")")
	return n, m, got
}

func (c *cursor) baseType(depth int) *schema.Type {
	if c.err != nil || c.s.kind(c.i) != KindWord {
		c.fail()
		return nil
	}
	at := c.i
	word := c.s.upper[at]
	c.i++
	if t, ok := plainTypes[word]; ok {
		c.parameters(1) // YEAR(4)
		return t
	}
	if n, ok := integers[word]; ok {
		width, _, got := c.parameters(1)
		if c.signs() {
			return n.unsigned
		}
		if got == 1 && width == 1 && n.signed == tinyInt {
			return plainTypes["BOOLEAN"]
		}
		return n.signed
	}
	switch word {
	case "LONG":
		if c.charWord() {
			return c.characterType(false)
		}
		if c.accept("VARBINARY") {
			return bytesType
		}
		return bigInt // of Spark; MySQL's LONG is LONG VARCHAR
	case "TEXT":
		c.parameters(1)
		return stringType
	case "BLOB":
		c.parameters(1)
		return bytesType
	case "CHAR", "CHARACTER", "NCHAR":
		if c.accept("VARYING") {
			return c.varchar()
		}
		if c.accept("BYTE") {
			return &schema.Type{Root: schema.Binary, Length: 1}
		}
		return c.characterType(true)
	case "NATIONAL":
		if c.oneOf("VARCHAR", "VARCHARACTER") != "" {
			return c.varchar()
		}
		if c.oneOf("CHAR", "CHARACTER") == "" {
			c.fail()
		}
		if c.accept("VARYING") {
			return c.varchar()
		}
		return c.characterType(true)
	case "VARCHAR", "NVARCHAR", "VARCHARACTER":
		return c.varchar()
	case "BINARY":
		if c.accept("VARYING") {
			return c.lengthType(schema.Varbinary, schema.MaxLength)
		}
		return c.lengthType(schema.Binary, 1)
	case "VARBINARY":
		return c.lengthType(schema.Varbinary, schema.MaxLength)
	case "FLOAT", "FLOAT4":
		bits, _, got := c.parameters(2)
		c.signs()
		if got == 1 && bits > maxDoubleBits {
			return c.wrongType("FLOAT(%d) is not possible: the precision is at most %d", bits, maxDoubleBits)
		}
		if got == 1 && bits > maxFloatBits {
			return &schema.Type{Root: schema.Double}
		}
		return &schema.Type{Root: schema.Float}
	case "DOUBLE", "REAL", "FLOAT8":
		c.accept("PRECISION")
		c.parameters(2)
		c.signs()
		return &schema.Type{Root: schema.Double}
	case "DECIMAL", "DEC", "NUMERIC", "FIXED", "NUMBER":
		return c.decimalType()
	case "BIT":
		n, _, got := c.parameters(1)
		switch {
		case got == 0 || n == 1:
			return plainTypes["BOOLEAN"]
		case n >= 1 && n <= maxSignedBits:
			return bigInt
		case n == maxBits:
			return bigNumber
		}
		return c.wrongType("BIT(%d) is not possible: the width is 1 to %d", n, maxBits)
	case "TIME", "DATETIME", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ":
		return c.timeType(word)
	case "ENUM", "SET":
		c.expect("(")
		for c.str(); c.accept(","); {
			c.str()
		}
		c.expect(")")
		if c.err == nil {
			c.ignored = append(c.ignored, "the list of values of "+word)
		}
		return stringType
	case "ARRAY", "MULTISET":
		c.expect("<")
		t := &schema.Type{Root: schema.Array, Elem: c.nestedType(depth)}
		if word == "MULTISET" {
			t.Root = schema.Multiset
		}
		c.closeAngle()
		return t
	case "MAP":
		c.expect("<")
		key := c.nestedType(depth)
		c.expect(",")
		t := &schema.Type{Root: schema.Map, Key: key, Elem: c.nestedType(depth)}
		c.closeAngle()
		return t
	case "ROW", "STRUCT":
		return c.rowType(depth)
	case "VECTOR":
		return c.vectorType(depth)
	case "GEOMETRY", "GEOGRAPHY":
		end := c.i
		if c.s.is(c.i, "(") && c.s.match[c.i] > 0 {
			end = c.s.match[c.i] + 1
		}
		t, err := schema.ParseType(c.s.src[c.s.toks[at].Start:c.s.toks[end-1].End])
		if err != nil {
			c.fail()
			return nil
		}
		c.i = end
		return t
	case "SERIAL":
		c.err = c.autoIncrement()
		return nil
	}
	c.i = at
	if unknownTypes[word] {
		c.err = unsupported("The type "+word, "Paimon has none like it")
		return nil
	}
	c.fail()
	return nil
}

// signs reads UNSIGNED, SIGNED and ZEROFILL in any order.
func (c *cursor) signs() (unsigned bool) {
	for {
		switch c.oneOf("UNSIGNED", "SIGNED", "ZEROFILL") {
		case "UNSIGNED", "ZEROFILL":
			unsigned = true
		case "":
			return unsigned
		}
	}
}

// charWord reads the word of a character type behind LONG.
func (c *cursor) charWord() bool {
	switch c.oneOf("VARCHAR", "CHAR", "CHARACTER", "NVARCHAR") {
	case "":
		return false
	case "CHAR", "CHARACTER":
		c.accept("VARYING")
	}
	return true
}

// characterType is CHAR(n), or STRING for LONG VARCHAR.
func (c *cursor) characterType(fixed bool) *schema.Type {
	if !fixed {
		return stringType
	}
	return c.lengthType(schema.Char, 1)
}

// varchar is VARCHAR(n); without a length it is STRING.
func (c *cursor) varchar() *schema.Type {
	return c.lengthType(schema.Varchar, schema.MaxLength)
}

// lengthType makes a type with a length.
func (c *cursor) lengthType(root schema.Root, otherwise int) *schema.Type {
	n, _, got := c.parameters(1)
	if got == 0 {
		n = uint64(otherwise)
	}
	switch {
	case c.err != nil:
		return nil
	case n > schema.MaxLength:
		return c.wrongType("Column length too big (max = %d)", schema.MaxLength)
	case n == 0:
		return c.wrongType("A length of 0 is not possible: Paimon's are 1 to %d", schema.MaxLength)
	}
	return &schema.Type{Root: root, Length: int(n)}
}

func (c *cursor) decimalType() *schema.Type {
	p, scale, got := c.parameters(2)
	c.signs()
	if got == 0 {
		p = 10
	}
	switch {
	case c.err != nil:
		return nil
	case p > maxDecimalPrecision:
		return c.wrongType("Too-big precision %d specified: the maximum of Paimon's DECIMAL is %d", p, maxDecimalPrecision)
	case p == 0:
		return c.wrongType("DECIMAL(0) is not possible: the precision is 1 to %d", maxDecimalPrecision)
	case scale > p:
		return c.wrongType("For float(M,D), double(M,D) or decimal(M,D), M must be >= D (DECIMAL(%d,%d))", p, scale)
	}
	return &schema.Type{Root: schema.Decimal, Precision: int(p), Scale: int(scale)}
}

// timeType reads TIME, DATETIME and the timestamps. DATETIME and TIME have no fraction unless it is
// said, as in MySQL; a TIMESTAMP has 6 digits, as in Paimon. TIMESTAMP has no time zone, as in Flink and Paimon.
func (c *cursor) timeType(word string) *schema.Type {
	p, _, got := c.parameters(1)
	if c.err == nil && p > maxFraction {
		return c.wrongType("Too-big precision %d specified: the maximum is %d", p, maxFraction)
	}
	t := &schema.Type{Root: schema.Timestamp, Precision: int(p)}
	switch word {
	case "TIME":
		t.Root = schema.Time
	case "DATETIME":
	default:
		if got == 0 {
			t.Precision = 6
		}
		if word == "TIMESTAMP_LTZ" {
			t.Root = schema.TimestampLTZ
		}
	}
	switch {
	case c.accept("WITHOUT", "TIME", "ZONE"):
	case word == "TIMESTAMP" && c.accept("WITH", "LOCAL", "TIME", "ZONE"):
		t.Root = schema.TimestampLTZ
	case c.s.seq(c.i, "WITH", "TIME", "ZONE"):
		c.err = unsupported(word+" WITH TIME ZONE", "Paimon keeps no zone with a time; TIMESTAMP WITH LOCAL TIME ZONE is a point in time")
	}
	return t
}

// closeAngle reads one >, which may be the first half of >>.
func (c *cursor) closeAngle() {
	switch {
	case c.err != nil:
	case c.half:
		c.half = false
		c.i++
	case c.s.is(c.i, ">>"):
		c.half = true
	default:
		c.expect(">")
	}
}

// rowType reads ROW<a INT, …>, ROW(a INT, …) and STRUCT<a: INT, …> behind their word.
func (c *cursor) rowType(depth int) *schema.Type {
	t := &schema.Type{Root: schema.Row}
	round := c.accept("(")
	if !round {
		c.expect("<")
	}
	names := map[string]bool{}
	for c.err == nil {
		f := schema.Field{Name: c.ident()}
		c.accept(":")
		f.Type = c.nestedType(depth)
		if c.accept("COMMENT") || c.s.kind(c.i) == KindString {
			f.Description = c.str()
		}
		if c.err == nil && names[f.Name] {
			c.err = duplicateColumn(f.Name)
		}
		names[f.Name] = true
		t.Fields = append(t.Fields, f)
		if !c.accept(",") {
			break
		}
	}
	if round {
		c.expect(")")
	} else {
		c.closeAngle()
	}
	return t
}

// vectorType reads VECTOR<FLOAT, n>, or MySQL's VECTOR(n) of floats.
func (c *cursor) vectorType(depth int) *schema.Type {
	t := &schema.Type{Root: schema.VectorType, Elem: &schema.Type{Root: schema.Float}}
	var n uint64
	if c.accept("(") {
		n = c.number()
		c.expect(")")
	} else {
		c.expect("<")
		t.Elem = c.nestedType(depth)
		c.expect(",")
		n = c.number()
		c.closeAngle()
	}
	if c.err != nil {
		return nil
	}
	switch t.Elem.Root {
	case schema.Boolean, schema.TinyInt, schema.SmallInt, schema.Int, schema.BigInt, schema.Float, schema.Double:
	default:
		return c.wrongType("A VECTOR cannot have elements of type %s", t.Elem)
	}
	if n < 1 || n > schema.MaxLength {
		return c.wrongType("A VECTOR of %d elements is not possible", n)
	}
	t.Length = int(n)
	return t
}

// duplicateColumn makes MySQL's error for a name given twice.
func duplicateColumn(name string) *Error {
	return &Error{Number: ErrnoDuplicateField, State: "42S21", Message: "Duplicate column name '" + name + "'"}
}

// autoIncrement makes the error for AUTO_INCREMENT.
func (c *cursor) autoIncrement() *Error {
	return unsupported("AUTO_INCREMENT", "a Paimon table counts no numbers; write the key with the rows")
}

// blobColumns turns the BYTES columns named by the options into Paimon's BLOB, which lies in files of its own.
func blobColumns(def *schema.Definition) {
	for _, key := range []string{"blob-field", "blob-descriptor-field", "blob-view-field"} {
		for name := range strings.SplitSeq(def.Options[key], ",") {
			name = strings.TrimSpace(name)
			for i := range def.Fields {
				f := &def.Fields[i]
				if f.Name == name && f.Type != nil && f.Type.Root == schema.Varbinary {
					f.Type = &schema.Type{Root: schema.Blob, NotNull: f.Type.NotNull}
				}
			}
		}
	}
}
