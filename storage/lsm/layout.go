package lsm

import (
	"context"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
)

// RunReader yields a sorted run: batches in ascending key order, each valid
// until the next call; io.EOF ends it. format.Reader and relation.Reader fit.
type RunReader interface {
	Next(ctx context.Context) (*column.Batch, error)
	Close() error
}

// Layout says where a run's batches hold what.
type Layout struct {
	// Keys are the batch columns of the key, in the key's order. At least one.
	Keys []int
	// Seq is the batch column of _SEQUENCE_NUMBER (KindInt64); -1 where it was
	// not read: then the order of the runs decides.
	Seq int
	// Kind is the batch column of _VALUE_KIND (KindInt32); -1 where no run
	// holds retracts: then every record is +I.
	Kind int
	// Values are the batch columns of the value columns. They may repeat
	// columns of Keys.
	Values []int
	// Fields gives for each of Values the index of its field in
	// TableInfo.Fields. Every column that Engine.NeededColumns added must be there.
	Fields []int
	// Output lists what a merge returns: indexes into Values, in the order of
	// the result's columns. nil = all; empty = rows are only counted.
	Output []int
}

// MergeOptions choose the result of a merge.
type MergeOptions struct {
	// KeepDeletes returns results of the kinds -U and -D as well.
	KeepDeletes bool
	// Seq and Kind append a column with the result's sequence number
	// (KindInt64) and row kind (KindInt32), in this order, after the value columns.
	Seq, Kind bool
	// Unordered allows the result in any order, and hands rows on in place.
	Unordered bool
	// FoldLone gives the single record of a key to the engine, too, which may change it: a column of a sequence
	// group without version becomes NULL. Only for ordered results.
	FoldLone bool
}

// check validates the layout and fills in Output.
func (l Layout) check(e *Engine) (Layout, error) {
	if len(l.Keys) == 0 {
		return l, errs.Invalidf("a merge needs at least one key column")
	}
	if len(l.Fields) != len(l.Values) {
		return l, errs.Invalidf("a merge layout names %d fields for %d value columns", len(l.Fields), len(l.Values))
	}
	for _, f := range l.Fields {
		if f < 0 || f >= len(e.table.Fields) {
			return l, errs.Invalidf("a merge layout names field %d of a table with %d fields", f, len(e.table.Fields))
		}
	}
	if l.Output == nil {
		l.Output = make([]int, len(l.Values))
		for i := range l.Output {
			l.Output[i] = i
		}
	}
	for _, o := range l.Output {
		if o < 0 || o >= len(l.Values) {
			return l, errs.Invalidf("a merge layout returns value column %d of %d", o, len(l.Values))
		}
	}
	return l, nil
}

// valueOf returns the index into Values of a table field, -1 where it is not read.
func (l Layout) valueOf(field int) int {
	for i, f := range l.Fields {
		if f == field {
			return i
		}
	}
	return -1
}

// columns is the least number of columns that a batch must have.
func (l Layout) columns() int {
	n := max(l.Seq, l.Kind)
	for _, c := range l.Keys {
		n = max(n, c)
	}
	for _, c := range l.Values {
		n = max(n, c)
	}
	return n + 1
}
