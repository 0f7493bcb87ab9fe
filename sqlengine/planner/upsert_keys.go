package planner

import (
	"encoding/binary"
	"math"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
)

// maxKeyList is the number of values of a key column up to which the rows that are there are looked for by a list; beyond, by a
// range.
const maxKeyList = 256

// rowRef is a row of a batch.
type rowRef struct {
	batch *column.Batch
	at    int
}

// keyColumns makes texts of a table's keys, equal for equal keys only.
type keyColumns struct {
	fields []schema.Field
	// cols are the key columns as indexes into fields.
	cols []int
	buf  []byte
}

// key is the key of a row; it is valid until the next call.
func (k *keyColumns) key(r rowRef) []byte {
	k.buf = k.buf[:0]
	for _, c := range k.cols {
		v, i := r.batch.Cols[c], r.at
		if v.IsNull(i) {
			k.buf = append(k.buf, 0)
			continue
		}
		k.buf = append(k.buf, 1)
		v, i = v.At(i)
		switch v.Kind {
		case column.KindBytes:
			p := v.Bytes(i)
			k.buf = append(binary.AppendUvarint(k.buf, uint64(len(p))), p...)
		case column.KindInt32:
			k.buf = binary.BigEndian.AppendUint32(k.buf, uint32(v.I32[i]))
		case column.KindInt64:
			k.buf = binary.BigEndian.AppendUint64(k.buf, uint64(v.I64[i]))
		case column.KindTimestamp:
			k.buf = binary.BigEndian.AppendUint64(k.buf, uint64(v.I64[i]))
			k.buf = binary.BigEndian.AppendUint16(k.buf, v.SubNanos(i))
		case column.KindInt128:
			k.buf = binary.BigEndian.AppendUint64(k.buf, uint64(v.I128[i].Hi))
			k.buf = binary.BigEndian.AppendUint64(k.buf, v.I128[i].Lo)
		case column.KindFloat32:
			k.buf = binary.BigEndian.AppendUint32(k.buf, math.Float32bits(v.F32[i]))
		case column.KindFloat64:
			k.buf = binary.BigEndian.AppendUint64(k.buf, math.Float64bits(v.F64[i]))
		}
	}
	return k.buf
}

// text is a key as messages show it.
func (k *keyColumns) text(r rowRef, zone *time.Location) string {
	var parts []string
	for _, c := range k.cols {
		v := r.batch.Cols[c]
		if v.IsNull(r.at) {
			parts = append(parts, "NULL")
			continue
		}
		parts = append(parts, string(types.AppendCellText(nil, v, r.at, k.fields[c].Type, zone)))
	}
	return strings.Join(parts, "-")
}

// filter selects at least the rows with one of the keys, which are in the columns of rows of another kind.
func (k *keyColumns) filter(of *keyColumns, rows []rowRef) predicate.Predicate {
	var all []predicate.Predicate
	for i, c := range k.cols {
		from := of.cols[i]
		typ := k.fields[c].Type
		if typ.IsNested() || typ.Root == schema.Float || typ.Root == schema.Double {
			continue
		}
		lo, hi := column.ScalarAt(rows[0].batch.Cols[from], rows[0].at), column.Scalar{}
		hi = lo
		seen := map[string]bool{}
		var list []column.Scalar
		one := keyColumns{fields: of.fields, cols: []int{from}}
		for _, r := range rows {
			if len(list) <= maxKeyList {
				if text := string(one.key(r)); !seen[text] {
					seen[text] = true
					list = append(list, column.ScalarAt(r.batch.Cols[from], r.at))
				}
			}
			s := column.ScalarAt(r.batch.Cols[from], r.at)
			if s.Compare(lo) < 0 {
				lo = s
			}
			if s.Compare(hi) > 0 {
				hi = s
			}
		}
		switch {
		case lo.Null:
		case len(list) == 1:
			all = append(all, &predicate.Leaf{Op: predicate.Eq, Column: c, Literals: list})
		case len(list) <= maxKeyList:
			all = append(all, &predicate.Leaf{Op: predicate.In, Column: c, Literals: list})
		default:
			all = append(all, &predicate.Leaf{Op: predicate.Ge, Column: c, Literals: []column.Scalar{lo}},
				&predicate.Leaf{Op: predicate.Le, Column: c, Literals: []column.Scalar{hi}})
		}
	}
	return predicate.NewAnd(all...)
}

// current reads the rows of a relation whose keys are wanted: those of rows.
func (k *keyColumns) current(ctx *sql.Context, rel relation.Relation, rows []rowRef) (map[string]rowRef, error) {
	return k.currentOf(ctx, rel, k, rows)
}

// currentOf is current for rows whose keys are in the columns of another kind of rows.
func (k *keyColumns) currentOf(ctx *sql.Context, rel relation.Relation, of *keyColumns, rows []rowRef) (out map[string]rowRef, err error) {
	out = map[string]rowRef{}
	wanted := make(map[string]bool, len(rows))
	for _, r := range rows {
		wanted[string(of.key(r))] = true
	}
	req := relation.Request{Filter: k.filter(of, rows)}
	for i := range k.fields {
		req.Columns = append(req.Columns, i)
	}
	p, err := rel.Plan(ctx, req)
	if err != nil {
		return nil, err
	}
	var kept keptRows
	var keys []string
	err = eachScanned(ctx, p.Morsels, func(b *column.Batch) error {
		for i := range b.Rows() {
			r := rowRef{b, b.Row(i)}
			if key := k.key(r); wanted[string(key)] {
				keys = append(keys, string(key))
				kept.add(r)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	kept.seal()
	for i, r := range kept.refs {
		out[keys[i]] = r
	}
	return out, nil
}

// keptRows copies rows out of batches that do not last.
type keptRows struct {
	cols []*column.Builder
	n    int
	// batches have the rows that are readable, refs name them one by one.
	batches []*column.Batch
	refs    []rowRef
}

func (k *keptRows) add(r rowRef) {
	if k.cols == nil {
		for _, v := range r.batch.Cols {
			k.cols = append(k.cols, column.NewBuilderLike(v))
		}
	}
	for c, v := range r.batch.Cols {
		k.cols[c].Append(v, r.at)
	}
	if k.n++; k.n == column.MaxRows {
		k.seal()
	}
}

// seal makes the rows so far readable.
func (k *keptRows) seal() {
	if k.n == 0 {
		return
	}
	b := &column.Batch{N: k.n}
	for _, c := range k.cols {
		b.Cols = append(b.Cols, c.Finish())
		c.Reset()
	}
	k.batches = append(k.batches, b)
	for i := range k.n {
		k.refs = append(k.refs, rowRef{b, i})
	}
	k.n = 0
}
