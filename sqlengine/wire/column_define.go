package wire

import (
	"encoding/binary"
	"math"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/schema"
)

// notFixedDecimals is what MySQL gives as decimals of FLOAT and DOUBLE.
const notFixedDecimals = 31

// columnDef is a Protocol::ColumnDefinition41.
type columnDef struct {
	db, table, orgTable, name, orgName string
	charset                            uint16
	length                             uint32
	typ                                byte
	flags                              uint16
	decimals                           byte
}

// resultCharset is the collation id that text columns carry, and how many
// bytes a character may have. binary is character_set_results = binary.
type resultCharset struct {
	id       uint16
	maxLen   uint32
	encoding sql.CharacterSetID
	// recode tells that text must be encoded, because it is not UTF-8 that the client wants.
	recode bool
}

// charsetOf reads character_set_results.
func charsetOf(s sql.Session) resultCharset {
	cs := s.GetCharacterSetResults()
	switch cs {
	case sql.CharacterSet_Unspecified, sql.CharacterSet_utf8mb4:
		return resultCharset{id: collationUTF8M4, maxLen: 4}
	case sql.CharacterSet_binary:
		return resultCharset{id: collationBinary, maxLen: 4}
	case sql.CharacterSet_utf8mb3:
		return resultCharset{id: collationUTF8, maxLen: 3}
	}
	if cs.Encoder() == nil {
		return resultCharset{id: collationUTF8M4, maxLen: 4}
	}
	return resultCharset{id: uint16(cs.DefaultCollation()), maxLen: uint32(max(cs.MaxLength(), 1)), encoding: cs, recode: true}
}

// defineColumns makes the definitions of a result. cols are the Paimon types
// where the result comes in batches, else nil.
func defineColumns(ctx *sql.Context, sch sql.Schema, cols []*schema.Type, origin []columnOrigin, cs resultCharset) []columnDef {
	defs := make([]columnDef, len(sch))
	for i, c := range sch {
		d := &defs[i]
		d.name, d.orgName = c.Name, c.Name
		d.db, d.table, d.orgTable = c.DatabaseSource, c.Source, c.Source
		if len(origin) == len(sch) && origin[i].table != "" {
			o := origin[i]
			d.orgTable, d.orgName = o.table, o.column
			if d.table == "" {
				d.table = o.alias
			}
			if d.db == "" {
				d.db = o.db
			}
		} else if c.Source == "" {
			d.orgName = ""
		}
		d.setType(ctx, c.Type, cs)
		if d.typ == typeTiny && d.flags&flagUnsigned == 0 && d.orgTable == "" {
			// Truth values and literals are BIGINT in MySQL. As TINYINT(1) drivers would take them for booleans.
			d.typ = typeLongLong
		}
		if d.orgTable != "" && d.flags&flagNum != 0 {
			// Numbers are marked binary as expressions, not as columns of tables. Connector/J takes a TINYINT(1) for bytes otherwise.
			d.flags &^= flagBinary
		}
		if !c.Nullable {
			d.flags |= flagNotNull
		}
		d.flags |= keyFlags(c)
		if len(origin) == len(sch) {
			d.flags |= origin[i].flags
		}
		if i < len(cols) && cols[i] != nil {
			d.refine(cols[i])
		}
	}
	return defs
}

// keyFlags are the flags that a table's column has and an expression has not.
func keyFlags(c *sql.Column) uint16 {
	var f uint16
	if c.PrimaryKey {
		f |= flagPriKey | flagPartKey
	}
	if c.AutoIncrement {
		f |= flagAutoIncrement
	}
	return f
}

// refine takes the fraction of times from the Paimon type, which knows TIME's.
func (d *columnDef) refine(t *schema.Type) {
	switch {
	case t.Root == schema.Time && d.typ == typeTime:
		// Also a TIME(0) may hold milliseconds, and clients of the binary protocol show as many digits as are declared.
		d.setFraction(types.MaxTimeFraction)
	case t.Root == schema.Timestamp && d.typ == typeDatetime, t.Root == schema.TimestampLTZ && d.typ == typeTimestamp:
		d.setFraction(types.Fraction(t))
	}
}

// Display widths of MySQL's types.
const (
	widthDate     = 10
	widthTime     = 10
	widthDatetime = 19
	widthYear     = 4
	widthFloat    = 12
	widthDouble   = 22
)

func (d *columnDef) setFraction(digits int) {
	width := uint32(widthDatetime)
	if d.typ == typeTime {
		width = widthTime
	}
	d.decimals = byte(digits)
	if digits > 0 {
		width += uint32(digits) + 1
	}
	d.length = width
}

// intTypes gives the protocol's type and the widths, signed and unsigned, of integers.
var intTypes = map[int32]struct {
	typ    byte
	width  uint32
	unsign bool
}{
	int32(sqltypes.Int8): {typeTiny, 4, false}, int32(sqltypes.Uint8): {typeTiny, 3, true},
	int32(sqltypes.Int16): {typeShort, 6, false}, int32(sqltypes.Uint16): {typeShort, 5, true},
	int32(sqltypes.Int24): {typeInt24, 9, false}, int32(sqltypes.Uint24): {typeInt24, 8, true},
	int32(sqltypes.Int32): {typeLong, 11, false}, int32(sqltypes.Uint32): {typeLong, 10, true},
	int32(sqltypes.Int64): {typeLongLong, 20, false}, int32(sqltypes.Uint64): {typeLongLong, 20, true},
}

// setType sets type, charset, length, decimals and the type's flags.
func (d *columnDef) setType(ctx *sql.Context, t sql.Type, cs resultCharset) {
	d.charset = collationBinary
	d.flags |= flagBinary
	base := t.Type()
	if it, ok := intTypes[int32(base)]; ok {
		d.typ, d.length = it.typ, it.width
		d.flags |= flagNum
		if it.unsign {
			d.flags |= flagUnsigned
		}
		if n, ok := t.(sql.NumberType); ok && n.DisplayWidth() > 0 {
			d.length = uint32(n.DisplayWidth())
		}
		return
	}
	switch base {
	case sqltypes.Float32:
		d.typ, d.length, d.decimals = typeFloat, widthFloat, notFixedDecimals
		d.flags |= flagNum
	case sqltypes.Float64:
		d.typ, d.length, d.decimals = typeDouble, widthDouble, notFixedDecimals
		d.flags |= flagNum
	case sqltypes.Decimal:
		d.typ = typeNewDecimal
		d.flags |= flagNum
		d.length = 12
		if dt, ok := t.(sql.DecimalType); ok {
			d.decimals = dt.Scale()
			d.length = uint32(dt.Precision()) + 1
			if dt.Scale() > 0 {
				d.length++
			}
		}
	case sqltypes.Year:
		d.typ, d.length = typeYear, widthYear
		d.flags |= flagUnsigned | flagNum
	case sqltypes.Date:
		d.typ, d.length = typeDate, widthDate
	case sqltypes.Time:
		d.typ = typeTime
		d.setFraction(types.MaxFraction)
	case sqltypes.Datetime, sqltypes.Timestamp:
		d.typ = typeDatetime
		if base == sqltypes.Timestamp {
			d.typ = typeTimestamp
			d.flags |= flagTimestamp
		}
		fraction := types.MaxFraction
		if dt, ok := t.(sql.DatetimeType); ok {
			fraction = dt.Precision()
		}
		d.setFraction(fraction)
	case sqltypes.Bit:
		d.typ, d.length = typeBit, 64
		d.flags |= flagUnsigned
		if bt, ok := t.(gms.BitType); ok {
			d.length = uint32(bt.NumberOfBits())
		}
	case sqltypes.Null:
		d.typ = typeNull
	case sqltypes.TypeJSON:
		d.typ, d.length = typeJSON, math.MaxUint32
		d.flags |= flagBlob
	case sqltypes.Geometry:
		d.typ, d.length = typeGeometry, math.MaxUint32
		d.flags |= flagBlob
	case sqltypes.Blob, sqltypes.Text:
		d.typ = typeBlob
		d.flags |= flagBlob
		d.setText(ctx, t, cs)
	case sqltypes.Char, sqltypes.Binary:
		d.typ = typeString
		d.setText(ctx, t, cs)
	case sqltypes.Enum:
		d.typ = typeString
		d.flags |= flagEnum
		d.setText(ctx, t, cs)
	case sqltypes.Set:
		d.typ = typeString
		d.flags |= flagSet
		d.setText(ctx, t, cs)
	default:
		d.typ = typeVarString
		d.setText(ctx, t, cs)
	}
}

// setText sets charset, flags and length of a string type.
func (d *columnDef) setText(ctx *sql.Context, t sql.Type, cs resultCharset) {
	if st, ok := t.(sql.StringType); ok {
		if gms.IsBinaryType(t) {
			d.length = clipLength(st.MaxByteLength())
			return
		}
		d.charset = cs.id
		// MySQL marks texts with a collation of code points (_bin) as binary. They are not marked here, as no other text
		// is: mysql-connector-python and sqlx give such columns to programs as bytes.
		d.flags &^= flagBinary
		if gms.IsTextBlob(t) {
			d.length = clipLength(st.MaxByteLength())
			return
		}
		d.length = clipLength(st.MaxCharacterLength() * int64(cs.maxLen))
		return
	}
	d.charset = cs.id
	d.flags &^= flagBinary
	d.length = t.MaxTextResponseByteLength(ctx)
}

func clipLength(n int64) uint32 {
	return uint32(min(max(n, 0), math.MaxUint32))
}

// append encodes the definition. defaults adds COM_FIELD_LIST's default value (NULL).
func (d *columnDef) append(dst []byte, defaults bool) []byte {
	dst = append(dst, 3, 'd', 'e', 'f')
	dst = appendLenencString(dst, d.db)
	dst = appendLenencString(dst, d.table)
	dst = appendLenencString(dst, d.orgTable)
	dst = appendLenencString(dst, d.name)
	dst = appendLenencString(dst, d.orgName)
	dst = append(dst, 0x0c)
	dst = binary.LittleEndian.AppendUint16(dst, d.charset)
	dst = binary.LittleEndian.AppendUint32(dst, d.length)
	dst = append(dst, d.typ)
	dst = binary.LittleEndian.AppendUint16(dst, d.flags&^flagNum) // clients derive it from the type
	dst = append(dst, d.decimals, 0, 0)
	if defaults {
		dst = append(dst, cellNull)
	}
	return dst
}

// columnOrigin is the table column that a result column shows unchanged.
type columnOrigin struct {
	db, table, alias, column string
	flags                    uint16
}

// originsOf finds the origins of a bound plan's columns, before the analyzer
// and the executor replace its nodes.
func originsOf(bound sql.Node) []columnOrigin {
	project := topProject(bound)
	if project == nil {
		return nil
	}
	type source struct {
		db, table string
		schema    sql.Schema
	}
	tables := make(map[string]source)
	transform.Inspect(project.Child, func(node sql.Node) bool {
		switch node := node.(type) {
		case *plan.TableAlias:
			if rt, ok := node.Child.(sql.TableNode); ok {
				tables[node.Name()] = source{databaseName(rt), rt.Name(), rt.Schema()}
			}
			return false
		case sql.TableNode:
			tables[node.Name()] = source{databaseName(node), node.Name(), node.Schema()}
		case *plan.SubqueryAlias:
			return false
		}
		return true
	})
	out := make([]columnOrigin, len(project.Projections))
	for i, e := range project.Projections {
		if a, ok := e.(*expression.Alias); ok {
			e = a.Child
		}
		gf, ok := e.(*expression.GetField)
		if !ok {
			continue
		}
		if s, ok := tables[gf.Table()]; ok {
			out[i] = columnOrigin{db: s.db, table: s.table, alias: gf.Table(), column: gf.Name()}
			if k := s.schema.IndexOfColName(gf.Name()); k >= 0 {
				out[i].column, out[i].flags = s.schema[k].Name, keyFlags(s.schema[k])
			}
		}
	}
	return out
}

func databaseName(n sql.TableNode) string {
	if db := n.Database(); db != nil {
		return db.Name()
	}
	return ""
}

// topProject finds the projection that makes a statement's columns.
func topProject(n sql.Node) *plan.Project {
	for n != nil {
		switch node := n.(type) {
		case *plan.Project:
			return node
		case *plan.Limit, *plan.Offset, *plan.Sort, *plan.Distinct, *plan.TopN, *plan.Having:
			n = node.Children()[0]
		default:
			return nil
		}
	}
	return nil
}
