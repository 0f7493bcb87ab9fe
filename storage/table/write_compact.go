package table

import (
	"context"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/commit"
	"github.com/tributarydb/tributary/storage/compact"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/write"
)

// bucketName names a bucket of a partition, which is an encoded row.
type bucketName struct {
	partition string
	bucket    int
}

// compacts says whether buckets are compacted after a commit: not at all, by a scheduler only, when nobody waits for it, or
// before the statement ends, since its rows are invisible, or its changelog missing, until then (option lookup-wait).
type compacts uint8

const (
	compactsNever compacts = iota
	compactsBeside
	compactsAfter
	compactsWaiting
)

// compactsWith reads from the options what a commit has to be followed by.
func compactsWith(s *schema.TableSchema) compacts {
	o := s.Options
	if schema.OptWriteOnly.Value(o) || s.BucketMode() == schema.Postpone {
		return compactsNever
	}
	switch {
	case s.HasPrimaryKey():
	case s.BucketMode() == schema.HashFixed:
		return compactsAfter
	case schema.OptDataEvolution.Value(o):
		return compactsNever
	default:
		// Small files of unaware buckets: batch jobs of Paimon leave them to CALL sys.compact, streaming jobs have
		// operators for them.
		return compactsBeside
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

// touch notes the buckets that have got files and may be worth compacting.
func (s *sink) touch(fills []write.Fill) {
	if compactsWith(s.schema) == compactsNever {
		return
	}
	always, now := compactsFully(s.schema.Options), s.t.env.Writing.now()
	for _, f := range fills {
		if always || compact.Due(s.schema, f, now) {
			s.touched = append(s.touched, bucketName{string(f.Partition), f.Bucket})
			s.stalled = s.stalled || compact.Stalls(s.schema, f.Runs)
		}
	}
}

// touchFiles notes the buckets that have got files, where what they hold is not known.
func (s *sink) touchFiles(messages []commit.Message) {
	if compactsWith(s.schema) == compactsNever {
		return
	}
	types := s.schema.PartitionTypes()
	for _, m := range messages {
		if len(m.NewFiles) == 0 || m.Bucket < 0 {
			continue
		}
		// Other writers may have encoded the partition in another way.
		if vals, err := binrow.DecodeRow(types, m.Partition); err == nil {
			s.touched = append(s.touched, bucketName{string(binrow.EncodeRow(types, vals)), m.Bucket})
		}
	}
}

// takeTouched returns the buckets that the sinks have touched, and forgets them.
func takeTouched(sinks []*sink) (out []bucketName) {
	for _, x := range sinks {
		out = append(out, x.touched...)
		x.touched = nil
	}
	return out
}

// compactBuckets is a compaction of buckets of a table.
func compactBuckets(s *schema.TableSchema, want map[bucketName]bool) CompactOptions {
	partitions := map[string]bool{}
	for b := range want {
		partitions[b.partition] = true
	}
	types := s.PartitionTypes()
	encode := func(vals []column.Scalar) string { return string(binrow.EncodeRow(types, vals)) }
	return CompactOptions{
		Full:       compactsFully(s.Options),
		Partitions: func(vals []column.Scalar) bool { return partitions[encode(vals)] },
		Buckets:    func(vals []column.Scalar, b int) bool { return want[bucketName{encode(vals), b}] },
	}
}

// compactTouched compacts the buckets that the sinks have written. The rows are published: what fails is logged, and
// made up for by the next compaction.
func compactTouched(ctx context.Context, sinks []*sink) {
	touched := takeTouched(sinks)
	if len(touched) == 0 || ctx.Err() != nil {
		return
	}
	s, want := sinks[0], map[bucketName]bool{}
	for _, b := range touched {
		want[b] = true
	}
	_, err := s.t.compact(ctx, compactBuckets(s.schema, want), s.over, s.user)
	if err != nil && ctx.Err() == nil {
		s.t.env.Log.Warn("compaction after a commit failed; the next one makes up for it, or CALL sys.compact", "table", s.t.Label(), "error", err)
	}
}

// askCompaction leaves what the sinks have touched to the scheduler, unless there is none or nothing to do.
func askCompaction(sinks []*sink) {
	s := sinks[0]
	c := s.t.env.Writing.Compactions
	if c == nil || compactsWith(s.schema) == compactsWaiting {
		return
	}
	if touched := takeTouched(sinks); len(touched) > 0 {
		c.ask(s.t, s.over, touched)
	}
}

// compactQuietly is compactTouched where nobody waits and there is no scheduler: it leaves the work to a compaction that is
// running, unless there is too much of it already.
func compactQuietly(ctx context.Context, sinks []*sink) {
	s := sinks[0]
	if compactsWith(s.schema) != compactsAfter || s.gate.busyCompacting() && !s.stalled {
		return
	}
	compactTouched(ctx, sinks)
}
