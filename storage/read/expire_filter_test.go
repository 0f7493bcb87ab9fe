package read

import (
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// The times of rows are seconds, milliseconds where a BIGINT is that great, or timestamps; a row is kept in its last second.
func TestExpiryTimes(t *testing.T) {
	const limit = 1_700_000_000
	for _, c := range []struct {
		root schema.Root
		v    int64
		want bool
	}{
		{schema.Int, limit - 1, true}, {schema.Int, limit, false}, {schema.Int, -5, true},
		{schema.BigInt, limit - 1, true}, {schema.BigInt, limit, false},
		{schema.BigInt, 999_999_999_999, false}, {schema.BigInt, 1_000_000_000_000, true},
		{schema.BigInt, limit*1000 - 1, true}, {schema.BigInt, limit * 1000, false},
		{schema.Timestamp, limit*1_000_000 - 1, true}, {schema.Timestamp, limit * 1_000_000, false}, {schema.Timestamp, -1, true},
		{schema.TimestampLTZ, limit*1_000_000 - 1, true}, {schema.TimestampLTZ, limit * 1_000_000, false},
	} {
		e := &Expiry{Root: c.root, Before: limit}
		kind := schema.KindOf(&schema.Type{Root: c.root})
		if got := e.Scalar(column.IntScalar(kind, c.v)); got != c.want {
			t.Errorf("type %d, %d: %v", c.root, c.v, got)
		}
		b := column.NewBuilder(kind)
		b.AppendInt(c.v)
		b.AppendNull()
		if v := b.Finish(); e.Row(v, 0) != c.want || e.Row(v, 1) {
			t.Errorf("type %d, %d in a vector: %v, NULL: %v", c.root, c.v, e.Row(v, 0), e.Row(v, 1))
		}
	}
}
