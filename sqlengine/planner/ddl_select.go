package planner

import (
	"context"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"github.com/tributarydb/tributary/sqlengine/dialect"
	"github.com/tributarydb/tributary/sqlengine/result"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// Limits of the types of CREATE TABLE … AS SELECT.
const (
	maxPrecision    = 38
	maxTimeFraction = 3
)

// operationCreateSelect is what the snapshot of CREATE TABLE … AS SELECT records.
const operationCreateSelect = "CREATE_TABLE_AS_SELECT"

// createSelect is CREATE TABLE … AS SELECT: it makes the table, writes the query's rows as one commit, and takes the
// table away again where that fails.
type createSelect struct {
	engine *Engine
	stmt   dialect.CreateTable
	source sql.Node
}

var (
	_ sql.ExecSourceRel      = (*createSelect)(nil)
	_ sql.CollationCoercible = (*createSelect)(nil)
)

// createTableAs makes the node of CREATE TABLE … AS SELECT; its child is the query.
func (e *Engine) createTableAs(s dialect.CreateTable, children []sql.Expression) (sql.Node, error) {
	if len(children) == 1 {
		if q, ok := children[0].(*plan.Subquery); ok {
			return &createSelect{engine: e, stmt: s, source: q.Query}, nil
		}
	}
	return nil, sql.ErrUnsupportedSyntax.New("CREATE TABLE … AS")
}

// Schema implements sql.Node.
func (n *createSelect) Schema() sql.Schema { return gms.OkResultSchema }

// Resolved implements sql.Node.
func (n *createSelect) Resolved() bool { return n.source.Resolved() }

// IsReadOnly implements sql.Node.
func (n *createSelect) IsReadOnly() bool { return false }

// Children implements sql.Node.
func (n *createSelect) Children() []sql.Node { return []sql.Node{n.source} }

// WithChildren implements sql.Node.
func (n *createSelect) WithChildren(c ...sql.Node) (sql.Node, error) {
	if len(c) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(c), 1)
	}
	out := *n
	out.source = c[0]
	return &out, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (n *createSelect) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 7
}

// String implements sql.Node.
func (n *createSelect) String() string {
	p := sql.NewTreePrinter()
	_ = p.WriteNode("CreateTable(%s)", n.stmt.Table.Name)
	_ = p.WriteChildren(n.source.String())
	return p.String()
}

// RowIter implements sql.ExecSourceRel.
func (n *createSelect) RowIter(ctx *sql.Context, row sql.Row) (sql.RowIter, error) {
	if err := commitImplicitly(ctx); err != nil {
		return nil, err
	}
	defer n.engine.progress.set(ctx.Session.ID(), "")
	rows, warnings, err := n.run(ctx, row)
	if err != nil {
		return nil, err
	}
	ok := gms.OkResult{RowsAffected: uint64(rows), Info: insertInfo{rows: rows, warnings: warnings}}
	return sql.RowsToRowIter(sql.Row{ok}), nil
}

func (n *createSelect) run(ctx *sql.Context, row sql.Row) (rows int64, warnings int, err error) {
	s := n.stmt
	err = n.engine.change(ctx, s.Table, func(w WritableCatalog, db string) error {
		if s.IfNotExists {
			if there, err := tableExists(ctx, w, db, s.Table.Name); err != nil {
				return err
			} else if there {
				note(ctx, 1050, "Table '"+s.Table.Name+"' already exists")
				return nil
			}
		}
		def, from, err := n.definition()
		if err != nil {
			return err
		}
		if err := finishDefinition(&def); err != nil {
			return err
		}
		if err := existingTable(w.CreateTable(ctx, db, s.Table.Name, def), s.Table.Name); err != nil {
			return err
		}
		if rows, warnings, err = n.fill(ctx, row, db, from); errs.Is(err, errs.Uncertain) {
			return err // its rows may be there
		} else if err != nil {
			// Even a statement that was stopped takes its table away.
			if drop := w.DropTable(ctx.WithContext(context.WithoutCancel(ctx)), db, s.Table.Name); drop != nil {
				n.engine.log.Error("the table of a CREATE TABLE … AS SELECT that failed cannot be dropped", "database", db, "table", s.Table.Name, "error", drop)
			}
			return err
		}
		warnIgnored(ctx, s.Ignored)
		return nil
	})
	return rows, warnings, err
}

// fill writes the query's rows into the new table. from has the query's column of each column by its name.
func (n *createSelect) fill(ctx *sql.Context, row sql.Row, db string, from map[string]int) (int64, int, error) {
	name := n.stmt.Table.Name
	rel, err := n.engine.catalog.Open(ctx, db, name, OpenOptions{TimeZone: SessionZone(ctx)})
	if err != nil {
		return 0, 0, err
	}
	target, err := newInsertTable(newTable(db, name, rel), dialect.InsertTarget{})
	if err != nil {
		return 0, 0, err
	}
	ins := &insertNode{engine: n.engine, table: target, source: n.source, operation: operationCreateSelect}
	for _, c := range target.columns() {
		k, ok := from[target.fields[c].Name]
		if !ok {
			k = fromDefault
		}
		ins.from = append(ins.from, k)
	}
	return ins.run(ctx, row)
}

// definition is the table that the query fills: as in MySQL, columns that the statement defines and the query does not give
// come first, then the query's, of the type that the statement gives or of their own.
func (n *createSelect) definition() (def schema.Definition, from map[string]int, err error) {
	def = n.stmt.Definition
	sch := n.source.Schema()
	var types []*schema.Type
	if src, ok := n.source.(result.Source); ok {
		types = src.ColumnTypes()
	}
	columns := plainColumns(n.source)
	from = map[string]int{}
	var fields []schema.Field
	for _, f := range def.Fields {
		if k := slices.IndexFunc(sch, func(c *sql.Column) bool { return sameName(c.Name, f.Name) }); k < 0 {
			fields = append(fields, f)
		}
	}
	for k, c := range sch {
		f := schema.Field{Name: c.Name}
		if i, ok := fieldAt(def.Fields, c.Name); ok {
			f = def.Fields[i]
		} else if k < len(types) {
			f.Type = storedType(types[k])
		} else {
			f.Type = typeOf(c.Type, columns == nil || columns[k])
		}
		if _, twice := from[f.Name]; twice {
			return def, nil, duplicateColumn(f.Name)
		}
		from[f.Name] = k
		fields = append(fields, f)
	}
	def.Fields = fields
	return def, from, nil
}

func sameName(a, b string) bool {
	_, ok := fieldAt([]schema.Field{{Name: a}}, b)
	return ok
}

// plainColumns tells which columns of a query are columns of a table; nil = all.
func plainColumns(n sql.Node) []bool {
	p, ok := n.(*plan.Project)
	if !ok {
		if _, ok := n.(*plan.ResolvedTable); ok {
			return nil
		}
		return make([]bool, len(n.Schema()))
	}
	out := make([]bool, len(p.Projections))
	for i, e := range p.Projections {
		if a, ok := e.(*expression.Alias); ok {
			e = a.Child
		}
		_, out[i] = e.(*expression.GetField)
	}
	return out
}

// storedType is the type of a column that holds values of t, which may be NULL.
func storedType(t *schema.Type) *schema.Type {
	t = t.WithNotNull(false)
	switch t.Root {
	case schema.Decimal:
		if t.Precision > maxPrecision {
			return &schema.Type{Root: schema.Decimal, Precision: maxPrecision, Scale: min(t.Scale, maxPrecision)}
		}
	case schema.Char, schema.Varchar:
		if t.Length <= 0 {
			return &schema.Type{Root: schema.Varchar, Length: schema.MaxLength}
		}
	case schema.Binary, schema.Varbinary:
		if t.Length <= 0 {
			return &schema.Type{Root: schema.Varbinary, Length: schema.MaxLength}
		}
	}
	return t
}

// typeOf is the type of a column that holds values of a MySQL type. The lengths of texts and the widths of small
// integers count for columns only: those of expressions say little.
func typeOf(t sql.Type, column bool) *schema.Type {
	text := &schema.Type{Root: schema.Varchar, Length: schema.MaxLength}
	bytes := &schema.Type{Root: schema.Varbinary, Length: schema.MaxLength}
	switch t := t.(type) {
	case sql.DecimalType:
		return storedType(&schema.Type{Root: schema.Decimal, Precision: int(t.Precision()), Scale: int(t.Scale())})
	case sql.DatetimeType:
		switch t.Type() {
		case sqltypes.Date:
			return &schema.Type{Root: schema.Date}
		case sqltypes.Timestamp:
			return &schema.Type{Root: schema.TimestampLTZ, Precision: t.Precision()}
		}
		return &schema.Type{Root: schema.Timestamp, Precision: t.Precision()}
	case sql.StringType:
		n := t.MaxCharacterLength()
		if gms.IsTextOnly(t) {
			if column && n > 0 && (t.Type() == sqltypes.VarChar || t.Type() == sqltypes.Char) {
				root := schema.Varchar
				if t.Type() == sqltypes.Char {
					root = schema.Char
				}
				return &schema.Type{Root: root, Length: int(n)}
			}
			return text
		}
		if column && n > 0 && (t.Type() == sqltypes.VarBinary || t.Type() == sqltypes.Binary) {
			root := schema.Varbinary
			if t.Type() == sqltypes.Binary {
				root = schema.Binary
			}
			return &schema.Type{Root: root, Length: int(n)}
		}
		return bytes
	}
	if t == gms.Boolean {
		return &schema.Type{Root: schema.Boolean}
	}
	integer := func(root schema.Root) *schema.Type {
		if !column && root < schema.Int {
			root = schema.Int
		}
		return &schema.Type{Root: root}
	}
	switch t.Type() {
	case sqltypes.Int8:
		return integer(schema.TinyInt)
	case sqltypes.Int16, sqltypes.Uint8:
		return integer(schema.SmallInt)
	case sqltypes.Int24, sqltypes.Int32, sqltypes.Uint16, sqltypes.Uint24, sqltypes.Year:
		return integer(schema.Int)
	case sqltypes.Int64, sqltypes.Uint32:
		return integer(schema.BigInt)
	case sqltypes.Uint64, sqltypes.Bit:
		return &schema.Type{Root: schema.Decimal, Precision: 20}
	case sqltypes.Float32:
		return &schema.Type{Root: schema.Float}
	case sqltypes.Float64:
		return &schema.Type{Root: schema.Double}
	case sqltypes.Time:
		return &schema.Type{Root: schema.Time, Precision: maxTimeFraction}
	case sqltypes.Geometry:
		return bytes
	}
	return text
}
