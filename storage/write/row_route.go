package write

import (
	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// partition is a partition that rows go to.
type partition struct {
	// framed is the BinaryRow of the values, in Java's form.
	framed []byte
	values []column.Scalar
	dir    string
	// slots are by bucket.
	slots map[int]*slot
}

// router finds the partition of every row.
type router struct {
	layout *layout
	cols   []int
	types  []*schema.Type
	byRow  map[string]*partition
	// all lists the partitions in the order of their appearance; numbers index it.
	all    []*partition
	number map[*partition]uint32
	buf    []byte
	part   []*column.Vector
}

func newRouter(s *schema.TableSchema, l *layout) *router {
	r := &router{layout: l, types: s.PartitionTypes(), byRow: map[string]*partition{}, number: map[*partition]uint32{}}
	for _, k := range s.PartitionKeys {
		r.cols = append(r.cols, s.Index(k))
	}
	return r
}

// of returns the partition of a framed row, making it where it is new.
func (r *router) of(row []byte, values func() []column.Scalar) (*partition, error) {
	if p := r.byRow[string(row)]; p != nil {
		return p, nil
	}
	vals := values()
	dir, err := r.layout.partitionDir(vals)
	if err != nil {
		return nil, err
	}
	p := &partition{framed: binrow.EncodeRow(r.types, vals), values: vals, dir: dir, slots: map[int]*slot{}}
	r.byRow[string(row)] = p
	r.number[p] = uint32(len(r.all))
	r.all = append(r.all, p)
	return p, nil
}

// byValues returns the partition of values.
func (r *router) byValues(vals []column.Scalar) (*partition, error) {
	return r.of(binrow.AppendRow(nil, r.types, vals), func() []column.Scalar { return vals })
}

// route sets dst[i] to the number of the partition of row i, for every row that counts. Rows
// in a row with the same values cost a comparison only.
func (r *router) route(rows *Rows, dst []uint32) error {
	r.part = r.part[:0]
	for _, c := range r.cols {
		r.part = append(r.part, rows.Cols[c])
	}
	var failed error
	last, number := -1, uint32(0)
	each(rows.Sel, rows.N, func(i int) {
		if failed != nil {
			return
		}
		if last < 0 || !r.same(last, i) {
			r.buf = binrow.AppendRowOf(r.buf[:0], r.types, r.part, i)
			p, err := r.of(r.buf, func() []column.Scalar {
				vals := make([]column.Scalar, len(r.part))
				for c, v := range r.part {
					vals[c] = column.ScalarAt(v, i)
				}
				return vals
			})
			if err != nil {
				failed = err
				return
			}
			number = r.number[p]
		}
		last = i
		dst[i] = number
	})
	return failed
}

// same reports whether rows i and j have the same partition values.
func (r *router) same(i, j int) bool {
	for _, v := range r.part {
		if v.Dict != nil && !v.IsNull(i) && !v.IsNull(j) && v.Codes[i] == v.Codes[j] {
			continue
		}
		if column.CompareRows(v, i, v, j) != 0 {
			return false
		}
	}
	return true
}

// find returns the partition of values where rows go to it, nil else.
func (r *router) find(vals []column.Scalar) *partition {
	return r.byRow[string(binrow.AppendRow(nil, r.types, vals))]
}

func decodePartition(types []*schema.Type, framed []byte) ([]column.Scalar, error) {
	return binrow.DecodeRow(types, framed)
}
