package planner

import (
	"context"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
)

// Table is a relation as a table of go-mysql-server, with the projection, filter and limit that
// the analyzer pushed into it. It is immutable.
type Table struct {
	db, name string
	// object is the name with the branch that is read. lacks is the session's branch where the table has none of that
	// name, and main is read.
	object, lacks string
	rel           relation.Relation
	fields        []schema.Field
	full          sql.PrimaryKeySchema

	// cols are the projected columns as indexes into fields; nil = all.
	cols []int
	sch  sql.Schema

	filter      predicate.Predicate
	filterExact bool
	limit       int64
}

var (
	_ sql.ProjectedTable  = (*Table)(nil)
	_ sql.PrimaryKeyTable = (*Table)(nil)
	_ sql.StatisticsTable = (*Table)(nil)
	_ sql.CommentedTable  = (*Table)(nil)
	_ sql.TemporaryTable  = (*Table)(nil)
)

func newTable(db, name string, rel relation.Relation) *Table {
	fields := rel.Fields()
	keys := rel.PrimaryKey()
	isKey := make(map[string]bool, len(keys))
	for _, k := range keys {
		isKey[k] = true
	}
	sch := make(sql.Schema, len(fields))
	ordinal := make(map[string]int, len(fields))
	virtual, _ := rel.(*virtualRelation)
	for i, f := range fields {
		ordinal[f.Name] = i
		typ := types.SQLType(f.Type)
		if virtual != nil && f.Type.Root == schema.Varchar {
			typ = metadataType(f.Type, virtual.caseless(i))
		}
		sch[i] = &sql.Column{
			Name:           f.Name,
			Type:           typ,
			Nullable:       !f.Type.NotNull,
			Source:         name,
			DatabaseSource: db,
			PrimaryKey:     isKey[f.Name],
			Comment:        f.Description,
			Default:        columnDefault(f),
		}
	}
	var ordinals []int
	for _, k := range keys {
		ordinals = append(ordinals, ordinal[k])
	}
	return &Table{
		db: db, name: name, object: name, rel: rel, fields: fields, sch: sch,
		full: sql.NewPrimaryKeySchema(sch, ordinals...),
	}
}

// metadataType is a text type of metadata: MySQL's are utf8mb3. Upper and lower case are equal in caseless ones.
func metadataType(t *schema.Type, caseless bool) sql.Type {
	collation := sql.Collation_utf8mb3_bin
	if caseless {
		collation = sql.Collation_utf8mb3_general_ci
	}
	return gms.MustCreateString(sqltypes.VarChar, int64(t.Length), collation)
}

// columnDefault is the default's text as a literal, so that it can be shown.
func columnDefault(f schema.Field) *sql.ColumnDefaultValue {
	if f.Default == nil {
		return nil
	}
	text := types.SQLType(&schema.Type{Root: schema.Varchar, Length: schema.MaxLength})
	lit := expression.NewLiteral(*f.Default, text)
	d, err := sql.NewColumnDefaultValue(lit, text, true, false, true)
	if err != nil {
		return nil
	}
	return d
}

// Relation returns what the table reads.
func (t *Table) Relation() relation.Relation { return t.rel }

// DatabaseName returns the name of the table's database.
func (t *Table) DatabaseName() string { return t.db }

// IsTemporary implements sql.TemporaryTable: go-mysql-server asks it of every target in a read-only transaction.
func (t *Table) IsTemporary() bool { return false }

// Name implements sql.Table.
func (t *Table) Name() string { return t.name }

// String implements sql.Table.
func (t *Table) String() string { return t.name }

// Schema implements sql.Table: the projected columns.
func (t *Table) Schema() sql.Schema { return t.sch }

// Collation implements sql.Table.
func (t *Table) Collation() sql.CollationID { return types.Collation }

// Comment implements sql.CommentedTable.
func (t *Table) Comment() string { return t.rel.Comment() }

// PrimaryKeySchema implements sql.PrimaryKeyTable.
func (t *Table) PrimaryKeySchema() sql.PrimaryKeySchema { return t.full }

// Projections implements sql.ProjectedTable; nil means all columns.
func (t *Table) Projections() []string {
	if t.cols == nil {
		return nil
	}
	out := make([]string, len(t.sch))
	for i, c := range t.sch {
		out[i] = c.Name
	}
	return out
}

// WithProjections implements sql.ProjectedTable. Columns stay in table order.
func (t *Table) WithProjections(names []string) sql.Table {
	want := make(map[string]bool, len(names))
	for _, n := range names {
		want[strings.ToLower(n)] = true
	}
	c := *t
	c.cols = []int{}
	c.sch = sql.Schema{}
	for i, f := range t.fields {
		if want[strings.ToLower(f.Name)] {
			c.cols = append(c.cols, i)
			c.sch = append(c.sch, t.full.Schema[i])
		}
	}
	return &c
}

// columns returns the projected columns as indexes into fields.
func (t *Table) columns() []int {
	if t.cols != nil {
		return t.cols
	}
	all := make([]int, len(t.fields))
	for i := range all {
		all[i] = i
	}
	return all
}

// withFilter returns the table with a filter pushed into it; exact says that
// the filter decides by itself what the statement keeps.
func (t *Table) withFilter(p predicate.Predicate, exact bool) *Table {
	c := *t
	c.filter, c.filterExact = p, exact
	return &c
}

// withLimit returns the table with a limit pushed into it.
func (t *Table) withLimit(n int64) *Table {
	c := *t
	c.limit = n
	return &c
}

// request is what is asked of the relation for the given columns.
func (t *Table) request(cols []int) relation.Request {
	return relation.Request{Columns: cols, Filter: t.filter, Limit: t.limit}
}

// RowCount implements sql.StatisticsTable.
func (t *Table) RowCount(ctx *sql.Context) (uint64, bool, error) {
	e, ok := t.rel.(relation.Estimator)
	if !ok {
		return 0, false, nil
	}
	n, exact, err := e.EstimateRows(ctx)
	if err != nil || n < 0 {
		return 0, false, err
	}
	return uint64(n), exact, nil
}

// DataLength implements sql.StatisticsTable.
func (t *Table) DataLength(ctx *sql.Context) (uint64, error) {
	s, ok := t.rel.(Sized)
	if !ok {
		return 0, nil
	}
	n, err := s.DataSize(ctx)
	if err != nil || n < 0 {
		return 0, err
	}
	return uint64(n), nil
}

// onePartition is the partition of every Table: parallelism is below.
type onePartition struct{}

// Key implements sql.Partition.
func (onePartition) Key() []byte { return []byte("all") }

// Partitions implements sql.Table.
func (t *Table) Partitions(*sql.Context) (sql.PartitionIter, error) {
	return sql.PartitionsToPartitionIter(onePartition{}), nil
}

// PartitionRows implements sql.Table.
func (t *Table) PartitionRows(ctx *sql.Context, p sql.Partition) (sql.RowIter, error) {
	if _, ok := p.(onePartition); !ok {
		return nil, fmt.Errorf("table %s: partition %T of another table", t.name, p)
	}
	cols := t.columns()
	s, err := t.scan(ctx, cols)
	if err != nil {
		return nil, err
	}
	return newRowIter(ctx, s, t.typesOf(cols)), nil
}

func (t *Table) typesOf(cols []int) []*schema.Type {
	out := make([]*schema.Type, len(cols))
	for i, c := range cols {
		out[i] = t.fields[c].Type
	}
	return out
}

// scan plans and starts reading the given columns (indexes into fields, without repetition).
func (t *Table) scan(ctx context.Context, cols []int) (*scan, error) {
	p, err := t.rel.Plan(ctx, t.request(cols))
	if err != nil {
		return nil, err
	}
	return newScan(p.Morsels), nil
}

// rowIter boxes the batches of a scan.
type rowIter struct {
	scan  *scan
	box   *boxer
	batch batchCursor
}

func newRowIter(ctx *sql.Context, s *scan, ts []*schema.Type) *rowIter {
	return &rowIter{scan: s, box: newBoxer(ctx, ts)}
}

// Next implements sql.RowIter.
func (r *rowIter) Next(ctx *sql.Context) (sql.Row, error) {
	for !r.batch.next() {
		b, err := r.scan.Next(ctx)
		if err != nil {
			return nil, err
		}
		r.batch.reset(b)
	}
	return r.box.row(r.batch.batch, r.batch.row()), nil
}

// Close implements sql.RowIter.
func (r *rowIter) Close(*sql.Context) error { return r.scan.Close() }
