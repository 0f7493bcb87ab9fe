// Package scan plans what to read of one branch of a table: from a snapshot's
// manifests to splits, leaving out partitions, buckets and files that cannot
// hold a wanted row.
//
// Role: metadata only. It may import storage/binrow, column, errs, evolution, fileio, format (the
// name of a file's format), index, index/fileindex, lsm (sections), manifest, predicate, schema and
// snapshot. It must never open a data file or know SQL. Precedence between branches is package table's work.
package scan
