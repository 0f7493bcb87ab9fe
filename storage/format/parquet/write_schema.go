package parquet

import (
	pq "github.com/apache/arrow-go/v18/parquet"
	pqschema "github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// nestedIDBase and nestedIDStep make the ids of list elements and map keys and values (format section 2.2).
const (
	nestedIDBase = 536870911
	nestedIDStep = 1024
)

// noID is the field id of groups that have none.
const noID = -1

// stored says how the values of a leaf are stored.
type stored uint8

const (
	storedBool stored = iota
	storedInt32
	storedInt64
	storedInt32FromInt64 // DECIMAL of at most 9 digits
	storedFloat
	storedDouble
	storedBytes
	storedFixed  // DECIMAL of more than 18 digits
	storedMillis // of a timestamp
	storedMicros
	storedInt96
)

// place is a column or a part of one as it is written.
type place struct {
	typ      *schema.Type
	path     string
	required bool
	// def is the definition level of a present value, rep the repetition level of what is repeated here.
	def, rep int16
	children []*place
	// leaf is the number of the column chunk, -1 for groups.
	leaf   int
	stored stored
	width  int
}

// placeBuilder makes the file's schema and numbers its leaves.
type placeBuilder struct {
	leaves []*place
}

// decimalWidth is the least number of bytes that holds p digits.
func decimalWidth(p int) int {
	bits := [...]int{0, 4, 7, 10, 14, 17, 20, 24, 27, 30, 34, 37, 40, 44, 47, 50, 54, 57, 60, 64, 67, 70, 74, 77, 80, 84, 87, 90, 94, 97, 100, 103, 107, 110, 113, 117, 120, 123, 127}
	return (bits[p] + 1 + 7) / 8
}

// node makes the node of a type. named is the id of the enclosing named field, depth how deep below it the node is nested.
func (b *placeBuilder) node(name, path string, t *schema.Type, notNull bool, id int32, named, depth int, def, rep int16) (pqschema.Node, *place, error) {
	r := pq.Repetitions.Optional
	p := &place{typ: t, path: path, required: notNull, leaf: -1, def: def, rep: rep}
	if notNull {
		r = pq.Repetitions.Required
	} else {
		p.def++
	}
	leaf := func(phys pq.Type, l pqschema.LogicalType, width int, s stored) (pqschema.Node, *place, error) {
		p.leaf, p.stored, p.width = len(b.leaves), s, width
		b.leaves = append(b.leaves, p)
		if l == nil {
			n, err := pqschema.NewPrimitiveNode(name, r, phys, id, int32(width))
			return n, p, err
		}
		n, err := pqschema.NewPrimitiveNodeLogical(name, r, l, phys, width, id)
		return n, p, err
	}
	switch t.Root {
	case schema.Char, schema.Varchar:
		return leaf(pq.Types.ByteArray, pqschema.StringLogicalType{}, 0, storedBytes)
	case schema.Binary, schema.Varbinary, schema.Blob:
		return leaf(pq.Types.ByteArray, nil, 0, storedBytes)
	case schema.Boolean:
		return leaf(pq.Types.Boolean, nil, 0, storedBool)
	case schema.TinyInt:
		return leaf(pq.Types.Int32, pqschema.NewIntLogicalType(8, true), 0, storedInt32)
	case schema.SmallInt:
		return leaf(pq.Types.Int32, pqschema.NewIntLogicalType(16, true), 0, storedInt32)
	case schema.Int:
		return leaf(pq.Types.Int32, nil, 0, storedInt32)
	case schema.BigInt:
		return leaf(pq.Types.Int64, nil, 0, storedInt64)
	case schema.Float:
		return leaf(pq.Types.Float, nil, 0, storedFloat)
	case schema.Double:
		return leaf(pq.Types.Double, nil, 0, storedDouble)
	case schema.Date:
		return leaf(pq.Types.Int32, pqschema.DateLogicalType{}, 0, storedInt32)
	case schema.Time:
		return leaf(pq.Types.Int32, pqschema.NewTimeLogicalType(true, pqschema.TimeUnitMillis), 0, storedInt32)
	case schema.Decimal:
		l := pqschema.NewDecimalLogicalType(int32(t.Precision), int32(t.Scale))
		switch {
		case t.Precision <= 9:
			return leaf(pq.Types.Int32, l, 0, storedInt32FromInt64)
		case t.Precision <= schema.MaxCompactPrecision:
			return leaf(pq.Types.Int64, l, 0, storedInt64)
		}
		w := decimalWidth(t.Precision)
		return leaf(pq.Types.FixedLenByteArray, l, w, storedFixed)
	case schema.Timestamp, schema.TimestampLTZ:
		utc := t.Root == schema.TimestampLTZ
		switch {
		case t.Precision <= 3:
			return leaf(pq.Types.Int64, pqschema.NewTimestampLogicalType(utc, pqschema.TimeUnitMillis), 0, storedMillis)
		case t.Precision <= 6:
			return leaf(pq.Types.Int64, pqschema.NewTimestampLogicalType(utc, pqschema.TimeUnitMicros), 0, storedMicros)
		}
		return leaf(pq.Types.Int96, nil, 0, storedInt96)
	case schema.Variant:
		bin := &schema.Type{Root: schema.Varbinary, Length: schema.MaxLength}
		var fields pqschema.FieldList
		for i, part := range []string{"value", "metadata"} {
			n, c, err := b.node(part, path+"."+part, bin, true, int32(i), named, depth, p.def, rep)
			if err != nil {
				return nil, nil, err
			}
			fields, p.children = append(fields, n), append(p.children, c)
		}
		n, err := pqschema.NewGroupNode(name, r, fields, id)
		return n, p, err
	case schema.Row:
		var fields pqschema.FieldList
		for _, f := range t.Fields {
			n, c, err := b.node(f.Name, path+"."+f.Name, f.Type, f.Type.NotNull, int32(f.ID), f.ID, 1, p.def, rep)
			if err != nil {
				return nil, nil, err
			}
			fields, p.children = append(fields, n), append(p.children, c)
		}
		if len(fields) == 0 {
			return nil, nil, errs.Unsupportedf("column '%s' is a ROW without fields, which Parquet cannot store", path)
		}
		n, err := pqschema.NewGroupNode(name, r, fields, id)
		return n, p, err
	case schema.Array, schema.VectorType:
		p.rep = rep + 1
		elem, c, err := b.node("element", path+".element", t.Elem, t.Elem.NotNull, int32(nestedIDBase+nestedIDStep*named+depth), named, depth+1, p.def+1, p.rep)
		if err != nil {
			return nil, nil, err
		}
		p.children = append(p.children, c)
		list, err := pqschema.NewGroupNode("list", pq.Repetitions.Repeated, pqschema.FieldList{elem}, noID)
		if err != nil {
			return nil, nil, err
		}
		n, err := pqschema.NewGroupNodeLogical(name, r, pqschema.FieldList{list}, pqschema.NewListLogicalType(), id)
		return n, p, err
	case schema.Map, schema.Multiset:
		kt, vt := t.Key, t.Elem
		valueNotNull := false
		if t.Root == schema.Multiset {
			kt, vt, valueNotNull = t.Elem, &schema.Type{Root: schema.Int}, true
		} else {
			valueNotNull = vt.NotNull
		}
		p.rep = rep + 1
		key, kc, err := b.node("key", path+".key", kt, true, int32(nestedIDBase-nestedIDStep*named-depth), named, depth+1, p.def+1, p.rep)
		if err != nil {
			return nil, nil, err
		}
		val, vc, err := b.node("value", path+".value", vt, valueNotNull, int32(nestedIDBase+nestedIDStep*named+depth), named, depth+1, p.def+1, p.rep)
		if err != nil {
			return nil, nil, err
		}
		p.children = append(p.children, kc, vc)
		kv, err := pqschema.NewGroupNode("key_value", pq.Repetitions.Repeated, pqschema.FieldList{key, val}, noID)
		if err != nil {
			return nil, nil, err
		}
		n, err := pqschema.NewGroupNodeLogical(name, r, pqschema.FieldList{kv}, pqschema.MapLogicalType{}, id)
		return n, p, err
	}
	return nil, nil, errs.Unsupportedf("column '%s' has the type %s, which cannot be written to Parquet files here", path, t)
}

// fileSchema makes the schema of a file with the fields.
func fileSchema(fields []schema.Field) (*pqschema.GroupNode, []*place, *placeBuilder, error) {
	b := &placeBuilder{}
	var nodes pqschema.FieldList
	var places []*place
	for _, f := range fields {
		n, p, err := b.node(f.Name, f.Name, f.Type, f.Type.NotNull, int32(f.ID), f.ID, 1, 0, 0)
		if err != nil {
			return nil, nil, nil, err
		}
		nodes, places = append(nodes, n), append(places, p)
	}
	root, err := pqschema.NewGroupNode("paimon_schema", pq.Repetitions.Required, nodes, noID)
	return root, places, b, err
}
