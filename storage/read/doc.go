// Package read turns a split into column batches: opens its data files by
// format, maps old files to the columns of today, applies deletion vectors and
// file indexes, merges sorted runs, and joins the column files of data-evolution tables.
//
// Role: the way from a planned split (storage/scan) to a stream of batches. It
// may import storage/column, errs, evolution, fileio, format, index, index/fileindex, lsm,
// predicate, relation, scan and schema. It must never plan, pick snapshots, or know SQL.
package read
