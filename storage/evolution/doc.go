// Package evolution reads data files under a newer schema: columns are matched
// by field id, recursively, missing ones are null, changed types are cast
// (section 2.6 of the format).
//
// Role: from the columns of a file to the columns of a table. It may import
// storage/cast, column, errs, predicate and schema. It must never read files, and it
// never applies default values: those belong to writing.
package evolution
