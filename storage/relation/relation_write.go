package relation

import (
	"context"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// SinkOptions say how rows go into a table.
type SinkOptions struct {
	// Overwrite replaces what is there: by the table's rules, the partitions
	// that receive rows, or what Static selects, or everything.
	Overwrite bool
	// Static are the partition values of a PARTITION clause, as text; a nil
	// text is NULL. Rows must lie in that partition.
	Static map[string]*string
	// Operation is what the snapshot records (WRITE, OVERWRITE, CREATE_TABLE_AS_SELECT, …), "" = nothing.
	Operation string
	// Options are dynamic options of the statement, over those of the table.
	Options map[string]string
	// Positions says that rows of an append table may be removed by where they lie: see PositionFields. A sink
	// opened so is a BasedSink.
	Positions bool
}

// Sink takes the rows of one statement. Nothing is visible before Commit. It is for one goroutine.
type Sink interface {
	// Fields are the table's columns, in the order of the batches' Cols; with SinkOptions.Positions then PositionFields,
	// which are null, or not looked at, in new rows.
	Fields() []schema.Field
	// Write takes the rows of the batch that count. kinds are row kinds by
	// vector index (not by Sel); nil = all +I. The batch may be changed afterwards.
	// A null in a NOT NULL column and a row outside the static partition are errs.Invalid.
	// With SinkOptions.Positions a -D or -U removes the row that its position columns name, its other columns are
	// not looked at and may be nil vectors in batches of removals only; a row is removed once, however often it is named.
	Write(ctx context.Context, b *column.Batch, kinds []int32) error
	// Commit publishes the rows. After an error nothing of them is visible, or the
	// error is of class errs.Uncertain. The sink is finished in both cases.
	Commit(ctx context.Context) (Committed, error)
	// Abort throws the rows away. After Commit it does nothing.
	Abort()
}

// BasedSink is a Sink for statements that have read rows of the table and decide by them what to write.
type BasedSink interface {
	Sink
	// Based says that the statement has read rel, the same branch of the table: Commit is errs.Conflict where
	// somebody else has changed rows since then in a bucket that the sink writes. Of several calls the
	// first one counts. With SinkOptions.Positions rel is the relation, opened with positions, that the rows to remove were read from,
	// and Commit is errs.Conflict where one of the files that lose rows is gone or has lost other rows since then; rows that others have added are no conflict.
	// Without it a Commit that removes rows is errs.Invalid.
	Based(ctx context.Context, rel Relation) error
}

// Committed is what a commit made.
type Committed struct {
	// Snapshot is the id of the last snapshot made, 0 where there was nothing to commit.
	Snapshot int64
	// Rows is the number of rows taken: with SinkOptions.Positions the new rows and those removed.
	Rows int64
}
