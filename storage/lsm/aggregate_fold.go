package lsm

import "github.com/tributarydb/tributary/storage/errs"

// aggregateFolder is merge engine aggregation (AggregateMergeFunction).
type aggregateFolder struct {
	e    *Engine
	l    Layout
	aggs []aggregator
	row  []value
}

func newAggregateFolder(e *Engine, l Layout) (*aggregateFolder, error) {
	f := &aggregateFolder{e: e, l: l, row: make([]value, len(l.Values))}
	for _, field := range l.Fields {
		a, err := e.newAggregator(field, e.aggregateOf(field))
		if err != nil {
			return nil, err
		}
		f.aggs = append(f.aggs, a)
	}
	return f, nil
}

// fold applies every column's function to the records in turn. A -D under
// remove-record-on-delete makes the row that of the -D record; a later add goes
// on from its values (1.4 and later).
func (f *aggregateFolder) fold(records []rec) (folded, error) {
	clear(f.row)
	for _, a := range f.aggs {
		a.reset()
	}
	deleted := false
	for _, x := range records {
		c, kind, i := x.c, x.kind(), x.row()
		deleted = f.e.removeOnDelete && kind == Delete
		if deleted {
			if err := initRow(f.e, f.l, f.row, c, i); err != nil {
				return folded{}, err
			}
			continue
		}
		for j, a := range f.aggs {
			in := valueAt(c.vals[j], i)
			var err error
			if IsRetract(kind) {
				f.row[j], err = a.retract(f.row[j], in)
			} else {
				f.row[j], err = a.agg(f.row[j], in)
			}
			if err != nil {
				return folded{}, columnError(f.e, f.l.Fields[j], err)
			}
		}
	}
	last := records[len(records)-1]
	out := folded{row: f.row, seq: last.seq()}
	if deleted {
		out.kind = Delete
	}
	return out, nil
}

// initRow sets the row to all values of a record.
func initRow(e *Engine, l Layout, row []value, c *cursor, i int) error {
	for j := range row {
		row[j] = valueAt(c.vals[j], i)
		if row[j].null() && e.table.Fields[l.Fields[j]].Type.NotNull {
			return nullError(e, l.Fields[j])
		}
	}
	return nil
}

func nullError(e *Engine, field int) error {
	return errs.Invalidf("column '%s' can not be null, but a record of merge engine '%s' holds a null", e.table.Fields[field].Name, e.kind)
}

func columnError(e *Engine, field int, err error) error {
	return errs.New(errs.ClassOf(err), "column '%s': %w", e.table.Fields[field].Name, err)
}
