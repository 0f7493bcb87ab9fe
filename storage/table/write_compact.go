package table

import (
	"context"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/commit"
	"github.com/tributarydb/tributary/storage/schema"
)

// bucketName names a bucket of a partition, which is an encoded row.
type bucketName struct {
	partition string
	bucket    int
}

// compacts says whether buckets are compacted after a commit: not at all, when nobody waits for it, or
// before the statement ends, since its rows are invisible, or its changelog missing, until then (option lookup-wait).
type compacts uint8

const (
	compactsNever compacts = iota
	compactsAfter
	compactsWaiting
)

// compactsWith reads from the options what a commit has to be followed by.
func compactsWith(s *schema.TableSchema) compacts {
	o := s.Options
	if schema.OptWriteOnly.Value(o) || s.BucketMode() == schema.Postpone {
		return compactsNever
	}
	if !s.HasPrimaryKey() {
		// Small files of unaware buckets wait for CALL sys.compact, as in batch jobs of Paimon.
		if s.BucketMode() == schema.HashFixed {
			return compactsAfter
		}
		return compactsNever
	}
	if schema.NeedsLookup(o) || schema.OptChangelogProducer.Value(o) == "full-compaction" {
		return compactsWaiting
	}
	return compactsAfter
}

// compactsFully reports whether every commit is followed by a full compaction, as batch jobs of Paimon do.
func compactsFully(o map[string]string) bool {
	if schema.OptChangelogProducer.Value(o) == "full-compaction" {
		return true
	}
	n, set, err := schema.OptFullCompactionCommits.Lookup(o)
	return err == nil && set && n > 0
}

// touch notes the buckets of messages that were published.
func (s *sink) touch(messages []commit.Message) {
	for _, m := range messages {
		if len(m.NewFiles) > 0 && m.Bucket >= 0 {
			s.touched = append(s.touched, touchedBucket{m.Partition, m.Bucket})
		}
	}
}

type touchedBucket struct {
	framed []byte
	bucket int
}

// compactTouched compacts the buckets that the sinks have written. The rows are published: what fails is logged, and
// made up for by the next compaction.
func compactTouched(ctx context.Context, sinks []*sink) {
	s := sinks[0]
	types := s.schema.PartitionTypes()
	want, partitions := map[bucketName]bool{}, map[string]bool{}
	for _, x := range sinks {
		for _, b := range x.touched {
			vals, err := binrow.DecodeRow(types, b.framed)
			if err != nil {
				continue // what was just encoded decodes
			}
			p := string(binrow.EncodeRow(types, vals))
			want[bucketName{p, b.bucket}], partitions[p] = true, true
		}
		x.touched = nil
	}
	if len(want) == 0 || ctx.Err() != nil {
		return
	}
	encode := func(vals []column.Scalar) string { return string(binrow.EncodeRow(types, vals)) }
	_, err := s.t.compact(ctx, CompactOptions{
		Full:       compactsFully(s.schema.Options),
		Partitions: func(vals []column.Scalar) bool { return partitions[encode(vals)] },
		Buckets:    func(vals []column.Scalar, b int) bool { return want[bucketName{encode(vals), b}] },
	}, s.over, s.user)
	if err != nil && ctx.Err() == nil {
		s.t.env.Log.Warn("compaction after a commit failed; the next one makes up for it, or CALL sys.compact", "table", s.t.Label(), "error", err)
	}
}

// compactQuietly is compactTouched where nobody waits: it leaves the work to a compaction that is running.
func compactQuietly(ctx context.Context, s *sink) {
	if len(s.touched) == 0 || s.gate.busyCompacting() {
		return
	}
	compactTouched(ctx, []*sink{s})
}
