package table

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/schema"
)

// places numbers the data files of a table that is opened with positions, in the order in which plans
// name them. It is safe for concurrent use.
type places struct {
	// fields are the table's columns and relation.PositionFields.
	fields []schema.Field
	mu     sync.Mutex
	number map[placeKey]int32
	files  []*scan.File
}

// placeKey names a data file: partition and bucket are part of it since names are unique by chance only.
type placeKey struct {
	partition string
	bucket    int
	name      string
}

func newPlaces(table []schema.Field) *places {
	return &places{fields: append(slices.Clone(table), relation.PositionFields(false)...), number: map[placeKey]int32{}}
}

// ordinal is the number of a file.
func (p *places) ordinal(f *scan.File) int32 {
	k := placeKey{f.PartitionID, f.Bucket, f.Meta.Name}
	p.mu.Lock()
	defer p.mu.Unlock()
	n, ok := p.number[k]
	if !ok {
		n = int32(min(len(p.files), math.MaxInt32)) // a table of more files does not fit in memory
		p.number[k] = n
		p.files = append(p.files, f)
	}
	return n
}

// file is the file of a number, nil where there is none.
func (p *places) file(n int32) *scan.File {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n < 0 || int(n) >= len(p.files) {
		return nil
	}
	return p.files[n]
}

// checkPositions refuses what has no rows that can be named by file and position, or has no use for it.
func (t *Table) checkPositions(ctx context.Context) error {
	if err := t.checkPlaced(); err != nil {
		return err
	}
	if stream, err := t.Streaming(); err != nil || stream {
		if err == nil {
			err = errs.Invalidf("table %s: rows of a streaming read cannot be removed; leave option '%s' out", t.Label(), optStreaming)
		}
		return err
	}
	st, err := t.State(ctx)
	if err != nil {
		return err
	}
	if st.Explicit || st.Kind != FullState {
		return errs.Invalidf("table %s: rows of a past state or a range of snapshots cannot be removed; leave scan options and AS OF out", t.Label())
	}
	return nil
}

// checkPlaced is the part of checkPositions that the definition of the table decides.
func (t *Table) checkPlaced() error {
	o := t.schema.Options
	switch {
	case t.chain != nil:
		return errs.Unsupportedf("table %s has option 'chain-table.enabled' = 'true': its rows are put together from several branches and cannot be removed by position", t.Label())
	case t.schema.HasPrimaryKey():
		return errs.Invalidf("table %s has a primary key: its rows are removed by their keys, not by their positions", t.Label())
	case schema.OptDataEvolution.Value(o):
		return errs.Unsupportedf("table %s has option 'data-evolution.enabled' = 'true': its rows are put together from several files and cannot be removed by position; change it with Paimon", t.Label())
	case t.first != nil:
		key := "scan.fallback-branch"
		if t.stored.Options[key] == "" {
			key = "scan.primary-branch"
		}
		return errs.Unsupportedf("table %s has option '%s' = '%s': rows of another branch are seen through it, and cannot be removed from here; RESET the option, or change each branch by itself", t.Label(), key, t.stored.Options[key])
	}
	for _, f := range t.schema.Fields {
		for _, p := range relation.PositionFields(false) {
			if strings.EqualFold(f.Name, p.Name) {
				return errs.Unsupportedf("table %s has a column '%s', a name that is needed to remove rows; rename the column", t.Label(), f.Name)
			}
		}
	}
	return nil
}

// planPlaces plans a read of a table that is opened with positions. Conditions on
// positions are left to the reader of the rows.
func (t *Table) planPlaces(ctx context.Context, req relation.Request) (*relation.Plan, error) {
	n := len(t.schema.Fields)
	inner := relation.Request{Limit: req.Limit}
	weaker := false
	inner.Filter = predicate.RemapColumns(req.Filter, func(c int) int {
		if c >= n {
			weaker = true
			return -1
		}
		return c
	})
	if weaker {
		inner.Limit = 0
	}
	view := View{}
	for _, c := range req.Columns {
		if c < n {
			inner.Columns = append(inner.Columns, c)
		} else {
			view.place = true
		}
	}
	// pick says which column of the inner batches each of the request is.
	data, inOrder := 0, true
	pick := make([]int, len(req.Columns))
	for i, c := range req.Columns {
		if c < n {
			pick[i] = data
			data++
		} else {
			pick[i] = len(inner.Columns) + c - n
		}
		inOrder = inOrder && pick[i] == i
	}
	plan, err := t.PlanView(ctx, inner, view)
	if err != nil {
		return nil, err
	}
	if weaker {
		plan.RowCount = -1
	}
	if view.place && (!inOrder || len(pick) != len(inner.Columns)+2) {
		for i, m := range plan.Morsels {
			plan.Morsels[i] = &pickMorsel{m: m, pick: pick}
		}
	}
	return plan, nil
}

// pickMorsel puts the columns of a morsel into another order.
type pickMorsel struct {
	m    relation.Morsel
	pick []int
}

// Weight implements relation.Morsel.
func (p *pickMorsel) Weight() int64 { return p.m.Weight() }

// Open implements relation.Morsel.
func (p *pickMorsel) Open(ctx context.Context) (relation.Reader, error) {
	r, err := p.m.Open(ctx)
	if err != nil {
		return nil, err
	}
	return &pickReader{Reader: r, pick: p.pick}, nil
}

// Split implements relation.Splitter.
func (p *pickMorsel) Split(ctx context.Context) ([]relation.Morsel, error) {
	s, ok := p.m.(relation.Splitter)
	if !ok {
		return []relation.Morsel{p}, nil
	}
	parts, err := s.Split(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]relation.Morsel, len(parts))
	for i, m := range parts {
		out[i] = &pickMorsel{m: m, pick: p.pick}
	}
	return out, nil
}

type pickReader struct {
	relation.Reader
	pick []int
}

// Next implements relation.Reader.
func (r *pickReader) Next(ctx context.Context) (*column.Batch, error) {
	b, err := r.Reader.Next(ctx)
	if err != nil {
		return nil, err
	}
	out := *b
	out.Cols = make([]*column.Vector, len(r.pick))
	for i, c := range r.pick {
		out.Cols[i] = b.Cols[c]
	}
	return &out, nil
}
