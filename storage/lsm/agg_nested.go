package lsm

import (
	"math"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// nullKeys says what happens to nested rows with a null in their nested key
// (option nested-key-null-strategy).
type nullKeys uint8

const (
	mergeNullKeys nullKeys = iota
	ignoreNullKeys
	refuseNullKeys
)

// nestedKey projects the nested key of rows of an ARRAY<ROW>.
type nestedKey struct {
	fields []int
	types  []*schema.Type
	nulls  nullKeys
}

// of returns the key of row j as BinaryRow bytes; ok is false where the row is to be left out.
func (k *nestedKey) of(dst []byte, rows *column.Vector, j int) (key []byte, ok bool, err error) {
	cols := make([]*column.Vector, len(k.fields))
	for c, f := range k.fields {
		cols[c] = rows.Children[f]
		if k.nulls != mergeNullKeys && cols[c].IsNull(j) {
			if k.nulls == ignoreNullKeys {
				return nil, false, nil
			}
			return nil, false, errs.Invalidf("Nested key contains null values. Primary key fields must not be null.")
		}
	}
	return binrow.AppendRowOf(dst, k.types, cols, j), true, nil
}

// nestedUpdateAgg keeps a table in an ARRAY<ROW>: rows are appended, or with a
// nested key inserted or replaced.
type nestedUpdateAgg struct {
	aggBase
	elem *schema.Type
	// key is nil where rows have none.
	key *nestedKey
	// sequence are the fields whose greater or equal value lets a row replace another.
	sequence []int
	limit    int
}

func (a nestedUpdateAgg) agg(acc, in value) (value, error) {
	if in.null() {
		return acc, nil
	}
	out := schema.NewBuilder(a.typ)
	if a.key == nil {
		remain := a.limit
		if !acc.null() {
			ch, from, to := elements(acc)
			if to-from >= a.limit {
				return acc, nil
			}
			remain -= to - from
			appendNestedRows(out, ch[0], from, to, math.MaxInt)
		}
		ch, from, to := elements(in)
		appendNestedRows(out, ch[0], from, to, remain)
		out.EndList()
		return value{out.Finish(), 0}, nil
	}
	t := &nestedTable{table: newHashTable(false)}
	if !acc.null() {
		if err := a.insert(t, acc, false); err != nil {
			return value{}, err
		}
	}
	if err := a.insert(t, in, true); err != nil {
		return value{}, err
	}
	return t.build(out), nil
}

// appendNestedRows appends the rows that are not null, at most limit.
func appendNestedRows(out *column.Builder, rows *column.Vector, from, to, limit int) {
	for j := from; j < to && limit > 0; j++ {
		if !rows.IsNull(j) {
			out.Child(0).Append(rows, j)
			limit--
		}
	}
}

// nestedTable holds nested rows by their key.
type nestedTable struct {
	table *hashTable
	rows  []value
	buf   []byte
}

func (t *nestedTable) build(out *column.Builder) value {
	t.table.each(func(id int) { out.Child(0).Append(t.rows[id].v, t.rows[id].i) })
	out.EndList()
	return value{out.Finish(), 0}
}

// insert puts the rows of an array into the table; limited lets the count limit stop new keys.
func (a nestedUpdateAgg) insert(t *nestedTable, array value, limited bool) error {
	ch, from, to := elements(array)
	rows := ch[0]
	for j := from; j < to; j++ {
		if rows.IsNull(j) {
			continue
		}
		key, ok, err := a.key.of(t.buf[:0], rows, j)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		t.buf = key
		if id := t.table.find(key); id >= 0 {
			if a.supersedes(rows, j, t.rows[id]) {
				t.rows[id] = value{rows, j}
			}
		} else if !limited || t.table.size < a.limit {
			t.table.insert(key, binrow.Murmur(key))
			t.rows = append(t.rows, value{rows, j})
		}
	}
	return nil
}

func (a nestedUpdateAgg) supersedes(rows *column.Vector, j int, old value) bool {
	for _, f := range a.sequence {
		if c := column.CompareRows(rows.Children[f], j, old.v.Children[f], old.i); c != 0 {
			return c > 0
		}
	}
	return true
}

func (a nestedUpdateAgg) reversed(acc, in value) (value, error) { return a.agg(in, acc) }

// retract removes the rows with the keys of in, or equal to rows of in.
func (a nestedUpdateAgg) retract(acc, in value) (value, error) {
	if acc.null() || in.null() {
		return acc, nil
	}
	out := schema.NewBuilder(a.typ)
	t := &nestedTable{table: newHashTable(a.key == nil)}
	chAcc, from, to := elements(acc)
	rows := chAcc[0]
	keyOf := func(rows *column.Vector, j int) (bool, error) {
		if a.key == nil {
			t.buf = valueKey(t.buf[:0], a.elem, rows, j)
			return true, nil
		}
		key, ok, err := a.key.of(t.buf[:0], rows, j)
		if ok {
			t.buf = key
		}
		return ok, err
	}
	chIn, fromIn, toIn := elements(in)
	if a.key == nil {
		gone := map[string]bool{}
		for j := fromIn; j < toIn; j++ {
			if !chIn[0].IsNull(j) {
				keyOf(chIn[0], j)
				gone[string(t.buf)] = true
			}
		}
		for j := from; j < to; j++ {
			if rows.IsNull(j) {
				continue
			}
			keyOf(rows, j)
			if !gone[string(t.buf)] {
				out.Child(0).Append(rows, j)
			}
		}
		out.EndList()
		return value{out.Finish(), 0}, nil
	}
	for j := from; j < to; j++ {
		if rows.IsNull(j) {
			continue
		}
		ok, err := keyOf(rows, j)
		if err != nil {
			return value{}, err
		}
		if !ok {
			continue
		}
		if id := t.table.find(t.buf); id >= 0 {
			t.rows[id] = value{rows, j}
		} else {
			t.table.insert(t.buf, binrow.Murmur(t.buf))
			t.rows = append(t.rows, value{rows, j})
		}
	}
	for j := fromIn; j < toIn; j++ {
		if chIn[0].IsNull(j) {
			continue
		}
		ok, err := keyOf(chIn[0], j)
		if err != nil {
			return value{}, err
		}
		if ok {
			t.table.remove(t.buf)
		}
	}
	return t.build(out), nil
}

// nestedPartialAgg is nested_update whose rows are updated field by field:
// null fields of newer rows change nothing.
type nestedPartialAgg struct {
	aggBase
	elem *schema.Type
	key  *nestedKey
}

func (a nestedPartialAgg) agg(acc, in value) (value, error) {
	if in.null() {
		return acc, nil
	}
	table := newHashTable(false)
	var merged [][]value
	var buf []byte
	for _, array := range []value{acc, in} {
		if array.null() {
			continue
		}
		ch, from, to := elements(array)
		rows := ch[0]
		for j := from; j < to; j++ {
			if rows.IsNull(j) {
				continue
			}
			key, ok, err := a.key.of(buf[:0], rows, j)
			if err != nil {
				return value{}, err
			}
			if !ok {
				continue
			}
			buf = key
			id := table.find(key)
			if id < 0 {
				id = table.insert(key, binrow.Murmur(key))
				merged = append(merged, make([]value, len(a.elem.Fields)))
			}
			for f := range merged[id] {
				if x := valueAt(rows.Children[f], j); !x.null() {
					merged[id][f] = x
				}
			}
		}
	}
	out := schema.NewBuilder(a.typ)
	table.each(func(id int) {
		row := out.Child(0)
		for f, x := range merged[id] {
			x.appendTo(row.Child(f))
		}
		row.EndStruct()
	})
	out.EndList()
	return value{out.Finish(), 0}, nil
}

func (a nestedPartialAgg) reversed(acc, in value) (value, error) { return a.agg(in, acc) }
