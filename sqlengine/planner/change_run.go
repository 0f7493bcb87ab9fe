package planner

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/sqlengine/result"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
)

// warnNothingDeleted is the number of the warning of a DELETE whose table ignores deletes: ER_UNKNOWN_ERROR.
const warnNothingDeleted = 1105

// run changes the rows that the source gives.
func (n *changeNode) run(ctx *sql.Context, row sql.Row) (done changeInfo, err error) {
	w, err := n.engine.writable()
	if err != nil {
		return done, err
	}
	alone := ctx.GetTransaction() == nil || autocommits(ctx)
	if alone {
		unlock, err := n.engine.enterChange(ctx, n.table)
		if err != nil {
			return done, err
		}
		defer unlock()
		if ok, err := n.dropWhole(ctx, w, &done); ok || err != nil {
			return done, err
		}
	}
	s, err := openStatement(ctx, w, n.table.db, n.table.object, relation.SinkOptions{Positions: !n.rules.keyed})
	if err != nil {
		return done, missingTable(err, n.table.db, n.table.name)
	}
	defer s.abort() // does nothing after finish
	r, err := n.newChangeRun(ctx, s)
	if err != nil {
		return done, err
	}
	if src, ok := n.source.(result.Source); ok && !n.change.Joined {
		err = r.batches(src)
	} else {
		err = r.rows(row)
	}
	if err != nil {
		return done, err
	}
	done = r.done
	done.warnings = r.m.warnings
	if n.change.Delete && n.rules.ignored && done.matched > 0 {
		done.changed = 0
		r.m.warn("Warning", warnNothingDeleted, fmt.Sprintf("Table %s.%s has option 'ignore-delete': its rows stay", n.table.db, n.table.name))
		done.warnings = r.m.warnings
	}
	if r.written == 0 {
		return done, nil
	}
	if err := s.based(ctx, n.table.rel); err != nil {
		return done, err
	}
	n.engine.progress.set(ctx.Session.ID(), fmt.Sprintf("committing %d rows", r.written))
	err = s.finish(ctx)
	if alone && errs.Is(err, errs.Conflict) {
		err = n.engine.outrun(n.table, err)
	}
	return done, err
}

// changeRun is an UPDATE or DELETE that is running.
type changeRun struct {
	n   *changeNode
	ctx *sql.Context
	s   *statementSink
	m   *misfits
	// fields are the table's. writers make the new values, by assignment; konst are those that are the column's default.
	fields  []schema.Field
	writers []*cellWriter
	konst   []*column.Vector
	done    changeInfo
	written int64
}

func (n *changeNode) newChangeRun(ctx *sql.Context, s *statementSink) (*changeRun, error) {
	r := &changeRun{n: n, ctx: ctx, s: s, fields: n.table.fields, m: &misfits{ctx: ctx, strict: strictMode(ctx) && !n.change.Ignore, row: 1}}
	of := s.columns()
	changed := len(of) != len(r.fields)
	for i := 0; !changed && i < len(of); i++ {
		changed = of[i].ID != r.fields[i].ID || of[i].Name != r.fields[i].Name || !of[i].Type.EqualIgnoreNull(r.fields[i].Type)
	}
	if changed {
		return nil, errs.Conflictf("the columns of table %s.%s have changed meanwhile; repeat the statement", n.table.db, n.table.name)
	}
	for _, set := range n.sets {
		f := &r.fields[set.column]
		w := newCellWriter(f.Name, f.Type, SessionZone(ctx), r.m)
		var k *column.Vector
		if set.from < 0 {
			if err := w.defaultOf(f); err != nil {
				return nil, err
			}
			k = w.out.Finish()
			w.out.Reset()
		}
		r.writers, r.konst = append(r.writers, w), append(r.konst, k)
	}
	return r, nil
}

// lenientNulls: NULL in a NOT NULL column is a warning.
func (r *changeRun) lenientNulls() bool { return !r.m.strict }

func (r *changeRun) say(format string, rows int64) {
	r.n.engine.progress.set(r.ctx.Session.ID(), fmt.Sprintf(format, rows))
}

// batches changes rows as they are read.
func (r *changeRun) batches(src result.Source) error {
	ts := src.ColumnTypes()
	return eachSourced(r.ctx, src, func(b *column.Batch) error {
		rows := b.Rows()
		if rows == 0 {
			return nil
		}
		old := dense(b, len(r.fields))
		var values []*column.Vector
		for i, set := range r.n.sets {
			if set.from < 0 {
				values = append(values, column.NewConst(r.konst[i], rows))
				continue
			}
			v, err := r.value(r.writers[i], b, set.from, ts[set.from])
			if err != nil {
				return err
			}
			values = append(values, v)
		}
		if err := r.change(old, values); err != nil {
			return err
		}
		r.m.row += int64(rows)
		r.say("changing %d rows", r.done.changed)
		return nil
	})
}

// dense are the first columns of a batch, without a selection.
func dense(b *column.Batch, columns int) *column.Batch {
	out := &column.Batch{N: b.Rows()}
	for _, v := range b.Cols[:columns] {
		if b.Sel != nil {
			v = column.Gather(v, b.Sel)
		}
		out.Cols = append(out.Cols, v)
	}
	return out
}

// value are the new values of a column: those of the batch's column from, as the column stores them.
func (r *changeRun) value(w *cellWriter, b *column.Batch, from int, typ *schema.Type) (*column.Vector, error) {
	v := b.Cols[from]
	bad := w.typ.NotNull && hasNull(b, v)
	if passes(typ, w.typ) && !bad {
		if b.Sel != nil {
			v = column.Gather(v, b.Sel)
		}
		return v, nil
	}
	err := w.convert(v, b, typ, r.lenientNulls())
	out := w.out.Finish()
	w.out.Reset()
	return out, err
}

// change writes what becomes of rows, a batch without a selection with the table's columns; values are those of the assignments.
func (r *changeRun) change(old *column.Batch, values []*column.Vector) error {
	r.done.matched += int64(old.N)
	if r.n.change.Delete {
		r.done.changed += int64(old.N)
		return r.remove(old)
	}
	sel := make([]uint16, 0, old.N)
	for i := range old.N {
		same := true
		for k := 0; same && k < len(values); k++ {
			same = column.EqualRows(values[k], i, old.Cols[r.n.sets[k].column], i)
		}
		if same {
			continue
		}
		if err := r.check(old, values, i); err != nil {
			return err
		}
		sel = append(sel, uint16(i))
	}
	r.done.changed += int64(len(sel))
	if len(sel) == 0 {
		return nil
	}
	if len(sel) < old.N {
		was := old
		old = &column.Batch{N: len(sel)}
		for _, v := range was.Cols {
			old.Cols = append(old.Cols, column.Gather(v, sel))
		}
		all := values
		values = nil
		for _, v := range all {
			values = append(values, column.Gather(v, sel))
		}
	}
	rules := &r.n.rules
	if rules.before || !rules.keyed {
		if err := r.write(old, relation.UpdateBefore); err != nil {
			return err
		}
	}
	next := &column.Batch{N: old.N, Cols: append([]*column.Vector(nil), old.Cols...)}
	for c := range rules.aggregated {
		next.Cols[c] = nulls(r.fields[c].Type, old.N)
	}
	for k, v := range values {
		next.Cols[r.n.sets[k].column] = v
	}
	r.written += int64(old.N)
	return r.write(next, relation.UpdateAfter)
}

// remove writes that rows are gone.
func (r *changeRun) remove(old *column.Batch) error {
	if blank := r.n.rules.blank; len(blank) > 0 {
		old = &column.Batch{N: old.N, Cols: append([]*column.Vector(nil), old.Cols...)}
		for _, c := range blank {
			old.Cols[c] = nulls(r.fields[c].Type, old.N)
		}
	}
	r.written += int64(old.N)
	return r.write(old, relation.Delete)
}

func (r *changeRun) write(b *column.Batch, kind int32) error {
	return r.s.writeKind(r.ctx, b, kind, false)
}

// nulls is a column of n NULLs.
func nulls(t *schema.Type, n int) *column.Vector {
	b := schema.NewBuilder(t)
	b.AppendNull()
	return column.NewConst(b.Finish(), n)
}

// check refuses a row that the table would not take as the statement means it.
func (r *changeRun) check(old *column.Batch, values []*column.Vector, i int) error {
	rules, t := &r.n.rules, r.n.table
	if !rules.keyed {
		return nil
	}
	for k, v := range values {
		c := r.n.sets[k].column
		if column.EqualRows(v, i, old.Cols[c], i) {
			continue
		}
		name := r.fields[c].Name
		if rules.isKey(c) {
			return errs.Unsupportedf("Updates to primary keys are not supported: UPDATE of column '%s' of table %s.%s; DELETE the row and INSERT it with the new key", name, t.db, t.name)
		}
		if fn := rules.aggregated[c]; fn != "" {
			return errs.Unsupportedf("UPDATE of column '%s' of table %s.%s is not supported: its aggregate function '%s' would combine the new value with the old one", name, t.db, t.name, fn)
		}
		if rules.keepsNulls && v.IsNull(i) && !rules.grouped[c] {
			return errs.Unsupportedf("UPDATE cannot set column '%s' of table %s.%s to NULL: with 'merge-engine' = 'partial-update' a NULL leaves the value that is there", name, t.db, t.name)
		}
	}
	for c := range rules.aggregated {
		if r.fields[c].Type.NotNull {
			return errs.Unsupportedf("UPDATE of table %s.%s is not supported: column '%s' is NOT NULL, and its aggregate function '%s' would take its value in once more", t.db, t.name, r.fields[c].Name, rules.aggregated[c])
		}
	}
	return r.checkSequence(old, values, i)
}

// checkSequence refuses a row that would lose against the one that is there.
func (r *changeRun) checkSequence(old *column.Batch, values []*column.Vector, i int) error {
	rules := &r.n.rules
	for _, c := range rules.sequence {
		was := column.ScalarAt(old.Cols[c], i)
		is := was
		for k, v := range values {
			if r.n.sets[k].column == c {
				is = column.ScalarAt(v, i)
			}
		}
		order := compareSequence(is, was)
		if rules.sequenceDescending {
			order = -order
		}
		if order > 0 {
			return nil
		}
		if order < 0 {
			return errs.Unsupportedf("UPDATE cannot set column '%s' of table %s.%s back: it is the table's 'sequence.field', and of the rows of a key the one with the latest value counts", r.fields[c].Name, r.n.table.db, r.n.table.name)
		}
	}
	return nil
}

// compareSequence orders sequence values, NULL first.
func compareSequence(a, b column.Scalar) int {
	switch {
	case a.Null && b.Null:
		return 0
	case a.Null:
		return -1
	case b.Null:
		return 1
	}
	return a.Compare(b)
}

// rows changes rows whose keys and new values are gathered first: values of rows that went through go-mysql-server need not
// be what was stored, and a join may give a row more than once. The rows themselves are read again.
func (r *changeRun) rows(row sql.Row) error {
	n := r.n
	stage := &upsertStage{name: n.table.db + "." + n.table.name, what: changeWords(n.change.Delete)}
	gather := &insertNode{engine: n.engine, ignore: n.change.Ignore, source: n.source, table: &insertTable{Table: &Table{
		db: n.table.db, name: n.table.name, object: n.table.object, rel: n.table.rel,
	}}}
	for _, k := range n.rules.keys {
		stage.of = append(stage.of, r.fields[k])
		gather.from = append(gather.from, k)
	}
	at := make([]int, len(n.sets)) // where the new values are in stage
	for i, set := range n.sets {
		at[i] = -1
		if set.from < 0 {
			continue
		}
		if k := schema.IndexOf(stage.of, r.fields[set.column].Name); k >= 0 { // a key
			f := r.fields[set.column]
			f.Name = "\x01" + f.Name
			stage.of = append(stage.of, f)
		} else {
			stage.of = append(stage.of, r.fields[set.column])
		}
		at[i] = len(stage.of) - 1
		gather.from = append(gather.from, set.from)
	}
	gather.table.fields = stage.of
	feed, err := newRowFeed(r.ctx, gather, stage)
	if err != nil {
		return err
	}
	if err := feed.feed(row); err != nil {
		return err
	}
	r.m.warnings += feed.m.warnings
	return r.gathered(stage, at)
}

// gathered changes the rows whose keys, and new values, are in stage.
func (r *changeRun) gathered(stage *upsertStage, at []int) error {
	n := r.n
	keys := keyColumns{fields: r.fields, cols: n.rules.keys}
	found := keyColumns{fields: stage.of}
	for i := range n.rules.keys {
		found.cols = append(found.cols, i)
	}
	var refs []rowRef
	seen := map[string]bool{}
	err := stage.rows.each(func(b *column.Batch) error {
		for i := range b.N {
			ref := rowRef{b, i}
			if k := string(found.key(ref)); !seen[k] { // as in MySQL, the first match of a join counts
				seen[k] = true
				refs = append(refs, ref)
			}
		}
		return nil
	})
	if err != nil || len(refs) == 0 {
		return err
	}
	there, err := keys.currentOf(r.ctx, n.table.rel, &found, refs)
	if err != nil {
		return err
	}
	for len(refs) > 0 {
		part := refs[:min(len(refs), column.MaxRows)]
		refs = refs[len(part):]
		old := make([]*column.Builder, len(r.fields))
		for c := range r.fields {
			old[c] = schema.NewBuilder(r.fields[c].Type)
		}
		values := make([]*column.Builder, len(n.sets))
		for i, set := range n.sets {
			values[i] = schema.NewBuilder(r.fields[set.column].Type)
		}
		for _, ref := range part {
			row, ok := there[string(found.key(ref))]
			if !ok {
				return errs.Unsupportedf("%s of table %s.%s: the row with the key '%s' is not found again: the key's type has more digits than MySQL's; name the row by other means", changeWords(n.change.Delete), n.table.db, n.table.name, found.text(ref, SessionZone(r.ctx)))
			}
			for c := range old {
				old[c].Append(row.batch.Cols[c], row.at)
			}
			for i := range values {
				if at[i] < 0 {
					values[i].Append(r.konst[i], 0)
				} else {
					values[i].Append(ref.batch.Cols[at[i]], ref.at)
				}
			}
		}
		b := &column.Batch{N: len(part)}
		for _, c := range old {
			b.Cols = append(b.Cols, c.Finish())
		}
		var vs []*column.Vector
		for _, v := range values {
			vs = append(vs, v.Finish())
		}
		if err := r.change(b, vs); err != nil {
			return err
		}
		if err := r.ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}
