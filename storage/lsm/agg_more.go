package lsm

import (
	"math"
	"strings"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/lsm/sketch"
	"github.com/tributarydb/tributary/storage/schema"
)

// makeAggregatorMore makes the functions on strings, bytes and nested types.
func (e *Engine) makeAggregatorMore(f *schema.Field, base aggBase, misfit func(string) error) (aggregator, error) {
	t := f.Type
	switch base.name {
	case aggListagg:
		if t.Root != schema.Varchar {
			return nil, misfit("VarCharType")
		}
		a := listaggAgg{aggBase: base, delimiter: []byte(",")}
		if d, ok := e.opts[fieldKey(f.Name, fieldDelimiter)]; ok {
			a.delimiter = []byte(d)
		}
		var err error
		a.distinct, err = e.opts.fieldBool(f.Name, fieldDistinct)
		return a, err
	case aggCollect:
		if t.Root != schema.Array {
			return nil, misfit("Array")
		}
		distinct, err := e.opts.fieldBool(f.Name, fieldDistinct)
		return collectAgg{base, distinct, t.Elem}, err
	case aggMergeMap:
		if t.Root != schema.Map {
			return nil, misfit("MAP")
		}
		return mergeMapAgg{base}, nil
	case aggMergeMapKeyTime:
		return e.makeKeyTime(f, base, misfit)
	case aggNestedUpdate, aggNestedPartial:
		return e.makeNested(f, base, misfit)
	case aggThetaSketch, aggHLLSketch, aggRoaring32, aggRoaring64:
		if t.Root != schema.Varbinary {
			return nil, misfit("VarBinaryType")
		}
		return unionAgg{base, map[string]func(a, b []byte) ([]byte, error){
			aggThetaSketch: sketch.UnionTheta, aggHLLSketch: sketch.UnionHLL,
			aggRoaring32: sketch.UnionRoaring32, aggRoaring64: sketch.UnionRoaring64,
		}[base.name]}, nil
	}
	return nil, errs.Invalidf("Use unsupported aggregation: %s or spell aggregate function incorrectly! (column '%s')", base.name, f.Name)
}

func (e *Engine) makeKeyTime(f *schema.Field, base aggBase, misfit func(string) error) (aggregator, error) {
	t := f.Type
	if t.Root != schema.Map || t.Elem.Root != schema.Row {
		return nil, misfit("MAP of ROW")
	}
	if len(t.Elem.Fields) < 2 {
		return nil, errs.Invalidf("ROW type for field '%s' must have at least 2 fields, but found %d", f.Name, len(t.Elem.Fields))
	}
	ts := len(t.Elem.Fields) - 1
	if name, ok := e.opts[fieldKey(f.Name, fieldTimestamp)]; ok {
		if ts = nestedField(t.Elem, name); ts < 0 {
			return nil, errs.Invalidf("Timestamp field '%s' not found in ROW type for field '%s'.", name, f.Name)
		}
	}
	if t.Elem.Fields[ts].Type.IsNested() {
		return nil, errs.Invalidf("Timestamp field '%s' of column '%s' has a type without an order.", t.Elem.Fields[ts].Name, f.Name)
	}
	return mergeMapKeyTimeAgg{base, ts}, nil
}

func nestedField(row *schema.Type, name string) int {
	for i := range row.Fields {
		if row.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

// makeNested makes nested_update and nested_partial_update.
func (e *Engine) makeNested(f *schema.Field, base aggBase, misfit func(string) error) (aggregator, error) {
	t := f.Type
	if t.Root != schema.Array || t.Elem.Root != schema.Row {
		return nil, misfit("Array<Row>")
	}
	lookup := func(option string) (fields []int, types []*schema.Type, err error) {
		for _, n := range e.opts.list(fieldKey(f.Name, option)) {
			i := nestedField(t.Elem, n)
			if i < 0 {
				return nil, nil, errs.Invalidf("option '%s' names field '%s', which the rows of column '%s' do not have", fieldKey(f.Name, option), n, f.Name)
			}
			fields, types = append(fields, i), append(types, t.Elem.Fields[i].Type)
		}
		return fields, types, nil
	}
	fields, types, err := lookup(fieldNestedKey)
	if err != nil {
		return nil, err
	}
	var key *nestedKey
	if len(fields) > 0 {
		key = &nestedKey{fields: fields, types: types}
	}
	strategy, hasStrategy := e.opts[fieldKey(f.Name, fieldNestedNulls)]
	if hasStrategy {
		if key == nil {
			return nil, errs.Invalidf("Option 'fields.<field-name>.nested-key-null-strategy' requires 'fields.<field-name>.nested-key' to be configured. (column '%s')", f.Name)
		}
		switch strings.ToLower(strategy) {
		case "merge":
		case "ignore":
			key.nulls = ignoreNullKeys
		case "error":
			key.nulls = refuseNullKeys
		default:
			return nil, errs.Invalidf("option '%s' is '%s'; expected merge, ignore or error", fieldKey(f.Name, fieldNestedNulls), strategy)
		}
	}
	if base.name == aggNestedPartial {
		if key == nil {
			return nil, errs.Invalidf("aggregate function '%s' of column '%s' needs option '%s'", base.name, f.Name, fieldKey(f.Name, fieldNestedKey))
		}
		return nestedPartialAgg{base, t.Elem, key}, nil
	}
	sequence, seqTypes, err := lookup(fieldNestedSequence)
	if err != nil {
		return nil, err
	}
	for _, st := range seqTypes {
		if st.IsNested() {
			return nil, errs.Invalidf("option '%s' names a field of a type without an order", fieldKey(f.Name, fieldNestedSequence))
		}
	}
	if len(sequence) > 0 && key == nil {
		return nil, errs.Invalidf("Option 'fields.<field-name>.nested-sequence-field' requires 'fields.<field-name>.nested-key' to be configured. (column '%s')", f.Name)
	}
	limit, err := e.opts.fieldInt(f.Name, fieldCountLimit, math.MaxInt32)
	return nestedUpdateAgg{base, t.Elem, key, sequence, limit}, err
}

// unionAgg unites serialised sets.
type unionAgg struct {
	aggBase
	union func(a, b []byte) ([]byte, error)
}

func (a unionAgg) agg(acc, in value) (value, error) {
	if acc.null() {
		return in, nil
	}
	if in.null() {
		return acc, nil
	}
	p, err := a.union(acc.v.Bytes(acc.i), in.v.Bytes(in.i))
	if err != nil {
		return value{}, err
	}
	return bytesValue(p)
}

func (a unionAgg) reversed(acc, in value) (value, error) { return a.agg(in, acc) }
