package fileio

import (
	"bytes"
	"context"

	"github.com/tributarydb/tributary/storage/errs"
)

// The functions of this file change one thing, and look at it where storage answers with an error:
// the change may have been made all the same. Their error says then that nothing changed, or is errs.Uncertain.

// Remove deletes a file; a missing one is no error.
func Remove(ctx context.Context, fio FileIO, path string) error {
	err := fio.Delete(ctx, path)
	if err == nil {
		return nil
	}
	there, lookErr := exists(ctx, fio, path)
	switch {
	case lookErr != nil:
		return errs.Uncertainf("%s may have been deleted or not: %w", path, err)
	case !there:
		return nil
	}
	return err
}

// Replace replaces the content of a file, which may be missing.
func Replace(ctx context.Context, fio FileIO, path string, data []byte) error {
	err := fio.Overwrite(ctx, path, data)
	if err == nil {
		return nil
	}
	now, lookErr := fio.ReadFile(context.WithoutCancel(ctx), path)
	switch {
	case lookErr == nil && bytes.Equal(now, data):
		return nil
	case lookErr != nil && !errs.Is(lookErr, errs.NotFound):
		return errs.Uncertainf("%s may have been written or not: %w", path, err)
	}
	return err
}

// Move renames a file or directory; the target must not exist.
func Move(ctx context.Context, fio FileIO, from, to string) error {
	err := fio.Rename(ctx, from, to)
	if err == nil {
		return nil
	}
	old, lookErr := exists(ctx, fio, from)
	now := false
	if lookErr == nil && !old {
		now, lookErr = exists(ctx, fio, to)
	}
	switch {
	case lookErr != nil:
		return errs.Uncertainf("%s may have been moved to %s or not: %w", from, to, err)
	case now && !errs.Is(err, errs.NotFound):
		return nil
	}
	return err
}

// MakeDir makes a directory.
func MakeDir(ctx context.Context, fio FileIO, dir string) error {
	err := fio.MkdirAll(ctx, dir)
	if err == nil {
		return nil
	}
	there, lookErr := exists(ctx, fio, dir)
	switch {
	case lookErr != nil:
		return errs.Uncertainf("%s may have been made or not: %w", dir, err)
	case there:
		return nil
	}
	return err
}

// RemoveTree removes a directory and what is below it, in a second try what the first one left.
func RemoveTree(ctx context.Context, fio FileIO, dir string) error {
	err := fio.DeleteAll(ctx, dir)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return fio.DeleteAll(ctx, dir)
}

// exists looks for a path, whatever became of the statement.
func exists(ctx context.Context, fio FileIO, path string) (bool, error) {
	_, err := fio.Stat(context.WithoutCancel(ctx), path)
	if errs.Is(err, errs.NotFound) {
		return false, nil
	}
	return err == nil, err
}
