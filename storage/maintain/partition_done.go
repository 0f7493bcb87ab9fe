package maintain

import (
	"context"
	"encoding/json"
	"path"
	"strings"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/schema"
)

// successName is the name of the marker file of a finished partition.
const successName = "_SUCCESS"

// success is the content of a marker file (Paimon's SuccessFile): epoch milliseconds.
type success struct {
	CreationTime     int64 `json:"creationTime"`
	ModificationTime int64 `json:"modificationTime"`
}

// writeSuccess writes a marker file; one that exists keeps its time of creation.
func (t *Table) writeSuccess(ctx context.Context, p string) error {
	now := t.t.Clock().UnixMilli()
	s := success{now, now}
	old, err := t.t.FIO.ReadFile(ctx, p)
	switch {
	case err == nil:
		var was success
		if json.Unmarshal(old, &was) == nil && was.CreationTime > 0 {
			s.CreationTime = was.CreationTime
		}
	case !errs.Is(err, errs.NotFound):
		return err
	}
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return fileio.Replace(ctx, t.t.FIO, p, b)
}

// tagSuccessPath is the path of a tag's marker file.
func (t *Table) tagSuccessPath(tag string) string {
	return path.Join(t.own.snaps.Dir(), "tag", "tag-success-file", tag+successName)
}

// MarkPartitionsDone runs the actions of option partition.mark-done-action for
// partitions, given by the values of all partition columns. The action success-file, the default, writes
// the file _SUCCESS into the partition's directory. Actions that need a metastore or a program of the user are errs.Unsupported.
func (t *Table) MarkPartitionsDone(ctx context.Context, partitions [][]column.Scalar) error {
	s, err := t.schema(ctx)
	if err != nil {
		return err
	}
	if !s.Partitioned() {
		return errs.Invalidf("table %s is not partitioned: no partition of it can be marked done", t.t.Label)
	}
	for a := range strings.SplitSeq(schema.OptMarkDoneAction.Value(s.Options), ",") {
		switch a = strings.ToLower(strings.TrimSpace(a)); a {
		case "success-file", "":
		case "done-partition", "mark-event":
			return errs.Unsupportedf("table %s: the action '%s' of option 'partition.mark-done-action' needs a metastore, a warehouse of files has none; use 'success-file'", t.t.Label, a)
		default:
			return errs.Unsupportedf("table %s: the action '%s' of option 'partition.mark-done-action' is not supported here; use 'success-file'", t.t.Label, a)
		}
	}
	l := newLayout(t.t.Dir, s)
	for _, p := range partitions {
		dir, err := l.partitionDir(p)
		if err != nil {
			return err
		}
		if err := t.writeSuccess(ctx, path.Join(dir, successName)); err != nil {
			return err
		}
	}
	return nil
}
