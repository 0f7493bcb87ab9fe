package lsm

import (
	"github.com/tributarydb/tributary/storage/column"
)

// value refers to one value: row i of v. v is nil for null, and never
// dictionary-coded. It is good as long as the group of records it came from, or
// the scratch vector of the aggregator that made it, is.
type value struct {
	v *column.Vector
	i int
}

func (x value) null() bool { return x.v == nil }

// valueAt refers to row i of v.
func valueAt(v *column.Vector, i int) value {
	if v.IsNull(i) {
		return value{}
	}
	v, i = v.At(i)
	return value{v, i}
}

// appendTo appends the value to a builder of its kind.
func (x value) appendTo(b *column.Builder) {
	if x.v == nil {
		b.AppendNull()
		return
	}
	b.Append(x.v, x.i)
}

// folder makes one row of the records of a key.
type folder interface {
	// fold takes the records of a key, oldest first. The result is valid until the next call.
	fold(records []rec) (folded, error)
}

// folded is the merged row of a key.
type folded struct {
	row  []value // one for each of Layout.Values
	seq  int64
	kind int32
}

// newFolder returns the folder of an engine that does not pick rows.
func (e *Engine) newFolder(l Layout) (folder, error) {
	if e.kind == Aggregation {
		return newAggregateFolder(e, l)
	}
	return newPartialFolder(e, l)
}
