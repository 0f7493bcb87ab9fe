package exec

import (
	"slices"

	"github.com/tributarydb/tributary/storage/column"
)

// radixRows is the number of rows from which heads are sorted by their bytes.
const radixRows = 4096

// sortRows sorts rows by the order of s.
func (s *sorter) sortRows() {
	if len(s.rows) < radixRows {
		slices.SortFunc(s.rows, s.compare)
		return
	}
	s.rows = radixSort(s.rows, make([]sortRow, len(s.rows)))
	// Rows of equal heads are ordered by the rest.
	for from := 0; from < len(s.rows); {
		to := from + 1
		for to < len(s.rows) && compareHeads(s.rows[from], s.rows[to]) == 0 {
			to++
		}
		if to-from > 1 {
			slices.SortFunc(s.rows[from:to], s.compare)
		}
		from = to
	}
}

// radixSort sorts by flag and norm, stable, byte by byte from the lowest; bytes that all rows share cost nothing. It returns
// a or buf, whichever holds the result.
func radixSort(a, buf []sortRow) []sortRow {
	const passes = 9
	var counts [passes][256]uint32
	for i := range a {
		n := a[i].norm
		for p := range 8 {
			counts[p][byte(n>>(8*p))]++
		}
		counts[8][a[i].flag]++
	}
	for p := range passes {
		digit := func(r *sortRow) byte {
			if p == 8 {
				return r.flag
			}
			return byte(r.norm >> (8 * p))
		}
		c := &counts[p]
		if len(a) == 0 || c[digit(&a[0])] == uint32(len(a)) {
			continue
		}
		at := uint32(0)
		for d, n := range c {
			c[d] = at
			at += n
		}
		for i := range a {
			d := digit(&a[i])
			buf[c[d]] = a[i]
			c[d]++
		}
		a, buf = buf, a
	}
	return a
}

// gatherCells builds a vector of the cells of rows in column c where that column is of one kind of fixed width, without
// nulls and dictionaries, in all batches; nil else.
func (s *sorter) gatherCells(rows []sortRow, c int) *column.Vector {
	const mask = 1<<rowBits - 1
	kind := s.batches[rows[0].at>>rowBits].Cols[c].Kind
	switch kind {
	case column.KindInt32, column.KindInt64, column.KindFloat64:
	default:
		return nil
	}
	for _, r := range rows {
		if v := s.batches[r.at>>rowBits].Cols[c]; v.Kind != kind || v.Valid != nil || v.Dict != nil {
			return nil
		}
	}
	out := &column.Vector{Kind: kind, N: len(rows)}
	switch kind {
	case column.KindInt32:
		out.I32 = make([]int32, len(rows))
		for k, r := range rows {
			out.I32[k] = s.batches[r.at>>rowBits].Cols[c].I32[r.at&mask]
		}
	case column.KindInt64:
		out.I64 = make([]int64, len(rows))
		for k, r := range rows {
			out.I64[k] = s.batches[r.at>>rowBits].Cols[c].I64[r.at&mask]
		}
	default:
		out.F64 = make([]float64, len(rows))
		for k, r := range rows {
			out.F64[k] = s.batches[r.at>>rowBits].Cols[c].F64[r.at&mask]
		}
	}
	return out
}
