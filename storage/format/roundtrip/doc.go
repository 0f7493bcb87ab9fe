// Package roundtrip makes random files of every type for the tests of data file formats, and checks that they are read
// as they were written.
//
// Role: tests only. It may import storage/column, storage/fileio, storage/format and storage/schema; it must not know a format.
package roundtrip
