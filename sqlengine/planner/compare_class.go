package planner

import (
	"cmp"
	"math/big"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/shopspring/decimal"

	"github.com/tributarydb/tributary/sqlengine/types"
)

// compareClass is how MySQL compares two values, decided by their types.
type compareClass uint8

const (
	// classOther is left to go-mysql-server.
	classOther compareClass = iota
	// classInteger: signed and unsigned integers, exactly.
	classInteger
	// classExact: integers and decimals, exactly.
	classExact
	// classDouble: as doubles; texts by the number they begin with.
	classDouble
	// classBytes: texts of a binary collation without padding, and binary strings.
	classBytes
	// classPadded: texts of a binary collation that ignores trailing spaces.
	classPadded
	// classMoment: dates and times with a date.
	classMoment
	// classTimeOfDay: TIME values.
	classTimeOfDay
	// classMomentNumber: a date or time with a number, which is a date where it can be.
	classMomentNumber
)

// typeKind groups the types for comparisons.
type typeKind uint8

const (
	kindOther typeKind = iota
	kindInteger
	kindDecimal
	kindDouble
	kindText
	kindBinary
	kindMoment
	kindTimeOfDay
)

func kindOfType(t sql.Type) typeKind {
	if s, ok := t.(sql.SystemVariableType); ok {
		t = s.UnderlyingType()
	}
	switch {
	case t == nil:
		return kindOther
	case gms.IsInteger(t):
		return kindInteger
	case gms.IsDecimal(t):
		return kindDecimal
	case gms.IsFloat(t):
		return kindDouble
	case gms.IsTime(t):
		return kindMoment
	case gms.IsTimespan(t):
		return kindTimeOfDay
	case gms.IsTextOnly(t):
		return kindText
	}
	if _, ok := t.(sql.StringType); ok {
		switch t.Type() {
		case sqltypes.Binary, sqltypes.VarBinary, sqltypes.Blob:
			return kindBinary
		}
	}
	return kindOther
}

// classOf decides how l and r are compared.
func classOf(ctx *sql.Context, l, r sql.Expression) compareClass {
	lk, rk := kindOfType(l.Type()), kindOfType(r.Type())
	if lk > rk {
		lk, rk = rk, lk
	}
	number := func(k typeKind) bool { return k == kindInteger || k == kindDecimal || k == kindDouble }
	switch {
	case lk == kindOther:
		return classOther
	case lk == kindInteger && rk == kindInteger:
		return classInteger
	case number(lk) && number(rk):
		if rk == kindDouble {
			return classDouble
		}
		return classExact
	case number(lk) && rk == kindText:
		return classDouble
	case number(lk) && (rk == kindMoment || rk == kindTimeOfDay):
		return classMomentNumber
	case lk == kindText && rk == kindText:
		return textClass(ctx, l, r)
	case lk == kindText && rk == kindBinary || lk == kindBinary && rk == kindBinary:
		return classBytes
	case lk == kindMoment && rk == kindMoment:
		return classMoment
	case lk == kindTimeOfDay && rk == kindTimeOfDay:
		return classTimeOfDay
	}
	return classOther
}

// textClass asks which collation compares two texts.
func textClass(ctx *sql.Context, l, r sql.Expression) compareClass {
	lc, lo := sql.GetCoercibility(ctx, l)
	rc, ro := sql.GetCoercibility(ctx, r)
	c, _ := sql.ResolveCoercibility(lc, lo, rc, ro)
	switch c {
	case sql.Collation_utf8mb4_0900_bin, sql.Collation_binary:
		return classBytes
	case sql.Collation_utf8mb4_bin, sql.Collation_utf8mb3_bin:
		return classPadded
	}
	return classOther
}

// compareValues compares two values that are not NULL; ok is false for values that do not belong to the class.
func compareValues(class compareClass, l, r any) (c int, ok bool) {
	switch class {
	case classInteger:
		return compareIntegers(l, r)
	case classExact:
		if c, ok := compareIntegers(l, r); ok {
			return c, true
		}
		a, aok := toDecimal(l)
		b, bok := toDecimal(r)
		if !aok || !bok {
			return 0, false
		}
		return a.Cmp(b), true
	case classMomentNumber:
		return compareMomentNumber(l, r)
	case classDouble:
		a, aok := toDouble(l)
		b, bok := toDouble(r)
		if !aok || !bok {
			return 0, false
		}
		return types.CompareDoubles(a, b), true
	case classBytes, classPadded:
		a, aok := toText(l)
		b, bok := toText(r)
		if !aok || !bok {
			return 0, false
		}
		if class == classPadded {
			a, b = strings.TrimRight(a, " "), strings.TrimRight(b, " ")
		}
		return strings.Compare(a, b), true
	case classMoment:
		a, aok := l.(time.Time)
		b, bok := r.(time.Time)
		return a.Compare(b), aok && bok
	case classTimeOfDay:
		a, aok := l.(gms.Timespan)
		b, bok := r.(gms.Timespan)
		return cmp.Compare(a, b), aok && bok
	}
	return 0, false
}

func compareIntegers(l, r any) (int, bool) {
	a, aok := asInt64(l)
	b, bok := asInt64(r)
	if aok && bok {
		return cmp.Compare(a, b), true
	}
	au, auok := l.(uint64)
	bu, buok := r.(uint64)
	switch {
	case auok && buok:
		return cmp.Compare(au, bu), true
	case auok && bok:
		if b < 0 {
			return 1, true
		}
		return cmp.Compare(au, uint64(b)), true
	case aok && buok:
		if a < 0 {
			return -1, true
		}
		return cmp.Compare(uint64(a), bu), true
	}
	return 0, false
}

func toDecimal(v any) (decimal.Decimal, bool) {
	switch v := v.(type) {
	case decimal.Decimal:
		return v, true
	case uint64:
		return decimal.NewFromBigInt(new(big.Int).SetUint64(v), 0), true
	}
	if i, ok := asInt64(v); ok {
		return decimal.NewFromInt(i), true
	}
	return decimal.Decimal{}, false
}

func toDouble(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case float32:
		return float64(v), true
	case uint64:
		return float64(v), true
	case decimal.Decimal:
		f, _ := v.Float64()
		return f, true
	case string:
		return numericPrefix(v), true
	}
	if i, ok := asInt64(v); ok {
		return float64(i), true
	}
	return 0, false
}

// bytesNumber reads a hexadecimal or bit literal that is compared with a number as the number it is.
func bytesNumber(e, other sql.Expression) sql.Expression {
	l, ok := e.(*expression.Literal)
	if k := kindOfType(other.Type()); !ok || k != kindInteger && k != kindDecimal && k != kindDouble {
		return e
	}
	b, ok := l.Value().([]byte)
	if !ok || len(b) > 8 {
		return e
	}
	return expression.NewLiteral(new(big.Int).SetBytes(b).Uint64(), gms.Uint64)
}

// compareMomentNumber compares a date or time with a number, in either order.
func compareMomentNumber(l, r any) (c int, ok bool) {
	n, isNumber := toDecimal(r)
	if f, isDouble := r.(float64); isDouble && f-f == 0 {
		n, isNumber = decimal.NewFromFloat(f), true
	}
	if !isNumber {
		if _, isMoment := momentDecimal(r, false); !isMoment {
			return 0, false
		}
		if _, isMoment := momentDecimal(l, false); isMoment {
			return 0, false
		}
		c, ok = compareMomentNumber(r, l)
		return -c, ok
	}
	if t, isDate := l.(time.Time); isDate && n.IsInteger() && n.Abs().LessThan(decimal.New(1, 15)) {
		if m, ok := numberMoment(n.IntPart()); ok {
			return t.Compare(m), true
		}
	}
	d, ok := momentDecimal(l, false)
	return d.Cmp(n), ok
}

func toText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []byte:
		return string(v), true
	}
	return "", false
}

// appendKey appends bytes that two values of the class share exactly where they
// are equal; ok is false for a value that has no such key.
func appendKey(dst []byte, class compareClass, v any) (key []byte, ok bool) {
	switch class {
	case classInteger, classExact:
		if i, ok := asInt64(v); ok {
			return appendInt(dst, i), true
		}
		d, ok := toDecimal(v)
		if !ok {
			return dst, false
		}
		if d.IsInteger() && d.BigInt().IsInt64() {
			return appendInt(dst, d.BigInt().Int64()), true
		}
		return appendText(append(dst, 'd'), d.String()), true
	case classDouble:
		f, ok := toDouble(v)
		if !ok {
			return dst, false
		}
		return appendDouble(dst, f), true
	case classBytes, classPadded:
		s, ok := toText(v)
		if class == classPadded {
			s = strings.TrimRight(s, " ")
		}
		return appendText(dst, s), ok
	case classMoment:
		t, ok := v.(time.Time)
		return appendInt(dst, t.UnixMicro()), ok
	case classTimeOfDay:
		t, ok := v.(gms.Timespan)
		return appendInt(dst, int64(t)), ok
	}
	return dst, false
}
