package planner

import (
	"fmt"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// dayFunction is DATE(x), whose value is a date; go-mysql-server's is a text that it calls a date.
func dayFunction() sql.Function {
	return scalar("date", 1, 1, scalarFunction{typ: always(gms.Date), strict: true, eval: func(ctx *sql.Context, a []any) (any, error) {
		t, ok := valueMoment(ctx, a[0])
		if !ok {
			return nil, nil
		}
		y, m, d := t.Date()
		return time.Date(y, m, d, 0, 0, 0, 0, time.UTC), nil
	}})
}

// hexFunction is HEX(x): of the bytes of a text in its character set, of the integer next to a number, exactly.
func hexFunction() sql.Function {
	return sql.FunctionN{Name: "hex", Fn: func(args ...sql.Expression) (sql.Expression, error) {
		if len(args) != 1 {
			return nil, sql.ErrInvalidArgumentNumber.New("HEX", 1, len(args))
		}
		typ := args[0].Type()
		return &scalarFunction{name: "hex", args: args, typ: always(gms.LongText), strict: true, eval: func(ctx *sql.Context, a []any) (any, error) {
			if n, ok := hexNumber(ctx, a[0]); ok {
				return fmt.Sprintf("%X", n), nil
			}
			return fmt.Sprintf("%X", encodedText(typ, a[0])), nil
		}}, nil
	}}
}

// hexNumber is a number as 64 bits, negative ones in two's complement.
func hexNumber(ctx *sql.Context, v any) (uint64, bool) {
	switch v := v.(type) {
	case decimal.Decimal:
		n := v.Round(0).BigInt()
		switch {
		case n.IsInt64():
			return uint64(n.Int64()), true
		case n.IsUint64():
			return n.Uint64(), true
		case n.Sign() < 0:
			return 1 << 63, true
		}
		return 1<<64 - 1, true
	case uint64:
		return v, true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case float32, float64:
		return uint64(valueInt(ctx, v)), true
	}
	i, ok := asInt64(v)
	return uint64(i), ok
}

// encodedText is a text in the character set of its type.
func encodedText(t sql.Type, v any) []byte {
	text := []byte(valueText(v))
	s, ok := t.(sql.StringType)
	if _, isText := v.(string); !ok || !isText || s.CharacterSet() == sql.CharacterSet_utf8mb4 || s.CharacterSet() == sql.CharacterSet_binary {
		return text
	}
	if out, ok := s.CharacterSet().Encoder().Encode(text); ok {
		return out
	}
	return text
}
