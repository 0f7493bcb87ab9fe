package evolution

import (
	"slices"

	"github.com/tributarydb/tributary/storage/cast"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// Mapping turns columns of a file into columns of a table. It is immutable
// and safe for concurrent use.
type Mapping struct {
	read     []schema.Field
	table    []schema.Field
	source   []int // position in read, -1 = null
	assemble []assembler
	identity bool
}

// assembler turns a vector of the file's (pruned) type into one of the
// table's type; nil = as it is.
type assembler func(*column.Vector) (*column.Vector, error)

// Map matches the wanted columns of a table to those of a file's schema, by
// field id. A type change that Paimon cannot cast is errs.Unsupported.
func Map(fileFields, tableFields []schema.Field) (*Mapping, error) {
	m := &Mapping{table: tableFields, source: make([]int, len(tableFields)), assemble: make([]assembler, len(tableFields)), identity: true}
	for i, want := range tableFields {
		m.source[i] = -1
		j := slices.IndexFunc(fileFields, func(f schema.Field) bool { return f.ID == want.ID })
		if j < 0 {
			m.identity = false
			continue
		}
		have := fileFields[j]
		t, a, err := build(have.Type, want.Type)
		if err != nil {
			return nil, errs.New(errs.ClassOf(err), "column '%s': %w", want.Name, err)
		}
		if t == nil {
			m.identity = false
			continue
		}
		if a != nil {
			m.identity = false
		}
		have.Type = t
		m.source[i] = len(m.read)
		m.assemble[i] = a
		m.read = append(m.read, have)
	}
	return m, nil
}

// Read lists the columns to read from the file: names and types as the file's
// own schema has them, nested rows without the fields that nobody wants.
func (m *Mapping) Read() []schema.Field { return m.read }

// Table lists the columns that Apply gives.
func (m *Mapping) Table() []schema.Field { return m.table }

// Source returns the position in Read of table column i, -1 where the file
// has no such column and it reads as null.
func (m *Mapping) Source(i int) int { return m.source[i] }

// Identity reports whether Apply changes nothing.
func (m *Mapping) Identity() bool { return m.identity }

// Apply turns a batch of the columns Read into one of the table's columns.
// Length, selection and base are kept; vectors are shared where nothing changes.
func (m *Mapping) Apply(b *column.Batch) (*column.Batch, error) {
	if m.identity {
		return b, nil
	}
	out := &column.Batch{N: b.N, Sel: b.Sel, Base: b.Base, Cols: make([]*column.Vector, len(m.table))}
	for i := range m.table {
		v, err := m.Column(i, b)
		if err != nil {
			return nil, err
		}
		out.Cols[i] = v
	}
	return out, nil
}

// Column gives table column i of a batch of the columns Read.
func (m *Mapping) Column(i int, b *column.Batch) (*column.Vector, error) {
	if m.source[i] < 0 {
		return schema.NewNulls(m.table[i].Type, b.N), nil
	}
	v := b.Cols[m.source[i]]
	if m.assemble[i] == nil {
		return v, nil
	}
	out, err := m.assemble[i](v)
	if err != nil {
		return nil, errs.New(errs.ClassOf(err), "column '%s': %w", m.table[i].Name, err)
	}
	return out, nil
}

// build returns the type to read from the file for a wanted type, and how to
// turn its vectors into the wanted ones. A nil type means that nothing of the
// file's column is wanted, so that it reads as null, as in Paimon.
func build(have, want *schema.Type) (*schema.Type, assembler, error) {
	if have.Root == want.Root {
		switch want.Root {
		case schema.Row:
			return buildRow(have, want)
		case schema.Array, schema.VectorType:
			if want.Root == schema.VectorType && have.Length != want.Length {
				return nil, nil, errs.Unsupportedf("a column of type %s cannot be read as %s", have, want)
			}
			t, a, err := build(have.Elem, want.Elem)
			if err != nil || t == nil {
				return nil, nil, err
			}
			c := *have
			c.Elem = t
			return &c, list(nil, a), nil
		case schema.Multiset:
			t, a, err := build(have.Elem, want.Elem)
			if err != nil || t == nil {
				return nil, nil, err
			}
			c := *have
			c.Elem = t
			return &c, list(nil, a), nil
		case schema.Map:
			if !have.Key.EqualIgnoreNull(want.Key) {
				return nil, nil, errs.Unsupportedf("a MAP with keys of type %s cannot be read with keys of type %s", have.Key, want.Key)
			}
			t, a, err := build(have.Elem, want.Elem)
			if err != nil || t == nil {
				return nil, nil, err
			}
			c := *have
			c.Elem = t
			return &c, list(keepKeys, a), nil
		}
	}
	if cast.Same(have, want) {
		return have, nil, nil
	}
	f, err := cast.New(have, want)
	if err != nil {
		return nil, nil, err
	}
	return have, assembler(f), nil
}

// keepKeys stands for the keys of a map, which never change.
var keepKeys = assembler(func(v *column.Vector) (*column.Vector, error) { return v, nil })

// list applies a to the last child of lists and maps; nil where that changes nothing.
func list(keys, a assembler) assembler {
	if a == nil {
		return nil
	}
	return func(v *column.Vector) (*column.Vector, error) {
		v = column.Flatten(v)
		out := *v
		out.Children = slices.Clone(v.Children)
		last := 0
		if keys != nil {
			last = 1
		}
		c, err := a(v.Children[last])
		if err != nil {
			return nil, err
		}
		out.Children[last] = c
		return &out, nil
	}
}

// buildRow matches the fields of rows by id.
func buildRow(have, want *schema.Type) (*schema.Type, assembler, error) {
	type part struct {
		source int
		typ    *schema.Type
		a      assembler
	}
	parts := make([]part, len(want.Fields))
	var read []schema.Field
	same := true
	for i, w := range want.Fields {
		parts[i] = part{source: -1, typ: w.Type}
		j := slices.IndexFunc(have.Fields, func(f schema.Field) bool { return f.ID == w.ID })
		if j < 0 {
			same = false
			continue
		}
		t, a, err := build(have.Fields[j].Type, w.Type)
		if err != nil {
			return nil, nil, errs.New(errs.ClassOf(err), "field '%s': %w", w.Name, err)
		}
		if t == nil {
			same = false
			continue
		}
		f := have.Fields[j]
		f.Type = t
		parts[i].source, parts[i].a = len(read), a
		read = append(read, f)
		same = same && a == nil
	}
	if len(read) == 0 {
		return nil, nil, nil
	}
	t := *have
	t.Fields = read
	if same {
		return &t, nil, nil
	}
	return &t, func(v *column.Vector) (*column.Vector, error) {
		v = column.Flatten(v)
		out := *v
		out.Children = make([]*column.Vector, len(parts))
		for i, p := range parts {
			if p.source < 0 {
				out.Children[i] = schema.NewNulls(p.typ, v.N)
				continue
			}
			out.Children[i] = v.Children[p.source]
			if p.a != nil {
				var err error
				if out.Children[i], err = p.a(v.Children[p.source]); err != nil {
					return nil, err
				}
			}
		}
		return &out, nil
	}, nil
}
