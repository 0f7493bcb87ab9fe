package planner

import (
	"context"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
)

const (
	// maxUpsertTries is how often a statement that others outrun is begun anew before it fails with error 1213.
	maxUpsertTries = 20
	// maxUpsertBytes bounds the rows that INSERT IGNORE and ON DUPLICATE KEY UPDATE keep in memory.
	maxUpsertBytes = 512 << 20
	// capabilityFoundRows is CLIENT_FOUND_ROWS: rows that an update finds and leaves as they are count as affected.
	capabilityFoundRows = 1 << 1
	warnDuplicate       = 1062 // ER_DUP_ENTRY
)

// upsert is what an INSERT does that has to know whether a key is there: IGNORE leaves the row, ON DUPLICATE KEY UPDATE changes it.
type upsert struct {
	keys []string
	sets []duplicateSet
	// ignore skips rows whose key is there, where sets is empty.
	ignore bool
}

// outcome counts what a statement did.
type outcome struct{ records, affected, duplicates int64 }

// upsertStage collects the rows of a statement.
type upsertStage struct {
	rows stagedRows
	of   []schema.Field
	// name is the table's, what the kind of the statement, for messages.
	name, what string
}

func (s *upsertStage) fields() []schema.Field { return s.of }

func (s *upsertStage) write(_ context.Context, b *column.Batch, owned bool) error {
	if !owned || b.Sel != nil {
		b = copyBatch(b)
	}
	if s.rows.add(b); s.rows.bytes > maxUpsertBytes {
		return errs.Limitf("table %s: %s takes at most %d MiB of rows; use several statements", s.name, s.what, maxUpsertBytes>>20)
	}
	return nil
}

// runUpsert is run for statements that have to know which keys are there. One that another commit outruns is begun anew.
func (n *insertNode) runUpsert(ctx *sql.Context, row sql.Row, w WritableCatalog, opts relation.SinkOptions) (out outcome, warnings int, err error) {
	t := n.table
	tx, _ := ctx.GetTransaction().(*Transaction)
	alone := tx == nil || autocommits(ctx)
	if alone {
		unlock, err := n.engine.upserts.lock(ctx, t.db+"\x00"+t.object)
		if err != nil {
			return out, 0, err
		}
		defer unlock()
	}
	repeatable := alone && !n.readsTarget()
	var u *upsertRun
	var feed *rowFeed
	for try := 1; ; try++ {
		if repeatable {
			held, release, err := n.engine.holdWrites(ctx, t, try)
			if err != nil {
				return out, 0, err
			}
			defer release()
			ctx = ctx.WithContext(held)
		}
		s, err := openStatement(ctx, w, t.db, t.object, opts)
		if err != nil {
			return out, 0, missingTable(err, t.db, t.name)
		}
		if u == nil {
			stage := &upsertStage{of: s.fields(), name: t.db + "." + t.name, what: "INSERT IGNORE or ON DUPLICATE KEY UPDATE"}
			if feed, err = newRowFeed(ctx, n, stage); err == nil {
				err = feed.feed(row)
			}
			if err == nil {
				u, err = n.newUpsertRun(ctx, feed, stage)
			}
		}
		if err == nil {
			var rel relation.Relation
			if opts := (OpenOptions{TimeZone: SessionZone(ctx), ForChange: true}); repeatable {
				rel, err = n.engine.catalog.Open(ctx, t.db, t.object, opts)
			} else {
				rel, err = pinned(ctx, n.engine.catalog, t.db, t.object, opts)
			}
			if err == nil {
				u.ctx = ctx
				out, err = u.run(s, rel)
			}
		}
		s.abort() // does nothing after finish
		if err == nil || !repeatable || try == maxUpsertTries || !errs.Is(err, errs.Conflict) || ctx.Err() != nil {
			if feed != nil {
				warnings = feed.m.warnings
			}
			return out, warnings, err
		}
	}
}

// readsTarget reports whether the source reads the table that is written: then its rows are as old as its snapshot.
func (n *insertNode) readsTarget() bool {
	found := false
	base, _, _ := strings.Cut(n.table.object, "$")
	// The visitor returns no error.
	_, _, _ = transform.NodeWithOpaque(n.source, func(x sql.Node) (sql.Node, transform.TreeIdentity, error) {
		if rt, ok := x.(*plan.ResolvedTable); ok {
			if t, ok := tableOf(rt); ok && t.db == n.table.db && strings.HasPrefix(t.object+"$", base+"$") {
				found = true
			}
		}
		if s, ok := x.(*ScanNode); ok && s.table.db == n.table.db && strings.HasPrefix(s.table.object+"$", base+"$") {
			found = true
		}
		if _, ok := x.(Replacement); ok {
			found = true // nobody looks into it: it may
		}
		return x, transform.SameTree, nil
	})
	return found
}

// upsertRun decides row by row what becomes of the statement's rows.
type upsertRun struct {
	n     *insertNode
	ctx   *sql.Context
	keys  keyColumns
	rows  []rowRef
	feed  *rowFeed
	box   *boxer
	found bool
	// told counts the warnings of duplicates.
	told int64
}

func (n *insertNode) newUpsertRun(ctx *sql.Context, feed *rowFeed, stage *upsertStage) (*upsertRun, error) {
	u := &upsertRun{n: n, ctx: ctx, feed: feed, keys: keyColumns{fields: stage.of}, found: ctx.Client().Capabilities&capabilityFoundRows != 0}
	if len(stage.of) != len(n.table.fields) {
		return nil, errs.Conflictf("the columns of table %s.%s have changed meanwhile; repeat the statement", n.table.db, n.table.name)
	}
	ts := make([]*schema.Type, len(stage.of))
	for i, f := range stage.of {
		ts[i] = f.Type
		if f.ID != n.table.fields[i].ID || f.Name != n.table.fields[i].Name {
			return nil, errs.Conflictf("the columns of table %s.%s have changed meanwhile; repeat the statement", n.table.db, n.table.name)
		}
	}
	u.box = newBoxer(ctx, ts)
	for _, k := range n.upsert.keys {
		u.keys.cols = append(u.keys.cols, schema.IndexOf(stage.of, k))
	}
	err := stage.rows.each(func(b *column.Batch) error {
		for i := range b.N {
			u.rows = append(u.rows, rowRef{b, i})
		}
		return nil
	})
	return u, err
}

// upsertRow is the row of a key as the statement leaves it.
type upsertRow struct {
	rowRef
	// changed are the columns that assignments have given another value; nil = none.
	changed []*column.Vector
	write   bool
}

func (r *upsertRow) cell(c int) (*column.Vector, int) {
	if r.changed != nil && r.changed[c] != nil {
		return r.changed[c], 0
	}
	return r.batch.Cols[c], r.at
}

// run decides by the rows of rel, and writes.
func (u *upsertRun) run(s *statementSink, rel relation.Relation) (out outcome, err error) {
	if len(u.rows) == 0 {
		return out, nil
	}
	there, err := u.keys.current(u.ctx, rel, u.rows)
	if err != nil {
		return out, err
	}
	if err := s.overlay(&u.keys, there); err != nil {
		return out, err
	}
	rows := map[string]*upsertRow{}
	var order []*upsertRow
	for k, r := range there {
		rows[k] = &upsertRow{rowRef: r}
	}
	for i, r := range u.rows {
		if i%rowsBetweenChecks == 0 && u.ctx.Err() != nil {
			return out, u.ctx.Err()
		}
		u.feed.m.row = int64(i + 1)
		out.records++
		key := u.keys.key(r)
		old := rows[string(key)]
		if old == nil {
			old = &upsertRow{rowRef: r, write: true}
			rows[string(key)] = old
			order = append(order, old)
			out.affected++
			continue
		}
		if len(u.n.upsert.sets) == 0 {
			out.duplicates++
			if out.duplicates > u.told { // not again where the statement is repeated
				u.told++
				u.feed.m.warn("Warning", warnDuplicate, "Duplicate entry '"+u.keys.text(r, SessionZone(u.ctx))+"' for key '"+u.n.table.name+".PRIMARY'")
			}
			continue
		}
		changed, err := u.assign(old, r)
		if err != nil {
			return out, err
		}
		if !changed {
			if u.found {
				out.affected++
			}
			continue
		}
		out.affected += 2
		out.duplicates++
		if !old.write {
			old.write = true
			order = append(order, old)
		}
	}
	if len(order) == 0 {
		return out, nil
	}
	if err := u.writeRows(s, order); err != nil {
		return out, err
	}
	if err := s.based(u.ctx, rel); err != nil {
		return out, err
	}
	return out, s.finish(u.ctx)
}

// assign gives the columns of a row that is there the values of the assignments, from left to right; each sees those before it.
func (u *upsertRun) assign(old *upsertRow, r rowRef) (changed bool, err error) {
	fields := u.keys.fields
	var row sql.Row
	for _, set := range u.n.upsert.sets {
		f := &fields[set.column]
		var v *column.Vector
		if v, err = u.value(set, old, r, &row); err != nil {
			return changed, err
		}
		before, at := old.cell(set.column)
		if column.EqualRows(v, 0, before, at) {
			continue
		}
		for _, k := range u.keys.cols {
			if k == set.column {
				return changed, errs.Unsupportedf("Updates to primary keys are not supported: ON DUPLICATE KEY UPDATE of column '%s' of table %s.%s", f.Name, u.n.table.db, u.n.table.name)
			}
		}
		if old.changed == nil {
			old.changed = make([]*column.Vector, len(fields))
		}
		old.changed[set.column] = v
		changed = true
		if row != nil {
			row[set.column] = types.Value(v, 0, f.Type, u.box.loc)
		}
	}
	return changed, nil
}

// value is the value of an assignment, as a vector of one row.
func (u *upsertRun) value(set duplicateSet, old *upsertRow, r rowRef, row *sql.Row) (*column.Vector, error) {
	fields := u.keys.fields
	f := &fields[set.column]
	if set.copies >= 0 {
		from := set.copies % len(fields)
		v, at := r.batch.Cols[from], r.at
		if set.copies < len(fields) {
			v, at = old.cell(from)
		}
		if passes(fields[from].Type, f.Type) && !(v.IsNull(at) && f.Type.NotNull) {
			return column.Slice(v, at, at+1), nil
		}
	}
	w := u.feed.writers[set.column]
	finish := func(err error) (*column.Vector, error) {
		v := w.out.Finish()
		w.out.Reset()
		return v, err
	}
	if set.byDefault {
		return finish(w.defaultOf(f))
	}
	if *row == nil {
		*row = make(sql.Row, 2*len(fields))
		for c := range fields {
			v, at := old.cell(c)
			(*row)[c] = types.Value(v, at, fields[c].Type, u.box.loc)
			(*row)[len(fields)+c] = types.Value(r.batch.Cols[c], r.at, fields[c].Type, u.box.loc)
		}
	}
	v, err := set.expr.Eval(u.ctx, *row)
	if err != nil {
		return nil, err
	}
	return finish(u.feed.cell(w, v, set.expr.Type()))
}

// writeRows gives the sink the rows as they are now, in the order in which they were first changed.
func (u *upsertRun) writeRows(s *statementSink, order []*upsertRow) error {
	fields := u.keys.fields
	for len(order) > 0 {
		n := min(len(order), column.MaxRows)
		b := &column.Batch{N: n}
		for c := range fields {
			out := schema.NewBuilder(fields[c].Type)
			for _, r := range order[:n] {
				v, at := r.cell(c)
				out.Append(v, at)
			}
			b.Cols = append(b.Cols, out.Finish())
		}
		if err := s.write(u.ctx, b, true); err != nil {
			return err
		}
		order = order[n:]
	}
	return nil
}

// overlay puts the rows that the transaction has written over those that are there.
func (s *statementSink) overlay(k *keyColumns, there map[string]rowRef) error {
	if s.pend == nil {
		return nil
	}
	if s.pend.flushes > 0 {
		return errs.Limitf("the transaction has written more than %d MiB to table %s.%s: INSERT IGNORE and ON DUPLICATE KEY UPDATE need a COMMIT before", stagedBytes>>20, s.pend.db, s.pend.table)
	}
	return s.pend.staged.each(func(b *column.Batch) error {
		kinds := b.Cols[len(b.Cols)-1]
		for i := range b.N {
			r := rowRef{b, i}
			if v, at := kinds.At(i); relation.IsRetract(v.I32[at]) {
				delete(there, string(k.key(r)))
			} else {
				there[string(k.key(r))] = r
			}
		}
		return nil
	})
}

// based makes the commit depend on what the statement has read.
func (s *statementSink) based(ctx context.Context, rel relation.Relation) error {
	sink := s.sink
	if sink == nil {
		sink = s.pend.sink
	}
	if own, ok := rel.(*ownRows); ok {
		rel = own.Relation
	}
	b, ok := sink.(relation.BasedSink)
	if !ok {
		return errs.Unsupportedf("statements that change rows are not supported for this catalog's tables")
	}
	return b.Based(ctx, rel)
}
