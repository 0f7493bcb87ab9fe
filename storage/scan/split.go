package scan

import (
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/lsm"
)

// Mode says how the files of a split become rows.
type Mode uint8

// The modes.
const (
	// Raw files are read one by one; their rows are the table's rows.
	Raw Mode = iota
	// Merge merges Runs by key.
	Merge
	// Join puts the columns of a data-evolution table's files of one row range side by side.
	Join
	// Changes files are read one by one with the row kinds they hold.
	Changes
)

// Split is a part of a scan: rows of one bucket of one partition.
type Split struct {
	Source    *Source
	Partition []column.Scalar
	Bucket    int
	Mode      Mode
	// Files are all of the split's files; for Merge those of Runs.
	Files []*File
	// Runs are the sorted runs of Merge, oldest first.
	Runs []lsm.SortedRun[*File]
	// Postponed are files of the postpone bucket, in the order of their
	// arrival, whose rows a Merge takes in as the newest.
	Postponed []*File
	// Fallback is set where the rows come from the branch of lower precedence.
	Fallback bool
	// PartitionAs replaces the partition values shown: a partition of a chain
	// table is made of others.
	PartitionAs []column.Scalar
}

// Rows is the number of physical rows.
func (s *Split) Rows() int64 {
	var n int64
	for _, f := range s.Files {
		n += f.Meta.RowCount
	}
	return n
}

// ExactRows returns the number of rows the split yields, where metadata tells it.
func (s *Split) ExactRows() (int64, bool) {
	switch s.Mode {
	case Raw:
		// A key-value file's delete count is not to be trusted (format section
		// 22.4): its rows are counted by reading their kinds.
		if s.Source.Schema.HasPrimaryKey() {
			return 0, false
		}
		var n int64
		for _, f := range s.Files {
			n += f.Meta.RowCount
			if f.Vector != nil {
				if f.Vector.Range.Cardinality == nil {
					return 0, false
				}
				n -= *f.Vector.Range.Cardinality
			}
		}
		return n, true
	case Join:
		if s.Files[0].Vector == nil {
			return s.Files[0].Meta.RowCount, true
		}
	}
	return 0, false
}
