package commit

import (
	"context"
	"path"
	"strconv"
	"strings"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/index"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
)

// Abort removes the files that messages add and that no snapshot names: after a
// commit that failed, never after errs.Uncertain. Best effort: what stays is removed by the cleaning
// of orphan files. Messages that name files of other snapshots must not be aborted.
func (c *Committer) Abort(ctx context.Context, messages []Message) {
	ctx = context.WithoutCancel(ctx)
	for i := range messages {
		m := &messages[i]
		c.remove(ctx, m, m.NewFiles, m.ChangelogFiles, m.NewIndexFiles)
	}
	c.removeCompacted(ctx, messages)
}

// removeCompacted removes what the compactions of messages made. A file that they
// only moved to another level is not theirs.
func (c *Committer) removeCompacted(ctx context.Context, messages []Message) {
	for i := range messages {
		m := &messages[i]
		x := m.Compact
		if x == nil {
			continue
		}
		old := map[string]bool{}
		for _, list := range [][]*manifest.DataFile{x.Before, m.NewFiles} {
			for _, f := range list {
				old[f.Name] = true
			}
		}
		var made []*manifest.DataFile
		for _, f := range x.After {
			if !old[f.Name] {
				made = append(made, f)
			}
		}
		c.remove(ctx, m, made, x.Changelog, x.NewIndexFiles)
	}
}

// remove deletes files of a message's bucket.
func (c *Committer) remove(ctx context.Context, m *Message, files, changelog []*manifest.DataFile, indexes []manifest.IndexEntry) {
	dir, err := c.bucketDir(m.Partition, m.Bucket)
	if err != nil {
		return
	}
	for _, list := range [][]*manifest.DataFile{files, changelog} {
		for _, f := range list {
			at := dir
			if f.ExternalPath != nil && *f.ExternalPath != "" {
				at = (*f.ExternalPath)[:max(strings.LastIndexByte(*f.ExternalPath, '/'), 0)]
			}
			for _, name := range append([]string{f.Name}, f.ExtraFiles...) {
				if plainName(name) {
					_ = c.t.FIO.Delete(ctx, at+"/"+name)
				}
			}
		}
	}
	for i := range indexes {
		if plainName(indexes[i].Name) {
			_ = c.t.FIO.Delete(ctx, index.Path(c.t.Dir, dir, &indexes[i], schema.OptIndexInDataDir.Value(c.t.Schema.Options)))
		}
	}
}

// plainName reports whether a name stays in its directory.
func plainName(n string) bool {
	return n != "" && n != "." && n != ".." && !strings.ContainsAny(n, "/\x00")
}

// bucketDir is the directory of a bucket's files (sections 1.3 and 1.4 of the format).
func (c *Committer) bucketDir(partition []byte, bucket int) (string, error) {
	s := c.t.Schema
	fields := s.PartitionFields()
	vals, err := binrow.DecodeRow(schema.Types(fields), partition)
	if err != nil {
		return "", err
	}
	p, err := binrow.PartitionPath(fields, vals, schema.OptPartitionDefault.Value(s.Options), schema.OptPartitionLegacy.Value(s.Options))
	if err != nil {
		return "", err
	}
	name := "bucket-" + strconv.Itoa(bucket)
	if bucket == schema.PostponeBucket {
		name = "bucket-postpone"
	}
	return path.Join(c.t.Dir, strings.Trim(schema.OptDataFileDirectory.Value(s.Options), "/"), p, name), nil
}
