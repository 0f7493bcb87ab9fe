package planner

import (
	"bytes"
	"math"
	"math/big"
	"strings"
	"time"

	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"

	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
)

// exactDoubleDigits is the number of decimal digits that a double keeps apart.
const exactDoubleDigits = 15

// maxExactDouble bounds the integers that a double keeps apart.
const maxExactDouble = 1 << 53

// compareLiteral converts column op literal (not null) as MySQL compares the
// two types; ok is false where that is not known exactly.
func compareLiteral(f int, t *schema.Type, op predicate.Op, v literal, loc *time.Location) (p predicate.Predicate, exact, ok bool) {
	switch t.Root {
	case schema.Boolean, schema.TinyInt, schema.SmallInt, schema.Int, schema.BigInt:
		return compareInteger(f, t, op, v)
	case schema.Decimal:
		return compareDecimal(f, t, op, v)
	case schema.Float, schema.Double:
		return compareFloat(f, t, op, v)
	case schema.Char, schema.Varchar:
		if s, ok := v.value.(string); ok && (v.typ == nil || gms.IsTextOnly(v.typ)) {
			return byteLeaf(f, op, []byte(s)), true, true
		}
	case schema.Binary, schema.Varbinary:
		return compareBinary(f, t, op, v)
	case schema.Date:
		return compareDate(f, op, v)
	case schema.Time:
		return compareTime(f, op, v)
	case schema.Timestamp:
		if m, ok := literalMicros(v); ok {
			return compareMicros(f, t, op, m, m)
		}
	case schema.TimestampLTZ:
		if m, ok := literalMicros(v); ok {
			lo, hi := types.InstantRange(m, loc)
			return compareMicros(f, t, op, lo, hi)
		}
	}
	return nil, false, false
}

func byteLeaf(f int, op predicate.Op, b []byte) predicate.Predicate {
	return &predicate.Leaf{Op: op, Column: f, Literals: []column.Scalar{column.BytesScalar(b)}}
}

func compareBinary(f int, t *schema.Type, op predicate.Op, v literal) (predicate.Predicate, bool, bool) {
	var b []byte
	switch x := v.value.(type) {
	case string:
		b = []byte(x)
	case []byte:
		b = bytes.Clone(x)
	default:
		return nil, false, false
	}
	// Values of BINARY(n) may or may not be padded by who compares them.
	if t.Root == schema.Binary && len(b) != t.Length {
		return nil, false, false
	}
	return byteLeaf(f, op, b), true, true
}

// notNull is what a comparison that holds for every value leaves.
func notNull(f int) predicate.Predicate {
	return &predicate.Leaf{Op: predicate.IsNotNull, Column: f}
}

// gridLeaf converts a comparison with a number that may lie between or outside
// the values min…max of a discrete type: floor is the greatest integer of the type's
// grid not above the number, onGrid says that it is the number itself.
func gridLeaf(f int, op predicate.Op, floor *big.Int, onGrid bool, min, max *big.Int, scalar func(*big.Int) column.Scalar) predicate.Predicate {
	above := floor.Cmp(max) > 0 || floor.Cmp(max) == 0 && !onGrid
	below := floor.Cmp(min) < 0
	switch {
	case above:
		if op == predicate.Lt || op == predicate.Le || op == predicate.Ne {
			return notNull(f)
		}
		return never()
	case below:
		if op == predicate.Gt || op == predicate.Ge || op == predicate.Ne {
			return notNull(f)
		}
		return never()
	}
	if !onGrid {
		switch op {
		case predicate.Eq:
			return never()
		case predicate.Ne:
			return notNull(f)
		case predicate.Lt:
			op = predicate.Le
		case predicate.Ge:
			op = predicate.Gt
		}
	}
	return &predicate.Leaf{Op: op, Column: f, Literals: []column.Scalar{scalar(floor)}}
}

var intBounds = map[schema.Root][2]int64{
	schema.Boolean:  {0, 1},
	schema.TinyInt:  {math.MinInt8, math.MaxInt8},
	schema.SmallInt: {math.MinInt16, math.MaxInt16},
	schema.Int:      {math.MinInt32, math.MaxInt32},
	schema.BigInt:   {math.MinInt64, math.MaxInt64},
}

func compareInteger(f int, t *schema.Type, op predicate.Op, v literal) (predicate.Predicate, bool, bool) {
	n, double, ok := literalNumber(v)
	if !ok {
		return nil, false, false
	}
	if double && n.Abs().Cmp(decimal.NewFromInt(maxExactDouble)) >= 0 {
		return nil, false, false // compared as doubles, which are not apart there
	}
	floor := n.Floor()
	b := intBounds[t.Root]
	return gridLeaf(f, op, floor.BigInt(), floor.Equal(n), big.NewInt(b[0]), big.NewInt(b[1]), func(x *big.Int) column.Scalar {
		return column.IntScalar(schema.KindOf(t), x.Int64())
	}), true, true
}

func compareDecimal(f int, t *schema.Type, op predicate.Op, v literal) (predicate.Predicate, bool, bool) {
	n, double, ok := literalNumber(v)
	if !ok || double && t.Precision > exactDoubleDigits {
		return nil, false, false
	}
	scaled := n.Shift(int32(t.Scale))
	floor := scaled.Floor()
	max := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Precision)), nil)
	max.Sub(max, big.NewInt(1))
	return gridLeaf(f, op, floor.BigInt(), floor.Equal(scaled), new(big.Int).Neg(max), max, func(x *big.Int) column.Scalar {
		if schema.KindOf(t) == column.KindInt64 {
			return column.IntScalar(column.KindInt64, x.Int64())
		}
		d, _ := column.FromBig(x) // within the bounds of the precision, which fit
		return column.Scalar{Kind: column.KindInt128, D: d}
	}), true, true
}

// maxExponent bounds the exponents of literals, whose exact form would grow without end.
const maxExponent = 100

// literalNumber returns a literal as an exact number. double says that MySQL
// compares it as a double; then the number is the shortest decimal of that double.
func literalNumber(v literal) (n decimal.Decimal, double, ok bool) {
	switch x := v.value.(type) {
	case bool:
		if x {
			return decimal.NewFromInt(1), false, true
		}
		return decimal.Zero, false, true
	case int8:
		return decimal.NewFromInt(int64(x)), false, true
	case int16:
		return decimal.NewFromInt(int64(x)), false, true
	case int32:
		return decimal.NewFromInt(int64(x)), false, true
	case int64:
		return decimal.NewFromInt(x), false, true
	case int:
		return decimal.NewFromInt(int64(x)), false, true
	case uint8:
		return decimal.NewFromInt(int64(x)), false, true
	case uint16:
		return decimal.NewFromInt(int64(x)), false, true
	case uint32:
		return decimal.NewFromInt(int64(x)), false, true
	case uint64:
		return decimal.NewFromBigInt(new(big.Int).SetUint64(x), 0), false, true
	case decimal.Decimal:
		return x, false, x.Exponent() >= -maxExponent && x.Exponent() <= maxExponent
	case float32:
		return doubleNumber(float64(x))
	case float64:
		return doubleNumber(x)
	case string:
		if v.typ != nil && !gms.IsTextOnly(v.typ) {
			return n, false, false
		}
		f, ok := cleanNumber(x)
		if !ok {
			return n, false, false
		}
		return doubleNumber(f)
	}
	return n, false, false
}

func doubleNumber(f float64) (decimal.Decimal, bool, bool) {
	if f != f || math.IsInf(f, 0) || math.Abs(f) > 1e100 || f != 0 && math.Abs(f) < 1e-100 {
		return decimal.Decimal{}, true, false
	}
	return decimal.NewFromFloat(f), true, true
}

// cleanNumber parses a string that every reader takes for the same number:
// digits with an optional sign, point and exponent and nothing around them.
func cleanNumber(s string) (float64, bool) {
	if s == "" || len(s) > 64 || strings.Trim(s, "0123456789+-.eE") != "" {
		return 0, false
	}
	d, err := decimal.NewFromString(s)
	if err != nil || d.Exponent() > maxExponent || d.Exponent() < -maxExponent {
		return 0, false
	}
	f, _ := d.Float64()
	return f, !math.IsInf(f, 0)
}

func compareFloat(f int, t *schema.Type, op predicate.Op, v literal) (predicate.Predicate, bool, bool) {
	n, _, ok := literalNumber(v)
	if !ok {
		return nil, false, false
	}
	x, _ := n.Float64()
	if math.IsInf(x, 0) {
		return nil, false, false
	}
	kind := schema.KindOf(t)
	if kind == column.KindFloat32 && float64(float32(x)) != x {
		// MySQL widens the FLOAT (so that 0.1 is not equal to 0.1), others round the literal: no two agree.
		return nil, false, false
	}
	return floatLeaf(f, kind, op, x), true, true
}

// floatLeaf compares with a float of the column's kind. Storage tells -0 from
// +0, SQL does not.
func floatLeaf(f int, kind column.Kind, op predicate.Op, x float64) predicate.Predicate {
	lits := []column.Scalar{{Kind: kind, F: x}}
	if x == 0 {
		neg, pos := column.Scalar{Kind: kind, F: math.Copysign(0, -1)}, column.Scalar{Kind: kind}
		switch op {
		case predicate.Eq:
			op, lits = predicate.In, []column.Scalar{neg, pos}
		case predicate.Ne:
			op, lits = predicate.NotIn, []column.Scalar{neg, pos}
		case predicate.Lt, predicate.Ge:
			lits = []column.Scalar{neg}
		default:
			lits = []column.Scalar{pos}
		}
	}
	return &predicate.Leaf{Op: op, Column: f, Literals: lits}
}

const (
	microsPerSecond = int64(1_000_000)
	microsPerDay    = 86_400 * microsPerSecond
	nanosPerMicro   = 1000
)

// timeLayouts are the texts of dates and times that every reader understands the same.
var timeLayouts = []string{"2006-01-02", "2006-01-02 15:04:05", "2006-01-02 15:04"}

// literalMicros returns a date or time literal as microseconds of a zone-less time.
func literalMicros(v literal) (int64, bool) {
	switch x := v.value.(type) {
	case time.Time:
		x = x.UTC()
		if x.Year() < 1 || x.Year() > 9999 || x.Nanosecond()%nanosPerMicro != 0 {
			return 0, false
		}
		return x.UnixMicro(), true
	case string:
		if v.typ != nil && !gms.IsTextOnly(v.typ) {
			return 0, false
		}
		if _, frac, ok := strings.Cut(x, "."); ok && (len(frac) == 0 || len(frac) > types.MaxFraction) {
			return 0, false
		}
		for _, l := range timeLayouts {
			if t, err := time.Parse(l, x); err == nil && t.Year() >= 1 {
				return t.UnixMicro(), true
			}
		}
	}
	return 0, false
}

// Bounds that no stored date reaches.
var (
	minDate = big.NewInt(math.MinInt32)
	maxDate = big.NewInt(math.MaxInt32)
)

func compareDate(f int, op predicate.Op, v literal) (predicate.Predicate, bool, bool) {
	m, ok := literalMicros(v)
	if !ok {
		return nil, false, false
	}
	days := floorDiv(m, microsPerDay)
	return gridLeaf(f, op, big.NewInt(days), days*microsPerDay == m, minDate, maxDate, func(x *big.Int) column.Scalar {
		return column.IntScalar(column.KindInt32, x.Int64())
	}), true, true
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func compareTime(f int, op predicate.Op, v literal) (predicate.Predicate, bool, bool) {
	var micros int64
	switch x := v.value.(type) {
	case gms.Timespan:
		micros = x.AsMicroseconds()
	case string:
		if v.typ != nil && !gms.IsTextOnly(v.typ) {
			return nil, false, false
		}
		if _, frac, ok := strings.Cut(x, "."); ok && (len(frac) == 0 || len(frac) > types.MaxFraction) {
			return nil, false, false
		}
		t, err := time.Parse("15:04:05", x)
		if err != nil || len(x) < len("15:04:05") {
			return nil, false, false
		}
		micros = int64(t.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)) / time.Microsecond)
	default:
		return nil, false, false
	}
	millis := floorDiv(micros, 1000)
	return gridLeaf(f, op, big.NewInt(millis), millis*1000 == micros, minDate, maxDate, func(x *big.Int) column.Scalar {
		return column.IntScalar(column.KindInt32, x.Int64())
	}), true, true
}

// compareMicros compares a timestamp with a time that is the microseconds lo, also (a wall clock
// hour that comes twice) hi > lo, or (an hour that is skipped) none, between hi and lo. A cell of more than microsecond precision
// is compared by its microseconds, as it is shown.
func compareMicros(f int, t *schema.Type, op predicate.Op, lo, hi int64) (predicate.Predicate, bool, bool) {
	at := func(op predicate.Op, m int64) predicate.Predicate {
		return &predicate.Leaf{Op: op, Column: f, Literals: []column.Scalar{column.IntScalar(column.KindTimestamp, m)}}
	}
	// below: shown < m; from: shown >= m.
	below := func(m int64) predicate.Predicate { return at(predicate.Lt, m) }
	from := func(m int64) predicate.Predicate { return at(predicate.Ge, m) }
	exact := lo == hi
	if lo > hi { // skipped
		switch op {
		case predicate.Eq:
			return never(), true, true
		case predicate.Ne:
			return notNull(f), true, true
		case predicate.Lt, predicate.Le:
			return below(lo), true, true
		}
		return from(lo), true, true
	}
	if lo == math.MinInt64 || hi == math.MaxInt64 {
		return nil, false, false
	}
	fine := t.Precision > types.MaxFraction
	switch op {
	case predicate.Lt:
		return below(hi), exact, true
	case predicate.Ge:
		return from(lo), exact, true
	case predicate.Le:
		return below(hi + 1), exact, true
	case predicate.Gt:
		return from(lo + 1), exact, true
	}
	// Equal or not to one instant, or to either of two.
	points := []int64{lo}
	if !exact {
		points = append(points, hi)
	}
	if !fine {
		leaf := &predicate.Leaf{Op: predicate.In, Column: f}
		if op == predicate.Ne {
			leaf.Op = predicate.NotIn
		}
		for _, m := range points {
			leaf.Literals = append(leaf.Literals, column.IntScalar(column.KindTimestamp, m))
		}
		if exact {
			leaf.Op = op
		}
		return leaf, true, true
	}
	var ps []predicate.Predicate
	for _, m := range points {
		if op == predicate.Ne {
			ps = append(ps, newOr(below(m), from(m+1)))
		} else {
			ps = append(ps, predicate.NewAnd(from(m), below(m+1)))
		}
	}
	if op == predicate.Ne {
		return predicate.NewAnd(ps...), true, true
	}
	return newOr(ps...), true, true
}

// likePredicate converts LIKE 'pattern' without an escape character in it.
func likePredicate(f int, pattern string, neg bool) (predicate.Predicate, bool, bool) {
	if strings.ContainsAny(pattern, `\`) {
		return nil, false, false
	}
	i := strings.IndexAny(pattern, "%_")
	if i < 0 {
		op := predicate.Eq
		if neg {
			op = predicate.Ne
		}
		return byteLeaf(f, op, []byte(pattern)), true, true
	}
	if neg {
		return notNull(f), false, true
	}
	prefix := pattern[:i]
	rest := strings.TrimLeft(pattern[i:], "%")
	last := strings.LastIndexAny(pattern, "%_")
	suffix := pattern[last+1:]
	var ps []predicate.Predicate
	if prefix != "" {
		ps = append(ps, byteLeaf(f, predicate.StartsWith, []byte(prefix)))
	}
	if suffix != "" {
		ps = append(ps, byteLeaf(f, predicate.EndsWith, []byte(suffix)))
	}
	exact := false
	switch {
	case rest == "" && prefix != "": // p%
		exact = true
	case prefix == "" && rest == suffix && suffix != "": // %s
		exact = true
	case prefix == "" && suffix == "":
		if inner := strings.Trim(pattern, "%"); inner != "" && !strings.ContainsAny(inner, "%_") { // %c%
			return byteLeaf(f, predicate.Contains, []byte(inner)), true, true
		}
	}
	if len(ps) == 0 {
		return notNull(f), false, true
	}
	return predicate.NewAnd(ps...), exact, true
}
