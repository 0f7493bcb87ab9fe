// Package snapshot reads the files that say what a table's state was when:
// snapshots, tags, long-lived changelogs, consumers, branches, statistics
// (sections 1.2 and 3 of the format).
//
// Role: from a branch directory to Snapshot values; hints are hints, a damaged
// file never hides the good ones beside it. It may import storage/errs,
// storage/fileio and storage/schema. It must never read manifests or data
// files or know SQL, and it keeps nothing in memory: ids may be given anew after a rollback.
package snapshot
