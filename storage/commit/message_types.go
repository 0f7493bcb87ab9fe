package commit

import "github.com/tributarydb/tributary/storage/manifest"

// BatchIdentifier is the commit identifier of batch commits (Long.MAX_VALUE).
const BatchIdentifier int64 = 1<<63 - 1

// Message is what the writer of one bucket hands to the commit (CommitMessageImpl).
type Message struct {
	// Partition is a framed BinaryRow of the partition columns.
	Partition []byte
	Bucket    int
	// TotalBuckets is what entries record as _TOTAL_BUCKETS.
	TotalBuckets int

	// NewFiles are added, DeletedFiles (whole metadata, as the live entry has it) removed, ChangelogFiles recorded.
	NewFiles, DeletedFiles, ChangelogFiles []*manifest.DataFile
	// NewIndexFiles and DeletedIndexFiles change the index manifest.
	NewIndexFiles, DeletedIndexFiles []manifest.IndexEntry

	// Compact is the result of a compaction, published as a second snapshot; nil = none.
	Compact *Compaction
}

// Compaction is the compaction part of a message.
type Compaction struct {
	Before, After, Changelog         []*manifest.DataFile
	NewIndexFiles, DeletedIndexFiles []manifest.IndexEntry
}

// Empty reports whether the message changes nothing.
func (m *Message) Empty() bool {
	c := m.Compact
	return len(m.NewFiles)+len(m.DeletedFiles)+len(m.ChangelogFiles)+len(m.NewIndexFiles)+len(m.DeletedIndexFiles) == 0 &&
		(c == nil || len(c.Before)+len(c.After)+len(c.Changelog)+len(c.NewIndexFiles)+len(c.DeletedIndexFiles) == 0)
}
