package lsm

import (
	"context"
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// modelAgg is a column's function in the models: state in, state out.
type modelAgg struct {
	fed bool
}

func (a *modelAgg) agg(name string, acc, in column.Scalar) column.Scalar {
	switch name {
	case "sum":
		if acc.Null {
			return in
		}
		if in.Null {
			return acc
		}
		acc.I += in.I
		return acc
	case "max":
		if acc.Null || !in.Null && acc.Compare(in) < 0 {
			return in
		}
		return acc
	case "last_value":
		return in
	case "first_value":
		if a.fed {
			return acc
		}
		a.fed = true
		return in
	case "listagg":
		if in.Null || strings.TrimSpace(string(in.B)) == "" {
			return acc
		}
		if acc.Null || strings.TrimSpace(string(acc.B)) == "" {
			return in
		}
		return column.BytesScalar([]byte(string(acc.B) + "," + string(in.B)))
	}
	if in.Null { // last_non_null_value
		return acc
	}
	return in
}

func (a *modelAgg) retract(name string, acc, in column.Scalar) column.Scalar {
	switch name {
	case "sum":
		if in.Null {
			return acc
		}
		if acc.Null {
			in.I = -in.I
			return in
		}
		acc.I -= in.I
		return acc
	case "last_value":
		return column.NullScalar(acc.Kind)
	case "last_non_null_value":
		if !in.Null {
			return column.NullScalar(acc.Kind)
		}
	}
	return acc // the others ignore retracts in these tests
}

func nulls(vals []*schema.Type) []column.Scalar {
	out := make([]column.Scalar, len(vals))
	for i, v := range vals {
		out[i] = column.NullScalar(schema.KindOf(v))
	}
	return out
}

// modelAggregate is aggregation, row by row.
func modelAggregate(groups [][]record, vals []*schema.Type, fns []string, remove bool) []modelRow {
	var out []modelRow
	for _, g := range groups {
		if len(g) == 1 {
			out = append(out, modelRow{g[0].vals, g[0].seq, g[0].kind})
			continue
		}
		row, aggs := nulls(vals), make([]modelAgg, len(vals))
		deleted := false
		for _, r := range g {
			if deleted = remove && r.kind == Delete; deleted {
				row = append([]column.Scalar(nil), r.vals...)
				continue
			}
			for i := range row {
				if IsRetract(r.kind) {
					row[i] = aggs[i].retract(fns[i], row[i], r.vals[i])
				} else {
					row[i] = aggs[i].agg(fns[i], row[i], r.vals[i])
				}
			}
		}
		m := modelRow{row, g[len(g)-1].seq, Insert}
		if deleted {
			m.kind = Delete
		}
		out = append(out, m)
	}
	return out
}

type modelGroup struct {
	by, cols []int
	removes  bool
}

type modelPartialOptions struct {
	ignoreDelete, remove bool
	groups               []modelGroup
	fns                  map[int]string
}

// modelPartial is partial-update as PartialUpdateMergeFunction goes: column by
// column, comparing with the row as it changes.
func modelPartial(groups [][]record, vals []*schema.Type, o modelPartialOptions) []modelRow {
	groupOf := map[int]*modelGroup{}
	isBy := map[int]bool{}
	for i := range o.groups {
		g := &o.groups[i]
		for _, c := range append(append([]int(nil), g.by...), g.cols...) {
			groupOf[c] = g
		}
		for _, c := range g.by {
			isBy[c] = true
		}
	}
	var out []modelRow
	for _, g := range groups {
		if len(g) == 1 {
			out = append(out, modelRow{g[0].vals, g[0].seq, g[0].kind})
			continue
		}
		row, aggs := nulls(vals), make([]modelAgg, len(vals))
		filled, met, deleted := false, false, false
		var seq int64
		compare := func(grp *modelGroup, r record) int {
			for _, b := range grp.by {
				if c := r.vals[b].Compare(row[b]); c != 0 {
					return c
				}
			}
			return 0
		}
		empty := func(grp *modelGroup, r record) bool {
			for _, b := range grp.by {
				if !r.vals[b].Null {
					return false
				}
			}
			return true
		}
	records:
		for _, r := range g {
			deleted = false
			if IsRetract(r.kind) {
				if !filled {
					row, filled = append([]column.Scalar(nil), r.vals...), true
				}
				if o.ignoreDelete {
					continue
				}
				seq = r.seq
				if len(o.groups) == 0 {
					if r.kind == Delete {
						deleted = true
						row = append([]column.Scalar(nil), r.vals...)
					}
					continue
				}
				done := map[int]bool{}
				for c := range row {
					grp := groupOf[c]
					if grp == nil || done[c] || empty(grp, r) {
						continue
					}
					fn := o.fns[c]
					if compare(grp, r) >= 0 {
						switch {
						case isBy[c]:
							if r.kind == Delete && grp.removes {
								deleted = true
								row = append([]column.Scalar(nil), r.vals...)
								continue records
							}
							for _, b := range grp.by {
								row[b] = r.vals[b]
								done[b] = true
							}
						case fn == "":
							row[c] = column.NullScalar(row[c].Kind)
						default:
							row[c] = aggs[c].retract(fn, row[c], r.vals[c])
						}
					} else if fn != "" {
						row[c] = aggs[c].retract(fn, row[c], r.vals[c])
					}
				}
				continue
			}
			seq = r.seq
			done := map[int]bool{}
			for c := range row {
				grp, fn := groupOf[c], o.fns[c]
				if grp == nil {
					if fn != "" {
						row[c] = aggs[c].agg(fn, row[c], r.vals[c])
					} else if !r.vals[c].Null {
						row[c] = r.vals[c]
					}
					continue
				}
				if done[c] || empty(grp, r) {
					continue
				}
				if compare(grp, r) >= 0 {
					switch {
					case isBy[c]:
						for _, b := range grp.by {
							row[b] = r.vals[b]
							done[b] = true
						}
					case fn == "":
						row[c] = r.vals[c]
					default:
						row[c] = aggs[c].agg(fn, row[c], r.vals[c])
					}
				} else if fn != "" {
					row[c] = aggs[c].agg(fn, r.vals[c], row[c])
				}
			}
			met, filled = true, true
		}
		m := modelRow{append([]column.Scalar(nil), row...), seq, Insert}
		if deleted || !met {
			m.kind = Delete
		}
		out = append(out, m)
	}
	return out
}

func TestAggregationRandom(t *testing.T) {
	vals := []*schema.Type{tBig, tInt, tString, tString, tInt, tString, tInt}
	fns := []string{"sum", "max", "last_value", "last_non_null_value", "first_value", "listagg", "last_value"}
	for _, remove := range []bool{false, true} {
		for _, nruns := range []int{1, 2, 4, 9} {
			t.Run(fmt.Sprint(remove, nruns), func(t *testing.T) {
				rnd := rand.New(rand.NewSource(int64(nruns)))
				opts := map[string]string{"merge-engine": "aggregation", "aggregation.remove-record-on-delete": fmt.Sprint(remove), "sequence.field": "v6"}
				kinds := allKinds
				for i, f := range fns[:6] {
					if f != "last_non_null_value" {
						opts[fmt.Sprintf("fields.v%d.aggregate-function", i)] = f
					}
				}
				if remove {
					kinds = []int32{Insert, UpdateAfter, Delete} // these functions cannot retract -U
				} else {
					for _, i := range []int{1, 4, 5} {
						opts[fmt.Sprintf("fields.v%d.ignore-retract", i)] = "true"
					}
				}
				for _, keys := range [][]*schema.Type{{tInt}, {tString}, {tBig, tString}} {
					c := setup(rnd, keys, vals, nruns, 80, 40, kinds, false, opts)
					c.check(t, rnd, modelAggregate(groupRecords(c.runs, []int{6}, false), vals, fns, remove))
				}
			})
		}
	}
}

// TestAggregationRemoveUpdates retracts -U while -D removes the row.
func TestAggregationRemoveUpdates(t *testing.T) {
	vals, fns := []*schema.Type{tBig, tString, tString}, []string{"sum", "last_value", "last_non_null_value"}
	opts := map[string]string{"merge-engine": "aggregation", "aggregation.remove-record-on-delete": "true",
		"fields.v0.aggregate-function": "sum", "fields.v1.aggregate-function": "last_value"}
	rnd := rand.New(rand.NewSource(4))
	for _, nruns := range []int{3, 8} {
		c := setup(rnd, []*schema.Type{tInt}, vals, nruns, 80, 40, allKinds, false, opts)
		c.check(t, rnd, modelAggregate(groupRecords(c.runs, nil, false), vals, fns, true))
	}
}

func TestPartialUpdateRandom(t *testing.T) {
	vals := []*schema.Type{tInt, tString, tInt, tString, tInt, tBig, tString, tInt}
	base := map[string]string{"merge-engine": "partial-update"}
	cases := map[string]struct {
		opts  map[string]string
		model modelPartialOptions
		kinds []int32
	}{
		"plain":  {nil, modelPartialOptions{}, addKinds},
		"ignore": {map[string]string{"partial-update.ignore-delete": "true"}, modelPartialOptions{ignoreDelete: true}, allKinds},
		"remove": {map[string]string{"partial-update.remove-record-on-delete": "true"}, modelPartialOptions{remove: true}, allKinds},
		"groups": {
			map[string]string{"fields.v0.sequence-group": "v1,v3", "fields.v4,v2.sequence-group": "v5,v6"},
			modelPartialOptions{groups: []modelGroup{{by: []int{0}, cols: []int{1, 3}}, {by: []int{4, 2}, cols: []int{5, 6}}}}, allKinds},
		"group-remove": {
			map[string]string{"fields.v0.sequence-group": "v1,v3", "fields.v4,v2.sequence-group": "v5,v6", "partial-update.remove-record-on-sequence-group": "v2"},
			modelPartialOptions{groups: []modelGroup{{by: []int{0}, cols: []int{1, 3}}, {by: []int{4, 2}, cols: []int{5, 6}, removes: true}}}, allKinds},
		"group-aggregates": {
			map[string]string{"fields.v7.sequence-group": "v0,v1,v2,v3", "fields.v4.sequence-group": "v5",
				"fields.v0.aggregate-function": "sum", "fields.v1.aggregate-function": "listagg", "fields.v1.ignore-retract": "true",
				"fields.v2.aggregate-function": "first_value", "fields.v2.ignore-retract": "true",
				"fields.v5.aggregate-function": "sum", "fields.default-aggregate-function": "last_non_null_value"},
			modelPartialOptions{groups: []modelGroup{{by: []int{7}, cols: []int{0, 1, 2, 3}}, {by: []int{4}, cols: []int{5}}},
				fns: map[int]string{0: "sum", 1: "listagg", 2: "first_value", 3: "last_non_null_value", 5: "sum", 6: "last_non_null_value"}}, allKinds},
	}
	for name, tc := range cases {
		for _, nruns := range []int{1, 2, 4, 9} {
			t.Run(fmt.Sprint(name, nruns), func(t *testing.T) {
				rnd := rand.New(rand.NewSource(int64(nruns)))
				opts := map[string]string{}
				for k, v := range base {
					opts[k] = v
				}
				for k, v := range tc.opts {
					opts[k] = v
				}
				for _, keys := range [][]*schema.Type{{tInt}, {tString, tInt}} {
					c := setup(rnd, keys, vals, nruns, 80, 40, tc.kinds, false, opts)
					c.check(t, rnd, modelPartial(groupRecords(c.runs, nil, false), vals, tc.model))
				}
			})
		}
	}
}

// TestProjection merges what NeededColumns says and expects the wanted columns as if all had been read.
func TestProjection(t *testing.T) {
	vals := []*schema.Type{tInt, tString, tInt, tString, tInt, tBig}
	opts := map[string]string{"merge-engine": "partial-update", "sequence.field": "v5",
		"fields.v0.sequence-group": "v1", "fields.v4,v2.sequence-group": "v3", "partial-update.remove-record-on-sequence-group": "v2"}
	rnd := rand.New(rand.NewSource(9))
	c := setup(rnd, []*schema.Type{tInt}, vals, 4, 80, 40, allKinds, false, opts)
	e, err := NewEngine(c.table)
	if err != nil {
		t.Fatal(err)
	}
	read := func(l Layout) []string {
		rds, _ := c.readers(rnd, 40)
		r, err := NewMerge(context.Background(), e, l, rds, MergeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return showRows(readAll(t, r))
	}
	for _, wanted := range [][]int{{1}, {3}, {0, 1}, {5}, {}, {3, 1}} {
		full := c.layout
		full.Output = append([]int{}, wanted...)
		need := e.NeededColumns(wanted)
		narrow := Layout{Keys: c.layout.Keys, Seq: c.layout.Seq, Kind: c.layout.Kind, Output: []int{}}
		for i, f := range need {
			narrow.Values = append(narrow.Values, c.layout.Values[f])
			narrow.Fields = append(narrow.Fields, f)
			if i < len(wanted) {
				if f != wanted[i] {
					t.Fatalf("NeededColumns(%v) = %v", wanted, need)
				}
				narrow.Output = append(narrow.Output, i)
			}
		}
		diff(t, fmt.Sprint(wanted), read(narrow), read(full))
	}
	if got, want := e.NeededColumns([]int{3}), []int{3, 5, 4, 2}; !reflect.DeepEqual(got, want) {
		t.Errorf("NeededColumns(3) = %v, want %v", got, want)
	}
	if got, want := e.NeededColumns([]int{1}), []int{1, 5, 4, 2, 0}; len(got) != len(want) {
		t.Errorf("NeededColumns(1) = %v, want the columns %v", got, want)
	}
	bad := c.layout
	bad.Values, bad.Fields = bad.Values[:1], bad.Fields[:1]
	rds, srs := c.readers(rnd, 40)
	if _, err := NewMerge(context.Background(), e, bad, rds, MergeOptions{}); !errs.Is(err, errs.Invalid) {
		t.Errorf("a layout without the sequence columns: %v", err)
	}
	for _, s := range srs {
		if !s.closed {
			t.Error("runs are not closed on failure")
		}
	}
}

func TestEngineOptions(t *testing.T) {
	fields := []schema.Field{field("k", tInt), field("a", tInt), field("b", tString), field("g", tInt)}
	for _, tc := range []struct {
		opts map[string]string
		want string
	}{
		{map[string]string{"merge-engine": "newest"}, "merge engine 'newest'"},
		{map[string]string{"sequence.field": "x"}, "Sequence field: 'x' can not be found in table schema."},
		{map[string]string{"ignore-delete": "yes"}, "expected true or false"},
		{map[string]string{"sequence.field.sort-order": "up"}, "expected ascending or descending"},
		{map[string]string{"merge-engine": "partial-update", "fields.x.sequence-group": "a"}, "Field x can not be found in table schema"},
		{map[string]string{"merge-engine": "partial-update", "fields.g.sequence-group": "k"}, "contains primary key field 'k'"},
		{map[string]string{"merge-engine": "partial-update", "fields.g.sequence-group": "a", "fields.b.sequence-group": "a"}, "Field a is defined repeatedly by multiple groups"},
		{map[string]string{"merge-engine": "partial-update", "fields.a.aggregate-function": "sum"}, "Must use sequence group for aggregation functions but not found for field a."},
		{map[string]string{"merge-engine": "partial-update", "ignore-delete": "true", "partial-update.remove-record-on-delete": "true"}, "conflicting behavior"},
		{map[string]string{"merge-engine": "partial-update", "fields.g.sequence-group": "a", "partial-update.remove-record-on-delete": "true"}, "conflicting behavior"},
		{map[string]string{"merge-engine": "partial-update", "fields.g.sequence-group": "a", "partial-update.remove-record-on-sequence-group": "a"}, "must be part of sequence groups"},
	} {
		_, err := NewEngine(TableInfo{Fields: fields, PrimaryKeys: []string{"k"}, Options: tc.opts})
		if err == nil || !strings.Contains(err.Error(), tc.want) || errs.ClassOf(err) == errs.Unknown {
			t.Errorf("%v: %v, want %q", tc.opts, err, tc.want)
		}
	}
	e, err := NewEngine(TableInfo{Fields: fields, PrimaryKeys: []string{"k"}, Options: map[string]string{"merge-engine": "FIRST-ROW"}})
	if err != nil || e.Kind() != FirstRow || e.Kind().String() != "first-row" || !e.PicksRows() {
		t.Errorf("first-row: %v %v", e, err)
	}
}

// TestErrors has engines refuse what they cannot merge, and expects the runs' failures.
func TestErrors(t *testing.T) {
	for _, tc := range []struct {
		opts  map[string]string
		kinds []int32
		want  string
	}{
		{map[string]string{"merge-engine": "first-row"}, []int32{Insert, Delete}, "First row merge engine can not accept DELETE"},
		{map[string]string{"merge-engine": "partial-update"}, []int32{Insert, UpdateBefore}, "Partial update can not accept delete records"},
		{map[string]string{"merge-engine": "aggregation", "fields.v0.aggregate-function": "max"}, []int32{Insert, Delete}, "column 'v0': Aggregate function 'max' does not support retraction"},
		{map[string]string{"merge-engine": "aggregation", "fields.v0.aggregate-function": "count"}, []int32{Insert, Insert}, "Use unsupported aggregation: count"},
	} {
		c := &caseSetup{table: TableInfo{Options: tc.opts, Fields: []schema.Field{field("v0", tInt)}},
			kinds:  []column.Kind{column.KindInt32, column.KindInt64, column.KindInt32, column.KindInt32},
			layout: Layout{Keys: []int{0}, Seq: 1, Kind: 2, Values: []int{3}, Fields: []int{0}}, keys: []*schema.Type{tInt}}
		for i, k := range tc.kinds {
			one := column.IntScalar(column.KindInt32, 1)
			c.runs = append(c.runs, []record{{key: []column.Scalar{one}, seq: int64(i), kind: k, vals: []column.Scalar{one}, run: i}})
		}
		e, err := NewEngine(c.table)
		if err != nil {
			t.Fatal(err)
		}
		for _, unordered := range []bool{false, true} {
			rds, srs := c.readers(rand.New(rand.NewSource(1)), 5)
			r, err := NewMerge(context.Background(), e, c.layout, rds, MergeOptions{Unordered: unordered})
			if err == nil {
				_, err = readRows(r)
			}
			if !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v: %v, want %q", tc.opts, err, tc.want)
			}
			for _, s := range srs {
				if !s.closed {
					t.Error("a run was not closed")
				}
			}
		}
	}
}

// TestDamagedRuns feeds runs that break the contract.
func TestDamagedRuns(t *testing.T) {
	e, err := NewEngine(TableInfo{Fields: []schema.Field{field("v", tInt)}})
	if err != nil {
		t.Fatal(err)
	}
	ints := func(k column.Kind, xs ...int64) *column.Vector {
		b := column.NewBuilder(k)
		for _, x := range xs {
			if x == -99 {
				b.AppendNull()
			} else {
				b.AppendInt(x)
			}
		}
		return b.Finish()
	}
	batch := func(cols ...*column.Vector) *sliceReader {
		return &sliceReader{batches: []*column.Batch{{N: cols[0].N, Cols: cols}}}
	}
	i32, i64 := column.KindInt32, column.KindInt64
	good := func() *sliceReader { return batch(ints(i64, 1, 5), ints(i64, 1, 2), ints(i32, 0, 0), ints(i32, 1, 2)) }
	l := Layout{Keys: []int{0}, Seq: 1, Kind: 2, Values: []int{3}, Fields: []int{0}}
	for want, bad := range map[string]*sliceReader{
		"not in key order":       batch(ints(i64, 3, 2, 4), ints(i64, 1, 2, 3), ints(i32, 0, 0, 0), ints(i32, 1, 1, 1)),
		"has 3 columns":          batch(ints(i64, 3), ints(i64, 1), ints(i32, 0)),
		"beyond 0..3":            batch(ints(i64, 3), ints(i64, 1), ints(i32, 4), ints(i32, 1)),
		"_SEQUENCE_NUMBER holds": batch(ints(i64, 3), ints(i64, -99), ints(i32, 0), ints(i32, 1)),
		"_VALUE_KIND holds null": batch(ints(i64, 3), ints(i64, 1), ints(i32, -99), ints(i32, 1)),
		"key column 0 has kind":  batch(ints(i32, 3), ints(i64, 1), ints(i32, 0), ints(i32, 1)),
		"more than 4096":         {batches: []*column.Batch{{N: 5000, Cols: []*column.Vector{ints(i64), ints(i64), ints(i32), ints(i32)}}}},
	} {
		r, err := NewMerge(context.Background(), e, l, []RunReader{good(), bad, good()}, MergeOptions{})
		if err == nil {
			_, err = readRows(r)
		}
		if err == nil || !strings.Contains(err.Error(), want) || errs.ClassOf(err) == errs.Unknown {
			t.Errorf("%v, want %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	r, err := NewMerge(ctx, e, l, []RunReader{good(), good()}, MergeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := r.Next(ctx); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
	r.Close()
}

// TestNoSequence orders by run where the layout has no sequence and kind columns.
func TestNoSequence(t *testing.T) {
	e, err := NewEngine(TableInfo{Fields: []schema.Field{field("v", tInt)}})
	if err != nil {
		t.Fatal(err)
	}
	run := func(v int64) RunReader {
		k, x := column.NewBuilder(column.KindInt32), column.NewBuilder(column.KindInt32)
		for i := range int64(10) {
			k.AppendInt(i)
			x.AppendInt(v*100 + i)
		}
		return &sliceReader{batches: []*column.Batch{{N: 10, Cols: []*column.Vector{k.Finish(), x.Finish()}}}}
	}
	l := Layout{Keys: []int{0}, Seq: -1, Kind: -1, Values: []int{1}, Fields: []int{0}}
	for _, unordered := range []bool{false, true} {
		r, err := NewMerge(context.Background(), e, l, []RunReader{run(1), run(3), run(2)}, MergeOptions{Kind: true, Unordered: unordered})
		if err != nil {
			t.Fatal(err)
		}
		rows := showRows(readAll(t, r))
		for i, row := range rows {
			if row != fmt.Sprintf("%d 0", 200+i) {
				t.Fatalf("row %d is %s", i, row)
			}
		}
		if len(rows) != 10 {
			t.Fatalf("%d rows", len(rows))
		}
	}
	if _, err := NewMerge(context.Background(), e, l, nil, MergeOptions{Seq: true}); !errs.Is(err, errs.Invalid) {
		t.Errorf("sequence numbers from nowhere: %v", err)
	}
}
