// Package blob reads Paimon's .blob files: the values of one BLOB column.
//
// Role: the format "blob" of package format. A file has one column without a
// name, which every requested column reads. It may import storage/column,
// schema, fileio, format and errs. It must never know tables, row ids, or how the values join
// their rows.
//
// Source: Paimon format section 16 (org.apache.paimon.format.blob).
package blob
