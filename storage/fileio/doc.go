// Package fileio is the narrow door to storage: files of a warehouse by path.
//
// Role: an interface with an explicit put-if-absent, and its implementations
// (local, in memory, fault-injecting). Paths use forward slashes. It may import storage/errs only and must
// never know what a file holds. Every implementation passes one shared test suite.
package fileio
