package compact

import (
	"context"
	"slices"

	"github.com/tributarydb/tributary/storage/index"
	"github.com/tributarydb/tributary/storage/scan"
)

// mark notes that a row of a file above the unit is gone.
func (t *task) mark(f *scan.File, position int64) {
	if t.marks == nil {
		t.marks = map[*scan.File][]int64{}
	}
	t.marks[f] = append(t.marks[f], position)
}

// finishVectors writes the bucket's deletion vectors as they are after the compaction, where they change: those
// of files that are gone are left out, the marks are added (section 10.2 of the format).
func (t *task) finishVectors(ctx context.Context) error {
	gone := map[string]bool{}
	for _, m := range t.out.Before {
		gone[m.Name] = true
	}
	for _, m := range t.out.After { // a file that only changes its level keeps its vector
		delete(gone, m.Name)
	}
	changed := len(t.marks) > 0
	var kept []*scan.File
	for _, f := range t.b.files {
		switch {
		case f.Vector == nil && t.marks[f] == nil:
		case gone[f.Meta.Name]:
			changed = true
		default:
			kept = append(kept, f)
		}
	}
	if !changed {
		return nil
	}
	t.out.DeletedIndexFiles = append(t.out.DeletedIndexFiles, t.b.vectors...)
	if len(kept) == 0 {
		return nil
	}
	slices.SortFunc(kept, func(a, b *scan.File) int {
		if a.Meta.Name < b.Meta.Name {
			return -1
		}
		return 1
	})
	w, entry, err := t.w.NewVectorFile(ctx, t.place())
	if err != nil {
		return err
	}
	if err := t.writeVectors(ctx, w, kept); err != nil {
		w.Abort()
		return err
	}
	if entry.Ranges, entry.Size, err = w.Close(); err != nil {
		return err
	}
	entry.RowCount = int64(len(entry.Ranges))
	t.out.NewIndexFiles = append(t.out.NewIndexFiles, *entry)
	return nil
}

func (t *task) writeVectors(ctx context.Context, w *index.VectorWriter, files []*scan.File) error {
	for _, f := range files {
		var v *index.Vector
		wide := t.opts.wide
		if ref := f.Vector; ref != nil {
			var err error
			if v, err = index.ReadVector(ctx, t.src.FIO, nil, ref.Path, ref.Size, ref.Range); err != nil {
				return err
			}
			wide = v.Wide() // a vector keeps its kind
		}
		v, err := v.With(wide, t.marks[f]...)
		if err != nil {
			return err
		}
		if err := w.Add(f.Meta.Name, v); err != nil {
			return err
		}
	}
	return nil
}
