package lsm

import (
	"github.com/tributarydb/tributary/storage/column"
)

// version says how a record's version of a sequence group compares with the row's.
type version uint8

const (
	// absent: the record has no version of the group (all its columns are null).
	absent version = iota
	// newer: the record's version is the row's or a later one.
	newer
	// older: the record's version is before the row's.
	older
)

// partialFolder is merge engine partial-update (PartialUpdateMergeFunction).
type partialFolder struct {
	e *Engine
	l Layout
	// aggs holds the aggregator of a value, nil for none.
	aggs []aggregator
	// groups are the sequence groups of which columns were read; by are indexes into values.
	groups []partialGroup
	// group is the index into groups of a value's group, -1 for none.
	group []int
	// isBy marks the values that order their group.
	isBy []bool
	row  []value
	vers []version
}

type partialGroup struct {
	by      []int
	removes bool
}

func newPartialFolder(e *Engine, l Layout) (*partialFolder, error) {
	n := len(l.Values)
	f := &partialFolder{e: e, l: l, aggs: make([]aggregator, n), group: make([]int, n), isBy: make([]bool, n), row: make([]value, n)}
	place := make([]int, len(e.groups))
	for g := range e.groups {
		place[g] = -1
		needed := e.groups[g].removes
		for _, field := range l.Fields {
			needed = needed || e.groupOf[field] == g
		}
		if !needed {
			continue
		}
		pg := partialGroup{removes: e.groups[g].removes}
		for _, field := range e.groups[g].by {
			v := l.valueOf(field)
			if v < 0 {
				return nil, missingColumn(e, field)
			}
			pg.by = append(pg.by, v)
		}
		place[g] = len(f.groups)
		f.groups = append(f.groups, pg)
	}
	for j, field := range l.Fields {
		f.group[j] = -1
		if g := e.groupOf[field]; g >= 0 {
			f.group[j] = place[g]
		}
		f.isBy[j] = e.isGroupBy(field)
		if name := e.partialAggregate(field); name != "" {
			a, err := e.newAggregator(field, name)
			if err != nil {
				return nil, err
			}
			f.aggs[j] = a
		}
	}
	f.vers = make([]version, len(f.groups))
	return f, nil
}

func (f *partialFolder) fold(records []rec) (folded, error) {
	clear(f.row)
	for _, a := range f.aggs {
		if a != nil {
			a.reset()
		}
	}
	var seq int64
	deleted, added, filled := false, false, false
	for _, x := range records {
		c, kind, i := x.c, x.kind(), x.row()
		deleted = false
		var err error
		if !IsRetract(kind) {
			seq = x.seq()
			err = f.add(c, i)
			added, filled = true, true
		} else {
			if !filled {
				err = initRow(f.e, f.l, f.row, c, i)
				filled = true
			}
			if err == nil && !f.e.ignoreDelete {
				seq = x.seq()
				deleted, err = f.retract(c, i, kind)
			}
		}
		if err != nil {
			return folded{}, err
		}
	}
	out := folded{row: f.row, seq: seq}
	if deleted || !added {
		out.kind = Delete
	}
	return out, nil
}

// compareVersions decides for every group where the record's version stands.
// The row's versions do not change meanwhile: Paimon goes column by column and
// sets a group's version on the way, but then the record's equals it.
func (f *partialFolder) compareVersions(c *cursor, i int) {
	for g := range f.groups {
		f.vers[g] = f.versionOf(&f.groups[g], c, i)
	}
}

func (f *partialFolder) versionOf(g *partialGroup, c *cursor, i int) version {
	none := true
	for _, j := range g.by {
		if !c.vals[j].IsNull(i) {
			none = false
			break
		}
	}
	if none {
		return absent
	}
	for _, j := range g.by {
		if d := compareValues(valueAt(c.vals[j], i), f.row[j]); d != 0 {
			if d < 0 {
				return older
			}
			return newer
		}
	}
	return newer
}

// compareValues orders two values of a column, null lowest.
func compareValues(a, b value) int {
	switch {
	case a.null() && b.null():
		return 0
	case a.null():
		return -1
	case b.null():
		return 1
	}
	return column.CompareRows(a.v, a.i, b.v, b.i)
}

// add applies an insert or an update's new image.
func (f *partialFolder) add(c *cursor, i int) error {
	f.compareVersions(c, i)
	for j := range f.row {
		g, a := f.group[j], f.aggs[j]
		var err error
		switch {
		case g < 0 && len(f.e.groups) == 0:
			// Without sequence groups functions have no say: only last_non_null_value is allowed.
			if in := valueAt(c.vals[j], i); !in.null() {
				f.row[j] = in
			} else if f.e.table.Fields[f.l.Fields[j]].Type.NotNull {
				return nullError(f.e, f.l.Fields[j])
			}
		case g < 0:
			in := valueAt(c.vals[j], i)
			if a != nil {
				f.row[j], err = a.agg(f.row[j], in)
			} else if !in.null() {
				f.row[j] = in
			}
		case f.vers[g] == absent:
		case f.isBy[j]:
			if f.vers[g] == newer {
				f.row[j] = valueAt(c.vals[j], i)
			}
		case a == nil:
			if f.vers[g] == newer {
				f.row[j] = valueAt(c.vals[j], i)
			}
		case f.vers[g] == newer:
			f.row[j], err = a.agg(f.row[j], valueAt(c.vals[j], i))
		default:
			f.row[j], err = a.reversed(f.row[j], valueAt(c.vals[j], i))
		}
		if err != nil {
			return columnError(f.e, f.l.Fields[j], err)
		}
	}
	return nil
}

// retract applies a -D or an update's old image; deleted says that the row is gone.
func (f *partialFolder) retract(c *cursor, i int, kind int32) (deleted bool, err error) {
	if len(f.e.groups) == 0 {
		if !f.e.removeOnDelete {
			return false, partialUpdateRetract()
		}
		if kind != Delete {
			return false, nil
		}
		return true, initRow(f.e, f.l, f.row, c, i)
	}
	f.compareVersions(c, i)
	if kind == Delete {
		for g := range f.groups {
			if f.groups[g].removes && f.vers[g] == newer {
				return true, initRow(f.e, f.l, f.row, c, i)
			}
		}
	}
	for j := range f.row {
		g, a := f.group[j], f.aggs[j]
		if g < 0 || f.vers[g] == absent {
			continue
		}
		switch {
		case f.isBy[j]:
			if f.vers[g] == newer {
				f.row[j] = valueAt(c.vals[j], i)
			}
		case a == nil:
			if f.vers[g] == newer {
				f.row[j] = value{}
			}
		default:
			if f.row[j], err = a.retract(f.row[j], valueAt(c.vals[j], i)); err != nil {
				return false, columnError(f.e, f.l.Fields[j], err)
			}
		}
	}
	return false, nil
}
