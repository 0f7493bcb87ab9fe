package planner

import (
	"context"
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
)

// virtualTable is a table of information_schema, performance_schema or mysql
// whose rows are made when it is read.
type virtualTable struct {
	name   string
	fields []schema.Field
	// exact are the columns whose texts differ in upper and lower case (names of databases and tables); other texts do not.
	exact map[int]bool
	// view is its TABLE_TYPE.
	view bool
	rows func(q *virtualQuery) error
}

// virtualQuery collects the rows of one scan.
type virtualQuery struct {
	ctx    *sql.Context
	engine *Engine
	table  *virtualTable
	want   map[int]bool
	filter predicate.Predicate
	out    []*column.Builder
	cols   []int
	done   []*column.Batch
}

// wants reports whether a column is read.
func (q *virtualQuery) wants(col int) bool { return q.want[col] }

// may reports whether rows with the given texts in the given columns can match the statement's filter.
func (q *virtualQuery) may(known map[int]string) bool {
	return predicate.MayMatch(q.filter, func(c int) (predicate.Stats, bool) {
		s, ok := known[c]
		if !ok {
			return predicate.Stats{}, false
		}
		v := column.BytesScalar([]byte(s))
		return predicate.Stats{Rows: 1, HasBounds: true, Min: v, Max: v}, true
	})
}

// emit adds a row: a value for each field, nil, string, bool, int, int64 or uint64.
func (q *virtualQuery) emit(row ...any) {
	if len(row) != len(q.table.fields) {
		panic(fmt.Sprintf("table %s: a row of %d values for %d columns", q.table.name, len(row), len(q.table.fields)))
	}
	if q.out == nil {
		q.out = make([]*column.Builder, len(q.cols))
		for i, c := range q.cols {
			q.out[i] = schema.NewBuilder(q.table.fields[c].Type)
		}
		q.done = append(q.done, &column.Batch{})
	}
	for i, c := range q.cols {
		appendValue(q.out[i], row[c])
	}
	b := q.done[len(q.done)-1]
	b.N++
	if b.N == column.MaxRows {
		q.flush()
	}
}

func (q *virtualQuery) flush() {
	if q.out == nil {
		return
	}
	b := q.done[len(q.done)-1]
	for _, o := range q.out {
		b.Cols = append(b.Cols, o.Finish())
	}
	q.out = nil
}

func appendValue(b *column.Builder, v any) {
	switch v := v.(type) {
	case nil:
		b.AppendNull()
	case string:
		b.AppendString(v)
	case bool:
		b.AppendBool(v)
	case int:
		b.AppendInt(int64(v))
	case int64:
		b.AppendInt(v)
	case uint64:
		b.AppendInt(int64(v))
	default:
		panic(fmt.Sprintf("virtual table: a value of type %T", v))
	}
}

// virtualRelation is a virtualTable as seen by one statement.
type virtualRelation struct {
	table  *virtualTable
	engine *Engine
	ctx    *sql.Context
}

// Fields implements relation.Relation.
func (r *virtualRelation) Fields() []schema.Field { return r.table.fields }

// PrimaryKey implements relation.Relation.
func (r *virtualRelation) PrimaryKey() []string { return nil }

// Comment implements relation.Relation.
func (r *virtualRelation) Comment() string { return "" }

// caseless reports whether the texts of a column are equal in upper and lower case.
func (r *virtualRelation) caseless(col int) bool {
	return r.table.fields[col].Type.Root == schema.Varchar && !r.table.exact[col]
}

// Plan implements relation.Relation: it makes the rows.
func (r *virtualRelation) Plan(_ context.Context, req relation.Request) (*relation.Plan, error) {
	q := &virtualQuery{ctx: r.ctx, engine: r.engine, table: r.table, filter: req.Filter, cols: req.Columns, want: map[int]bool{}}
	for _, c := range req.Columns {
		q.want[c] = true
	}
	if err := r.table.rows(q); err != nil {
		return nil, err
	}
	q.flush()
	p := &relation.Plan{RowCount: -1}
	if len(q.done) > 0 {
		p.Morsels = []relation.Morsel{virtualRows(q.done)}
	}
	return p, nil
}

// virtualRows are made rows as the only morsel of a plan.
type virtualRows []*column.Batch

// Weight implements relation.Morsel.
func (v virtualRows) Weight() int64 {
	n := 0
	for _, b := range v {
		n += b.N
	}
	return int64(n)
}

// Open implements relation.Morsel.
func (v virtualRows) Open(context.Context) (relation.Reader, error) {
	return &virtualReader{v}, nil
}

type virtualReader struct{ left []*column.Batch }

// Next implements relation.Reader.
func (r *virtualReader) Next(context.Context) (*column.Batch, error) {
	if len(r.left) == 0 {
		return nil, io.EOF
	}
	b := r.left[0]
	r.left = r.left[1:]
	return b, nil
}

// Close implements relation.Reader.
func (r *virtualReader) Close() error { return nil }

// virtualDatabase is a database of virtual tables, found by name in any case.
type virtualDatabase struct {
	name   string
	engine *Engine
	tables map[string]*virtualTable
	// under answers for tables that are not in tables; nil for none.
	under sql.Database
}

var _ sql.CollatedDatabase = (*virtualDatabase)(nil)

func newVirtualDatabase(e *Engine, name string, under sql.Database, tables ...*virtualTable) *virtualDatabase {
	d := &virtualDatabase{name: name, engine: e, under: under, tables: map[string]*virtualTable{}}
	for _, t := range tables {
		d.tables[strings.ToLower(t.name)] = t
	}
	return d
}

// Name implements sql.Database.
func (d *virtualDatabase) Name() string { return d.name }

// GetCollation implements sql.CollatedDatabase. Connector/J compares the columns of information_schema with its collation.
func (d *virtualDatabase) GetCollation(*sql.Context) sql.CollationID {
	if d.name == sql.InformationSchemaDatabaseName {
		return sql.Collation_utf8mb3_general_ci
	}
	return sql.Collation_utf8mb4_0900_ai_ci
}

// SetCollation implements sql.CollatedDatabase.
func (d *virtualDatabase) SetCollation(*sql.Context, sql.CollationID) error {
	return sql.ErrDatabaseCollationsNotSupported.New(d.name)
}

// GetTableInsensitive implements sql.Database.
func (d *virtualDatabase) GetTableInsensitive(ctx *sql.Context, name string) (sql.Table, bool, error) {
	if t, ok := d.tables[strings.ToLower(name)]; ok {
		return newTable(d.name, t.name, &virtualRelation{table: t, engine: d.engine, ctx: ctx}), true, nil
	}
	if d.under != nil {
		return d.under.GetTableInsensitive(ctx, name)
	}
	return nil, false, nil
}

// GetTableNames implements sql.Database.
func (d *virtualDatabase) GetTableNames(ctx *sql.Context) ([]string, error) {
	seen := map[string]string{}
	if d.under != nil {
		names, err := d.under.GetTableNames(ctx)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			seen[strings.ToLower(n)] = strings.ToUpper(n)
		}
	}
	for k, t := range d.tables {
		seen[k] = t.name
	}
	out := make([]string, 0, len(seen))
	for _, n := range seen {
		out = append(out, n)
	}
	sort.Strings(out)
	return out, nil
}

// Columns of virtual tables.

func textField(name string, length int, notNull ...bool) schema.Field {
	return schema.Field{Name: name, Type: &schema.Type{Root: schema.Varchar, Length: length, NotNull: len(notNull) > 0}}
}

func intField(name string, notNull ...bool) schema.Field {
	return schema.Field{Name: name, Type: &schema.Type{Root: schema.BigInt, NotNull: len(notNull) > 0}}
}

func timeField(name string) schema.Field {
	return schema.Field{Name: name, Type: &schema.Type{Root: schema.Timestamp}}
}

// numberFields gives the fields ids in their order.
func numberFields(fs ...schema.Field) []schema.Field {
	for i := range fs {
		fs[i].ID = i
	}
	return fs
}
