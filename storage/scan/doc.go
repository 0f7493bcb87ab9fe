// Package scan plans what to read of one branch of a table: from a snapshot's
// manifests to splits, leaving out partitions, buckets and files that cannot
// hold a wanted row.
//
// Role: metadata only. It may import storage packages for metadata (snapshot,
// manifest, index, binrow, schema, predicate, lsm's sections) and must never open a
// data file or know SQL. Precedence between branches is package table's work.
package scan
