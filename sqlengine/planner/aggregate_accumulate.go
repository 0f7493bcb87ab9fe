package planner

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"

	"github.com/tributarydb/tributary/sqlengine/dialect"
	"github.com/tributarydb/tributary/sqlengine/types"
)

// accumulator collects values that are not NULL.
type accumulator interface {
	add(ctx *sql.Context, v any) error
	result() any
}

func (a *Aggregate) newAccumulator() accumulator {
	var acc accumulator
	n, _, scale := a.argument()
	switch a.kind {
	case dialect.KindSum, dialect.KindAvg:
		if n == numericExact {
			s := &exactSum{avg: a.kind == dialect.KindAvg, scale: types.MaxDecimalPrecision}
			if s.avg {
				s.scale = avgScale(scale)
			} else if _, unrounded := a.child.(*ExactMath); unrounded {
				s.scale = scale
			}
			acc = s
		} else {
			acc = &doubleSum{avg: a.kind == dialect.KindAvg}
		}
	case dialect.KindBitAnd:
		acc = &bitFold{op: '&', x: math.MaxUint64}
	case dialect.KindBitOr:
		acc = &bitFold{op: '|'}
	case dialect.KindBitXor:
		acc = &bitFold{op: '^'}
	case dialect.KindApproxCountDistinct:
		return &distinctCount{seen: map[uint64]struct{}{}}
	default:
		acc = &variance{kind: a.kind}
	}
	if a.distinct {
		return &distinctValues{in: acc, seen: map[string]struct{}{}}
	}
	return acc
}

// exactSum adds integers and decimals. Integers are added in 64 bits as long as they fit.
type exactSum struct {
	avg   bool
	scale int
	n     int64
	small int64
	rest  decimal.Decimal
}

func (s *exactSum) add(_ *sql.Context, v any) error {
	if i, ok := asInt64(v); ok {
		sum := s.small + i
		if (s.small^sum)&(i^sum) < 0 {
			s.rest = s.rest.Add(decimal.NewFromInt(s.small))
			sum = i
		}
		s.small = sum
		s.n++
		return nil
	}
	d, err := exactValue(v)
	if err != nil {
		return err
	}
	s.rest = s.rest.Add(d)
	s.n++
	return nil
}

func (s *exactSum) result() any {
	if s.n == 0 {
		return nil
	}
	sum := s.rest.Add(decimal.NewFromInt(s.small))
	if s.avg {
		return sum.DivRound(decimal.NewFromInt(s.n), int32(s.scale))
	}
	if int(-sum.Exponent()) > s.scale { // of quotients, which have more digits than they show
		return sum.Round(int32(s.scale))
	}
	return sum
}

func asInt64(v any) (int64, bool) {
	switch v := v.(type) {
	case int8:
		return int64(v), true
	case int16:
		return int64(v), true
	case int32:
		return int64(v), true
	case int64:
		return v, true
	case int:
		return int64(v), true
	case uint8:
		return int64(v), true
	case uint16:
		return int64(v), true
	case uint32:
		return int64(v), true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

// exactValue converts a number or a time (as YYYYMMDDhhmmss.ffffff) to a decimal.
func exactValue(v any) (decimal.Decimal, error) {
	switch v := v.(type) {
	case decimal.Decimal:
		return v, nil
	case uint64:
		return decimal.NewFromBigInt(new(big.Int).SetUint64(v), 0), nil
	case float32:
		return decimal.NewFromFloat32(v), nil
	case float64:
		return decimal.NewFromFloat(v), nil
	case time.Time:
		return decimal.NewFromString(v.Format("20060102150405.999999"))
	case gms.Timespan:
		return decimal.NewFromString(strings.ReplaceAll(v.String(), ":", ""))
	case string:
		return decimal.NewFromString(v)
	}
	return decimal.Decimal{}, fmt.Errorf("a value of type %T in an exact sum", v)
}

// doubleSum adds doubles.
type doubleSum struct {
	avg bool
	n   int64
	sum float64
}

func (s *doubleSum) add(ctx *sql.Context, v any) error {
	s.sum += doubleValue(ctx, v)
	s.n++
	return nil
}

func (s *doubleSum) result() any {
	switch {
	case s.n == 0:
		return nil
	case s.avg:
		return s.sum / float64(s.n)
	}
	return s.sum
}

// doubleValue is a value as a double; of a text its numeric beginning, as MySQL has it.
func doubleValue(ctx *sql.Context, v any) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case float32:
		return float64(v)
	case string:
		return numericPrefix(v)
	case []byte:
		return numericPrefix(string(v))
	case uint64:
		return float64(v)
	}
	if i, ok := asInt64(v); ok {
		return float64(i)
	}
	if d, err := exactValue(v); err == nil {
		f, _ := d.Float64()
		return f
	}
	if f, _, err := gms.Float64.Convert(ctx, v); err == nil {
		if f, ok := f.(float64); ok {
			return f
		}
	}
	return 0
}

// numericPrefix reads the number a text begins with, 0 where there is none.
func numericPrefix(s string) float64 {
	s = strings.TrimLeft(s, " \t\n\r\v\f")
	end, digits := 0, false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			digits = true
			end = i + 1
			continue
		case (c == '+' || c == '-') && (i == 0 || digits && (s[i-1] == 'e' || s[i-1] == 'E')):
			continue
		case c == '.' && !strings.ContainsAny(s[:i], ".eE"):
			if digits {
				end = i + 1
			}
			continue
		case (c == 'e' || c == 'E') && digits && !strings.ContainsAny(s[:i], "eE"):
			continue
		}
		i = len(s)
	}
	f, err := strconv.ParseFloat(s[:end], 64)
	if math.IsInf(f, 0) {
		return math.Copysign(math.MaxFloat64, f)
	}
	if err != nil {
		return 0
	}
	return f
}

// variance is Welford's method, which loses no digits to large means.
type variance struct {
	kind     string
	n        float64
	mean, m2 float64
}

func (s *variance) add(ctx *sql.Context, v any) error {
	x := doubleValue(ctx, v)
	s.n++
	d := x - s.mean
	s.mean += d / s.n
	s.m2 += d * (x - s.mean)
	return nil
}

func (s *variance) result() any {
	n := s.n
	if s.kind == dialect.KindStddevSamp || s.kind == dialect.KindVarSamp {
		n--
	}
	if n <= 0 {
		return nil
	}
	x := s.m2 / n
	if s.kind == dialect.KindStddevPop || s.kind == dialect.KindStddevSamp {
		x = math.Sqrt(x)
	}
	return x
}

// bitFold folds integers by a bit operation.
type bitFold struct {
	op byte
	x  uint64
}

func (s *bitFold) add(ctx *sql.Context, v any) error {
	var y uint64
	switch v := v.(type) {
	case uint64:
		y = v
	default:
		if i, ok := asInt64(v); ok {
			y = uint64(i)
		} else if f := math.Round(doubleValue(ctx, v)); f < 0 {
			y = uint64(int64(max(f, math.MinInt64)))
		} else if f >= math.MaxUint64 {
			y = math.MaxUint64
		} else {
			y = uint64(f)
		}
	}
	switch s.op {
	case '&':
		s.x &= y
	case '|':
		s.x |= y
	default:
		s.x ^= y
	}
	return nil
}

func (s *bitFold) result() any { return s.x }

// distinctValues lets every value through once.
type distinctValues struct {
	in   accumulator
	seen map[string]struct{}
}

func (s *distinctValues) add(ctx *sql.Context, v any) error {
	k := distinctKey(v)
	if _, ok := s.seen[k]; ok {
		return nil
	}
	s.seen[k] = struct{}{}
	return s.in.add(ctx, v)
}

func (s *distinctValues) result() any { return s.in.result() }

// distinctKey is a text that equal values share.
func distinctKey(v any) string {
	switch v := v.(type) {
	case decimal.Decimal:
		return v.String()
	case string:
		return v
	case []byte:
		return string(v)
	case time.Time:
		return strconv.FormatInt(v.UnixMicro(), 10)
	case float64:
		if v == 0 {
			v = 0 // -0 and 0 are equal
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

// distinctCount counts different values by a 64-bit hash: wrong by less than one in a million groups of a million values.
type distinctCount struct{ seen map[uint64]struct{} }

func (s *distinctCount) add(_ *sql.Context, v any) error {
	s.seen[xxhash.Sum64String(distinctKey(v))] = struct{}{}
	return nil
}

func (s *distinctCount) result() any { return int64(len(s.seen)) }
