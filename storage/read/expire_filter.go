package read

import (
	"context"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
)

// Expiry tells which rows are too old to be kept by a compaction (Paimon's RecordLevelExpire). Reads do not ask.
type Expiry struct {
	// Column is the index of the column of a row's time among the table's, Root its type.
	Column int
	Root   schema.Root
	// Before, in seconds since 1970, is the time before which rows have expired. A NULL never has.
	Before int64
}

// millisFrom is the value from which a BIGINT counts milliseconds, not seconds.
const millisFrom = 1_000_000_000_000

// Scalar reports whether a row with that time has expired.
func (e *Expiry) Scalar(v column.Scalar) bool { return !v.Null && e.seconds(v.I) < e.Before }

// Row reports whether a row of a vector of times has expired.
func (e *Expiry) Row(v *column.Vector, row int) bool {
	return !v.IsNull(row) && e.seconds(v.Int(row)) < e.Before
}

// seconds of a time as vectors hold it; Java's division truncates, as Go's does.
func (e *Expiry) seconds(x int64) int64 {
	switch {
	case e.Root == schema.Timestamp || e.Root == schema.TimestampLTZ:
		const microsPerMilli, millisPerSecond = 1000, 1000
		millis := x / microsPerMilli
		if x%microsPerMilli < 0 {
			millis-- // the millisecond is rounded down
		}
		return millis / millisPerSecond
	case e.Root == schema.BigInt && x >= millisFrom:
		return x / 1000
	}
	return x
}

// Over leaves the expired rows out of a reader's batches, whose column at holds the times.
func (e *Expiry) Over(r relation.Reader, at int) relation.Reader {
	if e == nil {
		return r
	}
	return &mapReader{in: r, f: func(_ context.Context, b *column.Batch) (*column.Batch, error) {
		kept := make([]uint16, 0, b.Rows())
		for k := range b.Rows() {
			if i := b.Row(k); !e.Row(b.Cols[at], i) {
				kept = append(kept, uint16(i))
			}
		}
		if len(kept) == b.Rows() {
			return b, nil
		}
		if len(kept) == 0 {
			return nil, nil
		}
		out := *b
		out.Sel = kept
		return &out, nil
	}}
}
