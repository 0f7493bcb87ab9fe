// Package manifest reads manifest lists, manifests and index manifests
// (section 4 of the format) of every release, and merges their entries.
//
// Role: from a snapshot's file names to entries of data files and index files.
// It may import storage/avrofile, binrow, cache, cast, column, errs, fileio, format
// (for manifests in ORC and Parquet), predicate and schema. It must never open data files or know SQL. Statistics stay bytes until somebody asks for a column.
package manifest
