package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tributarydb/tributary/sqltests/bench/generate"
)

// warmups are rounds before those that count.
const warmups = 2

// cell is one query on one table by one engine.
type cell struct {
	times []time.Duration
	// processor is the processor time of all of them together.
	processor time.Duration
	// failed is why there are no times.
	failed error
}

// measurement is one query on one table by all engines.
type measurement struct {
	table *generate.Table
	query *query
	cells []cell
}

// from is what stands behind FROM for an engine, and what it must answer:
// DuckDB knows no Paimon tables, it gets the base files.
func from(e engine, t *generate.Table) (string, *generate.Expected) {
	switch e.name() {
	case "DuckDB":
		quoted := make([]string, len(t.Base))
		for i, p := range t.Base {
			quoted[i] = "'" + strings.ReplaceAll(p, "'", "''") + "'"
		}
		return "read_parquet([" + strings.Join(quoted, ", ") + "])", t.BaseExpected
	case "pypaimon-rust":
		return "paimon." + generate.Database + "." + t.Name, t.Expected
	}
	return t.Name, t.Expected
}

// measure runs every query on every table by every engine, in turn, and checks every answer.
func measure(ctx context.Context, engines []engine, tables []generate.Table, rounds int, progress func(string)) ([]measurement, error) {
	var all []measurement
	for i := range tables {
		for j := range queries {
			all = append(all, measurement{&tables[i], &queries[j], make([]cell, len(engines))})
		}
	}
	for round := -warmups; round < rounds; round++ {
		for m := range all {
			// Each round begins with another engine.
			for k := range engines {
				i := (k + round + warmups) % len(engines)
				if err := all[m].step(ctx, engines, i, round >= 0); err != nil {
					return nil, err
				}
			}
		}
		if round < 0 {
			progress(fmt.Sprintf("warm-up %d of %d", round+warmups+1, warmups))
		} else {
			progress(fmt.Sprintf("round %d of %d", round+1, rounds))
		}
	}
	return all, nil
}

// step runs one cell once. A wrong answer of Tributary ends the benchmark; a peer that fails is left out.
func (m *measurement) step(ctx context.Context, engines []engine, i int, counts bool) error {
	c := &m.cells[i]
	if c.failed != nil {
		return nil
	}
	table, expected := from(engines[i], m.table)
	processor := processorTime(engines[i].process())
	a, err := engines[i].query(ctx, fmt.Sprintf(m.query.text, table))
	if err == nil {
		if err = m.query.check(a.rows, expected); err != nil {
			err = fmt.Errorf("wrong answer: %w", err)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		err = fmt.Errorf("%s, %s on %s: %w", engines[i].name(), m.query.name, m.table.Name, err)
		if i == 0 {
			return err
		}
		c.failed, c.times = err, nil
		return nil
	}
	if counts {
		c.times = append(c.times, a.took)
		c.processor += processorTime(engines[i].process()) - processor
	}
	return nil
}

// median of a list that is not empty.
func median[T int64 | float64 | time.Duration](list []T) T {
	s := slices.Sorted(slices.Values(list))
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}

// ratios are our times by another engine's, round by round.
func (m *measurement) ratios(other int) []float64 {
	ours, theirs := m.cells[0].times, m.cells[other].times
	r := make([]float64, min(len(ours), len(theirs)))
	for i := range r {
		r[i] = float64(ours[i]) / float64(theirs[i])
	}
	return r
}
