package orc

import (
	"strconv"
	"strings"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

const (
	// fieldIDAttribute is the attribute of types that holds Paimon's field id (org.apache.paimon.format.orc.OrcTypeUtil).
	fieldIDAttribute = "paimon.id"
	// nestedIDBase and nestedIDStep make the ids of list elements and map keys and values (format section 2.2).
	nestedIDBase = 536870911
	nestedIDStep = 1024
)

// typeNode is a type of the file's schema as it is written.
type typeNode struct {
	kind             kind
	kids             []uint64
	names            []string
	length           int
	precision, scale int
	// fieldID is Paimon's id; the root has none.
	fieldID string
	// last is the greatest id below.
	last int
}

func (t *typeNode) append(dst []byte) []byte {
	m := appendUint(nil, 1, uint64(t.kind))
	m = appendPacked(m, 2, t.kids)
	for _, n := range t.names {
		m = appendBytes(m, 3, []byte(n))
	}
	if t.length > 0 {
		m = appendUint(m, 4, uint64(t.length))
	}
	if t.kind == kindDecimal {
		m = appendUint(appendUint(m, 5, uint64(t.precision)), 6, uint64(t.scale))
	}
	if t.fieldID != "" {
		m = appendBytes(m, 7, appendBytes(appendBytes(nil, 1, []byte(fieldIDAttribute)), 2, []byte(t.fieldID)))
	}
	return appendBytes(dst, 4, m)
}

// countTypes is the number of types that a type makes.
func countTypes(t *schema.Type) int {
	n := 1
	for _, k := range schema.ChildTypes(t) {
		n += countTypes(k)
	}
	return n
}

// schemaBuilder makes the types of a file and their writers.
type schemaBuilder struct {
	f     *fileWriter
	types []typeNode
}

// unsupported refuses a type.
func unsupported(path string, t *schema.Type) error {
	return errs.Unsupportedf("column '%s' has the type %s, which ORC files cannot store; use 'file.format' = 'parquet'", path, t.Kindless())
}

// add makes the writer of a type. named is the id of the enclosing named field, depth how deep below it the type is.
func (b *schemaBuilder) add(path string, t *schema.Type, fieldID string, named, depth int) (columnWriter, error) {
	id := len(b.types)
	b.types = append(b.types, typeNode{fieldID: fieldID})
	w, n := flatWriter(t)
	var err error
	var names []string
	var ids []int // of the children
	child := func(name string, ct *schema.Type, fid string, named, depth int) error {
		ids = append(ids, len(b.types))
		k, err := b.add(path+"."+name, ct, fid, named, depth)
		if err != nil {
			return err
		}
		c := w.base()
		c.kids = append(c.kids, k)
		return nil
	}
	kids := schema.ChildTypes(t)
	switch t.Root {
	case schema.Array:
		n.kind, w = kindList, &listWriter{}
		err = child("element", kids[0], strconv.Itoa(nestedIDBase+nestedIDStep*named+depth), named, depth+1)
	case schema.Map, schema.Multiset:
		n.kind, w = kindMap, &listWriter{}
		if err = child("key", kids[0], strconv.Itoa(nestedIDBase-nestedIDStep*named-depth), named, depth+1); err == nil {
			err = child("value", kids[1], strconv.Itoa(nestedIDBase+nestedIDStep*named+depth), named, depth+1)
		}
	case schema.Row:
		n.kind, w = kindStruct, &structWriter{}
		for _, f := range t.Fields {
			names = append(names, f.Name)
			if err = child(f.Name, f.Type, strconv.Itoa(f.ID), f.ID, 1); err != nil {
				break
			}
		}
	default:
		if w == nil {
			return nil, unsupported(path, t)
		}
	}
	if err != nil {
		return nil, err
	}
	for _, k := range ids {
		n.kids = append(n.kids, uint64(k))
	}
	n.names, n.fieldID, n.last = names, fieldID, len(b.types)-1
	b.types[id] = n
	w.base().init(b.f, id, n.kind, n.scale, path, t.NotNull)
	return w, nil
}

// flatWriter is the writer and the type of a column without columns below it; w is nil for others.
func flatWriter(t *schema.Type) (w columnWriter, n typeNode) {
	switch t.Root {
	case schema.Boolean:
		return &boolWriter{}, typeNode{kind: kindBoolean}
	case schema.TinyInt:
		return &tinyWriter{}, typeNode{kind: kindByte}
	case schema.SmallInt:
		return &numberWriter{}, typeNode{kind: kindShort}
	case schema.Int, schema.Time:
		return &numberWriter{}, typeNode{kind: kindInt}
	case schema.BigInt:
		return &numberWriter{}, typeNode{kind: kindLong}
	case schema.Date:
		return &numberWriter{}, typeNode{kind: kindDate}
	case schema.Float:
		return &floatWriter{}, typeNode{kind: kindFloat}
	case schema.Double:
		return &floatWriter{}, typeNode{kind: kindDouble}
	case schema.Decimal:
		return &decimalWriter{scale: t.Scale}, typeNode{kind: kindDecimal, precision: t.Precision, scale: t.Scale}
	case schema.Timestamp:
		return &timeWriter{}, typeNode{kind: kindTimestamp}
	case schema.TimestampLTZ:
		return &timeWriter{}, typeNode{kind: kindTimestampInstant}
	case schema.Char:
		return &stringWriter{limit: t.Length, pad: true}, typeNode{kind: kindChar, length: t.Length}
	case schema.Varchar:
		if t.Length == schema.MaxLength {
			return &stringWriter{}, typeNode{kind: kindString}
		}
		return &stringWriter{limit: t.Length}, typeNode{kind: kindVarchar, length: t.Length}
	case schema.Binary, schema.Varbinary, schema.Blob:
		return &binaryWriter{}, typeNode{kind: kindBinary}
	}
	return nil, typeNode{}
}

// eachColumn calls f for a writer and those below it, in the order of their ids.
func eachColumn(w columnWriter, f func(columnWriter)) {
	f(w)
	for _, k := range w.base().kids {
		eachColumn(k, f)
	}
}

// columnsNamed marks the types that names of an option stand for, with all below
// them (org.apache.orc.OrcUtils.includeColumns): a.b of rows, _elem of lists, _key and _value of maps, numbers.
func columnsNamed(types []typeNode, key string, names []string) ([]bool, error) {
	out := make([]bool, len(types))
	for _, name := range names {
		id, ok := findType(types, name)
		if !ok {
			return nil, errs.Invalidf("option '%s' names the column '%s', which is not in the file", key, name)
		}
		for i := id; i <= types[id].last; i++ {
			out[i] = true
		}
	}
	return out, nil
}

func findType(types []typeNode, name string) (id int, ok bool) {
	for i, n := range types[0].names {
		if n == name {
			return int(types[0].kids[i]), true
		}
	}
	if n, err := strconv.ParseUint(name, 10, 31); err == nil && int(n) < len(types) {
		return int(n), true
	}
	for part := range strings.SplitSeq(name, ".") {
		t, next := &types[id], -1
		part = strings.Trim(part, "`")
		switch t.kind {
		case kindStruct:
			for i, n := range t.names {
				if n == part {
					next = i
				}
			}
		case kindList:
			if part == "_elem" {
				next = 0
			}
		case kindMap:
			switch part {
			case "_key":
				next = 0
			case "_value":
				next = 1
			}
		}
		if next < 0 {
			return 0, false
		}
		id = int(t.kids[next])
	}
	return id, true
}
