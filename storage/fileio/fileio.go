package fileio

import (
	"context"
	"io"
	"time"
)

// Info describes a file or directory.
type Info struct {
	// Name is the last element of the path.
	Name  string
	Size  int64
	IsDir bool
	// ModTime is the time of the last change.
	ModTime time.Time
}

// File is an open file for positioned reads; safe for concurrent ReadAt.
type File interface {
	io.ReaderAt
	io.Closer
	// Size is the length in bytes.
	Size() int64
}

// Writer makes one new file, which is complete and visible after Close without
// error, and absent after Abort.
type Writer interface {
	io.Writer
	Close() error
	Abort() error
}

// FileIO reads and writes files. Errors are of class errs.NotFound where a
// file or directory does not exist, and name the path.
type FileIO interface {
	// Open opens a file for reading.
	Open(ctx context.Context, path string) (File, error)
	// ReadFile reads a whole file.
	ReadFile(ctx context.Context, path string) ([]byte, error)
	// Stat describes a path.
	Stat(ctx context.Context, path string) (Info, error)
	// List lists a directory, in ascending order of names.
	List(ctx context.Context, dir string) ([]Info, error)
	// Create starts a new file, replacing one of that name at Close.
	Create(ctx context.Context, path string) (Writer, error)
	// PutIfAbsent publishes data under path if nothing is there, atomically;
	// created is false where something is.
	PutIfAbsent(ctx context.Context, path string, data []byte) (created bool, err error)
	// Overwrite replaces the content of path.
	Overwrite(ctx context.Context, path string, data []byte) error
	// Rename moves a file or directory; the target must not exist.
	Rename(ctx context.Context, from, to string) error
	// Delete removes a file; a missing one is no error.
	Delete(ctx context.Context, path string) error
	// DeleteAll removes a directory and what is below it; a missing one is no error.
	DeleteAll(ctx context.Context, dir string) error
	// MkdirAll makes a directory and its parents.
	MkdirAll(ctx context.Context, dir string) error
}

// NameLister is a FileIO on which several programs publish files by renaming, and which lists
// the names in a directory fast, temporary ones too, in any order. A missing directory is errs.NotFound.
type NameLister interface {
	Names(ctx context.Context, dir string) ([]string, error)
}
