package table

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/read"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/schema"
)

// View says how the data is looked at: plainly, or as one of the system tables
// that show the data through other glasses does. Extra columns stand behind
// the request's columns in the order of the fields here.
type View struct {
	// Kind appends the row kind (lsm's constants, KindInt32) and keeps retract rows.
	Kind bool
	// Sequence appends the sequence number (KindInt64).
	Sequence bool
	// RowID appends the row id of row tracking (KindInt64).
	RowID bool
	// TopLevel reads the top level of primary-key tables only.
	TopLevel bool
	// place appends relation.PositionFields, of tables that are opened with positions.
	place bool
}

// Fields are the table's columns, and relation.PositionFields where it was opened with positions.
func (t *Table) Fields() []schema.Field {
	if t.places != nil {
		return t.places.fields
	}
	return t.schema.Fields
}

// PrimaryKey names the key columns, which identify a row of a plain read of
// one state; partitions of a fallback branch may have other keys.
func (t *Table) PrimaryKey() []string {
	if t.first != nil || t.chain != nil {
		return nil
	}
	for k := range t.opts.Dynamic {
		if strings.HasPrefix(k, "incremental-") || k == "scan.mode" {
			return nil
		}
	}
	return t.schema.PrimaryKeys
}

// Comment is the table's comment.
func (t *Table) Comment() string { return t.schema.Comment }

// Plan plans a plain read.
func (t *Table) Plan(ctx context.Context, req relation.Request) (*relation.Plan, error) {
	if t.places != nil {
		return t.planPlaces(ctx, req)
	}
	return t.PlanView(ctx, req, View{})
}

// refusePartial refuses the options with which Paimon leaves out files it cannot read: the answer would have fewer rows than
// the table, and nothing would say so.
func (t *Table) refusePartial() error {
	for _, b := range []*Table{t, t.first, t.second} {
		if b == nil {
			continue
		}
		for _, o := range []*schema.Option[bool]{schema.OptIgnoreCorruptFiles, schema.OptIgnoreLostFiles} {
			on, err := o.Get(b.schema.Options)
			if err != nil {
				return fmt.Errorf("table %s: %w", b.Label(), err)
			}
			if on {
				return errs.Unsupportedf("table %s: option '%s' is not supported: rows of files that cannot be read would be missing from the answer; set it to 'false', and repair or drop what is damaged", b.Label(), o.Key())
			}
		}
	}
	return nil
}

// PlanView plans a read through a view.
func (t *Table) PlanView(ctx context.Context, req relation.Request, v View) (*relation.Plan, error) {
	if err := t.refusePartial(); err != nil {
		return nil, err
	}
	want := read.Want{Columns: req.Columns, Filter: req.Filter, Kind: v.Kind, Sequence: v.Sequence, RowID: v.RowID}
	if v.place {
		want.Ordinal = t.places.ordinal
	}
	p := &planner{t: t, want: want, view: v, plan: &relation.Plan{}}
	p.handles = t.env.Readers.NewHandles(ctx)
	if stream, err := t.Streaming(); stream || err != nil {
		if err == nil {
			err = p.stream(ctx)
		}
		if err != nil {
			return nil, err
		}
		return p.finish(req), nil
	}
	st, err := t.State(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case st.Kind == DiffState:
		err = p.diff(ctx, st)
	case st.Kind != FullState:
		err = p.changes(ctx, st)
	case t.chain != nil:
		err = p.chain(ctx)
	case t.first != nil:
		err = p.union(ctx)
	default:
		err = p.branch(ctx, t, nil, false)
	}
	if err != nil {
		return nil, err
	}
	return p.finish(req), nil
}

// planner builds a relation.Plan.
type planner struct {
	t       *Table
	want    read.Want
	view    View
	plan    *relation.Plan
	handles *read.Handles
	splits  []*scan.Split
	inexact bool
}

// request is the scan request of a branch for the state.
func (p *planner) request(ctx context.Context, b *Table, only func([]column.Scalar) bool) (scan.Request, *State, error) {
	st, err := b.State(ctx)
	if err != nil {
		return scan.Request{}, nil, err
	}
	hint, err := b.partitionHint(ctx, st)
	if err != nil {
		return scan.Request{}, nil, err
	}
	r := scan.Request{Filter: p.want.Filter, KeepDeletes: p.view.Kind, CreatedAfter: st.CreatedAfter, Partitions: both(only, hint)}
	if p.view.TopLevel && b.schema.HasPrimaryKey() {
		top := scan.TopLevel(b.schema)
		r.Levels = func(l int) bool { return l == top }
	}
	return r, st, nil
}

// both joins two partition filters; nil = all.
func both(a, b func([]column.Scalar) bool) func([]column.Scalar) bool {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return func(v []column.Scalar) bool { return a(v) && b(v) }
}

// branch plans one branch's full state.
func (p *planner) branch(ctx context.Context, b *Table, only func([]column.Scalar) bool, fallback bool) error {
	req, st, err := p.request(ctx, b, only)
	if err != nil {
		return err
	}
	plan, err := b.Source().Plan(ctx, st.Snapshot, req)
	if err != nil {
		return err
	}
	for _, s := range plan.Splits {
		s.Fallback = fallback
	}
	p.splits = append(p.splits, plan.Splits...)
	if !b.Source().ExactPartitions(p.want.Filter) {
		p.inexact = true
	}
	p.note(b, st, plan.Counts, fallback)
	return nil
}

// union plans a fallback or primary read (section 4 of the branch rules).
func (p *planner) union(ctx context.Context) error {
	t := p.t
	if err := t.checkRowTypes(); err != nil {
		return err
	}
	complete, err := p.present(ctx, t.first)
	if err != nil {
		return err
	}
	if err := p.branch(ctx, t.first, nil, false); err != nil {
		return err
	}
	if !t.schema.Partitioned() && len(complete) > 0 {
		return nil
	}
	return p.branch(ctx, t.second, func(v []column.Scalar) bool {
		return !complete[partitionID(t.second, v)]
	}, true)
}

// present lists the partitions of a branch under partition predicates only:
// whether a column filter leaves rows of them does not count.
func (p *planner) present(ctx context.Context, b *Table) (map[string]bool, error) {
	req, st, err := p.request(ctx, b, nil)
	if err != nil {
		return nil, err
	}
	_, ids, err := b.Source().Partitions(ctx, st.Snapshot, req)
	return ids, err
}

// changes plans an incremental read. Fallback and chain branches take no part
// in it, as in streaming reads.
func (p *planner) changes(ctx context.Context, st *State) error {
	req, _, err := p.request(ctx, p.t, nil)
	if err != nil {
		return err
	}
	plan, err := p.t.Source().Changes(ctx, st.Range, st.Kind == ChangelogState, req)
	if err != nil {
		return err
	}
	p.splits = plan.Splits
	p.inexact = true
	p.note(p.t, st, plan.Counts, false)
	return nil
}

// note explains a branch's part.
func (p *planner) note(b *Table, st *State, c scan.Counts, fallback bool) {
	state := "empty"
	switch {
	case st.Kind == DeltaState, st.Kind == ChangelogState:
		state = fmt.Sprintf("changes of %d snapshots", len(st.Range))
	case st.Snapshot != nil:
		state = "snapshot " + strconv.FormatInt(st.Snapshot.ID, 10)
	}
	who := "branch " + b.branch
	if fallback {
		who += " (for partitions that are missing before it)"
	}
	text := fmt.Sprintf("%s, files: %d kept", state, c.Files)
	for _, x := range []struct {
		n    int
		what string
	}{{c.FilesByPartition, "pruned by partition"}, {c.FilesByBucket, "pruned by bucket"}, {c.FilesByStats, "pruned by statistics"}, {c.FilesByIndex, "pruned by file index"}, {c.FilesHidden, "not visible at their level"}} {
		if x.n > 0 {
			text += fmt.Sprintf(", %d %s", x.n, x.what)
		}
	}
	if c.ManifestsPruned > 0 {
		text += fmt.Sprintf("; manifests: %d of %d pruned", c.ManifestsPruned, c.Manifests)
	}
	p.plan.Info = append(p.plan.Info, relation.Note{Key: who, Value: text})
}

// finish turns the splits into morsels.
func (p *planner) finish(req relation.Request) *relation.Plan {
	exact := !p.inexact && !p.view.Kind && len(p.plan.Morsels) == 0
	p.plan.RowCount = 0
	raw, merge := 0, 0
	for _, s := range p.splits {
		n, ok := s.ExactRows()
		exact = exact && ok
		p.plan.RowCount += n
		if s.Mode == scan.Merge {
			merge++
		} else {
			raw++
		}
		p.plan.Morsels = append(p.plan.Morsels, read.Morsels(p.handles, s, p.want)...)
		if exact && req.Limit > 0 && p.plan.RowCount >= req.Limit {
			break
		}
	}
	if !exact {
		p.plan.RowCount = -1
	}
	p.plan.Info = append(p.plan.Info, relation.Note{Key: "splits", Value: fmt.Sprintf("%d read as they are, %d merged by key", raw, merge)})
	return p.plan
}

// EstimateRows adds up the physical rows of the visible files.
func (t *Table) EstimateRows(ctx context.Context) (int64, bool, error) {
	plan, err := t.PlanView(ctx, relation.Request{}, View{})
	if err != nil {
		return 0, false, err
	}
	if plan.RowCount >= 0 {
		return plan.RowCount, true, nil
	}
	var n int64
	for _, m := range plan.Morsels {
		n += m.Weight()
	}
	return n, false, nil
}

// PartitionPredicate returns the conjuncts of a filter that look at partition columns only.
func (t *Table) PartitionPredicate(f predicate.Predicate) predicate.Predicate {
	return t.Source().PartitionFilter(f)
}
