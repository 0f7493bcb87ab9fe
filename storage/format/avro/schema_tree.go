package avro

import (
	"fmt"
	"strings"

	"github.com/twmb/avro"
)

// maxSchemaBytes bounds the text of a file's schema.
const maxSchemaBytes = 16 << 20

// shape is the form of an Avro type's bytes.
type shape int8

const (
	shapeNull shape = iota
	shapeBoolean
	shapeInt
	shapeLong
	shapeFloat
	shapeDouble
	shapeBytes
	shapeString
	shapeFixed
	shapeEnum
	shapeArray
	shapeMap
	shapeRecord
	shapeUnion
)

var shapes = map[string]shape{
	"null": shapeNull, "boolean": shapeBoolean, "int": shapeInt, "long": shapeLong, "float": shapeFloat, "double": shapeDouble,
	"bytes": shapeBytes, "string": shapeString, "fixed": shapeFixed, "enum": shapeEnum, "array": shapeArray, "map": shapeMap, "record": shapeRecord,
}

// typ is a type of the writer's schema, with names resolved; it may be recursive.
type typ struct {
	shape   shape
	logical string
	scale   int
	// size of a fixed.
	size int
	// symbols of an enum.
	symbols []string
	// elem is the element of an array, the value of a map.
	elem *typ
	// branches of a union.
	branches []*typ
	fields   []field
}

type field struct {
	name string
	typ  *typ
}

// field finds a field of a record by name.
func (t *typ) field(name string) *typ {
	for i := range t.fields {
		if t.fields[i].name == name {
			return t.fields[i].typ
		}
	}
	return nil
}

func (t *typ) String() string {
	for name, s := range shapes {
		if s == t.shape {
			if t.logical != "" {
				return name + " " + t.logical
			}
			return name
		}
	}
	parts := make([]string, len(t.branches))
	for i, b := range t.branches {
		parts[i] = b.String()
	}
	return "union of " + strings.Join(parts, ", ")
}

// parseSchema parses the schema of a file's header.
func parseSchema(text []byte) (*typ, error) {
	if len(text) > maxSchemaBytes {
		return nil, fmt.Errorf("its schema has %d bytes", len(text))
	}
	s, err := avro.Parse(string(text), avro.WithLaxNames(nil))
	if err != nil {
		return nil, fmt.Errorf("its schema is wrong: %w", err)
	}
	c := converter{named: map[string]*typ{}}
	return c.convert(s.Root(), "")
}

type converter struct{ named map[string]*typ }

func fullName(n *avro.SchemaNode) string {
	if n.Namespace == "" || strings.Contains(n.Name, ".") {
		return n.Name
	}
	return n.Namespace + "." + n.Name
}

func (c *converter) convert(n *avro.SchemaNode, space string) (*typ, error) {
	if len(n.Branches) > 0 || n.Type == "union" {
		t := &typ{shape: shapeUnion}
		for i := range n.Branches {
			b, err := c.convert(&n.Branches[i], space)
			if err != nil {
				return nil, err
			}
			t.branches = append(t.branches, b)
		}
		return t, nil
	}
	s, ok := shapes[n.Type]
	if !ok {
		for _, name := range []string{n.Type, space + "." + n.Type} {
			if t := c.named[name]; t != nil {
				return t, nil
			}
		}
		return nil, fmt.Errorf("its schema refers to the unknown type %q", n.Type)
	}
	t := &typ{shape: s, logical: n.LogicalType, scale: n.Scale, size: n.Size, symbols: n.Symbols}
	switch s {
	case shapeFixed, shapeEnum, shapeRecord:
		c.named[fullName(n)] = t
	}
	var err error
	switch s {
	case shapeArray:
		if n.Items == nil {
			return nil, fmt.Errorf("its schema has an array without items")
		}
		t.elem, err = c.convert(n.Items, space)
	case shapeMap:
		if n.Values == nil {
			return nil, fmt.Errorf("its schema has a map without values")
		}
		t.elem, err = c.convert(n.Values, space)
	case shapeRecord:
		for i := range n.Fields {
			f, ferr := c.convert(&n.Fields[i].Type, n.Namespace)
			if ferr != nil {
				return nil, ferr
			}
			t.fields = append(t.fields, field{name: n.Fields[i].Name, typ: f})
		}
	}
	return t, err
}
