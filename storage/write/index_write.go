package write

import (
	"context"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/index/fileindex"
)

// indexFileSuffix ends the name of a file with the indexes of a data file (DataFilePathFactory).
const indexFileSuffix = ".index"

// readIndexes reads which file indexes the table's data files get, and refuses those that cannot be built.
// Kinds of later releases are left out: reading never needs them.
func (w *Writer) readIndexes() error {
	specs, err := fileindex.Specs(w.schema.Options)
	for _, s := range specs {
		if err == nil && w.schema.Index(s.Column) < 0 {
			err = errs.Invalidf("Column '%s' specified in 'file-index.%s.columns' does not exist in table schema", s.Column, s.Type)
		}
	}
	if err == nil {
		_, err = fileindex.NewBuilder(specs, w.fields)
	}
	if err != nil {
		return errs.New(errs.ClassOf(err), "table %s: %w", w.t.Label, err)
	}
	w.indexes = specs
	return nil
}

// openIndex begins the indexes of a file.
func (r *roller) openIndex() (err error) {
	r.index = nil
	if r.spec.indexed && len(r.w.indexes) > 0 {
		r.index, err = fileindex.NewBuilder(r.w.indexes, r.w.fields)
	}
	return err
}

// addIndex adds rows, of the table's columns, to the indexes of the current file.
func (r *roller) addIndex(values []*column.Vector, sel []uint16, n int) error {
	if r.index == nil {
		return nil
	}
	return r.index.Add(&column.Batch{N: n, Cols: values, Sel: sel})
}

// closeIndex keeps the indexes of the current file: in its manifest entry where they are small,
// else in a file beside it (DataFileIndexWriter).
func (r *roller) closeIndex(ctx context.Context) error {
	if r.index == nil {
		return nil
	}
	data, err := r.index.Finish()
	r.index = nil
	if err != nil || data == nil {
		return err
	}
	if int64(len(data)) <= r.w.opts.indexThreshold {
		r.meta.EmbeddedIndex = data
		return nil
	}
	path := r.path + indexFileSuffix
	r.w.created(path)
	if err := r.w.t.FIO.Overwrite(ctx, path, data); err != nil {
		return err
	}
	r.meta.ExtraFiles = []string{r.meta.Name + indexFileSuffix}
	return nil
}
