package catalog

import (
	"context"
	"path"
	"strings"
	"time"

	"github.com/tributarydb/tributary/storage/errs"
)

// droppedPrefix begins the names of the directories in the warehouse to which tables are moved before their files are deleted.
const droppedPrefix = ".dropped-"

// Dropped are files of tables that were dropped.
type Dropped struct {
	// Paths are the directories, ascending.
	Paths []string
	// Files and Bytes count what is in them.
	Files, Bytes int64
}

// RemoveDropped deletes what is left of tables of a database ("" = all) whose DROP did not finish
// because its process ended, as far as nothing changed there since the limit. dry only lists.
func (c *Filesystem) RemoveDropped(ctx context.Context, db string, limit time.Time, dry bool) (Dropped, error) {
	var out Dropped
	infos, err := c.fio.List(ctx, c.warehouse)
	if errs.Is(err, errs.NotFound) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	prefix := droppedPrefix
	if db != "" {
		prefix += db + "-"
	}
	for _, i := range infos {
		if !i.IsDir || !strings.HasPrefix(i.Name, prefix) {
			continue
		}
		dir := path.Join(c.warehouse, i.Name)
		files, bytes, newest, err := c.treeSize(ctx, dir)
		if err != nil {
			return out, err
		}
		if !i.ModTime.Before(limit) || !newest.Before(limit) {
			continue
		}
		if !dry {
			if err := c.fio.DeleteAll(ctx, dir); err != nil {
				return out, err
			}
		}
		out.Paths = append(out.Paths, dir)
		out.Files += files
		out.Bytes += bytes
	}
	return out, nil
}

// treeSize counts the files below a directory, and finds the time of its last change.
func (c *Filesystem) treeSize(ctx context.Context, dir string) (files, bytes int64, newest time.Time, err error) {
	infos, err := c.fio.List(ctx, dir)
	if errs.Is(err, errs.NotFound) {
		return 0, 0, newest, nil
	}
	if err != nil {
		return 0, 0, newest, err
	}
	for _, i := range infos {
		at := i.ModTime
		if i.IsDir {
			n, size, t, err := c.treeSize(ctx, path.Join(dir, i.Name))
			if err != nil {
				return 0, 0, newest, err
			}
			files, bytes = files+n, bytes+size
			if t.After(at) {
				at = t
			}
		} else {
			files, bytes = files+1, bytes+i.Size
		}
		if at.After(newest) {
			newest = at
		}
	}
	return files, bytes, newest, nil
}
