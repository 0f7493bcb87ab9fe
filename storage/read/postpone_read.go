package read

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/lsm"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/schema"
)

// MaxPostponedRows bounds the rows of a partition's postpone bucket that a
// read sorts in memory.
const MaxPostponedRows = 20_000_000

// sortStep is the number of rows after which a sort looks for the end of its context.
const sortStep = 1 << 14

// postponedRuns reads the files of a postpone bucket, whose rows are in the
// order of their arrival, and makes sorted runs of them: the n-th row of a key
// goes to the n-th run. Sequence numbers are given anew, above those of the real buckets.
func (h *Handles) postponedRuns(ctx context.Context, s *scan.Split, fields []schema.Field, layout lsm.Layout) ([]lsm.RunReader, error) {
	if len(s.Postponed) == 0 {
		return nil, nil
	}
	var next int64
	for _, f := range s.Files {
		next = max(next, f.Meta.MaxSequence+1)
	}
	rows := make([]*column.Builder, len(fields))
	for i, f := range fields {
		rows[i] = schema.NewBuilder(f.Type)
	}
	for _, f := range s.Postponed {
		if rows[0].Len()+int(f.Meta.RowCount) > MaxPostponedRows {
			return nil, errs.Limitf("table %s: the postpone bucket of a partition has more than %d rows; compact the table first", s.Source.Label, MaxPostponedRows)
		}
		if err := h.appendFile(ctx, s, f, fields, rows); err != nil {
			return nil, err
		}
	}
	cols := make([]*column.Vector, len(rows))
	for i, b := range rows {
		cols[i] = b.Finish()
	}
	return sortedRuns(ctx, cols, layout, next)
}

// appendFile appends all rows of a file.
func (h *Handles) appendFile(ctx context.Context, s *scan.Split, f *scan.File, fields []schema.Field, rows []*column.Builder) error {
	r, err := h.openFile(ctx, f.SourceOr(s.Source), f, fileRequest{fields: fields, partition: partitionOf(s)})
	if err != nil {
		return err
	}
	for {
		b, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return r.Close()
		}
		if err != nil {
			return errors.Join(err, r.Close())
		}
		for k := range b.Rows() {
			for i, c := range b.Cols {
				rows[i].Append(c, b.Row(k))
			}
		}
	}
}

// sortedRuns divides rows, in the order of their arrival, into runs of unique ascending keys.
func sortedRuns(ctx context.Context, cols []*column.Vector, layout lsm.Layout, firstSeq int64) ([]lsm.RunReader, error) {
	compare := func(a, b int) int {
		for _, k := range layout.Keys {
			if c := column.CompareRows(cols[k], a, cols[k], b); c != 0 {
				return c
			}
		}
		return 0
	}
	order, err := sortRows(ctx, cols[0].N, compare)
	if err != nil {
		return nil, err
	}
	var runs [][]int
	nth := 0
	for i, row := range order {
		nth++
		if i == 0 || compare(order[i-1], row) != 0 {
			nth = 0
		}
		if nth == len(runs) {
			runs = append(runs, nil)
		}
		runs[nth] = append(runs[nth], row)
	}
	out := make([]lsm.RunReader, len(runs))
	for i, r := range runs {
		out[i] = &pickedRows{cols: cols, rows: r, seq: layout.Seq, firstSeq: firstSeq}
	}
	return out, nil
}

// sortRows returns the rows 0 … n-1 in the order of compare; equal rows keep
// theirs. Steps are sorted by themselves and merged, so that it can be stopped.
func sortRows(ctx context.Context, n int, compare func(a, b int) int) ([]int, error) {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	for from := 0; from < n; from += sortStep {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		slices.SortStableFunc(order[from:min(n, from+sortStep)], compare)
	}
	from, to := order, make([]int, n)
	for width := sortStep; width < n; width *= 2 {
		for start := 0; start < n; start += 2 * width {
			l, r := from[start:min(n, start+width)], from[min(n, start+width):min(n, start+2*width)]
			for at := start; len(l)+len(r) > 0; at++ {
				if at%sortStep == 0 {
					if err := ctx.Err(); err != nil {
						return nil, err
					}
				}
				if len(r) == 0 || len(l) > 0 && compare(l[0], r[0]) <= 0 {
					to[at], l = l[0], l[1:]
				} else {
					to[at], r = r[0], r[1:]
				}
			}
		}
		from, to = to, from
	}
	return from, nil
}

// pickedRows yields chosen rows of vectors; column seq counts their place of arrival.
type pickedRows struct {
	cols     []*column.Vector
	rows     []int
	seq      int
	firstSeq int64
}

func (p *pickedRows) Next(ctx context.Context) (*column.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(p.rows) == 0 {
		return nil, io.EOF
	}
	n := min(len(p.rows), column.MaxRows)
	b := &column.Batch{N: n}
	for i, c := range p.cols {
		x := column.NewBuilderLike(c)
		for _, row := range p.rows[:n] {
			if i == p.seq {
				x.AppendInt(p.firstSeq + int64(row))
			} else {
				x.Append(c, row)
			}
		}
		b.Cols = append(b.Cols, x.Finish())
	}
	p.rows = p.rows[n:]
	return b, nil
}

func (p *pickedRows) Close() error { return nil }
