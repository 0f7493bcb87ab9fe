package lsm

import (
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// elements returns the elements of an array or map value: the child vectors and
// the range of rows.
func elements(x value) (children []*column.Vector, from, to int) {
	return x.v.Children, int(x.v.Offsets[x.i]), int(x.v.Offsets[x.i+1])
}

// collectAgg concatenates arrays, or with distinct unites them.
type collectAgg struct {
	aggBase
	distinct bool
	elem     *schema.Type
}

func (a collectAgg) agg(acc, in value) (value, error) {
	if acc.null() && in.null() {
		return value{}, nil
	}
	if !a.distinct {
		if acc.null() {
			return in, nil
		}
		if in.null() {
			return acc, nil
		}
	}
	out := schema.NewBuilder(a.typ)
	if !a.distinct {
		for _, x := range []value{acc, in} {
			ch, from, to := elements(x)
			out.Child(0).AppendRange(ch[0], from, to)
		}
		out.EndList()
		return value{out.Finish(), 0}, nil
	}
	var (
		table = newHashTable(!hasJavaHash(a.elem))
		items []value
		rows  []int
		key   []byte
	)
	for _, x := range []value{acc, in} {
		if x.null() {
			continue
		}
		ch, from, to := elements(x)
		for j := from; j < to; j++ {
			key = valueKey(key[:0], a.elem, ch[0], j)
			if table.find(key) >= 0 {
				continue
			}
			e := valueAt(ch[0], j)
			table.insert(key, javaHash(a.elem, e))
			items, rows = append(items, value{ch[0], j}), append(rows, j)
		}
	}
	table.each(func(id int) { out.Child(0).Append(items[id].v, rows[id]) })
	out.EndList()
	return value{out.Finish(), 0}, nil
}

// reversed does not turn the order round, as in Paimon.
func (a collectAgg) reversed(acc, in value) (value, error) { return a.agg(acc, in) }

// retract removes one element of acc for each element of in.
func (a collectAgg) retract(acc, in value) (value, error) {
	if acc.null() || in.null() {
		return acc, nil
	}
	ch, from, to := elements(in)
	if from == to {
		return acc, nil
	}
	gone := map[string]int{}
	var key []byte
	for j := from; j < to; j++ {
		key = valueKey(key[:0], a.elem, ch[0], j)
		gone[string(key)]++
	}
	out := schema.NewBuilder(a.typ)
	ch, from, to = elements(acc)
	for j := from; j < to; j++ {
		key = valueKey(key[:0], a.elem, ch[0], j)
		if gone[string(key)] > 0 {
			gone[string(key)]--
			continue
		}
		out.Child(0).Append(ch[0], j)
	}
	out.EndList()
	return value{out.Finish(), 0}, nil
}

// entryMap is a map being merged: entries in hash order, with the place of key and value.
type entryMap struct {
	typ   *schema.Type
	table *hashTable
	keys  []value
	vals  []value // v is the values' vector, i the row, null or not
	buf   []byte
}

func newEntryMap(t *schema.Type) *entryMap {
	return &entryMap{typ: t, table: newHashTable(!hasJavaHash(t.Key))}
}

func (m *entryMap) keyOf(keys *column.Vector, j int) []byte {
	m.buf = valueKey(m.buf[:0], m.typ.Key, keys, j)
	return m.buf
}

// put sets an entry; the key that came first stays.
func (m *entryMap) put(keys *column.Vector, vals value, j int) {
	key := m.keyOf(keys, j)
	if id := m.table.find(key); id >= 0 {
		m.vals[id] = vals
		return
	}
	m.table.insert(key, javaHash(m.typ.Key, valueAt(keys, j)))
	m.keys, m.vals = append(m.keys, value{keys, j}), append(m.vals, vals)
}

func (m *entryMap) putAll(x value) {
	ch, from, to := elements(x)
	for j := from; j < to; j++ {
		m.put(ch[0], value{ch[1], j}, j)
	}
}

func (m *entryMap) build() value {
	out := schema.NewBuilder(m.typ)
	m.table.each(func(id int) {
		out.Child(0).Append(m.keys[id].v, m.keys[id].i)
		out.Child(1).Append(m.vals[id].v, m.vals[id].i)
	})
	out.EndList()
	return value{out.Finish(), 0}
}

// mergeMapAgg unites maps; the newer value of a key wins.
type mergeMapAgg struct{ aggBase }

func (a mergeMapAgg) agg(acc, in value) (value, error) {
	if acc.null() {
		return in, nil
	}
	if in.null() {
		return acc, nil
	}
	m := newEntryMap(a.typ)
	m.putAll(acc)
	m.putAll(in)
	return m.build(), nil
}

func (a mergeMapAgg) reversed(acc, in value) (value, error) { return a.agg(in, acc) }

// retract removes the keys of in.
func (a mergeMapAgg) retract(acc, in value) (value, error) {
	if acc.null() || in.null() {
		return acc, nil
	}
	if _, from, to := elements(in); from == to {
		return acc, nil
	}
	// Paimon puts into a new map what stays, so that removed keys do not count for its size.
	gone := newEntryMap(a.typ)
	gone.putAll(in)
	m := newEntryMap(a.typ)
	ch, from, to := elements(acc)
	for j := from; j < to; j++ {
		if gone.table.find(gone.keyOf(ch[0], j)) < 0 {
			m.put(ch[0], value{ch[1], j}, j)
		}
	}
	return m.build(), nil
}

// mergeMapKeyTimeAgg unites maps of rows; of a key the row with the greatest
// timestamp field wins, the older one on a tie. A null row removes the key, a
// row without timestamp is ignored.
type mergeMapKeyTimeAgg struct {
	aggBase
	ts int
}

func (a mergeMapKeyTimeAgg) agg(acc, in value) (value, error) {
	if acc.null() {
		return in, nil
	}
	if in.null() {
		return acc, nil
	}
	m := newEntryMap(a.typ)
	m.putAll(acc)
	ch, from, to := elements(in)
	rows := ch[1]
	for j := from; j < to; j++ {
		if rows.IsNull(j) {
			m.table.remove(m.keyOf(ch[0], j))
			continue
		}
		at := valueAt(rows.Children[a.ts], j)
		if at.null() {
			continue
		}
		if id := m.table.find(m.keyOf(ch[0], j)); id >= 0 {
			if old := m.vals[id]; !old.v.IsNull(old.i) {
				if was := valueAt(old.v.Children[a.ts], old.i); !was.null() && !a.later(at, was) {
					continue
				}
			}
		}
		m.put(ch[0], value{rows, j}, j)
	}
	return m.build(), nil
}

func (a mergeMapKeyTimeAgg) reversed(acc, in value) (value, error) { return a.agg(in, acc) }

// later compares timestamps: strings as Java does, by UTF-16 units, and other types by value.
func (a mergeMapKeyTimeAgg) later(x, y value) bool {
	if x.v.Kind == column.KindBytes {
		return compareUTF16(x.v.Bytes(x.i), y.v.Bytes(y.i)) > 0
	}
	return column.CompareRows(x.v, x.i, y.v, y.i) > 0
}

// compareUTF16 orders two UTF-8 strings by UTF-16 code units (String.compareTo).
func compareUTF16(a, b []byte) int {
	for len(a) > 0 && len(b) > 0 {
		ra, na := utf8.DecodeRune(a)
		rb, nb := utf8.DecodeRune(b)
		if ra != rb {
			ua, ub := ra, rb
			if ra > 0xffff {
				ua, _ = utf16.EncodeRune(ra)
			}
			if rb > 0xffff {
				ub, _ = utf16.EncodeRune(rb)
			}
			if ua != ub {
				return int(ua - ub)
			}
			return int(ra - rb) // same high surrogate
		}
		a, b = a[na:], b[nb:]
	}
	return len(a) - len(b)
}
