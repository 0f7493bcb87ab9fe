package read

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/index"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/schema"
)

// segment is rows [from, to) of a group, numbered from the group's first row
// id, that one file supplies; file nil = nulls.
type segment struct {
	file     *scan.File
	from, to int64
}

// openJoin reads a group of a data-evolution table: every column comes from
// the newest file of the row range that has it (format section 16).
func (h *Handles) openJoin(ctx context.Context, s *scan.Split, w Want) (relation.Reader, error) {
	src := s.Source
	lo, hi := *s.Files[0].Meta.FirstRowID, int64(0)
	seq := int64(-1)
	for _, f := range s.Files {
		lo = min(lo, *f.Meta.FirstRowID)
		hi = max(hi, *f.Meta.FirstRowID+f.Meta.RowCount)
		seq = max(seq, f.Meta.MaxSequence)
	}
	width := len(w.Columns)
	parts, err := h.joinParts(ctx, s, w, lo, hi)
	if err != nil {
		return nil, err
	}
	joined := newAlignReader("table "+src.Label, width, parts)
	var vector *index.Vector
	for _, f := range s.Files {
		if f.Vector == nil {
			continue
		}
		if vector, err = index.ReadVector(ctx, src.FIO, h.env.vectors, f.Vector.Path, f.Vector.Size, f.Vector.Range); err != nil {
			return nil, errors.Join(err, joined.Close())
		}
	}
	sel := make([]uint16, 0, column.MaxRows)
	kind := column.FromScalar(column.IntScalar(column.KindInt32, 0))
	seqs := column.FromScalar(column.IntScalar(column.KindInt64, seq))
	return &mapReader{in: joined, f: func(_ context.Context, b *column.Batch) (*column.Batch, error) {
		if vector != nil {
			if b.Sel = vector.Filter(b.Base, b.N, nil, sel[:0]); b.Rows() == 0 {
				return nil, nil
			}
		}
		if w.Kind {
			b.Cols = append(b.Cols, column.NewConst(kind, b.N))
		}
		if w.Sequence {
			b.Cols = append(b.Cols, column.NewConst(seqs, b.N))
		}
		if w.RowID {
			ids := &column.Vector{Kind: column.KindInt64, N: b.N, I64: make([]int64, b.N)}
			for i := range ids.I64 {
				ids.I64[i] = lo + b.Base + int64(i)
			}
			b.Cols = append(b.Cols, ids)
		}
		return b, nil
	}}, nil
}

// joinParts groups the wanted columns by the files they come from.
func (h *Handles) joinParts(ctx context.Context, s *scan.Split, w Want, lo, hi int64) ([]part, error) {
	src := s.Source
	type group struct {
		segs []segment
		cols []int
	}
	var groups []*group
	add := func(segs []segment, col int) {
		for _, g := range groups {
			if slices.Equal(g.segs, segs) {
				g.cols = append(g.cols, col)
				return
			}
		}
		groups = append(groups, &group{segs: segs, cols: []int{col}})
	}
	for i, c := range w.Columns {
		f := src.Schema.Fields[c]
		var have []*scan.File
		if !slices.Contains(src.Schema.PartitionKeys, f.Name) {
			for _, file := range s.Files {
				ok, err := holdsField(ctx, src, file, f.ID)
				if err != nil {
					return nil, err
				}
				if ok {
					have = append(have, file)
				}
			}
		} else {
			have = s.Files[:1]
		}
		add(cover(have, lo, hi), i)
	}
	if len(groups) == 0 {
		return []part{{reader: &nullReader{rows: hi - lo}}}, nil
	}
	parts := make([]part, len(groups))
	for i, g := range groups {
		fields := make([]schema.Field, len(g.cols))
		for k, c := range g.cols {
			fields[k] = src.Schema.Fields[w.Columns[c]]
		}
		cr := &concatReader{}
		for _, sg := range g.segs {
			cr.open = append(cr.open, func(ctx context.Context) (relation.Reader, error) {
				return h.openSegment(ctx, s, sg, lo, fields)
			})
		}
		parts[i] = part{reader: cr, cols: g.cols}
	}
	return parts, nil
}

// holdsField reports whether a file holds a column by its schema and write columns.
func holdsField(ctx context.Context, src *scan.Source, f *scan.File, id int) (bool, error) {
	sch, err := src.Schemas.Get(ctx, f.Meta.SchemaID)
	if err != nil {
		return false, err
	}
	fields := sch.Fields
	if f.Meta.WriteColumns != nil {
		fields = schema.Select(fields, f.Meta.WriteColumns)
	}
	return slices.ContainsFunc(fields, func(x schema.Field) bool { return x.ID == id }), nil
}

// cover divides rows [lo, hi) among files, the newest first; rows that none
// has are null. Results are numbered from lo, ascending.
func cover(files []*scan.File, lo, hi int64) []segment {
	byAge := slices.Clone(files)
	slices.SortStableFunc(byAge, func(a, b *scan.File) int { return cmp.Compare(b.Meta.MaxSequence, a.Meta.MaxSequence) })
	free := []segment{{from: 0, to: hi - lo}}
	var out []segment
	for _, f := range byAge {
		a, b := *f.Meta.FirstRowID-lo, *f.Meta.FirstRowID-lo+f.Meta.RowCount
		var rest []segment
		for _, g := range free {
			from, to := max(a, g.from), min(b, g.to)
			if from >= to {
				rest = append(rest, g)
				continue
			}
			out = append(out, segment{file: f, from: from, to: to})
			if g.from < from {
				rest = append(rest, segment{from: g.from, to: from})
			}
			if to < g.to {
				rest = append(rest, segment{from: to, to: g.to})
			}
		}
		free = rest
	}
	out = append(out, free...)
	slices.SortFunc(out, func(a, b segment) int { return cmp.Compare(a.from, b.from) })
	return out
}

// openSegment reads a segment of one file.
func (h *Handles) openSegment(ctx context.Context, s *scan.Split, sg segment, lo int64, fields []schema.Field) (relation.Reader, error) {
	if sg.file == nil {
		return &nullReader{rows: sg.to - sg.from, fields: fields}, nil
	}
	r, err := h.openFile(ctx, s.Source, sg.file, fileRequest{fields: fields, positions: true, partition: partitionOf(s)})
	if err != nil {
		return nil, err
	}
	first := *sg.file.Meta.FirstRowID - lo
	return &rowRange{in: r, from: sg.from - first, to: sg.to - first, name: sg.file.Path}, nil
}

// rowRange passes rows [from, to) of a reader that yields every row in order.
type rowRange struct {
	in       relation.Reader
	from, to int64
	at       int64
	name     string
}

func (r *rowRange) Next(ctx context.Context) (*column.Batch, error) {
	for r.at < r.to {
		b, err := r.in.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil, errs.Corruptf("data file %s ends at row %d, before row %d", r.name, r.at, r.to)
		}
		if err != nil {
			return nil, err
		}
		if b.Sel != nil || b.Base != r.at {
			return nil, errs.Corruptf("data file %s was read with gaps at row %d", r.name, r.at)
		}
		start := r.at
		r.at += int64(b.N)
		from, to := max(r.from-start, 0), min(r.to-start, int64(b.N))
		if from >= to {
			continue
		}
		out := &column.Batch{N: int(to - from), Cols: make([]*column.Vector, len(b.Cols))}
		for i, c := range b.Cols {
			out.Cols[i] = column.Slice(c, int(from), int(to))
		}
		return out, nil
	}
	return nil, io.EOF
}

func (r *rowRange) Close() error { return r.in.Close() }

// nullReader yields rows of nulls.
type nullReader struct {
	rows   int64
	fields []schema.Field
}

func (r *nullReader) Next(context.Context) (*column.Batch, error) {
	if r.rows == 0 {
		return nil, io.EOF
	}
	n := int(min(r.rows, column.MaxRows))
	r.rows -= int64(n)
	b := &column.Batch{N: n}
	for _, f := range r.fields {
		b.Cols = append(b.Cols, schema.NewNulls(f.Type, n))
	}
	return b, nil
}

func (r *nullReader) Close() error { return nil }
