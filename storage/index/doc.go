// Package index reads and writes index files that a table state names: deletion
// vectors (section 10 of the format) and hash indexes (section 6.4).
//
// Role: which rows of a data file are deleted. It may import storage/cache,
// column, errs, fileio, index/bitmapio, manifest and schema. It must never ignore an index it does not
// know if that could bring deleted rows back, nor a checksum that is wrong.
package index
