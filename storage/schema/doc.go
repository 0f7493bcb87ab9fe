// Package schema knows Paimon's data types and table schemas: parsing and
// printing of schema files, field ids, the option registry, and the files of a branch.
//
// Role: the meaning of a table's columns and options. It may import
// storage/column, storage/errs and storage/fileio. It must never read data
// files or know SQL.
package schema
