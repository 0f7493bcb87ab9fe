package lsm

import (
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
)

// primaryKeyAgg keeps the newest key value.
type primaryKeyAgg struct{ aggBase }

func (primaryKeyAgg) agg(acc, in value) (value, error)      { return in, nil }
func (primaryKeyAgg) reversed(acc, in value) (value, error) { return acc, nil }
func (primaryKeyAgg) retract(acc, in value) (value, error)  { return in, nil }

// lastValueAgg keeps the newest value, null or not.
type lastValueAgg struct{ aggBase }

func (lastValueAgg) agg(acc, in value) (value, error)      { return in, nil }
func (lastValueAgg) reversed(acc, in value) (value, error) { return acc, nil }
func (lastValueAgg) retract(acc, in value) (value, error)  { return value{}, nil }

// lastNonNullAgg keeps the newest value that is not null.
type lastNonNullAgg struct{ aggBase }

func (lastNonNullAgg) agg(acc, in value) (value, error) {
	if in.null() {
		return acc, nil
	}
	return in, nil
}

func (a lastNonNullAgg) reversed(acc, in value) (value, error) { return a.agg(in, acc) }

func (lastNonNullAgg) retract(acc, in value) (value, error) {
	if !in.null() {
		return value{}, nil
	}
	return acc, nil
}

// firstValueAgg keeps the first value fed, null or not. Like Paimon's, it
// remembers that it was fed, not what the accumulator holds.
type firstValueAgg struct {
	aggBase
	fed bool
}

func (a *firstValueAgg) reset() { a.fed = false }

func (a *firstValueAgg) agg(acc, in value) (value, error) {
	if a.fed {
		return acc, nil
	}
	a.fed = true
	return in, nil
}

func (a *firstValueAgg) reversed(acc, in value) (value, error) { return a.agg(in, acc) }

// firstNonNullAgg keeps the first value fed that is not null.
type firstNonNullAgg struct {
	aggBase
	fed bool
}

func (a *firstNonNullAgg) reset() { a.fed = false }

func (a *firstNonNullAgg) agg(acc, in value) (value, error) {
	if a.fed || in.null() {
		return acc, nil
	}
	a.fed = true
	return in, nil
}

func (a *firstNonNullAgg) reversed(acc, in value) (value, error) { return a.agg(in, acc) }

// extremeAgg keeps the greatest or least value.
type extremeAgg struct {
	aggBase
	max bool
	// comparable is false for types without an order, which fail when two values meet.
	comparable bool
}

func (a extremeAgg) agg(acc, in value) (value, error) {
	if acc.null() {
		return in, nil
	}
	if in.null() {
		return acc, nil
	}
	if !a.comparable {
		return value{}, errs.Invalidf("Incomparable type for aggregate function '%s'", a.name)
	}
	less := column.CompareRows(acc.v, acc.i, in.v, in.i) < 0
	if less == a.max {
		return in, nil
	}
	return acc, nil
}

func (a extremeAgg) reversed(acc, in value) (value, error) { return a.agg(in, acc) }

// boolAgg is bool_and and bool_or.
type boolAgg struct {
	aggBase
	or bool
	s  *scratch
}

func (a boolAgg) agg(acc, in value) (value, error) {
	if acc.null() {
		return in, nil
	}
	if in.null() {
		return acc, nil
	}
	x, y := acc.v.I32[acc.i]&1, in.v.I32[in.i]&1
	if a.or {
		return a.s.int(int64(x | y)), nil
	}
	return a.s.int(int64(x & y)), nil
}

func (a boolAgg) reversed(acc, in value) (value, error) { return a.agg(in, acc) }
