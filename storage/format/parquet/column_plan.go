package parquet

import (
	"fmt"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// planKind is the shape of a column to be read.
type planKind int8

const (
	planMissing planKind = iota // the file lacks it: nulls
	planLeaf
	planStruct
	planList    // and map: one or two children
	planVariant // shredded; an unshredded one is a struct
)

// plan says how a requested type is assembled from a node of the file.
type plan struct {
	kind planKind
	typ  *schema.Type
	// node is the outer node, whose maxDef tells a null from a value.
	node *node
	// inner is the repeated node of a list or map.
	inner    *node
	children []*plan
	conv     conversion
	// shred says how a shredded VARIANT is put together from its only child.
	shred *shredNode
	// leaf is the reader that carries the levels of this level: its own for a
	// leaf, that of the first leaf below for the others.
	leaf *nestedLeaf
}

// flat reports whether the plan is a column with one level entry a row.
func (p *plan) flat() bool {
	return p.kind == planLeaf && p.node.maxRep == 0 && p.node.maxDef <= 1
}

// planColumn plans the reading of n as t. Errors say what does not fit.
func planColumn(n *node, t *schema.Type) (*plan, error) {
	if n == nil {
		return &plan{kind: planMissing, typ: t}, nil
	}
	p := &plan{typ: t, node: n}
	switch t.Root {
	case schema.Array, schema.VectorType:
		inner, elem, ok := listOf(n)
		if !ok {
			return nil, mismatch(n, t)
		}
		p.kind, p.inner = planList, inner
		if inner == n { // a bare repeated field is never null
			p.node = nil
		}
		return p, p.add(elem, t.Elem)
	case schema.Map, schema.Multiset:
		kv := mapOf(n)
		if kv == nil {
			return nil, mismatch(n, t)
		}
		p.kind, p.inner = planList, kv
		if err := p.add(kv.children[0], schema.ChildTypes(t)[0]); err != nil {
			return nil, err
		}
		return p, p.add(kv.children[1], schema.ChildTypes(t)[1])
	case schema.Row:
		if n.isLeaf() || n.rep == repeated || n.logical.kind == logicalList || n.logical.kind == logicalMap {
			return nil, mismatch(n, t)
		}
		return p, p.addFields(n, t)
	case schema.Variant:
		if n.isLeaf() || n.rep == repeated {
			return nil, mismatch(n, t)
		}
		return p, p.addVariant(n)
	}
	if !n.isLeaf() || n.rep == repeated {
		return nil, mismatch(n, t)
	}
	return p, p.setLeaf(n, t)
}

func (p *plan) setLeaf(n *node, t *schema.Type) error {
	conv, ok := conversionOf(n, t)
	if !ok {
		return mismatch(n, t)
	}
	p.kind, p.conv = planLeaf, conv
	return nil
}

// add plans a child. elem may be the repeated node itself (a two-level list),
// whose own repetition is then the list's.
func (p *plan) add(n *node, t *schema.Type) error {
	if n == p.inner {
		c := &plan{typ: t, node: n}
		var err error
		switch {
		case t.Root == schema.Row && !n.isLeaf():
			err = c.addFields(n, t)
		case n.isLeaf() && !t.IsNested():
			err = c.setLeaf(n, t)
		default:
			err = mismatch(n, t)
		}
		if err != nil {
			return err
		}
		p.children = append(p.children, c)
		return nil
	}
	c, err := planColumn(n, t)
	if err != nil {
		return err
	}
	p.children = append(p.children, c)
	return nil
}

func (p *plan) addFields(n *node, t *schema.Type) error {
	p.kind = planStruct
	for i := range t.Fields {
		c, err := planColumn(n.child(t.Fields[i].Name), t.Fields[i].Type)
		if err != nil {
			return err
		}
		p.children = append(p.children, c)
	}
	return nil
}

// listOf finds the repeated node and the element node of a list, by the
// backward compatibility rules of the Parquet format.
func listOf(n *node) (inner, elem *node, ok bool) {
	if n.rep == repeated {
		return n, n, true
	}
	if n.isLeaf() || len(n.children) != 1 || n.children[0].rep != repeated {
		return nil, nil, false
	}
	inner = n.children[0]
	if inner.isLeaf() || len(inner.children) != 1 || inner.name == "array" || inner.name == n.name+"_tuple" {
		return inner, inner, true
	}
	if inner.children[0].rep == repeated {
		return inner, inner, true
	}
	return inner, inner.children[0], true
}

// mapOf finds the repeated group of key and value of a map, nil where n is none.
func mapOf(n *node) *node {
	if n.isLeaf() || n.rep == repeated || len(n.children) != 1 {
		return nil
	}
	kv := n.children[0]
	if kv.rep != repeated || len(kv.children) != 2 {
		return nil
	}
	return kv
}

// mismatch is the error of a stored type that cannot hold the asked one.
func mismatch(n *node, t *schema.Type) error {
	return fmt.Errorf("column %s is stored as %s, which cannot be read as %s", n.path, n.describe(), t.Brief())
}

func (n *node) describe() string {
	s := n.typ.String()
	if n.typ == typeFixed {
		s = fmt.Sprintf("%s(%d)", s, n.typeLength)
	}
	if n.rep == repeated {
		s = "repeated " + s
	}
	switch l := n.logical; l.kind {
	case logicalDecimal:
		s += fmt.Sprintf(" DECIMAL(%d,%d)", l.precision, l.scale)
	case logicalString:
		s += " STRING"
	case logicalList:
		s += " LIST"
	case logicalMap:
		s += " MAP"
	case logicalDate:
		s += " DATE"
	case logicalTime:
		s += " TIME"
	case logicalTimestamp:
		s += " TIMESTAMP"
	case logicalInteger:
		if l.unsigned {
			s += " unsigned"
		}
	case logicalVariant:
		s += " VARIANT"
	}
	return s
}

// bindLeaves gives every plan below p its level carrier and returns the leaf
// readers that must be filled.
func (p *plan) bindLeaves(leaves []*nestedLeaf) []*nestedLeaf {
	switch p.kind {
	case planMissing:
		return leaves
	case planLeaf:
		p.leaf = newNestedLeaf(p.node, p.conv, p.typ)
		return append(leaves, p.leaf)
	}
	start := len(leaves)
	for _, c := range p.children {
		leaves = c.bindLeaves(leaves)
	}
	if len(leaves) > start {
		p.leaf = leaves[start]
		return leaves
	}
	// No field is wanted, but the levels of some leaf tell the structure.
	n := p.node
	if n == nil {
		n = p.inner
	}
	if l := n.firstLeaf(); l != nil {
		p.leaf = newNestedLeaf(l, convNone, nil)
		leaves = append(leaves, p.leaf)
	}
	return leaves
}

// missing returns n nulls of the plan's type.
func (p *plan) missing(n int) *column.Vector { return schema.NewNulls(p.typ, n) }
