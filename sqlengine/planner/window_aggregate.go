package planner

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/shopspring/decimal"

	"github.com/tributarydb/tributary/sqlengine/dialect"
)

// frameFold folds the rows of a frame. While a frame only grows, rows are added.
type frameFold interface {
	add(ctx *sql.Context, row sql.Row) error
	result(ctx *sql.Context) (any, error)
}

// shrinkingFold can take rows out again, exactly.
type shrinkingFold interface {
	frameFold
	remove(ctx *sql.Context, row sql.Row) error
}

// newFold begins a frame for an aggregate.
func newFold(ctx *sql.Context, e sql.Expression) (frameFold, error) {
	switch e := e.(type) {
	case *WindowFunction:
		if e.kind == dialect.WindowCount {
			return &countFold{arg: e.args[0]}, nil
		}
		return &extremeFold{arg: e.args[0], max: e.kind == dialect.WindowMax, compare: newKeyCompare(ctx, e.args[0], false)}, nil
	case *Aggregate:
		acc := e.newAccumulator()
		if s, ok := acc.(*exactSum); ok {
			return &sumFold{arg: e.child, acc: s}, nil
		}
		return &accumulatorFold{arg: e.child, acc: acc}, nil
	case sql.Aggregation:
		b, err := e.NewBuffer()
		if err != nil {
			return nil, err
		}
		return bufferFold{b}, nil
	}
	return nil, fmt.Errorf("%s is not an aggregate", e)
}

// frames computes an aggregate over the frame of every row of a partition.
func (it *windowRows) frames(ctx *sql.Context, p *windowPartition, e sql.WindowAdaptableExpression, out []any) error {
	frame, err := newFrame(ctx, e.Window())
	if err != nil {
		return err
	}
	fold, err := newFold(ctx, e)
	if err != nil {
		return err
	}
	if _, inOrder := fold.(bufferFold); frame.end.kind == boundUnbounded && frame.start.kind != boundUnbounded && !inOrder {
		return it.framesFromEnd(ctx, p, e, frame, fold, out)
	}
	from, to, steps := 0, 0, 0
	var last any
	for i, row := range p.order {
		start, end, err := frame.at(p, i)
		if err != nil {
			return err
		}
		changed := i == 0 || start != from || end != to
		if shrink, ok := fold.(shrinkingFold); ok && start > from && start <= to && end >= to && start-from < end-start {
			for ; from < start; from++ {
				if err := shrink.remove(ctx, it.rows[p.order[from]]); err != nil {
					return err
				}
			}
		}
		if start != from || end < to {
			if fold, err = newFold(ctx, e); err != nil {
				return err
			}
			from, to = start, start
		}
		for ; to < end; to++ {
			if steps++; steps%checkEvery == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if err := fold.add(ctx, it.rows[p.order[to]]); err != nil {
				return err
			}
		}
		if changed {
			if last, err = fold.result(ctx); err != nil {
				return err
			}
		}
		out[row] = last
	}
	return nil
}

// framesFromEnd computes frames that all end with the partition from its end, so that they grow.
func (it *windowRows) framesFromEnd(ctx *sql.Context, p *windowPartition, e sql.Expression, frame *windowFrame, fold frameFold, out []any) error {
	from, steps := len(p.order), 0
	for i := len(p.order) - 1; i >= 0; i-- {
		start, end, err := frame.at(p, i)
		if err != nil {
			return err
		}
		if start >= end {
			start = len(p.order)
		}
		if start > from {
			if fold, err = newFold(ctx, e); err != nil {
				return err
			}
			from = len(p.order)
		}
		for from > start {
			if steps++; steps%checkEvery == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			from--
			if err := fold.add(ctx, it.rows[p.order[from]]); err != nil {
				return err
			}
		}
		if out[p.order[i]], err = fold.result(ctx); err != nil {
			return err
		}
	}
	return nil
}

// countFold is COUNT.
type countFold struct {
	arg sql.Expression
	n   int64
}

func (f *countFold) step(ctx *sql.Context, row sql.Row, by int64) error {
	v, err := f.arg.Eval(ctx, row)
	if v != nil {
		f.n += by
	}
	return err
}

func (f *countFold) add(ctx *sql.Context, row sql.Row) error    { return f.step(ctx, row, 1) }
func (f *countFold) remove(ctx *sql.Context, row sql.Row) error { return f.step(ctx, row, -1) }
func (f *countFold) result(*sql.Context) (any, error)           { return f.n, nil }

// extremeFold is MIN and MAX.
type extremeFold struct {
	arg     sql.Expression
	max     bool
	compare keyCompare
	best    any
}

func (f *extremeFold) add(ctx *sql.Context, row sql.Row) error {
	v, err := f.arg.Eval(ctx, row)
	if err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	if err != nil || v == nil {
		return err
	}
	if f.best != nil {
		c, err := f.compare.compare(ctx, v, f.best)
		if err != nil || f.max && c <= 0 || !f.max && c >= 0 {
			return err
		}
	}
	f.best = v
	return nil
}

func (f *extremeFold) result(*sql.Context) (any, error) { return f.best, nil }

// accumulatorFold is an aggregate of the tunnel.
type accumulatorFold struct {
	arg sql.Expression
	acc accumulator
}

func (f *accumulatorFold) add(ctx *sql.Context, row sql.Row) error {
	v, err := f.arg.Eval(ctx, row)
	if err != nil || v == nil {
		return err
	}
	return f.acc.add(ctx, v)
}

func (f *accumulatorFold) result(*sql.Context) (any, error) { return f.acc.result(), nil }

// sumFold is SUM and AVG of exact numbers.
type sumFold struct {
	arg sql.Expression
	acc *exactSum
}

func (f *sumFold) add(ctx *sql.Context, row sql.Row) error {
	v, err := f.arg.Eval(ctx, row)
	if err != nil || v == nil {
		return err
	}
	return f.acc.add(ctx, v)
}

func (f *sumFold) remove(ctx *sql.Context, row sql.Row) error {
	v, err := f.arg.Eval(ctx, row)
	if err != nil || v == nil {
		return err
	}
	d := decimal.Decimal{}
	if i, ok := asInt64(v); ok {
		d = decimal.NewFromInt(i)
	} else if d, err = exactValue(v); err != nil {
		return err
	}
	f.acc.rest = f.acc.rest.Sub(d)
	f.acc.n--
	return nil
}

func (f *sumFold) result(*sql.Context) (any, error) { return f.acc.result(), nil }

// bufferFold is an aggregate of go-mysql-server, which may depend on the order of the rows.
type bufferFold struct{ sql.AggregationBuffer }

func (f bufferFold) add(ctx *sql.Context, row sql.Row) error {
	return f.Update(ctx, row)
}

func (f bufferFold) result(ctx *sql.Context) (any, error) { return f.Eval(ctx) }
