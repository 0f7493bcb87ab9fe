package compact

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/index"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/write"
)

// Removal are rows of a data file of an append table that a statement removes.
type Removal struct {
	// File is the data file as the statement has read it.
	File *scan.File
	// Rows are the positions of the rows.
	Rows *index.Vector
}

// Remover removes rows of an append table by their positions (section 10.3 of the format): by deletion vectors where the
// table has them, else by rewriting the files that the rows lie in. A file of which no row is left goes in both cases.
// It is for one goroutine. What it has written is the Writer's to remove.
type Remover struct {
	j     *appendJob
	files []*removal
	units []*removeUnit
	// removed is the number of rows that were there and go.
	removed int64
}

// removal is the removal of rows of a file.
type removal struct {
	*scan.File
	// base is the file's deletion vector that the statement has read, nil = none; gone are all rows
	// that are deleted afterwards.
	base, gone *index.Vector
	// left is the number of rows that stay.
	left int64
}

// removeUnit are files of a bucket whose rows that stay go into new files together.
type removeUnit struct {
	files []*removal
	after []*manifest.DataFile
}

// NewRemover prepares the removal of rows, of which there is one entry a file. The files that it opens are closed with ctx. Of Target
// Source, Readers and Writing are used.
func NewRemover(ctx context.Context, t *Target, w *write.Writer, rows []Removal) (*Remover, error) {
	j, err := newAppendJob(ctx, t, w, nil)
	if err != nil {
		return nil, err
	}
	r := &Remover{j: j}
	for _, x := range rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := r.removal(ctx, x)
		if err != nil {
			return nil, err
		}
		if f != nil {
			r.files = append(r.files, f)
		}
	}
	r.units = r.makeUnits()
	return r, nil
}

// removal looks at a file; nil where all of the rows are deleted already.
func (r *Remover) removal(ctx context.Context, x Removal) (*removal, error) {
	f, label := &removal{File: x.File}, r.j.src.Label
	if last := x.Rows.Max(); last >= f.Meta.RowCount {
		return nil, errs.Invalidf("table %s: row %d of data file %s cannot be removed: the file has %d rows", label, last, f.Meta.Name, f.Meta.RowCount)
	}
	if f.Meta.SchemaID > r.j.src.Schema.ID {
		return nil, errs.Conflictf("table %s: the columns were changed meanwhile; repeat the statement", label)
	}
	var had int64
	if f.Vector != nil {
		var err error
		f.base, err = r.readVector(ctx, f.File)
		if errs.Is(err, errs.NotFound) {
			return nil, r.changed(f)
		}
		if err != nil {
			return nil, err
		}
		had = f.base.Cardinality()
	}
	var err error
	if f.gone, err = f.base.Union(x.Rows, r.j.opts.wide || !r.j.opts.vectors); err != nil {
		return nil, errs.New(errs.ClassOf(err), "table %s: %w", label, err)
	}
	now := f.gone.Cardinality()
	if now == had {
		return nil, nil
	}
	r.removed += now - had
	f.left = f.Meta.RowCount - now
	return f, nil
}

func (r *Remover) readVector(ctx context.Context, f *scan.File) (*index.Vector, error) {
	return index.ReadVector(ctx, r.j.src.FIO, nil, f.Vector.Path, f.Vector.Size, f.Vector.Range)
}

// changed is the conflict of a file that is not any more what the statement has read.
func (r *Remover) changed(f *removal) error {
	return errs.Conflictf("table %s: another writer changed or replaced data file %s, of which rows were to be removed; repeat the statement", r.j.src.Label, f.Meta.Name)
}

// Removed is the number of rows that go.
func (r *Remover) Removed() int64 { return r.removed }

// goes reports whether a file is deleted as a whole, its rows that stay having been written anew.
func (r *Remover) goes(f *removal) bool { return f.left == 0 || !r.j.opts.vectors }

// makeUnits decides which files are written anew together: in real buckets each by itself, since the numbers of
// its rows must stay between those of its neighbours.
func (r *Remover) makeUnits() []*removeUnit {
	if r.j.opts.vectors {
		return nil
	}
	var out []*removeUnit
	open := map[bucketName]*removeUnit{}
	size := map[*removeUnit]int64{}
	for _, f := range r.files {
		if f.left == 0 {
			continue
		}
		k := nameOf(f.File)
		u := open[k]
		if u == nil || !r.j.opts.unaware || size[u] >= r.j.opts.target {
			u = &removeUnit{}
			open[k] = u
			out = append(out, u)
		}
		u.files = append(u.files, f)
		size[u] += int64(float64(f.Meta.Size) * float64(f.left) / float64(f.Meta.RowCount))
	}
	return out
}

// bucketName names a bucket of a partition.
type bucketName struct {
	partition string
	bucket    int
}

func nameOf(f *scan.File) bucketName { return bucketName{f.PartitionID, f.Bucket} }

// Rewrite writes the rows that stay into new files, where there are no deletion vectors for those that go.
func (r *Remover) Rewrite(ctx context.Context) error {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(max(r.j.t.Writing.Parallelism, 1))
	for _, u := range r.units {
		g.Go(func() (err error) {
			defer errs.Recover(&err, "removing rows of table "+r.j.src.Label)
			return r.rewrite(gctx, u)
		})
	}
	if err := g.Wait(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	return nil
}

// rewrite copies the rows of a unit that stay. Those of row-tracking tables keep their ids and numbers.
func (r *Remover) rewrite(ctx context.Context, u *removeUnit) (err error) {
	first, tracked := u.files[0], r.j.opts.tracked
	b := &bucket{partition: first.Partition, id: first.Bucket}
	out, err := r.j.w.NewAppendFiles(write.Place{Partition: b.partition, Bucket: b.id}, write.AppendFiles{
		Source: manifest.SourceAppend, Sequence: first.Meta.MinSequence, Tracked: tracked,
	})
	if err != nil {
		return err
	}
	sel := make([]uint16, 0, column.MaxRows)
	for _, f := range u.files {
		err := r.j.eachRow(ctx, b, f.File, tracked, func(in *column.Batch) error {
			kept := *in
			if kept.Sel = f.gone.Filter(in.Base, in.N, in.Sel, sel); kept.Rows() == 0 {
				return nil
			}
			return out.Write(ctx, &kept)
		})
		if err != nil {
			out.Abort()
			return err
		}
	}
	if u.after, err = out.Finish(ctx); err != nil {
		return err
	}
	var want, got int64
	for _, f := range u.files {
		want += f.left
	}
	for _, f := range u.after {
		got += f.RowCount
	}
	if want != got {
		return errs.Corruptf("table %s: %d rows would be left of the data files from %s on, %d were expected", r.j.src.Label, got, first.Path, want)
	}
	return nil
}

// buckets groups the files, in the order of appearance.
func (r *Remover) buckets() (order []bucketName, files map[bucketName][]*removal) {
	files = map[bucketName][]*removal{}
	for _, f := range r.files {
		k := nameOf(f.File)
		if files[k] == nil {
			order = append(order, k)
		}
		files[k] = append(files[k], f)
	}
	return order, files
}
