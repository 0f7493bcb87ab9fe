package fileindex

import (
	"math"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// maxContainer bounds a container and the rows of an index: they are 32-bit numbers.
const maxContainer = math.MaxInt32

// indexBuilder makes one index from the values of a file's rows in order.
type indexBuilder interface {
	addNull()
	// addCode adds a value as keyCode gives it, addText a text.
	addCode(code int64)
	addText(b []byte)
	// finish returns the index; false where it is to be left out.
	finish() ([]byte, bool)
}

// buildColumn is an index being made.
type buildColumn struct {
	spec  Spec
	at    int          // the column in the batches
	t     *schema.Type // of the values
	k     keyKind
	build indexBuilder
}

// Builder makes the file indexes of one data file (DataFileIndexWriter). It is for one goroutine.
type Builder struct {
	columns []buildColumn
	rows    int64
}

// NewBuilder returns a builder of the indexes over those of the columns that are there; nil
// without any. Indexes of kinds that are not known here are left out: reading never needs
// them. A type that an index cannot hold is errs.Unsupported, a wrong option errs.Invalid; both name the column.
func NewBuilder(specs []Spec, fields []schema.Field) (*Builder, error) {
	b := &Builder{}
	for at, f := range fields {
		for _, s := range specs {
			if s.Column != f.Name {
				continue
			}
			t := f.Type
			if s.Nested {
				if t.Root != schema.Map || t.Key.Root != schema.Varchar && t.Key.Root != schema.Char {
					return nil, errs.Unsupportedf("option '%s%s%s' names '%s', but column '%s' is no MAP with text keys: it has the type %s", optionPrefix, s.Type, columnsSuffix, s.name(), f.Name, t)
				}
				t = t.Elem
			}
			c := buildColumn{spec: s, at: at, t: t, k: keyOf(t)}
			var err error
			if c.build, err = newIndexBuilder(&s, t, c.k); err != nil {
				return nil, err
			}
			if c.build != nil {
				b.columns = append(b.columns, c)
			}
		}
	}
	if len(b.columns) == 0 {
		return nil, nil
	}
	return b, nil
}

// newIndexBuilder returns the builder of an index over values of type t, nil for kinds not known.
func newIndexBuilder(s *Spec, t *schema.Type, k keyKind) (indexBuilder, error) {
	refuse := func() (indexBuilder, error) {
		return nil, errs.Unsupportedf("Column '%s' with type '%s' is not supported by '%s' index; take it out of the option '%s%s%s'", s.name(), t, s.Type, optionPrefix, s.Type, columnsSuffix)
	}
	binary := t.Root == schema.Binary || t.Root == schema.Varbinary
	long := t.Root == schema.Decimal && k == keyNone // more than 64 bits
	switch s.Type {
	case BloomFilter:
		if k == keyBool || k == keyDecimal || k == keyNone {
			return refuse()
		}
		return newBloomBuilder(s)
	case Bitmap:
		if k == keyDecimal || k == keyNone || binary {
			return refuse()
		}
		return newBitmapBuilder(s, k)
	case BSI:
		switch k {
		case keyInt8, keyInt16, keyInt32, keyInt64, keyDecimal, keyTime:
			return &bsiBuilder{}, nil
		}
		if long {
			return nil, nil
		}
		return refuse()
	case RangeBitmap:
		if long {
			return nil, nil
		}
		if k == keyNone || binary || lossy(t) {
			return refuse()
		}
		return newRangeBuilder(s, k)
	}
	return nil, nil
}

// Add adds the rows of a batch that count, the next rows of the file. Its columns are the
// builder's fields, which it does not keep. More rows than an index can have are errs.Unsupported.
func (b *Builder) Add(batch *column.Batch) error {
	n := batch.Rows()
	if b.rows += int64(n); b.rows > maxContainer {
		return errs.Unsupportedf("a data file with file indexes cannot have more than %d rows; set a smaller 'target-file-size'", maxContainer)
	}
	for i := range b.columns {
		c := &b.columns[i]
		v := batch.Cols[c.at]
		for k := range n {
			row := batch.Row(k)
			if c.spec.Nested {
				c.addUnderKey(v, row)
			} else {
				c.add(v, row)
			}
		}
	}
	return nil
}

func (c *buildColumn) add(v *column.Vector, row int) {
	switch {
	case v.IsNull(row):
		c.build.addNull()
	case c.k == keyText:
		c.build.addText(v.Bytes(row))
	default:
		c.build.addCode(keyCode(v, row, c.k, c.t))
	}
}

// addUnderKey adds the value under the index's key of a map, null where there is none.
func (c *buildColumn) addUnderKey(v *column.Vector, row int) {
	if !v.IsNull(row) {
		m, at := v.At(row)
		for j := int(m.Offsets[at]); j < int(m.Offsets[at+1]); j++ {
			if !m.Children[0].IsNull(j) && string(m.Children[0].Bytes(j)) == c.spec.Key {
				c.add(m.Children[1], j)
				return
			}
		}
	}
	c.build.addNull()
}

// Finish returns the container of the indexes; nil where no index is left. Where it is no
// bigger than option file-index.in-manifest-threshold it belongs into the file's manifest entry, else into a file `<data file>.index`.
func (b *Builder) Finish() ([]byte, error) {
	var list []Index
	// Those of one column or key of a map have to follow each other.
	done := make([]bool, len(b.columns))
	for i := range b.columns {
		name := b.columns[i].spec.name()
		for j := i; j < len(b.columns); j++ {
			c := &b.columns[j]
			if done[j] || c.spec.name() != name {
				continue
			}
			done[j] = true
			if data, ok := c.build.finish(); ok {
				list = append(list, Index{Column: name, Type: c.spec.Type, Data: data})
			}
			c.build = nil // the memory is not needed any more
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	return AppendContainer(nil, list)
}
