package planner

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"github.com/tributarydb/tributary/sqlengine/dialect"
	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/storage/errs"
)

// insertTable is a Table as the target of an INSERT. The columns that a PARTITION clause gives a value are no columns of it.
type insertTable struct {
	*Table
	target dialect.InsertTarget
}

var _ sql.InsertableTable = (*insertTable)(nil)
var _ sql.ReplaceableTable = (*insertTable)(nil)
var _ sql.UpdatableTable = (*insertTable)(nil)

// newInsertTable makes a table the target of a statement.
func newInsertTable(t *Table, target dialect.InsertTarget) (*insertTable, error) {
	if target.Change != nil {
		return newChangeTable(t, target)
	}
	if len(target.Partition)+len(target.Dynamic) == 0 {
		return &insertTable{Table: t, target: target}, nil
	}
	d, ok := t.rel.(Described)
	if !ok || len(d.PartitionKeys()) == 0 {
		return nil, errs.Invalidf("table %s.%s is not partitioned", t.db, t.name)
	}
	keys := d.PartitionKeys()
	named := map[string]*string{}
	find := func(c string) (string, error) {
		for _, k := range keys {
			if strings.EqualFold(k, c) {
				return k, nil
			}
		}
		return "", errs.Invalidf("column '%s' is no partition column; these are: %s", c, strings.Join(keys, ", "))
	}
	for c, v := range target.Partition {
		k, err := find(c)
		if err != nil {
			return nil, err
		}
		named[k] = v
	}
	for _, c := range target.Dynamic {
		if _, err := find(c); err != nil {
			return nil, err
		}
	}
	target.Partition = named
	var names []string
	for _, f := range t.fields {
		if _, static := named[f.Name]; !static {
			names = append(names, f.Name)
		}
	}
	return &insertTable{Table: t.WithProjections(names).(*Table), target: target}, nil
}

// Inserter implements sql.InsertableTable. insertRule takes every INSERT over; no row comes here.
func (t *Table) Inserter(*sql.Context) sql.RowInserter { return refusingEditor{t.name} }

// Replacer implements sql.ReplaceableTable.
func (t *Table) Replacer(*sql.Context) sql.RowReplacer { return refusingEditor{t.name} }

// Updater implements sql.UpdatableTable, which go-mysql-server wants of the target of ON DUPLICATE KEY UPDATE.
func (t *Table) Updater(*sql.Context) sql.RowUpdater { return refusingEditor{t.name} }

// refusingEditor refuses rows one by one.
type refusingEditor struct{ table string }

func (r refusingEditor) refuse() error {
	return errs.Unsupportedf("table %s takes no single rows in this statement", r.table)
}
func (refusingEditor) StatementBegin(*sql.Context)              {}
func (refusingEditor) DiscardChanges(*sql.Context, error) error { return nil }
func (refusingEditor) StatementComplete(*sql.Context) error     { return nil }
func (r refusingEditor) Insert(*sql.Context, sql.Row) error     { return r.refuse() }
func (r refusingEditor) Update(*sql.Context, sql.Row, sql.Row) error {
	return r.refuse()
}
func (r refusingEditor) Delete(*sql.Context, sql.Row) error { return r.refuse() }
func (refusingEditor) Close(*sql.Context) error             { return nil }

// insertRule puts our own node in the place of INSERT, REPLACE, LOAD DATA, UPDATE and DELETE, and refuses
// to read what the transaction has written and not yet committed.
func insertRule(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	e := engineOf(a)
	if e == nil {
		return n, transform.SameTree, nil
	}
	noteBranches(ctx, n)
	if err := refuseOwnWrites(ctx, n); err != nil {
		return nil, transform.SameTree, err
	}
	return transform.Node(n, func(n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		ins, ok := n.(*plan.InsertInto)
		if !ok {
			return n, transform.SameTree, nil
		}
		out, err := e.insertNode(ctx, ins)
		if err != nil {
			return nil, transform.SameTree, err
		}
		return out, transform.NewTree, nil
	})
}

// insertNode makes the node of an analysed INSERT.
func (e *Engine) insertNode(ctx *sql.Context, ins *plan.InsertInto) (sql.Node, error) {
	var target *insertTable
	transform.Inspect(ins.Destination, func(n sql.Node) bool {
		if rt, ok := n.(*plan.ResolvedTable); ok {
			switch t := rt.UnderlyingTable().(type) {
			case *insertTable:
				target = t
			case *Table:
				target, _ = newInsertTable(t, dialect.InsertTarget{})
			}
		}
		return target == nil
	})
	if target == nil {
		return nil, errs.Unsupportedf("rows cannot be inserted into this kind of table")
	}
	if err := e.ordinaryDatabase(ctx, target.db); err != nil {
		return nil, err
	}
	if target.lacks != "" {
		return nil, lacksBranch(target.db, target.name, target.lacks)
	}
	if target.target.Change != nil {
		return e.changeNode(ctx, ins, target)
	}
	if err := target.checkStatement(ins); err != nil {
		return nil, err
	}
	node := &insertNode{engine: e, table: target, ignore: ins.Ignore, source: ins.Source}
	// go-mysql-server projects the source to the table's columns; which come from where is decided here.
	if p, ok := ins.Source.(*plan.Project); ok {
		node.source = p.Child
	}
	names := ins.ColumnNames
	if ld, ok := node.source.(*plan.LoadData); ok {
		var err error
		if node.load, names, err = newLoadData(ctx, ld, target); err != nil {
			return nil, err
		}
	}
	// Rows that are not carried are empty ones: VALUES ().
	_, empty := node.source.(*plan.Values)
	empty = empty && carriedRows(node.source) == nil
	given := map[string]int{}
	for i, c := range names {
		if _, twice := given[strings.ToLower(c)]; twice {
			return nil, errmap.New(1110, "42000", "Column '%s' specified twice", c)
		}
		given[strings.ToLower(c)] = i
	}
	for _, c := range target.columns() {
		from, ok := given[strings.ToLower(target.fields[c].Name)]
		if !ok || empty {
			from = fromDefault
		}
		node.from = append(node.from, from)
	}
	if err := node.findUpsert(ctx, ins); err != nil {
		return nil, err
	}
	return node, nil
}

// Merge engines of tables with a primary key.
const (
	engineDeduplicate = "deduplicate"
	engineFirstRow    = "first-row"
)

// mergeEngine is the engine of a table with a primary key; "" for one without.
func (t *insertTable) mergeEngine() string {
	if len(t.rel.PrimaryKey()) == 0 {
		return ""
	}
	if d, ok := t.rel.(Described); ok {
		if e := d.TableOptions()["merge-engine"]; e != "" {
			return strings.ToLower(e)
		}
	}
	return engineDeduplicate
}

// checkStatement refuses the forms of INSERT whose meaning the table cannot give.
func (t *insertTable) checkStatement(ins *plan.InsertInto) error {
	engine := t.mergeEngine()
	_, isLoad := ins.Source.(*plan.LoadData)
	if p, ok := ins.Source.(*plan.Project); ok && !isLoad {
		_, isLoad = p.Child.(*plan.LoadData)
	}
	switch {
	case len(ins.Returning) > 0:
		return errs.Unsupportedf("This version of Tributary doesn't yet support 'INSERT … RETURNING'")
	case ins.IsReplace && engine != "" && engine != engineDeduplicate:
		return errs.Unsupportedf("REPLACE would have to replace rows, and table %s.%s merges them: it has 'merge-engine' = '%s'; use INSERT", t.db, t.name, engine)
	case ins.Ignore && !isLoad && engine != "" && engine != engineFirstRow && engine != engineDeduplicate:
		return errs.Unsupportedf("INSERT IGNORE would have to keep the rows that are there, and table %s.%s lets new ones win: it has 'merge-engine' = '%s'; use INSERT, or a table with 'merge-engine' = '%s'", t.db, t.name, engine, engineFirstRow)
	}
	return nil
}

// refuseOwnWrites refuses to read a table that the transaction has written, unless what it has written is seen.
func refuseOwnWrites(ctx *sql.Context, n sql.Node) error {
	tx, _ := ctx.GetTransaction().(*Transaction)
	if tx == nil || !tx.hasWrites() {
		return nil
	}
	var err error
	visit := func(n sql.Node) bool {
		rt, ok := n.(*plan.ResolvedTable)
		if !ok || err != nil {
			return err == nil
		}
		t, ok := rt.UnderlyingTable().(*Table)
		if !ok {
			return true
		}
		if _, seen := t.rel.(*ownRows); !seen && tx.wrote(t) {
			err = errs.Unsupportedf("table %s.%s has rows of this transaction that are not committed, and cannot be read before COMMIT; commit first, or read before writing", t.db, t.name)
		}
		return err == nil
	}
	transform.Inspect(n, func(n sql.Node) bool {
		if ins, ok := n.(*plan.InsertInto); ok {
			transform.Inspect(ins.Source, visit)
			return false
		}
		return visit(n)
	})
	return err
}
