package cast

import (
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// Func converts a column. A value that cannot be converted is errs.Invalid; a
// DECIMAL that does not fit becomes null.
type Func func(*column.Vector) (*column.Vector, error)

// conv appends the converted value of the not-null row i of the flat vector v.
type conv func(dst *column.Builder, v *column.Vector, i int) error

// Same reports whether values of from are values of to as they are.
func Same(from, to *schema.Type) bool { return from.EqualIgnoreNull(to) }

// New returns the conversion of columns of one type to another, errs.Unsupported
// where Paimon has none. Nullability is ignored; zones are UTC.
func New(from, to *schema.Type) (Func, error) {
	if Same(from, to) {
		return func(v *column.Vector) (*column.Vector, error) { return v, nil }, nil
	}
	if f := vectorized(from, to); f != nil {
		return func(v *column.Vector) (*column.Vector, error) { return overDict(v, f) }, nil
	}
	if resolve(from, to) == nil {
		return nil, errs.Unsupportedf("a column of type %s cannot be read as %s", from, to)
	}
	f := func(v *column.Vector) (*column.Vector, error) {
		// Rules may keep a buffer: one for each call, as calls may be concurrent.
		c := resolve(from, to)
		b := schema.NewBuilder(to)
		for i := range v.N {
			if v.IsNull(i) {
				b.AppendNull()
				continue
			}
			if err := c(b, v, i); err != nil {
				return nil, errs.Invalidf("a value of type %s cannot be read as %s: %w", from, to, err)
			}
		}
		return b.Finish(), nil
	}
	return func(v *column.Vector) (*column.Vector, error) { return overDict(v, f) }, nil
}

// overDict applies f to the dictionary of a coded vector where that gives the
// same, which it does not where a value becomes null or fails: a failing value may be unused.
func overDict(v *column.Vector, f Func) (*column.Vector, error) {
	if v.Dict == nil {
		return f(v)
	}
	if v.Dict.N <= v.N {
		if d, err := f(v.Dict); err == nil && d.Valid == nil {
			return &column.Vector{Kind: d.Kind, N: v.N, Valid: v.Valid, Codes: v.Codes, Dict: d}, nil
		}
	}
	return f(column.Flatten(v))
}

// Scalar converts one value of a non-nested type.
func Scalar(from, to *schema.Type, s column.Scalar) (column.Scalar, error) {
	if s.Null {
		return column.NullScalar(schema.KindOf(to)), nil
	}
	f, err := New(from, to)
	if err != nil {
		return s, err
	}
	v, err := f(column.FromScalar(s))
	if err != nil {
		return s, err
	}
	return column.ScalarAt(v, 0), nil
}

func isInteger(t *schema.Type) bool { return t.Root >= schema.TinyInt && t.Root <= schema.BigInt }

func isFloating(t *schema.Type) bool { return t.Root == schema.Float || t.Root == schema.Double }

func isString(t *schema.Type) bool { return t.Root == schema.Char || t.Root == schema.Varchar }

func isBinary(t *schema.Type) bool { return t.Root == schema.Binary || t.Root == schema.Varbinary }

func isTimestamp(t *schema.Type) bool {
	return t.Root == schema.Timestamp || t.Root == schema.TimestampLTZ
}

// resolve finds the rule for a pair of types, as CastExecutors does; nil for none.
func resolve(from, to *schema.Type) conv {
	switch {
	case isString(to):
		return toString(from, to)
	case isString(from):
		return fromString(to)
	case to.Root == schema.Decimal:
		return toDecimal(from, to)
	case from.Root == schema.Decimal:
		return fromDecimal(from.Scale, to)
	case from.Root == schema.Boolean && isInteger(to):
		return func(b *column.Builder, v *column.Vector, i int) error { b.AppendInt(v.Int(i)); return nil }
	case from.Root == schema.Boolean && isFloating(to):
		return func(b *column.Builder, v *column.Vector, i int) error { b.AppendFloat(float64(v.Int(i))); return nil }
	case isInteger(from) && to.Root == schema.Boolean:
		return func(b *column.Builder, v *column.Vector, i int) error { b.AppendBool(v.Int(i) != 0); return nil }
	case isFloating(from) && isInteger(to):
		return func(b *column.Builder, v *column.Vector, i int) error {
			b.AppendInt(narrow(floatToInt(v.Float(i), to), to))
			return nil
		}
	case isBinary(from) && isBinary(to):
		return func(b *column.Builder, v *column.Vector, i int) error {
			b.AppendBytes(fitBytes(v.Bytes(i), to))
			return nil
		}
	}
	return timeRule(from, to)
}

// vectorized returns a loop over plain slices for the common widenings and
// narrowings of numbers; nil for other pairs.
func vectorized(from, to *schema.Type) Func {
	if isInteger(from) && (isInteger(to) || isFloating(to)) {
		return func(v *column.Vector) (*column.Vector, error) {
			out := &column.Vector{Kind: schema.KindOf(to), N: v.N, Valid: v.Valid}
			if v.Kind == column.KindInt32 {
				fillNumbers(out, v.I32, to)
			} else {
				fillNumbers(out, v.I64, to)
			}
			return out, nil
		}
	}
	if isFloating(from) && isFloating(to) {
		return func(v *column.Vector) (*column.Vector, error) {
			out := &column.Vector{Kind: schema.KindOf(to), N: v.N, Valid: v.Valid}
			if to.Root == schema.Double {
				out.F64 = convert[float64](v.F32)
			} else {
				out.F32 = convert[float32](v.F64)
			}
			return out, nil
		}
	}
	return nil
}

type number interface {
	~int32 | ~int64 | ~float32 | ~float64
}

func convert[T, S number](src []S) []T {
	out := make([]T, len(src))
	for i, x := range src {
		out[i] = T(x)
	}
	return out
}

func fillNumbers[S int32 | int64](out *column.Vector, src []S, to *schema.Type) {
	switch to.Root {
	case schema.TinyInt:
		out.I32 = make([]int32, len(src))
		for i, x := range src {
			out.I32[i] = int32(int8(x))
		}
	case schema.SmallInt:
		out.I32 = make([]int32, len(src))
		for i, x := range src {
			out.I32[i] = int32(int16(x))
		}
	case schema.Int:
		out.I32 = convert[int32](src)
	case schema.BigInt:
		out.I64 = convert[int64](src)
	case schema.Float:
		out.F32 = convert[float32](src)
	case schema.Double:
		out.F64 = convert[float64](src)
	}
}
