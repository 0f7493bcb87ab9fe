// Package binrow knows Paimon's BinaryRow, BinaryArray and BinaryMap bytes
// (section 5 of the format), the hash and bucket functions over them (section
// 6), and the directory text of partition values (section 1.3).
//
// Role: the one place that decodes and encodes rows kept as bytes in metadata.
// It may import storage/column, storage/schema, storage/cast and storage/errs.
// It must never trust a length or offset in the bytes.
package binrow
