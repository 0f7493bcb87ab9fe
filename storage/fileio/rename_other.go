//go:build !linux

package fileio

import (
	"io/fs"
	"os"
)

// renameNoReplace renames, failing with fs.ErrExist where the target exists.
func renameNoReplace(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return fs.ErrExist
	}
	return os.Rename(from, to)
}
