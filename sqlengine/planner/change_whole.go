package planner

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
)

// dropWhole serves a DELETE of all rows, or of whole partitions, without removing them one by one: as in Paimon it is a
// snapshot that drops the files. ok is false where it does not serve it.
func (n *changeNode) dropWhole(ctx *sql.Context, w WritableCatalog, done *changeInfo) (ok bool, err error) {
	if c := n.change; !c.Delete || n.rules.rowsOnly || n.rules.ignored || !c.All && len(c.Equal) == 0 {
		return false, nil
	}
	var p wholePartitions
	if !n.change.All {
		if p, ok = n.findPartitions(ctx); !ok {
			return false, nil
		}
	}
	if done.matched, err = p.count(ctx, n.table.rel); err != nil || done.matched == 0 {
		return err == nil, err
	}
	done.changed = done.matched
	if n.change.All {
		return true, w.TruncateTable(ctx, n.table.db, n.table.object)
	}
	return true, w.DropPartitions(ctx, n.table.db, n.table.object, []map[string]*string{p.spec}, true)
}

// wholePartitions are the partitions with the given values; without any all rows.
type wholePartitions struct {
	spec map[string]*string
	// columns are indexes into the table's fields, values vectors of one row.
	columns []int
	values  []*column.Vector
}

// findPartitions reads a condition that is no more than values of partition columns, whose texts leave no doubt about which
// values they equal.
func (n *changeNode) findPartitions(ctx *sql.Context) (p wholePartitions, ok bool) {
	p.spec = map[string]*string{}
	for _, term := range n.change.Equal {
		c, ok := fieldAt(n.table.fields, term.Column)
		if !ok || !slices.Contains(n.rules.partition, n.table.fields[c].Name) || slices.Contains(p.columns, c) {
			return p, false
		}
		f := &n.table.fields[c]
		switch f.Type.Root {
		case schema.Varchar, schema.Date:
			ok = !term.Number
		case schema.TinyInt, schema.SmallInt, schema.Int, schema.BigInt:
			ok = term.Number
		default:
			ok = false
		}
		if !ok {
			return p, false
		}
		w := newCellWriter(f.Name, f.Type, SessionZone(ctx), &misfits{ctx: ctx, strict: true, row: 1})
		if err := w.text(term.Text); err != nil {
			return p, false
		}
		v := w.out.Finish()
		p.columns, p.values = append(p.columns, c), append(p.values, v)
		p.spec[f.Name] = &term.Text
	}
	return p, true
}

// count counts the rows that are dropped.
func (p *wholePartitions) count(ctx *sql.Context, rel relation.Relation) (rows int64, err error) {
	req := relation.Request{Columns: p.columns}
	var terms []predicate.Predicate
	for i, c := range p.columns {
		terms = append(terms, &predicate.Leaf{Op: predicate.Eq, Column: c, Literals: []column.Scalar{column.ScalarAt(p.values[i], 0)}})
	}
	if len(terms) > 0 {
		req.Filter = predicate.NewAnd(terms...)
	}
	plan, err := rel.Plan(ctx, req)
	if err != nil {
		return 0, err
	}
	if plan.RowCount >= 0 {
		return plan.RowCount, nil
	}
	err = eachScanned(ctx, plan.Morsels, func(b *column.Batch) error {
		for k := range b.Rows() {
			same := true
			for c, v := range p.values {
				same = same && column.EqualRows(b.Cols[c], b.Row(k), v, 0)
			}
			if same {
				rows++
			}
		}
		return nil
	})
	return rows, err
}
