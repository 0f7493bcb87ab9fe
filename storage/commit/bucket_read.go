package commit

import (
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// messageBuckets are the real buckets of messages. Writers may encode one partition in several ways.
type messageBuckets struct {
	parts  *manifest.Partitions
	mine   map[bucketPlace]bool
	totals map[string]int
}

type bucketPlace struct {
	partition string
	bucket    int
}

func bucketsOf(s *schema.TableSchema, messages []Message) (*messageBuckets, error) {
	b := &messageBuckets{parts: manifest.NewPartitions(s.PartitionTypes()), mine: map[bucketPlace]bool{}, totals: map[string]int{}}
	for i := range messages {
		m := &messages[i]
		if m.Bucket < 0 {
			continue
		}
		p, err := b.parts.Canonical(m.Partition)
		if err != nil {
			return nil, err
		}
		b.mine[bucketPlace{p, m.Bucket}], b.totals[p] = true, m.TotalBuckets
	}
	return b, nil
}

// InBuckets tells which changes concern the real buckets of messages.
func InBuckets(s *schema.TableSchema, messages []Message) (func(RowChange) (bool, error), error) {
	b, err := bucketsOf(s, messages)
	if err != nil {
		return nil, err
	}
	return func(c RowChange) (bool, error) {
		p, err := b.parts.Canonical(c.Partition)
		return err == nil && b.mine[bucketPlace{p, c.Bucket}], err
	}, nil
}

// SameBuckets demands that nobody has added rows to the messages' real buckets, or given their partitions another number of
// buckets, since the snapshot base (nil = there was none). Of the rows of a key the one with the greatest sequence number
// wins, and the messages' rows are numbered after those of base: rows that another process committed since then would win
// over these, which are committed after them.
func SameBuckets(s *schema.TableSchema, base *snapshot.Snapshot, messages []Message) (*Read, error) {
	b, err := bucketsOf(s, messages)
	if err != nil {
		return nil, err
	}
	return &Read{Base: base, Relevant: func(c RowChange) (bool, error) {
		if c.File == nil || c.Kind != manifest.Add {
			return false, nil
		}
		p, err := b.parts.Canonical(c.Partition)
		if err != nil {
			return false, err
		}
		total, touched := b.totals[p]
		return b.mine[bucketPlace{p, c.Bucket}] || touched && c.TotalBuckets > 0 && c.TotalBuckets != total, nil
	}}, nil
}
