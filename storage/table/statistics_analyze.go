package table

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/read"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// Analyze computes the statistics of the branch's newest state (PaimonAnalyzeTableColumnCommand): how many rows there are
// after merging, and of the columns, given by their indexes, what Statistics holds. nil where the branch has no snapshot.
// progress, where not nil, is told now and then how many rows have been read; several goroutines call it.
func (t *Table) Analyze(ctx context.Context, columns []int, progress func(rows int64)) (*snapshot.Statistics, error) {
	if err := t.refusePartial(); err != nil {
		return nil, err
	}
	snap, err := t.latest(ctx)
	if err != nil || snap == nil {
		return nil, err
	}
	req := relation.Request{Columns: columns}
	p := &planner{t: t, want: read.Want{Columns: columns}, plan: &relation.Plan{}}
	ctx, cancel := context.WithCancel(ctx) // closes the files
	defer cancel()
	p.handles = t.env.Readers.NewHandles(ctx)
	if err := p.branch(ctx, t, nil, false); err != nil {
		return nil, err
	}
	a := &analysis{t: t, columns: columns, morsels: p.finish(req).Morsels, progress: progress}
	if err := a.run(ctx, cancel); err != nil {
		return nil, err
	}
	out := &snapshot.Statistics{SnapshotID: snap.ID, SchemaID: t.stored.ID, MergedRecordCount: &a.rows}
	files, err := t.LiveFiles(ctx)
	if err != nil {
		return nil, err
	}
	var size, records int64
	for _, f := range files {
		size += f.Meta.Size
		records += f.Meta.RowCount
	}
	if records > 0 {
		size = int64(float64(size) * (float64(a.rows) / float64(records)))
	}
	out.MergedRecordSize = &size
	for i, c := range columns {
		out.Columns = append(out.Columns, a.collectors[i].statistics(&t.schema.Fields[c]))
	}
	return out, nil
}

// SaveStatistics writes a statistics file and returns its name, which a commit has to publish.
func (t *Table) SaveStatistics(ctx context.Context, s *snapshot.Statistics) (name string, err error) {
	id, err := uuid.NewRandomFromReader(&t.env.Writing)
	if err != nil {
		return "", err
	}
	name = "stat-" + id.String() + "-0"
	return name, snapshot.WriteStatistics(ctx, t.env.FIO, t.dir, name, s)
}

// analysis reads rows in parallel.
type analysis struct {
	t        *Table
	columns  []int
	morsels  []relation.Morsel
	progress func(rows int64)

	next       atomic.Int64
	done       atomic.Int64
	mu         sync.Mutex
	rows       int64
	collectors []*columnCollector
	err        error
}

func (a *analysis) newCollectors() []*columnCollector {
	out := make([]*columnCollector, len(a.columns))
	for i, c := range a.columns {
		out[i] = newColumnCollector(a.t.schema.Fields[c].Type)
	}
	return out
}

func (a *analysis) run(ctx context.Context, cancel func()) error {
	a.collectors = a.newCollectors()
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), max(len(a.morsels), 1)) {
		wg.Go(func() {
			if err := a.work(ctx); err != nil {
				a.mu.Lock()
				if a.err == nil {
					a.err = err
				}
				a.mu.Unlock()
				cancel()
			}
		})
	}
	wg.Wait()
	return a.err
}

// work reads morsels until there are none, and adds what it found.
func (a *analysis) work(ctx context.Context) error {
	own := a.newCollectors()
	var rows int64
	for {
		i := a.next.Add(1) - 1
		if i >= int64(len(a.morsels)) {
			break
		}
		err := eachBatch(ctx, a.morsels[i], func(b *column.Batch) error {
			n := int64(b.Rows())
			rows += n
			for k, c := range own {
				c.add(b, b.Cols[k])
			}
			if a.progress != nil {
				a.progress(a.done.Add(n))
			}
			return ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rows += rows
	for k, c := range own {
		a.collectors[k].merge(c)
	}
	return nil
}
