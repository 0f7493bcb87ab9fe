// Package fileindex reads and writes Paimon's file indexes (section 14 of the
// format): the container, and in it bloom filters, bitmaps, bit-sliced indexes and range bitmaps.
//
// Role: which rows of a data file can match a predicate; the indexes of a file
// being written. It may import storage/column, errs, index/bitmapio, predicate and schema.
// It must never leave out a row that matches: what an index cannot decide, or does not
// know, keeps all rows, and an index that cannot hold a value of its column is not written.
package fileindex
