package read

import (
	"context"
	"slices"
	"sort"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/schema"
)

// KeySet is a list of trimmed primary keys in ascending order: those whose rows are wanted of files.
type KeySet struct {
	values [][]column.Scalar
	n      int
}

// NewKeySet returns the set of ascending keys: a vector of a kind for each column of the trimmed key, without nulls.
func NewKeySet(keys []*column.Vector) *KeySet {
	s := &KeySet{}
	for _, v := range keys {
		s.n = v.N
		list := make([]column.Scalar, v.N)
		for i := range list {
			list[i] = column.ScalarAt(v, i)
		}
		s.values = append(s.values, list)
	}
	return s
}

// Len is the number of keys.
func (s *KeySet) Len() int { return s.n }

// AnyBetween reports whether one of the keys k is lo <= k <= hi.
func (s *KeySet) AnyBetween(lo, hi []column.Scalar) bool {
	k := sort.Search(s.n, func(k int) bool { return s.compare(k, lo) >= 0 })
	return k < s.n && s.compare(k, hi) <= 0
}

// compare orders key k and another one as lsm.CompareKeys does.
func (s *KeySet) compare(k int, key []column.Scalar) int {
	for i, v := range s.values {
		if i >= len(key) {
			return 1
		}
		if c := v[k].Compare(key[i]); c != 0 {
			return c
		}
	}
	return 0
}

// predicate is the condition that a row's key, in columns, is one of the set.
func (s *KeySet) predicate(columns []int) *predicate.Keys {
	return &predicate.Keys{Columns: columns, Values: s.values}
}

// over passes the rows whose key, in columns, is one of the set, and no other.
func (s *KeySet) over(r relation.Reader, columns []int) relation.Reader {
	sel := predicate.NewSelector(s.predicate(columns))
	var buf []uint16
	return &mapReader{in: r, f: func(_ context.Context, b *column.Batch) (*column.Batch, error) {
		for i, c := range columns {
			if len(s.values[i]) > 0 && b.Cols[c].Kind != s.values[i][0].Kind {
				return nil, errs.Corruptf("key column %d has kind %d in one file and kind %d in another", i, s.values[i][0].Kind, b.Cols[c].Kind)
			}
		}
		kept := sel.Select(b, nil, buf)
		buf = kept[:0]
		switch len(kept) {
		case 0:
			return nil, nil
		case b.Rows():
			return b, nil
		}
		out := *b
		out.Sel = kept
		return &out, nil
	}}
}

// OpenKeys reads the rows of a file whose keys are of the set, and no other, in their order in the file: the columns of w, which has
// those of the trimmed key, then row kind, sequence number and row id as far as wanted. Retracts are kept. As far as the file's statistics and page
// index tell where the keys may be, the rest is not read. keys nil = all rows.
func (h *Handles) OpenKeys(ctx context.Context, s *scan.Split, f *scan.File, w Want, keys *KeySet) (relation.Reader, error) {
	m := &fileMorsel{h: h, split: s, file: f, want: w}
	if keys == nil {
		return m.Open(ctx)
	}
	table, within := keyColumns(s.Source.Schema, w.Columns)
	m.want.Filter = predicate.NewAnd(w.Filter, keys.predicate(table))
	r, err := m.Open(ctx)
	if err != nil {
		return nil, err
	}
	return keys.over(r, within), nil
}

// keyColumns are the columns of the trimmed key: their indexes in the table, and among columns of it.
func keyColumns(s *schema.TableSchema, columns []int) (table, within []int) {
	for _, f := range s.TrimmedKeyFields() {
		c := s.Index(f.Name)
		table, within = append(table, c), append(within, slices.Index(columns, c))
	}
	return table, within
}
