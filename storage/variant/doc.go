// Package variant reads VARIANT values in the Parquet variant encoding (a
// metadata dictionary of key names and a value that points into it).
//
// Role: from the two byte strings of a VARIANT cell to JSON text. It may import
// storage/errs and storage/column. It must never know files or SQL.
package variant
