package compact

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/commit"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
	"github.com/tributarydb/tributary/storage/write"
)

// The strategies of a sorting compaction (TableSorter.OrderType).
const (
	SortOrder   = "order"
	SortZOrder  = "zorder"
	SortHilbert = "hilbert"
)

// Sort says how a compaction sorts rows.
type Sort struct {
	// Strategy is one of the above.
	Strategy string
	Columns  []string
}

// Check refuses what cannot be sorted: errs.Invalid or errs.Unsupported, in Paimon's words.
func (o *Sort) Check(label string, s *schema.TableSchema) error {
	if s.HasPrimaryKey() || s.BucketMode() != schema.BucketUnaware {
		return errs.Invalidf("Sort Compact only supports bucket=-1 yet. (table %s; only tables without a primary key and without buckets can be sorted)", label)
	}
	if !slices.Contains([]string{SortOrder, SortZOrder, SortHilbert}, o.Strategy) {
		return errs.Invalidf("cannot match type: %s for ordering; the strategies are order, zorder and hilbert", o.Strategy)
	}
	if len(o.Columns) == 0 {
		return errs.Invalidf("order column names should not be empty.")
	}
	for _, c := range o.Columns {
		i := s.Index(c)
		if i < 0 {
			return errs.Invalidf("Can't find column %s in table columns. Possible columns are [%s].", c, strings.Join(names(s.Fields), ","))
		}
		if t := s.Fields[i].Type; t.IsNested() || t.Root >= schema.Blob {
			return errs.Unsupportedf("table %s: rows cannot be sorted by column '%s' of type %s", label, c, t)
		}
	}
	if o.Strategy == SortHilbert && len(o.Columns) < 2 {
		return errs.Invalidf("Hilbert sort needs at least two columns.")
	}
	return nil
}

func names(fields []schema.Field) []string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = f.Name
	}
	return out
}

// sortAppend rewrites the partitions of an append table with their rows sorted. As with Paimon's
// SortCompactAction the change is an OVERWRITE, and the files count as new: rows of a row-tracking
// table get new ids. But what it replaces are the files that were read, so that rows which other
// writers add meanwhile stay.
func sortAppend(ctx context.Context, t *Target, r *Request, w *write.Writer, snap *snapshot.Snapshot, indexes []manifest.IndexEntry) ([]commit.Message, error) {
	rctx, cancel := context.WithCancel(ctx)
	defer cancel()
	j, err := newAppendJob(rctx, t, w, indexes)
	if err != nil {
		return nil, err
	}
	keys, err := newSortKeys(r.Sort, j.src.Schema)
	if err != nil {
		return nil, err
	}
	files, _, err := j.src.LiveFiles(ctx, snap, scan.Request{Partitions: r.Partitions})
	if err != nil {
		return nil, err
	}
	var out []commit.Message
	all := buckets(files)
	for i, b := range all { // one after the other: each takes a write buffer
		after, err := j.sort(ctx, b, keys)
		if err != nil {
			return nil, err
		}
		m := commit.Message{Partition: b.framed, Bucket: b.id, TotalBuckets: b.total, NewFiles: after}
		for _, f := range b.files {
			m.DeletedFiles = append(m.DeletedFiles, f.Meta)
		}
		if m.NewIndexFiles, m.DeletedIndexFiles, err = j.vectorsWithout(ctx, b, b.files); err != nil {
			return nil, err
		}
		out = append(out, m)
		if t.Progress != nil {
			t.Progress(fmt.Sprintf("sorting %s: %d of %d partitions", j.src.Label, i+1, len(all)))
		}
	}
	return out, nil
}

// sort writes the rows of a partition in the order of keys.
func (j *appendJob) sort(ctx context.Context, b *bucket, keys *sortKeys) ([]*manifest.DataFile, error) {
	s := j.w.NewRowSorter()
	defer s.Close()
	for _, f := range b.files {
		err := j.eachRow(ctx, b, f, false, func(in *column.Batch) error { return s.Add(ctx, in, keys.of(in)) })
		if err != nil {
			return nil, err
		}
	}
	out, err := j.w.NewAppendFiles(write.Place{Partition: b.partition, Bucket: b.id}, write.AppendFiles{Source: manifest.SourceAppend})
	if err != nil {
		return nil, err
	}
	r, err := s.Sorted(ctx)
	if err == nil {
		err = each(ctx, r, func(in *column.Batch) error {
			n := len(in.Cols) - 1
			return out.Write(ctx, &column.Batch{N: in.N, Sel: in.Sel, Cols: in.Cols[:n:n]})
		})
	}
	if err != nil {
		out.Abort()
		return nil, err
	}
	return out.Finish(ctx)
}
