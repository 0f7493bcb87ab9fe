package systables

import (
	"context"
	"errors"
	"io"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/lsm"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/table"
)

// kindNames are the texts of row kinds, by lsm's numbers.
var kindNames = [...]string{lsm.Insert: "+I", lsm.UpdateBefore: "-U", lsm.UpdateAfter: "+U", lsm.Delete: "-D"}

// kindDict is the dictionary of kindNames.
var kindDict = func() *column.Vector {
	b := column.NewBuilder(column.KindBytes)
	for _, n := range kindNames {
		b.AppendString(n)
	}
	return b.Finish()
}()

// kindTexts turns row kinds into their texts.
func kindTexts(v *column.Vector) (*column.Vector, error) {
	out := &column.Vector{Kind: column.KindBytes, N: v.N, Dict: kindDict, Codes: make([]uint32, v.N)}
	for i := range v.N {
		k := v.Int(i)
		if v.IsNull(i) || k < 0 || int(k) >= len(kindNames) {
			return nil, errs.Corruptf("a row has the unknown row kind %d", k)
		}
		out.Codes[i] = uint32(k)
	}
	return out, nil
}

// dataView shows a table's rows with columns in front of or behind its own.
type dataView struct {
	t    *table.Table
	cols []schema.Field
	view table.View
	// source maps a shown column to a column of the table, or to kindColumn,
	// sequenceColumn or rowIDColumn.
	source []int
	// pack makes arrays of the values, update pairs of changes in one row (binlog).
	pack bool
}

const (
	kindColumn = -1 - iota
	sequenceColumn
	rowIDColumn
)

func (d *dataView) Fields() []schema.Field { return d.cols }
func (d *dataView) PrimaryKey() []string   { return nil }
func (d *dataView) Comment() string        { return "" }

// Plan implements relation.Relation.
func (d *dataView) Plan(ctx context.Context, req relation.Request) (*relation.Plan, error) {
	inner := relation.Request{}
	at := map[int]int{}
	for _, c := range req.Columns {
		if s := d.source[c]; s >= 0 {
			if _, ok := at[s]; !ok {
				at[s] = len(inner.Columns)
				inner.Columns = append(inner.Columns, s)
			}
		}
	}
	if !d.pack {
		inner.Filter = predicate.RemapColumns(req.Filter, func(c int) int { return max(d.source[c], -1) })
	}
	plan, err := d.t.PlanView(ctx, inner, d.view)
	if err != nil {
		return nil, err
	}
	n := len(inner.Columns)
	if d.view.Kind {
		at[kindColumn] = n
		n++
	}
	if d.view.Sequence {
		at[sequenceColumn] = n
		n++
	}
	if d.view.RowID {
		at[rowIDColumn] = n
	}
	from := make([]int, len(req.Columns))
	for i, c := range req.Columns {
		from[i] = at[d.source[c]]
	}
	pairs := false
	if d.pack {
		if pairs, err = readsChanges(ctx, d.t); err != nil {
			return nil, err
		}
	}
	for i, m := range plan.Morsels {
		plan.Morsels[i] = &viewMorsel{Morsel: m, d: d, from: from, cols: req.Columns, kind: at[kindColumn], pairs: pairs}
	}
	if d.pack {
		plan.RowCount = -1
	}
	return plan, nil
}

// readsChanges reports whether a table is read change by change, and not as a state, whose neighbours are different keys.
func readsChanges(ctx context.Context, t *table.Table) (bool, error) {
	if stream, err := t.Streaming(); stream || err != nil {
		return stream, err
	}
	st, err := t.State(ctx)
	if err != nil {
		return false, err
	}
	return st.Kind == table.DeltaState || st.Kind == table.ChangelogState, nil
}

type viewMorsel struct {
	relation.Morsel
	d    *dataView
	from []int
	cols []int
	kind int
	// pairs says that a +U row right behind a -U row is of the same key.
	pairs bool
}

func (m *viewMorsel) Open(ctx context.Context) (relation.Reader, error) {
	r, err := m.Morsel.Open(ctx)
	if err != nil {
		return nil, err
	}
	v := &viewReader{Reader: r, m: m}
	if m.d.pack {
		return &packReader{in: v}, nil
	}
	return v, nil
}

// viewReader puts the shown columns in order.
type viewReader struct {
	relation.Reader
	m *viewMorsel
	// raw is the last batch of the table.
	raw *column.Batch
}

func (r *viewReader) Next(ctx context.Context) (*column.Batch, error) {
	b, err := r.Reader.Next(ctx)
	if err != nil {
		return nil, err
	}
	r.raw = b
	out := &column.Batch{N: b.N, Sel: b.Sel, Base: b.Base, Cols: make([]*column.Vector, len(r.m.from))}
	for i, f := range r.m.from {
		out.Cols[i] = b.Cols[f]
		if r.m.d.source[r.m.cols[i]] == kindColumn {
			if out.Cols[i], err = kindTexts(b.Cols[f]); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// packReader makes arrays of the columns but the row kind and sequence
// number: of one element, or of two for a -U row followed by its +U row.
type packReader struct {
	in *viewReader
	// held is a -U row whose +U row is in the next batch.
	held []*column.Vector
}

func (r *packReader) Next(ctx context.Context) (*column.Batch, error) {
	for {
		b, err := r.in.Next(ctx)
		if errors.Is(err, io.EOF) && r.held != nil {
			out := r.builders(r.held)
			r.emit(out, r.held, 0, nil, 0)
			r.held = nil
			return finish(out), nil
		}
		if err != nil {
			return nil, err
		}
		if b.Rows() == 0 {
			continue
		}
		out := r.builders(b.Cols)
		kinds := r.in.raw.Cols[r.in.m.kind]
		n := 0
		for k := 0; k < b.Rows(); k++ {
			i := b.Row(k)
			kind := int32(kinds.Int(i))
			switch {
			case r.held != nil:
				if kind == lsm.UpdateAfter {
					r.emit(out, r.held, 0, b.Cols, i)
				} else {
					r.emit(out, r.held, 0, nil, 0)
					k--
				}
				r.held = nil
			case !r.in.m.pairs:
				r.emit(out, b.Cols, i, nil, 0)
			case kind == lsm.UpdateBefore && k+1 < b.Rows() && int32(kinds.Int(b.Row(k+1))) == lsm.UpdateAfter:
				r.emit(out, b.Cols, i, b.Cols, b.Row(k+1))
				k++
			case kind == lsm.UpdateBefore && k+1 == b.Rows():
				r.held = make([]*column.Vector, len(b.Cols))
				for c, v := range b.Cols {
					one := column.NewBuilderLike(v)
					one.Append(v, i)
					r.held[c] = one.Finish()
				}
				continue
			default:
				r.emit(out, b.Cols, i, nil, 0)
			}
			n++
		}
		if n > 0 {
			return finish(out), nil
		}
	}
}

// arrayed reports whether shown column i is an array.
func (r *packReader) arrayed(i int) bool { return r.in.m.d.source[r.in.m.cols[i]] >= 0 }

func (r *packReader) builders(cols []*column.Vector) []*column.Builder {
	out := make([]*column.Builder, len(cols))
	for i, v := range cols {
		out[i] = column.NewBuilderLike(v)
		if r.arrayed(i) {
			out[i] = column.NewBuilder(column.KindList, out[i])
		}
	}
	return out
}

// emit appends a row, or an update pair as one row of the later row's kind.
func (r *packReader) emit(out []*column.Builder, a []*column.Vector, i int, b []*column.Vector, j int) {
	for c, o := range out {
		if !r.arrayed(c) {
			if b != nil {
				o.Append(b[c], j)
			} else {
				o.Append(a[c], i)
			}
			continue
		}
		o.Child(0).Append(a[c], i)
		if b != nil {
			o.Child(0).Append(b[c], j)
		}
		o.EndList()
	}
}

func finish(out []*column.Builder) *column.Batch {
	b := &column.Batch{}
	for _, o := range out {
		b.Cols = append(b.Cols, o.Finish())
	}
	if len(out) > 0 {
		b.N = b.Cols[0].N
	}
	return b
}

func (r *packReader) Close() error { return r.in.Close() }

// kindViews makes $audit_log and $binlog.
func kindView(t *table.Table, pack bool) (relation.Relation, error) {
	d := &dataView{t: t, view: table.View{Kind: true}, pack: pack}
	d.cols = append(d.cols, schema.Field{ID: schema.FieldIDRowKind, Name: schema.FieldNameRowKind, Type: str})
	d.source = append(d.source, kindColumn)
	withSeq, err := schema.OptReadSequence.Get(t.StoredSchema().Options)
	if err != nil {
		return nil, err
	}
	if withSeq && t.Schema().HasPrimaryKey() {
		d.view.Sequence = true
		d.cols = append(d.cols, schema.SequenceField())
		d.source = append(d.source, sequenceColumn)
	}
	for i, f := range t.Schema().Fields {
		if pack {
			f.Type = &schema.Type{Root: schema.Array, Elem: f.Type.WithNotNull(false)}
		}
		d.cols = append(d.cols, f)
		d.source = append(d.source, i)
	}
	return d, nil
}

// auditLog is T$audit_log (AuditLogTable): rows with their kind.
func auditLog(t *table.Table) (relation.Relation, error) { return kindView(t, false) }

// binlog is T$binlog (BinlogTable): update pairs in arrays.
func binlog(t *table.Table) (relation.Relation, error) { return kindView(t, true) }

// readOptimized is T$ro (ReadOptimizedTable): primary-key tables by their top level only.
func readOptimized(t *table.Table) (relation.Relation, error) {
	d := &dataView{t: t, view: table.View{TopLevel: true}}
	for i, f := range t.Schema().Fields {
		d.cols = append(d.cols, f)
		d.source = append(d.source, i)
	}
	return d, nil
}

// rowTracking is T$row_tracking (RowTrackingTable): rows with their id and the
// snapshot of their last change.
func rowTracking(t *table.Table) (relation.Relation, error) {
	on, err := schema.OptRowTracking.Get(t.Schema().Options)
	if err != nil {
		return nil, err
	}
	if !on {
		return nil, errs.Invalidf("table %s: $row_tracking needs option row-tracking.enabled", t.Label())
	}
	d := &dataView{t: t, view: table.View{Sequence: true, RowID: true}}
	for i, f := range t.Schema().Fields {
		d.cols = append(d.cols, f)
		d.source = append(d.source, i)
	}
	d.cols = append(d.cols, schema.RowIDField(), schema.SequenceField())
	d.cols[len(d.cols)-1].Type = bigint
	d.source = append(d.source, rowIDColumn, sequenceColumn)
	return d, nil
}
