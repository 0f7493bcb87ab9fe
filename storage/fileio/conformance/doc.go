// Package conformance is the test suite that every implementation of
// fileio.FileIO passes.
//
// Role: tests only. It may import the standard library, storage/errs and storage/fileio.
package conformance
