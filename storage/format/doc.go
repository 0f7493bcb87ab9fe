// Package format is the face of the data file formats: one Reader of column
// batches, whatever the file. The formats themselves are packages below it
// (parquet, orc, avro, …), which register themselves by name.
//
// Role: open a data file by its format's name and read columns of it as
// written. It may import storage/column, schema, predicate, fileio and errs.
// It must never know tables, snapshots, or schema evolution: columns are asked for
// by the name and type that the file's own schema gives them.
package format
