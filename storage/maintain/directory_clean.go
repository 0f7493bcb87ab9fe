package maintain

import (
	"context"
	"path"
	"strings"
)

// cleanDirectories removes the bucket directories that files were deleted from,
// and then their partition directories, as far as they are empty. Best effort: a
// directory into which somebody writes meanwhile is not removed by the file system.
func (t *Table) cleanDirectories(ctx context.Context, deleted []fileRef) {
	dirs := map[string]bool{}
	for _, f := range deleted {
		if d := path.Dir(f.path); strings.HasPrefix(path.Base(d), "bucket-") {
			dirs[d] = true
		}
	}
	for len(dirs) > 0 {
		parents := map[string]bool{}
		for d := range dirs {
			if !t.removeIfEmpty(ctx, d) {
				continue
			}
			if p := path.Dir(d); strings.HasPrefix(p, t.t.Dir+"/") && strings.Contains(path.Base(p), "=") {
				parents[p] = true
			}
		}
		dirs = parents
	}
}

func (t *Table) removeIfEmpty(ctx context.Context, dir string) bool {
	infos, err := t.t.FIO.List(ctx, dir)
	if err != nil || len(infos) > 0 {
		return false
	}
	return t.t.FIO.Delete(ctx, dir) == nil
}
