package planner

import (
	"context"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
)

// charset is the character set of every text column.
const charset = "utf8mb4"

// columnInfo describes a column as MySQL's metadata does.
type columnInfo struct {
	name, dataType, columnType string
	nullable, key              bool
	// def is the default's text, nil for none.
	def *string
	// comment is the column's comment.
	comment string
	// chars and octets are the greatest lengths of texts and binary strings; -1 for other types.
	chars, octets int64
	// precision, scale and fraction are -1 for types without them.
	precision, scale, fraction int
	// collation is empty for columns that are not text.
	collation string
}

// longLength is what MySQL says of LONGTEXT and LONGBLOB.
const longLength = 4294967295

// describeField describes a column of a Paimon table.
func describeField(f *schema.Field, key bool) columnInfo {
	t := f.Type
	c := columnInfo{
		name: f.Name, dataType: types.DataType(t), columnType: types.ColumnType(t), nullable: !t.NotNull, key: key, def: f.Default,
		comment: f.Description, chars: -1, octets: -1, precision: -1, scale: -1, fraction: -1,
	}
	switch c.dataType {
	case "tinyint":
		c.precision, c.scale = 3, 0
	case "smallint":
		c.precision, c.scale = 5, 0
	case "int":
		c.precision, c.scale = 10, 0
	case "bigint":
		c.precision, c.scale = 19, 0
	case "float":
		c.precision = 12
	case "double":
		c.precision = 22
	case "decimal":
		c.precision, c.scale = t.Precision, t.Scale
	case "char", "varchar":
		c.chars, c.octets, c.collation = int64(t.Length), int64(t.Length)*4, types.Collation.Name()
	case "longtext":
		c.chars, c.octets, c.collation = longLength, longLength, types.Collation.Name()
	case "binary", "varbinary":
		c.chars, c.octets = int64(t.Length), int64(t.Length)
	case "longblob":
		c.chars, c.octets = longLength, longLength
	case "time", "datetime", "timestamp":
		c.fraction = types.Fraction(t)
	}
	return c
}

// describeColumn describes a column of another table, by its go-mysql-server type.
func describeColumn(col *sql.Column) columnInfo {
	c := columnInfo{
		name: col.Name, nullable: col.Nullable, key: col.PrimaryKey, comment: col.Comment,
		chars: -1, octets: -1, precision: -1, scale: -1, fraction: -1,
	}
	c.columnType = strings.ToLower(col.Type.String())
	if i := strings.Index(c.columnType, " character set"); i >= 0 {
		c.columnType = c.columnType[:i]
	}
	if i := strings.Index(c.columnType, " collate"); i >= 0 {
		c.columnType = c.columnType[:i]
	}
	c.dataType, _, _ = strings.Cut(c.columnType, "(")
	c.dataType, _, _ = strings.Cut(c.dataType, " ")
	switch t := col.Type.(type) {
	case sql.StringType:
		c.chars, c.octets = t.MaxCharacterLength(), t.MaxByteLength()
		if gms.IsTextOnly(t) {
			c.collation = t.Collation().Name()
		}
	case sql.DecimalType:
		c.precision, c.scale = int(t.Precision()), int(t.Scale())
	case sql.DatetimeType:
		if t.Type() != sqltypes.Date {
			c.fraction = t.Precision()
		}
	case sql.NumberType:
		switch {
		case t.IsFloat():
			c.precision = 22
		default:
			c.precision, c.scale = integerDigits[t], 0
		}
	}
	return c
}

// tableInfo is what metadata says of a table.
type tableInfo struct {
	db, name string
	// rel is nil for tables that are not ours.
	rel     relation.Relation
	columns []columnInfo
	keys    []string
	view    bool
}

// describeTable describes a table of any database.
func describeTable(db, name string, t sql.Table) *tableInfo {
	info := &tableInfo{db: db, name: name}
	if own, ok := sql.GetUnderlyingTable(t).(*Table); ok {
		info.rel = own.rel
		info.keys = own.rel.PrimaryKey()
		isKey := map[string]bool{}
		for _, k := range info.keys {
			isKey[k] = true
		}
		for i := range own.fields {
			if v, ok := own.rel.(*virtualRelation); ok {
				info.view = v.table.view
				info.columns = append(info.columns, describeColumn(own.full.Schema[i]))
				continue
			}
			info.columns = append(info.columns, describeField(&own.fields[i], isKey[own.fields[i].Name]))
		}
		return info
	}
	info.view = true
	for _, c := range t.Schema() {
		info.columns = append(info.columns, describeColumn(c))
	}
	return info
}

// estimate returns the number of rows and bytes as metadata tells them; -1 unknown.
func (t *tableInfo) estimate(ctx context.Context) (rows, bytes int64) {
	rows, bytes = -1, -1
	if e, ok := t.rel.(relation.Estimator); ok {
		if n, _, err := e.EstimateRows(ctx); err == nil {
			rows = n
		}
	}
	if s, ok := t.rel.(Sized); ok {
		if n, err := s.DataSize(ctx); err == nil {
			bytes = n
		}
	}
	return rows, bytes
}

// known returns n, or nil for -1.
func known(n int64) any {
	if n < 0 {
		return nil
	}
	return n
}
