package parquet

import (
	"fmt"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// variantPrimitive is a primitive type of the Variant encoding.
type variantPrimitive byte

const (
	variantNull           variantPrimitive = 0
	variantTrue           variantPrimitive = 1
	variantFalse          variantPrimitive = 2
	variantInt8           variantPrimitive = 3
	variantInt16          variantPrimitive = 4
	variantInt32          variantPrimitive = 5
	variantInt64          variantPrimitive = 6
	variantDouble         variantPrimitive = 7
	variantDecimal4       variantPrimitive = 8
	variantDecimal8       variantPrimitive = 9
	variantDecimal16      variantPrimitive = 10
	variantDate           variantPrimitive = 11
	variantTimestamp      variantPrimitive = 12
	variantTimestampNTZ   variantPrimitive = 13
	variantFloat          variantPrimitive = 14
	variantBinary         variantPrimitive = 15
	variantString         variantPrimitive = 16
	variantTimestampNanos variantPrimitive = 18
	variantTimestampNTZNs variantPrimitive = 19
	variantUUID           variantPrimitive = 20
)

// shredNode describes one level of a shredded VARIANT: a group of the optional
// columns value (what did not fit) and typed_value. See "Variant Shredding" of
// the Parquet format.
type shredNode struct {
	// value and typed are the children's places in the group's vector, -1 = absent.
	value, typed int
	// One of the following describes typed_value.
	prim   variantPrimitive
	scale  int
	elem   *shredNode
	fields []shredField
	object bool
}

type shredField struct {
	name string
	node *shredNode
}

var variantBytes = &schema.Type{Root: schema.Varbinary, Length: schema.MaxLength}

// addVariant plans a VARIANT group: value and metadata, or a shredded form
// from which the value is rebuilt.
func (p *plan) addVariant(n *node) error {
	meta := n.child("metadata")
	if meta == nil || n.logical.kind == logicalList || n.logical.kind == logicalMap {
		return mismatch(n, p.typ)
	}
	if n.child("typed_value") == nil {
		p.kind = planStruct
		for _, name := range []string{"value", "metadata"} {
			c := n.child(name)
			if c == nil {
				return mismatch(n, p.typ)
			}
			cp, err := planColumn(c, variantBytes)
			if err != nil {
				return err
			}
			p.children = append(p.children, cp)
		}
		return nil
	}
	// The metadata comes first: it is required, so its levels tell nulls for certain.
	shred, typ, err := shredGroup(n, schema.Field{Name: "metadata", Type: variantBytes})
	if err != nil {
		return err
	}
	child, err := planColumn(n, typ)
	if err != nil {
		return err
	}
	p.kind, p.shred, p.children = planVariant, shred, []*plan{child}
	return nil
}

// shredGroup describes a group of value and typed_value, and the ROW type that it is read as, whose first fields are given.
func shredGroup(n *node, before ...schema.Field) (*shredNode, *schema.Type, error) {
	s := &shredNode{value: -1, typed: -1}
	t := &schema.Type{Root: schema.Row, Fields: before}
	if n.isLeaf() {
		return nil, nil, fmt.Errorf("column %s is no shredded VARIANT", n.path)
	}
	if n.child("value") != nil {
		s.value = len(t.Fields)
		t.Fields = append(t.Fields, schema.Field{Name: "value", Type: variantBytes})
	}
	if typed := n.child("typed_value"); typed != nil {
		tt, err := s.setTyped(typed)
		if err != nil {
			return nil, nil, err
		}
		s.typed = len(t.Fields)
		t.Fields = append(t.Fields, schema.Field{Name: "typed_value", Type: tt})
	}
	return s, t, nil
}

// setTyped describes typed_value and returns the type that it is read as.
func (s *shredNode) setTyped(n *node) (*schema.Type, error) {
	if n.isLeaf() {
		return s.setPrimitive(n)
	}
	if n.logical.kind == logicalList {
		_, elem, ok := listOf(n)
		if !ok || elem.isLeaf() {
			return nil, fmt.Errorf("column %s is no shredded array", n.path)
		}
		e, t, err := shredGroup(elem)
		if err != nil {
			return nil, err
		}
		s.elem = e
		return &schema.Type{Root: schema.Array, Elem: t}, nil
	}
	s.object = true
	t := &schema.Type{Root: schema.Row}
	for _, c := range n.children {
		f, ft, err := shredGroup(c)
		if err != nil {
			return nil, err
		}
		s.fields = append(s.fields, shredField{name: c.name, node: f})
		t.Fields = append(t.Fields, schema.Field{Name: c.name, Type: ft})
	}
	return t, nil
}

func (s *shredNode) setPrimitive(n *node) (*schema.Type, error) {
	l := n.logical
	set := func(p variantPrimitive, root schema.Root) (*schema.Type, error) {
		s.prim = p
		return &schema.Type{Root: root, Length: schema.MaxLength, Precision: 6}, nil
	}
	switch {
	case n.typ == typeBoolean:
		return set(variantTrue, schema.Boolean)
	case l.kind == logicalDecimal:
		s.scale = int(l.scale)
		t := &schema.Type{Root: schema.Decimal, Precision: 38, Scale: s.scale}
		switch n.typ {
		case typeInt32:
			s.prim, t.Precision = variantDecimal4, 9
		case typeInt64:
			s.prim, t.Precision = variantDecimal8, 18
		default:
			s.prim = variantDecimal16
		}
		if s.scale < 0 || s.scale > 38 {
			return nil, fmt.Errorf("column %s has the scale %d", n.path, s.scale)
		}
		return t, nil
	case l.kind == logicalDate:
		return set(variantDate, schema.Date)
	case l.kind == logicalTimestamp && l.unit == unitNanos:
		if l.utc {
			return set(variantTimestampNanos, schema.TimestampLTZ)
		}
		return set(variantTimestampNTZNs, schema.Timestamp)
	case l.kind == logicalTimestamp:
		if l.utc {
			return set(variantTimestamp, schema.TimestampLTZ)
		}
		return set(variantTimestampNTZ, schema.Timestamp)
	case l.kind == logicalTime && n.typ == typeInt64:
		return nil, errs.Unsupportedf("column %s is a VARIANT's shredded TIME, which Paimon has not and which is not read here", n.path)
	case l.kind == logicalUUID:
		return set(variantUUID, schema.Varbinary)
	case l.kind == logicalString:
		return set(variantString, schema.Varchar)
	case n.typ == typeInt32 && l.bits == 8:
		return set(variantInt8, schema.TinyInt)
	case n.typ == typeInt32 && l.bits == 16:
		return set(variantInt16, schema.SmallInt)
	case n.typ == typeInt32:
		return set(variantInt32, schema.Int)
	case n.typ == typeInt64:
		return set(variantInt64, schema.BigInt)
	case n.typ == typeFloat:
		return set(variantFloat, schema.Float)
	case n.typ == typeDouble:
		return set(variantDouble, schema.Double)
	case n.typ == typeByteArray:
		return set(variantBinary, schema.Varbinary)
	}
	return nil, fmt.Errorf("column %s is shredded as %s, which no VARIANT value is", n.path, n.describe())
}

// assembleVariant reads the shredded columns and rebuilds the values.
func (p *plan) assembleVariant(rep, def uint8, n int) (*column.Vector, error) {
	in, err := p.children[0].assemble(rep, def, n)
	if err != nil {
		return nil, err
	}
	metadata := in.Children[0]
	values := column.NewBuilder(column.KindBytes)
	var b variantBuilder
	for i := range n {
		if in.IsNull(i) {
			values.AppendNull()
			continue
		}
		if metadata.IsNull(i) {
			return nil, errVariant
		}
		if err := b.setMetadata(metadata.Bytes(i)); err != nil {
			return nil, err
		}
		v, present, err := b.rebuild(nil, p.shred, in, i)
		if err != nil {
			return nil, err
		}
		if !present {
			v = []byte{byte(variantNull) << 2}
		}
		values.AppendBytes(v)
	}
	return &column.Vector{Kind: column.KindStruct, N: n, Valid: in.Valid, Children: []*column.Vector{values.Finish(), metadata}}, nil
}
