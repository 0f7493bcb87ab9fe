// Package fileindex reads Paimon's file indexes (section 14 of the format):
// the container, and in it bloom filters, bitmaps, bit-sliced indexes and range bitmaps.
//
// Role: which rows of a data file can match a predicate. It may import
// storage/column, errs, predicate and schema. It must never leave out a row that
// matches: what an index cannot decide, or does not know, keeps all rows.
package fileindex
