package commit

import (
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// SameBuckets demands that nobody has added rows to the messages' real buckets, or given their partitions another number of
// buckets, since the snapshot base (nil = there was none). Of the rows of a key the one with the greatest sequence number
// wins, and the messages' rows are numbered after those of base: rows that another process committed since then would win
// over these, which are committed after them.
func SameBuckets(s *schema.TableSchema, base *snapshot.Snapshot, messages []Message) (*Read, error) {
	type place struct {
		partition string
		bucket    int
	}
	parts := manifest.NewPartitions(s.PartitionTypes())
	mine, totals := map[place]bool{}, map[string]int{}
	for i := range messages {
		m := &messages[i]
		if m.Bucket < 0 {
			continue
		}
		p, err := parts.Canonical(m.Partition)
		if err != nil {
			return nil, err
		}
		mine[place{p, m.Bucket}], totals[p] = true, m.TotalBuckets
	}
	return &Read{Base: base, Relevant: func(c RowChange) (bool, error) {
		if c.File == nil || c.Kind != manifest.Add {
			return false, nil
		}
		p, err := parts.Canonical(c.Partition)
		if err != nil {
			return false, err
		}
		total, touched := totals[p]
		return mine[place{p, c.Bucket}] || touched && c.TotalBuckets > 0 && c.TotalBuckets != total, nil
	}}, nil
}
