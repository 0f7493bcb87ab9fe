package orc

import (
	"strings"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// newColumn makes the reader of the file's column id as type t, or says why
// they do not go together (format section 7.4).
func newColumn(env *readEnv, id int, t *schema.Type, path []string) (columnReader, error) {
	typ := &env.file.footer.types[id]
	base := colBase{env: env, typ: typ, path: strings.Join(path, ".")}
	base.vec.Kind = schema.KindOf(t)
	is := func(kinds ...kind) bool {
		for _, k := range kinds {
			if typ.kind == k {
				return true
			}
		}
		return false
	}
	if typ.kind == kindUnion {
		return nil, errs.Unsupportedf("file %s: column %s is a union, which Paimon has no type for", env.file.path, base.path)
	}
	switch t.Root {
	case schema.Boolean:
		if is(kindBoolean) {
			return &boolColumn{colBase: base}, nil
		}
	case schema.TinyInt:
		if is(kindByte) {
			return &byteColumn{colBase: base}, nil
		}
	case schema.SmallInt:
		if is(kindShort) {
			return &intColumn{colBase: base, width: 16}, nil
		}
	case schema.Int, schema.Time:
		if is(kindInt) {
			return &intColumn{colBase: base, width: 32}, nil
		}
	case schema.Date:
		if is(kindDate) {
			return &intColumn{colBase: base, width: 32}, nil
		}
	case schema.BigInt:
		if is(kindLong) {
			return &intColumn{colBase: base, width: 64}, nil
		}
	case schema.Float:
		if is(kindFloat) {
			return &floatColumn{colBase: base}, nil
		}
	case schema.Double:
		if is(kindDouble) {
			return &doubleColumn{colBase: base}, nil
		}
	case schema.Char, schema.Varchar:
		if is(kindString, kindVarchar, kindChar) {
			return &bytesColumn{colBase: base, trim: typ.kind == kindChar}, nil
		}
	case schema.Binary, schema.Varbinary, schema.Blob:
		if is(kindBinary) {
			return &bytesColumn{colBase: base}, nil
		}
	case schema.Decimal:
		if is(kindDecimal) && typ.precision == t.Precision && typ.scale == t.Scale && t.Precision <= maxDecimalPrecision && t.Scale <= t.Precision {
			return &decimalColumn{colBase: base, wide: base.vec.Kind == column.KindInt128}, nil
		}
	case schema.Timestamp:
		if is(kindTimestamp) {
			return &timeColumn{colBase: base}, nil
		}
	case schema.TimestampLTZ:
		if is(kindTimestamp, kindTimestampInstant) {
			return &timeColumn{colBase: base, ltz: true}, nil
		}
	case schema.Array, schema.Map, schema.Multiset:
		if t.Root == schema.Array && is(kindList) || t.Root != schema.Array && is(kindMap) {
			names := []string{"element"}
			if t.Root != schema.Array {
				names = []string{"key", "value"}
			}
			kids, err := newChildren(env, typ.children, schema.ChildTypes(t), names, path)
			if err != nil {
				return nil, err
			}
			base.kids = kids
			return &listColumn{colBase: base}, nil
		}
	case schema.Row:
		if is(kindStruct) {
			ids := make([]int, len(t.Fields))
			names := make([]string, len(t.Fields))
			byName := make(map[string]int, len(typ.names))
			for i, n := range typ.names {
				byName[n] = typ.children[i]
			}
			for i, f := range t.Fields {
				id, ok := byName[f.Name]
				if !ok {
					return nil, errs.Corruptf("file %s: column %s has no field %s, which the table's schema of the file has", env.file.path, base.path, f.Name)
				}
				ids[i], names[i] = id, f.Name
			}
			kids, err := newChildren(env, ids, schema.ChildTypes(t), names, path)
			if err != nil {
				return nil, err
			}
			base.kids = kids
			return &structColumn{colBase: base}, nil
		}
	default:
		return nil, errs.Unsupportedf("file %s: column %s: Paimon stores no %s in ORC files", env.file.path, base.path, t.Brief())
	}
	return nil, errs.Corruptf("file %s: column %s is %s in the file, but %s in the table's schema of it", env.file.path, base.path, typ, t.Brief())
}

func newChildren(env *readEnv, ids []int, types []*schema.Type, names, path []string) ([]columnReader, error) {
	out := make([]columnReader, len(ids))
	for i, id := range ids {
		r, err := newColumn(env, id, types[i], append(path[:len(path):len(path)], names[i]))
		if err != nil {
			return nil, err
		}
		out[i] = r
	}
	return out, nil
}
