package planner

import (
	"math"

	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// maxIntegerPrecision is the number of digits that every BIGINT holds.
const maxIntegerPrecision = 18

// wholeFunctions are CEIL and FLOOR, which go-mysql-server computes with 32 bits for decimals.
func wholeFunctions() []sql.Function {
	return []sql.Function{
		wholeFunction("ceil", decimal.Decimal.Ceil, math.Ceil),
		wholeFunction("ceiling", decimal.Decimal.Ceil, math.Ceil),
		wholeFunction("floor", decimal.Decimal.Floor, math.Floor),
	}
}

func wholeFunction(name string, exact func(decimal.Decimal) decimal.Decimal, approximate func(float64) float64) sql.Function {
	return sql.FunctionN{Name: name, Fn: func(args ...sql.Expression) (sql.Expression, error) {
		if len(args) != 1 {
			return nil, sql.ErrInvalidArgumentNumber.New(name, 1, len(args))
		}
		f := &scalarFunction{name: name, args: args, typ: wholeType, strict: true}
		f.eval = func(ctx *sql.Context, a []any) (any, error) {
			switch v := a[0].(type) {
			case decimal.Decimal:
				d := exact(v)
				if d.NumDigits() <= maxIntegerPrecision && kindOfType(f.Type()) == kindInteger {
					return d.IntPart(), nil
				}
				return d, nil
			case uint64:
				return v, nil
			}
			if i, ok := asInt64(a[0]); ok {
				return i, nil
			}
			return approximate(doubleValue(ctx, a[0])), nil
		}
		return f, nil
	}}
}

// wholeType is BIGINT for integers and for decimals whose integer part fits, DECIMAL for greater ones, DOUBLE for all else.
func wholeType(args []sql.Expression) sql.Type {
	t := args[0].Type()
	switch kindOfType(t) {
	case kindInteger:
		if gms.IsUnsigned(t) {
			return gms.Uint64
		}
		return gms.Int64
	case kindDecimal:
		p, s := decimalDigits(t)
		if p-s < maxIntegerPrecision {
			return gms.Int64
		}
		return gms.MustCreateDecimalType(uint8(min(p-s+1, gms.DecimalTypeMaxPrecision)), 0)
	}
	return gms.Float64
}
