package lsm

import (
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// The names of the aggregate functions (option aggregate-function).
const (
	aggSum               = "sum"
	aggProduct           = "product"
	aggMax               = "max"
	aggMin               = "min"
	aggLastValue         = "last_value"
	aggLastNonNull       = "last_non_null_value"
	aggFirstValue        = "first_value"
	aggFirstNonNull      = "first_non_null_value"
	aggFirstNotNull      = "first_not_null_value" // the old name
	aggListagg           = "listagg"
	aggBoolAnd           = "bool_and"
	aggBoolOr            = "bool_or"
	aggCollect           = "collect"
	aggMergeMap          = "merge_map"
	aggMergeMapKeyTime   = "merge_map_with_keytime"
	aggNestedUpdate      = "nested_update"
	aggNestedPartial     = "nested_partial_update"
	aggThetaSketch       = "theta_sketch"
	aggHLLSketch         = "hll_sketch"
	aggRoaring32         = "rbm32"
	aggRoaring64         = "rbm64"
	aggPrimaryKey        = "primary-key"
	ignoreRetractExample = "fields.${field_name}.ignore-retract"
)

// aggregator folds the values of one column (org.apache.paimon.mergetree.compact.aggregate.FieldAggregator).
// Values that it returns are arguments, or live in scratch memory of the
// aggregator's own that its next call may overwrite, after having read its arguments.
type aggregator interface {
	// reset starts a new key.
	reset()
	// agg folds a newer value into the accumulator.
	agg(acc, in value) (value, error)
	// reversed folds a value that is older than what was accumulated.
	reversed(acc, in value) (value, error)
	// retract takes a value back.
	retract(acc, in value) (value, error)
}

// aggBase gives an aggregator the behaviour that most share.
type aggBase struct {
	name string
	typ  *schema.Type
}

func (aggBase) reset() {}

func (a aggBase) retract(acc, in value) (value, error) {
	return value{}, errs.Invalidf("Aggregate function '%s' does not support retraction, If you allow this function to ignore retraction messages, you can configure '%s'='true'.", a.name, ignoreRetractExample)
}

// scratch is a vector of one row that holds a computed value.
type scratch struct{ v column.Vector }

func newScratch(t *schema.Type) *scratch {
	s := &scratch{}
	s.v.Kind, s.v.N = schema.KindOf(t), 1
	switch s.v.Kind {
	case column.KindInt32:
		s.v.I32 = make([]int32, 1)
	case column.KindInt64:
		s.v.I64 = make([]int64, 1)
	case column.KindInt128:
		s.v.I128 = make([]column.Int128, 1)
	case column.KindFloat32:
		s.v.F32 = make([]float32, 1)
	case column.KindFloat64:
		s.v.F64 = make([]float64, 1)
	case column.KindBytes:
		s.v.Ref = make([]column.Ref, 1)
	}
	return s
}

func (s *scratch) int(x int64) value {
	if s.v.Kind == column.KindInt32 {
		s.v.I32[0] = int32(x)
	} else {
		s.v.I64[0] = x
	}
	return value{&s.v, 0}
}

func (s *scratch) float(x float64) value {
	if s.v.Kind == column.KindFloat32 {
		s.v.F32[0] = float32(x)
	} else {
		s.v.F64[0] = x
	}
	return value{&s.v, 0}
}

func (s *scratch) int128(x column.Int128) value {
	if s.v.Kind == column.KindInt64 {
		s.v.I64[0] = int64(x.Lo)
	} else {
		s.v.I128[0] = x
	}
	return value{&s.v, 0}
}

// bytesValue returns a value that holds p, which must stay as it is.
func bytesValue(p []byte) (value, error) {
	if len(p) > maxGatherBytes {
		return value{}, errs.Limitf("an aggregated value of %d bytes is too long", len(p))
	}
	return value{&column.Vector{Kind: column.KindBytes, N: 1, Ref: []column.Ref{{Off: 0, Len: uint32(len(p))}}, Data: p}, 0}, nil
}

// newAggregator makes the aggregator of a column. Failures are errs.Invalid:
// an unknown function, or one that does not fit the column's type.
func (e *Engine) newAggregator(field int, name string) (aggregator, error) {
	f := &e.table.Fields[field]
	removeOnDelete, err := e.opts.bool(optAggRemoveOnDelete)
	if err != nil {
		return nil, err
	}
	ignoreRetract, err := e.opts.fieldBool(f.Name, fieldIgnoreRetract)
	if err != nil {
		return nil, err
	}
	if removeOnDelete && ignoreRetract {
		return nil, conflicting(optAggRemoveOnDelete, fieldKey(f.Name, fieldIgnoreRetract))
	}
	a, err := e.makeAggregator(f, name)
	if err != nil {
		return nil, err
	}
	if ignoreRetract {
		return ignoringRetract{a}, nil
	}
	return a, nil
}

func (e *Engine) makeAggregator(f *schema.Field, name string) (aggregator, error) {
	base := aggBase{name: name, typ: f.Type}
	misfit := func(want string) error {
		return errs.Invalidf("Data type for %s column '%s' must be '%s'.", name, f.Name, want)
	}
	switch name {
	case aggPrimaryKey:
		return primaryKeyAgg{base}, nil
	case aggLastValue:
		return lastValueAgg{base}, nil
	case aggLastNonNull:
		return lastNonNullAgg{base}, nil
	case aggFirstValue:
		return &firstValueAgg{aggBase: base}, nil
	case aggFirstNonNull, aggFirstNotNull:
		return &firstNonNullAgg{aggBase: base}, nil
	case aggMax, aggMin:
		return extremeAgg{base, name == aggMax, !f.Type.IsNested() && f.Type.Root != schema.Boolean}, nil
	case aggSum, aggProduct:
		n := newNumericAgg(base)
		if n == nil {
			return nil, misfit("NumericType")
		}
		if name == aggSum {
			return sumAgg{n}, nil
		}
		return productAgg{n}, nil
	case aggBoolAnd, aggBoolOr:
		if f.Type.Root != schema.Boolean {
			return nil, misfit("BooleanType")
		}
		return boolAgg{base, name == aggBoolOr, newScratch(f.Type)}, nil
	}
	return e.makeAggregatorMore(f, base, misfit)
}

// ignoringRetract leaves the accumulator alone on a retract.
type ignoringRetract struct{ aggregator }

func (a ignoringRetract) reversed(acc, in value) (value, error) { return a.agg(in, acc) }
func (a ignoringRetract) retract(acc, in value) (value, error)  { return acc, nil }
