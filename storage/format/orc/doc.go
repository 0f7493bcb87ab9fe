// Package orc reads ORC data files (versions 0.11, 0.12 and the 2.0 preview) as
// column batches and writes them (version 0.12). It registers the format "orc".
//
// Role: the whole of the ORC format that Apache Paimon and pypaimon write, in
// every compression, with skipping by stripe statistics, row index and Bloom
// filters. Files are written as Apache Paimon 2.0.0 does with ORC's Java library 1.9: the
// same types, encodings, indexes, statistics and options. Types follow section 7.4 of the format specification
// (org.apache.paimon.format.orc); the byte level follows the ORC v1 specification.
// It may import storage/column, schema, predicate, fileio, errs and format. It
// must never know tables, snapshots or schema evolution.
//
// Every byte of a file is taken as hostile: lengths are checked against what
// is really there before memory is asked for, and limits are the constants of limits.go.
package orc
