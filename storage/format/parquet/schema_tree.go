package parquet

import (
	"errors"
	"fmt"
)

// Limits of a file's schema.
const (
	// maxSchemaDepth bounds nesting; levels must fit a byte with room to spare.
	maxSchemaDepth = 100
	// maxTypeLength bounds FIXED_LEN_BYTE_ARRAY.
	maxTypeLength = 1 << 24
)

var (
	errNoMagic   = errors.New("it does not end with the Parquet magic PAR1")
	errEncrypted = errors.New("it is encrypted")
)

// node is a node of a file's schema.
type node struct {
	element
	children []*node
	// maxDef and maxRep are the levels at which the node's own value is present.
	maxDef, maxRep uint8
	// leaf is the index of the leaf's column chunks, -1 for a group.
	leaf int
	// path is the dotted name, for messages.
	path string
}

func (n *node) isLeaf() bool { return n.leaf >= 0 }

// child finds a child by name.
func (n *node) child(name string) *node {
	for _, c := range n.children {
		if c.name == name {
			return c
		}
	}
	return nil
}

// firstLeaf returns the first leaf below (or at) n, nil for a group without any.
func (n *node) firstLeaf() *node {
	if n.isLeaf() {
		return n
	}
	for _, c := range n.children {
		if l := c.firstLeaf(); l != nil {
			return l
		}
	}
	return nil
}

// buildTree makes the schema tree of a footer's flat list and the list of its leaves.
func buildTree(elements []element) (root *node, leaves []*node, err error) {
	if len(elements) == 0 {
		return nil, nil, errors.New("it has no schema")
	}
	pos := 0
	var build func(parent *node, depth int) (*node, error)
	build = func(parent *node, depth int) (*node, error) {
		if pos >= len(elements) {
			return nil, errors.New("its schema has fewer elements than it says")
		}
		if depth > maxSchemaDepth {
			return nil, fmt.Errorf("its schema is nested deeper than %d levels", maxSchemaDepth)
		}
		n := &node{element: elements[pos], leaf: -1}
		pos++
		if parent != nil {
			n.maxDef, n.maxRep, n.path = parent.maxDef, parent.maxRep, n.name
			if parent.path != "" {
				n.path = parent.path + "." + n.name
			}
			switch n.rep {
			case required:
			case optional:
				n.maxDef++
			case repeated:
				n.maxDef++
				n.maxRep++
			default:
				return nil, fmt.Errorf("column %s has an unknown repetition", n.path)
			}
			if n.typ != typeNone && n.numChildren == 0 {
				if int(n.typ) >= len(physicalNames) {
					return nil, fmt.Errorf("column %s has the unknown type %d", n.path, n.typ)
				}
				if n.typ == typeFixed && (n.typeLength <= 0 || n.typeLength > maxTypeLength) {
					return nil, fmt.Errorf("column %s has the fixed length %d", n.path, n.typeLength)
				}
				n.leaf = len(leaves)
				leaves = append(leaves, n)
				return n, nil
			}
		}
		n.typ = typeNone
		if n.numChildren < 0 || int(n.numChildren) > len(elements)-pos {
			return nil, fmt.Errorf("its schema says that %q has %d fields", n.name, n.numChildren)
		}
		for range n.numChildren {
			c, err := build(n, depth+1)
			if err != nil {
				return nil, err
			}
			n.children = append(n.children, c)
		}
		return n, nil
	}
	root, err = build(nil, 0)
	if err != nil {
		return nil, nil, err
	}
	if pos != len(elements) {
		return nil, nil, errors.New("its schema has more elements than it says")
	}
	return root, leaves, nil
}
