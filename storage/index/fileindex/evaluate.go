package fileindex

import (
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
)

// reader answers a leaf; nil = it cannot tell, any row can match.
type reader interface {
	leaf(l *predicate.Leaf) (*roaring.Bitmap, error)
}

// Evaluate returns the rows of a file that can match p. The predicate's
// columns are indexes into fields, the columns of the file's own schema, and its
// literals are of their types. rows is the number of rows in the file. A damaged index is errs.Corrupt.
func (c *Container) Evaluate(p predicate.Predicate, fields []schema.Field, rows int64) (out Rows, err error) {
	if p == nil || rows < 0 || rows > 1<<31-1 {
		return Rows{}, nil
	}
	e := evaluation{c: c, fields: fields, rows: rows, readers: map[int]reader{}}
	set, err := e.predicate(p)
	return Rows{set}, err
}

type evaluation struct {
	c       *Container
	fields  []schema.Field
	rows    int64
	readers map[int]reader // by position in c.indexes
}

func (e *evaluation) predicate(p predicate.Predicate) (*roaring.Bitmap, error) {
	switch p := p.(type) {
	case *predicate.And:
		var out *roaring.Bitmap
		for _, x := range p.Children {
			s, err := e.predicate(x)
			if err != nil {
				return nil, err
			}
			if out = and(out, s); out != nil && out.IsEmpty() {
				return out, nil
			}
		}
		return out, nil
	case *predicate.Or:
		out := roaring.New()
		for _, x := range p.Children {
			s, err := e.predicate(x)
			if err != nil || s == nil {
				return nil, err
			}
			out.Or(s)
		}
		return out, nil
	case *predicate.Leaf:
		return e.leaf(p)
	}
	return nil, nil
}

// and intersects; nil = all rows.
func and(a, b *roaring.Bitmap) *roaring.Bitmap {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return roaring.And(a, b)
}

func (e *evaluation) leaf(l *predicate.Leaf) (*roaring.Bitmap, error) {
	if l.Column < 0 || l.Column >= len(e.fields) {
		return nil, nil
	}
	f := e.fields[l.Column]
	var out *roaring.Bitmap
	for i := range e.c.indexes {
		ix := &e.c.indexes[i]
		if ix.Column != f.Name {
			continue
		}
		var s *roaring.Bitmap
		if ix.Empty {
			if l.Op != predicate.IsNull {
				s = roaring.New()
			}
		} else {
			r, ok := e.readers[i]
			if !ok {
				var err error
				if r, err = open(ix, f.Type, e.rows); err != nil {
					return nil, e.c.fail(ix, err)
				}
				e.readers[i] = r
			}
			if r == nil {
				continue
			}
			var err error
			if s, err = guarded(r, l); err != nil {
				return nil, e.c.fail(ix, err)
			}
		}
		if out = and(out, s); out != nil && out.IsEmpty() {
			break
		}
	}
	return out, nil
}

// guarded turns a panic of the bitmap library over damaged bytes into an error.
func guarded(r reader, l *predicate.Leaf) (s *roaring.Bitmap, err error) {
	defer func() {
		if x := recover(); x != nil {
			s, err = nil, fmt.Errorf("its bitmaps are wrong: %v", x)
		}
	}()
	return r.leaf(l)
}

// open parses an index; nil where it is of a kind or over a type that is not evaluated.
func open(ix *Index, t *schema.Type, rows int64) (r reader, err error) {
	defer func() {
		if x := recover(); x != nil {
			r, err = nil, fmt.Errorf("its bitmaps are wrong: %v", x)
		}
	}()
	k := keyOf(t)
	if k == keyNone {
		return nil, nil
	}
	switch ix.Type {
	case BloomFilter:
		return openBloom(ix.Data, t)
	case Bitmap:
		if k == keyDecimal {
			return nil, nil
		}
		return openBitmap(ix.Data, t, rows)
	case BSI:
		switch k {
		case keyInt8, keyInt16, keyInt32, keyInt64, keyDecimal, keyTime:
			return openBSI(ix.Data, t, rows)
		}
	case RangeBitmap:
		return openRange(ix.Data, t, rows)
	}
	return nil, nil
}

// compareOps runs the comparisons of a leaf on an index that knows the rows of
// a key and of the keys above and below it.
type ordered interface {
	// eq returns the rows of a key.
	eq(k column.Scalar) (*roaring.Bitmap, error)
	// less returns the rows with a value below k, or at most k; nil = cannot tell.
	less(k column.Scalar, orEqual bool) (*roaring.Bitmap, error)
	// notNull returns the rows with a value.
	notNull() (*roaring.Bitmap, error)
	rowCount() int64
}

// answer evaluates a leaf on an ordered index over columns of type t.
func answer(x ordered, l *predicate.Leaf, t *schema.Type) (*roaring.Bitmap, error) {
	switch l.Op {
	case predicate.IsNull:
		nn, err := x.notNull()
		if err != nil {
			return nil, err
		}
		return roaring.Flip(nn, 0, uint64(x.rowCount())), nil
	case predicate.IsNotNull:
		return x.notNull()
	case predicate.Eq, predicate.In:
		return union(x, l.Literals, t)
	case predicate.Ne, predicate.NotIn:
		if lossy(t) {
			return nil, nil
		}
		s, err := union(x, l.Literals, t)
		if err != nil || s == nil {
			return nil, err
		}
		nn, err := x.notNull()
		if err != nil {
			return nil, err
		}
		return roaring.AndNot(nn, s), nil
	case predicate.Lt, predicate.Le, predicate.Gt, predicate.Ge:
		if lossy(t) || len(l.Literals) != 1 {
			return nil, nil
		}
		k, ok := toKey(l.Literals[0], t)
		if !ok {
			return nil, nil
		}
		below := l.Op == predicate.Lt || l.Op == predicate.Le
		k = zeroFor(k, !below)
		// a > k is "not a <= k", a >= k is "not a < k".
		s, err := x.less(k, l.Op == predicate.Le || l.Op == predicate.Gt)
		if err != nil || s == nil || below {
			return s, err
		}
		nn, err := x.notNull()
		if err != nil {
			return nil, err
		}
		return roaring.AndNot(nn, s), nil
	}
	return nil, nil
}

// union returns the rows of any of the literals.
func union(x ordered, lits []column.Scalar, t *schema.Type) (*roaring.Bitmap, error) {
	out := roaring.New()
	for _, l := range lits {
		k, ok := toKey(l, t)
		if !ok {
			return nil, nil
		}
		for _, k := range zeros(k) {
			s, err := x.eq(k)
			if err != nil || s == nil {
				return nil, err
			}
			out.Or(s)
		}
	}
	return out, nil
}
