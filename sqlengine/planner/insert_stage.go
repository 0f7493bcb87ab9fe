package planner

import (
	"github.com/tributarydb/tributary/storage/column"
)

// stagedRows are rows in memory, in the order in which they came. Those of small statements share batches.
type stagedRows struct {
	full []*column.Batch
	// tail is the batch that still takes rows; nil for none.
	tail     []*column.Builder
	tailRows int
	rows     int
	bytes    int64
}

// smallBatch is the number of rows below which a batch is copied into the tail.
const smallBatch = column.MaxRows / 4

// add takes the rows of a batch without a selection, whose vectors nobody changes afterwards.
func (s *stagedRows) add(b *column.Batch) {
	s.rows += b.N
	s.bytes += b.Size()
	if b.N >= smallBatch {
		s.seal()
		s.full = append(s.full, b)
		return
	}
	if s.tailRows+b.N > column.MaxRows {
		s.seal()
	}
	if s.tail == nil {
		for _, v := range b.Cols {
			s.tail = append(s.tail, column.NewBuilderLike(v))
		}
	}
	for i, v := range b.Cols {
		s.tail[i].AppendRange(v, 0, b.N)
	}
	s.tailRows += b.N
}

// seal ends the tail.
func (s *stagedRows) seal() {
	if s.tailRows == 0 {
		return
	}
	b := &column.Batch{N: s.tailRows}
	for _, bl := range s.tail {
		b.Cols = append(b.Cols, bl.Finish())
	}
	s.full = append(s.full, b)
	s.tail, s.tailRows = nil, 0
}

// addAll takes the rows of o, which must not be used afterwards.
func (s *stagedRows) addAll(o *stagedRows) {
	o.seal()
	for _, b := range o.full {
		s.add(b)
	}
}

// cut keeps the first rows.
func (s *stagedRows) cut(rows int) {
	s.seal()
	old := s.full
	*s = stagedRows{}
	for _, b := range old {
		n := min(b.N, rows-s.rows)
		if n <= 0 {
			return
		}
		if n < b.N {
			part := &column.Batch{N: n}
			for _, v := range b.Cols {
				bl := column.NewBuilderLike(v)
				bl.AppendRange(v, 0, n)
				part.Cols = append(part.Cols, bl.Finish())
			}
			b = part
		}
		s.add(b)
	}
}

// each calls f with the batches, in their order.
func (s *stagedRows) each(f func(*column.Batch) error) error {
	s.seal()
	for _, b := range s.full {
		if err := f(b); err != nil {
			return err
		}
	}
	return nil
}
