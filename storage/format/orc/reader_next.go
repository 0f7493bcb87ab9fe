package orc

import (
	"context"
	"io"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/schema"
)

// reader reads the rows of some stripes.
type reader struct {
	env  readEnv
	opts format.ReadOptions
	// root reads the columns that the file has; nil where there are none.
	root *structColumn
	// slots tells for each column asked for which child of root it is, -1 none.
	slots []int
	nulls []*column.Vector // of the columns that the file lacks
	skip  *skipper
	batch column.Batch
	// next is the next stripe, end the one not to read.
	next, end int
	// ranges are what is left of the present stripe; at is the next row of the first one.
	ranges []rowRange
	at     int64
	// pos is the row at which the decoders stand, -1 nowhere.
	pos       int64
	batchRows int
}

// Read implements format.File.
func (f *file) Read(ctx context.Context, opts format.ReadOptions) (format.Reader, error) {
	end := opts.ToSection
	if end == 0 {
		end = len(f.sections)
	}
	if opts.FromSection < 0 || end > len(f.sections) || opts.FromSection > end {
		return nil, errs.Invalidf("file %s has %d sections, asked for [%d, %d)", f.path, len(f.sections), opts.FromSection, end)
	}
	r := &reader{opts: opts, next: opts.FromSection, end: end}
	r.env = readEnv{file: f, ctx: ctx, legacyTZ: opts.LegacyTimestampLTZ, pieceBytes: minPieceBytes, workspace: workspaces.Get().(*workspace)}
	root := &structColumn{colBase: colBase{env: &r.env, typ: &f.footer.types[0]}}
	root.vec.Kind = column.KindStruct
	r.slots = make([]int, len(opts.Columns))
	r.nulls = make([]*column.Vector, len(opts.Columns))
	for i, c := range opts.Columns {
		id, ok := f.columns[c.Name]
		if !ok {
			r.slots[i] = -1
			r.nulls[i] = schema.NewNulls(c.Type, column.MaxRows)
			continue
		}
		kid, err := newColumn(&r.env, id, c.Type, []string{c.Name})
		if err != nil {
			r.env.release()
			return nil, err
		}
		r.slots[i] = len(root.kids)
		root.kids = append(root.kids, kid)
	}
	r.batchRows = column.MaxRows
	if len(root.kids) > 0 {
		r.root = root
		r.batchRows = f.rowsPerBatch(root)
	}
	r.skip = newSkipper(r)
	return r, nil
}

// Close implements format.Reader.
func (r *reader) Close() error {
	r.next, r.ranges = r.end, nil
	r.env.release()
	return nil
}

// Next implements format.Reader.
func (r *reader) Next(ctx context.Context) (*column.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.env.ctx = ctx
	for len(r.ranges) == 0 {
		if r.next >= r.end {
			return nil, io.EOF
		}
		n := r.next
		r.next++
		if err := r.openStripe(n); err != nil {
			r.next = r.end
			return nil, err
		}
	}
	b, err := r.rows()
	if err != nil {
		r.next, r.ranges = r.end, nil
		return nil, err
	}
	return b, nil
}

// openStripe plans the reading of a stripe; ranges stay empty where all of it is skipped.
func (r *reader) openStripe(n int) error {
	info := r.env.file.footer.stripes[n]
	r.ranges = nil
	if info.rows == 0 {
		return nil
	}
	may, err := r.skip.stripeMayMatch(n)
	if err != nil || !may {
		return err
	}
	if r.root == nil {
		r.env.stripe = &stripe{info: info, number: n}
		r.ranges = r.env.stripe.allRows()
		r.at = 0
		return nil
	}
	if r.env.stripe, err = r.env.openStripe(n); err != nil {
		return err
	}
	groups, err := r.skip.groups()
	if err != nil {
		return err
	}
	if groups != nil && len(groups) == 0 {
		return nil
	}
	r.env.pieces = r.env.pieces[:0]
	if err := r.root.start(); err != nil {
		return err
	}
	ranges := r.env.stripe.allRows()
	if groups != nil {
		ok, err := r.env.seekable(r.root)
		if err != nil {
			return err
		}
		if ok {
			ranges = groups
		}
	}
	if err := r.env.prefetch(r.root, ranges); err != nil {
		return err
	}
	r.ranges, r.at, r.pos = ranges, ranges[0].from, 0
	return nil
}

// rows reads the next batch of the first range.
func (r *reader) rows() (*column.Batch, error) {
	cur := r.ranges[0]
	n := int(min(cur.to-r.at, int64(r.batchRows)))
	b := &r.batch
	b.N, b.Base = n, r.env.stripe.info.firstRow+r.at
	b.Cols = b.Cols[:0]
	var vec *column.Vector
	if r.root != nil {
		if r.pos != r.at {
			if err := seek(r.root, cur.firstGroup); err != nil {
				return nil, err
			}
		}
		r.env.elements = 0
		var err error
		if vec, err = r.root.read(n, nil, n); err != nil {
			return nil, err
		}
		if vec.Valid != nil {
			return nil, errs.Corruptf("file %s: null rows at the root", r.env.file.path)
		}
	}
	for i, slot := range r.slots {
		if slot < 0 {
			b.Cols = append(b.Cols, column.Slice(r.nulls[i], 0, n))
		} else {
			b.Cols = append(b.Cols, vec.Children[slot])
		}
	}
	r.at += int64(n)
	r.pos = r.at
	if r.at >= cur.to {
		if r.ranges = r.ranges[1:]; len(r.ranges) > 0 {
			r.at = r.ranges[0].from
		}
	}
	return b, nil
}
