package planner

import (
	"math"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"

	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/errs"
)

func appendFloat64(dst []byte, f float64) []byte { return types.AppendFloat64(dst, f) }

// maxSetBits is the number of bits that MAKE_SET and EXPORT_SET look at.
const maxSetBits = 64

// maxBenchmarkLoops bounds BENCHMARK.
const maxBenchmarkLoops = 1_000_000_000

var shortIDs atomic.Uint64

func init() { shortIDs.Store(uint64(time.Now().Unix()) << 24) }

func numberFunctions() []sql.Function {
	text := always(gms.LongText)
	return []sql.Function{
		scalar("greatest", 2, -1, scalarFunction{typ: extremeType, strict: true, eval: func(ctx *sql.Context, a []any) (any, error) { return extreme(ctx, a, 1) }}),
		scalar("least", 2, -1, scalarFunction{typ: extremeType, strict: true, eval: func(ctx *sql.Context, a []any) (any, error) { return extreme(ctx, a, -1) }}),
		scalar("round", 1, 2, scalarFunction{typ: roundType, strict: true, eval: round}),
		scalar("truncate", 2, 2, scalarFunction{typ: truncateType, strict: true, eval: truncate}),
		scalar("oct", 1, 1, scalarFunction{typ: text, strict: true, eval: func(ctx *sql.Context, a []any) (any, error) {
			return strconv.FormatUint(uint64(valueInt(ctx, a[0])), 8), nil
		}}),
		scalar("make_set", 2, -1, scalarFunction{typ: text, eval: func(ctx *sql.Context, a []any) (any, error) {
			if a[0] == nil {
				return nil, nil
			}
			bits := uint64(valueInt(ctx, a[0]))
			var out []string
			for i, s := range a[1:] {
				if i < maxSetBits && bits&(1<<i) != 0 && s != nil {
					out = append(out, valueText(s))
				}
			}
			return strings.Join(out, ","), nil
		}}),
		scalar("export_set", 3, 5, scalarFunction{typ: text, strict: true, eval: func(ctx *sql.Context, a []any) (any, error) {
			bits, sep, n := uint64(valueInt(ctx, a[0])), ",", maxSetBits
			if len(a) > 3 {
				sep = valueText(a[3])
			}
			if len(a) > 4 {
				if k := valueInt(ctx, a[4]); k >= 0 && k < maxSetBits {
					n = int(k)
				}
			}
			out := make([]string, n)
			for i := range out {
				out[i] = valueText(a[2])
				if bits&(1<<i) != 0 {
					out[i] = valueText(a[1])
				}
			}
			return strings.Join(out, sep), nil
		}}),
		scalar("insert", 4, 4, scalarFunction{typ: text, strict: true, eval: func(ctx *sql.Context, a []any) (any, error) {
			s, with := []rune(valueText(a[0])), valueText(a[3])
			pos, n := valueInt(ctx, a[1]), valueInt(ctx, a[2])
			if pos < 1 || pos > int64(len(s)) {
				return string(s), nil
			}
			end := int64(len(s))
			if n >= 0 && n < end-(pos-1) {
				end = pos - 1 + n
			}
			return string(s[:pos-1]) + with + string(s[end:]), nil
		}}),
		scalar("weight_string", 1, 1, scalarFunction{typ: always(gms.LongBlob), strict: true, eval: func(_ *sql.Context, a []any) (any, error) {
			return []byte(valueText(a[0])), nil
		}}),
		scalar("uuid_short", 0, 0, scalarFunction{typ: always(gms.Uint64), volatile: true, eval: func(*sql.Context, []any) (any, error) {
			return shortIDs.Add(1), nil
		}}),
		scalar("current_role", 0, 0, scalarFunction{typ: text, eval: func(*sql.Context, []any) (any, error) { return "NONE", nil }}),
		scalar("session_user", 0, 0, scalarFunction{typ: text, eval: accountText}),
		scalar("system_user", 0, 0, scalarFunction{typ: text, eval: accountText}),
		scalar("format_bytes", 1, 1, scalarFunction{typ: text, strict: true, eval: func(ctx *sql.Context, a []any) (any, error) {
			return formatBytes(doubleValue(ctx, a[0])), nil
		}}),
		scalar("icu_version", 0, 0, scalarFunction{typ: text, eval: func(*sql.Context, []any) (any, error) { return "0.0", nil }}),
		scalar("load_file", 1, 1, scalarFunction{typ: always(gms.LongBlob), eval: func(*sql.Context, []any) (any, error) { return nil, nil }}),
		benchmarkFunction(),
	}
}

func accountText(ctx *sql.Context, _ []any) (any, error) {
	c := ctx.Client()
	return c.User + "@" + c.Address, nil
}

func formatBytes(n float64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	i := 0
	for math.Abs(n) >= 1024 && i < len(units)-1 {
		n /= 1024
		i++
	}
	if i == 0 {
		return strconv.FormatFloat(n, 'f', 0, 64) + " bytes"
	}
	return strconv.FormatFloat(n, 'f', 2, 64) + " " + units[i]
}

// benchmarkFunction evaluates its second argument n times.
func benchmarkFunction() sql.Function {
	return sql.FunctionN{Name: "benchmark", Fn: func(args ...sql.Expression) (sql.Expression, error) {
		if len(args) != 2 {
			return nil, sql.ErrInvalidArgumentNumber.New("BENCHMARK", 2, len(args))
		}
		body := args[1]
		f := &scalarFunction{name: "benchmark", args: args, typ: always(gms.Int64), volatile: true}
		f.eval = func(ctx *sql.Context, a []any) (any, error) {
			n := valueInt(ctx, a[0])
			if a[0] == nil || n < 0 {
				return nil, nil
			}
			if n > maxBenchmarkLoops {
				return nil, errs.Limitf("BENCHMARK runs its expression at most %d times", maxBenchmarkLoops)
			}
			for i := range n {
				if i%checkEvery == 0 && ctx.Err() != nil {
					return nil, ctx.Err()
				}
				if _, err := body.Eval(ctx, nil); err != nil {
					return nil, err
				}
			}
			return int64(0), nil
		}
		return f, nil
	}}
}

// extremeType is the type of GREATEST and LEAST.
func extremeType(args []sql.Expression) sql.Type {
	kinds := map[typeKind]bool{}
	scale, digits := 0, 0
	for _, a := range args {
		t := a.Type()
		if gms.IsNull(a) {
			continue
		}
		kinds[kindOfType(t)] = true
		if d, ok := t.(sql.DecimalType); ok {
			scale, digits = max(scale, int(d.Scale())), max(digits, int(d.Precision())-int(d.Scale()))
		} else if n, ok := integerDigits[t]; ok {
			digits = max(digits, n)
		}
	}
	delete(kinds, kindInteger)
	only := func(k typeKind) bool { return len(kinds) == 1 && kinds[k] }
	switch {
	case len(kinds) == 0:
		return gms.Int64
	case only(kindDecimal):
		return gms.MustCreateDecimalType(uint8(min(digits+scale, types.MaxDecimalPrecision)), uint8(min(scale, types.MaxDecimalScale)))
	case only(kindDouble), len(kinds) == 2 && kinds[kindDouble] && kinds[kindDecimal]:
		return gms.Float64
	case only(kindMoment):
		t := args[0].Type()
		for _, a := range args[1:] {
			if !a.Type().Equals(t) {
				return gms.DatetimeMaxPrecision
			}
		}
		return t
	case only(kindTimeOfDay):
		return gms.Time
	case only(kindBinary):
		return gms.LongBlob
	}
	return gms.LongText
}

// extreme finds the greatest (want 1) or least (want -1) argument as the type of the result compares them.
func extreme(ctx *sql.Context, a []any, want int) (any, error) {
	class := classInteger
	places := int64(0)
	for _, v := range a {
		if d, ok := v.(decimal.Decimal); ok {
			places = max(places, int64(-d.Exponent()))
		}
		c := classOfValue(v)
		if c != class {
			class = widerClass(class, c)
		}
	}
	best := a[0]
	for _, v := range a[1:] {
		var c int
		var ok bool
		if class == classBytes {
			c, ok = strings.Compare(valueText(v), valueText(best)), true
		} else {
			c, ok = compareValues(class, v, best)
		}
		if ok && c == want {
			best = v
		}
	}
	switch class {
	case classBytes:
		return valueText(best), nil
	case classExact:
		d, _ := toDecimal(best)
		return rescale(d, places), nil
	case classDouble:
		f, _ := toDouble(best)
		return f, nil
	}
	return best, nil
}

func classOfValue(v any) compareClass {
	switch v.(type) {
	case decimal.Decimal:
		return classExact
	case float32, float64:
		return classDouble
	case time.Time:
		return classMoment
	case gms.Timespan:
		return classTimeOfDay
	case uint64:
		return classInteger
	}
	if _, ok := asInt64(v); ok {
		return classInteger
	}
	return classBytes
}

func widerClass(a, b compareClass) compareClass {
	number := func(c compareClass) bool { return c == classInteger || c == classExact || c == classDouble }
	if number(a) && number(b) {
		return max(a, b)
	}
	if a == classInteger { // the start value of the search, or a number beside a text
		return b
	}
	return classBytes
}

// roundType is the type of ROUND: a decimal's scale is cut to a constant second argument.
func roundType(args []sql.Expression) sql.Type {
	t := args[0].Type()
	d, ok := t.(sql.DecimalType)
	if !ok {
		return truncateType(args)
	}
	scale := 0
	if len(args) > 1 {
		scale = int(d.Scale())
		if l, ok := args[1].(*expression.Literal); ok {
			if n, ok := asInt64(l.Value()); ok {
				scale = int(min(max(n, 0), types.MaxDecimalScale))
			}
		}
	}
	// Rounding up may need one more digit before the point.
	p := min(int(d.Precision())-int(d.Scale())+scale+1, types.MaxDecimalPrecision)
	return gms.MustCreateDecimalType(uint8(p), uint8(scale))
}

// round is ROUND(x[, d]): decimals half away from zero, doubles as the multiplied double rounds.
func round(ctx *sql.Context, a []any) (any, error) {
	places := int64(0)
	if len(a) > 1 {
		places = min(max(valueInt(ctx, a[1]), -types.MaxDecimalPrecision), types.MaxDecimalScale)
	}
	switch v := a[0].(type) {
	case decimal.Decimal:
		return rescale(v.Round(int32(places)), max(places, 0)), nil
	case float64, float32, string, []byte:
		f := doubleValue(ctx, v)
		pow := math.Pow(10, math.Abs(float64(places)))
		var x float64
		if places >= 0 {
			x = math.RoundToEven(f*pow) / pow
		} else {
			x = math.RoundToEven(f/pow) * pow
		}
		if math.IsInf(x, 0) || x != x {
			return f, nil
		}
		return x, nil
	case uint64:
		d, _ := toDecimal(v)
		return d.Round(int32(min(places, 0))).IntPart(), nil
	}
	return decimal.NewFromInt(valueInt(ctx, a[0])).Round(int32(min(places, 0))).IntPart(), nil
}

// rescale gives a decimal the number of digits behind the point, at least.
func rescale(d decimal.Decimal, places int64) decimal.Decimal {
	if int64(-d.Exponent()) >= places {
		return d
	}
	return decimal.NewFromBigInt(d.Shift(int32(places)).BigInt(), int32(-places))
}

func truncateType(args []sql.Expression) sql.Type {
	t := args[0].Type()
	switch kindOfType(t) {
	case kindInteger:
		return gms.Int64
	case kindDecimal:
		if l, ok := args[len(args)-1].(*expression.Literal); ok && len(args) > 1 {
			if n, ok := asInt64(l.Value()); ok {
				p, s := decimalDigits(t)
				scale := int(min(max(n, 0), int64(s)))
				return gms.MustCreateDecimalType(uint8(max(p-s+scale, 1)), uint8(scale))
			}
		}
		return t
	}
	return gms.Float64
}

// truncate is TRUNCATE(x, d): towards zero.
func truncate(ctx *sql.Context, a []any) (any, error) {
	places := min(max(valueInt(ctx, a[1]), -types.MaxDecimalPrecision), types.MaxDecimalScale)
	switch v := a[0].(type) {
	case decimal.Decimal:
		return truncateDecimal(v, int32(places)), nil
	case float64, float32, string, []byte:
		f := doubleValue(ctx, v)
		if f != f || math.IsInf(f, 0) {
			return f, nil
		}
		out, _ := truncateDecimal(decimal.NewFromFloat(f), int32(places)).Float64()
		return out, nil
	case uint64:
		d, _ := toDecimal(v)
		return truncateDecimal(d, int32(places)).IntPart(), nil
	}
	return truncateDecimal(decimal.NewFromInt(valueInt(ctx, a[0])), int32(places)).IntPart(), nil
}

func truncateDecimal(d decimal.Decimal, places int32) decimal.Decimal {
	if places >= 0 {
		return d.Truncate(places)
	}
	return d.Shift(places).Truncate(0).Shift(-places)
}
