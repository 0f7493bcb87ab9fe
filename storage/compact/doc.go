// Package compact rewrites the files of a branch: the sorted runs of a
// primary-key table's buckets into fewer ones on higher levels, small files of append tables into bigger ones.
//
// Role: which files to rewrite (section 8.4 of the format, Paimon's
// UniversalCompaction and MergeTreeCompactTask; section 17 and its AppendCompactCoordinator,
// BucketedAppendCompactManager and SortCompactAction), rewriting them, and the commit of the
// result as a COMPACT snapshot. Remover takes rows out of append tables, for who commits that. It may import commit, index, lsm, manifest, read, scan, schema, snapshot,
// write and what is below them. It must never know SQL, never change what a query answers but by Remover and as said below, and
// never delete a file that was published.
//
// # How it goes
//
// A compaction reads the newest snapshot, picks a unit for each bucket (pick: metadata only),
// rewrites it (rewrite: new files, nothing published), and commits all units as
// one snapshot. The commit fails where another writer has rewritten one of the files meanwhile: the
// new files are removed, and the compaction starts again on the newest snapshot. Rows that
// other writers add meanwhile are never touched: they are other files.
//
// Rows of a postpone bucket are written into real buckets first, as if they came now; what becomes of
// them is part of the same snapshot. That is the one compaction by which a read sees other rows than before, but for those that
// have expired (option record-level.expire-time): a file's reader leaves them out before they are merged.
//
// Rows of append tables keep their order within what is rewritten together, and leave out those that
// deletion vectors delete; the vectors go in the same snapshot. A sorting compaction reads whole
// partitions, sorts them outside memory where they are big, and commits an OVERWRITE.
package compact
