package avro

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// maxMillisInMicros is the greatest number of milliseconds that fits microseconds.
const maxMillisInMicros = math.MaxInt64 / 1000

// decodeFunc decodes one value into a builder of the requested type's kind.
type decodeFunc func(d *decoder, b *column.Builder) error

var errDecimal = errors.New("a decimal value does not fit the column's precision")

// nullable splits a union of null and one other type: the index of null (-1
// where there is none) and the other type.
func nullable(t *typ) (null int, other *typ, err error) {
	null = -1
	for i, b := range t.branches {
		switch {
		case b.shape == shapeNull:
			null = i
		case other == nil:
			other = b
		default:
			return 0, nil, errs.Unsupportedf("a %s is not read here", t)
		}
	}
	return null, other, nil
}

// planValue compiles the decoding of w as Paimon type t; name is for messages.
func planValue(w *typ, t *schema.Type, name string) (decodeFunc, error) {
	if w.shape == shapeUnion {
		null, other, err := nullable(w)
		if err != nil {
			return nil, errs.Unsupportedf("column %s: %w", name, err)
		}
		inner := decodeNull
		if other != nil {
			if inner, err = planValue(other, t, name); err != nil {
				return nil, err
			}
		}
		branches := int64(len(w.branches))
		return func(d *decoder, b *column.Builder) error {
			i, err := d.long()
			switch {
			case err != nil:
				return err
			case i < 0 || i >= branches:
				return errForm
			case i == int64(null):
				b.AppendNull()
				return nil
			}
			return inner(d, b)
		}, nil
	}
	if w.shape == shapeNull {
		return decodeNull, nil
	}
	var f decodeFunc
	var err error
	switch t.Root {
	case schema.Boolean:
		if w.shape == shapeBoolean {
			f = decodeBoolean
		}
	case schema.TinyInt, schema.SmallInt, schema.Int, schema.Date:
		if w.shape == shapeInt || w.shape == shapeLong {
			f = decodeInt
		}
	case schema.BigInt:
		if w.shape == shapeInt || w.shape == shapeLong {
			f = decodeLong
		}
	case schema.Time:
		f = planTime(w)
	case schema.Timestamp, schema.TimestampLTZ:
		f = planTimestamp(w, t)
	case schema.Float:
		if w.shape == shapeFloat {
			f = decodeFloat
		}
	case schema.Double:
		if w.shape == shapeDouble {
			f = decodeDouble
		}
	case schema.Decimal:
		f = planDecimal(w, t)
	case schema.Char, schema.Varchar, schema.Binary, schema.Varbinary, schema.Blob, schema.Geometry, schema.Geography:
		f = planBytes(w)
	case schema.Array, schema.VectorType:
		if w.shape == shapeArray {
			f, err = planArray(w, t, name)
		}
	case schema.Map, schema.Multiset:
		f, err = planMap(w, t, name)
	case schema.Row:
		if w.shape == shapeRecord {
			f, err = planRow(w, t, name)
		}
	}
	if err != nil {
		return nil, err
	}
	if f == nil {
		return nil, fmt.Errorf("column %s is stored as %s, which cannot be read as the table's type", name, w)
	}
	return f, nil
}

func decodeNull(_ *decoder, b *column.Builder) error {
	b.AppendNull()
	return nil
}

func decodeBoolean(d *decoder, b *column.Builder) error {
	v, err := d.take(1)
	if err != nil {
		return err
	}
	if v[0] > 1 {
		return errForm
	}
	b.AppendInt(int64(v[0]))
	return nil
}

func decodeInt(d *decoder, b *column.Builder) error {
	v, err := d.int()
	if err != nil {
		return err
	}
	b.AppendInt(int64(v))
	return nil
}

func decodeLong(d *decoder, b *column.Builder) error {
	v, err := d.long()
	if err != nil {
		return err
	}
	b.AppendInt(v)
	return nil
}

func decodeFloat(d *decoder, b *column.Builder) error {
	v, err := d.take(4)
	if err != nil {
		return err
	}
	b.AppendFloat(float64(math.Float32frombits(binary.LittleEndian.Uint32(v))))
	return nil
}

func decodeDouble(d *decoder, b *column.Builder) error {
	v, err := d.take(8)
	if err != nil {
		return err
	}
	b.AppendFloat(math.Float64frombits(binary.LittleEndian.Uint64(v)))
	return nil
}

// planTime reads milliseconds of the day, or a finer unit where a long says so.
func planTime(w *typ) decodeFunc {
	unit := int64(1)
	switch {
	case w.shape == shapeInt:
	case w.shape == shapeLong && w.logical == "time-micros":
		unit = 1000
	default:
		return nil
	}
	return func(d *decoder, b *column.Builder) error {
		v, err := d.long()
		if err != nil {
			return err
		}
		v /= unit
		if v < math.MinInt32 || v > math.MaxInt32 {
			return errForm
		}
		b.AppendInt(v)
		return nil
	}
}

// planTimestamp takes the unit from the logical type and else from the
// precision. Whether the name says "local" does not matter: Paimon's use of
// the two names is the reverse of Avro's, and the requested type tells.
func planTimestamp(w *typ, t *schema.Type) decodeFunc {
	if w.shape != shapeLong {
		return nil
	}
	unit := ""
	switch w.logical {
	case "timestamp-millis", "local-timestamp-millis":
		unit = "ms"
	case "timestamp-micros", "local-timestamp-micros":
		unit = "us"
	case "timestamp-nanos", "local-timestamp-nanos":
		unit = "ns"
	case "":
		unit = "us"
		if t.Precision <= 3 {
			unit = "ms"
		}
	}
	switch unit {
	case "ms":
		return func(d *decoder, b *column.Builder) error {
			v, err := d.long()
			if err != nil {
				return err
			}
			if v > maxMillisInMicros || v < -maxMillisInMicros {
				return errs.Unsupportedf("a timestamp of %d milliseconds is beyond what is represented here", v)
			}
			b.AppendTimestamp(v*1000, 0)
			return nil
		}
	case "us":
		return func(d *decoder, b *column.Builder) error {
			v, err := d.long()
			if err != nil {
				return err
			}
			b.AppendTimestamp(v, 0)
			return nil
		}
	case "ns":
		return func(d *decoder, b *column.Builder) error {
			v, err := d.long()
			if err != nil {
				return err
			}
			us := v / 1000
			if v%1000 < 0 {
				us--
			}
			b.AppendTimestamp(us, uint16(v-us*1000))
			return nil
		}
	}
	return nil
}

func planDecimal(w *typ, t *schema.Type) decodeFunc {
	if w.logical == "decimal" && w.scale != t.Scale {
		return nil
	}
	raw := rawBytes(w)
	if raw == nil {
		return nil
	}
	wide := t.Precision > schema.MaxCompactPrecision
	return func(d *decoder, b *column.Builder) error {
		v, err := raw(d)
		if err != nil {
			return err
		}
		x, ok := column.FromBigEndian(v)
		if !ok || !wide && !x.IsInt64() {
			return errDecimal
		}
		b.AppendInt128(x)
		return nil
	}
}

// rawBytes returns a function that reads bytes or a fixed, nil for other types.
func rawBytes(w *typ) func(*decoder) ([]byte, error) {
	switch w.shape {
	case shapeBytes, shapeString:
		return (*decoder).bytes
	case shapeFixed:
		size := w.size
		return func(d *decoder) ([]byte, error) { return d.take(size) }
	}
	return nil
}

func planBytes(w *typ) decodeFunc {
	if w.shape == shapeEnum {
		return func(d *decoder, b *column.Builder) error {
			i, err := d.long()
			if err != nil {
				return err
			}
			if i < 0 || i >= int64(len(w.symbols)) {
				return errForm
			}
			b.AppendString(w.symbols[i])
			return nil
		}
	}
	raw := rawBytes(w)
	if raw == nil {
		return nil
	}
	return func(d *decoder, b *column.Builder) error {
		v, err := raw(d)
		if err != nil {
			return err
		}
		b.AppendBytes(v)
		return nil
	}
}

// eachEntry calls f for every entry of an array or map.
func (d *decoder) eachEntry(f func() error) error {
	for {
		n, err := d.blockCount()
		if err != nil || n == 0 {
			return err
		}
		if err := d.count(n); err != nil {
			return err
		}
		for ; n > 0; n-- {
			if err := f(); err != nil {
				return err
			}
		}
	}
}

func planArray(w *typ, t *schema.Type, name string) (decodeFunc, error) {
	elem, err := planValue(w.elem, t.Elem, name)
	if err != nil {
		return nil, err
	}
	return func(d *decoder, b *column.Builder) error {
		child := b.Child(0)
		if err := d.eachEntry(func() error { return elem(d, child) }); err != nil {
			return err
		}
		b.EndList()
		return nil
	}, nil
}

// planMap reads an Avro map, or an array of records of a key and a value.
func planMap(w *typ, t *schema.Type, name string) (decodeFunc, error) {
	kinds := schema.ChildTypes(t)
	var key, value decodeFunc
	var err error
	var swapped bool
	switch {
	case w.shape == shapeMap:
		if key, err = planValue(&typ{shape: shapeString}, kinds[0], name); err != nil {
			return nil, err
		}
		if value, err = planValue(w.elem, kinds[1], name); err != nil {
			return nil, err
		}
	case w.shape == shapeArray:
		kv := w.elem
		if kv.shape == shapeUnion { // tolerated where no entry is null
			_, kv, err = nullable(kv)
			if err != nil || kv == nil {
				return nil, err
			}
		}
		if kv.shape != shapeRecord || len(kv.fields) != 2 {
			return nil, nil
		}
		k, v := kv.fields[0].typ, kv.fields[1].typ
		if kv.fields[0].name == "value" && kv.fields[1].name == "key" {
			k, v, swapped = v, k, true
		}
		if key, err = planValue(k, kinds[0], name); err != nil {
			return nil, err
		}
		if value, err = planValue(v, kinds[1], name); err != nil {
			return nil, err
		}
	default:
		return nil, nil
	}
	union := w.shape == shapeArray && w.elem.shape == shapeUnion
	return func(d *decoder, b *column.Builder) error {
		kb, vb := b.Child(0), b.Child(1)
		err := d.eachEntry(func() error {
			if union {
				br, err := d.branch(w.elem)
				if err != nil {
					return err
				}
				if br.shape == shapeNull {
					return errForm
				}
			}
			if swapped {
				if err := value(d, vb); err != nil {
					return err
				}
				return key(d, kb)
			}
			if err := key(d, kb); err != nil {
				return err
			}
			return value(d, vb)
		})
		if err != nil {
			return err
		}
		b.EndList()
		return nil
	}, nil
}

// step is what is done with one field of a record.
type step struct {
	skip   *typ // passed over where decode is nil
	decode []decodeFunc
	child  []int
}

// planSteps plans the fields of a record for the wanted fields, and lists
// those that the record lacks.
func planSteps(w *typ, want []schema.Field, prefix string) (steps []step, missing []int, err error) {
	steps = make([]step, len(w.fields))
	for i := range w.fields {
		steps[i].skip = w.fields[i].typ
	}
	for j := range want {
		found := false
		for i := range w.fields {
			if w.fields[i].name != want[j].Name {
				continue
			}
			f, err := planValue(w.fields[i].typ, want[j].Type, prefix+want[j].Name)
			if err != nil {
				return nil, nil, err
			}
			steps[i].decode = append(steps[i].decode, f)
			steps[i].child = append(steps[i].child, j)
			found = true
			break
		}
		if !found {
			missing = append(missing, j)
		}
	}
	return steps, missing, nil
}

// runSteps decodes a record; child returns the builder of a wanted field.
func runSteps(d *decoder, steps []step, child func(int) *column.Builder) error {
	for i := range steps {
		s := &steps[i]
		if len(s.decode) == 0 {
			if err := d.skip(s.skip, 0); err != nil {
				return err
			}
			continue
		}
		start := d.pos
		for k, f := range s.decode {
			d.pos = start // a field that is asked for twice is decoded twice
			if err := f(d, child(s.child[k])); err != nil {
				return err
			}
		}
	}
	return nil
}

func planRow(w *typ, t *schema.Type, name string) (decodeFunc, error) {
	steps, missing, err := planSteps(w, t.Fields, name+".")
	if err != nil {
		return nil, err
	}
	return func(d *decoder, b *column.Builder) error {
		if err := runSteps(d, steps, b.Child); err != nil {
			return err
		}
		for _, j := range missing {
			b.Child(j).AppendNull()
		}
		b.EndStruct()
		return nil
	}, nil
}
