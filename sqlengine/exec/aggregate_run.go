package exec

import (
	"context"
	"io"
	"sync"
	"sync/atomic"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
)

// mergeRows is the number of groups from which tables are merged by several goroutines.
const mergeRows = 50_000

// run computes the groups.
func (a *aggregate) run(ctx context.Context, o *Executor) (batchIter, error) {
	if a.in.agg != nil {
		return a.runOver(ctx, o)
	}
	plan, err := a.in.table.Relation().Plan(ctx, a.in.request())
	if err != nil {
		return nil, err
	}
	if b := a.counted(plan.RowCount); b != nil {
		return &listIter{batches: []*column.Batch{b}}, nil
	}
	n := workersFor(plan.Morsels)
	tables := make([]*aggregateTable, n)
	account := &accountant{limit: o.memory, what: "the groups of a query"}
	err = scanParallel(ctx, plan.Morsels, n, func(i int) func(*column.Batch) error {
		tables[i] = newAggregateTable(&a.spec)
		return a.consumer(newPipeWorker(a.in), tables[i], account)
	})
	if err != nil {
		return nil, err
	}
	return a.merge(ctx, tables)
}

// consumer puts batches into a table.
func (a *aggregate) consumer(w *pipeWorker, t *aggregateTable, account *accountant) func(*column.Batch) error {
	used := int64(0)
	return func(b *column.Batch) error {
		ok, err := w.load(b)
		if err != nil || !ok {
			return err
		}
		if err := t.add(w.ev); err != nil {
			return err
		}
		now := t.bytes()
		err = account.add(now - used)
		used = now
		return err
	}
}

// runOver groups the rows of another aggregate.
func (a *aggregate) runOver(ctx context.Context, o *Executor) (batchIter, error) {
	in, err := a.in.agg.run(ctx, o)
	if err != nil {
		return nil, err
	}
	defer in.close()
	t := newAggregateTable(&a.spec)
	f := a.consumer(newPipeWorker(a.in), t, &accountant{limit: o.memory, what: "the groups of a query"})
	for {
		if err := check(ctx); err != nil {
			return nil, err
		}
		b, err := in.next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		part := *b
		part.Cols = make([]*column.Vector, len(a.in.fields))
		for i, field := range a.in.fields {
			part.Cols[i] = b.Cols[field]
		}
		if err := f(&part); err != nil {
			return nil, err
		}
	}
	return newTableIter([]*aggregateTable{t}, a.need), nil
}

// counted is the answer of COUNT(*) alone where metadata has it.
func (a *aggregate) counted(rows int64) *column.Batch {
	if rows < 0 || len(a.spec.keys) > 0 || !a.in.table.FilterExact() {
		return nil
	}
	for _, s := range a.spec.slots {
		if s.kind != slotCountAll {
			return nil
		}
	}
	for _, f := range a.in.filters {
		if f.pred == nil {
			return nil
		}
	}
	b := &column.Batch{N: 1}
	for range a.spec.results {
		b.Cols = append(b.Cols, &column.Vector{Kind: column.KindInt64, N: 1, I64: []int64{rows}})
	}
	return b
}

// merge makes one result of the workers' tables.
func (a *aggregate) merge(ctx context.Context, tables []*aggregateTable) (batchIter, error) {
	total := 0
	for _, t := range tables {
		total += t.n
	}
	if len(tables) == 1 {
		return newTableIter(tables, a.need), nil
	}
	if len(a.spec.keys) == 0 || total < mergeRows {
		for _, t := range tables[1:] {
			if err := tables[0].merge(t, nil); err != nil {
				return nil, err
			}
			t.release()
		}
		return newTableIter(tables[:1], a.need), nil
	}
	// Each goroutine merges the groups of a range of hashes.
	n := len(tables)
	out := make([]*aggregateTable, n)
	work := func(p int) (err error) {
		defer errs.Recover(&err, "grouping rows")
		out[p] = newAggregateTable(&a.spec)
		out[p].groups.reserve(total / n)
		for _, t := range tables {
			if err := check(ctx); err != nil {
				return err
			}
			if err := out[p].merge(t, func(h uint64) bool { return int(h>>40)%n == p }); err != nil {
				return err
			}
		}
		return nil
	}
	failed := make([]error, n)
	var wg sync.WaitGroup
	for p := range n {
		wg.Go(func() { failed[p] = work(p) })
	}
	wg.Wait()
	if err := firstCause(failed); err != nil {
		return nil, err
	}
	for _, t := range tables {
		t.release()
	}
	return newTableIter(out, a.need), nil
}

// tableIter yields the groups of tables.
type tableIter struct {
	tables []*aggregateTable
	// all are released with the iterator.
	all  []*aggregateTable
	need []bool
	pos  int
}

func newTableIter(tables []*aggregateTable, need []bool) *tableIter {
	return &tableIter{tables: tables, all: tables, need: need}
}

func (t *tableIter) next(context.Context) (*column.Batch, error) {
	for len(t.tables) > 0 {
		a := t.tables[0]
		if t.pos >= a.n {
			t.tables, t.pos = t.tables[1:], 0
			continue
		}
		to := min(a.n, t.pos+column.MaxRows)
		b, err := a.batch(t.pos, to, t.need)
		t.pos = to
		return b, err
	}
	return nil, io.EOF
}

func (t *tableIter) close() error {
	for _, a := range t.all {
		a.release()
	}
	t.tables, t.all = nil, nil
	return nil
}

// accountant bounds the memory of a query.
type accountant struct {
	used  atomic.Int64
	limit int64
	what  string
}

func (m *accountant) add(n int64) error {
	if n == 0 {
		return nil
	}
	if m.used.Add(n) > m.limit {
		return errs.Limitf("%s need more than %d MiB of memory; filter more", m.what, m.limit>>20)
	}
	return nil
}
