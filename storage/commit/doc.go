// Package commit publishes changes of a table's files as snapshots.
//
// Role: from the messages of writers to a snapshot: conflict checks, manifests,
// manifest lists, index manifests, the snapshot file by put-if-absent, retries.
// It may import manifest, index, snapshot, schema, binrow and what is below them. It must
// never open a data file and never know SQL.
package commit
