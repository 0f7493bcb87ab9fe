package planner

import (
	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// passes reports whether vectors of one type can be stored as another without a look at their values; NULLs apart.
func passes(from, to *schema.Type) bool {
	if from.IsNested() || to.IsNested() {
		return passesNested(from, to)
	}
	if from.EqualIgnoreNull(to) {
		return true
	}
	isText := func(t *schema.Type) bool { return t.Root == schema.Varchar || t.Root == schema.Char }
	switch to.Root {
	case schema.Varchar:
		return isText(from) && from.Length <= to.Length
	case schema.Varbinary:
		return (from.Root == schema.Binary || from.Root == schema.Varbinary) && from.Length <= to.Length
	case schema.SmallInt, schema.Int:
		return from.Root >= schema.TinyInt && from.Root <= to.Root
	case schema.Timestamp, schema.TimestampLTZ:
		return from.Root == to.Root && from.Precision <= to.Precision
	case schema.Decimal:
		// The vectors of DECIMALs up to 18 digits are of another kind than those of more.
		return from.Root == schema.Decimal && from.Scale == to.Scale && from.Precision <= to.Precision && schema.KindOf(from) == schema.KindOf(to)
	}
	return false
}

// passesNested is passes for types with children: these must not be NULL where the target's are not. The ids of ROW fields do not count.
func passesNested(from, to *schema.Type) bool {
	if from.Root != to.Root || from.Length != to.Length || len(from.Fields) != len(to.Fields) {
		return false
	}
	for i := range from.Fields {
		if from.Fields[i].Name != to.Fields[i].Name {
			return false
		}
	}
	a, b := schema.ChildTypes(from), schema.ChildTypes(to)
	for i := range a {
		if !passes(a[i], b[i]) || b[i].NotNull && !a[i].NotNull {
			return false
		}
	}
	return true
}

// convert appends the rows of a batch's column, a vector of type from, to the column.
func (w *cellWriter) convert(v *column.Vector, b *column.Batch, from *schema.Type, lenientNulls bool) error {
	n := b.Rows()
	first := w.m.row
	each := func(f func(i int) error) error {
		for k := range n {
			w.m.row = first + int64(k)
			i := b.Row(k)
			if v.IsNull(i) {
				if err := w.null(lenientNulls); err != nil {
					return err
				}
				continue
			}
			if err := f(i); err != nil {
				return err
			}
		}
		return nil
	}
	err := each(w.converter(v, from))
	w.m.row = first
	return err
}

// converter returns the function that appends a row, which is not null.
func (w *cellWriter) converter(v *column.Vector, from *schema.Type) func(i int) error {
	switch from.Root {
	case schema.Boolean, schema.TinyInt, schema.SmallInt, schema.Int, schema.BigInt:
		return func(i int) error { return w.int(v.Int(i)) }
	case schema.Decimal:
		if w.typ.Root == schema.Decimal {
			return func(i int) error { return w.unscaled(v.Dec128(i), from.Scale) }
		}
		return func(i int) error { return w.exact(types.Decimal(v.Dec128(i), from.Scale)) }
	case schema.Float:
		return func(i int) error { return w.float(v.Float(i), 32) }
	case schema.Double:
		return func(i int) error { return w.float(v.Float(i), 64) }
	case schema.Char, schema.Varchar, schema.Binary, schema.Varbinary, schema.Blob:
		if w.typ.Root == schema.Varchar && w.typ.Length == schema.MaxLength && (from.Root == schema.Varchar || from.Root == schema.Char) {
			return func(i int) error {
				p := v.Bytes(i)
				w.m.bytes += len(p)
				w.out.AppendBytes(p)
				return nil
			}
		}
		return func(i int) error { return w.text(string(v.Bytes(i))) }
	case schema.Date:
		return func(i int) error { return w.date(v.Int(i)) }
	case schema.Time:
		return func(i int) error { return w.timeOfDay(v.Int(i) * 1000) }
	case schema.Timestamp:
		return func(i int) error { return w.moment(v.Int(i), v.SubNanos(i), types.Fraction(from)) }
	case schema.TimestampLTZ:
		if w.typ.Root == schema.TimestampLTZ { // instants, whatever the zone
			return func(i int) error {
				micros, sub := roundMoment(v.Int(i), v.SubNanos(i), w.typ.Precision)
				w.out.AppendTimestamp(micros, sub)
				return nil
			}
		}
		return func(i int) error {
			return w.moment(types.WallMicros(v.Int(i), w.zone), v.SubNanos(i), types.Fraction(from))
		}
	case schema.Array, schema.VectorType, schema.Map, schema.Multiset, schema.Row, schema.Variant:
		return func(i int) error { return w.text(string(types.AppendJSON(nil, v, i, from, w.zone))) }
	}
	return func(i int) error { return w.append(types.Value(v, i, from, w.zone), nil) }
}
