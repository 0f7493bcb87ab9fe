package planner

import (
	"math"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/types"
)

// finiteFunctions are functions of doubles whose result may be too great for one, which is an error in MySQL;
// go-mysql-server gives infinity.
func finiteFunctions() []sql.Function {
	return slices.Concat(
		finite("pow", 2, func(a []float64) float64 { return math.Pow(a[0], a[1]) }, "power"),
		finite("exp", 1, func(a []float64) float64 { return math.Exp(a[0]) }),
		finite("cot", 1, func(a []float64) float64 { return 1 / math.Tan(a[0]) }),
		finite("degrees", 1, func(a []float64) float64 { return a[0] * (180 / math.Pi) }),
	)
}

// finite declares a function of n doubles, with its other names.
func finite(name string, n int, f func(args []float64) float64, more ...string) (out []sql.Function) {
	for _, called := range append([]string{name}, more...) {
		out = append(out, sql.FunctionN{Name: called, Fn: func(args ...sql.Expression) (sql.Expression, error) {
			if len(args) != n {
				return nil, sql.ErrInvalidArgumentNumber.New(called, n, len(args))
			}
			s := &scalarFunction{name: name, args: args, typ: always(gms.Float64), strict: true}
			text := s.String()
			s.eval = func(ctx *sql.Context, a []any) (any, error) {
				values := make([]float64, len(a))
				for i, v := range a {
					values[i] = doubleValue(ctx, v)
				}
				v := f(values)
				if math.IsInf(v, 0) || math.IsNaN(v) {
					return nil, outOfRange("DOUBLE", text)
				}
				return v, nil
			}
			return s, nil
		}})
	}
	return out
}
