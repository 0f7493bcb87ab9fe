package relation

import (
	"context"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
)

// Relation is a set of rows that can be scanned in parallel. It is pinned: all
// of its plans see one schema and one snapshot a branch.
type Relation interface {
	// Fields are the columns. Ids, types, comments and defaults are as in the table's schema.
	Fields() []schema.Field
	// PrimaryKey names the columns that identify a row; empty where rows may repeat.
	PrimaryKey() []string
	// Comment is the table's comment.
	Comment() string
	// Plan decides what to read. It reads metadata, no data files.
	Plan(ctx context.Context, req Request) (*Plan, error)
}

// Request says which rows and columns are wanted.
type Request struct {
	// Columns are indexes into Fields, in the order of the batches' Cols.
	// Empty = rows are only counted (batches with N and no Cols).
	Columns []int
	// Filter is a predicate over indexes into Fields (not into Columns). It
	// only allows skipping: rows that do not match may be returned.
	Filter predicate.Predicate
	// Limit > 0 allows to plan no more than what surely yields that many rows;
	// only set where every row of the relation that Filter does not exclude counts.
	Limit int64
}

// Plan is a decided scan.
type Plan struct {
	// Morsels are the independent parts. Their order is the relation's natural
	// order (stable from run to run on one snapshot).
	Morsels []Morsel
	// RowCount is the exact number of rows that all morsels together give,
	// where metadata alone tells it and no filter was weakened; -1 = unknown.
	RowCount int64
	// Info explains the decision, for EXPLAIN; keys in order.
	Info []Note
}

// Note is a line of an explanation, e.g. {"files", "3 of 12 (9 pruned by partition)"}.
type Note struct{ Key, Value string }

// Morsel is a part of a scan that one goroutine reads.
type Morsel interface {
	// Open starts reading. Batches have the request's columns and may carry a selection.
	Open(ctx context.Context) (Reader, error)
	// Weight estimates the work, in rows.
	Weight() int64
}

// Splitter is implemented by morsels that can be cut into smaller ones for more
// parallelism; it may read a data file's footer.
type Splitter interface {
	// Split returns the parts, in order; a single part where it cannot be cut.
	Split(ctx context.Context) ([]Morsel, error)
}

// Reader yields batches; each is valid until the next call. io.EOF ends it.
type Reader interface {
	Next(ctx context.Context) (*column.Batch, error)
	Close() error
}

// Estimator is implemented by relations that can estimate their row count
// from metadata cheaply.
type Estimator interface {
	// EstimateRows returns the number of rows and whether it is exact.
	EstimateRows(ctx context.Context) (n int64, exact bool, err error)
}
