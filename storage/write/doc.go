// Package write turns batches of rows into data files: it checks and routes
// rows to partitions and buckets, sorts and merges those of primary-key tables,
// writes data, changelog and hash index files with their statistics and file indexes, and hands over commit messages.
//
// Role: sections 6, 7 and 8.3 of the format (Paimon's TableWriteImpl and what is below it). It may import
// storage/binrow, cast, column, commit (messages), errs, fileio, format, index, index/fileindex, lsm, manifest, scan (what the levels mean) and schema. It must never publish a
// snapshot, read data files, or know SQL: what it needs to know of a table's state (State) it is told.
//
// # Phases
//
// Intake checks the rows of one statement. Writer takes checked rows of any
// number of statements: rows of append tables go into files at once, those of
// primary-key tables into a buffer that spills sorted runs to local temporary
// files. Prepare then makes the files that depend on the table's state
// (sequence numbers, bucket counts, the hash index), so that only Prepare and
// the commit need to exclude other writers. Abort removes everything that was written.
package write
