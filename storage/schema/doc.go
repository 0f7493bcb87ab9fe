// Package schema knows Paimon's data types and table schemas: parsing and
// printing of schema files, field ids, the option registry, and the mapping of
// an old file's columns to the columns of today (schema evolution on read).
//
// Role: the meaning of a table's columns and options. It may import
// storage/column, storage/errs and storage/fileio. It must never read data
// files or know SQL.
package schema
